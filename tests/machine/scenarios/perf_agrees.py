# SPDX-License-Identifier: GPL-2.0-or-later
"""Stock perf reads the histories of a dump from "btsrec export" as btsrec shows them.

Every branch of every CPU: source, target, prediction and kind, and the names of both ends
with their offsets. perf takes names from vmlinux and from the recorder's .ko, which it
finds by the build-ids in the file. Where its name is another than btsrec's, both must be
names of one address in vmlinux; where one has no name, neither may the other. Where records
are missing inside a history, perf has an event of lost ones between the same branches
(tests/report/perf-gaps.sh makes some).

A static program runs, too. perf has its names by its build-id, from perf's cache or under
its path, for the same addresses as btsrec; none from a program of another build that lies
at the path, and none in a process that is gone.
"""

import json
import os
import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import dump
import workload
from errors import Failure, Skip

SUMMARY = "perf script prints the same branches, names, offsets and gaps as btsrec show"

SOURCES = Path(__file__).resolve().parents[1] / "guest/user"
PROGRAM = "/opt/static"

# A ring may hold no more than one slice of one of the busy tasks: the program itself sees to
# it that a process has just gone, and hurries.
SCRIPT = workload.SHELL + f"""
start_work
sleep 2
hurry
{PROGRAM} crash
"""

KERNEL_KVA = 1 << 63
MIN_BRANCHES = 20_000
MIN_USER_NAMES = 20
FIELDS = "cpu,ip,addr,sym,symoff,dso"
MODULE = "btsrec"
# Code that the kernel made itself is in no file from which perf could have names.
GENERATED = ("[__builtin__ftrace]", "[bpf]")

# [CPU] from symbol+offset (file) => to symbol+offset (file)
END = r"([0-9a-f]+) (\[unknown\]|\S+?\+0x[0-9a-f]+) \((\S+)\)"
LINE = re.compile(rf"^\s*\[(\d+)\]\s+{END} => +{END}\s*$")
SAMPLE = re.compile(r"^(\d+) \d+ 0x[0-9a-f]+ \[0x[0-9a-f]+\]: PERF_RECORD_SAMPLE")
LOST = re.compile(r"^(\d+) \d+ 0x[0-9a-f]+ \[0x[0-9a-f]+\]: PERF_RECORD_LOST")
STACK = re.compile(r"^\.+ +0: ([0-9a-f]+) -> ([0-9a-f]+) \d+ cycles +(\S) .*?([A-Z_]*)\s*$")

# How perf calls what btsrec shows; what it has no word for is empty.
KINDS = {"call": "CALL", "icall": "IND_CALL", "ret": "RET", "jmp": "UNCOND", "ijmp": "IND",
         "cond": "COND", "syscall": "SYSCALL", "sysret": "SYSRET", "iret": "ERET"}


def _perf(context, *arguments, cache="buildid") -> str:
    folder = context.out / cache
    try:
        done = subprocess.run(["perf", "--buildid-dir", folder, *map(str, arguments)],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              errors="replace", timeout=context.seconds(120), check=False,
                              env={**os.environ, "LC_ALL": "C"})
    except FileNotFoundError as error:
        raise Skip("perf is not installed") from error
    if done.returncode:
        raise Failure(f"perf {arguments[0]}: exit {done.returncode}\n{done.stderr[-2000:]}")
    return done.stdout


def _scripted(text: str) -> dict[int, list[tuple]]:
    """Of each CPU's branches (address, name or None, file) of both ends."""
    found: dict[int, list[tuple]] = {}
    for line in text.splitlines():
        row = LINE.match(line)
        if not row:
            raise Failure(f"perf script says: {line}")
        ends = tuple((int(address, 16), None if name == "[unknown]" else name, file)
                     for address, name, file in (row.groups()[1:4], row.groups()[4:7]))
        found.setdefault(int(row[1]), []).append(ends)
    return found


def _dumped(text: str) -> dict[int, list[tuple]]:
    """Of each CPU's branch stacks (from, to, predicted, kind)."""
    found: dict[int, list[tuple]] = {}
    cpu = -1
    for line in text.splitlines():
        sample, stack = SAMPLE.match(line), STACK.match(line)
        if sample:
            cpu = int(sample[1])
        elif stack:
            found.setdefault(cpu, []).append((int(stack[1], 16), int(stack[2], 16),
                                              stack[3] == "P", stack[4]))
    return found


def _lost(text: str) -> list[tuple[int, int]]:
    """(CPU, branches before it) of each event of lost records."""
    found, nr_branches = [], Counter()
    for line in text.splitlines():
        sample, lost = SAMPLE.match(line), LOST.match(line)
        if sample:
            nr_branches[int(sample[1])] += 1
        elif lost:
            found.append((int(lost[1]), nr_branches[int(lost[1])]))
    return sorted(found)


def _gaps(context, path) -> list[tuple[int, int]]:
    """The same of the gaps that btsrec shows, but for what the rings have forgotten."""
    found, nr_branches = [], Counter()
    text = dump.btsrec(context, "show", "--raw-names", "--format", "jsonl", path, ok=(0, 1))
    for event in map(json.loads, text.splitlines()):
        if event["kind"] == "branch":
            nr_branches[event["cpu"]] += 1
        elif event["kind"] == "gap" and event["gap"] != "overwritten":
            found.append((event["cpu"], nr_branches[event["cpu"]]))
    return sorted(found)


def _check_gaps(context, path, text: str):
    ours, perfs = _gaps(context, path), _lost(text)
    if ours != perfs:
        raise Failure(f"btsrec shows gaps behind {ours}, perf behind {perfs}")
    context.say(f"perf prints lost records at the {len(ours)} gaps")


def _branches(context, path) -> dict[int, list[dict]]:
    text = dump.btsrec(context, "show", "--types", "--raw-names", "--format", "jsonl", "--vmlinux",
                       context.os.vmlinux, "--sysroot", _root(context), path)
    found: dict[int, list[dict]] = {}
    for event in map(json.loads, text.splitlines()):
        if event["kind"] == "branch":
            found.setdefault(event["cpu"], []).append(event)
    return found


def _kind(event: dict) -> str:
    kind = event.get("type", "")
    return KINDS.get(kind, "IRQ" if kind == "irq" else "")


def _check_records(ours: dict, perfs: dict):
    mine = {cpu: [(int(event["from"], 16), int(event["to"], 16), event["predicted"],
                   _kind(event)) for event in events] for cpu, events in ours.items()}
    if mine.keys() != perfs.keys():
        raise Failure(f"perf has CPUs {sorted(perfs)}, btsrec {sorted(mine)}")
    for cpu, rows in mine.items():
        for place, (one, other) in enumerate(zip(perfs[cpu], rows)):
            if one != other:
                raise Failure(f"CPU {cpu}, branch {place}: perf has {one}, btsrec {other}")
        if len(rows) != len(perfs[cpu]):
            raise Failure(f"CPU {cpu}: perf has {len(perfs[cpu])} branches, btsrec {len(rows)}")


def _pairs(ours: dict, perfs: dict) -> dict[int, tuple]:
    """By address: btsrec's name, perf's name and file; both ends of all branches."""
    found: dict[int, tuple] = {}
    for cpu, events in ours.items():
        for event, ends in zip(events, perfs[cpu], strict=True):
            for side, (address, name, file) in zip(("from", "to"), ends):
                if int(event[side], 16) != address:
                    raise Failure(f"perf has 0x{address:x} where btsrec has {event[side]}")
                row = (event.get(f"{side}_sym"), name, file)
                if address >= KERNEL_KVA and found.setdefault(address, row) != row:
                    raise Failure(f"0x{address:x} is both {found[address]} and {row}")
    return found


def _classify(ours, perfs, table) -> str:
    """Which rule explains the two names of an address; empty: none does."""
    bare, _, module = (ours or "").partition(" ")
    if bare == (perfs or ""):
        return "equal" if perfs else "nameless in both"
    if not perfs and module in GENERATED:
        return "of generated code, in btsrec alone"
    if not ours or not perfs or module:
        return ""
    name, _, offset = perfs.rpartition("+")
    return "under another true name in perf" if table.same(bare, perfs) else ""


class Table:
    """Where vmlinux has its names; one may be at several places."""

    def __init__(self, vmlinux):
        self._places: dict[str, set] = {}
        text = subprocess.run(["nm", vmlinux], capture_output=True, text=True, check=True).stdout
        for row in map(str.split, text.splitlines()):
            if len(row) == 3:
                self._places.setdefault(row[2], set()).add(int(row[0], 16))

    def _addresses(self, name: str) -> set:
        name, _, offset = name.rpartition("+")
        return {start + int(offset, 16) for start in self._places.get(name, ())}

    def same(self, one: str, other: str) -> bool:
        """Are both, with their offsets, names of one address?"""
        return bool(self._addresses(one) & self._addresses(other))


def _check_names(context, pairs: dict[int, tuple]):
    table = Table(context.os.vmlinux)
    kinds, wrong = Counter(), []
    for address, (ours, perfs, file) in sorted(pairs.items()):
        kind = _classify(ours, perfs, table)
        kinds[(kind, f" [{MODULE}]" in (ours or ""))] += 1
        if not kind:
            wrong.append(f"  0x{address:x}: btsrec {ours}, perf {perfs} ({file})")
    if wrong:
        raise Failure(f"{len(wrong)} of {len(pairs)} names differ\n" + "\n".join(wrong[:20]))
    if not kinds[("equal", False)] or not kinds[("equal", True)]:
        raise Failure("no name of the kernel, or none of the module, to compare")
    printed = ", ".join(f"{count} {kind}{' [' + MODULE + ']' if module else ''}"
                     for (kind, module), count in sorted(kinds.items()))
    context.say(f"{len(pairs)} different kernel addresses: {printed}")


# --- User space ---

def _root(context) -> Path:
    """The program as the guest has it, under its path."""
    return context.out / "same-build"


def _other_root(context) -> Path:
    """The same names under the same path, but of another build."""
    return context.out / "other-build"


def _compile(root: Path, build_id: str):
    shutil.rmtree(root, ignore_errors=True)
    path = root / PROGRAM.lstrip("/")
    path.parent.mkdir(parents=True)
    subprocess.run(["gcc", "-O1", "-static", "-I", SOURCES, f"-Wl,--build-id=0x{build_id * 20}",
                    "-o", path, SOURCES / "work.c", SOURCES / "library.c"], check=True)
    os.utime(path, (0, 0))


def _user_ends(ours: dict, perfs: dict):
    """Of each end in user space: address, btsrec's name, what it says instead; perf's two."""
    for cpu, events in ours.items():
        for event, ends in zip(events, perfs[cpu], strict=True):
            for side, (address, name, file) in zip(("from", "to"), ends):
                if address < KERNEL_KVA:
                    yield (address, event.get(f"{side}_sym", ""), event.get(f"{side}_why", ""),
                           name, file)


def _plt(path: Path) -> list[range]:
    """Where the program has stubs, which are no function's."""
    sections = subprocess.run(["readelf", "-SW", path], check=True, capture_output=True,
                              text=True).stdout
    return [range(int(address, 16), int(address, 16) + int(size, 16))
            for address, size in re.findall(r" \.plt\S* +PROGBITS +(\w+) \w+ (\w+) ", sections)]


def _classify_user(address: int, ours: str, why: str, name, file: str, table, stubs) -> str:
    """As _classify(); a file without a build-id in the dump may be unknown to perf.

    To perf a function without a size goes on to the next one: _init through all stubs."""
    bare, _, path = ours.rpartition(" ")
    if (ours.startswith(f"[{PROGRAM}]+") and file == PROGRAM and name
            and name.startswith("_init+") and any(address in stub for stub in stubs)):
        return "in a stub, _init to perf"
    if bare and path == f"[{PROGRAM}]":
        if file != PROGRAM or not name:
            return ""
        return "named" if bare == name or table.same(bare, name) else ""
    if name:
        return ""
    if ours.startswith("[/"):
        place = ours[1:].rpartition("]")[0]
        return {place: f"{place} alone", "[unknown]": f"{place} in btsrec alone"}.get(file, "")
    return f"nothing ({why or 'no file'})" if file == "[unknown]" else ""


def _check_user(context, ours: dict, perfs: dict, what: str):
    table = Table(_root(context) / PROGRAM.lstrip("/"))
    stubs = _plt(_root(context) / PROGRAM.lstrip("/"))
    kinds, wrong, named = Counter(), [], set()
    for address, name, why, *theirs in _user_ends(ours, perfs):
        kind = _classify_user(address, name, why, *theirs, table, stubs)
        kinds[kind] += 1
        if not kind:
            wrong.append(f"  0x{address:x}: btsrec {name} ({why}), perf {theirs}")
        if kind == "named":
            named.add(address)
    if wrong:
        raise Failure(f"{what}: {len(wrong)} of {kinds.total()} ends in user space differ\n"
                      + "\n".join(wrong[:20]))
    if len(named) < MIN_USER_NAMES or not kinds["nothing (mm gone)"]:
        raise Failure(f"{what}: too few names, or no process that is gone: {kinds}")
    printed = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
    context.say(f"{what}, {len(named)} user addresses have names; ends: {printed}")


def _script_below(context, data, root: Path) -> dict[int, list[tuple]]:
    """With files below ROOT, and nothing in the cache."""
    return _scripted(_perf(context, "script", "-i", data, "--symfs", root, "-F", FIELDS,
                           cache="no-cache"))


def _check_builds(context, ours: dict, data):
    _check_user(context, ours, _script_below(context, data, _root(context)), "under its path")
    others = _script_below(context, data, _other_root(context))
    named = [row for row in _user_ends(ours, others) if row[3]]
    if named:
        raise Failure(f"perf has {len(named)} names from another build, such as {named[0]}")
    if not any(row[4] == PROGRAM for row in _user_ends(ours, others)):
        raise Failure(f"perf does not look for {PROGRAM}")
    context.say("with another build under the path perf has no name")


def compare(context, path):
    data = context.out / "perf.data"
    # By the build-id, which says nothing of what the program is made of here.
    shutil.rmtree(context.out / "buildid", ignore_errors=True)
    dump.btsrec(context, "export", "--to", "perf", "--force", "--sysroot", _root(context), path,
                data)
    _perf(context, "buildid-cache", "--add", context.recorder)
    _perf(context, "buildid-cache", "--add", _root(context) / PROGRAM.lstrip("/"))
    ours = _branches(context, path)
    total = sum(map(len, ours.values()))
    if total < MIN_BRANCHES:
        raise Failure(f"{total} branches are too few to judge")
    dumped = _perf(context, "script", "-D", "-i", data)
    _check_records(ours, _dumped(dumped))
    _check_gaps(context, path, dumped)
    context.say(f"perf has the {total} branches of {len(ours)} CPUs: source, target, "
                "prediction and kind are equal")
    scripted = _perf(context, "script", "-i", data, "-k", context.os.vmlinux,
                     "-F", FIELDS)
    perfs = _scripted(scripted)
    _check_names(context, _pairs(ours, perfs))
    _check_user(context, ours, perfs, "by build-id")
    _check_builds(context, ours, data)


def run(context):
    if not context.os.vmlinux.is_file():
        raise Skip("there is no vmlinux with symbols")
    path = context.out / "dump"
    path.unlink(missing_ok=True)
    _compile(_root(context), "5a")
    _compile(_other_root(context), "a5")
    program = (_root(context) / PROGRAM.lstrip("/")).read_bytes()
    with context.boot(SCRIPT, context.recorder_modules(),
                      files=[(PROGRAM.lstrip("/"), program)]) as machine:
        machine.expect_panic(context.seconds(120))
        machine.dump(path)
        machine.quit()
    compare(context, path)
    path.unlink()

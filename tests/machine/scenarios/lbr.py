# SPDX-License-Identifier: GPL-2.0-or-later
"""A machine without BTS: the source is the last branch record, as source=auto finds out.

The CPU has no DS. The model has an LBR of 32 entries, and logs what it gets. One machine has
several crashes, one after the other; each time it is again what it was before. After each

- the branches of each CPU are the newest of the log: as many as were newer than the newest mark,
  which an annotation leaves in the LBR, but 32 at most; none where the freeze came while an
  annotation was written,
- a gap with the reason "last branches" is in front of them, and the newest leads to the stop,
- info, the first page and /dev/btsrec say what the source is.

A table has what the first page still says: the verdict, and the function that did it. It has that
of each kind that leaves it on a stack or with the registers of the exception.

Another boot has perf. Its driver, which this project did not write, takes snapshots of the modelled
LBR (lbrsnap.c): each must be 32 branches in a row of the log. While perf has LBR the recorder does
not arm on that CPU; armed before, it gives way with empty registers, and goes on afterwards. A gap
says so.

A third boot has on_trigger=copy: the branches of a copy are in a row of the log, and after a panic
those of the rings are its newest again.
"""

import json
import re
from dataclasses import dataclass

import crashes
import dump
import page
import table
import truth
import vm
from chosen import chosen
from errors import Failure

SUMMARY = "without BTS: the last branch record, compared with the model's log at each crash"

CPU = vm.CPU.replace("+ds,", "-ds,")


@dataclass
class Lbr:
    """One kind of it. Of AMD's some entries are of wrong paths, which are left out."""

    cpu: str
    nr_entries: int
    nr_wrong: int = 0


LBRS = {
    "model": Lbr(CPU + ",level=13", 32),
    # Sapphire Rapids
    "arch": Lbr(CPU.replace("model=85", "model=143") + ",level=0x1c", 32),
    # Zen 4
    "amd": Lbr(CPU.replace("GenuineIntel", "AuthenticAMD").replace("family=6", "family=25")
               .replace("model=85", "model=17") + ",xlevel=0x80000022", 16, 2),
}
MAX_STRAIGHT_BYTES = 4096
KINDS = ("sysrq-c", "null", "null-hardirq", "gp", "bug", "divide", "call-null", "soft-lockup",
         "hard-lockup", "hung-task", "all-panic")

# The function is named, however few branches there are. Of a call of NULL, and of what was jumped
# to in an interrupt, only the branch has it.
NAMED = {"sysrq-c", "null", "gp", "bug", "divide", "hung-task", "all-panic"}

# A freeze that comes while an annotation is written leaves a gap, of which the exit status speaks.
# _check_cpu() asks for it.
MAY_BE_TORN = (0, 1)

SOURCE_IS_LBR = """
field() { sed -n "s/^$1: //p" /dev/btsrec; }
[ "$(field source)" = lbr ] || fail "the source is $(field source)"
[ "$(field last_branches)" = %(nr)d ] || fail "last_branches: $(field last_branches)"
dmesg | grep 'btsrec: The source is the last branch record (LBR).* last %(nr)d branches' ||
	fail "no sentence says what the source is"
"""

NR_SNAPSHOTS = 20
PERF_SCRIPT = """
/bin/lbrsnap %d >/tmp/snapshots 2>&1 || fail "lbrsnap: $(cat /tmp/snapshots)"
send /tmp/snapshots
line() { grep "^cpu$1:" /dev/btsrec; }
insmod /modules/btsrec.ko arm=0 || fail "the recorder does not load"
begin() {
	/bin/perfevents lbr 1 600000 &
	until ls -l /proc/$!/fd | grep perf_event; do usleep 50000; done
	usleep 300000
}
begin
echo arm >/dev/btsrec && fail "the recorder arms while perf has LBR"
dmesg | grep 'Not armed: the last branch record of CPU 1 is in use' || fail "no sentence says why"
kill $!
wait
echo arm >/dev/btsrec || fail "the recorder does not arm after perf"
line 1 | grep armed || fail "CPU 1: $(line 1)"
begin
line 1 | grep 'stopped .*reason=13' || fail "perf has LBR of CPU 1, which is: $(line 1)"
line 0 | grep armed || fail "CPU 0: $(line 0)"
kill $!
wait
taskset 2 usleep 100000
for i in $(seq 100); do
	line 1 | grep armed && break
	usleep 20000
done
line 1 | grep armed || fail "perf is done, but CPU 1 is: $(line 1)"
echo freeze >/dev/btsrec
ask dump
rmmod btsrec || fail "the recorder does not unload"
/bin/perfevents lbr 1 100 || fail "after unloading, perf's LBR: $?"
finish 0
""" % NR_SNAPSHOTS

COPY_SCRIPT = """
echo freeze for a copy >/dev/btsrec && echo wait >/dev/btsrec || fail "no copy"
ask dump copy
echo c >/proc/sysrq-trigger
"""

MARK = re.compile(r"^cpu=(\d+) ip=\S+ LBR_FROM_TOS value=(0x[0-9a-f]+) records=(\d+)$",
                  re.MULTILINE)


@dataclass
class Cell:
    """What one crash left."""

    kind: str
    branches: str = ""
    verdict: str = ""
    function: str = ""


def add_options(parser):
    parser.add_argument("--kinds", default=",".join(KINDS), metavar="LIST",
                        help="some by comma, of: " + ", ".join(crashes.KINDS))
    parser.add_argument("--lbr", default="model", choices=LBRS,
                        help='"model": of Intel by model, "arch": architectural, "amd" (model)')
    parser.add_argument("--mode", default="all", choices=("all", "kernel", "user"))
    parser.add_argument("--keep", action="store_true", help="keep the dumps")


def _script(kinds, nr_entries: int) -> str:
    return crashes.asked(SOURCE_IS_LBR % {"nr": nr_entries}, {
        name: f"{crashes.KINDS[name].setup}\n{crashes.KINDS[name].trigger}" for name in kinds})


def _newer_than_mark(machine, cpu: int, log: truth.Log) -> int:
    """Branches since the newest mark, which is an address; zeroes are a release."""
    text = (machine.model_dir / "msr.log").read_text()
    marks = [int(records) for number, value, records in MARK.findall(text)
             if int(number) == cpu and int(value, 16)]
    if not marks:
        raise Failure(f"CPU {cpu}: no annotation has left a mark")
    return log.total - marks[-1]


def _check_gap(cpu: int, events):
    """One gap, right before the first branch of the newest ones."""
    first = next(index for index, event in enumerate(events) if event["kind"] == "branch")
    before = events[first - 1] if first else {}
    if before.get("reason") != "last branches":
        raise Failure(f"CPU {cpu}: before the first branch is {before}")


def _check_stop(cpu: int, events, mode: str):
    freeze = next((event for event in events if event["kind"] == "freeze"), None)
    if not freeze:
        raise Failure(f"CPU {cpu} is not frozen")
    if mode == "user":
        return
    newest = [event for event in events if event["kind"] == "branch"][-1]
    distance = int(freeze["stop_ip"], 16) - int(newest["to"], 16)
    if not 0 <= distance <= MAX_STRAIGHT_BYTES:
        raise Failure(f"CPU {cpu}: the newest branch leads to {newest['to']}, but it stopped at "
                      f"{freeze['stop_ip']}")


def _expected(lbr: Lbr, nr_newer: int, nr_found: int) -> int:
    """Entries of wrong paths take the place of others, at most some."""
    fewest = min(lbr.nr_entries - lbr.nr_wrong, nr_newer)
    return max(fewest, min(nr_found, lbr.nr_entries, nr_newer))


def _check_branches(machine, cpu: int, events, options) -> int:
    mode, lbr = options.mode, LBRS[options.lbr]
    log = truth.Log(machine.model_dir / f"cpu{cpu}.log")
    branches = truth.branches_of_events(events)
    torn = any(event["kind"] == "gap" and event["gap"] == "torn" for event in events)
    expected = 0 if torn else _expected(lbr, _newer_than_mark(machine, cpu, log), len(branches))
    truth.compare(f"CPU {cpu}", branches, log, expected)
    if branches:
        _check_gap(cpu, events)
        _check_stop(cpu, events, mode)
    return len(branches)


def _check_cpu(machine, cpu: int, events, options) -> int:
    nr_branches = _check_branches(machine, cpu, events, options)
    if not any(event["kind"] == "switch" for event in events):
        raise Failure(f"CPU {cpu}: no switch of threads is in the history")
    return nr_branches


def _info(context, path, *options) -> list[dict]:
    return [json.loads(line) for line in
            dump.btsrec(context, "info", "--format", "jsonl", *options, path).splitlines()]


def _check_info(context, path, *options):
    nr_entries = LBRS[context.options.lbr].nr_entries
    rows = _info(context, path, *options)
    sources = [(row.get("source"), row.get("last_branches")) for row in rows
               if row["kind"] == "cpu"]
    if set(sources) != {("lbr", nr_entries)}:
        raise Failure(f"info says of the CPUs' sources: {sources}")
    for view in ("info", "summary"):
        text = dump.btsrec(context, view, *options, path)
        if f"last branch record (LBR): at most the last {nr_entries} branches" not in text:
            raise Failure(f"{view} does not say that the source is LBR:\n{text[:2000]}")
    dump.btsrec(context, "check", *options, path)


def _page(context, path, kind, cell: Cell):
    found = page.Page.of(context, path)
    cell.verdict = found.row("verdict").get("text", "none")
    cell.function = "yes" if not page.guilty_fault(found, kind) else "no"


def _cell(context, machine, name: str, console: str) -> Cell:
    path, kind = context.out / f"dump-{name}", crashes.KINDS[name]
    path.unlink(missing_ok=True)
    machine.dump(path)
    if kind.console not in console:
        raise machine.failure(f'the kernel did not say "{kind.console}"')
    histories = dump.events(context, path, ok=MAY_BE_TORN)
    cell = Cell(name)
    cell.branches = "+".join(str(_check_cpu(machine, cpu, events, context.options))
                             for cpu, events in sorted(histories.items()))
    _check_info(context, path)
    _page(context, path, kind, cell)
    if not context.options.keep:
        path.unlink()
    context.say(f"{name}: {cell.branches} branches; {cell.verdict}")
    return cell


def _snapshots(text: str) -> list[list[truth.Branch]]:
    """Those of perf's driver, newest branch first."""
    found = []
    for line in text.splitlines():
        if line == "snapshot":
            found.append([])
        else:
            source, target, predicted = line.split()
            found[-1].append(truth.Branch(int(source, 16), int(target, 16), predicted == "1"))
    return found


def _is_in_log(snapshot, log: truth.Log) -> bool:
    return any(all(log.branch(age + place) == branch for place, branch in enumerate(snapshot))
               for age in log.ages_of(snapshot[0]) if age + len(snapshot) <= log.retained())


def _check_snapshots(context, machine):
    found = _snapshots(machine.files["snapshots"].decode())
    nr_entries = LBRS[context.options.lbr].nr_entries
    log = truth.Log(machine.model_dir / "cpu0.log")
    if [len(snapshot) for snapshot in found] != [nr_entries] * NR_SNAPSHOTS:
        raise Failure(f"perf's driver has snapshots of {list(map(len, found))} branches")
    wrong = [snapshot for snapshot in found if not _is_in_log(snapshot, log)]
    if wrong:
        raise Failure(f"{len(wrong)} of {len(found)} snapshots of perf's driver are not in the "
                      "log, such as:\n  " + "\n  ".join(map(str, wrong[0])))
    context.say(f"{len(found)} snapshots of perf's driver, {nr_entries} branches each, are in the "
                "log")


def _check_perf(context, path):
    # A fault in the kernel that it mends is suspected of an oops, now and then; and it prints.
    usual = ("last branches", "oops", "console output")
    gaps = [(cpu, event.get("reason"))
            for cpu, events in dump.events(context, path, ok=MAY_BE_TORN).items()
            for event in events if event["kind"] == "gap" and event.get("reason") not in usual]
    if gaps != [(1, "foreign")]:
        raise Failure(f"the gaps beside perf are {gaps}")
    context.say("perf has LBR when it wants it, and a gap says so")


def _beside_perf(context, lbr: Lbr):
    path = context.out / "dump-perf"
    files = [("modules/btsrec.ko", context.recorder.read_bytes()),
             *((f"bin/{name}", context.guest_program(f"{name}.c"))
               for name in ("perfevents", "lbrsnap"))]
    with context.boot(PERF_SCRIPT, [context.os.module("qemu_fw_cfg")], name="perf", files=files,
                      cpu=lbr.cpu + ",pmu=on,+pdcm",
                      plugin_args={"lbr": context.options.lbr, "perfmon": 1},
                      answers={"dump": vm.dumps_to(path)}) as machine:
        machine.expect_finish(context.seconds(120))
        machine.quit()
    _check_snapshots(context, machine)
    _check_perf(context, path)


def _check_copy(context, machine, path) -> str:
    machine.dump(path, resume=True)
    options = "--root", _info(context, path)[0]["copy_pa"]
    nr_entries = LBRS[context.options.lbr].nr_entries
    for cpu, events in dump.events(context, path, *options, ok=MAY_BE_TORN).items():
        newest_first = truth.branches_of_events(events)[::-1]
        if not newest_first:
            continue
        if len(newest_first) > nr_entries or not _is_in_log(newest_first, truth.Log(
                machine.model_dir / f"cpu{cpu}.log")):
            raise Failure(f"CPU {cpu}: the copy's branches are not in the log: {newest_first}")
        _check_gap(cpu, events)
        _check_stop(cpu, events, context.options.mode)
        context.say(f"CPU {cpu}: the copy has {len(newest_first)} branches")
    _check_info(context, path, *options)
    return "dumped"


def _copied(context, lbr: Lbr):
    path = context.out / "dump-copy"
    path.unlink(missing_ok=True)
    modules = context.recorder_modules(
        f"mode={context.options.mode} freeze_on=request on_trigger=copy")
    script = SOURCE_IS_LBR % {"nr": lbr.nr_entries} + COPY_SCRIPT
    with context.boot(script, modules, name="copy", cpu=lbr.cpu,
                      plugin_args={"lbr": context.options.lbr},
                      answers={"dump": lambda machine, _: _check_copy(context, machine, path)}
                      ) as machine:
        machine.dump_at_panic(context.seconds(120), path)
    for cpu, events in dump.events(context, path, ok=MAY_BE_TORN).items():
        # Those of the trigger are in the ring, too.
        newest = next(place for place, event in reversed(list(enumerate(events)))
                      if event["kind"] == "arm")
        nr = _check_branches(machine, cpu, events[newest:], context.options)
        context.say(f"CPU {cpu}: after the copy and a panic there are {nr} branches")
    path.unlink()


def run(context):
    lbr = LBRS[context.options.lbr]
    if context.options.lbr != "amd":
        _beside_perf(context, lbr)
    _copied(context, lbr)
    kinds = chosen(context.options.kinds, crashes.KINDS)
    modules = [*context.recorder_modules(f"mode={context.options.mode}"),
               context.guest_module("btscrash")]
    cells, seen = [], 0
    with context.boot(_script(kinds, lbr.nr_entries), modules, cpu=lbr.cpu,
                      plugin_args={"lbr": context.options.lbr},
                      append=vm.TIME_LEAPS) as machine:
        ends = {name: crashes.KINDS[name].end for name in kinds}
        for name in machine.each_end("kind", kinds, context.seconds(240), ends):
            console = machine.console()
            cells.append(_cell(context, machine, name, console[seen:]))
            seen = len(console)
        machine.quit()
    print(table.text([("crash", "branches", "function", "verdict")] +
                     [(cell.kind, cell.branches, cell.function, cell.verdict)
                      for cell in cells]))
    unnamed = [cell.kind for cell in cells if cell.kind in NAMED and cell.function != "yes"]
    if unnamed and context.options.mode != "user":
        raise Failure("the first page does not name the function of " + ", ".join(unnamed))
    context.say(f"{len(cells)} crashes: the branches of each CPU are the newest of the log")

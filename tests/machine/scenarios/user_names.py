# SPDX-License-Identifier: GPL-2.0-or-later
"""The names of user addresses equal what the guest itself said of its processes.

Programs of every kind run in the guest: static and dynamic, with symbols, stripped with a
debug file elsewhere, and without one; all make code at run time and call the vDSO. After the
freeze the guest sends /proc/PID/maps of those that live. Of each user address of the
history, file and offset must be those of the maps, and the symbol that of the ELF symbol
table with which the program was linked. Processes that have ended say "mm gone".
Source lines and inlined functions must be those of addr2line for the program as it was linked.

Then the same on the dump as makedumpfile -d 31 leaves it, without any page of user space:
the names must be the same, by the files' size and time, and the code, now of files, must
prove the pairs of branches that the whole dump proves.
"""

import bisect
import json
import os
import re
import shutil
import subprocess
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import dump
import guestos
import programs
import sourcelines
from errors import Failure, Skip

SUMMARY = "names of user addresses equal /proc/PID/maps and the programs' symbol tables"

SOURCES = Path(__file__).resolve().parents[1] / "guest/user"

# Program in the guest: how it is linked, and what is done to it then.
PROGRAMS = {"static": (["-static"], ""), "dynamic": ([], ""), "split": ([], "debug file"),
            "stripped": ([], "strip")}
LIBRARY = "libwork.so"

SCRIPT = """
for program in static dynamic split stripped; do
	/opt/$program &
done
(while [ ! -f /tmp/enough ]; do /opt/static 3; done) &
sleep 3
echo freeze >/dev/btsrec
touch /tmp/enough
sleep 1
for folder in /proc/[0-9]*; do
	echo "pid ${folder#/proc/}"
	cat $folder/maps 2>/dev/null
done >/tmp/maps
send /tmp/maps
ask dump
finish 0
"""

# makedumpfile 1.7.6, the newest of Debian 13, takes slabs of these kernels for user data.
NOT_FILTERED = ("7.2",)

MAPS = re.compile(r"([0-9a-f]+)-([0-9a-f]+) \S{4} ([0-9a-f]+) \S+ (\d+) *(.*)")
KERNEL_HALF = 1 << 63
MIN_ADDRESSES = 1000

# Elf64_Ehdr: 5 is e_phoff, 6 e_shoff, 9 and 10 the size and number of program headers,
# 12 and 13 the number of section headers and of that with their names.


def add_options(parser):
    parser.add_argument("--keep", action="store_true", help="keep the dumps")


def _output(*command) -> str:
    try:
        done = subprocess.run([str(word) for word in command], check=False, capture_output=True,
                              text=True)
    except FileNotFoundError as error:
        raise Skip(f"{command[0]} is not installed") from error
    if done.returncode:
        raise Failure(f"{' '.join(map(str, command))}: {done.stderr[-2000:]}")
    return done.stdout


# --- Programs ---

def _compile(folder: Path) -> dict[str, Path]:
    """Program or library to the file as it was linked, all with symbols."""
    cc = ["gcc", "-O1", "-g", "-I", SOURCES]
    library = folder / LIBRARY
    _output(*cc, "-shared", "-fPIC", f"-Wl,-soname,{LIBRARY}", "-Wl,--build-id", "-o", library,
            SOURCES / "library.c")
    found = {LIBRARY: library}
    for name, (flags, _) in PROGRAMS.items():
        parts = [SOURCES / "library.c"] if "-static" in flags else [library]
        found[name] = folder / name
        # Linked from the same, but not to be taken for each other.
        _output(*cc, *flags, "-o", found[name], SOURCES / "work.c", *parts,
                "-Wl,-rpath,/opt", f"-Wl,--build-id=0x{name.encode().hex():0>16}")
    return found


def _build_id(path: Path) -> str:
    found = re.search(r"Build ID: ([0-9a-f]+)", _output("readelf", "-n", path))
    if not found:
        raise Failure(f"{path} has no build-id")
    return found.group(1)


def _debug_file(linked: Path, debug: Path):
    name = _build_id(linked)
    path = debug / f".build-id/{name[:2]}/{name[2:]}.debug"
    path.parent.mkdir(parents=True)
    _output("objcopy", "--only-keep-debug", linked, path)


def _install(linked: dict[str, Path], root: Path, debug: Path):
    """The files as the guest gets them below ROOT; debug files below DEBUG."""
    for name, path in linked.items():
        target = root / "opt" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
        what = PROGRAMS.get(name, ([], ""))[1]
        if what:
            _output("strip", target)
        if what == "debug file":
            _debug_file(path, debug)


def _system_libraries(program: Path) -> list[Path]:
    listing = _output("ldd", program)
    return [Path(path) for path in re.findall(r"(/\S+) \(0x", listing)
            if LIBRARY not in path]


def _install_system(linked: dict[str, Path], root: Path, busybox: Path):
    for path in _system_libraries(linked["dynamic"]):
        target = root / str(path).lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
    (root / "bin").mkdir(parents=True, exist_ok=True)
    shutil.copyfile(busybox, root / "bin/busybox")


def _guest_files(root: Path) -> list[tuple[str, bytes]]:
    """What of ROOT goes into the guest, where all files have the time 0."""
    found = []
    for path in sorted(root.rglob("*")):
        if path.is_file():
            os.utime(path, (0, 0))
            found.append((str(path.relative_to(root)), path.read_bytes()))
    return [(name, data) for name, data in found if name != "bin/busybox"]


# --- Truth ---

@dataclass
class Symbols:
    """Functions of one file by address as linked; @segments to come from file offsets."""

    starts: list[int]
    names: dict[int, tuple]
    segments: list[tuple[int, int, int]]

    def find(self, offset: int) -> str:
        """name+0xoffset, or nothing."""
        for start, size, address in self.segments:
            if start <= offset < start + size:
                return self._at(offset - start + address)
        return ""

    def _at(self, address: int) -> str:
        place = bisect.bisect_right(self.starts, address)
        if not place:
            return ""
        start = self.starts[place - 1]
        size, room, key = self.names[start]
        if address >= start + (size or room):
            return ""
        return f"{key[2]}+0x{address - start:x}"


def _symbols(path: Path, dynamic: bool) -> Symbols:
    """The rule of btsrec-names(7): global before local, few underscores, then the alphabet.

    What has no size ends with its section, and is no name of anything at the end of that."""
    ends = {number: int(address, 16) + int(size, 16) for number, address, size in re.findall(
        r"^ *\[ *(\d+)\] \S+ +\S+ +([0-9a-f]+) [0-9a-f]+ ([0-9a-f]+) [0-9a-f]+ +\S*X\S*",
        _output("readelf", "-SW", path), re.M)}
    best: dict[int, tuple] = {}
    for line in _output("readelf", "-W", "--dyn-syms" if dynamic else "-s", path).splitlines():
        words = line.split()
        if len(words) < 8 or words[6] not in ends:
            continue
        if words[3] not in ("FUNC", "NOTYPE", "IFUNC"):
            continue
        address, size = int(words[1], 16), int(words[2], 0)
        room = max(ends[words[6]] - address, 0)
        if not size and not room:
            continue
        name = words[7].split("@")[0]
        key = (words[4] == "LOCAL", len(name) - len(name.lstrip("_")), name)
        old = best.get(address)
        best[address] = (max(size, old[0]), max(room, old[1]), min(key, old[2])) if old else (
            size, room, key)
    return Symbols(sorted(best), best, _segments(path))


def _segments(path: Path) -> list[tuple[int, int, int]]:
    return [(int(offset, 16), int(size, 16), int(address, 16)) for offset, address, size in
            re.findall(r"^ *LOAD +(0x\S+) (0x\S+) 0x\S+ (0x\S+)",
                       _output("readelf", "-lW", path), re.M)]


@dataclass
class Mapping:
    start: int
    end: int
    offset: int
    name: str


def _maps(text: str) -> dict[int, list[Mapping]]:
    found: dict[int, list[Mapping]] = {}
    pid = 0
    for line in text.splitlines():
        if line.startswith("pid "):
            pid = int(line[4:])
            continue
        match = MAPS.match(line)
        if not match:
            raise Failure(f"maps of {pid}: {line}")
        start, end, offset = (int(match.group(i), 16) for i in (1, 2, 3))
        found.setdefault(pid, []).append(Mapping(start, end, offset, match.group(5)))
    return found


class Truth:
    """What each user address is, by the guest's maps and the files as linked."""

    def __init__(self, maps: dict[int, list[Mapping]], tables: dict[str, Symbols]):
        self.maps = maps
        self.tables = tables
        self.count: Counter = Counter()

    def expected(self, tgid: int, address: int) -> str:
        """The name, "(mm gone)", or for the vDSO its name without symbol."""
        if tgid not in self.maps:
            return "(mm gone)"
        for mapping in self.maps[tgid]:
            if mapping.start <= address < mapping.end:
                return self._name(mapping, address - mapping.start + mapping.offset,
                                  address - mapping.start)
        return "(not mapped)"

    def _name(self, mapping: Mapping, offset: int, distance: int) -> str:
        if not mapping.name.startswith("/"):
            label = mapping.name.strip("[]") or "anon"
            return f"[{label}]+0x{distance:x}"
        table = self.tables.get(mapping.name)
        symbol = table.find(offset) if table else ""
        if symbol:
            return f"{symbol} [{mapping.name}]"
        return f"[{mapping.name}]+0x{offset:x}"


def _tables(linked: dict[str, Path], root: Path) -> dict[str, Symbols]:
    found = {}
    for path in sorted(root.rglob("*")):
        if not path.is_file():
            continue
        name = "/" + str(path.relative_to(root))
        if path.name in linked:
            stripped = PROGRAMS.get(path.name, ([], ""))[1] == "strip"
            found[name] = _symbols(path if stripped else linked[path.name], stripped)
        else:
            found[name] = _symbols(path, True)
    return found


# --- Comparison ---

def _last_spaces(histories) -> dict[int, set[str]]:
    """The page tables that a process had in the newest annotation of it, on any CPU."""
    newest: dict[int, tuple[int, str]] = {}
    for history in histories.values():
        for event in history:
            for side in ("prev", "next", "now"):
                if side in event and event["tsc"] >= newest.get(event[side]["tgid"], (0,))[0]:
                    newest[event[side]["tgid"]] = (event["tsc"], event[side]["cr3"])
    return {tgid: {cr3} for tgid, (_, cr3) in newest.items()}


def _sides(history):
    """Each branch with the process that ran, as far as annotations show it."""
    first = next((event["prev"] for event in history if "prev" in event), None)
    side = first
    for event in history:
        if event["kind"] in ("switch", "exec"):
            side = event["next"]
        elif "now" in event:
            side = event["now"]
        elif event["kind"] == "branch" and side:
            yield event, side


def _printed(event, end: str) -> str:
    name = event.get(f"{end}_sym")
    return name if name else f"({event.get(f'{end}_why', 'nothing')})"


def _compare_address(truth: Truth, side, spaces, event, end: str):
    address = int(event[end], 16)
    if address >= KERNEL_HALF:
        return
    printed = _printed(event, end)
    expected = truth.expected(side["tgid"], address)
    if side["cr3"] not in spaces.get(side["tgid"], ()):
        expected = "(mm gone)"
    # The vDSO is the kernel's: there is no file to have its symbols from.
    if expected.startswith("[vdso]") and printed.endswith(" [vdso]"):
        truth.count["vdso"] += 1
        return
    if printed != expected:
        raise Failure(f"event {event['n']} of {side['tgid']} \"{side['comm']}\": {event[end]} is "
                      f"{expected}, but btsrec says {printed}")
    kind = expected if expected.startswith("(") else re.sub(r".*\[(.*)\].*", r"\1", expected)
    truth.count[kind + ("" if expected.startswith(("[", "(")) else ", symbol")] += 1


def _compare(context, truth: Truth, histories, what: str):
    truth.count.clear()
    spaces = _last_spaces(histories)
    for history in histories.values():
        for event, side in _sides(history):
            for end in ("from", "to"):
                _compare_address(truth, side, spaces, event, end)
    total = sum(truth.count.values())
    for kind, count in sorted(truth.count.items()):
        context.say(f"  {count:7} {kind}")
    needed = {"(mm gone)", "/opt/static, symbol", "/opt/dynamic, symbol", "/opt/split, symbol",
              f"/opt/{LIBRARY}, symbol", "anon", "/opt/stripped"}
    missing = needed - set(truth.count)
    if total < MIN_ADDRESSES or missing:
        raise Failure(f"{total} user addresses, none of {missing}: nothing to compare")
    context.say(f"{what}: all {total} user addresses have the names that the guest's maps say")


def _place(truth: Truth, side, address: int) -> tuple[str, int]:
    """The mapped file, and where the address was linked to be in it; ("", 0): none."""
    for mapping in truth.maps.get(side["tgid"], ()):
        if mapping.start <= address < mapping.end:
            for start, size, linked in truth.tables[mapping.name].segments \
                    if mapping.name in truth.tables else ():
                offset = address - mapping.start + mapping.offset
                if start <= offset < start + size:
                    return mapping.name, offset - start + linked
    return "", 0


def _lines_of(truth: Truth, histories) -> dict[str, dict[int, str]]:
    """Mapped file to linked address to "file:line"; "" is none."""
    spaces = _last_spaces(histories)
    found: dict[str, dict[int, str]] = {}
    for history in histories.values():
        for event, side in _sides(history):
            for end in ("from", "to"):
                name, linked = _place(truth, side, int(event[end], 16))
                if not name or side["cr3"] not in spaces.get(side["tgid"], ()):
                    continue
                line = f"{event[f'{end}_file']}:{event[f'{end}_line']}" \
                    if f"{end}_line" in event else ""
                if found.setdefault(name, {}).setdefault(linked, line) != line:
                    raise Failure(f"{name}: {linked:#x} has two lines: {line}")
    return found


def _compare_lines(context, truth: Truth, path: Path, linked: dict[str, Path], files, what: str):
    """Each user address has the line of addr2line, or none where the file has none here."""
    found = _lines_of(truth, _histories(context, path, "--lines", *files))
    for name in ("static", "dynamic", "split", "stripped", LIBRARY):
        printed = found.get(f"/opt/{name}", {})
        theirs = sourcelines.of_addr2line(linked[name], printed)
        if name == "stripped":
            theirs = {at: "??:0" for at in printed}
        wrong = [f"  {at:#x}: {line or 'none'}, but addr2line says {theirs[at]}"
                 for at, line in sorted(printed.items())
                 if not sourcelines.same(line, theirs[at])]
        lines = sum(1 for line in printed.values() if line)
        if wrong or not printed or bool(lines) == (name == "stripped"):
            raise Failure(f"/opt/{name}: {len(wrong)} of {len(printed)} lines differ, {lines} "
                          "have one\n" + "\n".join(wrong[:20]))
        context.say(f"  {lines:7} of {len(printed)} addresses of /opt/{name} have lines")
    context.say(f"{what}: source lines are those of addr2line")


def _missing_lines(context, path: Path, files):
    """It is said why a file has no lines."""
    rows = map(json.loads, dump.btsrec(context, "show", "--lines", "--format", "jsonl", *files,
                                       path).splitlines())
    why = {row["mapped"]: row["why"] for row in rows if "mapped" in row}
    if why.get("/opt/stripped") != "it has no debug information" or "/opt/split" in why:
        raise Failure(f"files without lines: {why}")


def _histories(context, path: Path, *options) -> dict[int, list[dict]]:
    found: dict[int, list[dict]] = {}
    for line in dump.btsrec(context, "show", "--format", "jsonl", "--raw-names", *options,
                            path).splitlines():
        event = json.loads(line)
        if "cpu" in event:
            found.setdefault(event["cpu"], []).append(event)
    return found


def _proofs(context, path: Path, *options) -> Counter:
    total: Counter = Counter()
    for line in dump.btsrec(context, "prove", "--format", "jsonl", *options, path,
                            ok=(0, 1)).splitlines():
        for key, value in json.loads(line).items():
            if isinstance(value, int):
                total[key] += value
    if total["broken"]:
        raise Failure(f"{path}: impossible pairs: {total['broken']}")
    return total


def _makedumpfile(context) -> list[str]:
    """That of the release which the kernel comes from: an older one takes slabs for user data."""
    suites = guestos.SUITES.get(context.options.kernel)
    return programs.command("makedumpfile", "usr/bin/makedumpfile", suites) if suites \
        else ["makedumpfile"]


def _compare_filtered(context, truth: Truth, path: Path, linked: dict[str, Path], files):
    """The dump without user pages: the same names, and code out of files."""
    filtered = path.with_name("dump-31")
    filtered.unlink(missing_ok=True)
    plain = path.with_name("dump-elf")
    dump.for_makedumpfile(plain)
    _output(*_makedumpfile(context), "-d", "31", "-l", plain, filtered)
    plain.unlink()
    _compare(context, truth, _histories(context, filtered, *files), "makedumpfile -d 31")
    _compare_lines(context, truth, filtered, linked, files, "makedumpfile -d 31")
    whole = _proofs(context, path, *files)
    bare = _proofs(context, filtered, "--sysroot", "/sys")
    found = _proofs(context, filtered, *files)
    context.say(f"pairs proven in user space: {whole['user_proven']} in the whole dump; filtered "
                f"{bare['user_proven']} without files, {found['user_proven']} with "
                f"{found['file_pages']} pages of files")
    if not found["file_pages"] or found["user_proven"] <= bare["user_proven"]:
        raise Failure("no code came from files: nothing to compare")
    if found["unknown"] > whole["unknown"] + truth.count["anon"]:
        raise Failure(f"{found['unknown']} pairs could not be checked, {whole['unknown']} in the whole "
                      "dump: code is missing that is in the files")


def run(context):
    path = context.out / "dump"
    work, root, debug = (context.out / name for name in ("linked", "root", "debug"))
    for old in context.out.glob("dump*"):
        old.unlink()
    for folder in (work, root, debug):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
    linked = _compile(work)
    _install(linked, root, debug)
    _install_system(linked, root, context.os.busybox)

    def take_dump(machine, _):
        machine.dump(path.with_name("dump-elf"), "elf")
        machine.dump(path, resume=True)
        return "dumped"

    with context.boot(SCRIPT, context.recorder_modules("ring_bytes=4M"), files=_guest_files(root),
                      answers={"dump": take_dump}) as machine:
        machine.expect_finish(context.seconds(180))
        machine.quit()
    truth = Truth(_maps(machine.files["maps"].decode()), _tables(linked, root))
    files = ("--sysroot", root, "--debuginfo", debug)
    _compare(context, truth, _histories(context, path, *files), "whole dump")
    _compare_lines(context, truth, path, linked, files, "whole dump")
    _missing_lines(context, path, files)
    if context.options.kernel in NOT_FILTERED:
        context.say("not compared after makedumpfile -d 31: no makedumpfile knows "
                    f"{context.options.kernel}")
    else:
        _compare_filtered(context, truth, path, linked, files)
    if not context.options.keep:
        for old in context.out.glob("dump*"):
            old.unlink()

# SPDX-License-Identifier: GPL-2.0-or-later
"""The tree of "btsrec calls" is what was called.

Two truths. The model knows the call stacks: at each of its samples the calls into kernel
functions that the tree has open in the thread that ran must be those that the model has,
call by call. (Of user functions the dump does not hold all code.) Each call that btsrec last
finds is a record of the model, and none of its records is missing. Two moments are no sample:
inside a thunk, which the tree shows as the call that it stands for when that is made; and
inside __switch_to_asm(), where the model takes the stack to change at its first instruction,
the tree where it jumps away. A call that was open when its thread was switched away may have
ended on another CPU, which the tree cannot know before a return shows it; these are
counted. And
guest/btstree.ko calls functions in a known way before it panics: for these the tree must
be exactly the one below.
"""

import bisect
import json
import re
import struct
from dataclasses import dataclass, field

import dump
import truth
import workload
from errors import Failure, Skip

SUMMARY = "the tree of calls is the one that the model saw, and that of a known program"

SCRIPT = workload.SHELL + """
start_work
sleep 2
insmod /modules/btstree.ko
"""

MAGIC = 0x4B5453444C444D42
HEADER = struct.Struct("<QIIQQ")
HEADER_BYTES = 4096
NR_FRAMES = 64
KERNEL_KVA = 1 << 63
STACK = struct.Struct("<QII")
FRAME = struct.Struct("<QQII")
STACK_BYTES = STACK.size + NR_FRAMES * FRAME.size

# What is no call: code that only fills the return stack buffer, and thunks that do so.
NEAR_CALL_BYTES = 8
# How far the thunk of a register lies from the next.
THUNK_BYTES = 32

TREE = """\
tree_root
  tree_twice
    tree_leaf
    tree_leaf
  tree_depth
    tree_depth
      tree_depth
        tree_depth
  tree_many
    tree_twice
      tree_leaf
      tree_leaf
    tree_twice
      tree_leaf
      tree_leaf
    x 98 more
  tree_loop
    1 x 99
  tree_indirect
    tree_leaf
  tree_tail
    tree_twice
      tree_leaf
      tree_leaf
"""


def add_options(parser):
    parser.add_argument("--ring-bytes", default="4M", metavar="SIZE", help="ring (4M)")
    parser.add_argument("--every", type=int, default=50, help="records between samples (50)")
    parser.add_argument("--keep", action="store_true", help="keep dump and logs")


# --- What the model saw -------------------------------------------------------------------

@dataclass(frozen=True)
class Frame:
    """A call as the model has it: the number of its record, and where it returns to."""

    record: int
    cpu: int
    returns: int


def _samples(path) -> list[tuple[int, list[Frame]]]:
    """(number of the newest record, frames from the outermost on), oldest sample first."""
    data = path.read_bytes()
    magic, version, _, capacity, total = HEADER.unpack_from(data)
    if (magic, version) != (MAGIC, 1):
        raise Failure(f"{path} is no log of stacks of version 1")
    samples = []
    for number in range(max(0, total - capacity), total):
        place = HEADER_BYTES + number % capacity * STACK_BYTES
        record, nr_frames, _ = STACK.unpack_from(data, place)
        frames = []
        for index in range(nr_frames):
            returns, entered, cpu, _ = FRAME.unpack_from(
                data, place + STACK.size + index * FRAME.size)
            frames.append(Frame(entered, cpu, returns))
        samples.append((record, frames[::-1]))
    return samples


# --- What the tree says -------------------------------------------------------------------

@dataclass
class Call:
    """A line of the tree."""

    n: int
    last_n: float
    source: int
    target: int
    sure: bool = True


@dataclass
class Tree:
    """The calls of one CPU, and the thread that they are of, as the events go by."""

    lines: list[dict] = field(default_factory=list)
    place: int = 0
    thread: int | None = None
    open: dict[int | None, list[Call]] = field(default_factory=dict)

    def move_to(self, n: int):
        """Take all lines of events up to N."""
        while self.place < len(self.lines) and self.lines[self.place]["n"] <= n:
            line = self.lines[self.place]
            self.place += 1
            if line["kind"] == "thread":
                self.thread = line.get("pid")
            if line["kind"] in ("thread", "lost", "gap"):
                for call in self.open.get(self.thread, []):
                    call.sure = False
            elif line["kind"] == "enter" and line["type"] not in ("tail", "divert"):
                self.open.setdefault(self.thread, []).append(
                    Call(line["n"], line.get("last_n", float("inf")), int(line["from"], 16),
                         int(line["to"], 16)))
        calls = self.open.get(self.thread, [])
        calls[:] = [call for call in calls if call.last_n > n]

    def calls(self) -> list[Call]:
        return [call for call in self.open.get(self.thread, []) if call.target >= KERNEL_KVA]


def _trees(context, path) -> dict[int, Tree]:
    trees: dict[int, Tree] = {}
    for line in dump.btsrec(context, "calls", "--format", "jsonl", path).splitlines():
        item = json.loads(line)
        trees.setdefault(item["cpu"], Tree()).lines.append(item)
    return trees


# --- Comparison ---------------------------------------------------------------------------

@dataclass
class Count:
    samples: int = 0
    calls: int = 0
    deepest: int = 0
    in_thunk: int = 0
    in_switch: int = 0
    ended_elsewhere: int = 0
    wrong: list[str] = field(default_factory=list)


def _is_call(log, frame: Frame) -> bool:
    target = log.record(log.total - 1 - frame.record)[1]
    return target >= KERNEL_KVA and not 0 <= target - frame.returns <= NEAR_CALL_BYTES


def _in_thunk(thunks, thunk_ip: int, ip: int) -> bool:
    return thunk_ip in thunks and 0 <= ip - thunk_ip < THUNK_BYTES


@dataclass
class History:
    """The branches of a CPU: in the model's log from record @base on, in the listing @events."""

    log: truth.Log
    base: int
    events: list[int]
    names: "Names"

    def ends(self, record: int) -> tuple[int, int]:
        """(from, to) of that record of the model."""
        return self.log.record(self.log.total - 1 - record)[:2]

    def is_interrupt(self, record: int) -> bool:
        return self.log.record(self.log.total - 1 - record)[4] == truth.INTERRUPT

    def is_same(self, frame: Frame, call: Call) -> bool:
        """A call through a thunk is shown where the thunk is left, whatever came in between."""
        source, target = self.ends(frame.record)
        shown = self.base + bisect.bisect_left(self.events, call.n)
        return source == call.source and (
            shown == frame.record or
            shown > frame.record and _in_thunk(self.names.thunks, target, self.ends(shown)[0]))

    def is_equal(self, frames: list[Frame], calls: list[Call]) -> bool:
        """Each frame is a call, and each call is a frame unless older than a gap or switch."""
        left = list(frames)
        for call in calls:
            if left and self.is_same(left[0], call):
                left.pop(0)
            elif call.sure:
                return False
        return not left

    def has_left_thunk(self, frame: Frame, record: int) -> bool:
        """Has the thunk that FRAME calls reached its function by that RECORD?

        An interrupt may hit it, once or more often, and call through the same thunk; and
        the function may end with a jump through it.
        """
        thunk_ip = self.ends(frame.record)[1]
        interrupted: list[int] = []
        for number in range(frame.record + 1, record + 1):
            source, target = self.ends(number)
            is_inside = _in_thunk(self.names.thunks, thunk_ip, source)
            if is_inside and self.is_interrupt(number):
                interrupted.append(source)
            elif interrupted:
                if (source, target) == (self.names.iret_ip, interrupted[-1]):
                    interrupted.pop()
            elif is_inside and not _in_thunk(self.names.thunks, thunk_ip, target):
                return True
        return False

    def through_thunks(self, frames: list[Frame], record: int) -> list[Frame]:
        """Without the calls of thunks that have not reached their function by that RECORD."""
        return [frame for frame in frames
                if self.ends(frame.record)[1] not in self.names.thunks or
                self.has_left_thunk(frame, record)]


def _compare(cpu: int, events, tree: Tree, log, samples, names: "Names") -> Count:
    branches = [event["n"] for event in events if event["kind"] == "branch"]
    base = log.total - len(branches)
    history = History(log, base, branches, names)
    count = Count()
    for record, known in samples:
        if record < base:
            continue
        tree.move_to(branches[record - base])
        # A call while BTS was off has no record.
        frames = [frame for frame in known if frame.cpu == cpu and
                  base <= frame.record < log.total and _is_call(log, frame)]
        calls = tree.calls()
        if calls and calls[-1].target == names.switch_ip:
            count.in_switch += 1
            continue
        through = history.through_thunks(frames, record)
        count.in_thunk += len(through) < len(frames)
        frames = through
        count.samples += 1
        count.calls += len(frames)
        count.deepest = max(count.deepest, len(frames))
        count.ended_elsewhere += max(0, len(calls) - len(frames))
        if not history.is_equal(frames, calls):
            count.wrong.append(
                f"CPU {cpu}, event {branches[record - base]}: the model has calls at " +
                " ".join(f"{branches[frame.record - base]}" for frame in frames) +
                "; the tree at " + " ".join(str(call.n) for call in calls))
    return count


# --- The known program --------------------------------------------------------------------

# Before it CPU, N, KIND and BRANCHES in columns of fixed width.
FUNCTION_COLUMN = 32


def _function(line: str) -> tuple[int, str]:
    """(indentation, what a line says of a function or cycle)."""
    rest = line[FUNCTION_COLUMN:].removesuffix(" [btstree]")
    name = rest.lstrip()
    name = re.sub(r"^the .* above x (\d+ more), to .*", r"x \1", name)
    name = re.sub(r"^(\d+) branch x (\d+) in .*", r"\1 x \2", name)
    return len(rest) - len(rest.lstrip()), name


def _known_tree(text: str) -> str:
    """The part of TEXT from tree_root() to panic(), without numbers."""
    found: list[str] = []
    base = None
    for line in text.splitlines():
        indent, name = _function(line)
        if name == "tree_root":
            found, base = [], indent
        if base is None:
            continue
        if " fault " in line or name == "panic":
            return "\n".join(found) + "\n"
        found.append(" " * (indent - base) + name)
    raise Failure("tree_root() is not in the tree, or nothing called panic() after it")


def _check_known(context, path):
    log = context.out / "tree.txt"
    text = dump.btsrec(context, "calls", path)
    log.write_text(text, encoding="utf-8")
    found = _known_tree(text)
    if found != TREE:
        raise Failure(f"the tree of the known program is\n{found}but it should be\n{TREE}")
    context.say(f"the tree of the known program is exactly as it must be, in {log}")
    summary = dump.btsrec(context, path)
    if not re.search(r"at tree_start\+0x[0-9a-f]+ \[btstree\]\n", summary) or \
            not re.search(r"\d+\+ +panic\n", summary):
        raise Failure(f"the summary does not say how it came to panic():\n{summary}")
    context.say("the summary names the caller of panic()")


# --- The calls of single functions ----------------------------------------------------------

# So many of those that were called most.
NR_FUNCTIONS = 30


def _records_to(context, events, model_dir) -> dict[int, set[tuple[int, int, int]]]:
    """By address, (CPU, event, from) of each record of the model that leads there."""
    found: dict[int, set[tuple[int, int, int]]] = {}
    for cpu in range(context.options.cpus):
        log = truth.Log(model_dir / f"cpu{cpu}.log")
        branches = [event["n"] for event in events[cpu] if event["kind"] == "branch"]
        for age, n in enumerate(reversed(branches)):
            branch = log.branch(age)
            found.setdefault(branch.target, set()).add((cpu, n, branch.source))
    return found


def _check_last(context, path, events, model_dir, names: "Names"):
    """What btsrec last finds of a function are the records that lead to its start."""
    records = _records_to(context, events, model_dir)
    functions = [json.loads(line) for line in
                 dump.btsrec(context, "functions", "--kernel", "--format", "jsonl",
                             path).splitlines()]
    starts = [line["start"] for line in sorted(functions, key=lambda line: -line["calls"])
              if "start" in line and int(line["start"], 16) not in names.thunks]
    nr_calls = 0
    for start in starts[:NR_FUNCTIONS]:
        lines = [json.loads(line) for line in
                 dump.btsrec(context, "last", "--format", "jsonl", path, start).splitlines()]
        found = {(line["cpu"], line["n"], int(line["from"], 16)) for line in lines
                 if line.get("entered") and line["to"] == start}
        true = records.get(int(start, 16), set())
        # A call by way of a thunk comes out of the thunk; an interrupt may return to the start.
        wrong = {call[:2] for call in found} - {call[:2] for call in true}
        missing = {record for record in true if record[:2] not in {call[:2] for call in found}
                   and record[2] != names.iret_ip}
        if wrong or missing:
            raise Failure(f"btsrec last of {start}: no record of the model is "
                          f"{sorted(wrong)[:5]}, and not found are {sorted(missing)[:5]}")
        nr_calls += len(found)
    if not nr_calls:
        raise Failure("btsrec last finds no call")
    context.say(f"btsrec last finds the {nr_calls} calls of {NR_FUNCTIONS} functions that the "
                f"model recorded, and no others")


# --- Run ----------------------------------------------------------------------------------

@dataclass
class Names:
    """Addresses in the guest's kernel, which is not moved."""

    switch_ip: int = 0
    new_ip: int = 0
    iret_ip: int = 0
    thunks: set[int] = field(default_factory=set)


def _names(context) -> Names:
    names = Names()
    if not context.os.system_map.is_file():
        raise Skip("there is no System.map with the kernel's names")
    for line in context.os.system_map.read_text(encoding="utf-8").splitlines():
        address, _, symbol = line.split()
        if symbol == "__switch_to_asm":
            names.switch_ip = int(address, 16)
        elif symbol == "wake_up_new_task":
            names.new_ip = int(address, 16)
        elif symbol == "native_irq_return_iret":
            names.iret_ip = int(address, 16)
        elif symbol.startswith("__x86_indirect_"):
            names.thunks.add(int(address, 16))
    if not (names.switch_ip and names.new_ip and names.iret_ip):
        raise Failure(f"{context.os.system_map} lacks a name")
    return names


def _check_samples(context, events, trees, model_dir, names: Names):
    nr_samples = nr_calls = 0
    wrong: list[str] = []
    for cpu in range(context.options.cpus):
        log = truth.Log(model_dir / f"cpu{cpu}.log")
        count = _compare(cpu, events[cpu], trees[cpu], log,
                         _samples(model_dir / f"cpu{cpu}.stacks"),
                         names)
        context.say(f"CPU {cpu}: {count.samples} samples, {count.in_thunk} of them inside a thunk, "
                    f"with {count.calls} open calls, at most {count.deepest}; {count.in_switch} "
                    f"more while stacks were changed; shown but ended on the other CPU: "
                    f"{count.ended_elsewhere}; {len(count.wrong)} samples differ")
        nr_samples += count.samples
        nr_calls += count.calls
        wrong += count.wrong
    if wrong:
        raise Failure(f"{len(wrong)} of {nr_samples} samples differ:\n" + "\n".join(wrong[:20]))
    if not nr_samples or nr_calls < 2 * nr_samples:
        raise Failure(f"{nr_samples} samples with {nr_calls} open calls: nothing to compare")
    context.say(f"all {nr_calls} open calls of {nr_samples} samples are those of the model")


def run(context):
    options = context.options
    path = context.out / "dump"
    path.unlink(missing_ok=True)
    names = _names(context)
    plugin = {"stacks": 200000, "stacks_every": options.every,
              "switch_ip": names.switch_ip, "new_ip": names.new_ip}
    tree = ("modules/btstree.ko", context.guest_module("btstree").read_bytes())
    with context.boot(SCRIPT, context.recorder_modules(f"ring_bytes={options.ring_bytes}"),
                      files=[tree], plugin_args=plugin, append="nopti nokaslr") as machine:
        machine.expect_panic(context.seconds(240))
        machine.dump(path)
        machine.quit()
    _check_known(context, path)
    events = dump.events(context, path)
    _check_samples(context, events, _trees(context, path), machine.model_dir, names)
    _check_last(context, path, events, machine.model_dir, names)
    if not options.keep:
        path.unlink()
        for file in machine.model_dir.glob("cpu*.*"):
            file.unlink()

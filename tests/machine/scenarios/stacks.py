# SPDX-License-Identifier: GPL-2.0-or-later
"""The call stacks that "btsrec stack" rebuilds are those that the model saw.

The model keeps the true stack of the running thread by its stack pointer and logs it after every so
many records. At each of these points the return addresses that the decoder prints must be the true
ones, as many as the history of that CPU can know: those of the innermost frames that were entered
on this CPU and are still in its ring. Where the decoder says that frames are unreliable it may
print fewer, and the reason is counted.

Two kinds of calls are no frames for the decoder, and are left out of the truth: the thunk's
own, and calls of what is right after them, which fill the return stack buffer.
"""

import json
import mmap
import struct
from collections import Counter
from dataclasses import dataclass

import dump
import truth
import workload
from errors import Failure

SUMMARY = "rebuilt call stacks are the true ones, at 10,000 points of a run"

SCRIPT = workload.SHELL + """
start_work
sleep 2
echo c >/proc/sysrq-trigger
"""

KALLSYMS_SCRIPT = """
cat /proc/kallsyms >/tmp/kallsyms
send /tmp/kallsyms
finish 0
"""

MAGIC = 0x4B5453444C444D42
HEADER = struct.Struct("<QIIQQ")
HEADER_BYTES = 4096
STACK = struct.Struct("<QII")
FRAME = struct.Struct("<QQII")
MAX_FRAMES = 64
STACK_BYTES = STACK.size + MAX_FRAMES * FRAME.size
NEAR_CALL_BYTES = 8
WANTED_POINTS = 10_000
WANTED_EQUAL = 5_000


def add_options(parser):
    parser.add_argument("--ring-bytes", default="1M", metavar="SIZE", help="ring (1M)")
    parser.add_argument("--every", type=int, default=6, help="records between two stacks (6)")
    parser.add_argument("--pti", action="store_true", help="with page-table isolation")
    parser.add_argument("--keep", action="store_true", help="keep dump and logs")


def _symbols(context) -> dict[str, int]:
    """The kernel's, without KASLR: of System.map, else what a guest says of itself."""
    if context.os.system_map.is_file():
        text = context.os.system_map.read_text("ascii")
    else:
        with context.boot(KALLSYMS_SCRIPT, name="boot-kallsyms", kaslr=False,
                          plugin=None) as machine:
            machine.expect_finish(context.seconds(60))
            machine.quit()
        text = machine.files["kallsyms"].decode()
    lines = (line.split() for line in text.splitlines())
    return {words[2]: int(words[0], 16) for words in lines if len(words) == 3}


@dataclass(frozen=True)
class Frame:
    """A true frame; see model_log.h."""

    ret: int
    record: int
    cpu: int
    kind: int


def _stacks(path):
    """(number of the newest record, frames, older frames that are not there) of each point."""
    with open(path, "rb") as file:
        data = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
    magic, version, _, capacity, total = HEADER.unpack_from(data)
    if (magic, version) != (MAGIC, 1):
        raise Failure(f"{path} is no log of stacks of version 1")
    for number in range(max(0, total - capacity), total):
        at = HEADER_BYTES + number % capacity * STACK_BYTES
        record, nr_frames, nr_more = STACK.unpack_from(data, at)
        yield record, [Frame(*FRAME.unpack_from(data, at + STACK.size + i * FRAME.size))
                       for i in range(nr_frames)], nr_more


@dataclass(frozen=True)
class Places:
    """Where in the kernel some code is."""

    switch: range
    thunks: range

    @staticmethod
    def of(symbols):
        switch = symbols["__switch_to_asm"]
        return Places(range(switch, min(at for at in symbols.values() if at > switch)),
                      range(symbols["__x86_indirect_thunk_array"],
                            symbols["__x86_return_thunk"]))


class Cpu:
    """What is known of one CPU: its log, its events, and which records they are."""

    def __init__(self, number, machine, events, places):
        self.number = number
        self.log = truth.Log(machine / f"cpu{number}.log")
        self.events = [event["n"] for event in events if event["kind"] == "branch"]
        self.first = self.log.total - len(self.events)
        self.places = places
        self.named = self._named(events)
        self.points = [point for point in _stacks(machine / f"cpu{number}.stacks")
                       if point[0] >= self.first]

    def _named(self, events) -> int:
        """The first record at which the thread of the stack is known.

        A ring may begin between the annotation of a switch and the switch: then the thread that ran
        before is not known, and nothing of its stack is known when it runs again.
        """
        for event in events:
            if event["kind"] == "switch":
                break
            if event["kind"] == "branch" and int(event["from"], 16) in self.places.switch:
                return self.first + self.events.index(event["n"])
        return self.first

    def event_of(self, record: int) -> int:
        return self.events[record - self.first]

    def known(self, record: int, frames: list[Frame]) -> list[int]:
        """Return addresses of the innermost of FRAMES that this CPU's history can know.

        FRAMES: those open behind RECORD.
        """
        known = []
        first = self.named if record >= self.named else self.first
        for frame in frames:
            if frame.cpu != self.number or not first <= frame.record < self.log.total:
                break
            if not self._is_no_frame(frame):
                known.append(frame.ret)
        return known

    def _is_no_frame(self, frame: Frame) -> bool:
        target = self.log.record(self.log.total - 1 - frame.record)[1]
        return frame.kind == 0 and (0 <= target - frame.ret <= NEAR_CALL_BYTES
                                    or frame.ret in self.places.thunks)


@dataclass
class Printed:
    """What the decoder says at one point: certain return addresses, and why no more."""

    title: dict
    lines: list[dict]

    def returns(self) -> list[int]:
        found = []
        for before, line in zip(self.lines, self.lines[1:]):
            if before["unreliable"]:
                break
            if not line["gone"] and before.get("how") != "divert":
                found.append(int(line["ip"], 16))
        return found

    def reason(self) -> str:
        return self.title.get("unreliable_why", "")


def _printed(context, path, cpu, events: list[int]) -> dict[int, Printed]:
    found = {}
    text = dump.btsrec(context, "stack", "--format", "jsonl", "--cpu", cpu.number, "--at",
                       ",".join(map(str, events)), path)
    for line in text.splitlines():
        item = json.loads(line)
        if item["kind"] == "stack":
            found[item["n"]] = Printed(item, [])
        elif item["kind"] == "frame":
            found[item["n"]].lines.append(item)
    return found


def _compare(context, path, cpu) -> Counter:
    printed = _printed(context, path, cpu, [cpu.event_of(record) for record, _, _ in cpu.points])
    count = Counter()
    for record, frames, _ in cpu.points:
        stack = printed[cpu.event_of(record)]
        true, rebuilt = cpu.known(record, frames), stack.returns()
        if record < cpu.named and "pid" in stack.title:
            raise Failure(f"CPU {cpu.number}: the thread of this stack is not known: {stack.title}")
        count["frames"] += len(rebuilt)
        if rebuilt == true:
            count["equal"] += 1
        elif stack.reason() and rebuilt == true[:len(rebuilt)]:
            count[f"shorter: {stack.reason()}"] += 1
        else:
            raise Failure(_mismatch(cpu, record, true, rebuilt, stack))
    return count


def _mismatch(cpu, record, true, rebuilt, stack) -> str:
    lines = [f"CPU {cpu.number}, event {cpu.event_of(record)}: {stack.title}"]
    for place in range(max(len(true), len(rebuilt))):
        pair = [f"0x{found[place]:016x}" if place < len(found) else "nothing"
                for found in (true, rebuilt)]
        lines.append(f"  {' ' if pair[0] == pair[1] else '>'} true {pair[0]} rebuilt {pair[1]}")
    return "\n".join(lines)


def _boot(context, path):
    symbols = _symbols(context)
    arguments = {"stacks": 1 << 15, "stacks_every": context.options.every,
                 "switch_ip": symbols["__switch_to_asm"],
                 "new_ip": symbols["wake_up_new_task"]}
    parameters = f"ring_bytes={context.options.ring_bytes}"
    with context.boot(SCRIPT, context.recorder_modules(parameters), plugin_args=arguments,
                      kaslr=False, append="pti=on" if context.options.pti else "nopti") as machine:
        machine.expect_panic(context.seconds(240))
        machine.dump(path)
        machine.quit()
    return machine.model_dir, symbols


def run(context):
    path = context.out / "dump"
    path.unlink(missing_ok=True)
    model, symbols = _boot(context, path)
    events = dump.events(context, path)
    total = Counter()
    for number in range(context.options.cpus):
        cpu = Cpu(number, model, events[number], Places.of(symbols))
        count = _compare(context, path, cpu)
        count["points"] = len(cpu.points)
        total += count
        context.say(f"CPU {number}: {_told_count(count)}")
    context.say(f"in all: {_told_count(total)}")
    if total["points"] < WANTED_POINTS or total["equal"] < WANTED_EQUAL:
        raise Failure(f"too few points to tell from; {WANTED_POINTS} are wanted, among them "
                      f"{WANTED_EQUAL} have the whole depth")
    if not context.options.keep:
        path.unlink()
        for file in model.glob("cpu*.*"):
            file.unlink()


def _told_count(count: Counter) -> str:
    reasons = ", ".join(f"{number} {reason.removeprefix('shorter: ')}"
                        for reason, number in sorted(count.items())
                        if reason.startswith("shorter: "))
    return (f"{count['points']} stacks of {count['frames']} frames: equal to the depth of the "
            f"history {count['equal']} ({count['equal'] / max(count['points'], 1):.1%}), true but "
            f"shorter for a reason that is printed: {reasons or 'none'}; wrong: 0")

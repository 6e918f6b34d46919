# SPDX-License-Identifier: GPL-2.0-or-later
"""The ground truth: the model's own log of what it stored, and the comparison with a history.

The layout of the log is model_log.h. A history is compared from both sides: every
branch must equal its log record, and the number of branches must be the number of log
records that the ring can still hold. The second follows from the slots in the log: the
distance in slots from a record to the end of the ring's content says whether anything
was written over it.
"""

import mmap
import re
import struct
from dataclasses import dataclass
from pathlib import Path

import dump
from errors import Failure

MAGIC = 0x474F4C4C444F4D42
VERSION = 1
HEADER = struct.Struct("<QIIQQ")
HEADER_BYTES = 4096
RECORD = struct.Struct("<QQQII")
PREDICTED = 1 << 4
INTERRUPT = 1  # kind of a record that no instruction made
RECORD_SLOT_BYTES = 24
SIZE_UNITS = {"K": 1 << 10, "M": 1 << 20}
DEBUGCTL_BTS = 1 << 7
SELF_TEST_BRANCHES = 3
MAX_SINCE_WILD = 4096

# Slots that an annotation takes (abi.h: one slot for each 16 bytes of payload).
SLOTS = {"switch": 5, "exec": 5, "arm": 4, "mark": 4, "time": 2}

TEXT_BRANCH = re.compile(r"^\s*(\d+)\s+(\d+)\s+branch\s+(0x[0-9a-f]{16}) -> (0x[0-9a-f]{16}) "
                         r"([P-])(?:\s|$)")


def _canonical(address: int) -> bool:
    return not (address + (1 << 47)) >> 48 & 0xffff


@dataclass(frozen=True)
class Branch:
    """One taken branch as the CPU recorded it."""

    source: int
    target: int
    predicted: bool

    def __str__(self):
        return f"0x{self.source:016x} -> 0x{self.target:016x} {'P' if self.predicted else '-'}"


def ring_slots(ring_bytes: str, cpu: int) -> int:
    """How many records fit into the ring of CPU with ring_bytes=RING_BYTES."""
    size = "1M"
    for word in ring_bytes.split(","):
        cpus, _, wanted = word.rpartition(":")
        first, _, last = cpus.partition("-")
        if not cpus or int(first) <= cpu <= int(last or first):
            size = wanted
    return int(size.rstrip("KM"), 0) * SIZE_UNITS.get(size[-1], 1) // RECORD_SLOT_BYTES


class Log:
    """The log of one virtual CPU.

    @left_out: (first, end) of record numbers that went to no ring, see self_tests().

    A branch to an address that is not canonical and the fault there are one record, as a processor
    makes it (decoder/src/recorder/timeline.c).  Such a fault is among the newest records.
    """

    def __init__(self, path: Path, left_out=()):
        with open(path, "rb") as file:
            self._data = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
        magic, version, self.cpu, self.capacity, self.total = HEADER.unpack_from(self._data)
        if (magic, version) != (MAGIC, VERSION):
            raise Failure(f"{path} is no model log of version {VERSION}")
        self._numbers = range(max(self.total - self.capacity, 0), self.total)
        for first, end in left_out:
            if self._numbers and end > self._numbers[0]:
                self._numbers = [number for number in self._numbers if not first <= number < end]
        self._sources = {}
        self._join_wild()

    def _record(self, number: int):
        place = number % self.capacity
        return RECORD.unpack_from(self._data, HEADER_BYTES + place * RECORD.size)

    def _join_wild(self):
        newest = list(self._numbers[-MAX_SINCE_WILD:])
        for number, next_number in zip(newest, newest[1:]):
            source, target = self._record(number)[:2]
            if not _canonical(target) and self._record(next_number)[0] == target:
                self._sources[next_number] = source
                self._numbers = [other for other in self._numbers if other != number]

    def record(self, age: int):
        """(from, to, flags, slot, kind) of the record with AGE newer ones; age 0 is the newest."""
        number = self._numbers[-1 - age]
        source, *rest = self._record(number)
        return self._sources.get(number, source), *rest

    def retained(self) -> int:
        return len(self._numbers)

    def branch(self, age: int) -> Branch:
        source, target, flags, _, _ = self.record(age)
        return Branch(source, target, bool(flags & PREDICTED))

    def forget_newest(self, nr: int):
        """As if the CPU had stopped NR records earlier; not for a log with records left out."""
        self.total -= nr
        self._numbers = self._numbers[:len(self._numbers) - nr]

    def ages_of(self, branch: Branch):
        """The ages of the records that are BRANCH, in no order."""
        wanted = struct.pack("<QQ", branch.source, branch.target)
        at = self._data.find(wanted, HEADER_BYTES)
        while at >= 0:
            place, rest = divmod(at - HEADER_BYTES, RECORD.size)
            age = (self.total - 1 - place) % self.capacity
            if not rest and age < self.retained() and self.branch(age) == branch:
                yield age
            at = self._data.find(wanted, at + 8)

    def in_ring(self, nr_slots: int, events) -> int:
        """How many of the newest records a ring of NR_SLOTS must still hold.

        @events: the history, for what the log does not know: annotations at the ends.
        """
        if not self.retained():
            return 0
        first_slot = _annotation_slots(events) if not wrapped(events) else None
        distance = 1 + _annotation_slots(reversed(events))
        nr_slots_left = nr_slots - _torn_slots(events)
        age = 0
        slot = self.record(0)[3]
        while distance <= nr_slots_left:
            age += 1
            if age == self.retained():
                break
            older = self.record(age)[3]
            # Before the first lap's beginning: the self-test, since overwritten.
            if first_slot is not None and not first_slot <= older < slot:
                break
            distance += (slot - older) % nr_slots or nr_slots
            slot = older
        return age


MSR_WRITE = re.compile(r"^cpu=(\d+) ip=(0x[0-9a-f]+) DEBUGCTL old=(0x[0-9a-f]+) new=(0x[0-9a-f]+) "
                       r"records=(\d+)$", re.MULTILINE)


def self_tests(msr_log: str, cpu: int, is_self_test) -> list[tuple[int, int]]:
    """(first, end) of the records of CPU that the recorder's self-test made, in a page of its own.

    They end with a write of DEBUGCTL by its code: IS_SELF_TEST(ip).
    """
    found, on = [], 0
    for number, ip, old, new, records in MSR_WRITE.findall(msr_log):
        if int(number) != cpu:
            continue
        was_on, is_on = (int(value, 16) & DEBUGCTL_BTS for value in (old, new))
        if is_on and not was_on:
            on = int(records)
        elif was_on and not is_on and is_self_test(int(ip, 16)):
            found.append((on, int(records)))
    return found


def wrapped(events) -> bool:
    return any(event["kind"] == "gap" and event["gap"] == "overwritten" for event in events)


def _annotation_slots(events) -> int:
    """Slots that annotations take before the first branch of EVENTS."""
    slots = 0
    for event in events:
        if event["kind"] == "branch":
            break
        if event["kind"] == "gap" and event["gap"] == "paused":
            slots += SLOTS["arm"]
        slots += SLOTS.get(event["kind"], 0)
    return slots


def _torn_slots(events) -> int:
    """Slots of the oldest records that an annotation was being written over, at most one."""
    torn = [event["slots"] for event in events
            if event["kind"] == "gap" and event["gap"] == "torn"]
    return torn[0] if len(torn) == 1 and torn[0] in SLOTS.values() else 0


def branches_of_events(events) -> list[Branch]:
    return [Branch(int(event["from"], 16), int(event["to"], 16), event["predicted"])
            for event in events if event["kind"] == "branch"]


def branches_of_text(text: str) -> dict[int, list[Branch]]:
    """The branches by CPU out of the text of "btsrec show" or "crash> bts show"."""
    found: dict[int, list[Branch]] = {}
    for line in text.splitlines():
        match = TEXT_BRANCH.match(line)
        if match:
            cpu, _, source, target, flag = match.groups()
            found.setdefault(int(cpu), []).append(
                Branch(int(source, 16), int(target, 16), flag == "P"))
    return found


def said_by_crash(context, path, lacks: str) -> dict[int, list[Branch]] | None:
    """The branches by CPU that "crash> bts" prints of a dump; None: crash is left out, and the
    console says that it is, because LACKS."""
    if lacks:
        context.say(f"left out: what crash> bts says, because {lacks}")
        return None
    return branches_of_text(dump.crash(context, path, "bts show"))


def compare(what: str, branches: list[Branch], log: Log, expected: int) -> int:
    """The branches (oldest first) must be the newest EXPECTED records of LOG."""
    for age, branch in enumerate(reversed(branches)):
        if age >= log.retained():
            raise Failure(f"{what}: {len(branches)} branches, but the CPU recorded only "
                          f"{log.total}")
        if branch != log.branch(age):
            raise Failure(_mismatch(what, branches, log, age))
    if len(branches) != expected:
        raise Failure(f"{what}: {len(branches)} branches, all true, but the ring holds {expected}")
    return len(branches)


def _recorded(log: Log) -> list[Branch]:
    """What the CPU recorded into its ring: all but the self-tests; the log's first records are one.
    They go to another page, each time a CPU begins.
    """
    if log.total > log.capacity:
        raise Failure("the log of the model has wrapped")
    branches = [log.branch(age) for age in reversed(range(log.total))]
    self_test = {(branch.source, branch.target) for branch in branches[:SELF_TEST_BRANCHES]}
    return [branch for branch in branches if (branch.source, branch.target) not in self_test]


def compare_all(model_dir: Path, cpu: int, events) -> str:
    """The whole history of a CPU that began several times, in a ring that never wrapped, must be
    all that it recorded; a sentence that says so.
    """
    found, expected = branches_of_events(events), _recorded(Log(model_dir / f"cpu{cpu}.log"))
    if wrapped(events):
        raise Failure(f"CPU {cpu}: the ring has wrapped, which hides what this is to test")
    for place, (one, other) in enumerate(zip(found, expected)):
        if one != other:
            raise Failure(f"CPU {cpu}: branch {place} is {one}, but the CPU recorded {other}")
    if len(found) != len(expected):
        raise Failure(f"CPU {cpu}: {len(found)} branches, but the CPU recorded {len(expected)}")
    return f"CPU {cpu}: {len(found)} records equal"


def _mismatch(what, branches, log, age) -> str:
    lines = [f"{what}: branch {len(branches) - 1 - age} ({age} before the newest) is not what "
             "the CPU recorded"]
    for near in range(min(age + 3, len(branches) - 1, log.retained() - 1), max(age - 3, 0) - 1, -1):
        mark = ">" if near == age else " "
        lines.append(f"  {mark} shown {branches[len(branches) - 1 - near]}   "
                     f"recorded {log.branch(near)}")
    return "\n".join(lines)

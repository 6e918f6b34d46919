# SPDX-License-Identifier: GPL-2.0-or-later
"""Where perf cannot be kept out, the recorder gives way and no data is harmed.

Under page-table isolation the kernel has no PMU intel_bts to hold an event of, but perf
can still ask for one sample for each branch ("-e branches:u -c 1"), and uses BTS for it.
The recorder must stop on that CPU before perf switches BTS on, give the DS area back, and keep
the history that it has. When perf is done it records again, and a gap with the reason "foreign"
says since when it did not. The other CPU goes on.
"""

import dump
import truth
from errors import Failure
from scenarios import perf_check

SUMMARY = "perf takes BTS over under page-table isolation: the history stays, with a reason"

# Also of a busy host, which stretches the time from perf to the freeze.
RING_BYTES = 32 << 20
FOREIGN = "foreign"
ENOUGH = 10_000

SCRIPT = """
[ -d /sys/bus/event_source/devices/intel_bts ] && fail "intel_bts is there, in spite of PTI"
insmod /modules/btsrec.ko pti=map ring_bytes=%d || fail "the recorder does not arm"
taskset -p 1 $$ >/dev/null || fail "taskset"
taskset 2 usleep 200000
taskset 2 /bin/perfevents bts-samples -1 300 || fail "perf's bts-samples: $?"
taskset 2 usleep 1000
cat /dev/btsrec >/tmp/state
echo freeze >/dev/btsrec
grep '^cpu1: armed' /tmp/state || fail "CPU 1: $(cat /tmp/state)"
grep '^cpu0: armed' /tmp/state || fail "CPU 0: $(cat /tmp/state)"
ask dump
echo arm >/dev/btsrec || fail "the recorder does not arm again"
grep -c '^cpu[01]: armed' /dev/btsrec | grep -q 2 || fail "after arming: $(cat /dev/btsrec)"
rmmod btsrec || fail "the recorder does not unload"
finish 0
"""


def _pieces(history) -> list[list[dict]]:
    """The events between gaps for which perf had BTS."""
    pieces = [[]]
    for event in history:
        if event["kind"] == "gap" and event.get("reason") == FOREIGN:
            if not 0 < event["stop_tsc"] < event["tsc"]:
                raise Failure(f"CPU 1: {event} does not say since when")
            pieces.append([])
        pieces[-1].append(event)
    return pieces


def _find_piece(branches: list[truth.Branch], log: truth.Log, age: int) -> int:
    """The age of the newest of BRANCHES, which are in LOG in one piece, not newer than AGE."""
    for newest in range(age, log.retained() - len(branches) + 1):
        if all(log.branch(newest + back) == branch
               for back, branch in enumerate(reversed(branches))):
            return newest
    raise Failure(f"CPU 1: {len(branches)} branches are no part of the log")


def _check_pieces(history, log: truth.Log) -> tuple[int, int, int]:
    """Branches recorded, branches of perf's between them, how often perf had BTS."""
    pieces = [truth.branches_of_events(piece) for piece in _pieces(history)]
    pieces = [piece for piece in pieces if piece]
    age, nr, others = 0, 0, 0
    for number, piece in enumerate(reversed(pieces)):
        found = _find_piece(piece, log, age)
        if not number and found:
            raise Failure(f"CPU 1: the newest {found} branches are not in the history")
        others += found - age
        nr += len(piece)
        age = found + len(piece)
    return nr, others, len(pieces) - 1


def _check(context, machine, path):
    histories = dump.events(context, path)
    logs = [truth.Log(machine.model_dir / f"cpu{cpu}.log") for cpu in range(2)]
    branches = truth.branches_of_events(histories[0])
    expected = logs[0].in_ring(RING_BYTES // truth.RECORD_SLOT_BYTES, histories[0])
    truth.compare("CPU 0", branches, logs[0], expected)
    nr, others, times = _check_pieces(histories[1], logs[1])
    if nr < ENOUGH or not others or not times:
        raise Failure(f"CPU 1 has {nr} branches in {times + 1} pieces, {others} of perf's between")
    context.say(f"CPU 0: {len(branches)} records equal; CPU 1: {nr} equal, perf had BTS "
                f"{times} times and {others} branches between")


def run(context):
    path = context.out / "dump"
    path.unlink(missing_ok=True)

    def take(machine, _):
        machine.dump(path, resume=True)
        _check(context, machine, path)
        return "dumped"

    machine = perf_check.boot(
        context, SCRIPT % RING_BYTES, context.guest_module("btsmsr"),
        files=[("modules/btsrec.ko", context.recorder.read_bytes()),
               ("bin/perfevents", context.guest_program("perfevents.c"))],
        answers={"dump": take}, plugin_more={"records": 1 << 21}, append="pti=on")
    with machine:
        machine.expect_finish(context.seconds(120))
        machine.quit()

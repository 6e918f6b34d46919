# SPDX-License-Identifier: GPL-2.0-or-later
"""Where perf cannot be kept out, the recorder gives way and no data is harmed.

Under page-table isolation the kernel has no PMU intel_bts to hold an event of, but perf
can still ask for one sample for each branch ("-e branches:u -c 1"), and uses BTS for it.
The recorder must stop on that CPU, with the reason "foreign", before perf switches BTS on,
give the DS area back, and keep the history that it has. The other CPU goes on. "arm" then
records again on both.
"""

import dump
import truth
from errors import Failure
from scenarios import perf_check

SUMMARY = "perf takes BTS over under page-table isolation: the history stays, with a reason"

RING_BYTES = 8 << 20
FOREIGN = 13
ENOUGH = 10_000

SCRIPT = """
[ -d /sys/bus/event_source/devices/intel_bts ] && fail "intel_bts is there, in spite of PTI"
insmod /modules/btsrec.ko pti=map ring_bytes=%d || fail "the recorder does not arm"
taskset 2 usleep 200000
taskset 2 /bin/perfevents bts-samples -1 300 || fail "perf's bts-samples: $?"
grep '^cpu1: stopped .* reason=%d$' /dev/btsrec || fail "CPU 1: $(cat /dev/btsrec)"
grep '^cpu0: armed' /dev/btsrec || fail "CPU 0: $(cat /dev/btsrec)"
cat /sys/module/btsmsr/parameters/state | grep '^cpu=1 debugctl=40[0-3][0-9a-f] ' ||
	fail "$(cat /sys/module/btsmsr/parameters/state)"
usleep 200000
echo freeze >/dev/btsrec
ask dump
echo arm >/dev/btsrec || fail "the recorder does not arm again"
grep -c '^cpu[01]: armed' /dev/btsrec | grep -q 2 || fail "after arming: $(cat /dev/btsrec)"
rmmod btsrec || fail "the recorder does not unload"
finish 0
"""


def _compare_part(cpu: int, branches: list[truth.Branch], log: truth.Log) -> int:
    """BRANCHES are somewhere in LOG, in one piece: what is newer is perf's. Its age."""
    newest = branches[-1]
    for age in range(log.retained() - len(branches) + 1):
        if log.branch(age) != newest:
            continue
        if all(log.branch(age + back) == branch
               for back, branch in enumerate(reversed(branches))):
            return age
    raise Failure(f"CPU {cpu}: its {len(branches)} branches are no part of the log")


def _check(context, machine, path):
    histories = dump.events(context, path)
    logs = [truth.Log(machine.model_dir / f"cpu{cpu}.log") for cpu in range(2)]
    branches = [truth.branches_of_events(histories[cpu]) for cpu in range(2)]
    expected = logs[0].in_ring(RING_BYTES // truth.RECORD_SLOT_BYTES, histories[0])
    truth.compare("CPU 0", branches[0], logs[0], expected)
    newer = _compare_part(1, branches[1], logs[1])
    if len(branches[1]) < ENOUGH or not newer:
        raise Failure(f"CPU 1 has {len(branches[1])} branches, {newer} are newer: too few")
    context.say(f"CPU 0: {len(branches[0])} records equal; CPU 1: {len(branches[1])} equal, "
                f"the newest before the {newer} of perf")


def run(context):
    path = context.out / "dump"
    path.unlink(missing_ok=True)

    def take(machine, _):
        machine.dump(path, resume=True)
        _check(context, machine, path)
        return "dumped"

    machine = perf_check.boot(
        context, SCRIPT % (RING_BYTES, FOREIGN), context.guest_module("btsmsr"),
        files=[("modules/btsrec.ko", context.recorder.read_bytes()),
               ("bin/perfevents", context.guest_program("perfevents.c"))],
        answers={"dump": take}, append="pti=on")
    with machine:
        machine.expect_finish(context.seconds(120))
        machine.quit()

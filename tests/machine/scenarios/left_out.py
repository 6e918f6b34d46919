# SPDX-License-Identifier: GPL-2.0-or-later
"""cpus=: only these CPUs record, also after it is changed, and after CPUs go and come.

A CPU that is left out has no ring, or keeps the history that it had, with a gap that says
"left out" when it is chosen again. Histories equal the model's log, which has what a CPU recorded
and nothing of the time between. They are of user mode only, as of "suspend". At the freeze CPU 0,
which asks for it, is left out.
"""

import re
from collections import Counter

import dump
import truth
import vm
import workload
from errors import Failure

SUMMARY = "cpus=: the others do not record; changed while armed, with CPUs that go and come"

RING_BYTES = 32 << 20
ROUNDS = 3

SCRIPT = workload.SHELL + workload.SAYS + """
cpu1=/sys/devices/system/cpu/cpu1/online
(while :; do taskset 2 seq 1 30 | md5sum >/dev/null; usleep 50000; done) &
says "cpus: 0" "left_out: 1" "cpu0: armed" "!cpu1:"
usleep 100000
for bad in "" x 7 1-; do
	echo "cpus $bad" 2>/dev/null >$device && fail "takes $bad"
	says "cpus: 0" "cpu0: armed" "!cpu1:"
done
for round in $(seq %(rounds)d); do
	echo cpus all >$device || fail "all are not chosen"
	says "cpus: all" "left_out: 0" "cpu0: armed" "cpu1: armed"
	taskset 2 usleep 30000
	echo cpus 0 >$device || fail "CPU 1 is not left out"
	says "cpus: 0" "left_out: 1" "cpu0: armed" "cpu1: stopped .* reason=22"
	taskset 2 usleep 30000
done
echo freeze >$device
echo cpus all >$device || fail "a frozen recorder takes no list"
says "cpu0: frozen" "cpu1: stopped"
echo arm >$device || fail "does not arm again"
says "cpu0: armed" "cpu1: armed"
echo cpus 0 >$device || fail "CPU 1 is not left out"
# What goes and comes while it is left out stays so; arming again changes nothing.
echo 0 >$cpu1 || fail "CPU 1 stays online"
says "left_out: 0"
echo 1 >$cpu1 || fail "CPU 1 stays offline"
says "left_out: 1" "cpu1: stopped .* reason=22"
echo arm >$device || fail "does not arm"
echo cpus 0-1 >$device || fail "CPU 1 is not chosen"
says "cpus: all" "cpu1: armed"
echo 0 >$cpu1
echo 1 >$cpu1
says "cpu1: armed"
echo cpus 1 >$device || fail "CPU 0 is not left out"
says "cpus: 1" "cpu0: stopped .* reason=22" "cpu1: armed"
taskset 1 sh -c "echo freeze >$device"
ask dump
rmmod btsrec || fail "does not unload"
finish 0
"""


def _check(context, machine, path):
    gaps = Counter()
    for cpu, events in sorted(dump.events(context, path).items()):
        gaps.update((cpu, event["reason"]) for event in events
                    if event["kind"] == "gap" and event["gap"] == "paused")
        context.say(truth.compare_all(machine.model_dir, cpu, events))
    wanted = {(1, "left out"): ROUNDS + 1, (1, "cpu offline"): 1}
    if {key: gaps[key] for key in wanted} != wanted:
        raise Failure(f"gaps {dict(gaps)}, not {wanted}")
    info = dump.btsrec(context, "info", path)
    for pattern in (r"^left out: +CPU 0, ", r"^\s*0 stopped\s+left out", r"^\s*1 frozen"):
        if not re.search(pattern, info, re.MULTILINE):
            raise Failure(f"info says nothing like {pattern}:\n{info}")
    context.say(f"gaps: {dict(gaps)}")


def run(context):
    path = context.out / "dump"

    with context.boot(SCRIPT % {"rounds": ROUNDS},
                      context.recorder_modules(f"ring_bytes={RING_BYTES} mode=user cpus=0"),
                      answers={"dump": vm.dumps_to(path)}) as machine:
        machine.expect_finish(context.seconds(180))
        machine.quit()
    _check(context, machine, path)

# SPDX-License-Identifier: GPL-2.0-or-later
"""Suspend to memory and to idle, and CPUs that go and come, while the recorder is armed.

Suspend to memory is the real one (ACPI S3): the kernel takes the other CPUs offline, calls
the recorder on the boot CPU, and every CPU comes back through a reset, which clears
DEBUGCTL; the model objects if BTS was still on. Afterwards recording must have gone on by
itself, with a gap that says why: "suspend" on the boot CPU, "cpu offline" on the others.
The ring of a CPU that is offline at the dump is readable and marked. All histories equal
the model's log. They are of user mode only: the kernel waits for CPUs in loops, for as many
branches as the host is slow, and these would overwrite what is to be seen.
"""

import re
import threading
from collections import Counter

import dump
import truth
import vm
import workload
from errors import Failure

SUMMARY = "suspend to memory, to idle, and offline CPUs leave gaps with their reasons"

RING_BYTES = 16 << 20
# A fault for which the kernel has a fixup, as when it probes for registers of a new CPU.
FIXED_UP = "oops"
ROUNDS = 2
KEY_SECONDS = 3

SCRIPT = workload.SHELL + """
cpu1=/sys/devices/system/cpu/cpu1/online
state() { sed -n 's/^state: //p' /dev/btsrec; }
(while :; do usleep 20000; done) &
(while :; do seq 1 30 | md5sum >/dev/null; usleep 300000; done) &
for how in mem freeze; do
	if [ $how = mem ]; then
		echo 0 >/sys/class/rtc/rtc0/wakealarm
		echo +3 >/sys/class/rtc/rtc0/wakealarm || fail "no alarm"
	else
		echo enabled >/sys/devices/platform/i8042/serio0/power/wakeup ||
			fail "no keyboard to wake up by"
		ask keys on
	fi
	# A key that comes too early makes it fail.
	echo $how >/sys/power/state || echo $how >/sys/power/state ||
		fail "the machine does not suspend ($how)"
	ask keys off
	[ "$(state)" = armed ] || fail "after $how it is $(state)"
	grep -c '^cpu[01]: armed' /dev/btsrec | grep -q 2 || fail "$how: $(cat /dev/btsrec)"
	echo "mark after $how" >/dev/btsrec || fail "marking after $how"
done
for round in $(seq %(rounds)d); do
	echo 0 >$cpu1 || fail "CPU 1 stays online"
	grep -q '^cpu1: stopped' /dev/btsrec || fail "offline: $(cat /dev/btsrec)"
	usleep 100000
	echo 1 >$cpu1 || fail "CPU 1 stays offline"
	grep -q '^cpu1: armed' /dev/btsrec || fail "online: $(cat /dev/btsrec)"
	taskset 2 usleep 50000
done
echo 0 >$cpu1 || fail "CPU 1 stays online"
echo freeze >/dev/btsrec
ask dump
rmmod btsrec || fail "unloading with a CPU offline"
finish 0
"""


class Keys:
    """Presses a key again and again, which wakes a machine that is suspended to idle."""

    def __init__(self):
        self._off = threading.Event()
        self._thread: threading.Thread | None = None

    def __call__(self, machine, what: str) -> str:
        if what == "on":
            self._thread = threading.Thread(target=self._press, args=(machine,), daemon=True)
            self._thread.start()
        elif self._thread:
            self._off.set()
            self._thread.join()
            self._thread = None
        return what

    def _press(self, machine):
        # Nobody else uses the machine's QMP meanwhile.
        while not self._off.wait(KEY_SECONDS):
            machine.qmp("send-key", keys=[{"type": "qcode", "data": "shift"}])


def _check(context, machine, path):
    gaps = Counter()
    for cpu, events in sorted(dump.events(context, path).items()):
        gaps.update((cpu, event["reason"]) for event in events
                    if event["kind"] == "gap" and event.get("reason") != FIXED_UP
                    and event["gap"] == "paused")
        context.say(truth.compare_all(machine.model_dir, cpu, events))
    wanted = {(0, "suspend"): 1, (1, "cpu offline"): 1 + ROUNDS}
    if gaps != wanted:
        raise Failure(f"gaps {dict(gaps)}, not {wanted}")
    info = dump.btsrec(context, "info", path)
    if not re.search(r"^\s*1 stopped\s+cpu offline", info, re.MULTILINE):
        raise Failure(f"CPU 1 is not marked as offline:\n{info}")


def run(context):
    path = context.out / "dump"

    keys = Keys()
    with context.boot(SCRIPT % {"rounds": ROUNDS},
                      context.recorder_modules(f"ring_bytes={RING_BYTES} mode=user"),
                      answers={"dump": vm.dumps_to(path), "keys": keys}) as machine:
        machine.expect_finish(context.seconds(120))
        machine.quit()
    _check(context, machine, path)

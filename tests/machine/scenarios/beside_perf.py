# SPDX-License-Identifier: GPL-2.0-or-later
"""The recorder and perf on one machine: neither changes what the other sees.

The model has performance monitoring, so the kernel's perf driver, its NMI watchdog and
its PMU intel_bts are alive. First perf records with intel_bts: the recorder must refuse
to arm with a sentence, and perf's trace must still equal the model's log. Then the
recorder is armed: counting and sampling events come and go, the NMI watchdog is switched
off and on, a CPU goes and comes, a program is block-stepped (DEBUGCTL.BTF is in the same
register). An event that wants BTS or LBR gets "busy". No branch may be missing in the
histories for all that. At last other code switches BTS off without asking: that, and
only that, is a gap with the reason. After unloading, DEBUGCTL, IA32_DS_AREA and the DS
area of each CPU are what they were before.
"""

import re
from collections import Counter

import dump
import truth
from errors import Failure
from scenarios import perf_check

SUMMARY = "perf and the recorder exclude each other cleanly, or do not notice each other"

RING_BYTES = 8 << 20
STEPS = 300
BTF = 1 << 1
TR_BTS = 1 << 6 | 1 << 7
# TR, BTS, BTINT, BTS_OFF_OS and BTS_OFF_USR: all that the recorder may change.
OURS = 0x7c0

SCRIPT = perf_check.SHELL + """
# Without BTF: a processor clears it at each step, the emulated one does not.
state() { sed 's/2 ds_area/0 ds_area/' /sys/module/btsmsr/parameters/state; }
watchdog() { echo $1 >/proc/sys/kernel/nmi_watchdog; }
[ "$(cat /proc/sys/kernel/nmi_watchdog)" = 1 ] || fail "the NMI watchdog is off"

trace &
until [ -s perf.data ] && pidof wc >/dev/null; do usleep 50000; done
insmod /modules/btsrec.ko ring_bytes=%(ring)d arm=0 || fail "the recorder does not load"
echo arm >/dev/btsrec && fail "the recorder arms while perf records branches"
dmesg | grep 'btsrec: Not armed: perf records branches already' || fail "no sentence says why"
wait
send_trace
ask compare

before=$(state)
echo arm >/dev/btsrec || fail "the recorder does not arm beside perf"
grep '^btsrec ' /proc/modules >/tmp/module
send /tmp/module

perf record -o b.data -e intel_bts//u --per-thread true >out 2>&1 &&
	fail "perf records branches while the recorder is armed"
grep -i busy out || fail "perf does not say busy, but: $(cat out)"
# EBUSY is 16.
for event in "intel_bts -1" "intel_bts 0" "intel_bts 1" "lbr 1" "bts-samples -1"; do
	/bin/perfevents $event 100
	status=$?
	[ $status = 16 ] || fail "perf's $event: $status, not EBUSY"
done
for event in "count 0" "sample 1" "count -1" "sample -1"; do
	/bin/perfevents $event 100 || fail "perf's $event: $?"
done
/bin/perfevents sample 1 2000 &
/bin/perfevents count 0 2000 &
usleep 500000
echo 0 >/sys/devices/system/cpu/cpu1/online || fail "CPU 1 stays online"
usleep 200000
echo 1 >/sys/devices/system/cpu/cpu1/online || fail "CPU 1 stays offline"
wait
/bin/perfevents intel_bts 1 100
[ $? = 16 ] || fail "intel_bts is free on a CPU that came back"
watchdog 0
usleep 200000
watchdog 1
/bin/blockstep %(steps)d || fail "block-step"

grep foreign_stops /dev/btsrec | grep -v foreign_stops=0 && fail "a foreign stop"
echo 1 >/sys/module/btsmsr/parameters/off
taskset 2 usleep 100000
grep 'cpu1: armed .*foreign_stops=1 ' /dev/btsrec || fail "no foreign stop: $(cat /dev/btsrec)"
echo freeze >/dev/btsrec
ask dump
echo disarm >/dev/btsrec
grep '^state: frozen$' /dev/btsrec || fail "what it has frozen is forgotten: $(cat /dev/btsrec)"
/bin/perfevents lbr 1 5000 &
until ls -l /proc/$!/fd | grep perf_event; do usleep 50000; done
echo arm >/dev/btsrec && fail "the recorder arms beside LBR"
grep '^state: disarmed$' /dev/btsrec || fail "after a refusal: $(cat /dev/btsrec)"
wait
rmmod btsrec || fail "the recorder does not unload"
[ "$(state)" = "$before" ] || fail "before: $before; after: $(state)"
for event in "intel_bts -1" "intel_bts 1" "lbr 1" "bts-samples -1"; do
	/bin/perfevents $event 100 || fail "after unloading, perf's $event: $?"
done
finish 0
"""

CHANGE = re.compile(r"^cpu=(\d+) ip=0x(\w+) DEBUGCTL old=0x(\w+) new=0x(\w+)", re.MULTILINE)


def _check_debugctl(context, machine):
    """Only our bits changed by us; block-step did change BTF while BTS was on."""
    line = machine.files["module"].decode().split()
    start, size = int(line[5], 16), int(line[1])
    ours = block_steps = 0
    for _, *words in CHANGE.findall((machine.model_dir / "msr.log").read_text()):
        ip, old, new = (int(word, 16) for word in words)
        if start <= ip < start + size:
            ours += 1
            if (old ^ new) & ~OURS:
                raise Failure(f"the recorder changes DEBUGCTL from 0x{old:x} to 0x{new:x}")
        elif (old ^ new) & BTF and new & TR_BTS == TR_BTS:
            block_steps += 1
    if not ours or not block_steps:
        raise Failure(f"{ours} changes of DEBUGCTL by the recorder, {block_steps} of BTF "
                      "while BTS was on: nothing to compare")
    context.say(f"{ours} changes of DEBUGCTL by the recorder, none of a foreign bit; BTF "
                f"changed {block_steps} times while BTS was on")


def _check_histories(context, machine, path):
    gaps = Counter()
    for cpu, events in sorted(dump.events(context, path).items()):
        gaps.update((cpu, event.get("reason")) for event in events
                    if event["kind"] == "gap" and event["gap"] == "paused")
        log = truth.Log(machine.model_dir / f"cpu{cpu}.log")
        expected = log.in_ring(RING_BYTES // truth.RECORD_SLOT_BYTES, events)
        count = truth.compare(f"CPU {cpu}", truth.branches_of_events(events), log, expected)
        context.say(f"CPU {cpu}: {count} records equal")
    context.say(f"gaps: {dict(gaps)}")
    if gaps[1, "foreign"] != 1 or any(reason == "foreign" and cpu != 1 for cpu, reason in gaps):
        raise Failure("not one gap, on CPU 1, with the reason foreign")


def run(context):
    path = context.out / "dump"
    path.unlink(missing_ok=True)

    def compare(machine, _):
        perf_check.compare(context, machine)
        return "compared"

    def take(machine, _):
        machine.dump(path, resume=True)
        _check_histories(context, machine, path)
        return "dumped"

    machine = perf_check.boot(
        context, SCRIPT % {"ring": RING_BYTES, "steps": STEPS}, context.guest_module("btsmsr"),
        files=[("modules/btsrec.ko", context.recorder.read_bytes()),
               *((f"bin/{name}", context.guest_program(f"{name}.c"))
                 for name in ("blockstep", "perfevents"))],
        answers={"compare": compare, "dump": take})
    with machine:
        machine.expect_finish(context.seconds(240))
        machine.quit()
    _check_debugctl(context, machine)

# SPDX-License-Identifier: GPL-2.0-or-later
"""Trouble that the system survives, and the tail of the history in the kernel log.

A WARN() pauses the CPU that reports it and leaves a gap that says so; it is neither a
freeze nor a foreign stop. So does an NMI: the backtrace that its handler prints is not
recorded. Nor are the reports of a soft lockup, an RCU stall and a hung task, behind which
recording goes on: at once where the report came from an interrupt. A BUG() that kills a task freezes; with oops=rearm recording
goes on by itself, else by hand, and a second oops before that changes nothing. The newest branches of a BUG() and of a panic are in the kernel log.
After all that the histories still equal the model's log.
"""

import json
import re

import dump
import truth
import vm
import workload
from errors import Failure

SUMMARY = "WARN() leaves a gap, a survived oops is recorded on from, the log has the tail"

RING_BYTES = 4 << 20
WARNINGS = 10
TAIL = 48
# From the entry of an NMI to the first handler; measured 28 to 41.
MAX_NMI = 64
# A kernel that checks itself calls a function at each access to memory.
MAX_NMI_CHECKED = 600
TAIL_CHECKED = 600
RING_BYTES_CHECKED = 32 << 20

SURVIVE = workload.SHELL + """
start_work
hurry
state() { sed -n 's/^state: //p' /dev/btsrec; }
for i in $(seq %(warnings)d); do
	echo warn >/sys/module/btswarn/parameters/do
	usleep 20000
done
[ "$(state)" = armed ] || fail "after the warnings it is $(state)"
grep foreign_stops /dev/btsrec | grep -v foreign_stops=0 && fail "a warning is a foreign stop"
(echo bug >/sys/module/btswarn/parameters/do)
for i in $(seq 500); do
	grep -q '^arms: 2$' /dev/btsrec && break
	usleep 1000
done
grep -q '^arms: 2$' /dev/btsrec || fail "not armed again after the oops"
[ "$(state)" = armed ] || fail "after the oops it is $(state)"
echo warn >/sys/module/btswarn/parameters/do
echo l >/proc/sysrq-trigger
echo freeze >/dev/btsrec
ask dump
finish 0
"""

BY_HAND = workload.SHELL + """
start_work
hurry
field() { sed -n "s/^$1: //p" /dev/btsrec; }
expect() { [ "$(field "$1")" = "$2" ] || fail "$3: $1 is $(field "$1"), not $2"; }
sleep 1
(echo bug >/sys/module/btswarn/parameters/do)
expect state frozen "after an oops"
expect freeze_reason 2 "after an oops"
cat /dev/btsrec >/tmp/first
(echo bug >/sys/module/btswarn/parameters/do)
cat /dev/btsrec >/tmp/second
cmp /tmp/first /tmp/second || fail "a second oops changes what the first one left"
echo arm >/dev/btsrec || fail "it does not arm after an oops"
expect state armed "by hand"
expect arms 2 "by hand"
expect freeze_reason 0 "by hand"
generation=$(field generation)
rmmod btsrec
insmod /modules/btsrec.ko ring_bytes=%(ring)d || fail "it does not load again"
[ "$(field generation)" -gt "$generation" ] || fail "the generation is not a new one"
expect arms 1 "after a second load"
sleep 1
echo freeze >/dev/btsrec
ask dump
finish 0
"""

PANIC = workload.SHELL + """
start_work
hurry
sleep 1
echo panic >/sys/module/btswarn/parameters/do
"""

REPORTS = """
echo 1 >/proc/sys/kernel/watchdog_thresh
echo 5 >/sys/module/rcupdate/parameters/rcu_cpu_stall_timeout
echo 1 >/proc/sys/kernel/hung_task_timeout_secs
echo hang >/sys/module/btswarn/parameters/do
for i in $(seq 10); do
	dmesg | grep -q 'blocked for more than' && break
	sleep 1
done
# At once after it: the ring shall still have what came before.
echo spin >/sys/module/btswarn/parameters/do
echo freeze >/dev/btsrec
grep foreign_stops /dev/btsrec | grep -v foreign_stops=0 && fail "a report is a foreign stop"
ask dump
finish 0
"""
REPORTS_RING_BYTES = 32 << 20
# What the kernel says, and the reason of the gap.  Of a stall the CPU says it or another one.
REPORTED = (("BUG: soft lockup", "soft lockup"), ("detected stalls? on CPU", "rcu stall"),
            ("blocked for more than", "hung task"))
# The rest of the spinning after the first report: some hundred ticks.
MIN_SPINNING = 1000

HEAD = re.compile(r"btsrec: The last (\d+) branches of CPU (\d+) before its freeze")
BRANCH = re.compile(r"btsrec:  (\S+(?: \[\w+\])?) -> (\S+)")


def _tail(context) -> int:
    return TAIL_CHECKED if context.options.kernel_dir else TAIL


def _ring_bytes(context) -> int:
    return RING_BYTES_CHECKED if context.options.kernel_dir else RING_BYTES


def _boot(context, script: str, name: str, answers=None, oops="rearm", ring=0):
    parameters = f"ring_bytes={ring or _ring_bytes(context)} oops={oops} console_records={_tail(context)}"
    modules = [*context.recorder_modules(parameters), context.guest_module("btswarn")]
    return context.boot(script, modules, name=name, answers=answers)


def _check_tail(machine, tail: int, newest: str):
    """The console has one tail, and its newest branch leads to the function NEWEST."""
    heads = HEAD.findall(machine.console())
    branches = BRANCH.findall(machine.console())
    if [int(count) for count, _ in heads] != [tail] or len(branches) != tail:
        raise Failure(f"the kernel log has tails of {heads} with {len(branches)} branches, not "
                      f"one of {tail}")
    if not any(to.startswith(f"{newest}+0x0") for _, to in branches):
        raise Failure(f"no branch of the tail leads to {newest}: {branches}")


def _check_histories(context, machine, path):
    gaps = 0
    for cpu, events in sorted(dump.events(context, path).items()):
        gaps += sum(event["kind"] == "gap" and event.get("reason") == "oops" for event in events)
        log = truth.Log(machine.model_dir / f"cpu{cpu}.log")
        expected = log.in_ring(_ring_bytes(context) // truth.RECORD_SLOT_BYTES, events)
        count = truth.compare(f"CPU {cpu}", truth.branches_of_events(events), log, expected)
        context.say(f"CPU {cpu}: {count} records equal")
    return gaps


def _check_nmis(context, path) -> int:
    """No more than the way into the first handler may be recorded of an NMI."""
    gaps = 0
    limit = MAX_NMI_CHECKED if context.options.kernel_dir else MAX_NMI
    since: dict[int, int] = {}
    for line in dump.btsrec(context, "show", "--types", "--format", "jsonl", path).splitlines():
        event = json.loads(line)
        cpu = event["cpu"]
        since[cpu] = 0 if event.get("type") == "nmi" else since.get(cpu, RING_BYTES) + 1
        if event["kind"] == "gap" and event.get("reason") == "nmi":
            gaps += 1
            if since[cpu] > limit:
                raise Failure(f"{since[cpu]} branches of an NMI before its gap: {event}")
    return gaps


def _finish(context, script: str, name: str, oops: str, path, ring=0):
    """Run SCRIPT to its end, with a dump to PATH where it asks for one."""
    with _boot(context, script, name, {"dump": vm.dumps_to(path)}, oops, ring) as machine:
        machine.run(context.seconds(180))
        machine.quit()
        if machine.finish_status or machine.panicked:
            raise machine.failure("the guest did not survive")
    return machine


def _by_hand(context):
    path = context.out / "dump-by-hand"
    machine = _finish(context, BY_HAND % {"ring": _ring_bytes(context)}, "boot-by-hand", "freeze", path)
    _check_histories(context, machine, path)
    context.say("two oopses, armed by hand, loaded again")


def _survive(context):
    path = context.out / "dump"
    machine = _finish(context, SURVIVE % {"warnings": WARNINGS}, "boot", "rearm", path)
    if machine.console().count("btswarn: as wanted") != WARNINGS + 1:
        raise Failure("not every warning is in the kernel log")
    _check_tail(machine, _tail(context), "report_bug")
    gaps = _check_histories(context, machine, path)
    if not gaps:
        raise Failure("no history has the gap of the last warning")
    nmis = _check_nmis(context, path)
    if not nmis:
        raise Failure("no history has the gap of the backtrace's NMI")
    context.say(f"{WARNINGS + 1} warnings and an oops survived; in the rings: {gaps} gaps, "
                f"{nmis} of NMIs")


def _changes(context, path) -> dict[int, list[dict]]:
    """All events by CPU but branches: those are too many to look at."""
    found: dict[int, list[dict]] = {}
    for line in dump.btsrec(context, "show", "--no-names", "--format", "jsonl", path).splitlines():
        if '"kind":"branch"' not in line:
            event = json.loads(line)
            found.setdefault(event["cpu"], []).append(event)
    return found


def _until_switch(events, gap: int) -> int:
    """Slots from the gap events[GAP] until another thread runs, or the history ends."""
    end = next(event for event in events[gap:] if event["kind"] in ("switch", "freeze"))
    return end["n"] - events[gap]["n"]


def _reports(context):
    path = context.out / "dump-reports"
    machine = _finish(context, REPORTS, "boot-reports", "freeze", path, REPORTS_RING_BYTES)
    if context.options.kernel_dir:
        context.say("reports survived; such a kernel has more branches than the rings have slots")
        return
    length: dict[str, int] = {}
    for events in _changes(context, path).values():
        for number, event in enumerate(events):
            reason = event.get("reason", "")
            if event["kind"] == "gap":
                length[reason] = max(length.get(reason, 0), _until_switch(events, number))
    for said, reason in REPORTED:
        if not re.search(said, machine.console()):
            raise Failure(f'the kernel did not say "{said}"')
        if reason not in length:
            raise Failure(f"no history has the gap of a report: {reason}")
    spinning = length["soft lockup"]
    if spinning < MIN_SPINNING:
        raise Failure(f"recording did not go on after the report of a lockup: {spinning}")
    context.say(f"three reports survived; the lockup went on for {spinning} branches")


def _panic(context):
    with _boot(context, PANIC, "boot-panic") as machine:
        machine.expect_panic(context.seconds(120))
        machine.quit()
    _check_tail(machine, _tail(context), "panic")
    context.say(f"the newest {_tail(context)} branches before a panic are in the kernel log")


def run(context):
    _survive(context)
    _by_hand(context)
    _reports(context)
    _panic(context)

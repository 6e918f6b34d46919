# SPDX-License-Identifier: GPL-2.0-or-later
"""Trouble that the system survives, and the tail of the history in the kernel log.

A WARN() pauses the CPU that reports it and leaves a gap that says so; it is neither a
freeze nor a foreign stop. A BUG() that kills a task freezes; with oops=rearm recording
goes on by itself. The newest branches of a BUG() and of a panic are in the kernel log.
After all that the histories still equal the model's log.
"""

import re

import dump
import truth
import workload
from errors import Failure

SUMMARY = "WARN() leaves a gap, a survived oops is recorded on from, the log has the tail"

RING_BYTES = 4 << 20
WARNINGS = 10
TAIL = 48

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

HEAD = re.compile(r"btsrec: The last (\d+) branches of CPU (\d+) before its freeze")
BRANCH = re.compile(r"btsrec:  (\S+(?: \[\w+\])?) -> (\S+)")


def _boot(context, script: str, name: str, answers=None):
    parameters = f"ring_bytes={RING_BYTES} oops=rearm console_records={TAIL}"
    modules = [*context.recorder_modules(parameters), context.guest_module("btswarn")]
    return context.boot(script, modules, name=name, answers=answers)


def _check_tail(machine, newest: str):
    """The console has one tail, and its newest branch leads to the function NEWEST."""
    heads = HEAD.findall(machine.console())
    branches = BRANCH.findall(machine.console())
    if [int(count) for count, _ in heads] != [TAIL] or len(branches) != TAIL:
        raise Failure(f"the kernel log has tails of {heads} with {len(branches)} branches, not "
                      f"one of {TAIL}")
    if not any(to.startswith(f"{newest}+0x0") for _, to in branches):
        raise Failure(f"no branch of the tail leads to {newest}: {branches}")


def _check_histories(context, machine, path):
    gaps = 0
    for cpu, events in sorted(dump.events(context, path).items()):
        gaps += sum(event["kind"] == "gap" and event.get("reason") == "oops" for event in events)
        log = truth.Log(machine.model_dir / f"cpu{cpu}.log")
        expected = log.in_ring(RING_BYTES // truth.RECORD_SLOT_BYTES, events)
        count = truth.compare(f"CPU {cpu}", truth.branches_of_events(events), log, expected)
        context.say(f"CPU {cpu}: {count} records equal")
    return gaps


def _survive(context):
    path = context.out / "dump"
    path.unlink(missing_ok=True)

    def take(machine, _):
        machine.dump(path, resume=True)
        return "dumped"

    with _boot(context, SURVIVE % {"warnings": WARNINGS}, "boot", {"dump": take}) as machine:
        machine.run(context.seconds(180))
        machine.quit()
        if machine.finish_status or machine.panicked:
            raise machine.failure("the guest did not survive")
    if machine.console().count("btswarn: as wanted") != WARNINGS + 1:
        raise Failure("not every warning is in the kernel log")
    _check_tail(machine, "report_bug")
    gaps = _check_histories(context, machine, path)
    if not gaps:
        raise Failure("no history has the gap of the last warning")
    context.say(f"{WARNINGS + 1} warnings and an oops survived; in the rings: {gaps} gaps")


def _panic(context):
    with _boot(context, PANIC, "boot-panic") as machine:
        machine.expect_panic(context.seconds(120))
        machine.quit()
    _check_tail(machine, "panic")
    context.say(f"the newest {TAIL} branches before a panic are in the kernel log")


def run(context):
    _survive(context)
    _panic(context)

# SPDX-License-Identifier: GPL-2.0-or-later
"""The recorder stops for what freeze_on= names, and is armed again: without a crash.

Each kind of trigger is played once under load: a WARN(), an oops, a soft lockup, a hung task, a
tracepoint, a function, one with a condition on its argument, a request of another module and one
of user space.  "wait" must return for each.  In the dump that is taken then, the newest branches
of the CPU must lead to the trigger, the root must name it, and the history of each CPU must equal
the model's log, record for record.  That of the next trigger shows that recording went on.

A trigger whose condition does not hold freezes nothing.  Two CPUs ask at once, many triggers follow
each other, and lists that say nothing are refused with a sentence.
"""

import json
from dataclasses import dataclass

import dump
import truth
import workload
from errors import Failure

SUMMARY = "freeze_on=: each trigger leads to its freeze, and recording goes on"

RING_BYTES = 65520
NEWEST = 64

REFUSED = ("", "x", "warn,", "tracepoint:", "function:", "tracepoint:no_such_tracepoint",
           "function:no_such_function", "function:vfs*", "tracepoint:sched_switch:arg1:eq:1",
           "function:vfs_read:arg7:eq:1", "function:vfs_read:arg1:is:1",
           "function:vfs_read:arg1:eq:x", "function:vfs_read:arg1:eq",
           ",".join(f"function:f{i}" for i in range(9)))


@dataclass(frozen=True)
class Trigger:
    """@action: what the guest does; @leads_to: a function near the end of the CPU's history."""

    list: str
    action: str
    reason: str
    leads_to: str
    verdict: str
    trigger: str | None = None


DO = "echo {} >/sys/module/btswarn/parameters/do"
TRIGGERS = {
    "warn": Trigger("warn", DO.format("warn"), "warning", "report_bug", "as WARN() does"),
    "tracepoint": Trigger("warn,tracepoint:sched_process_exit", "true | true", "tracepoint",
                          "on_tracepoint", "the tracepoint sched_process_exit was reached",
                          "sched_process_exit"),
    "function": Trigger("function:ksys_sync", "sync", "function", "ksys_sync",
                        "called the function ksys_sync", "ksys_sync"),
    "condition": Trigger("function:do_sys_openat2:int1:eq:12345,"
                         "function:do_sys_openat2:int1:lt:-99", "sleep 1", "function",
                         "do_sys_openat2", "the function do_sys_openat2", "do_sys_openat2"),
    "request": Trigger("request", DO.format("request"), "request", "btsrec_freeze_request",
                       "asked to freeze: btswarn: as wanted", "btswarn: as wanted"),
    "user": Trigger("request", "echo freeze the queue is full >/dev/btsrec", "request",
                    "btsrec_freeze_request", "asked to freeze: the queue is full",
                    "the queue is full"),
    "two-cpus": Trigger("request", DO.format("request-all"), "request", "btsrec_freeze_request",
                        "asked to freeze: btswarn: as wanted", "btswarn: as wanted"),
    "hung-task": Trigger("hung_task", DO.format("hang") + "\nsleep 3", "hung task",
                         "probe_sched_process_hang", " hung"),
    "soft-lockup": Trigger("soft_lockup", DO.format("spin"), "soft lockup", "_printk",
                           "soft lockup"),
    # The last one: the kernel looks for no hung task any more after an oops.
    "oops": Trigger("oops", f"({DO.format('bug')})", "oops", "report_bug", "as BUG() does"),
}

SCRIPT = workload.SHELL + """
device=/dev/btsrec
field() { sed -n "s/^$1: //p" $device; }
# $1: the list.  The list may freeze at once.
await() {
	echo wait >$device || fail "$1: wait"
	[ "$(field state)" = frozen ] || fail "$1: $(field state)"
	grep foreign_stops $device | grep -v foreign_stops=0 && fail "$1: a foreign stop"
}
while read -r list; do
	dmesg -c >/dev/null
	echo "freeze_on $list" >$device 2>/dev/null && fail "takes the list '$list'"
	[ -z "$list" ] || dmesg | grep -Fq "btsrec: Not changed: freeze_on=$list: " ||
		fail "$list: no sentence: $(dmesg)"
done </refused
[ "$(field freeze_on)" = none ] || fail "a refused list is in use: $(field freeze_on)"
start_work
hurry
echo 0 >/proc/sys/kernel/hung_task_timeout_secs
echo function: a condition that never holds
echo freeze_on function:do_sys_openat2:int1:eq:12345 >$device || fail "$(dmesg | tail -n 1)"
sleep 1
[ "$(field state)" = armed ] || fail "froze although the condition does not hold"
echo freeze not asked for >$device 2>/dev/null && fail "takes a request that is not in the list"
%s
echo "freeze_on request" >$device
i=0
while [ $i -lt %d ]; do
	echo request >/sys/module/btswarn/parameters/do
	await $i
	[ "$(field freeze_trigger)" = "btswarn: as wanted" ] || fail "$i: $(field freeze_trigger)"
	echo arm >$device || fail "$i: does not arm"
	[ "$(field state)" = armed ] || fail "$i: not armed"
	i=$((i + 1))
done
sleep 1
echo "freeze the last one" >$device
await last
ask dump last
echo "freeze_on none" >$device || fail "none"
echo arm >$device
rmmod btswarn
rmmod btsrec || fail "does not unload"
finish 0
"""

ONE = """
echo "{name}"
sleep 1
{setup}
echo "freeze_on {trigger.list}" >$device || fail "{name}: $(dmesg | tail -n 1)"
{trigger.action}
await {name}
ask dump {name}
{cleanup}
echo freeze_on none >$device
echo arm >$device || fail "{name}: does not arm"
"""
# What the kernel's watchdogs are set to meanwhile, and then: setting up a hook takes seconds here.
WATCHDOGS = {
    "hung-task": ("echo 1 >/proc/sys/kernel/hung_task_timeout_secs",
                  "echo 0 >/proc/sys/kernel/hung_task_timeout_secs"),
    "soft-lockup": ("echo 1 >/proc/sys/kernel/watchdog_thresh",
                    "echo 10 >/proc/sys/kernel/watchdog_thresh"),
}


def add_options(parser):
    parser.add_argument("--triggers", type=int, default=20, help="so many in a row (20)")
    parser.add_argument("--only", metavar="LIST", help="some, by comma: " + ", ".join(TRIGGERS))
    parser.add_argument("--keep", action="store_true", help="keep the dumps")


def _one(name: str) -> str:
    setup, cleanup = WATCHDOGS.get(name, ("", ""))
    return ONE.format(name=name, trigger=TRIGGERS[name], setup=setup, cleanup=cleanup)


def _check_history(context, machine, path, name: str) -> tuple[dict, int]:
    """Each CPU's history equals the log up to now; the events, and how many records."""
    histories, count = dump.events(context, path), 0
    for cpu in range(context.options.cpus):
        events = histories.get(cpu, [])
        log = truth.Log(machine.model_dir / f"cpu{cpu}.log")
        if not truth.wrapped(events):
            raise Failure(f"{name}: the ring of CPU {cpu} has not come round")
        expected = log.in_ring(RING_BYTES // truth.RECORD_SLOT_BYTES, events)
        count += truth.compare(f"{name}: CPU {cpu}", truth.branches_of_events(events), log, expected)
    return histories, count


def _check_trigger(context, path, name: str, histories):
    wanted = TRIGGERS[name]
    root = json.loads(dump.btsrec(context, "info", "--format", "jsonl", path).splitlines()[0])
    found = root.get("freeze_reason"), root.get("freeze_trigger")
    if found != (wanted.reason, wanted.trigger):
        raise Failure(f"{name}: the root says {found}, not {(wanted.reason, wanted.trigger)}")
    newest = [event for event in histories[root["freeze_cpu"]] if event["kind"] == "branch"]
    targets = [str(event.get("to_sym")) for event in newest[-NEWEST:]]
    if not any(wanted.leads_to in target for target in targets):
        raise Failure(f"{name}: no newest branch leads to {wanted.leads_to}: {targets}")
    summary = dump.btsrec(context, "summary", path)
    verdict = next(line for line in summary.splitlines() if line.startswith("verdict:"))
    if wanted.verdict not in verdict:
        raise Failure(f"{name}: not '{wanted.verdict}': {verdict}")
    context.say(f"{name}: {verdict}")


def _check(context, machine, name: str) -> str:
    path = context.out / f"dump-{name}"
    path.unlink(missing_ok=True)
    machine.dump(path, resume=True)
    histories, count = _check_history(context, machine, path, name)
    if name in TRIGGERS:
        _check_trigger(context, path, name, histories)
    context.say(f"{name}: {count} records equal")
    dump.btsrec(context, "check", path)
    if not context.options.keep:
        path.unlink()
    return "dumped"


def run(context):
    names = context.options.only.split(",") if context.options.only else list(TRIGGERS)
    script = SCRIPT % ("".join(map(_one, names)), context.options.triggers)
    modules = [*context.recorder_modules(f"ring_bytes={RING_BYTES}"),
               context.guest_module("btswarn")]
    files = [("refused", "".join(f"{line}\n" for line in REFUSED).encode())]
    with context.boot(script, modules, files=files, answers={
            "dump": lambda machine, name: _check(context, machine, name)}) as machine:
        machine.run(context.seconds(300 + context.options.triggers))
        machine.quit()
        if machine.finish_status or machine.panicked:
            raise machine.failure("the guest did not survive")
    context.say(f"{len(names)} kinds of triggers and {context.options.triggers} in a row: each froze, "
                "was waited for and recorded on from")

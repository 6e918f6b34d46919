# SPDX-License-Identifier: GPL-2.0-or-later
"""The recorder stops for what freeze_on= names, and is armed again: without a crash.

Each kind of trigger is played once under load: a WARN(), an oops, a soft lockup, a hung task, an
RCU stall, a tracepoint, a BPF program that prints, a function, one with a condition on its
argument, a request of another module and one of user space.  "wait" must return for each.  In the dump that is taken then

- the newest branch of the CPU outside of interrupts that came and went, and outside of the
  recorder's own way, leads to the trigger,
- the root names it,
- the history of each CPU equals the model's log, record for record.

That of the next trigger shows that recording went on.

A trigger whose condition does not hold freezes nothing.  Lists that say nothing are refused with a
sentence.  A thousand requests follow each other, every fourth one of all CPUs at once.  Of each,
guest/btsrequest.ko looks at what the recorder left: the newest branch is the request, each CPU is
frozen since, one CPU was first, and the others are counted.
"""

import json
import re
from dataclasses import dataclass

import dump
import interrupts
import truth
import workload
from errors import Failure

SUMMARY = "freeze_on=: each trigger leads to its freeze, and recording goes on"

# Room for an interrupt between a trigger and the recorder's code, with what it leaves to do.
RING_BYTES = 262128

NEWEST_SHOWN = 48

REFUSED = ("", "x", "warn,", "tracepoint:", "function:", "tracepoint:no_such_tracepoint",
           "function:no_such_function", "function:vfs*", "tracepoint:sched_switch:arg1:eq:1",
           "function:vfs_read:arg7:eq:1", "function:vfs_read:arg1:is:1",
           "function:vfs_read:arg1:eq:x", "function:vfs_read:arg1:eq",
           ",".join(f"function:f{i}" for i in range(9)))

# From a function to our handler of it: ftrace's code, or, of report_bug(), the handling of a
# breakpoint.  Calls by pointer go by a thunk, which later kernels also call otherwise.
WAY = re.compile(r"""
    .*\ \[(btsrec|__builtin__ftrace)\]
    | (ftrace_regs_\w+|(arch_)?ftrace_ops_list_func|ftrace_lookup_ip|hash_contains_ip
      |(__pi_)?__x86_indirect_thunk\w*|__softirqentry_text_end
      |asm_exc_int3|error_entry|exc_int3|poke_int3_handler
      |irqentry_nmi_enter|ct_nmi_enter|kprobe_int3_handler|get_kprobe|aggr_pre_handler)\+0x[0-9a-f]+
    """, re.VERBOSE)


@dataclass(frozen=True)
class Trigger:
    """@action: what the guest does, and none of its work; @leads_to: the function whose call is
    the trigger, with " | " between alternatives.

    @verdict: what it must say, with " | " between alternatives: another CPU may report a stall.
    @setup, @cleanup: of the kernel's watchdogs.
    """

    list: str
    action: str
    reason: str
    leads_to: str
    verdict: str
    trigger: str | None = None
    setup: str = ""
    cleanup: str = ""


# Of a WARN() with a text, where the kernel has the second.
REPORT = "report_bug | report_bug_entry"
DO = "echo {} >/sys/module/btswarn/parameters/do"
ASK = "echo {} >/sys/module/btsrequest/parameters/do || fail \"$(dmesg | tail -n 1)\""
SYSCTL = "echo {} >/proc/sys/kernel/"
STALL = "echo {} >/sys/module/rcupdate/parameters/rcu_cpu_stall_timeout"
TRIGGERS = {
    "warn": Trigger("warn", DO.format("warn"), "warning", REPORT, "as WARN() does"),
    "tracepoint": Trigger("warn,tracepoint:oom_score_adj_update",
                          "echo 1 >/proc/self/oom_score_adj", "tracepoint",
                          "on_tracepoint [btsrec]",
                          "the tracepoint oom_score_adj_update was reached",
                          "oom_score_adj_update"),
    "bpf": Trigger("tracepoint:bpf_trace_printk", "bpf once", "tracepoint",
                   "on_tracepoint [btsrec]", "the tracepoint bpf_trace_printk was reached",
                   "bpf_trace_printk"),
    "function": Trigger("function:ksys_sync", "sync", "function", "ksys_sync",
                        "called the function ksys_sync", "ksys_sync"),
    "condition": Trigger("function:vfs_fallocate:arg4:eq:1,function:vfs_fallocate:arg4:gt:99999",
                         "fallocate -l 99999 /tmp/one; fallocate -l 100000 /tmp/one", "function",
                         "vfs_fallocate", "the function vfs_fallocate", "vfs_fallocate"),
    "request": Trigger("request", ASK.format("one"), "request",
                       "btsrec_freeze_request [btsrec]",
                       "asked to freeze: btsrequest: as wanted", "btsrequest: as wanted"),
    "user": Trigger("request", "echo freeze the queue is full >/dev/btsrec", "request",
                    "btsrec_freeze_request [btsrec]", "asked to freeze: the queue is full",
                    "the queue is full"),
    "together": Trigger("request", ASK.format("all"), "request",
                        "btsrec_freeze_request [btsrec]",
                        "asked to freeze: btsrequest: as wanted", "btsrequest: as wanted"),
    "hung-task": Trigger("hung_task", DO.format("hang"), "hung task",
                         "probe_sched_process_hang [btsrec]", " hung",
                         setup=SYSCTL.format(1) + "hung_task_timeout_secs",
                         cleanup=SYSCTL.format(0) + "hung_task_timeout_secs"),
    "soft-lockup": Trigger("soft_lockup", DO.format("spin"), "soft lockup", "_printk",
                           "soft lockup", setup=SYSCTL.format(1) + "watchdog_thresh",
                           cleanup=SYSCTL.format(10) + "watchdog_thresh"),
    "rcu-stall": Trigger("rcu_stall", DO.format("spin"), "rcu stall",
                         "probe_rcu_stall_warning [btsrec]",
                         "rcu stall in do_set | rcu stall was reported",
                         setup=STALL.format(3), cleanup=STALL.format(60)),
    # The last one: the kernel looks for no hung task any more after an oops.
    "oops": Trigger("oops", f"({DO.format('bug')})", "oops", REPORT, "as BUG() does"),
}

# A list is set while the recorder is frozen: to look for a function takes the kernel millions of
# branches, of which this machine records few a second.
SCRIPT = workload.SHELL + interrupts.send() + """
device=/dev/btsrec
field() { sed -n "s/^$1: //p" $device; }
# $1: the case.
await() {
	echo wait >$device || fail "$1: wait"
	[ "$(field state)" = frozen ] || fail "$1: $(field state)"
	grep foreign_stops $device | grep -v foreign_stops=0 && fail "$1: a foreign stop"
}
stop_work() { kill $(jobs -p) 2>/dev/null; }
# $1: the list, $2: the case.
arm_on() {
	echo "freeze_on $1" >$device || fail "$2: $(dmesg | tail -n 1)"
	echo arm >$device || fail "$2: does not arm"
}
echo 0 >/proc/sys/kernel/hung_task_timeout_secs
echo arm >$device || fail "does not arm"
echo freeze >$device || fail "does not freeze"
while read -r list; do
	dmesg -c >/dev/null
	echo "freeze_on $list" >$device 2>/dev/null && fail "takes the list '$list'"
	[ -z "$list" ] || dmesg | grep -Fq "btsrec: Not changed: freeze_on=$list: " ||
		fail "$list: no sentence: $(dmesg)"
done </refused
[ "$(field freeze_on)" = none ] || fail "a refused list is in use: $(field freeze_on)"
insmod /modules/btsrequest.ko root_pa=$(field root_pa) || fail "btsrequest does not load"
start_work
hurry
echo function: a condition that never holds
arm_on function:do_sys_openat2:int1:eq:12345 "never holds"
sleep 1
[ "$(field state)" = armed ] || fail "froze although the condition does not hold"
echo freeze not asked for >$device 2>/dev/null && fail "takes a request that is not in the list"
echo freeze >$device
%s
echo in a row
stop_work
arm_on request "in a row"
begun=$(cut -d' ' -f1 /proc/uptime)
i=0
while [ $i -lt %d ]; do
	who=one
	[ $((i %% 4)) = 3 ] && who=all
	echo $who >/sys/module/btsrequest/parameters/do || fail "$i: $who: $(dmesg | tail -n 1)"
	echo wait >$device || fail "$i: wait"
	echo arm >$device || fail "$i: does not arm"
	i=$((i + 1))
done
echo "in a row: $i from $begun s to $(cut -d' ' -f1 /proc/uptime) s"
[ "$(field state)" = armed ] || fail "not armed behind the last one"
[ "$(field late_triggers)" = 0 ] || fail "counts $(field late_triggers) without a freeze"
renice -n 0 -p "$self"
start_work
hurry
sleep 1
echo "freeze the last one" >$device
await last
ask dump last
stop_work
# Not btswarn: the task that died in it has its file open for ever.
rmmod btsrec || fail "does not unload"
finish 0
"""

ONE = """
echo "{name}"
{trigger.setup}
arm_on "{trigger.list}" "{name}"
usleep 500000
{trigger.action}
await {name}
ask dump {name}
{trigger.cleanup}
"""


def add_options(parser):
    parser.add_argument("--triggers", type=int, default=1000, help="so many in a row (1000)")
    parser.add_argument("--only", metavar="LIST", help="some, by comma: " + ", ".join(TRIGGERS))
    parser.add_argument("--keep", action="store_true", help="keep the dumps")


def _check_history(machine, cpu: int, name: str, events) -> truth.Log:
    """The history equals the log up to now."""
    log = truth.Log(machine.model_dir / f"cpu{cpu}.log")
    if not truth.wrapped(events):
        raise Failure(f"{name}: the ring of CPU {cpu} has not come round")
    truth.compare(f"{name}: CPU {cpu}", truth.branches_of_events(events), log,
                  log.in_ring(RING_BYTES // truth.RECORD_SLOT_BYTES, events))
    return log


def _is_entry(symbol: str, functions: str) -> bool:
    """Of one of FUNCTIONS. Code for IBT goes on behind its first instruction, of four bytes."""
    name = re.sub(r"\+0x[04](?![0-9a-f])", "", symbol, count=1)
    return name in functions.split(" | ")


def _is_way(event, function: str) -> bool:
    """Is it a branch of the recorder's own way, or from the beginning of FUNCTION into it?"""
    source = event.get("from_sym", "")
    return bool(WAY.fullmatch(source)) or _is_entry(source, function)


def _check_newest(machine, name: str, events, log: truth.Log) -> int:
    """How many branches are newer than the trigger, of which none is another than the way."""
    function = TRIGGERS[name].leads_to
    gates = interrupts.Gates(interrupts.sent(machine))
    newest = [event for event, is_outside in
              zip(events, interrupts.outside(events, log, gates)) if is_outside]
    for nr_newer, event in enumerate(reversed(newest)):
        if _is_entry(event.get("to_sym", ""), function):
            return nr_newer
        if not _is_way(event, function):
            break
    lines = "\n".join(f"  {event.get('from_sym', event['from'])} -> "
                      f"{event.get('to_sym', event['to'])}" for event in newest[-NEWEST_SHOWN:])
    raise Failure(f"{name}: the newest branch does not lead to {function}:\n{lines}")


def _check_trigger(context, path, name: str) -> int:
    """The root names the trigger, the summary says it.  Returns the CPU."""
    wanted = TRIGGERS[name]
    root = json.loads(dump.btsrec(context, "info", "--format", "jsonl", path).splitlines()[0])
    found = root.get("freeze_reason"), root.get("freeze_trigger")
    if found != (wanted.reason, wanted.trigger):
        raise Failure(f"{name}: the root says {found}, not {(wanted.reason, wanted.trigger)}")
    summary = dump.btsrec(context, "summary", path)
    verdict = next(line for line in summary.splitlines() if line.startswith("verdict:"))
    if not any(one in verdict for one in wanted.verdict.split(" | ")):
        raise Failure(f"{name}: not '{wanted.verdict}': {verdict}")
    context.say(f"{name}: {verdict}")
    if name == "together" and root.get("nr_late_triggers") != context.options.cpus - 1:
        raise Failure(f"{name}: the root counts {root.get('nr_late_triggers')} late triggers")
    return root["freeze_cpu"]


def _check(context, machine, name: str) -> str:
    path = context.out / f"dump-{name}"
    path.unlink(missing_ok=True)
    machine.dump(path, resume=True)
    histories = dump.events(context, path)
    logs = {cpu: _check_history(machine, cpu, name, histories.get(cpu, []))
            for cpu in range(context.options.cpus)}
    context.say(f"{name}: {sum(map(len, histories.values()))} events equal")
    if name in TRIGGERS:
        cpu = _check_trigger(context, path, name)
        newer = _check_newest(machine, name, histories[cpu], logs[cpu])
        context.say(f"{name}: {newer} branches of the recorder's way are newer")
    dump.btsrec(context, "check", path)
    if not context.options.keep:
        path.unlink()
    return "dumped"


def run(context):
    names = context.options.only.split(",") if context.options.only else list(TRIGGERS)
    cases = "".join(ONE.format(name=name, trigger=TRIGGERS[name]) for name in names)
    modules = [*context.recorder_modules(f"ring_bytes={RING_BYTES} arm=0"),
               context.guest_module("btswarn")]
    files = [("bin/bpf", context.guest_program("bpf.c")), ("refused", "".join(f"{line}\n" for line in REFUSED).encode()),
             ("modules/btsrequest.ko", context.guest_module("btsrequest").read_bytes())]
    with context.boot(SCRIPT % (cases, context.options.triggers), modules, files=files, answers={
            "dump": lambda machine, name: _check(context, machine, name)}) as machine:
        machine.run(context.seconds(300 + context.options.triggers))
        machine.quit()
        if machine.finish_status or machine.panicked:
            raise machine.failure("the guest did not survive")
    context.say(f"{len(names)} kinds of triggers and {context.options.triggers} in a row: each "
                "froze, was waited for and recorded on from")

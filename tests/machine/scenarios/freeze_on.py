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

With on_trigger=copy the same is asked of the copy, which is looked for in the log: since then the
CPUs have recorded. They must go on at once, a locked-up one too. After each copy the rings are
frozen and equal the log up to then. While a copy has not been taken, triggers are counted. An oops
in that time keeps the rings until it has; a CPU comes online meanwhile, and all of it is copied
then. A snapshot that the guest itself makes is the copy. A panic has the history of the rings,
whether a copy waits, the panic is that of the trigger, or it comes at once after it.

--row has many copies in a row, of which guest/btsrequest.ko looks at each.  --panic-at panics amid
a copy, where the worker calls a function of the recorder; with "+beside" another CPU panics there,
and the worker goes on.
"""

import json
import re
from dataclasses import dataclass

import dump
import interrupts
import programs
import truth
import workload
from errors import Failure

SUMMARY = "freeze_on=: each trigger leads to its freeze or copy, and recording goes on"

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
      |asm_exc_int3|error_entry|exc_int3|(smp_text_)?poke_int3_handler
      |irqentry_nmi_enter|(ct|rcu|printk)_nmi_enter|kprobe_int3_handler|get_kprobe|aggr_pre_handler)\+0x[0-9a-f]+
    """, re.VERBOSE)


@dataclass(frozen=True)
class Trigger:
    """@action: what the guest does, and none of its work; @leads_to: the function whose call is
    the trigger, with " | " between alternatives.

    @verdict: what it must say, with " | " between alternatives: another CPU may report a stall.
    @setup, @cleanup: of the kernel's watchdogs.
    @traced: the function of the tracepoint by which the recorder knows it; where the kernel has
    none, it knows the text that is printed.
    """

    list: str
    action: str
    reason: str
    leads_to: str
    verdict: str
    trigger: str | None = None
    setup: str = ""
    cleanup: str = ""
    traced: str | None = None

    def newest(self, symbols: dict[str, int]) -> str:
        """@leads_to, on a kernel with @symbols."""
        return self.leads_to if not self.traced or self.traced in symbols else PRINT


# Of a WARN() with a text, where the kernel has the second.
REPORT = "report_bug | report_bug_entry"
# The function behind the macro printk(), or what has that name itself where it is no macro.
PRINT = "_printk | printk"
TRACED_STALL = "__traceiter_rcu_stall_warning"
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
    "soft-lockup": Trigger("soft_lockup", DO.format("spin"), "soft lockup", PRINT,
                           "soft lockup", setup=SYSCTL.format(1) + "watchdog_thresh",
                           cleanup=SYSCTL.format(10) + "watchdog_thresh"),
    "rcu-stall": Trigger("rcu_stall", DO.format("spin"), "rcu stall",
                         "probe_rcu_stall_warning [btsrec]",
                         "rcu stall in do_set | rcu stall was reported",
                         setup=STALL.format(3), cleanup=STALL.format(60), traced=TRACED_STALL),
    # The last one: the kernel looks for no hung task any more after an oops.
    "oops": Trigger("oops", f"({DO.format('bug')})", "oops", REPORT, "as BUG() does"),
}

SYMBOLS = (*interrupts.SYMBOLS, TRACED_STALL)

# A list is set while the recorder is frozen: to look for a function takes the kernel millions of
# branches, of which this machine records few a second.
SCRIPT = workload.SHELL + interrupts.send(SYMBOLS) + """
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
%s
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


# So many requests to guest/btsrequest.ko: by one CPU, each fourth time by all, with what follows.
IN_A_ROW = """
stop_work
arm_on request "in a row"
begun=$(cut -d' ' -f1 /proc/uptime)
i=0
while [ $i -lt %d ]; do
	what=%s
	[ $((i %% 4)) = 3 ] && what=%s
	echo $what >/sys/module/btsrequest/parameters/do || fail "$i: $what: $(dmesg | tail -n 1)"
	echo wait >$device || fail "$i: wait"
%s	i=$((i + 1))
done
echo "in a row: $i from $begun s to $(cut -d' ' -f1 /proc/uptime) s"
"""
FROZEN_IN_A_ROW = """\
	echo arm >$device || fail "$i: does not arm"
"""

# By which a copy is found in the log.
NEWEST = 2000
LOG_RECORDS = 1 << 23
# Of a CPU that is locked up for several seconds, too.
MAX_PAUSE_MS = 2000

COPIED = ("warn", "user", "together", "soft-lockup")

COPY_SCRIPT = workload.SHELL + interrupts.send(SYMBOLS) + """
device=/dev/btsrec
field() { sed -n "s/^$1: //p" $device; }
# $1: the case.
await() {
	echo wait >$device || fail "$1: wait"
	[ "$(field state)" = armed ] || fail "$1: $(field state)"
	[ "$(field copy_pa)" != 0x0 ] || fail "$1: no copy: $(cat $device)"
	echo "pause: $(field copy_pause_us) us for $1"
}
refused() {
	dmesg -c >/dev/null
	echo "$1" >$device 2>/dev/null && fail "takes '$1'"
	[ -z "$2" ] || dmesg | grep -q "btsrec: Not changed: $2" || fail "$1: no sentence: $(dmesg)"
}
stop_work() { kill $(jobs -p) 2>/dev/null; }
arm_on() { echo "freeze_on $1" >$device || fail "$2: $(dmesg | tail -n 1)"; }
# $1: the case: what has been recorded since the copy, and then the copy is taken.
record_on() {
	sleep 1
	echo freeze >$device
	ask dump "rings $1"
	echo arm >$device || fail "$1: does not arm"
	echo taken >$device || fail "$1: cannot be taken"
}
echo 0 >/proc/sys/kernel/hung_task_timeout_secs
insmod /modules/btsrequest.ko root_pa=$(field root_pa) || fail "btsrequest does not load"
refused taken
refused "on_trigger dance" "on_trigger=dance is unknown"
free_kib() { grep '^MemFree:' /proc/meminfo | tr -dc 0-9; }
echo arm >$device || fail "does not arm"
before=$(free_kib)
echo "on_trigger copy" >$device || fail "no memory for copies"
echo "memory: $((before - $(free_kib))) KiB for rings of $(field ring_sizes) bytes"
start_work
hurry
%s
i=0
while [ $i -lt %d ]; do
	arm_on request "$i"
	usleep 300000
	missed=$(field missed_triggers)
	echo "freeze the queue is full" >$device || fail "$i: $(dmesg | tail -n 1)"
	await "$i"
	j=1
	while [ $j -lt %d ]; do
		echo "freeze number $j" >$device || fail "$i: number $j: $(dmesg | tail -n 1)"
		j=$((j + 1))
	done
	[ $(($(field missed_triggers) - missed)) = $((j - 1)) ] ||
		fail "$i: $(field missed_triggers) missed, $missed before, of $j triggers"
	[ "$(field copy_trigger)" = "the queue is full" ] || fail "$i: $(field copy_trigger)"
	ask dump "copy row-$i"
	if [ $i = 0 ]; then
		refused "on_trigger freeze" "a copy has not been taken"
		btsrec snapshot /tmp/small || fail "btsrec snapshot: $?"
		[ "$(field state)" = armed ] || fail "a snapshot ends the recording"
		btsrec info --live --format jsonl >/tmp/info
		grep -q '"freeze_trigger":"the queue is full"' /tmp/info || fail "info --live: $(cat /tmp/info)"
		tar -c -f /dev/nvme0n1 -C /tmp small && sync || fail "the disk"
	fi
	record_on "row-$i"
	i=$((i + 1))
done
%s
"""

# Not waited for: a lock-up has not ended when its copy is there.
ONE_COPY = """
echo "copied: {name}"
{trigger.setup}
arm_on "{trigger.list}" "{name}"
usleep 500000
({trigger.action}) &
await {name}
ask dump "copy {name}"
{trigger.cleanup}
record_on {name}
"""

# The end: an oops while a copy waits; memory given back and taken; a panic while a copy waits.
COPY_END = f"""
arm_on request,oops oops
echo "freeze before the oops" >$device
await "before the oops"
({DO.format("bug")})
usleep 300000
[ "$(field state)" = frozen ] || fail "an oops while a copy waits: $(field state)"
echo 0 >/sys/devices/system/cpu/cpu1/online || fail "CPU 1 stays"
echo 1 >/sys/devices/system/cpu/cpu1/online || fail "CPU 1 does not come"
echo taken >$device || fail "oops: cannot be taken"
await oops
[ "$(grep -c '^cpu[0-9]*: armed' $device)" = "$(grep -c ^processor /proc/cpuinfo)" ] ||
	fail "not all record after the oops: $(cat $device)"
ask dump "copy oops"
record_on oops
echo "on_trigger freeze" >$device || fail "cannot go back to a freeze"
echo "freeze without a copy" >$device
echo wait >$device
[ "$(field state)" = frozen ] || fail "a freeze is none: $(field state)"
echo "on_trigger copy" >$device
await "frozen before"
echo taken >$device || fail "frozen before: cannot be taken"
sleep 1
echo "freeze before the panic" >$device
await "before the panic"
sleep 1
echo c >/proc/sysrq-trigger
"""

PANIC_ON_WARN = f"""
arm_on warn panic
sleep 1
echo 1 >/proc/sys/kernel/panic_on_warn
{DO.format("warn")}
"""


PANIC_AT_ONCE = """
arm_on request panic
sleep 1
echo "freeze before the panic" >$device; echo c >/proc/sysrq-trigger
"""

ROW_SCRIPT = """
%s
renice -n 0 -p "$self"
start_work
hurry
sleep 1
echo "freeze the queue is full" >$device
await "the last one"
ask dump "copy row-last"
record_on row-last
# Until what arming it has recorded is gone: the self-test, in a page of its own.
sleep 2
echo c >/proc/sysrq-trigger
"""
COPIED_IN_A_ROW = """\
	[ "$(field state)" = armed ] || fail "$i: $(field state)"
	[ "$(field copies)" = $((i + 1)) ] || fail "$i: $(field copies) copies"
	echo "pause: $(field copy_pause_us) us for $what $i"
	echo taken >$device || fail "$i: cannot be taken"
"""

# Where the worker is: the rings are copied and the rest is not; the copy is whole, and all CPUs are
# frozen; some are about to record again; all do.  With what the root says then, and the CPUs.
# "+beside": another CPU panics, and the worker goes on. Its freeze finds one, which must stay.
PANIC_AT = {"btsrec_modmap_copy": ("request", "request"), "btsrec_thaw": ("request", "request"),
            "btsrec_record_on": ("panic", "request"), "btsrec_copy_over": ("panic", "panic"),
            "btsrec_thaw+beside": ("request", "request")}

PANIC_AT_SCRIPT = """
arm_on request panic
sleep 1
echo %s >/sys/module/btswarn/parameters/%s || fail "no such probe: $(dmesg | tail -n 1)"
echo "freeze before the panic" >$device
sleep 20
fail "the worker has not been there"
"""


def add_options(parser):
    parser.add_argument("--triggers", type=int, default=None,
                        help="so many in a row (1000), or for each copy (4)")
    parser.add_argument("--only", metavar="LIST", help="some, by comma: " + ", ".join(TRIGGERS))
    parser.add_argument("--copied", metavar="LIST",
                        help="copies of these only, with the default " + ", ".join(COPIED))
    parser.add_argument("--copies", type=int, help="copies only, so many in a row (4)")
    parser.add_argument("--row", type=int, metavar="N",
                        help="N copies in a row only, each looked at in the guest")
    parser.add_argument("--panic-at", metavar="LIST", help="panics amid a copy only, by comma: "
                        + ", ".join(PANIC_AT))
    parser.add_argument("--ring-bytes", default=str(RING_BYTES), metavar="LIST",
                        help=f"of each CPU, or as the parameter has it ({RING_BYTES})")
    parser.add_argument("--keep", action="store_true", help="keep the dumps")


def _forget_since(log: truth.Log, branches: list[truth.Branch], name: str):
    """Leave in LOG what was recorded up to the last of BRANCHES."""
    newest = branches[:-NEWEST - 1:-1]
    for age in log.ages_of(newest[0]):
        if age + len(newest) <= log.retained() and \
                all(log.branch(age + i) == branch for i, branch in enumerate(newest)):
            log.forget_newest(age)
            return
    raise Failure(f"{name}: CPU {log.cpu} never recorded the newest {len(newest)} branches")


def _check_history(machine, cpu: int, name: str, events, nr_slots: int,
                   is_now=True) -> truth.Log:
    """The history equals the log up to now, or up to some time."""
    log = truth.Log(machine.model_dir / f"cpu{cpu}.log")
    if not truth.wrapped(events):
        raise Failure(f"{name}: the ring of CPU {cpu} has not come round")
    branches = truth.branches_of_events(events)
    if not is_now:
        _forget_since(log, branches, name)
    truth.compare(f"{name}: CPU {cpu}", branches, log,
                  log.in_ring(nr_slots, events))
    return log


def _check_histories(context, machine, name: str, histories, is_now=True) -> dict[int, truth.Log]:
    logs = {cpu: _check_history(machine, cpu, name, histories.get(cpu, []),
                                truth.ring_slots(context.options.ring_bytes, cpu), is_now)
            for cpu in range(context.options.cpus)}
    context.say(f"{name}: {sum(map(len, histories.values()))} events equal")
    return logs


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
    symbols = interrupts.sent(machine)
    function = TRIGGERS[name].newest(symbols)
    gates = interrupts.Gates(symbols)
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


def _root(context, path, *options) -> dict:
    return json.loads(dump.btsrec(context, "info", "--format", "jsonl", *options, path)
                      .splitlines()[0])


def _frozen_root(context, path) -> dict:
    root = _root(context, path)
    if "freeze_reason" not in root:
        raise Failure(f"{path.name}: the root says of no freeze: {root}")
    return root


def _check_trigger(context, path, name: str, *options, missed=0) -> int:
    """The root names the trigger, the summary says it.  Returns the CPU."""
    wanted = TRIGGERS[name]
    root = _root(context, path, *options)
    found = root.get("freeze_reason"), root.get("freeze_trigger")
    if found != (wanted.reason, wanted.trigger):
        raise Failure(f"{name}: the root says {found}, not {(wanted.reason, wanted.trigger)}")
    summary = dump.btsrec(context, "summary", *options, path)
    verdict = next(line for line in summary.splitlines() if line.startswith("verdict:"))
    if not any(one in verdict for one in wanted.verdict.split(" | ")):
        raise Failure(f"{name}: not '{wanted.verdict}': {verdict}")
    context.say(f"{name}: {verdict}")
    late = root.get("nr_late_triggers", 0) + missed
    if name == "together" and late != context.options.cpus - 1:
        raise Failure(f"{name}: the root counts {late} late triggers, {missed} of them missed")
    return root["freeze_cpu"]


def _check_way(context, machine, name: str, cpu: int, histories, logs):
    newer = _check_newest(machine, name, histories[cpu], logs[cpu])
    context.say(f"{name}: {newer} branches of the recorder's way are newer")


def _check(context, machine, name: str) -> str:
    path = context.out / f"dump-{name}"
    path.unlink(missing_ok=True)
    machine.dump(path, resume=True)
    histories = dump.events(context, path)
    logs = _check_histories(context, machine, name, histories)
    if name in TRIGGERS:
        cpu = _check_trigger(context, path, name)
        _check_way(context, machine, name, cpu, histories, logs)
    dump.btsrec(context, "check", path)
    if not context.options.keep:
        path.unlink()
    return "dumped"


def _check_freezes(context):
    names = context.options.only.split(",") if context.options.only else list(TRIGGERS)
    nr_triggers = 1000 if context.options.triggers is None else context.options.triggers
    cases = "".join(ONE.format(name=name, trigger=TRIGGERS[name]) for name in names)
    modules = [*context.recorder_modules(f"ring_bytes={context.options.ring_bytes} arm=0"),
               context.guest_module("btswarn")]
    files = [("bin/bpf", context.guest_program("bpf.c")), ("refused", "".join(f"{line}\n" for line in REFUSED).encode()),
             ("modules/btsrequest.ko", context.guest_module("btsrequest").read_bytes())]
    row = IN_A_ROW % (nr_triggers, "one", "all", FROZEN_IN_A_ROW)
    with context.boot(SCRIPT % (cases, row), modules, files=files, answers={
            "dump": lambda machine, name: _check(context, machine, name)}) as machine:
        machine.run(context.seconds(300 + nr_triggers))
        machine.quit()
        if machine.finish_status or machine.panicked:
            raise machine.failure("the guest did not survive")
    context.say(f"{len(names)} kinds of triggers and {nr_triggers} in a row: each "
                "froze, was waited for and recorded on from")


class Copies:
    """The dumps of a boot with on_trigger=copy."""

    def __init__(self, context):
        self._context = context
        self._missed = 0
        self.events: dict[str, dict[int, list[dict]]] = {}

    def _check_copy(self, machine, path, name: str):
        context, kind = self._context, "user" if name.startswith("row-") else name
        root = _root(context, path)
        missed = root.get("nr_missed_triggers", 0)
        missed_now, self._missed = missed - self._missed, missed
        if root["state"] != "armed":
            raise Failure(f"{name}: the rings are {root['state']}")
        options = "--root", root["copy_pa"]
        self.events[name] = histories = dump.events(context, path, *options)
        logs = _check_histories(context, machine, f"{name}, copied", histories, is_now=False)
        cpu = _check_trigger(context, path, kind, *options, missed=missed_now)
        _check_way(context, machine, kind, cpu, histories, logs)
        dump.btsrec(context, "check", *options, path)

    def check(self, machine, what: str) -> str:
        part, name = what.split(" ", 1)
        path = self._context.out / f"dump-{part}-{name}"
        path.unlink(missing_ok=True)
        machine.dump(path, resume=True)
        if part == "copy":
            self._check_copy(machine, path, name)
        else:
            histories = dump.events(self._context, path)
            _check_histories(self._context, machine, name, histories)
        if not self._context.options.keep:
            path.unlink()
        return "dumped"


def _check_console(context, console: str):
    """What the guest has said of memory, and how long the CPUs rested for each copy."""
    context.say("; ".join(re.findall(r"^memory: .*$", console, re.MULTILINE)))
    # Those two had to wait for something else.
    pauses = [(int(us) / 1000, name)
              for us, name in re.findall(r"^pause: (\d+) us for (.*)$", console, re.MULTILINE)
              if name not in ("oops", "frozen before")]
    if not pauses:
        raise Failure("no copy was made")
    median_ms, (longest_ms, name) = sorted(pauses)[len(pauses) // 2][0], max(pauses)
    context.say(f"{len(pauses)} copies: the CPUs rested for {median_ms:.1f} ms, "
                f"{min(pauses)[0]:.1f} to {longest_ms:.1f} ms ({name})")
    if longest_ms > MAX_PAUSE_MS:
        raise Failure(f"the CPUs rested for {longest_ms:.1f} ms: {name}")


def _boot_copies(context, script: str, name: str, seconds=600) -> tuple[Copies, object]:
    """Up to the panic, whose histories are checked."""
    copies, path = Copies(context), context.out / f"dump-{name}"
    path.unlink(missing_ok=True)
    modules = [*context.recorder_modules(f"ring_bytes={context.options.ring_bytes} arm=0"),
               context.guest_module("btswarn")]
    files = [("modules/btsrequest.ko", context.guest_module("btsrequest").read_bytes()),
             *programs.of_host(context.btsrec, "bin/btsrec")]
    with context.boot(script, modules, name=name, files=files, disk_mib=64, plugin_args={
            "records": LOG_RECORDS}, answers={"dump": copies.check}) as machine:
        machine.dump_at_panic(context.seconds(seconds), path)
    _check_histories(context, machine, name, dump.events(context, path))
    for log in machine.model_dir.glob("cpu*.log"):
        log.unlink()
    return copies, machine


def _without_names(histories) -> dict[int, list[tuple]]:
    """Programs of user space may have gone, in the one or the other."""
    return {cpu: [(event["kind"], *(event.get(key) for key in ("from", "to", "tsc", "reason")))
                  for event in events] for cpu, events in histories.items()}


def _check_copies(context):
    names = context.options.copied.split(",") if context.options.copied else \
        [] if context.options.copies else list(COPIED)
    nr_copies = context.options.copies or (0 if context.options.copied else 4)
    cases = "".join(ONE_COPY.format(name=name, trigger=TRIGGERS[name]) for name in names)
    copies, machine = _boot_copies(context, COPY_SCRIPT % (
        cases, nr_copies, context.options.triggers or 4, COPY_END), "panic-while-a-copy-waits")
    _check_console(context, machine.console())
    if nr_copies:
        small = machine.disk_file("small", context.out / "small")
        if _without_names(dump.events(context, small)) != _without_names(copies.events["row-0"]):
            raise Failure("the snapshot that the guest made is not the copy")
    root = _frozen_root(context, context.out / "dump-panic-while-a-copy-waits")
    if root["freeze_reason"] != "panic" or "copy_pa" not in root:
        raise Failure(f"a panic while a copy waits: {root}")
    for name, end in (("panic-of-the-trigger", PANIC_ON_WARN), ("panic-at-once", PANIC_AT_ONCE)):
        _boot_copies(context, COPY_SCRIPT % ("", 0, 0, end), name)
        root = _frozen_root(context, context.out / f"dump-{name}")
        context.say(f"{name}: the rings stopped for {root['freeze_reason']}, "
                    f"{root.get('nr_copies', 0)} copies")
    context.say(f"{len(names)} kinds of triggers and {nr_copies} in a row: each was copied, and "
                "recorded on from")


def _check_row(context):
    nr_copies = context.options.row
    row = IN_A_ROW % (nr_copies, "copy", "copies", COPIED_IN_A_ROW)
    _, machine = _boot_copies(context, COPY_SCRIPT % ("", 0, 0, ROW_SCRIPT % row), "row",
                              300 + nr_copies)
    _check_console(context, machine.console())
    context.say(re.search(r"^in a row: .*$", machine.console(), re.MULTILINE)[0])


def _freeze_reasons(histories) -> set[str]:
    return {event["reason"] for events in histories.values() for event in events
            if event["kind"] == "freeze"}


def _check_panic(context, wanted: str):
    """The rings are whole, and so is the copy from the moment on that the root has it."""
    name, (function, *beside) = f"panic-at-{wanted}", wanted.split("+")
    script = PANIC_AT_SCRIPT % (function, "panic_beside" if beside else "panic_at")
    _boot_copies(context, COPY_SCRIPT % ("", 0, 0, script), name)
    path = context.out / f"dump-{name}"
    root, histories = _frozen_root(context, path), dump.events(context, path)
    found = root["freeze_reason"], _freeze_reasons(histories)
    of_root, of_cpus = PANIC_AT[wanted]
    if found != (of_root, {of_cpus}):
        raise Failure(f"{name}: the root says {found[0]}, the CPUs {found[1]}")
    if ("the system went on" in dump.btsrec(context, "summary", path)) != (of_cpus == "request"):
        raise Failure(f"{name}: does the summary take memory for that of the freeze?")
    dump.btsrec(context, "check", path)
    if ("copy_pa" in root) != (function != "btsrec_modmap_copy"):
        raise Failure(f"{name}: there is a copy, or none")
    if "copy_pa" in root:
        options = "--root", root["copy_pa"]
        dump.btsrec(context, "check", *options, path)
        copied = _without_names(dump.events(context, path, *options))
        if function == "btsrec_thaw" and copied != _without_names(histories):
            raise Failure(f"{name}: the copy is not that of the rings")
    context.say(f"{name}: the root says {of_root}, the CPUs {of_cpus}"
                + (", and the copy is whole" if "copy_pa" in root else ""))
    if not context.options.keep:
        path.unlink()


def run(context):
    options = context.options
    if options.row:
        _check_row(context)
    for function in options.panic_at.split(",") if options.panic_at else ():
        _check_panic(context, function)
    if options.row or options.panic_at:
        return
    if not options.copied and not options.copies:
        _check_freezes(context)
    if not options.only:
        _check_copies(context)

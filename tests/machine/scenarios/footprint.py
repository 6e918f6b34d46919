# SPDX-License-Identifier: GPL-2.0-or-later
"""What the recorder costs at each task switch, counted by the model, and what others cost.

Instructions, MSR writes and recorded branches inside the module's text, per switch of
the kernel's own count (/proc/stat) and per annotation (an exec or a borrowed mm adds
some); and the records of the ring next to each switch annotation that lead into,
within or out of the module.

Then call by call, with all that is called from there: the recorder's two probes; those of
the kernel's own trace event sched_switch, on beside it; and, on another boot, what perf's
intel_bts does when the thread that it records goes and comes. Calls into which an interrupt
came are left out.
"""

import re
import statistics
from dataclasses import dataclass

import dump
import table
import vm
import workload
from errors import Failure
from scenarios import perf_check

SUMMARY = "the recorder's cost per switch, beside the kernel's trace event and perf's BTS"

# Before there is work to do: the list is long.  A symbol of a module is followed by the module.
WATCH = """
find_symbols() {
	grep -E " ($(echo "$*" | tr ' ' '|'))(.\\[btsrec])?\$" /proc/kallsyms | cut -d' ' -f1,3 |
		tr '\\t' : >/tmp/symbols
	send /tmp/symbols
}
watch() {
	symbol=$(sed -n "s/ $1\$//p" /tmp/symbols)
	[ -n "$symbol" ] || fail "no symbol $1"
	echo "0x$symbol" >/sys/kernel/btsctl/extent
}
watch_no_more() { echo 0 >/sys/kernel/btsctl/extent; }
"""

SCRIPT = workload.SHELL + WATCH + """
find_symbols probe_sched_switch probe_tlb_flush trace_event_raw_event_sched_switch
echo arm >/dev/btsrec || fail "not armed"
hurry
read -r _ bytes _ _ _ start <<END
$(grep '^btsrec ' /proc/modules)
END
start=${start%%%% *}
echo "$start $bytes" >/tmp/module
send /tmp/module
(while :; do yes | head -c 200000 | cat >/dev/null; done) &
(while :; do usleep 200; done) &
sleep 1
watch 'probe_sched_switch:.btsrec.'
watch 'probe_tlb_flush:.btsrec.'
echo "$start $(printf '0x%%x' $((start + bytes)))" >/sys/kernel/btsctl/range
cat /dev/btsrec /proc/stat >/tmp/before
echo 1 >/sys/kernel/btsctl/report
sleep %d
echo 1 >/sys/kernel/btsctl/report
cat /dev/btsrec /proc/stat >/tmp/after
send /tmp/before
send /tmp/after
echo "0 0" >/sys/kernel/btsctl/range
echo freeze >/dev/btsrec
ask dump
watch_no_more
echo arm >/dev/btsrec
echo 1 >/sys/kernel/tracing/events/sched/sched_switch/enable || fail "no sched_switch event"
watch trace_event_raw_event_sched_switch
watch probe_sched_switch
sleep 1
watch_no_more
finish 0
"""

# The thread that perf records has to wait for each of its lines, so it goes and comes as often.
PERF_SCRIPT = WATCH + """
cd /tmp
find_symbols bts_event_del bts_event_add __perf_event_task_sched_out __perf_event_task_sched_in
mkfifo there back
perf record --per-thread -m ,%d -e intel_bts// -o perf.data cat <there >back &
exec 4>there 5<back
ask_cat() {
	echo $1 >&4
	read -r answer <&5
	[ "$answer" = $1 ] || fail "cat says $answer, not $1"
}
# Not while perf starts: what is watched slows the machine.
ask_cat begin
watch bts_event_del
watch bts_event_add
watch __perf_event_task_sched_out
watch __perf_event_task_sched_in
for i in $(seq 1 %d); do ask_cat $i; done
watch_no_more
exec 4>&-
wait $! || fail "perf record"
finish 0
"""

REPORT = re.compile(r"cpu=(\d+) REPORT .* insns=(\d+) msr_writes=(\d+) branches=(\d+)")
CALL = re.compile(r"cpu=\d+ entry=0x([0-9a-f]+) insns=(\d+) msr_writes=(\d+) stores=(\d+) "
                  r"records=(\d+) disturbed=(\d)")
MAX_MSR_WRITES = 2
MAX_OWN_RECORDS = 8
# Lines that the recorded thread has to wait for, and room for all branches meanwhile: a full
# buffer ends the recording.
NR_LINES = 60
PERF_PAGES = 4096
ENOUGH = 10


@dataclass
class Call:
    """What one call has cost."""

    insns: int
    msr_writes: int
    stores: int
    records: int


@dataclass
class Watched:
    """A function: its symbol, what it does, which calls count; @rare: perhaps there is none."""

    symbol: str
    what: str
    counts: callable = lambda call: True
    rare: bool = False


RECORDER = [
    Watched("probe_sched_switch:[btsrec]", "recorder, thread switch", lambda call: call.msr_writes),
    Watched("probe_tlb_flush:[btsrec]", "recorder, its mm (annotated)",
            lambda call: not call.msr_writes),
    Watched("probe_tlb_flush:[btsrec]", "recorder, a borrowed mm", lambda call: call.msr_writes,
            rare=True),
]
EVENT = [
    Watched("trace_event_raw_event_sched_switch", "trace event, thread switch"),
    Watched("probe_sched_switch", "trace event, names of threads"),
]
PERF = [
    Watched("bts_event_del", "intel_bts, thread goes"),
    Watched("bts_event_add", "intel_bts, thread comes"),
    Watched("__perf_event_task_sched_out", "perf with it, thread goes",
            lambda call: call.msr_writes),
    Watched("__perf_event_task_sched_in", "perf with it, thread comes",
            lambda call: call.msr_writes),
]


def add_options(parser):
    parser.add_argument("--seconds", type=int, default=3, help="of guest time to count (3)")


def _own_records(histories, start: int, end: int) -> list[int]:
    """For each switch annotation: the neighbouring records that touch the module."""
    def own(event):
        return event["kind"] == "branch" and any(
            start <= int(event[side], 16) < end for side in ("from", "to"))

    counts = []
    for events in histories.values():
        for place, event in enumerate(events):
            if event["kind"] != "switch" or place < 20 or place > len(events) - 20:
                continue
            before = after = 0
            while own(events[place - 1 - before]):
                before += 1
            while own(events[place + 1 + after]):
                after += 1
            counts.append(before + after)
    return counts


def _counts(status: bytes) -> tuple:
    """(switches, annotations) since the start, from /proc/stat and /dev/btsrec."""
    text = status.decode()
    return (int(re.search(r"^ctxt (\d+)", text, re.MULTILINE).group(1)),
            sum(map(int, re.findall(r"annotations=(\d+)", text))))


def _calls(machine) -> dict[str, list[Call]]:
    """By symbol, those of extents.log that nothing interrupted."""
    names = {int(start, 16): name for start, name in (
        line.split() for line in machine.files["symbols"].decode().splitlines())}
    calls: dict[str, list[Call]] = {name: [] for name in names.values()}
    for line in (machine.model_dir / "extents.log").read_text().splitlines():
        entry, *numbers, disturbed = CALL.fullmatch(line).groups()
        if disturbed == "0":
            calls[names[int(entry, 16)]].append(Call(*map(int, numbers)))
    return calls


def _spread(numbers) -> str:
    numbers = sorted(numbers)
    middle = statistics.median_low(numbers)
    return f"{middle}" if numbers[0] == numbers[-1] else f"{middle} ({numbers[0]}-{numbers[-1]})"


def _row(watched: Watched, calls: list[Call]) -> tuple:
    return (watched.what, str(len(calls)), *(
        _spread(getattr(call, field) for call in calls)
        for field in ("insns", "msr_writes", "stores", "records")))


def _rows(machine, group: list[Watched]) -> list[tuple]:
    """A line of the table each, of those that were called."""
    by_symbol = _calls(machine)
    chosen = [(watched, [call for call in by_symbol[watched.symbol] if watched.counts(call)])
              for watched in group]
    for watched, calls in chosen:
        if len(calls) < ENOUGH and not watched.rare:
            raise Failure(f"{watched.what}: {len(calls)} calls, too few to judge")
        most = max((call.msr_writes for call in calls), default=0)
        if most > MAX_MSR_WRITES and group is not PERF:
            raise Failure(f"{watched.what}: {most} MSR writes in one call")
    return [_row(watched, calls) for watched, calls in chosen if calls]


def _recorder(context) -> list[tuple]:
    path = context.out / "dump"

    modules = [context.guest_module("btsctl"), *context.recorder_modules("arm=0")]
    with context.boot(SCRIPT % context.options.seconds, modules, plugin_args={"stores": 1},
                      answers={"dump": vm.dumps_to(path)}) as machine:
        machine.expect_finish(context.seconds(300))
        machine.quit()
    switches, annotations = (after - before for before, after in zip(
        _counts(machine.files["before"]), _counts(machine.files["after"]), strict=True))
    start, nr_bytes = (int(word, 0) for word in machine.files["module"].split())
    reports = REPORT.findall((machine.model_dir / "msr.log").read_text())
    cpus = context.options.cpus
    if len(reports) != 2 * cpus or switches < 100:
        raise Failure(f"{len(reports)} reports, {switches} switches: nothing to compare")
    insns, msr_writes, branches = (sum(int(report[column]) for report in reports[cpus:])
                                   for column in (1, 2, 3))
    context.say(f"{switches} switches, {annotations} annotations on {cpus} CPUs")
    for name, count in (("switch", switches), ("annotation", annotations)):
        context.say(f"in the recorder, per {name}: {insns / count:.1f} instructions, "
                    f"{msr_writes / count:.2f} MSR writes, {branches / count:.2f} branches "
                    "recorded")
    own = _own_records(dump.events(context, path), start, start + nr_bytes)
    if not own:
        raise Failure("no switch in the histories")
    context.say(f"own records next to a switch annotation, of {len(own)}: least {min(own)}, "
                f"median {statistics.median(own)}, most {max(own)}")
    # The two ways of counting do not begin and end at the same moment.
    if msr_writes > MAX_MSR_WRITES * 1.05 * annotations:
        raise Failure(f"more than {MAX_MSR_WRITES} MSR writes per annotation")
    if max(own) > MAX_OWN_RECORDS:
        raise Failure(f"{max(own)} own records at a switch, more than {MAX_OWN_RECORDS}")
    return _rows(machine, RECORDER + EVENT)


def _perf(context) -> list[tuple]:
    script = PERF_SCRIPT % (PERF_PAGES, NR_LINES)
    with perf_check.boot(context, script, context.guest_module("btsctl"),
                         plugin_more={"stores": 1}) as machine:
        machine.expect_finish(context.seconds(300))
        machine.quit()
    return _rows(machine, PERF)


def run(context):
    rows = [("per call, with what it calls", "calls", "instructions", "MSR writes", "stores",
             "records"), *_recorder(context), *_perf(context)]
    print(table.text(rows))

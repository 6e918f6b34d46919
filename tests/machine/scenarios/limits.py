# SPDX-License-Identifier: GPL-2.0-or-later
"""tasks= and max_rate=: threads that are not chosen, and what is too much, are not recorded.

While one process, its name or its cgroup is chosen, user branches are of that alone, and gaps of
the reason "not chosen" name all others. While a rate is set, five kinds of work run after each
other: in each the records a second of the CPU stay below the rate and a tenth, while there would
be more. First user branches are left out, then all, and they come back; each is a gap with the
reason. Both histories of that CPU equal the model's log: nothing is lost but in gaps.
"""

import re
from collections import Counter

import dump
import truth
import workload
from errors import Failure

SUMMARY = "tasks= and max_rate=: chosen threads only, so many records a second; the rest is in gaps"

RING_BYTES = 16 << 20
RATE = 150000
CPU = 1
SECONDS = 2
ENOUGH = 5
USER = "max rate, user"
REASONS = {"tasks": ("not chosen",), "rate": ("max rate", USER, "user again")}
OTHERS = ("seq", "sort")
WORKS = {
    "syscalls": "dd if=/dev/zero of=/dev/null bs=1",
    "processes": "while :; do (i=0; while [ $i -lt 300 ]; do i=$((i + 1)); done); done",
    "pipes": "yes | cat >/dev/null",
    "sleeps": "while :; do i=0; while [ $i -lt 500 ]; do i=$((i + 1)); done; usleep 1000; done",
    # The last one: what a small ring has of it is user code that is left out and comes back.
    "loop": "while :; do :; done",
}

SCRIPT = workload.SHELL + """
device=/dev/btsrec
records() { sed -n 's/^cpu1: .* records=\\([0-9]*\\) .*/\\1/p' $device; }
for bad in "tasks " "tasks x" "tasks process:0" "tasks comm:" "tasks cgroup:/none" \\
		"tasks comm:a,x" "tasks comm:seventeen-letters" \\
		"max_rate 999" "max_rate x" "max_rate 100000001"; do
	echo "$bad" 2>/dev/null >$device && fail "takes $bad"
done
grep -q '^tasks: all' $device && grep -q '^max_rate: 0' $device || fail "$(cat $device)"
mkdir -p /tmp/cgroup
mount -t cgroup2 none /tmp/cgroup && mkdir /tmp/cgroup/one || fail "no cgroups"
taskset 2 sh -c 'while :; do usleep 10000; done' &
chosen=$!
(while :; do taskset 2 seq 1 300 | sort -n >/dev/null; done) &
other=$!
echo $chosen >/tmp/cgroup/one/cgroup.procs
sleep 2
for list in process:$chosen comm:usleep cgroup:/one; do
	echo tasks $list >$device || fail "$list: $(dmesg | tail -n 1)"
	grep -q "^tasks: $list" $device || fail "$(cat $device)"
	sleep 1
done
echo tasks comm:nobody-at-all >$device
usleep 100000
before=$(records)
usleep 300000
[ $before = $(records) ] || fail "records nobody"
echo tasks all >$device
usleep 50000
[ $before != $(records) ] || fail "records nothing"
kill $chosen $other
echo freeze >$device
ask dump tasks
echo arm >$device
echo max_rate %(rate)d >$device || fail "max_rate: $(dmesg | tail -n 1)"
usleep 200000
%(works)s
echo max_rate 0 >$device
echo freeze >$device
ask dump rate
rmmod btsrec || fail "does not unload"
finish 0
"""
WORK = """
taskset 2 sh -c '%(work)s' 2>/dev/null &
work=$!
usleep 200000
t0=$(cut -d' ' -f1 /proc/uptime) r0=$(records)
sleep %(seconds)d
r1=$(records) t1=$(cut -d' ' -f1 /proc/uptime)
say "WORK %(name)s $r0 $t0 $r1 $t1"
kill $work
killall dd yes cat usleep 2>/dev/null
"""
LINE = re.compile(r"WORK (\w+) (\d+) ([\d.]+) (\d+) ([\d.]+)")


def _check_rates(context, console):
    found = LINE.findall(console)
    if [work[0] for work in found] != list(WORKS):
        raise Failure(f"works {found}")
    for name, first, begin, last, end in found:
        # The times enclose the counts: on a busy machine much may pass between two commands.
        rate = (int(last) - int(first)) / (float(end) - float(begin))
        context.say(f"max_rate={RATE}, {name}: {rate:.0f} records/s")
        if rate > RATE * 1.1:
            raise Failure(f"{name}: {rate:.0f} records a second, above {RATE}")
        # At most: what a burst was above it is paid back, for longer than this takes.
        if rate < RATE / 20:
            raise Failure(f"{name}: {rate:.0f} records a second: too few to judge")


def _check_threads(context, events):
    """While threads are chosen, those of the other work are in gaps only."""
    gaps = [place for place, event in enumerate(events)
            if event["kind"] == "gap" and event.get("reason") == "not chosen"]
    comm, switches, branches = "", 0, Counter()
    for event in events[gaps[0]:gaps[-1]]:
        if "next" in event or "now" in event:
            comm = event["next" if "next" in event else "now"]["comm"]
            switches += comm in OTHERS
        elif event["kind"] == "branch":
            branches[comm] += 1
    if any(branches[name] for name in OTHERS) or not branches["usleep"] or switches < ENOUGH:
        raise Failure(f"{len(gaps)} gaps, {switches} switches to {OTHERS}, branches {branches}")
    context.say(f"branches while threads are chosen: {dict(branches)}; "
                f"{switches} switches to others")


def _compare(machine, events) -> str:
    """The history, all of its ring, equals the log."""
    if not truth.wrapped(events):
        raise Failure("the ring has not come round")
    log = truth.Log(machine.model_dir / f"cpu{CPU}.log")
    branches = truth.branches_of_events(events)
    truth.compare(f"CPU {CPU}", branches, log,
                  log.in_ring(RING_BYTES // truth.RECORD_SLOT_BYTES, events))
    return f"CPU {CPU}: the newest {len(branches)} records equal"


def _check(context, machine, part) -> str:
    """The history of this part of the script."""
    path = context.out / f"dump-{part}"
    path.unlink(missing_ok=True)
    machine.dump(path, resume=True)
    gaps = Counter()
    events = dump.events(context, path)[CPU]
    context.say(f"{part}: {_compare(machine, events)}")
    for event in events:
        if event["kind"] == "gap" and event["gap"] == "paused":
            gaps[event["reason"]] += 1
            gaps["user again"] += event["reason"] == USER and event["stop_tsc"] != 0
    if part == "tasks":
        _check_threads(context, events)
    for reason in REASONS[part]:
        if gaps[reason] < ENOUGH:
            raise Failure(f"{part}: gaps {dict(gaps)}")
    print(dump.btsrec(context, "check", path), end="")
    print(dump.btsrec(context, "prove", path), end="")
    context.say(f"{part}: gaps {dict(gaps)}")
    return "dumped"


def run(context):
    works = "".join(WORK % {"name": name, "work": work, "seconds": SECONDS}
                    for name, work in WORKS.items())
    with context.boot(SCRIPT % {"rate": RATE, "works": works},
                      context.recorder_modules(f"ring_bytes={RING_BYTES}"), answers={
                          "dump": lambda machine, part: _check(context, machine, part)}) as machine:
        machine.expect_finish(context.seconds(240))
        machine.quit()
    _check_rates(context, machine.console())

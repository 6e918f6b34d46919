# SPDX-License-Identifier: GPL-2.0-or-later
"""The switches in the histories against two witnesses that know nothing of the recorder.

The sequence of switches per CPU is compared with the kernel's own sched_switch trace
events, taken in the same guest with the TSC as their clock: each switch of the history
must lie between its neighbours in the trace, with the same threads and names, and
none may be missing between the first and the freeze. The cr3 of each thread that still
lives in the dump is compared with its mm's pgd as crash prints it. The timeline of all
CPUs must have the same events by time, as far from the freeze as the kernel's own clock
has them, and account for every branch between them.

One thread (roam.c) goes from CPU to CPU all the time. Its listing over all CPUs must have
its stays in the order in which the kernel's trace has them, on the same CPUs, and in each
the branches that the model's log of that CPU has there.
"""

import json
import re
from collections import Counter
from dataclasses import dataclass

import dump
import truth
import vm
import workload
from errors import Failure

SUMMARY = "switches equal ftrace's, cr3 equals the mm's pgd in crash"

SCRIPT = workload.SHELL + """
cd /sys/kernel/tracing || fail "no tracefs"
echo x86-tsc >trace_clock
echo 16384 >buffer_size_kb
echo 1 >events/sched/sched_switch/enable
echo 1 >tracing_on
start_work
roam "$(nproc)" &
echo $! >/tmp/moved
send /tmp/moved
renice -n -20 -p "$(cat /tmp/moved)"
sleep 2
echo freeze >/dev/btsrec
echo 0 >tracing_on
cat /dev/btsrec
cat trace >/tmp/trace
send /tmp/trace
dmesg | sed -n 's/.*tsc: .* \\([0-9]*\\)[.]\\([0-9]*\\) MHz.*/\\1\\2/p' >/tmp/khz
send /tmp/khz
ask dump
finish 0
"""

TRACE = re.compile(r"\[(\d+)\] \S+ +(\d+): sched_switch: prev_comm=(.*) prev_pid=(\d+) "
                   r"prev_prio=\d+ prev_state=\S+ ==> next_comm=(.*) next_pid=(\d+) next_prio=")
LOST = re.compile(r"\[LOST \d+ EVENTS\]")
MIN_SWITCHES = 20
# The script and the thread that roams: whether others have run in the end is luck.
MIN_LIVE_TASKS = 2
MIN_MIGRATIONS = 4


@dataclass(frozen=True)
class Switch:
    tsc: int
    prev_pid: int
    prev_comm: str
    next_pid: int
    next_comm: str

    def same(self, other) -> bool:
        return self.threads() == other.threads()

    def threads(self) -> tuple:
        return self.prev_pid, self.prev_comm, self.next_pid, self.next_comm


def add_options(parser):
    parser.add_argument("--ring-bytes", default="8M", metavar="SIZE", help="ring per CPU (8M)")


def _traced(text: str) -> dict[int, list[Switch]]:
    if LOST.search(text):
        raise Failure("the guest's trace has lost events: it is no witness")
    found: dict[int, list[Switch]] = {}
    for cpu, tsc, prev_comm, prev_pid, next_comm, next_pid in TRACE.findall(text):
        found.setdefault(int(cpu), []).append(
            Switch(int(tsc), int(prev_pid), prev_comm, int(next_pid), next_comm))
    return found


def _recorded(events) -> list[Switch]:
    return [Switch(event["tsc"], event["prev"]["pid"], event["prev"]["comm"],
                   event["next"]["pid"], event["next"]["comm"])
            for event in events if event["kind"] == "switch" and event["what"] == "task"]


def _compare_cpu(cpu: int, recorded, traced, freeze_tsc: int) -> list[Switch]:
    """Every recorded switch has its trace event at the same place of the sequence.

    Returns the trace up to the newest of them. Its event may be later than the freeze: the CPU may
    be stopped between the annotation and the kernel's own look at the switch.
    """
    if len(recorded) < MIN_SWITCHES:
        raise Failure(f"CPU {cpu}: only {len(recorded)} switches in the history: too few to judge")
    first = min(range(len(traced)), key=lambda i: abs(traced[i].tsc - recorded[0].tsc))
    starts = [i for i in (first - 1, first, first + 1)
              if 0 <= i < len(traced) and traced[i].same(recorded[0])]
    if not starts:
        raise Failure(f"CPU {cpu}: the trace does not know the first switch {recorded[0]}")
    start = starts[0]
    for number, switch in enumerate(recorded):
        place = start + number
        if place >= len(traced) or not traced[place].same(switch):
            other = traced[place] if place < len(traced) else "nothing"
            raise Failure(f"CPU {cpu}: switch {number} of {len(recorded)}\n  history {switch}\n"
                          f"  trace   {other}")
        before = traced[place - 1].tsc if place else 0
        after = traced[place + 1].tsc if place + 1 < len(traced) else 1 << 64
        if not before < switch.tsc < after:
            raise Failure(f"CPU {cpu}: switch {number} is out of its place in time: {switch}")
    end = start + len(recorded)
    missed = [switch for switch in traced[end:] if switch.tsc < freeze_tsc]
    if missed:
        raise Failure(f"CPU {cpu}: {len(missed)} switches before the freeze are not in the "
                      f"history; the first: {missed[0]}")
    return traced[:end]


def _check_order(timeline):
    """By time; the kernel's trace has confirmed each CPU's own order already."""
    timed = [event["tsc"] for event in timeline if "tsc" in event]
    if timed != sorted(timed) or len(timed) < 2 * MIN_SWITCHES:
        raise Failure(f"the {len(timed)} events of the timeline are not in the order of time")


def _first_wrong(timeline, khz):
    """The first event that is not as far from the freeze as its time stamp says; None: none."""
    first = next(event for event in timeline if event.get("from_freeze_ns") == 0)
    for event in timeline:
        if "tsc" in event:
            expected = (event["tsc"] - first["tsc"]) * 1e6 / khz
            if abs(event["from_freeze_ns"] - expected) > 1000:
                return event
    return None


def _check_clock(timeline, speeds: list[int]) -> int:
    """By the speed that the guest's kernel had measured when the recorder was loaded: the first
    one, or the one to which it has refined that since."""
    wrong = {khz: _first_wrong(timeline, khz) for khz in speeds}
    for khz, event in wrong.items():
        if not event:
            return khz
    raise Failure(f"times from the freeze are not by the guest's clock: {wrong}")


def _compare_timeline(context, path, histories, speeds) -> str:
    """The timeline is the histories: each event that is no branch, and how many are between."""
    text = dump.btsrec(context, "timeline", "--no-names", "--no-log", "--format", "jsonl",
                       str(path))
    timeline = [json.loads(line) for line in text.splitlines()]
    _check_order(timeline)
    khz = _check_clock(timeline, speeds)
    for cpu, events in histories.items():
        shown, branches = [], 0
        for event in events:
            branches += event["kind"] == "branch"
            if event["kind"] != "branch":
                shown.append((event["n"], event["kind"], event.get("tsc"), branches))
                branches = 0
        printed = [(event["n"], event["kind"], event.get("tsc"), event["branches"])
                for event in timeline if event["cpu"] == cpu]
        if printed != shown:
            raise Failure(f"CPU {cpu}: the timeline has {len(printed)} events, the history "
                          f"{len(shown)}, and they are not the same")
    return f"the timeline has the same {len(timeline)} events by time, at {khz} kHz"


# --- One thread over all CPUs -------------------------------------------------------------

def _stays(traced, pid: int) -> list[tuple[int, int]]:
    """(time stamp, CPU) of each switch to thread PID, by time."""
    return sorted((switch.tsc, cpu) for cpu, switches in traced.items() for switch in switches
                  if switch.next_pid == pid)


def _newest(stays, wanted: Counter) -> list[tuple[int, int]]:
    """Of each CPU the newest stays, as many as WANTED: its history begins when it likes."""
    left = Counter(wanted)
    found = []
    for tsc, cpu in reversed(stays):
        if left[cpu]:
            left[cpu] -= 1
            found.append((tsc, cpu))
    return found[::-1]


def _printed_stays(context, path, pid: int) -> list[dict]:
    """The stays in the listing of thread PID: its switch, if that is printed, and branches.

    A history may begin in one, and that of another CPU with older ones.
    """
    stays: list[dict] = []
    text = dump.btsrec(context, "show", "--thread", pid, "--no-names", "--format", "jsonl", path)
    for line in text.splitlines():
        event = json.loads(line)
        if event["kind"] == "interval" and (event["begins"] or not stays or not event["n"]):
            stays.append({"cpu": event["cpu"], "begins": event["begins"], "events": []})
        elif event["kind"] == "interval" and event["cpu"] != stays[-1]["cpu"]:
            raise Failure(f"thread {pid} came to another CPU without a switch: {event}")
        elif event["kind"] == "interval" and event["order"] not in ("first", "proven"):
            raise Failure(f"the order of the stays of thread {pid} is not proven: {event}")
        else:
            stays[-1]["events"].append(event)
    return stays


def _compare_stay(stay: dict, places: dict[int, int], log) -> int:
    """Its branches are those that the log of its CPU has in a row at this place."""
    branches = [event for event in stay["events"] if event["kind"] == "branch"]
    if any(event["cpu"] != stay["cpu"] for event in stay["events"]):
        raise Failure(f"events of another CPU in a stay on CPU {stay['cpu']}")
    ages = [len(places) - 1 - places[event["n"]] for event in branches]
    if ages and ages != list(range(ages[0], ages[0] - len(ages), -1)):
        raise Failure(f"a stay on CPU {stay['cpu']} lacks branches behind event "
                      f"{branches[0]['n']}")
    for age, branch in zip(ages, truth.branches_of_events(branches)):
        if log.branch(age) != branch:
            raise Failure(f"CPU {stay['cpu']}: the listing has {branch}, the log {log.branch(age)}")
    return len(branches)


def _compare_ends(pid: int, stays: list[dict], histories):
    """Each stay ends with the switch away, or with what hides one; none has more in it.

    A CPU may be stopped between the annotation of a switch to the thread and the switch: then
    the freeze, the last event of the history, is of the thread before.
    """
    for stay in stays:
        last, freeze = stay["events"][-1], histories[stay["cpu"]][-1]
        left = last["kind"] == "switch" and last["prev"]["pid"] == pid != last["next"]["pid"]
        newest = freeze["n"] if freeze.get("pid") == pid else freeze["n"] - 1
        if not left and last["n"] != newest:
            raise Failure(f"a stay of thread {pid} ends with {last}")
        for event in stay["events"][1:-1]:
            if event["kind"] == "switch" and event["what"] == "task":
                raise Failure(f"a switch in the midst of a stay of thread {pid}: {event}")


def _compare_thread(context, path, histories, traced, model_dir, pid: int) -> str:
    true = _stays(traced, pid)
    printed = _printed_stays(context, path, pid)
    begun = [stay["cpu"] for stay in printed if stay["begins"]]
    true = _newest(true, Counter(begun))
    if begun != [cpu for _, cpu in true]:
        raise Failure(f"thread {pid} was on these CPUs in turn, by the trace\n"
                      f"  {[cpu for _, cpu in true]}\n  {begun} by its listing")
    _compare_ends(pid, printed, histories)
    oldest = {cpu: next(event["tsc"] for event in events if "tsc" in event)
              for cpu, events in histories.items()}
    nr_known = sum(tsc > oldest[cpu] for tsc, cpu in _stays(traced, pid))
    if nr_known > len(begun):
        raise Failure(f"the histories hold {nr_known} stays of thread {pid}, the listing "
                      f"{len(begun)}")
    places = {cpu: {event["n"]: i for i, event in enumerate(
        event for event in events if event["kind"] == "branch")}
        for cpu, events in histories.items()}
    logs = {cpu: truth.Log(model_dir / f"cpu{cpu}.log") for cpu in histories}
    nr_branches = sum(_compare_stay(stay, places[stay["cpu"]], logs[stay["cpu"]])
                      for stay in printed)
    migrations = sum(a["cpu"] != b["cpu"] for a, b in zip(printed, printed[1:]))
    if migrations < MIN_MIGRATIONS:
        raise Failure(f"thread {pid} changed its CPU {migrations} times: too few to judge")
    return (f"{len(printed)} stays of thread {pid} with {nr_branches} branches, on another CPU than "
            f"the one before {migrations} times, are those of trace and log")


def _freeze_tsc(cpu: int, events) -> int:
    if events[-1]["kind"] != "freeze":
        raise Failure(f"CPU {cpu}: the history does not end with the freeze: {events[-1]}")
    return events[-1]["tsc"]


def _newest_sides(histories) -> dict[int, dict]:
    """The newest word of the histories about each thread that was switched to, by pid."""
    newest: dict[int, tuple] = {}
    for events in histories.values():
        for event in events:
            if event["kind"] in ("switch", "exec"):
                pid, tsc = event["next"]["pid"], event["tsc"]
                if pid not in newest or tsc > newest[pid][0]:
                    newest[pid] = (tsc, event["next"])
    return {pid: side for pid, (_, side) in newest.items()}


def _live_tasks(context, path) -> list[tuple]:
    """(pid, comm, physical address of the mm's pgd) of each user process, read by crash."""
    text = dump.crash(context, path, "px page_offset_base",
                      "list -o task_struct.tasks -s task_struct.pid,comm,mm -h init_task",
                      extension=False)
    base = int(re.search(r"page_offset_base = .*?(0x[0-9a-f]+)", text).group(1), 16)
    tasks = [task for task in re.findall(
        r"pid = (\d+),\s+comm = \"([^\"\\]*).*\n\s*mm = (0x[0-9a-f]+)", text)
        if int(task[2], 16)]
    text = dump.crash(context, path, *(f"struct mm_struct.pgd {mm}" for _, _, mm in tasks),
                      extension=False)
    pgds = re.findall(r"pgd = (0x[0-9a-f]+)", text)
    if len(pgds) != len(tasks):
        raise Failure(f"crash shows {len(pgds)} pgds for {len(tasks)} tasks:\n{text[-2000:]}")
    return [(int(pid), comm, int(pgd, 16) - base)
            for (pid, comm, _), pgd in zip(tasks, pgds, strict=True)]


def _compare_cr3(context, path, histories) -> int:
    sides = _newest_sides(histories)
    compared = 0
    for pid, comm, pgd in _live_tasks(context, path):
        # Another name: an exec between the freeze and the dump, with another mm.
        if pid not in sides or sides[pid]["comm"] != comm:
            continue
        if int(sides[pid]["cr3"], 16) != pgd:
            raise Failure(f"pid {pid} ({comm}): the history has cr3 {sides[pid]['cr3']}, but its "
                          f"mm's pgd is {pgd:#x}")
        compared += 1
    if compared < MIN_LIVE_TASKS:
        raise Failure(f"only {compared} live tasks are in the history: too few to judge")
    return compared


def run(context):
    path = context.out / "dump"

    modules = context.recorder_modules(f"ring_bytes={context.options.ring_bytes}")
    files = [("bin/roam", context.guest_program("roam.c"))]
    with context.boot(SCRIPT, modules, files=files, answers={"dump": vm.dumps_to(path)}) as machine:
        machine.expect_finish(context.seconds(180))
        machine.quit()
    traced = _traced(machine.files["trace"].decode(errors="replace"))
    histories = dump.events(context, path)
    known = {}
    for cpu in range(context.options.cpus):
        events = histories.get(cpu, [])
        recorded = _recorded(events)
        known[cpu] = _compare_cpu(cpu, recorded, traced.get(cpu, []), _freeze_tsc(cpu, events))
        context.say(f"CPU {cpu}: {len(recorded)} switches in a row equal the kernel's own trace")
    context.say(_compare_thread(context, path, histories, known, machine.model_dir,
                                int(machine.files["moved"])))
    speeds = list(map(int, machine.files["khz"].split()))
    context.say(_compare_timeline(context, path, histories, speeds))
    context.say(f"cr3 equals the mm's pgd for {_compare_cr3(context, path, histories)} live tasks")

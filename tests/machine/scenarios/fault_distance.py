# SPDX-License-Identifier: GPL-2.0-or-later
"""How many records are newer than the fault, with the freeze and without it.

The fault is the call of panic() by the sysrq. A probe there lets the model note how
many records each CPU has made; what a CPU records from then on is newer than the
fault. On the panicking CPU the history itself is looked at too: the branches behind
the newest one that leads to panic(). An interrupt that came and went meanwhile is no
handling of the fault; what is judged there is without them (interrupts.py). Without
the freeze the history of the crash is soon overwritten by what the dying kernel does:
that is the proof of why it matters.
"""

import re
from dataclasses import dataclass
from pathlib import Path

import dump
import interrupts
import truth
import workload
from errors import Failure

SUMMARY = "records newer than the fault, with freeze=1 and freeze=0"

SCRIPT = workload.SHELL + interrupts.send() + """
start_work
sleep 1
hurry
echo c >/proc/sysrq-trigger
"""

MARK = re.compile(r"^cpu=(\d+) (MARK|AT_MARK) value=\S+ records=(\d+)$", re.MULTILINE)

NR_SLOTS = 1048576 // truth.RECORD_SLOT_BYTES
# Measured: 52 and 70, most of them of the probe itself; "matrix" counts 3 without one. The
# other CPUs run on until the NMI reaches them; the ring has 43,690 records.
MAX_NEWER_SELF = 128
MAX_NEWER_OTHER = 20_000


def _after_panic(context, path, cpu: int) -> int:
    """Branches of CPU after the newest one to panic(); -1: there is none left."""
    text = dump.btsrec(context, "show", "--cpu", cpu, "--format", "tsv",
                       "--system-map", context.os.system_map, path)
    newer = 0
    for line in reversed(text.splitlines()):
        if "\tbranch\t" not in line:
            continue
        if re.search(r"\tpanic(\+0x0)?(\t|$)", line):
            return newer
        newer += 1
    return -1


@dataclass
class Crash:
    """One panic.

    @newer: records of each CPU after the probe.
    @shown: branches of @cpu, which panicked, after the newest one to panic(); -1: none is left.
    """

    machine: object
    path: Path
    cpu: int
    newer: dict[int, int]
    shown: int


def _crash(context, freeze: int) -> Crash:
    path = context.out / f"dump-{freeze}"
    path.unlink(missing_ok=True)
    modules = [*context.recorder_modules(f"ring_bytes=1M freeze={freeze}"),
               context.guest_module("btsmark")]
    with context.boot(SCRIPT, modules, name=f"boot-{freeze}") as machine:
        machine.expect_panic(context.seconds(120))
        machine.dump(path)
        machine.quit()
    marks = MARK.findall((machine.model_dir / "msr.log").read_text())
    if len(marks) != context.options.cpus:
        raise Failure(f"the model noted {len(marks)} CPUs at the fault: {marks}")
    newer = {int(cpu): truth.Log(machine.model_dir / f"cpu{cpu}.log").total - int(records)
             for cpu, _, records in marks}
    cpu = int(marks[0][0])
    shown = _after_panic(context, path, cpu)
    context.say(f"freeze={freeze}: records newer than the call of panic(): "
                f"{newer[cpu]} on its CPU {cpu}, "
                f"{', '.join(str(newer[other]) for other in newer if other != cpu)} on the others; "
                "in the history behind panic(): "
                f"{shown if shown >= 0 else 'panic() is not in the ring any more'}")
    return Crash(machine, path, cpu, newer, shown)


def _outside_interrupts(context, crash: Crash, *newest: int) -> list[int]:
    """Of so many NEWEST records of the panicking CPU, all in the dump: those of no interrupt."""
    history = dump.events(context, crash.path)[crash.cpu]
    log = truth.Log(crash.machine.model_dir / f"cpu{crash.cpu}.log")
    truth.compare(f"CPU {crash.cpu}", truth.branches_of_events(history), log,
                  log.in_ring(NR_SLOTS, history))
    gates = interrupts.Gates(interrupts.sent(crash.machine))
    outside = [mark for mark, event in zip(interrupts.outside(history, log, gates), history)
               if event["kind"] == "branch"]
    return [sum(outside[len(outside) - newer:]) for newer in newest]


def run(context):
    crash = _crash(context, 1)
    if crash.shown < 0:
        raise Failure("the call of panic() is not in the history")
    newer, shown = _outside_interrupts(context, crash, crash.newer[crash.cpu], crash.shown)
    context.say(f"without interrupts {newer} and {shown}")
    if max(newer, shown) > MAX_NEWER_SELF:
        raise Failure(f"the panicking CPU recorded {newer} branches after the fault, {shown} in "
                      f"its history; at most {MAX_NEWER_SELF} are acceptable")
    worst = max((newer for cpu, newer in crash.newer.items() if cpu != crash.cpu), default=0)
    if worst > MAX_NEWER_OTHER:
        raise Failure(f"another CPU recorded {worst} branches after the fault; at most "
                      f"{MAX_NEWER_OTHER} are acceptable")
    if _crash(context, 0).shown >= 0:
        raise Failure("without the freeze the call of panic() is still there: the freeze proves "
                      "nothing here")

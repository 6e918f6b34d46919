# SPDX-License-Identifier: GPL-2.0-or-later
"""How many records are newer than the fault, with the freeze and without it.

The fault is the call of panic() by the sysrq. A probe there lets the model note how
many records each CPU has made; what a CPU records from then on is newer than the
fault. On the panicking CPU the history itself is looked at too: the branches behind
the newest one that leads to panic(). Without the freeze the history of the crash is
soon overwritten by what the dying kernel does: that is the proof of why it matters.
"""

import re

import dump
import truth
import workload
from errors import Failure

SUMMARY = "records newer than the fault, with freeze=1 and freeze=0"

SCRIPT = workload.SHELL + """
start_work
sleep 1
hurry
echo c >/proc/sysrq-trigger
"""

MARK = re.compile(r"^cpu=(\d+) (MARK|AT_MARK) value=\S+ records=(\d+)$", re.MULTILINE)

# Measured: 28 and 35. The bounds leave room for an interrupt that comes just then, and for
# the other CPUs, which run on until the NMI reaches them; the ring has 43,690 records.
MAX_NEWER_SELF = 5_000
MAX_NEWER_OTHER = 20_000


def _after_panic(context, path, cpu: int) -> int:
    """Branches of CPU behind the newest one to panic(); -1: there is none left."""
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


def _one(context, freeze: int) -> tuple:
    """Panic once; (newer by CPU, branches behind panic() on its CPU), panicking CPU first."""
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
    order = [int(cpu) for cpu, _, _ in marks]
    newer = [truth.Log(machine.model_dir / f"cpu{cpu}.log").total - int(records)
             for cpu, _, records in marks]
    shown = _after_panic(context, path, order[0])
    context.say(f"freeze={freeze}: records newer than the call of panic(): "
                f"{newer[0]} on its CPU {order[0]}, "
                f"{', '.join(map(str, newer[1:]))} on the others; in the history behind panic(): "
                f"{shown if shown >= 0 else 'panic() is not in the ring any more'}")
    return newer, shown


def run(context):
    newer, shown = _one(context, 1)
    if not 0 <= shown <= MAX_NEWER_SELF or newer[0] > MAX_NEWER_SELF:
        raise Failure(f"the panicking CPU recorded {newer[0]} branches after the fault, "
                      f"{shown} in its history; at most {MAX_NEWER_SELF} are acceptable")
    if max(newer[1:], default=0) > MAX_NEWER_OTHER:
        raise Failure(f"another CPU recorded {max(newer[1:])} branches after the fault; at "
                      f"most {MAX_NEWER_OTHER} are acceptable")
    _, unfrozen = _one(context, 0)
    if unfrozen >= 0:
        raise Failure("without the freeze the call of panic() is still there: the freeze proves "
                      "nothing here")

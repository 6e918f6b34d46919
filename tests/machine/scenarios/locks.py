# SPDX-License-Identifier: GPL-2.0-or-later
"""Two CPUs deadlock over two spinlocks: who holds which, who waits, and since when.

The preempt count of the CPU that was stopped is in its memory, too.

The kind "deadlock" of btscrash: deadlock_ab takes A and waits for B, deadlock_ba takes B with
interrupts off and waits for A.
"""

import json
import re

import dump
from errors import Failure

SUMMARY = "a deadlock of two CPUs: who holds which lock, and who waits for it"

# include/linux/preempt.h: of spinlocks and preempt_disable(), without softirqs and interrupts.
# These come and go where a CPU spins, between its freeze and its stop.
PREEMPT_MASK = 0xff
COUNT = re.compile(r"per_cpu\(__preempt_count, (\d+)\) = \$\d+ = (-?\d+)")

SCRIPT = "echo deadlock >/sys/module/btscrash/parameters/crash\n"


def add_options(parser):
    parser.add_argument("--keep", action="store_true", help="keep the dump")
    parser.add_argument("--again", action="store_true",
                        help="no machine: ask the dump once more that --keep has kept")


def _dump(context):
    path = context.out / "dump"
    if context.options.again:
        return path
    path.unlink(missing_ok=True)
    modules = [*context.recorder_modules("ring_bytes=8M"), context.guest_module("btscrash")]
    with context.boot(SCRIPT, modules) as machine:
        machine.dump_at_panic(context.seconds(200), path)
    return path


def _are(rows, state: str) -> set:
    """The functions of btscrash whose spinlocks are certainly so; an interrupt may hold others."""
    return {row["from_sym"].split("+")[0] for row in rows
            if row.get("state") == state and row["lock"] == "spinlock" and
            row["sure"] == "certain" and row.get("from_sym", "").endswith("[btscrash]")}


def _counts(context, path) -> dict[int, int]:
    """By CPU, what its memory has."""
    text = dump.crash(context, path, "p __preempt_count:a", extension=False)
    return {int(cpu): int(count) & PREEMPT_MASK for cpu, count in COUNT.findall(text)}


def _check_preemption(context, path, rows):
    """Both have it off since they took a lock; the CPU that was stopped has the same count."""
    off = {row["cpu"]: row for row in rows
           if row["kind"] == "preemption" and row["state"] == "off"}
    took = {row["from_sym"].split("+")[0] for row in off.values() if "from_sym" in row}
    if not took >= {"deadlock_ab", "deadlock_ba"}:
        raise Failure(f"preemption is off: {off}")
    lacks = dump.crash_lacks(context)
    if lacks:
        context.say(f"not compared with the preempt counts in memory: {lacks}")
        return
    stopped = _counts(context, path)
    counted = {cpu: row["count"] & PREEMPT_MASK for cpu, row in off.items()}
    equal = [cpu for cpu, count in stopped.items()
             if counted.get(cpu) == count and not off[cpu]["at_least"]]
    if not equal:
        raise Failure(f"the preempt counts are {counted}, in memory {stopped}")
    context.say(f"the preempt counts are {counted}, in memory {stopped}")


def run(context):
    path = _dump(context)
    rows = [json.loads(line) for line in
            dump.btsrec(context, "locks", "--format", "jsonl", path).splitlines()]
    for state in ("held", "waits"):
        if _are(rows, state) != {"deadlock_ab", "deadlock_ba"}:
            raise Failure(f"{state}: {sorted(_are(rows, state))}")
    # The other CPU is in the interrupt that has the NMI sent.
    off = [row for row in rows if row["kind"] == "interrupts" and row["state"] == "off"]
    if "deadlock_ba" not in [row["from_sym"].split("+")[0] for row in off
                             if row["by"] == "cli" and "from_sym" in row]:
        raise Failure(f"interrupts are off: {off}")
    _check_preemption(context, path, rows)
    locks = [line for line in dump.btsrec(context, "summary", path).splitlines()
             if line.startswith("locks:")]
    if len(locks) != 2 or not all("deadlock: " in line and "has not released it" in line
                                  for line in locks):
        raise Failure(f"the summary says: {locks}")
    certain = [row for row in rows if row.get("state") == "held" and row["sure"] == "certain"]
    context.say(f"both locks held, both waited for; certain: {len(certain)} of {len(rows)} lines")
    if not context.options.keep:
        path.unlink()

# SPDX-License-Identifier: GPL-2.0-or-later
"""A dump has the same structure whatever names there are.

A guest works while the function graph tracer and a kretprobe replace return addresses. Then two
tracepoints are switched on, which writes jumps over NOPs, and it panics. "prove" finds nothing
impossible. Calls, stacks, types of branches and counts of the dump are the same with and without
"--no-names", address by address. A copy whose VMCOREINFO says nothing of kallsyms, as a
hypervisor or an older kernel writes it, gives the same lines with all names. A copy in which
VMCOREINFO is wrong about it has no name of the kernel: still no return is told as changed, and
its threads are the same.
"""

import json
import shutil

import dump
import workload
from errors import Failure

SUMMARY = "calls, stacks, threads and counts are the same with names and without"

# Not all functions: each that is patched makes the emulator translate its code anew.
SCRIPT = workload.SHELL + """
mount -t tracefs none /sys/kernel/tracing 2>/dev/null
echo 'r:hook vfs_read' >/sys/kernel/tracing/kprobe_events
echo 1 >/sys/kernel/tracing/events/kprobes/hook/enable
echo 'vfs_* ksys_* mutex_*' >/sys/kernel/tracing/set_ftrace_filter
echo function_graph >/sys/kernel/tracing/current_tracer
start_work
sleep 1
echo 1 >/sys/kernel/tracing/events/sched/sched_waking/enable
echo 1 >/sys/kernel/tracing/events/raw_syscalls/sys_enter/enable
echo c >/proc/sysrq-trigger
"""

RING = "ring_bytes=1M"
VIEWS = (("calls",), ("show", "--types"), ("stack",), ("functions", "--by", "task"))


def add_options(parser):
    parser.add_argument("--keep", action="store_true", help="keep the dump")


def _rows(context, path, view, *options):
    """What VIEW lists of PATH, without names and reasons why there are none."""
    text = dump.btsrec(context, *view, "--format", "jsonl", *options, path)
    return [{key: value for key, value in json.loads(line).items()
             if not key.endswith(("sym", "why")) and key not in ("function", "module", "syscall")}
            for line in text.splitlines()]


def _spoil(path, copy, old: bytes, new: bytes) -> int:
    """COPY is PATH with NEW for each OLD of the same length: how many there were."""
    shutil.copyfile(path, copy)
    nr = 0
    with open(copy, "r+b") as file:
        data = file.read()
        at = data.find(old)
        while at >= 0:
            file.seek(at)
            file.write(new)
            nr += 1
            at = data.find(old, at + 1)
    return nr


def _counts(rows) -> dict:
    kinds: dict[str, int] = {}
    for row in rows:
        kinds[row["kind"]] = kinds.get(row["kind"], 0) + 1
    return kinds


def _by_function(rows):
    """The sums over all functions of a thread: without names they are one line."""
    sums: dict[object, list[int]] = {}
    for row in rows:
        if row["kind"] == "function":
            of_task = sums.setdefault(row.get("pid"), [0, 0])
            of_task[0] += row["branches"]
            of_task[1] += row["calls"]
    return sums


def _same(context, path):
    for view in VIEWS:
        named, plain = (_rows(context, path, view, *more) for more in ((), ("--no-names",)))
        if view[0] == "functions":
            named, plain = _by_function(named), _by_function(plain)
        if named != plain:
            pairs = zip(named, plain) if isinstance(named, list) else []
            first = next((pair for pair in pairs if pair[0] != pair[1]), (named, plain))
            raise Failure(f"btsrec {' '.join(view)} differs without names: {str(first)[:2000]}")
        context.say(f"{' '.join(view)}: {len(named)} lines are the same without names")


def run(context):
    path = context.out / "dump"
    path.unlink(missing_ok=True)
    modules = context.recorder_modules(RING)
    with context.boot(SCRIPT, modules, name="boot-unnamed") as machine:
        machine.dump_at_panic(context.seconds(240), path)
    for line in dump.btsrec(context, "prove", path).splitlines():
        context.say(line)
    calls = _rows(context, path, ("calls",))
    if "astray" in _counts(calls):
        raise Failure(f"returns that nobody changed: {_counts(calls)}")
    _same(context, path)

    copy = context.out / "dump-vmcoreinfo"
    if not _spoil(path, copy, b"SYMBOL(kallsyms_", b"LOBMYS(kallsyms_"):
        context.say("VMCOREINFO has no kallsyms; its table is found in any case")
    for view in VIEWS:
        one, other = (dump.btsrec(context, *view, file) for file in (path, copy))
        if one != other:
            raise Failure(f"btsrec {view[0]}: another text if VMCOREINFO does not name kallsyms")
    context.say("without kallsyms in VMCOREINFO: the same names")

    if not _spoil(path, copy, b"SYMBOL(kallsyms_names)=ffff", b"SYMBOL(kallsyms_names)=0000"):
        raise Failure("VMCOREINFO has no names of symbols")
    plain = _rows(context, copy, ("calls",))
    if any(row.get("from_sym") for row in plain):
        raise Failure("a dump whose symbol table is nowhere has names")
    one, other = _counts(calls), _counts(plain)
    context.say(f"calls with names: {one}; without any: {other}")
    if "astray" in other or one["thread"] != other["thread"]:
        raise Failure("another structure without any names")
    copy.unlink()
    if not context.options.keep:
        path.unlink()

# SPDX-License-Identifier: GPL-2.0-or-later
"""The same bug has the same name on two machines, and another bug another one.

Three boots: two panic by the same system call, each with the kernel somewhere else (KASLR),
the third dereferences NULL in a module. Signatures of the first two are equal, that of the
third is another; the small file of a dump has that of the dump; the hash is what
btsrec-summary(1) says. "btsrec diff" finds no difference between a dump and its small file, and
finds one between the two boots, with a common path that ends in the fault, and between different
bugs. With no names but those of System.map the first two have the same signature and verdict. So
has a boot in which BPF programs are attached to what panics.
"""

import json

import dump
import systemmap
import workload
from errors import Failure

SUMMARY = "two boots of one bug have one signature; btsrec diff says where they part"

SCRIPT = workload.SHELL + workload.ATTACH + """
start_work
hurry
sleep 1
%s
"""
# A thread that crashes may be preempted on the way, and the way must still be there then.
RING = "ring_bytes=8M"
SYSRQ = "echo c >/proc/sysrq-trigger"
HOOKED = "attach fexit sysrq_handle_crash __handle_sysrq vfs_write\n" + SYSRQ
NULL = """echo 1 >/proc/sys/kernel/panic_on_oops
echo null >/sys/module/btscrash/parameters/crash"""


def _crash(context, name: str, trigger: str):
    path = context.out / f"dump-{name}"
    path.unlink(missing_ok=True)
    modules = [*context.recorder_modules(RING), context.guest_module("btscrash")]
    files = [("bin/bpfhook", context.guest_program("bpfhook.c"))]
    with context.boot(SCRIPT % trigger, modules, name=f"boot-{name}", files=files) as machine:
        machine.dump_at_panic(context.seconds(120), path)
    return path


def _fnv(lines) -> str:
    value = 0xcbf29ce484222325
    for byte in "".join(line + "\n" for line in lines).encode():
        value = (value ^ byte) * 0x100000001b3 & (1 << 64) - 1
    return f"v2:{value:016x}"


def _summary(context, path, *options: str) -> dict[str, dict]:
    """The first line of each kind."""
    lines = dump.btsrec(context, "summary", "--format", "jsonl", *options, path).splitlines()
    return {row["kind"]: row for row in reversed([json.loads(line) for line in lines])}


def _same_by_map(context, path, system_map):
    """The whole path is the kernel's own, so that System.map has all of its names."""
    named, mapped = (_summary(context, path, *options) for options in
                     ((), ("--no-names", "--system-map", str(system_map))))
    for kind in ("signature", "verdict"):
        if kind not in named or named[kind] != mapped.get(kind):
            raise Failure(f"{kind}: {named.get(kind)}, by System.map {mapped.get(kind)}")


def _same_hooked(context, path, hooked):
    """The verdict but for the CPU, which is chance."""
    texts = {_summary(context, one)["verdict"]["text"].split("; on CPU ")[0]
             for one in (path, hooked)}
    if len(texts) != 1:
        raise Failure(f"with BPF programs on the way another verdict: {texts}")


def _signature(context, path, *kind: str) -> str:
    """That of the summary, which must be the hash of what it says that it is made of."""
    row = _summary(context, path).get("signature", {})
    if "signature" not in row:
        raise Failure(f"{path} has no signature: {row}")
    if not row["complete"]:
        raise Failure(f"the path into the fault is cut off: {row}")
    printed = _fnv(["v2", row["reason"], *kind, *row["functions"]])
    if printed != row["signature"]:
        raise Failure(f"{row} is not hashed as documented: {printed}")
    return row["signature"]


def _kernel_kva(context, path) -> str:
    for line in dump.btsrec(context, "show", "--format", "jsonl", path).splitlines():
        row = json.loads(line)
        if row.get("from_sym", "").startswith("sysrq_handle_crash+"):
            return row["from"]
    raise Failure(f"{path} has no branch in sysrq_handle_crash()")


def _diff(context, one, other, status: int) -> dict:
    text = dump.btsrec(context, "diff", "--format", "jsonl", one, other, ok=(status,))
    rows = [json.loads(line) for line in text.splitlines()]
    if rows[0]["differs"] != bool(status):
        raise Failure(f"btsrec diff says {rows[0]} and exits with {status}")
    if len([row for row in rows if row["kind"] == "same"]) != rows[0]["same"]:
        raise Failure("btsrec diff does not list as many calls as it counts")
    return {**rows[0], "same": [row["function"] for row in rows if row["kind"] == "same"]}


def run(context):
    first, second, hooked, other = (
        _crash(context, name, trigger) for name, trigger in
        (("first", SYSRQ), ("second", SYSRQ), ("hooked", HOOKED), ("other", NULL)))
    system_map = systemmap.path(context)
    small = context.out / "small"
    small.unlink(missing_ok=True)
    dump.btsrec(context, "extract", first, small)
    if _kernel_kva(context, first) == _kernel_kva(context, second):
        raise Failure("the kernel was at the same address twice")
    names = {_signature(context, path, "call") for path in (first, second, hooked, small)}
    if len(names) != 1:
        raise Failure(f"one bug has the signatures {names}")
    for path in (first, second):
        _same_by_map(context, path, system_map)
    _same_hooked(context, first, hooked)
    different = _signature(context, other, "exception", "14")
    if different in names:
        raise Failure(f"different bugs are both {different}")
    context.say(f"two boots, one with hooks, and a small file: {names.pop()}; another bug: {different}")

    _diff(context, first, small, 0)
    parted = _diff(context, first, second, 1)
    if not parted["same"] or parted["same"][-2:] != ["sysrq_handle_crash", "__rcu_read_unlock"]:
        raise Failure(f"the common path does not lead to the fault: {parted['same'][-5:]}")
    unlike = _diff(context, first, other, 1)
    context.say(f"diff: {len(parted['same'])} calls up to the fault are the same in two "
                f"boots, {len(unlike['same'])} in two bugs")
    for path in (first, second, hooked, other, small):
        path.unlink()

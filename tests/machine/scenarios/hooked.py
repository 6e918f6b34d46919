# SPDX-License-Identifier: GPL-2.0-or-later
"""One bug has one name, whatever the kernel has hooked on its way.

A bug of the module btshooked, with each way in which the kernel itself changes where code goes on:
tracers, probes of entries, of calls and within functions, return probes, a live patch, BPF
programs, direct trampolines, injected errors, probes of user code, static keys and calls. So are
page table isolation and thunks of calls that count how deep they are.

Of each boot the signature and the verdict are those of the boot without any, and of all kernels the
signature is one. No return is told as changed, and "prove" finds no pair of branches impossible.
With the names of System.map alone all have one signature and one verdict, too.
"""

import json
import re
import subprocess
from dataclasses import dataclass, field

import dump
import systemmap
import workload
from errors import Failure

SUMMARY = "one bug has one name with each tracer, probe and patch on its way"

KERNEL = "0xffff800000000000"
# Of this bug on each kernel, as docs/evidence/kernels-and-crashes.md has it.
SIGNATURE = "v2:4b6410d42b6d15a8"
RETBLEED = "/sys/devices/system/cpu/vulnerabilities/retbleed"
# By name of a hook, the kernels that do not have it.
MISSING = {"call depth": ("5.10", "6.1")}   # CONFIG_CALL_DEPTH_TRACKING, v6.2
MODULE = "btshooked"
PATH = "hooked_root hooked_middle hooked_before hooked_last"
SCRIPT = workload.SHELL + workload.ATTACH + """
mount -t tracefs none /sys/kernel/tracing 2>/dev/null
cd /sys/kernel/tracing
probe() {
	for event; do echo "$event" >>kprobe_events || exit 1; done
	echo 1 >events/kprobes/enable
}
# Behind what the function begins with: ftrace's place, maybe after an ENDBR.
within() {
	for at in 5 9; do echo "p:$1 $2+$at" >>kprobe_events && return; done
	exit 1
}
echo 1 >/proc/sys/kernel/panic_on_oops
%s
start_work
sleep 1
%s
"""
RUN = "/sys/module/btshooked/parameters/run"


@dataclass
class Hook:
    """A way to change where code goes on.

    @setup: what the guest does before the bug.  @runs: a function that runs because of it.
    @append: what the kernel is told at its start.  @trigger: what makes the bug.
    @files: what the guest has beside, as (name, content).
    """

    setup: str = ""
    runs: str = ""
    append: str = "nopti"
    trigger: str = f"echo 1 >{RUN}"
    files: list[tuple[str, bytes]] = field(default_factory=list)


# One pattern: the emulated machine takes seconds to compare one with all functions.
def _tracer(name: str) -> str:
    return f"echo 'hooked_*' >set_ftrace_filter\necho {name} >current_tracer || exit 1"


def _probe(*events: str) -> str:
    return "probe " + " ".join(f"'{event}'" for event in events)


def _offsets(module, function: str, what: str) -> list[int]:
    """How far instructions of FUNCTION in the file MODULE are behind its begin, but for hooks."""
    text = subprocess.run(["objdump", "-d", "-r", f"--disassemble={function}", module], text=True,
                          capture_output=True, check=True).stdout
    start = int(re.search(rf"^([0-9a-f]+) <{function}>:", text, re.M)[1], 16)
    found = re.findall(rf"^\s*([0-9a-f]+):\t[0-9a-f ]+\t{what}.*(?:\n.*R_X86_64_\w+\s+(\S+))?",
                       text, re.M)
    return [int(at, 16) - start for at, name in found if not name.startswith("__fentry__")]


def _user_probes(context) -> Hook:
    """Probes of the process that makes the bug: two returns to its functions are replaced."""
    program = context.guest_program("hit.c")
    text = subprocess.run(["nm", context.out / "hit"], text=True, capture_output=True,
                          check=True).stdout
    # A static program that is not moved has its file at one address.
    places = {name: int(kva, 16) - 0x400000
              for kva, name in re.findall(r"^([0-9a-f]+) T hit_(\w+)$", text, re.M)}
    events = [*(f"p:u{name} /bin/hit:{at:#x}" for name, at in places.items()),
              *(f"r:r{name} /bin/hit:{places[name]:#x}" for name in ("root", "write", "leaf"))]
    lines = [f"echo '{event}' >>uprobe_events || exit 1" for event in events]
    return Hook("\n".join([*lines, "echo 1 >events/uprobes/enable"]),
                "prepare_uretprobe|handle_swbp|uprobe_notify_resume", trigger=f"hit {RUN}",
                files=[("bin/hit", program)])


def _kernel_probes(context) -> dict[str, Hook]:
    module = context.guest_module(MODULE)
    names = list(enumerate(PATH.split()))
    calls = _offsets(module, "hooked_middle", "call")
    fault = _offsets(module, "hooked_last", r"movq +\$0x1,\(")[0]
    return {
        "kprobe of entries": Hook(_probe(*(f"p:e{i} {MODULE}:{name}" for i, name in names)),
                                  "kprobe_ftrace_handler"),
        "kprobe of calls": Hook(_probe(*(f"p:c{at} {MODULE}:hooked_middle+{at}" for at in calls)),
                                "kprobe_int3_handler"),
        "kprobe within": Hook(f"within w1 {MODULE}:hooked_last\nwithin w2 vfs_write\nprobe",
                              "optimized_callback|kprobe_int3_handler"),
        "kprobe at the fault": Hook(_probe(f"p:f1 {MODULE}:hooked_last+{fault}"),
                                    "optimized_callback|kprobe_int3_handler"),
        "kprobe at the fault by INT3": Hook(
            "echo 0 >/proc/sys/debug/kprobes-optimization || exit 1\n"
            + _probe(f"p:f1 {MODULE}:hooked_last+{fault}"), "kprobe_int3_handler"),
        "kretprobe": Hook(_probe("r:r1 vfs_write",
                                 *(f"r:h{i} {MODULE}:{name}" for i, name in names)),
                          "rethook_hook|arch_rethook_prepare|pre_handler_kretprobe"),
    }


def _detours(context) -> dict[str, Hook]:
    """Trampolines that go to other code than the one that is traced."""
    bpf = [("bin/bpfhook", context.guest_program("bpfhook.c"))]
    detour = [("btsdetour.ko", context.guest_module("btsdetour").read_bytes())]
    patch = [("btspatch.ko", context.guest_module("btspatch").read_bytes())]
    entered = "__bpf_prog_enter\\w*"
    writing = "vfs_write kernfs_fop_write_iter"
    return {
        "live patch": Hook("insmod /btspatch.ko || exit 1\nsleep 2", "patched_before",
                           files=patch),
        "fentry": Hook(f"attach fentry {writing}", entered, files=bpf),
        "fexit": Hook(f"attach fexit {writing}", entered, files=bpf),
        "fmod_ret": Hook("attach fmod_ret security_file_permission", entered, files=bpf),
        "direct": Hook("insmod /btsdetour.ko how=direct || exit 1", "detour_effect",
                       files=detour),
        "direct and traced": Hook(
            f"insmod /btsdetour.ko how=direct || exit 1\nattach fexit {writing}\n"
            f"{_tracer('function_graph')}\necho {writing} >>set_ftrace_filter",
            "detour_effect", files=[*detour, *bpf]),
        "injected error": Hook("insmod /btsdetour.ko how=inject || exit 1", "inject",
                               files=detour),
    }


def hooks(context) -> dict[str, Hook]:
    """By name what the kernel can do to the way of the bug, without what it does not have."""
    tracepoints = "echo 1 >events/exceptions/enable\necho 1 >events/raw_syscalls/enable"
    rows = {
        "none": Hook(),
        "function": Hook(_tracer("function"), "function_trace_call"),
        "function_graph": Hook(_tracer("function_graph"), "function_graph_enter(_regs)?"),
        **_kernel_probes(context),
        **_detours(context),
        "user probes": _user_probes(context),
        "static keys": Hook(tracepoints, "trace_event_raw_event_(x86_)?exceptions"),
        "static calls": Hook("dmesg | grep -q 'Dynamic Preempt: full' || exit 1",
                             append="nopti preempt=full"),
        "isolation": Hook(append="pti=on"),
        "call depth": Hook(f"grep -q Stuffing {RETBLEED} || exit 1",
                           append="nopti spectre_v2=retpoline retbleed=stuff"),
    }
    return {name: row for name, row in rows.items()
            if context.options.kernel not in MISSING.get(name, ())}


def add_options(parser):
    parser.add_argument("--hooks", nargs="+", metavar="NAME", help="these only, and none")
    parser.add_argument("--keep", action="store_true", help="keep the dumps")


def _crash(context, name: str, hook: Hook):
    path = context.out / f"dump-{name.replace(' ', '-')}"
    path.unlink(missing_ok=True)
    modules = [*context.recorder_modules("ring_bytes=16M"), context.guest_module(MODULE)]
    with context.boot(SCRIPT % (hook.setup, hook.trigger), modules, files=hook.files,
                      name=path.name.replace("dump", "boot"), append=hook.append) as machine:
        machine.dump_at_panic(context.seconds(240), path)
    return path


def _rows(context, path, *view: str) -> list[dict]:
    text = dump.btsrec(context, *view, "--format", "jsonl", path)
    return [json.loads(line) for line in text.splitlines()]


def _runs(context, name: str, path, function: str):
    """The hook is one that the history shows at work."""
    found = {row["function"].split(" ")[0] for row in _rows(context, path, "functions")
             if row["kind"] == "function" and row.get("function")}
    if function and not any(re.fullmatch(function, one) for one in found):
        raise Failure(f"{name}: no {function} among {len(found)} functions that ran")


def _first(context, path, *options: str) -> tuple[dict, str]:
    """The signature of a summary, and its verdict without what is chance."""
    rows = {row["kind"]: row for row in reversed(_rows(context, path, "summary", *options))}
    # Which CPU it was, and whether the handler was moved, is chance.
    text = rows.get("verdict", {}).get("text", "none").split("; on CPU ")[0]
    return rows.get("signature", {}), text


def _by_map(context, path, system_map) -> tuple:
    """With the kernel's functions alone: those of modules are not in System.map."""
    signature, text = _first(context, path, "--no-names", "--system-map", str(system_map))
    if "signature" not in signature:
        raise Failure(f"no signature by System.map: {signature}")
    return signature["signature"], re.sub("0x[0-9a-f]{9,}", "ADDRESS", text)


def _astray(context, path) -> list[dict]:
    """Returns told as changed, of the kernel and of the program that is probed.

    Others may change their own: longjmp(), coroutines.
    """
    found, of_cpu = [], {}
    for row in _rows(context, path, "calls"):
        of_cpu[row["cpu"]] = row.get("comm", of_cpu.get(row["cpu"]))
        if row["kind"] == "astray" and (row["from"] >= KERNEL or of_cpu[row["cpu"]] == "hit"):
            found.append(row)
    return found


def _told(context, name: str, path, system_map) -> tuple:
    """Of a crash the signatures and the verdict; what is in doubt is a failure."""
    signature, text = _first(context, path)
    if not signature.get("complete") or signature.get("signature") != SIGNATURE:
        raise Failure(f"{name}: not the whole signature {SIGNATURE}: {signature}")
    astray = _astray(context, path)
    if astray:
        raise Failure(f"{name}: {len(astray)} returns that nobody changed, first: {astray[0]}")
    dump.btsrec(context, "prove", path)     # fails if a pair is impossible
    return signature["signature"], text, _by_map(context, path, system_map)


def run(context):
    rows = hooks(context)
    wanted = context.options.hooks or [name for name in rows if name != "none"]
    unknown = [name for name in wanted if name not in rows]
    if unknown:
        raise Failure(f"no hooks {unknown}; there are {list(rows)}")
    faults, base, system_map = [], None, systemmap.path(context)
    for name in ["none", *wanted]:
        try:
            path = _crash(context, name, rows[name])
            _runs(context, name, path, rows[name].runs)
            told = _told(context, name, path, system_map)
        except Failure as failure:
            faults.append(str(failure))
            context.say(f"FAULT {failure}")
            continue
        base = base or told
        context.say(f"{name}: {told[0]}, {told[1]}; by System.map {told[2]}")
        if told != base:
            faults.append(f"{name}: {told}, but without hooks {base}")
        if not context.options.keep and told == base:
            path.unlink()
    if faults:
        raise Failure("\n".join(faults))

# SPDX-License-Identifier: GPL-2.0-or-later
"""One bug has one name, whatever the kernel has hooked on its way.

A bug of the module btshooked, with each way in which the kernel itself changes where code goes on:
tracers, probes of entries, of calls and within functions, return probes, a live patch. So are page
table isolation and thunks of calls that count how deep they are. Of each boot the signature and the
verdict are those of the boot without any; no return is told as changed, no frame of the thread that
failed is in doubt, and "prove" finds no pair of branches impossible. With the names of System.map alone all have one signature, too.
"""

import json
import re
import subprocess

import dump
import workload
from errors import Failure

# By name of a hook, what the kernel is told at its start.
APPEND = {
    "isolation": "pti=on",
    "call depth": "nopti spectre_v2=retpoline retbleed=stuff",
}
RETBLEED = "/sys/devices/system/cpu/vulnerabilities/retbleed"
# Kernels that cannot count how deep calls are (CONFIG_CALL_DEPTH_TRACKING, v6.2).
NO_CALL_DEPTH = ("5.10", "6.1")

SUMMARY = "one bug has one name with each tracer, probe and patch on its way"

KERNEL = "0xffff800000000000"
MODULE = "btshooked"
PATH = "hooked_root hooked_middle hooked_before hooked_last"
SCRIPT = workload.SHELL + """
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
echo 1 >/sys/module/btshooked/parameters/run
"""


# One pattern: the emulated machine takes seconds to compare one with all functions.
def _tracer(name: str) -> str:
    return f"echo 'hooked_*' >set_ftrace_filter\necho {name} >current_tracer || exit 1"


def _probe(*events: str) -> str:
    return "probe " + " ".join(f"'{event}'" for event in events)


def _calls(module, function: str) -> list[int]:
    """How far the calls of FUNCTION in the file MODULE are behind its begin, but for hooks."""
    text = subprocess.run(["objdump", "-dr", f"--disassemble={function}", module], text=True,
                          capture_output=True, check=True).stdout
    start = int(re.search(rf"^([0-9a-f]+) <{function}>:", text, re.M)[1], 16)
    found = re.findall(r"^\s*([0-9a-f]+):\t[0-9a-f ]+\tcall.*\n.*R_X86_64_\w+\s+(\S+)", text, re.M)
    local = re.findall(r"^\s*([0-9a-f]+):\t[0-9a-f ]+\tcall\s+[0-9a-f]+ <(hooked\w+)", text, re.M)
    return sorted({int(at, 16) - start for at, name in [*found, *local]
                   if not name.startswith("__fentry__")})


def hooks(context) -> dict[str, tuple[str, str]]:
    """By name what the guest does before the bug, and a function that runs because of it."""
    module = context.guest_module(MODULE)
    names = list(enumerate(PATH.split()))
    calls = _calls(module, "hooked_middle")
    rows = {
        "none": ("", ""),
        "function": (_tracer("function"), "function_trace_call"),
        "function_graph": (_tracer("function_graph"), "function_graph_enter(_regs)?"),
        "kprobe of entries": (_probe(*(f"p:e{i} {MODULE}:{name}" for i, name in names)),
                              "kprobe_ftrace_handler"),
        "kprobe of calls": (_probe(*(f"p:c{at} {MODULE}:hooked_middle+{at}" for at in calls)),
                            "kprobe_int3_handler"),
        "kprobe within": (f"within w1 {MODULE}:hooked_last\nwithin w2 vfs_write\nprobe",
                          "optimized_callback|kprobe_int3_handler"),
        "kretprobe": (_probe("r:r1 vfs_write", *(f"r:h{i} {MODULE}:{name}" for i, name in names)),
                      "rethook_hook|arch_rethook_prepare|pre_handler_kretprobe"),
        "isolation": ("", ""),
        "live patch": ("insmod /btspatch.ko || exit 1\nsleep 2", "patched_before"),
        "call depth": (f"grep -q Stuffing {RETBLEED} || exit 1", ""),
    }
    if context.options.kernel in NO_CALL_DEPTH:
        del rows["call depth"]
    return rows


def add_options(parser):
    parser.add_argument("--hooks", nargs="+", metavar="NAME", help="these only, and none")
    parser.add_argument("--keep", action="store_true", help="keep the dumps")


def _crash(context, name: str, setup: str):
    path = context.out / f"dump-{name.replace(' ', '-')}"
    path.unlink(missing_ok=True)
    modules = [*context.recorder_modules("ring_bytes=16M"), context.guest_module(MODULE)]
    files = []
    if name == "live patch":
        files = [("/btspatch.ko", context.guest_module("btspatch").read_bytes())]
    with context.boot(SCRIPT % setup, modules, name=path.name.replace("dump", "boot"),
                      files=files, append=APPEND.get(name, "nopti")) as machine:
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


def _signature_by_map(context, path) -> str | None:
    """By the kernel's functions alone: those of modules are not in System.map."""
    if not context.os.system_map.exists():
        return None
    rows = _rows(context, path, "summary", "--no-names", "--system-map",
                 str(context.os.system_map))
    return next((row.get("signature") for row in rows if row["kind"] == "signature"), None)


def _told(context, name: str, path) -> tuple:
    """Of a crash the signatures and the verdict; what is in doubt is a failure."""
    summary = _rows(context, path, "summary")
    signature = next((row for row in summary if row["kind"] == "signature"), {})
    verdict = next((row for row in summary if row["kind"] == "verdict"), {})
    if "signature" not in signature or not signature.get("complete"):
        raise Failure(f"{name}: no whole signature: {signature}")
    # A program may change its own: longjmp(), coroutines.
    astray = [row for row in _rows(context, path, "calls")
              if row["kind"] == "astray" and row["from"] >= KERNEL]
    if astray:
        raise Failure(f"{name}: {len(astray)} returns that nobody changed, first: {astray[0]}")
    dump.btsrec(context, "prove", path)     # fails if a pair is impossible
    # Which CPU it was, and whether the handler was moved, is chance.
    text = verdict.get("text", "none").split("; on CPU ")[0]
    return signature["signature"], text, _signature_by_map(context, path)


def run(context):
    setups = hooks(context)
    wanted = context.options.hooks or [name for name in setups if name != "none"]
    unknown = [name for name in wanted if name not in setups]
    if unknown:
        raise Failure(f"no hooks {unknown}; there are {list(setups)}")
    faults, base = [], None
    for name in ["none", *wanted]:
        setup, function = setups[name]
        try:
            path = _crash(context, name, setup)
            _runs(context, name, path, function)
            told = _told(context, name, path)
        except Failure as failure:
            faults.append(str(failure))
            context.say(f"FAULT {failure}")
            continue
        base = base or told
        context.say(f"{name}: {told[0]}, {told[1]}")
        if told != base:
            faults.append(f"{name}: {told}, but without hooks {base}")
        if not context.options.keep and told == base:
            path.unlink()
    if faults:
        raise Failure("\n".join(faults))

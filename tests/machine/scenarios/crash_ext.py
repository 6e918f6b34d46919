# SPDX-License-Identifier: GPL-2.0-or-later
"""A panicked guest's dump, and the crash command "bts" on it: tests/crash-ext/check.py."""

import json
import os
import shutil
import subprocess
import sys

import dump
import workload
from context import SOURCE
from errors import Failure, Skip

ANALYSIS = ("summary.txt", "timeline.txt", "stacks.txt", "cpu0.calls.txt", "cpu1.branches.txt",
            "events.jsonl", "report.html", "perf.data", "trace.json", "stacks.folded", "check.txt")
SUMMARY = "the crash command bts: same text as btsrec, Ctrl-C, pager, manners"

SCRIPT = workload.SHELL + """
start_work
sleep 2
echo c >/proc/sysrq-trigger
"""


def add_options(parser):
    parser.add_argument("--dump", metavar="FILE", help="check on this dump of a guest with recorder")


def _dump(context, name, modules, memory=None, **config):
    """A dump of a panicked guest; its plain MEMORY goes into that file, too."""
    path = context.out / name
    path.unlink(missing_ok=True)
    with context.boot(SCRIPT, modules, name=f"boot-{name}", **config) as machine:
        machine.expect_panic(context.seconds(120))
        machine.dump(path)
        if memory:
            machine.qmp("pmemsave", val=0, size=context.options.memory << 20,
                        filename=str(memory))
        machine.quit()
    return path


def _analyze(context, path):
    """btsrec-analyze --crash: every file is there, and crash says what btsrec says."""
    folder = context.out / "analysis"
    shutil.rmtree(folder, ignore_errors=True)
    environment = dict(os.environ, PATH=f"{context.btsrec.parent}:{os.environ['PATH']}",
                       CRASH_EXTENSIONS=str(context.crash_extension.parent))
    done = subprocess.run([SOURCE / "systemd/btsrec-analyze", "--into", folder, "--crash",
                           "--vmlinux", context.os.vmlinux, path], env=environment,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Failure(f"btsrec-analyze: exit {done.returncode}\n{done.stderr[-2000:]}"
                      + (folder / "unresolved.txt").read_text()[-2000:])
    missing = [name for name in ANALYSIS if not (folder / name).stat().st_size]
    if missing:
        raise Failure(f"btsrec-analyze made nothing of {', '.join(missing)}")
    fault = next(line for line in (folder / "summary.txt").read_text().splitlines()
                 if line.startswith("signature:"))
    if fault not in (folder / "crash.txt").read_text():
        raise Failure(f'crash.txt of btsrec-analyze does not have "{fault}"')
    shutil.rmtree(folder)


def _check_log(context, path, said: str):
    """The kernel's log is that of crash's "log", from its first line on, and in order of time.

    @said: what that prints.
    """
    lines = [json.loads(line) for line in dump.btsrec(
        context, "timeline", "--format", "jsonl", str(path)).splitlines()
             if '"kind":"log"' in line]
    ours = [f"[{line['ts_ns'] // 10**9:5}.{line['ts_ns'] % 10**9 // 1000:06}] {line['text']}"
            for line in lines]
    theirs = [line.rstrip() for line in said.splitlines()
              if line.startswith("[")]
    # CPUs that print at once write lines in another order than that of their times.
    if not ours or sorted(line.rstrip() for line in ours) != sorted(theirs[-len(ours):]):
        raise Failure(f"the kernel's log: {ours[-3:]}, crash has {theirs[-3:]}")
    times = [line["tsc"] for line in lines]
    if any(later < earlier for earlier, later in zip(times, times[1:])):
        raise Failure(f"the kernel's log goes back in time: {times}")
    context.say(f"{len(ours)} of {len(theirs)} lines of the kernel's log are those of crash")


def run(context):
    if not shutil.which("crash"):
        raise Skip("crash is not installed")
    path = context.options.dump or _dump(context, "dump", context.recorder_modules())
    live = context.out / "memory"
    log = context.out / "log"
    without = _dump(context, "without", [context.os.module("qemu_fw_cfg")], live, kaslr=False)
    done = subprocess.run([sys.executable, "-B", SOURCE / "tests/crash-ext/check.py", "--time",
                           "--dump", path, "--without", without, "--vmlinux", context.os.vmlinux,
                           "--extension", context.crash_extension, "--btsrec", context.btsrec,
                           "--live", live, "--log", log],
                          stdin=subprocess.DEVNULL, check=False)
    live.unlink()
    if done.returncode:
        raise Failure(f"check.py: exit {done.returncode}")
    _check_log(context, path, log.read_text(errors="replace"))
    _analyze(context, path)
    context.say("btsrec-analyze --crash makes all its files")

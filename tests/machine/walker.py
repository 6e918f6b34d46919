# SPDX-License-Identifier: GPL-2.0-or-later
"""A dump in which one CPU was busy with a user program of ours, and another panicked."""

import subprocess
from pathlib import Path

from errors import Failure

CPU = 0
SCRIPT = """
taskset 1 /walker &
echo "walker has pid $!"
sleep 1
taskset 2 sh -c 'cat /proc/self/maps /proc/interrupts >/dev/null; echo c >/proc/sysrq-trigger'
"""
SOURCE = Path(__file__).parent / "guest/walker.c"


def _build(context) -> Path:
    program = context.out / "walker"
    done = subprocess.run(["gcc", "-static", "-O1", "-g", "-fno-optimize-sibling-calls",
                           "-o", program, SOURCE], capture_output=True, text=True, check=False)
    if done.returncode:
        raise Failure(f"walker.c does not compile: {done.stderr}")
    return program


def make_dump(context, ring_bytes: str) -> tuple[Path, Path]:
    """The dump and the program with its symbols."""
    program = _build(context)
    path = context.out / "dump"
    path.unlink(missing_ok=True)
    with context.boot(SCRIPT, context.recorder_modules(f"ring_bytes={ring_bytes}"),
                      files=[("walker", program.read_bytes())]) as machine:
        machine.expect_panic(context.seconds(120))
        machine.dump(path)
        machine.quit()
    return path, program

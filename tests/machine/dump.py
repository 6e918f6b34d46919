# SPDX-License-Identifier: GPL-2.0-or-later
"""Reading dumps with the tools under test and with crash."""

import json
import os
import shutil
import struct
import subprocess
import tempfile
from pathlib import Path

from errors import Failure, Skip

ELF_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")


def _run(command, seconds, stdin="", **more) -> subprocess.CompletedProcess:
    try:
        return subprocess.run([str(word) for word in command], input=stdin, text=True,
                              errors="replace", capture_output=True, timeout=seconds,
                              check=False, **more)
    except subprocess.TimeoutExpired as error:
        raise Failure(f"{' '.join(map(str, command))}: no end after {seconds} s") from error


def btsrec(context, *arguments, ok=(0,)) -> str:
    """The output of the btsrec command; a Failure if its exit code is not in OK."""
    done = _run([context.btsrec, *arguments], context.seconds(300))
    if done.returncode not in ok:
        raise Failure(f"btsrec {' '.join(map(str, arguments))}: exit {done.returncode}\n"
                      f"{done.stderr[-2000:]}{done.stdout[-2000:]}")
    return done.stdout


def _by_cpu(lines) -> tuple[dict[int, list[dict]], dict[int, dict]]:
    """Events by CPU, and where the fault is said to lie, of LINES of JSON."""
    found: dict[int, list[dict]] = {}
    faults: dict[int, dict] = {}
    for line in lines:
        event = json.loads(line)
        if event["kind"] == "fault":
            faults[event["cpu"]] = event
        else:
            found.setdefault(event["cpu"], []).append(event)
    return found, faults


def history(context, path: Path, *options: str,
            ok=(0,)) -> tuple[dict[int, list[dict]], dict[int, dict]]:
    """The whole history in PATH by CPU, as "btsrec show --format jsonl" gives it: the
    events, and where the fault is said to lie."""
    text = btsrec(context, "show", "--format", "jsonl", *options, path, ok=ok)
    found, faults = _by_cpu(text.splitlines())
    for cpu, events_of_cpu in found.items():
        if [event["n"] for event in events_of_cpu] != list(range(len(events_of_cpu))):
            raise Failure(f"{path}: the events of CPU {cpu} are not numbered 0, 1, 2, …")
    return found, faults


def stops(context, path: Path) -> tuple[dict[int, list[dict]], dict[int, dict]]:
    """As history(), without branches: line by line, so that a ring may have millions of them."""
    command = [context.btsrec, "show", "--format", "jsonl", path]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, errors="replace") as shows:
        answer = _by_cpu(line for line in shows.stdout if '"kind":"branch"' not in line)
    if shows.returncode:
        raise Failure(f"btsrec show {path}: exit {shows.returncode}")
    return answer


def events(context, path: Path, *options: str, ok=(0,)) -> dict[int, list[dict]]:
    """The events of history()."""
    return history(context, path, *options, ok=ok)[0]


def crash_lacks(context) -> str:
    """What crash() needs and is not there, for a sentence; empty: nothing."""
    if not shutil.which("crash"):
        return "crash is not installed"
    if not context.os.vmlinux.is_file():
        return f"there is no vmlinux of {context.os.release} with debug information"
    return ""


def crash(context, path: Path, *commands: str, extension=True) -> str:
    """What crash prints for COMMANDS on the dump PATH; a Skip if it cannot be asked."""
    lacks = crash_lacks(context)
    if lacks:
        raise Skip(lacks)
    lines = [f"extend {context.crash_extension}"] if extension else []
    with tempfile.TemporaryDirectory() as home:
        done = _run(["crash", "-s", context.os.vmlinux, path], context.seconds(300),
                    stdin="\n".join([*lines, *commands, "quit", ""]), cwd=home,
                    env={**os.environ, "HOME": home, "TERM": "dumb"})
    if done.returncode:
        raise Failure(f"crash {path}: exit {done.returncode}\n{done.stdout[-3000:]}"
                      f"{done.stderr[-3000:]}")
    return done.stdout


def for_makedumpfile(path: Path):
    """QEMU writes the section headers first; makedumpfile wants the program headers there."""
    path.chmod(0o600)
    with open(path, "r+b") as file:
        header = bytearray(file.read(ELF_HEADER.size))
        fields = list(ELF_HEADER.unpack(header))
        file.seek(fields[5])
        programs = file.read(fields[9] * fields[10])
        fields[5:7] = ELF_HEADER.size, 0
        fields[12:14] = 0, 0
        file.seek(0)
        file.write(ELF_HEADER.pack(*fields) + programs)

#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Every allocation of a process fails in turn, and every read of a file from each one on.

    tests/faults/process.py --btsrec PROGRAM --mkimage PROGRAM --preload LIBRARY [--every N]

Those of the libraries are included. Each command gets one failure at a run: at every Nth place.
Then its answer is whole and its exit status 0, or it fails with a message. The message takes no
medium that fails for a file that is cut off. A crash or a short answer of a library's making is no
failure here if it is in KNOWN, and is counted.
"""

import argparse
import collections
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import typing

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "golden"))

from golden import Case  # noqa: E402

CASE = pathlib.Path(__file__).resolve().parents[1] / "golden/lines-found.in"
TIMEOUT_S = 600
COMMANDS = (
    "show --vmlinux vmlinux --lines dump",
    "insns --vmlinux vmlinux --source --source-dir . -n 8 dump",
    "calls --vmlinux vmlinux --format jsonl dump",
    "summary --vmlinux vmlinux dump",
    "export --to perf dump -",
    "report dump -",
    "extract dump -",
    "info dump",
    # libkdumpfile opens this one.
    "show elf",
    "info elf",
)
# Of each kind of file one, for the medium that fails.
READS = ("info dump", "show dump", "show --threads 3 dump", "show flat", "show flat-elf",
         "show part0 part1", "show small", "show elf")
# What a library does wrong when memory runs out: (file that crashed or made the refused request,
# what was seen).
KNOWN = {
    # elfutils 0.188: dwarf_getaranges() and what it calls use what they got without a look.
    ("libdw.so.1", "crash, signal 11"),
}


def run(options, words, variable, nth):
    """(exit status, output, error output, what the library says)"""
    read_fd, write_fd = os.pipe()
    environment = dict(os.environ, LD_PRELOAD=options.preload, NTHALLOC_FD=str(write_fd),
                       DEBUGINFOD_URLS="")
    environment[variable] = str(nth)
    done = subprocess.run([options.btsrec, *words], capture_output=True, pass_fds=[write_fd],
                          env=environment, check=False, timeout=TIMEOUT_S,
                          stdin=subprocess.DEVNULL)
    os.close(write_fd)
    with os.fdopen(read_fd) as log:
        said = dict(line.split(" ", 1) for line in log.read().splitlines())
    return done.returncode, done.stdout, done.stderr, said


def judge(whole, status, output, errors, said):
    """What is wrong, and in which file; None: nothing"""
    if "crashed" in said or status < 0:
        return said.get("crashed", "?"), f"crash, signal {-status}"
    if status == 0 and output != whole:
        return said["failed"], "a short answer that looks whole"
    if status != 0 and not errors.strip():
        return said["failed"], f"exit status {status} without a message"
    return None


def judge_medium(whole, status, output, errors, said):
    """The same; besides, no message may take it for a file that is cut off."""
    wrong = judge(whole, status, output, errors, said)
    if not wrong and b"cut off" in errors:
        return said["failed"], errors.decode().strip()
    return wrong


class Fault(typing.NamedTuple):
    """What fails in turn, and what is made of it."""
    name: str
    # The library's: the variable that chooses one, and what it says how many there are by.
    variable: str
    total: str
    # Before what is counted.
    prefix: str
    # A run that does not come to the chosen one is none.
    passed_over: bool
    judge: typing.Callable
    known: set


ALLOCATION = Fault("allocation", "NTHALLOC", "allocations", "", True, judge, KNOWN)
MEDIUM = Fault("read", "NTHALLOC_READ", "reads", "read: ", False, judge_medium, set())


def try_command(options, command, fault, counts):
    words = command.split()
    status, whole, errors, said = run(options, words, fault.variable, 0)
    if status:
        raise SystemExit(f"{command}: {errors.decode()}")
    failures = 0
    for nth in range(1, int(said[fault.total]) + 1, options.every):
        status, output, errors, said = run(options, words, fault.variable, nth)
        if fault.passed_over and "failed" not in said:
            continue
        counts[fault.prefix + ("whole" if status == 0 else "refused")] += 1
        wrong = fault.judge(whole, status, output, errors, said)
        if wrong in fault.known:
            counts[f"{wrong[0]}: {wrong[1]} (known)"] += 1
        elif wrong:
            failures += 1
            print(f"{command}: {fault.name} {nth}, of {said['failed']}: {wrong[0]}: {wrong[1]}")
    return failures


def split(path):
    """Two files of a split dump: the first has all pages, the second those after them."""
    image = bytearray(pathlib.Path(path).read_bytes())
    # split, start_pfn_64, end_pfn_64 and max_mapnr_64 of struct kdump_sub_header, version 6.
    end = struct.unpack_from("<Q", image, 4096 + 96)[0]
    for i, (first, behind) in enumerate(((0, end), (end, end))):
        struct.pack_into("<I", image, 4096 + 12, 1)
        struct.pack_into("<QQ", image, 4096 + 80, first, behind)
        pathlib.Path(f"part{i}").write_bytes(image)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("btsrec", "mkimage", "preload"):
        parser.add_argument(f"--{name}", required=True, type=os.path.abspath)
    parser.add_argument("--every", type=int, default=1, metavar="N")
    options = parser.parse_args()
    case, counts = Case(CASE), collections.Counter()
    flatten = os.path.join(os.path.dirname(options.mkimage), "flatten")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name, text in case.files.items():
            pathlib.Path(name).write_text(text, encoding="utf-8")
        for name, image in (("elf", case.image), ("dump", [*case.image, "format kdump"])):
            subprocess.run([options.mkimage, name], input="\n".join(image), text=True,
                           check=True)
        subprocess.run(["sh", "-c", case.commands[0]], check=True, capture_output=True)
        for name, flattened in (("dump", "flat"), ("elf", "flat-elf")):
            subprocess.run([flatten, name, flattened, "4096"], check=True)
        subprocess.run([options.btsrec, "extract", "dump", "small"], check=True,
                       capture_output=True)
        split("dump")
        failures = sum(try_command(options, command, ALLOCATION, counts)
                       for command in COMMANDS)
        failures += sum(try_command(options, command, MEDIUM, counts) for command in READS)
        os.chdir("/")
    for what, count in sorted(counts.items()):
        print(f"{count:6} {what}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

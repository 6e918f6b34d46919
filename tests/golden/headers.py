#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A dump with a wrong byte in its headers is refused, or answers: nothing dies of it.

usage: headers.py --btsrec PROGRAM --mkimage PROGRAM [--every N]

The headers of an ELF dump and of a compressed one byte by byte, and files that begin as dumps of
other kinds do. Each time btsrec must end soon with an exit status
that it documents.
"""

import argparse
import pathlib
import random
import subprocess
import sys
import tempfile

IMAGE = """root ring=100
cpu 0
arm tsc=1 now=1/1/0x1000/init
fill 50 0xffffffff81000000 0xffffffff81100000 0x10
freeze reason=panic tsc=90
"""
# Whole, incomplete, no recorder, no dump, recorder not valid: see btsrec(1).
EXPECTED_STATUS = (0, 1, 3, 4, 5)
TIMEOUT_S = 600
VALUES = (0x00, 0x01, 0x40, 0xff)
# ELF: its header and three program headers; compressed: of header and sub-header what is used.
PLACES = {"": range(0, 64 + 3 * 56), "format kdump\n": [*range(0, 464), *range(4096, 4224)]}
# Of LKCD in both orders of bytes, s390, DASD, sadump, and what makedumpfile writes.
MAGICS = (b"\x4e\x83\x1a\xa8", b"\xa8\x19\x01\x73\x61\x8f\x23\xed", b"\xed\x23\x8f\x61\x73\x01\x19\xa8",
          b"\xa8\x19\x0e\x44", b"sadu\0\0\0\0", b"KDUMP   ", b"DISKDUMP", b"makedumpfile\0\0\0\0",
          b"PAGEDUMP", b"\x7fELF", b"\x7fELF\x02\x01\x01")


def fault_of(btsrec, dump, *more):
    """What is wrong with how it ends, or None."""
    try:
        done = subprocess.run([btsrec, "info", *more, str(dump)], capture_output=True, check=False,
                              timeout=TIMEOUT_S)
    except subprocess.TimeoutExpired:
        return "does not end"
    if done.returncode not in EXPECTED_STATUS:
        return f"exit status {done.returncode}: {done.stderr[-200:]}"
    if done.returncode and not done.stderr:
        return "is silent"
    return None


def check_format(args, folder, statement):
    dump = folder / "dump"
    subprocess.run([args.mkimage, str(dump)], input=(IMAGE + statement).encode(), check=True)
    data = dump.read_bytes()
    if fault_of(args.btsrec, dump):
        raise SystemExit("the whole dump does not answer")
    for place in PLACES[statement][::args.every]:
        for value in VALUES:
            if data[place] == value:
                continue
            dump.write_bytes(data[:place] + bytes([value]) + data[place + 1:])
            fault = fault_of(args.btsrec, dump, "--scan", "all")
            if fault:
                yield f"{statement.strip() or 'ELF'}, byte {place} {value:#x}: {fault}"


def check_kinds(args, folder):
    dump = folder / "dump"
    noise = random.Random(1)
    for magic in MAGICS:
        for size in range(0, 400, 8 * args.every):
            data = magic + (noise.randbytes(size) if size % 16 else bytes(size))
            dump.write_bytes(data)
            fault = fault_of(args.btsrec, dump)
            if fault:
                yield f"{magic} and {size} bytes: {fault}"


def main():
    parser = argparse.ArgumentParser(description="a wrong byte in the headers of a dump")
    parser.add_argument("--btsrec", required=True)
    parser.add_argument("--mkimage", required=True)
    parser.add_argument("--every", type=int, default=1)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        faults = [fault for statement in PLACES for fault in check_format(args, folder, statement)]
        faults += check_kinds(args, folder)
    print("\n".join(faults[:20]))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

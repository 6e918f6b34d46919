#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A dump that is cut off anywhere gives a message or less history, never a wrong one.

usage: cut.py --btsrec PROGRAM --mkimage PROGRAM --step BYTES

Cuts an ELF and a compressed dump every so many bytes.  Each time btsrec must end
with an exit status that it documents, print only branches that the whole dump has,
and not be silent about what is missing.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile

IMAGE = """root ring=521
cpu 0
arm tsc=1 now=1/1/0x1000/init
fill 800 0xffffffff81000000 0xffffffff81100000 0x10
freeze reason=panic tsc=90
"""
# Whole, incomplete, no recorder, no dump, recorder not valid: see btsrec(1).
EXPECTED_STATUS = (0, 1, 3, 4, 5)
TIMEOUT_S = 600


def show(btsrec, dump):
    done = subprocess.run([btsrec, "show", str(dump)], capture_output=True, text=True,
                          check=False, timeout=TIMEOUT_S)
    lines = [line.split(None, 2)[2] for line in done.stdout.splitlines()
             if " branch " in line]
    return done, lines


def check_cut(btsrec, dump, whole, nr_bytes):
    """What is wrong with the answer to the first nr_bytes of the dump, or None."""
    done, lines = show(btsrec, dump)
    if done.returncode not in EXPECTED_STATUS:
        return f"exit status {done.returncode}: {done.stderr}"
    wrong = [line for line in lines if line not in whole]
    if wrong:
        return f"prints what never happened: {wrong[0]}"
    if done.returncode != 0 and " gap " not in done.stdout and not done.stderr:
        return "is silent"
    if done.returncode == 0 and len(lines) != len(whole):
        return f"claims to be whole with {len(lines)} of {len(whole)} branches"
    return None


def check_format(args, folder, statement):
    dump = folder / "dump"
    subprocess.run([args.mkimage, str(dump)], input=(IMAGE + statement).encode(), check=True)
    data = dump.read_bytes()
    done, lines = show(args.btsrec, dump)
    whole = set(lines)
    if done.returncode != 0 or len(whole) != 521:
        raise SystemExit(f"the whole dump does not decode: {done.stderr}")
    nr_faults = 0
    for nr_bytes in range(0, len(data), args.step):
        dump.write_bytes(data[:nr_bytes])
        fault = check_cut(args.btsrec, dump, whole, nr_bytes)
        if fault:
            print(f"{statement.strip() or 'ELF'} cut to {nr_bytes} bytes: {fault}")
            nr_faults += 1
    return nr_faults


def main():
    parser = argparse.ArgumentParser(description="cut a dump off everywhere")
    parser.add_argument("--btsrec", required=True)
    parser.add_argument("--mkimage", required=True)
    parser.add_argument("--step", type=int, default=401)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        nr_faults = sum(check_format(args, pathlib.Path(name), statement)
                        for statement in ("", "format kdump\n"))
    return 1 if nr_faults else 0


if __name__ == "__main__":
    sys.exit(main())

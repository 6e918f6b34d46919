#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A fault is found however far it is behind, up to the bound at which the search is given up.

usage: far.py --btsrec PROGRAM --mkimage PROGRAM
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

# TRACE_FAULT_MAX_EVENTS; the freeze is one of them.
BOUND = 32768
# So many branches from the fault on: around what is looked at first, and around the bound.
FAR = (1, 2, 1022, 1023, 1024, 1025, 20000, BOUND - 2, BOUND - 1, BOUND, BOUND + 1)
HEAD = """root cpus=%d ring=40000
idt 14 0xffffffff81000f00
code kernel 0xffffffff81000000 90c60001ebf9
code kernel 0xffffffff81000f00 90ebfd
"""
CPU = """cpu %d
arm tsc=1 now=7/7/0x100000/init
branch 0xffffffff81000004 0xffffffff81000000
branch 0xffffffff81000001 0xffffffff81000f00
%sfreeze reason=oops tsc=3 debugctl=0xc0 pid=7 ip=0xffffffff81000001 stop_ip=0xffffffff81000f01
"""


def describe():
    yield HEAD % len(FAR)
    for cpu, nr in enumerate(FAR):
        handler = f"fill {nr - 1} 0xffffffff81000f01 0xffffffff81000f00 0x0\n" if nr > 1 else ""
        yield CPU % (cpu, handler)


def expected():
    for nr in FAR:
        yield (f"exc:#PF at 0xffffffff81000001 newer={nr}" if nr < BOUND else
               "unknown: too far before the freeze")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--btsrec", required=True)
    parser.add_argument("--mkimage", required=True)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        dump = pathlib.Path(name) / "dump"
        subprocess.run([args.mkimage, dump], input="".join(describe()).encode(), check=True)
        listing = subprocess.run([args.btsrec, "show", "--no-names", dump], text=True,
                                 stdout=subprocess.PIPE, check=True).stdout
    found = re.findall(r"^ *[0-9]+ +[0-9]+ fault +(.*)$", listing, re.MULTILINE)
    if found != list(expected()):
        print("\n".join(found))
        sys.exit(1)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""One damaged dump read in several ways gives the same events, losses and status.

usage: differential.py --btsrec PROGRAM --mkimage PROGRAM --flatten PROGRAM [--places N]

Each format is cut off at N places, and at N places a byte is inverted.  What is left is read as
it is, flattened, and as the small file made of it.  A table has the branches that each way shows.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

IMAGE = """root ring=1501 cpus=2
cpu 0
arm tsc=1 now=1/1/0x1000/init
fill 2000 0xffffffff81000000 0xffffffff81100000 0x10
freeze reason=panic tsc=90
cpu 1
arm tsc=1 now=1/1/0x1000/init
fill 1400 0xffffffff81000000 0xffffffff81100000 0x10
freeze reason=panic tsc=90
"""
FORMATS = {"ELF": "", "kdump": "format kdump\n", "part": "format kdump 0 0x18\n"}
TIMEOUT_S = 600


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          check=False, timeout=TIMEOUT_S)
    return done.returncode, done.stdout, done.stderr


def answer(btsrec, *files):
    """The events, the losses and the status of a dump, without what names the files themselves."""
    status, events, said = run(btsrec, "show", "--format", "jsonl", *files)
    losses = [line for line in run(btsrec, "info", *files)[1].splitlines()
              if line.startswith("loss")]
    # Reasons for refusing a file differ with its format; that it is refused must not.
    reasons = "" if status == 4 else said
    for file in files:
        reasons = reasons.replace(str(file), "")
    # What is flattened anew has an end mark, whatever there was of the dump.
    # Of two notices the more serious is printed, so that of a part is there or not with it.
    reasons = re.sub(r"the dump is cut off: \d+ of \d+ bytes are there: "
                     r"|one file of a split dump; name all of them to have the whole: ", "",
                     reasons)
    return status, events, losses, reasons


def ways(args, folder, dump):
    """Every way to the bytes of DUMP, with its answer."""
    flat, small = folder / "flat", folder / "small"
    found = {"dump": answer(args.btsrec, dump)}
    subprocess.run([args.flatten, str(dump), str(flat)], check=True)
    found["flattened"] = answer(args.btsrec, flat)
    if run(args.btsrec, "extract", "--force", dump, small)[0] in (0, 1) and small.exists():
        found["small"] = answer(args.btsrec, small)
        small.unlink()
    return found


def damages(data, places):
    # Half of the places in what is not pages: a dump has few headers and many pages.
    step = max(1, len(data) // places)
    for at in range(step // 2, len(data), step):
        yield f"cut to {at}", data[:at]
    spots = list(range(step // 3, len(data), step)) + list(range(0, 20480, 20480 // places))
    for at in spots:
        if at < len(data):
            yield f"byte {at} inverted", data[:at] + bytes([data[at] ^ 0xff]) + data[at + 1:]


def compare(name, what, found):
    nr_faults = 0
    first = found["dump"]
    for way, other in found.items():
        for kind, left, right in zip(("status", "events", "losses", "text"), first, other):
            if left != right:
                print(f"{name} {what}: {kind} as dump and {way} differ:",
                      repr(left)[-160:], repr(right)[-160:])
                nr_faults += 1
    return nr_faults


def check_format(args, folder, name):
    dump = folder / "dump"
    subprocess.run([args.mkimage, str(dump)], input=(IMAGE + FORMATS[name]).encode(), check=True)
    data = dump.read_bytes()
    shown, nr_faults, nr_damages = {}, 0, 0
    for what, damaged in damages(data, args.places):
        dump.write_bytes(damaged)
        found = ways(args, folder, dump)
        nr_faults += compare(name, what, found)
        nr_damages += 1
        for way, (_, events, _, _) in found.items():
            shown[way] = shown.get(way, 0) + events.count('"kind":"branch"')
    print(f"{name:8}{nr_damages:4} damages, branches:",
          ", ".join(f"{way} {nr}" for way, nr in shown.items()))
    # A reader that refuses everything would agree with itself.
    if not all(shown.values()):
        print(f"{name}: a way shows nothing of any damaged dump")
        nr_faults += 1
    return nr_faults


def main():
    parser = argparse.ArgumentParser(description="read one damaged dump in several ways")
    parser.add_argument("--btsrec", required=True)
    parser.add_argument("--mkimage", required=True)
    parser.add_argument("--flatten", required=True)
    parser.add_argument("--places", type=int, default=6)
    args = parser.parse_args()
    os.environ["DEBUGINFOD_URLS"] = ""
    with tempfile.TemporaryDirectory() as folder:
        nr_faults = sum(check_format(args, pathlib.Path(folder), name) for name in FORMATS)
    return 1 if nr_faults else 0


if __name__ == "__main__":
    sys.exit(main())

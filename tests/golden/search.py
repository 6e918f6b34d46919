#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The calls that "btsrec last", "calls --merge" and "pairs" find are those of other views.

usage: search.py --btsrec PROGRAM --mkimage PROGRAM
For each function of some golden dumps: as many calls as btsrec functions counts; each entered by
the branch that btsrec show has at that event; the thread that was switched to before it.  Every
call is found once by calls --merge.  Exit status: 0: so it is; 1: it is not, and is printed.
"""

import argparse
import collections
import json
import pathlib
import subprocess
import sys
import tempfile

import golden

CASES = ("last", "pairs", "calls", "functions-repeated", "stack", "thread-calls", "thunks")


def lines(args, folder, command, *more):
    """The objects that a command prints of the dump."""
    done = subprocess.run([args.btsrec, command, "--system-map", "map", "--no-names", "--format",
                           "jsonl", *more], cwd=folder, stdout=subprocess.PIPE, check=False)
    return [json.loads(line) for line in done.stdout.decode().splitlines()]


def found(objects):
    return [line for line in objects if line["kind"] == "found"]


def faults_of(args, folder):
    """Yield what differs."""
    branches = {(line["cpu"], line["n"]): line for line in lines(args, folder, "show", "dump")
                if line["kind"] == "branch"}
    counts = collections.Counter()
    for line in lines(args, folder, "functions", "--kernel", "dump"):
        if line["kind"] == "function" and not line["function"].startswith("("):
            counts[line["function"]] += line["calls"]
    merged = collections.Counter((line["cpu"], line["n"], line["to"]) for line in
                                 found(lines(args, folder, "calls", "--merge", "--kernel", "dump")))
    for function, count in counts.items():
        calls = [line for line in found(lines(args, folder, "last", "--kernel", "dump", function))
                 if line["entered"]]
        if len(calls) < count:
            yield f"{function}: {len(calls)} calls instead of {count}"
        for call in calls:
            branch = branches.get((call["cpu"], call["n"]))
            if not branch or branch["to"] != call["to"]:
                yield f"{function}: CPU {call['cpu']}, event {call['n']} does not enter it"
            if (times := merged[call["cpu"], call["n"], call["to"]]) != 1:
                yield f"{function}: event {call['n']} is {times} times in the tree"
        paired = lines(args, folder, "pairs", "dump", function, "no_such_function")
        if sum(line["entered"] for line in found(paired)) < count:
            yield f"{function}: not all calls are without the other"
    if not counts:
        yield "there are no functions"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--btsrec", required=True)
    parser.add_argument("--mkimage", required=True)
    args = parser.parse_args()
    args.btsrec = pathlib.Path(args.btsrec).resolve()
    nr_faults = 0
    for name in CASES:
        path = pathlib.Path(__file__).parent / f"{name}.in"
        with tempfile.TemporaryDirectory() as folder:
            golden.make_folder(golden.Case(path), pathlib.Path(folder), args.mkimage)
            for fault in faults_of(args, pathlib.Path(folder)):
                print(f"{name}: {fault}")
                nr_faults += 1
    sys.exit(nr_faults > 0)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Each program of docs/examples hands out the values that btsrec prints for the same dump.

usage: examples.py --btsrec PROGRAM --mkimage PROGRAM EXAMPLE
EXAMPLE is the program; its name says which view and which golden case it is compared with.
Exit status: 0: the same lines; 1: they differ and are printed.
"""

import argparse
import difflib
import json
import pathlib
import subprocess
import sys
import tempfile

import golden


def event(line):
    ends = [line["from"], line["to"]] if line["kind"] == "branch" else []
    return [line["cpu"], line["n"], *ends]


def filtered(line):
    return [line["cpu"], line["n"], line["from"], line["to"], line["type"]]


def function(line):
    return [line["branches"], line["calls"], line["function"]]


def moment(line):
    distance = [line["from_freeze_ns"]] if "from_freeze_ns" in line else []
    return [line["cpu"], line["n"], line["branches"], *distance]


def frame(line):
    name = [line["ip_sym"].split("+")[0]] if "ip_sym" in line else []
    return [line["cpu"], line["frame"], line["ip"], line.get("how", "-"), *name]


def insn(line):
    return [line["cpu"], line["n"], line["ip"], line["insn"]]


def executed(line):
    return [line["ip"], line["count"], line["insn"]]


def call(line):
    end = [line["last_n"]] if "last_n" in line else []
    return [line["cpu"], line["n"], line["level"], line.get("to_sym", line["to"]),
            line["branches"], *end]


def stack_of_digest(line):
    for part in line.get("stack", []):
        name = [part["ip_sym"].split("+")[0]] if "ip_sym" in part else []
        yield from ["\nframe", line["cpu"], part["type"], part["ip"], *name]


# A line of JSON has the frames of a CPU, which are values, too.
def digest(line):
    cpu = line["cpu"]
    if line["kind"] == "signature":
        return ["fault", cpu, line["reason"], line.get("signature") or line["why"],
                *line.get("functions", [])]
    if line["kind"] == "doing":
        return ["cpu", cpu, line.get("reason", "-"), int(line["first_fault"]), line["branches"],
                *stack_of_digest(line)]
    if line["kind"] == "switch":
        return ["switch", cpu, line["n"]]
    return ["call", cpu, line["n"], line["level"], line["to"]]


# What a view needs beside the dump, and what its example does.
MORE = {"coverage": (["looper"], ["looper"]),
        "filtered": (["--types", "--type", "call,jmp"], ["call,jmp"])}
# Example: golden case, view, which lines of it, and what the example prints of one.
EXAMPLES = {
    "events": ("stack", "show", lambda line: "n" in line and line["kind"] != "fault", event),
    "filtered": ("insns", "show", lambda line: line["kind"] == "branch", filtered),
    "functions": ("functions", "functions", lambda line: line["kind"] == "function", function),
    "timeline": ("functions", "timeline", lambda line: True, moment),
    "calls": ("calls", "calls", lambda line: line["kind"] == "enter", call),
    "coverage": ("coverage", "coverage", lambda line: line["kind"] == "executed", executed),
    "insns": ("insns", "insns", lambda line: line["kind"] == "insn", insn),
    "summary": ("summary", "summary", lambda line: True, digest),
    "frames": ("stack", "stack", lambda line: line["kind"] == "frame", frame),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--btsrec", required=True)
    parser.add_argument("--mkimage", required=True)
    parser.add_argument("example")
    args = parser.parse_args()
    example = pathlib.Path(args.example).name.split("-")[-1]
    case_name, view, wanted, values = EXAMPLES[example]
    more, more_of_example = MORE.get(example, ((), ()))
    case = golden.Case(pathlib.Path(__file__).parent / f"{case_name}.in")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        golden.make_folder(case, folder, args.mkimage)
        names = ["--system-map", folder / "map"]
        printed = subprocess.run([args.btsrec, view, *names, "--format", "jsonl", folder / "dump",
                                  *more],
                                 stdout=subprocess.PIPE, check=False)
        given = subprocess.run([args.example, folder / "dump", folder / "map", *more_of_example],
                               stdout=subprocess.PIPE, check=True)
    lines = map(json.loads, printed.stdout.decode().splitlines())
    want = "\n".join(" ".join(map(str, values(line))) for line in lines if wanted(line))
    want = want.replace(" \n", "\n").splitlines()
    got = given.stdout.decode().splitlines()
    if not want:
        raise SystemExit(f"{view} prints nothing to compare with")
    for line in difflib.unified_diff(want, got, f"btsrec {view}", args.example, lineterm=""):
        print(line)
    sys.exit(want != got)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Each program of docs/examples hands out the values that btsrec prints for the same dump.

usage: examples.py --btsrec PROGRAM --mkimage PROGRAM EXAMPLE
EXAMPLE is the program; its name says which view and which golden cases it is compared with.
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


def escaped(text):
    """As values have texts from a dump."""
    return "".join(f"\\{c}" if c in '"\\' else c if " " <= c <= "~" else f"\\x{ord(c):02x}"
                   for c in text)


# What the log lacks is no value.
def is_there(line):
    return line["kind"] != "log" or "seq" in line


def moment(line):
    distance = [line["from_freeze_ns"]] if "from_freeze_ns" in line else []
    if line["kind"] == "log":
        return ["log", line["seq"], *distance]
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
    if line["kind"] == "log":
        return ["log", line["seq"], escaped(line["text"])]
    cpu = line["cpu"]
    if line["kind"] == "lock":
        return ["lock", cpu, line["pid"], line["text"]]
    if line["kind"] == "operand":
        return ["operand", cpu, line["n"], line["what"], line["class"] + ":", line["text"]]
    if line["kind"] == "verdict":
        places = [line[key] for key in ("address", "ip") if key in line]
        places = [line.get("access", "-"), *places]
        return ["verdict", cpu, line["verdict"], *places[:-1], f"{places[-1]}:", line["text"]]
    if line["kind"] == "signature":
        return ["fault", cpu, line["reason"], line.get("signature") or line["why"],
                *line.get("functions", [])]
    if line["kind"] == "doing":
        return ["cpu", cpu, line.get("reason", "-"), int(line["first_fault"]), line["branches"],
                *stack_of_digest(line)]
    if line["kind"] == "switch":
        return ["switch", cpu, line["n"]]
    return ["call", cpu, line["n"], line["level"], line["to"]]


def ring(line):
    losses = [part for loss in line["loss"].items() for part in loss]
    return [line["cpu"], line["state"], line.get("reason", "-"), line["slots"],
            line["valid_slots"], line["events"], line["wrapped"], *losses]


def proof(line):
    pairs = [part for kind in ("unknown", "patched", "broken")
             for key, part in line.get(f"first_{kind}", {}).items()]
    return [line["cpu"], line["kernel_proven"], line["user_proven"], line["unknown"],
            line["patched"], line["broken"], line["filtered"], line["instructions"],
            line["file_pages"], int(line["stop_proven"]), *pairs]


def thread(side, line):
    return [side, line["cpu"], int(line["fault"]), line["calls"],
            *([line["pid"]] if "pid" in line else [])]


def compared(line):
    if line["kind"] == "diff":
        return [*thread("a", line["a"]), *thread("\nb", line["b"])]
    if line["kind"] == "same":
        return ["same", line["a_n"], line["b_n"], line["function"]]
    return ["only", line["side"], line["n"], line["function"]]


def origin(line):
    what = line["what"] if line["kind"] == "origin" else "candidate"
    name = [line["ip_sym"].split("+")[0]] if "ip_sym" in line else []
    address = ["at", line["address"]] if "address" in line else []
    end = f"{line['class']}: {line['end']}" if "end" in line else line["class"]
    return [line["cpu"], line["n"], what, *name, *address, end]


def found(line):
    if line["kind"] == "search":
        return [line["lines"], "calls,", line["gaps"], "gaps"]
    caller = ["<", line["from_sym"]] if "from_sym" in line else []
    return [line["cpu"], line["n"], line["to_sym"].split("+")[0], *caller,
            *["open"] * line["open"]]


# A view that is text only.
def checked(line):
    return [line]


# What a view needs beside the dump, and what its example does.
MORE = {"coverage": (["looper"], ["looper"]), "diff": (["other"], ["other"]),
        "filtered": (["--types", "--type", "call,jmp"], ["call,jmp"]),
        "found": (["helper"], ["helper"])}
# Example: golden cases, view, which lines of it, and what the example prints of one.
EXAMPLES = {
    "events": ("stack", "show", lambda line: "n" in line and line["kind"] != "fault", event),
    "columns": ("stack", "show", lambda line: line["kind"] == "branch", event),
    "filtered": ("insns", "show", lambda line: line["kind"] == "branch", filtered),
    "functions": ("functions", "functions", lambda line: line["kind"] == "function", function),
    "timeline": ("functions kernel-log", "timeline", is_there, moment),
    "calls": ("calls", "calls", lambda line: line["kind"] == "enter", call),
    "check": ("check-annotations check-counters cpu-missing", "check",
              lambda line: "checked, " not in line, checked),
    "coverage": ("coverage", "coverage", lambda line: line["kind"] == "executed", executed),
    "diff": ("diff", "diff", lambda line: True, compared),
    "insns": ("insns", "insns", lambda line: line["kind"] == "insn", insn),
    "origins": ("why", "why", lambda line: True, origin),
    "proof": ("prove-faults prove-missing patched", "prove", lambda line: True, proof),
    "rings": ("full gap-not-in-dump stopped", "info", lambda line: line["kind"] == "cpu", ring),
    "summary": ("summary kernel-log locks", "summary", is_there, digest),
    "found": ("last", "last", lambda line: True, found),
    "frames": ("stack", "stack", lambda line: line["kind"] == "frame", frame),
}


def outputs(args, case_name, example):
    """What the view prints, and what the example does, of one case."""
    view = EXAMPLES[example][1]
    more, more_of_example = MORE.get(example, ((), ()))
    case = golden.Case(pathlib.Path(__file__).parent / f"{case_name}.in")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        golden.make_folder(case, folder, args.mkimage)
        is_text = EXAMPLES[example][3] is checked
        has_map = (folder / "map").exists() and not is_text
        names = ["--system-map", "map"] if has_map else []
        form = [] if is_text else ["--format", "jsonl"]
        if (folder / "other.in").exists():
            subprocess.run([args.mkimage, "other"], cwd=folder, check=True,
                           input=(folder / "other.in").read_bytes())
        printed = subprocess.run([args.btsrec, view, *names, *form, "dump", *more], cwd=folder,
                                 stdout=subprocess.PIPE, check=False)
        given = subprocess.run([args.example, "dump", *names[1:], *more_of_example], cwd=folder,
                               stdout=subprocess.PIPE, check=True)
    return printed.stdout.decode().splitlines(), given.stdout.decode().splitlines()


def is_same(args, case_name, example):
    _, view, wanted, values = EXAMPLES[example]
    lines, got = outputs(args, case_name, example)
    if values is not checked:
        lines = map(json.loads, lines)
    want = "\n".join(" ".join(map(str, values(line))) for line in lines if wanted(line))
    want = want.replace(" \n", "\n").splitlines()
    if not want:
        raise SystemExit(f"{view} prints nothing of {case_name} to compare with")
    for line in difflib.unified_diff(want, got, f"btsrec {view}", args.example, lineterm=""):
        print(line)
    return want == got


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--btsrec", required=True)
    parser.add_argument("--mkimage", required=True)
    parser.add_argument("example")
    args = parser.parse_args()
    example = pathlib.Path(args.example).name.split("-")[-1]
    sys.exit(not all([is_same(args, case_name, example)
                      for case_name in EXAMPLES[example][0].split()]))


if __name__ == "__main__":
    main()

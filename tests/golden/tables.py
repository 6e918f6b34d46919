#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The tables of "export --to tables" count what the other commands print of the same dump.

usage: tables.py --btsrec PROGRAM --mkimage PROGRAM --schema FILE

Rows fit the published schema and have no columns beside it. Counts are those of functions, calls,
show and info. A kernel at another address has the same keys. Privacy switches leave out what they
say. Nothing is written over without --force.
Exit status: 0: so it is; 1: not, with what differs.
"""

import argparse
import collections
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import golden
import schema

# Its reader is that of btsrec-fleet.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "decoder/fleet"))
from btsrec_fleet import tables  # noqa: E402 pylint: disable=wrong-import-position

TABLES = ("crash", "cpu", "thread", "call", "edge", "function", "gap", "value")
CASES = ("functions", "calls", "why")
SHIFT = 0x2000000


class Test:
    def __init__(self, args, folder):
        self.args = args
        self.folder = folder
        self.names = ["--no-names"]
        self.faults = []
        if (folder / "map").exists():
            self.names += ["--system-map", "map"]

    def expect(self, what, want, got):
        if want != got:
            self.faults.append(f"{what}: {want} is wanted, not {got}")

    def run(self, command, *more):
        return subprocess.run([self.args.btsrec, command, *self.names, *more], cwd=self.folder,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              check=False)

    def lines(self, command):
        return [json.loads(line) for line in
                self.run(command, "--format", "jsonl", "dump").stdout.splitlines()]

    def export(self, to, *options, dump="dump"):
        done = self.run("export", "--to", "tables", *options, dump, to)
        if done.returncode > 1:
            raise SystemExit(f"export ends with {done.returncode}: {done.stderr}")
        return {table: tables.rows(self.folder / to, table) for table in TABLES}


def check_schema(test, rows):
    published = schema.Schema(test.args.schema)
    for table in TABLES:
        part = published.root["$defs"][table]
        for row in rows[table]:
            for fault in published.errors(row, part, table):
                test.faults.append(fault)
            for key in row.keys() - part["properties"].keys():
                test.faults.append(f"{table} has an unlisted column {key}")


def printed(row):
    """The name of a function as the command prints it."""
    if not row["module"]:
        return row["name"]
    return f"{row['name']} [{row['module']}]" if row["name"] else f"[{row['module']}]"


def check_counts(test, rows):
    functions = [line for line in test.lines("functions") if line["kind"] == "function"]
    ours, theirs = collections.Counter(), collections.Counter()
    for line in functions:
        theirs[line["function"], "branches"] += line["branches"]
        theirs[line["function"], "calls"] += line["calls"]
    for row in rows["function"]:
        ours[printed(row), "branches"] += row["branches"]
        ours[printed(row), "calls"] += row["calls"]
    test.expect("functions", +theirs, +ours)
    shown = collections.Counter(line["kind"] for line in test.lines("show"))
    for table in ("thread", "function"):
        test.expect(f"branches of {table}", shown["branch"],
                    sum(row["branches"] for row in rows[table]))
    test.expect("branches of edge", shown["branch"], sum(row["count"] for row in rows["edge"]))
    test.expect("rows of gap", shown["gap"], len(rows["gap"]))
    calls = [line for line in test.lines("calls") if line["kind"] == "enter"]
    test.expect("calls", [(line["cpu"], line["n"], line["level"], line["branches"])
                          for line in calls],
                [(row["cpu"], row["n"], row["level"], row["branches"]) for row in rows["call"]])
    test.expect("CPUs", sum(line["kind"] == "cpu" for line in test.lines("info")), len(rows["cpu"]))
    test.expect("crashes", 1, len(rows["crash"]))
    keys = {row["function"] for row in rows["function"]}
    named = {row[key] for table in ("call", "edge", "value", "crash") for row in rows[table]
             for key in ("from", "to", "function") if key in row}
    test.expect("keys that stand for nothing", set(), named - keys)


def check_switches(test, rows):
    less = test.export("less", "--no-user", "--no-paths")
    test.expect("user functions", [], [row for row in less["function"] if row["user"]])
    for table in ("crash", "cpu", "thread", "gap"):
        test.expect(f"{table} without user space", rows[table], less[table])
    kernel = [row for row in rows["function"] if not row["user"]]
    test.expect("kernel functions", {row["function"] for row in kernel},
                {row["function"] for row in less["function"]})
    pathless = test.export("pathless", "--no-paths")
    test.expect("paths", [], [row for row in pathless["function"]
                              if row["user"] and "module" in row])
    for more, status in ((("--to", "tables"), 2), (("--to", "perf", "--no-user"), 2)):
        test.expect(f"status of {more}", status,
                    test.run("export", *more, "dump", "less").returncode)
    test.expect("tables again", less, test.export("less", "--no-user", "--no-paths", "--force"))


def moved(line):
    """A line that describes a dump, of a kernel that lies elsewhere."""
    return re.sub(r"0xffffffff8[0-9a-f]{7}\b", lambda found: hex(int(found[0], 16) + SHIFT), line)


def check_moved(test, rows, case):
    text = "".join(f"{moved(line)}\n" for line in case.image)
    subprocess.run([test.args.mkimage, "moved"], cwd=test.folder, check=True, input=text.encode())
    others = test.export("elsewhere", dump="moved")
    for table in ("call", "edge", "function", "value"):
        test.expect(f"{table} of a kernel elsewhere", rows[table], others[table])


SNAPSHOT = """root cpus=1 ring=64 tsc_khz=1000000
cpu 0
arm tsc=1000 now=7/7/0x100000/init
branch 0xffffffff81000000 0xffffffff81000100
switch tsc=%d prev=7/7/0x100000/init next=9/9/0x100000/sh
"""


def check_snapshots(test):
    """Two snapshots of one boot have no fault, and are not one crash."""
    found = []
    for tsc in (1500, 1500, 2500):
        subprocess.run([test.args.mkimage, "snapshot"], cwd=test.folder, check=True,
                       input=(SNAPSHOT % tsc).encode())
        found += test.export("snapshots", "--force", dump="snapshot")["crash"]
    keys = [row["crash"] for row in found]
    test.expect("key of a snapshot read again", keys[0], keys[1])
    test.expect("keys of two snapshots", 2, len(set(keys)))
    test.expect("time between two snapshots", 1000, found[2]["time_ns"] - found[0]["time_ns"])


def faults_of(args, name):
    case = golden.Case(pathlib.Path(__file__).parent / f"{name}.in")
    with tempfile.TemporaryDirectory() as folder:
        golden.make_folder(case, pathlib.Path(folder), args.mkimage)
        test = Test(args, pathlib.Path(folder))
        if name == "why":
            test.names.remove("--no-names")
        rows = test.export("tables")
        check_schema(test, rows)
        check_counts(test, rows)
        check_switches(test, rows)
        if name == "why":
            test.expect("values", True, len(rows["value"]) > 3)
            check_moved(test, rows, case)
            check_snapshots(test)
        return [f"{name}: {fault}" for fault in test.faults]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--btsrec", required=True)
    parser.add_argument("--mkimage", required=True)
    parser.add_argument("--schema", required=True)
    args = parser.parse_args()
    faults = [fault for name in CASES for fault in faults_of(args, name)]
    print("\n".join(faults))
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())

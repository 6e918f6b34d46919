#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""btsrec-fleet finds the culprit of crashes that were made up, and none where there is none.

usage: fleet.py --btsrec PROGRAM --mkimage PROGRAM --schema FOLDER

Of two bugs with one crash site each one's own function and edge rank first. With shuffled labels
nothing is significant. The chances are those of exact arithmetic. The SQL gives the same on tables
as a column store has them, and in DuckDB where tests/lib/npm has put it.
Exit status: 0: so it is; 1: not, with what differs.
"""

import argparse
import fractions
import itertools
import json
import math
import os
import pathlib
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
PROGRAM = HERE.parents[1] / "decoder/fleet/btsrec-fleet"
FOLDERS = [str(PROGRAM.parent), str(PROGRAM.parents[1] / "standard")]
sys.path[:0] = [*FOLDERS, str(HERE.parent / "golden")]

# pylint: disable=wrong-import-position
import golden  # noqa: E402
import made  # noqa: E402
import schema  # noqa: E402
from btsrec_fleet import parquet, rank, script, statistics, store, tables  # noqa: E402

NR_CRASHES, NR_HEALTHY, NR_SHUFFLES = 12, 30, 5

QUERY = """
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
const { DuckDBInstance } = createRequire(process.argv[2] + "/")("@duckdb/node-api");
const connection = await (await DuckDBInstance.create(":memory:")).connect();
let rows;
for (const query of readFileSync(0, "utf8").split(/;\\s*\\n/))
	if (query.trim())
		rows = (await connection.runAndReadAll(query)).getRowsJson();
for (const row of rows)
	console.log(JSON.stringify(row));
"""


class Test:
    """Faults are collected."""

    def __init__(self, args, folder):
        self.args = args
        self.folder = folder
        self.faults = []

    def expect(self, what, want, got):
        if want != got:
            self.faults.append(f"{what}: {want} is wanted, not {got}")

    def run(self, *words, status=0):
        done = subprocess.run([sys.executable, PROGRAM, *words], cwd=self.folder, text=True,
                              capture_output=True, check=False)
        self.expect(f"status of {' '.join(words)} ({done.stderr.strip()})", status, done.returncode)
        return done.stdout, done.stderr

    def jsonl(self, *words):
        return [json.loads(line) for line in self.run(*words, "--format", "jsonl")[0].splitlines()]


# --- Statistics -------------------------------------------------------------

def check_chances(test):
    """All small tables, by whole numbers."""
    for nr_bad, nr_good in itertools.product(range(1, 7), repeat=2):
        for bad, good in itertools.product(range(nr_bad + 1), range(nr_good + 1)):
            shown = bad + good
            ways = sum(math.comb(nr_bad, k) * math.comb(nr_good, shown - k)
                       for k in range(bad, min(nr_bad, shown) + 1))
            exact = float(fractions.Fraction(ways, math.comb(nr_bad + nr_good, shown)))
            got = statistics.fisher(bad, good, nr_bad, nr_good)
            if not math.isclose(exact, got, rel_tol=1e-9, abs_tol=1e-12):
                test.faults.append(f"chance of {bad}/{nr_bad}, {good}/{nr_good}: {exact}, not {got}")
    test.expect("chance of two sides that are quite different", True,
                statistics.fisher(5000, 0, 5000, 5000) < 1e-300)
    # The example of Benjamini and Hochberg 1995, section 3.2: the first four are significant.
    chances = [.0001, .0004, .0019, .0095, .0201, .0278, .0298, .0344, .0459, .3240, .4262, .5719,
               .6528, .7590, 1.0]
    rates = statistics.benjamini_hochberg(chances)
    test.expect("rejected at 0.05", 4, sum(rate <= .05 for rate in rates))
    test.expect("rates of falling chances", rates, statistics.benjamini_hochberg(chances[::-1])[::-1])


# --- Culprits ---------------------------------------------------------------

def check_culprits(test, published):
    rows = test.jsonl("groups", "fleet")
    test.expect("groups", [(f"v2:{i:016x}", NR_CRASHES, 2) for i in range(2)],
                [(row["name"], row["crashes"], row["kernels"]) for row in rows])
    rows += test.jsonl("groups", "--by", "kernel", "fleet")
    by_site = test.jsonl("groups", "--by", "site", "fleet")
    test.expect("groups by site", [(made.SITE, 2 * NR_CRASHES)],
                [(row["title"], row["crashes"]) for row in by_site])
    for bug in made.BUGS:
        guilty = f"{bug}_bug"
        for against, alike in (("healthy", 2), ("all", 1), ("others", 1)):
            found = test.jsonl("rank", "--by", "culprit", "--group", guilty, "--against", against,
                               "fleet")
            rows += found
            first = [row for row in found if row["kind"] == "feature" and row["rank"] == 1]
            test.expect(f"{guilty} against {against}", [(guilty, alike, NR_CRASHES, 0)],
                        [(row["text"], row["alike"], row["group"], row["others"])
                         for row in first if row["feature"] == "function"][:1])
            test.expect(f"chance of {guilty} against {against}", True, first[0]["q"] < 0.001)
            test.expect(f"edge of {guilty} against {against}", True,
                        f"f9+0xc8 -> {guilty}" in [row["text"] for row in first])
            innocent = {row["text"] for row in found if row["kind"] == "feature" and
                        row["q"] <= 0.05 and "bug" not in row["text"] and
                        made.SITE not in row["text"]}
            test.expect(f"others that are significant against {against}", set(), innocent)
    one, other = made.BUGS
    rows += test.jsonl("compare", "--by", "culprit", f"{one}_bug", f"{other}_bug", "fleet")
    test.expect("what sets two groups apart", f"{one}_bug",
                next(row["text"] for row in rows[::-1] if row["kind"] == "feature" and
                     row["rank"] == 1 and row["feature"] == "function"))
    for row in rows:
        for fault in published.errors(row, at=row["kind"]):
            test.faults.append(fault)
    text, _ = test.run("rank", "--by", "culprit", "fleet")
    test.expect("text", True, f"{NR_CRASHES}/{NR_CRASHES}" in text and "_bug" in text)
    test.run("report", "--by", "culprit", "fleet", "fleet.html")
    page = (test.folder / "fleet.html").read_text(encoding="utf-8")
    for bug in made.BUGS:
        test.expect(f"{bug} on the page", True, f"<b>{bug}_bug</b>: {NR_CRASHES} crashes" in page)
    test.expect("each bug's function and edge are first on the page", True,
                len(re.findall(r"<tr><td>1</td>.*_bug</td></tr>", page)) >= 2 * len(made.BUGS))


def stored(fleet_rows):
    """A database in memory, as the program would fill it."""
    made_store = store.Store(":memory:")
    made_store.connection.executescript(store.ROWS)
    for rows in fleet_rows:
        fault = made_store.add_crash({table: [tuple(map(row.get, columns)) for row in rows[table]]
                                      for table, columns in tables.COLUMNS.items()})
        if fault:
            raise SystemExit(fault)
    return made_store


def check_shuffled(test, fleet_rows):
    """Nothing says which crash has which label."""
    chance = random.Random(7)
    for number in range(NR_SHUFFLES):
        mixed = stored(made.shuffled(chance, fleet_rows))
        group = rank.choose(mixed, "signature", None)
        for against in ("healthy", "others", "all"):
            rank.against(mixed, group, against)
            found = [one for one in rank.features(mixed) if one.q <= 0.05]
            test.expect(f"shuffle {number} against {against}: significant", [], found)


# --- SQL --------------------------------------------------------------------

def plain(rows):
    """Rows of rank.sql from any engine, to be compared: kind, place and target are texts."""
    return sorted(tuple(word if column in (0, 1, 3) else round(float(word), 9)
                        for column, word in enumerate(row)) for row in rows)


def as_column_store(fleet_rows, group):
    """All rows of all crashes in tables of the same names, and the views that the guide makes."""
    connection = sqlite3.connect(":memory:")
    connection.executescript(store.ROWS.partition("CREATE TEMP TABLE shown")[0])
    for rows in fleet_rows:
        for table, columns in tables.COLUMNS.items():
            connection.executemany(
                f"INSERT INTO {table} VALUES ({', '.join('?' * len(columns))})",
                [tuple(map(row.get, columns)) for row in rows[table]])
    text = script.script("duckdb", "rank", "culprit", group, "all")
    *views, query = [part for part in text.split(";\n") if part.strip()]
    for view in views:
        if "read_json" not in view:
            connection.execute(view.replace("CREATE VIEW", "CREATE TEMP VIEW"))
    return plain(connection.execute(query))


def find_duckdb(test):
    """A command that runs SQL from its input in DuckDB; None: it is not here."""
    cache = pathlib.Path(os.environ.get("BTSREC_CACHE", pathlib.Path.home() / ".cache/btsrec"))
    modules = [path.parents[1] for path in cache.glob("npm-*/node_modules/@duckdb/node-api")]
    node = shutil.which("node") or shutil.which("nodejs")
    if not modules or not node:
        return None
    (test.folder / "query.mjs").write_text(QUERY)
    return [node, test.folder / "query.mjs", modules[0]]


def duckdb(test, group):
    command = find_duckdb(test)
    if not command:
        print("no DuckDB here: the SQL was not run in it")
        return None
    (test.folder / "tables").symlink_to("fleet")
    text, _ = test.run("sql", "duckdb", "rank", "--by", "culprit", "--group", group,
                       "--against", "all")
    done = subprocess.run(command, cwd=test.folder, input=text, text=True, capture_output=True,
                          check=False)
    if done.returncode:
        test.faults.append(f"DuckDB: {done.stderr}")
    return plain(map(json.loads, done.stdout.splitlines()))


def check_sql(test, fleet_rows):
    group = made.key("first_bug")
    ours = store.Store(str(test.folder / "fleet/fleet.sqlite"))
    rank.against(ours, rank.choose(ours, "culprit", group), "all")
    want = plain(ours.run("rank.sql"))
    test.expect("rows", True, len(want) > made.NR_COMMON)
    test.expect("as a column store would", want, as_column_store(fleet_rows, group))
    theirs = duckdb(test, group)
    if theirs is not None:
        test.expect("in DuckDB", want, theirs)


# --- Parquet ----------------------------------------------------------------

# Stand-ins for the program and the module of DuckDB: the same engine, from npm.
PROGRAM_SHIM = """#!{python}
import json, subprocess, sys
assert sys.argv[1:] == ["-bail", "-csv"]
done = subprocess.run({command}, input=sys.stdin.read(), text=True, capture_output=True)
sys.stderr.write(done.stderr)
print("name,nr_rows", *(",".join(json.loads(row)) for row in done.stdout.splitlines()), sep="\\n")
sys.exit(done.returncode)
"""
MODULE_SHIM = """import json, subprocess
class Error(Exception):
    pass
class connect:
    def __init__(self, path):
        assert path == ":memory:"
    def execute(self, text):
        done = subprocess.run({command}, input=text, text=True, capture_output=True)
        if done.returncode:
            raise Error(done.stderr)
        self.rows = [(name, int(nr_rows)) for name, nr_rows in map(json.loads, done.stdout.splitlines())]
        return self
    def fetchall(self):
        return self.rows
"""

# Writes half of a table, and no more.
HALF_SHIM = """#!{python}
import re, sys
target = re.search("TO '([^']*)'", sys.stdin.read())[1]
open(target, "w").write("half")
sys.exit("disk full")
"""


def check_parquet_columns(test):
    """Those of the schema, with a type that holds what it allows."""
    types = {"integer": "UBIGINT", "boolean": "BOOLEAN", "array": "VARCHAR[]"}
    definitions = json.loads((test.args.schema / "tables.schema.json").read_text())["$defs"]
    want = {}
    for table in parquet.TYPES:
        found = want[table] = {}
        for column, of in definitions[table]["properties"].items():
            of = definitions[of["$ref"].rpartition("/")[2]] if "$ref" in of else of
            found[column] = "UBIGINT" if "const" in of else types.get(of.get("type"), "VARCHAR")
    test.expect("tables of the schema", {name for name, of in definitions.items()
                                         if "properties" in of}, set(parquet.TYPES))
    test.expect("columns of Parquet", want, parquet.TYPES)


def check_parquet(test, fleet_rows):
    check_parquet_columns(test)
    command = find_duckdb(test)
    nowhere = test.folder / "nowhere"
    nowhere.mkdir()
    path = os.environ["PATH"]
    try:
        os.environ.update(PATH=str(nowhere), PYTHONPATH=str(nowhere))
        (nowhere / "duckdb.py").write_text("raise ImportError\n")
        _, said = test.run("parquet", "fleet", "absent", status=5)
        test.expect("without DuckDB", f"btsrec-fleet: {parquet.ABSENT}\n", said)
        check_parquet_kept(test, nowhere)
        if not command:
            return
        command = [str(word) for word in command]
        (nowhere / "duckdb.py").write_text(MODULE_SHIM.format(command=command))
        check_parquet_files(test, fleet_rows, "module", command)
        (nowhere / "duckdb.py").write_text("raise ImportError\n")
        program = nowhere / "duckdb"
        program.write_text(PROGRAM_SHIM.format(command=command, python=sys.executable))
        program.chmod(0o755)
        check_parquet_files(test, fleet_rows, "program", command)
    finally:
        os.environ["PATH"] = path
        del os.environ["PYTHONPATH"]


def check_parquet_kept(test, folder):
    """What an earlier run wrote stays if DuckDB fails on the way."""
    program, out = folder / "duckdb", test.folder / "kept"
    program.write_text(HALF_SHIM.format(python=sys.executable))
    program.chmod(0o755)
    out.mkdir()
    (out / "crash.parquet").write_text("old")
    _, said = test.run("parquet", "fleet", out.name, status=5)
    program.unlink()
    test.expect("DuckDB's own word", "btsrec-fleet: DuckDB: disk full\n", said)
    test.expect("what was there before", [("crash.parquet", "old")],
                [(path.name, path.read_text()) for path in out.iterdir()])


def check_parquet_files(test, fleet_rows, out, command):
    """The same rows as the JSON Lines have, of each crash that is whole, once."""
    top = test.folder / "fleet"
    made.write(top / "again", fleet_rows[0])
    shutil.copytree(top / "007", top / "cut")
    cut = top / "cut/edge.jsonl.zst"
    cut.write_bytes(cut.read_bytes()[:-9])
    (top / "007").rename(test.folder / "007")
    text, said = test.run("parquet", "fleet", out, status=1)
    test.expect(f"left out, by the {out}", [
        "btsrec-fleet: again: the same crash was read from another folder",
        "btsrec-fleet: cut: edge.jsonl.zst is no zstd file that ends"], said.splitlines())
    for folder in ("again", "cut"):
        shutil.rmtree(top / folder)
    (test.folder / "007").rename(top / "007")
    fleet_rows = fleet_rows[:7] + fleet_rows[8:]
    want = {table: sum(len(rows[table]) for rows in fleet_rows) for table in fleet_rows[0]}
    test.expect(f"rows by the {out}", want,
                {pathlib.Path(path).stem: int(rest.split()[0])
                 for path, rest in (line.split(": ") for line in text.splitlines())})
    sums = {table: sum(row.get(column, 0) for rows in fleet_rows for row in rows[table])
            for table, column in (("edge", "to_offset"), ("function", "branches"))}
    done = subprocess.run(command, cwd=test.folder, text=True, capture_output=True, check=False,
                          input=f"""SELECT (SELECT sum(to_offset) FROM '{out}/edge.parquet'),
                                           (SELECT sum(branches) FROM '{out}/function.parquet')""")
    test.expect(f"sums by the {out}", list(sums.values()),
                [int(word) for word in json.loads(done.stdout or "[]")])


# --- Completion -------------------------------------------------------------

def completed(*words):
    """What the shell makes of the last of these words."""
    done = subprocess.run(
        ["bash", "-c", '. "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _btsrec_fleet "$1"; '
         'echo "${COMPREPLY[@]}"', PROGRAM.parent / "completion.bash", PROGRAM, *words],
        capture_output=True, text=True, check=True)
    return done.stdout.split()


def check_completion(test):
    test.expect("commands", ["groups", "rank", "compare", "report", "sql", "parquet"],
                completed(""))
    test.expect("options", ["--against"], completed("report", "--ag"))
    test.expect("files", [str(HERE / "made.py")], completed("rank", str(HERE / "ma")))


# --- Standard files ---------------------------------------------------------

def check_standard_files(test):
    """Of a closed one, or a full disk, there is a status and a sentence; no file takes its place."""
    (test.folder / "standard").mkdir()
    ends = ((">&-", 5, "Bad file descriptor"), ("<&- 2>&-", 0, ""),
            (">/dev/full", 5, "No space left"), ("<&- >&- 2>&-", 5, ""))
    printing = (["groups", "standard"], ["--help"], ["rank", "--help"])
    for words, (redirection, status, said) in itertools.product(printing, ends):
        done = subprocess.run(["sh", "-c", f'exec "$@" {redirection}', "sh", sys.executable, PROGRAM,
                               *words], cwd=test.folder, text=True, capture_output=True, check=False)
        test.expect(f"status of {words} with {redirection}", status, done.returncode)
        test.expect(f"what {words} says with {redirection}", (True, bool(said)),
                    (said in done.stderr, bool(done.stderr)))
        test.expect(f"lines of {words} with {redirection}", len(done.stderr.splitlines()),
                    bool(said))
    _, said = test.run("groups", "", status=2)
    test.expect("an empty folder name", True, "an empty path is none" in said)


# --- Outputs ----------------------------------------------------------------

def check_outputs(test):
    """A page is written over a page, and over nothing else, and leaves nothing beside it."""
    test.run("report", "--by", "culprit", "fleet", "page.html")
    test.run("report", "--by", "culprit", "--jobs", "999999999", "fleet", "page.html")
    pipe, link = test.folder / "pipe", test.folder / "link"
    os.mkfifo(pipe)
    link.symlink_to(next((test.folder / "fleet").glob("*/crash.jsonl.zst")))
    before = sorted(test.folder.iterdir())
    for out in ("pipe", "link", "fleet", "fleet/fleet.sqlite"):
        _, said = test.run("report", "fleet", out, status=5)
        test.expect(f"what is said of {out}", True, "is no page of btsrec-fleet" in said)
    test.expect("files", before, sorted(test.folder.iterdir()))
    test.expect("the pipe and the link", (True, True), (pipe.is_fifo(), link.is_symlink()))
    test.run("groups", "--database", "", "fleet", status=2)
    test.run("groups", "--jobs", "999999999", "--database", ":memory:", "fleet")


# --- Folders ----------------------------------------------------------------

def check_folders(test, fleet_rows):
    top = test.folder / "folders"
    top.mkdir()
    for words in (["rank", "folders"], ["report", "folders", "none.html"]):
        _, said = test.run(*words, status=3)
        test.expect("without a crash", "btsrec-fleet: there is no crash\n", said)
    made.write(top / "a", fleet_rows[0])
    test.run("groups", "folders")
    _, said = test.run("rank", "folders", status=3)
    test.expect("without a snapshot", True, "--against others" in said)
    # What was read is kept when its folder goes.
    shutil.rmtree(top / "a")
    text, _ = test.run("groups", "folders")
    test.expect("a crash whose folder is gone", "1 crash in 1 group, 0 healthy snapshots",
                text.splitlines()[0])
    # Names are of other machines: bytes, which a terminal might obey.
    hostile = made.crash(random.Random(1), 999, "first")
    hostile["crash"][0].update(release="6.1\u001b[2J<i>", verdict="\u00c3\u00a9", signature=None)
    made.write(test.folder / "hostile", hostile)
    (top.parent / "terminal").mkdir()
    (test.folder / "hostile").rename(top.parent / "terminal/one")
    text, _ = test.run("groups", "--by", "kernel", "terminal")
    test.expect("a hostile name", ["\u00e9", "6.1?[2J<i>"], text.split()[-2:])
    test.run("report", "--by", "kernel", "terminal", "terminal.html")
    page = (test.folder / "terminal.html").read_text(encoding="utf-8")
    test.expect("a hostile name on a page", True, "<b>6.1?[2J&lt;i&gt;</b>" in page)
    made.write(top / "again", fleet_rows[0])
    made.write(top / "future", fleet_rows[1] | {"crash": [fleet_rows[1]["crash"][0] |
                                                         {"schema": 99}]})
    made.write(top / "cut", fleet_rows[2])
    cut = top / "cut/edge.jsonl.zst"
    cut.write_bytes(cut.read_bytes()[:-9])
    made.write(top / "part", fleet_rows[3], left_out=("crash",))
    text, said = test.run("groups", "folders", "--jobs", "2", status=1)
    test.expect("what is left out", [
        "btsrec-fleet: again: the same crash was read from another folder",
        "btsrec-fleet: cut: edge.jsonl.zst is no zstd file that ends",
        f"btsrec-fleet: future: its schema is 99, not {tables.SCHEMA}",
        "btsrec-fleet: 1 folder without crash.jsonl.zst left out: being written, or not written "
        "to the end"], said.splitlines())
    test.expect("crashes after that", "1 crash in 1 group, 0 healthy snapshots",
                text.splitlines()[0])
    # A folder that was being copied is read when it is whole, and is named until then.
    _, again = test.run("groups", "folders", status=1)
    test.expect("what is left out again", said.splitlines()[1:], again.splitlines())
    shutil.rmtree(top / "cut")
    made.write(top / "cut", fleet_rows[2])
    text, _ = test.run("groups", "folders", status=1)
    test.expect("a folder that was mended", "2 crashes in", text[:12])
    test.run("rank", "--group", "nobody", "folders", status=3)
    test.run("rank", "no-such-folder", status=5)
    test.run("guess", "folders", status=2)


def check_broken(test, fleet_rows):
    """Rows that no writer makes: their folder is left out, all others are counted."""
    values = {"time_ns": ("x", -1, 1 << 63, 1.5, True), "release": ({}, 7, None, "\ud800"),
              "crash": ("another",)}
    cases = [("crash", column, value) for column, some in values.items() for value in some]
    cases += [("function", "branches", None), ("function", "name", []), ("edge", "from", 1),
              ("edge", "to_offset", "x"), ("value", "class", None), ("value", "crash", "another")]
    top = test.folder / "broken"
    top.mkdir()
    made.write(top / "whole", fleet_rows[0])
    for number, (table, column, value) in enumerate(cases):
        rows = dict(fleet_rows[1])
        rows[table] = [row | {column: value} for row in rows[table]]
        made.write(top / f"{number:02}", rows)
    made.write(top / "deep", fleet_rows[1])
    deep = b"[" * 200000
    # As zstd(1) packs it without compressing: a frame of raw blocks.
    blocks = [deep[at:at + 100000] for at in range(0, len(deep), 100000)]
    (top / "deep/edge.jsonl.zst").write_bytes(b"\x28\xb5\x2f\xfd\x00\x58" + b"".join(
        (len(block) << 3 | (block is blocks[-1])).to_bytes(3, "little") + block
        for block in blocks))
    made.write(top / "pipe", fleet_rows[1])
    (top / "pipe/edge.jsonl.zst").unlink()
    os.mkfifo(top / "pipe/edge.jsonl.zst")
    os.rename(top / "pipe", os.fsencode(top) + b"/\xff\x1b[2J")
    for jobs in ("1", "2"):
        text, said = test.run("groups", "broken", "--jobs", jobs, status=1)
        test.expect("crashes beside broken ones", "1 crash in 1 group, 0 healthy snapshots",
                    text.splitlines()[0])
        test.expect("one line for each that is broken", len(cases) + 2, len(said.splitlines()))
        test.expect("names for a terminal", True, "??[2J: edge.jsonl.zst is no regular" in said)
    (test.folder / "garbage").write_text("no database" * 100, encoding="ascii")
    _, said = test.run("groups", "broken", "--database", "garbage", status=5)
    test.expect("a database that is none", "btsrec-fleet: garbage: file is not a database\n", said)


def check_unreadable(test, fleet_rows):
    """What may not be looked into is named, by a user who is not allowed everything."""
    weak = [] if os.getuid() else ["setpriv", "--bounding-set=-all", "--inh-caps=-all"]
    top = test.folder / "closed"
    top.mkdir()
    for name in ("shut", "open"):
        made.write(top / name, fleet_rows[name == "open"])
    made.write(top / "begun", fleet_rows[2], left_out=("crash",))

    def groups(mode_top, mode_shut, *words):
        top.chmod(mode_top)
        (top / "shut").chmod(mode_shut)
        done = subprocess.run([*weak, sys.executable, PROGRAM, "groups", *words, "closed"],
                              cwd=test.folder, text=True, capture_output=True, check=False)
        (top / "shut").chmod(0o700)
        top.chmod(0o700)
        return done.returncode, done.stdout.partition("\n")[0], done.stderr.splitlines()

    unfinished = "btsrec-fleet: 1 folder without crash.jsonl.zst left out: being written, or not " \
        "written to the end"
    found = "1 crash in 1 group, 0 healthy snapshots"
    test.expect("a folder that may not be looked into", (1, found, [
        "btsrec-fleet: shut: crash.jsonl.zst: Permission denied", unfinished]), groups(0o700, 0))
    test.expect("a folder that may be read", (1, found.replace("1 crash", "2 crashes"),
                                              [unfinished]), groups(0o700, 0o700))
    (top / "fleet.sqlite").unlink()
    test.expect("no place for the database", (5, "", [
        "btsrec-fleet: closed/fleet.sqlite: unable to open database file; "
        "--database puts it elsewhere"]), groups(0o500, 0o700))
    status, text, said = groups(0, 0o700, "--database", "elsewhere")
    test.expect("no folder that may be read", (5, "", True),
                (status, text, "Permission denied" in "".join(said)))


def check_locked(test, fleet_rows):
    """Two that read at once: the second says so."""
    top = test.folder / "locked"
    top.mkdir()
    made.write(top / "one", fleet_rows[0])
    other = store.Store(str(top / "fleet.sqlite")).connection
    other.execute("BEGIN IMMEDIATE")
    _, said = test.run("groups", "locked", status=5)
    test.expect("a database in use", "btsrec-fleet: another btsrec-fleet reads crashes into the "
                "database; try again when it is done\n", said)
    other.execute("COMMIT")
    test.run("groups", "locked")


# Each process begins later than the one before: the interrupt comes while the last one does.
INTERRUPTED = """
import os, signal, sys, time
sys.path[:0] = {folders!r}
from btsrec_fleet import command, tables
begun = []
os.register_at_fork(before=lambda: begun.append(0),
                    after_in_child=lambda: time.sleep(0.2 * (len(begun) - 1)))
def read(folder):
    os.killpg(0, signal.SIGINT)
    time.sleep(0.2)
    raise tables.Unreadable("late")
tables.read = read
sys.argv[1:] = ["groups", "--jobs", {jobs!r}, "--database", ":memory:", "fleet"]
sys.exit(command.main())
"""


def check_interrupted(test):
    """All processes get the signal of the terminal: one line, and the end that a shell expects."""
    for jobs in ("1", "3"):
        done = subprocess.run(
            [sys.executable, "-c", INTERRUPTED.format(folders=FOLDERS, jobs=jobs)],
            cwd=test.folder, text=True, capture_output=True, start_new_session=True, check=False)
        test.expect(f"Ctrl-C with {jobs} processes",
                    (-signal.SIGINT, "", "btsrec-fleet: interrupted; what was kept before stays\n"),
                    (done.returncode, done.stdout, done.stderr))


def check_real(test):
    """What btsrec writes: a dump with a fault whose value has an origin."""
    golden.make_folder(golden.Case(HERE.parent / "golden/why.in"), test.folder, test.args.mkimage)
    (test.folder / "real").mkdir()
    done = subprocess.run([test.args.btsrec, "export", "--to", "tables", "dump", "real/one"],
                          cwd=test.folder, capture_output=True, text=True, check=False)
    if done.returncode > 1:
        test.faults.append(done.stderr)
    (row,) = test.jsonl("groups", "--by", "culprit", "real")
    read = tables.rows(test.folder / "real/one", "value")
    made_by = [one["function"] for one in read if one["what"] not in ("asked", "loaded", "moved")
               and one["class"] != "unknown" and not one.get("insn", "").startswith("push ")]
    test.expect("culprit of a dump", made_by[-1], row["name"])
    _, said = test.run("groups", "real/one", status=5)
    test.expect("the folder of one crash", "btsrec-fleet: real/one has the tables of one crash; "
                "DIR is the folder that has such folders\n", said)
    test.expect("nothing is written there", False, (test.folder / "real/one/fleet.sqlite").exists())


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--btsrec", required=True)
    parser.add_argument("--mkimage", required=True)
    parser.add_argument("--schema", required=True, type=pathlib.Path)
    args = parser.parse_args()
    fleet_rows = made.fleet(random.Random(1), NR_CRASHES, NR_HEALTHY)
    with tempfile.TemporaryDirectory() as folder:
        test = Test(args, pathlib.Path(folder))
        (test.folder / "fleet").mkdir()
        for number, rows in enumerate(fleet_rows):
            made.write(test.folder / f"fleet/{number:03}", rows)
        check_chances(test)
        check_culprits(test, schema.Schema(args.schema / "fleet.schema.json"))
        check_shuffled(test, fleet_rows)
        check_sql(test, fleet_rows)
        check_parquet(test, fleet_rows)
        check_standard_files(test)
        check_outputs(test)
        check_folders(test, fleet_rows)
        check_broken(test, fleet_rows)
        check_unreadable(test, fleet_rows)
        check_locked(test, fleet_rows)
        check_interrupted(test)
        check_completion(test)
        check_real(test)
    for fault in test.faults:
        print(fault)
    return bool(test.faults)


if __name__ == "__main__":
    sys.exit(main())

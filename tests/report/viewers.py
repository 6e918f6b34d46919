#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The exports show in programs of others what btsrec prints.

speedscope, in a headless Chromium: every function of the folded stacks with as many branches
as "btsrec functions" counts, every thread of the trace with the calls that "btsrec calls"
lists, every CPU with the threads of "btsrec timeline". DuckDB: the JSON lines as they are.
lcov, with --vmlinux: as many lines and functions as the file says.

  viewers.py --btsrec PROGRAM --packages FOLDER [--chromium PROGRAM] [--vmlinux FILE]
             [--map FILE] [--screenshots FOLDER] DUMP
"""

import argparse
import base64
import collections
import html
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SECONDS = 600

# Reads the table of the view "sandwich", which holds only the rows in sight, of each profile.
DRIVER = r"""
const pause = (ms) => new Promise((done) => setTimeout(done, ms));
async function settled(value) {
	let before = value();
	for (let same = 0; same < 3;) {
		await pause(30);
		const now = value();
		same = now && now === before ? same + 1 : 0;
		before = now;
	}
}
async function read(list, rows) {
	for (let to = 0;; to = list.scrollTop + list.clientHeight / 2) {
		const before = to ? list.scrollTop : -1;
		list.scrollTop = to;
		list.dispatchEvent(new Event("scroll"));
		if (list.scrollTop === before)
			return;
		await pause(60);
		for (const row of list.querySelectorAll("tr"))
			if (row.cells.length === 3)
				rows.set(row.textContent, Array.from(row.cells, (cell) => cell.textContent));
	}
}
// A frame may come late: again, until there are as many rows as the height has room for.
async function table() {
	const rows = new Map();
	const heads = [...document.querySelectorAll("th")];
	const head = heads.find((cell) => cell.textContent.includes("Symbol Name"));
	const list = head.closest("table").nextElementSibling;
	for (let pass = 0; pass < 20; pass++) {
		await read(list, rows);
		const height = list.querySelector("tr")?.offsetHeight;
		if (height && rows.size >= Math.round(list.firstElementChild.offsetHeight / height))
			break;
	}
	return [...rows.values()];
}
(async () => {
	const profiles = [];
	await settled(() => document.querySelectorAll("td").length);
	const parts = [...document.querySelectorAll("div")];
	const bar = parts.find((div) => /^\W*Sandwich$/.test(div.textContent)).parentElement.parentElement;
	const middle = () => [...bar.childNodes].slice(1, -1).map((node) => node.textContent).join("");
	const nr = Number(middle().match(/\(\d+\/(\d+)\)/)?.[1] ?? 1);
	const title = () => nr === 1 ? middle() : middle().match(/^.*?\(\d+\/\d+\)/)[0];
	for (let i = 0; i < nr; i++) {
		profiles.push({ title: title(), rows: await table() });
		const before = title();
		for (const type of ["keydown", "keypress"])
			window.dispatchEvent(new KeyboardEvent(type, { key: "n", bubbles: true }));
		if (i + 1 < nr)
			await settled(() => title() !== before && title());
	}
	const shown = document.createElement("pre");
	shown.id = "shown";
	shown.textContent = JSON.stringify(profiles);
	document.body.replaceChildren(shown);
})();
"""

QUERY = """
import { createRequire } from "node:module";
const { DuckDBInstance } = createRequire(process.argv[2] + "/")("@duckdb/node-api");
const connection = await (await DuckDBInstance.create(":memory:")).connect();
for (const query of process.argv.slice(3))
	console.log(JSON.stringify((await connection.runAndReadAll(query)).getRowsJson()));
"""


class Failure(Exception):
    """What is shown is not what is printed."""


def run(command, **more):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          errors="replace", timeout=SECONDS, check=False, **more)
    if done.returncode:
        raise Failure(f"{' '.join(map(str, command))}: exit {done.returncode}\n{done.stderr}")
    return done.stdout


class Test:
    """One dump and where files go."""

    def __init__(self, args, folder):
        self.args = args
        self.folder = folder

    def btsrec(self, *arguments):
        names = ["--no-names", "--system-map", self.args.map] if self.args.map else []
        return run([self.args.btsrec, arguments[0], *names, *arguments[1:]])

    def jsonl(self, *arguments):
        text = self.btsrec(arguments[0], "--format", "jsonl", *arguments[1:], self.args.dump)
        return [json.loads(line) for line in text.splitlines()]

    def export(self, kind, name):
        path = self.folder / name
        self.btsrec("export", "--to", kind, "--force", self.args.dump, path)
        return path

    def speedscope(self, path, view, *options):
        page = self.args.packages / "node_modules/speedscope/dist/release/index.html"
        script = self.folder / "load.js"
        data = base64.b64encode(path.read_bytes()).decode()
        script.write_text(f'speedscope.loadFileFromBase64("{path.name}", "{data}");\n' +
                          (DRIVER if view == "sandwich" else ""))
        return run([self.args.chromium, "--headless", "--no-sandbox", "--disable-quic",
                    "--no-first-run", "--disable-background-networking", "--disable-gpu",
                    "--disable-component-update", "--disable-sync", "--use-gl=angle",
                    "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
                    f"--user-data-dir={self.folder}/profile", "--window-size=1500,900",
                    "--virtual-time-budget=600000", *options,
                    f"file://{page}#localProfilePath={script}&view={view}"])

    def shown(self, path):
        """What speedscope shows: by title of a profile its rows (total, self, name)."""
        text = self.speedscope(path, "sandwich", "--dump-dom")
        found = re.search(r'<pre id="shown">(.*?)</pre>', text, re.DOTALL)
        if not found:
            raise Failure(f"speedscope shows no table for {path.name}")
        if self.args.screenshots:
            for view in ("time-ordered", "left-heavy"):
                self.speedscope(path, view, "--hide-scrollbars", "--screenshot=" + str(
                    self.args.screenshots / f"{path.stem}-{view}.png"))
        return {re.sub(r" \(\d+/\d+\)$", "", one["title"]): one["rows"]
                for one in json.loads(html.unescape(found[1]))}


def number(text):
    return int(text.split()[0].replace(",", ""))


def same(what, ours, theirs):
    if ours != theirs:
        only_ours, only_theirs = sorted(ours - theirs), sorted(theirs - ours)
        raise Failure(f"{what}: only btsrec has {only_ours[:5]}, only they have {only_theirs[:5]}")


def folded(test):
    """Own branches of each function; the threads, without branches of their own."""
    path = test.export("folded", "folded.txt")
    # What speedscope shows is what the file has, and its own branches those of functions.
    printed = collections.Counter()
    for row in test.jsonl("functions"):
        if row["kind"] == "function":
            printed[row["function"]] += row["branches"]
    (rows,) = test.shown(path).values()
    shown = {name: number(own) for _, own, name in rows}
    same("branches by function", {(name, nr) for name, nr in printed.items() if nr},
         {(name, nr) for name, nr in shown.items() if nr})
    threads = {line.split(";")[0] for line in path.read_text().splitlines()}
    totals = {name: number(total) for total, _, name in rows}
    if sum(totals[thread] for thread in threads) != sum(printed.values()):
        raise Failure("the threads do not have all branches together")
    print(f"speedscope: {sum(printed.values())} branches of {len(printed)} functions in "
          f"{len(threads)} threads, as btsrec functions has them")


def calls_by_thread(test):
    """Names of what each thread called, by (CPU, thread, name of the thread)."""
    found = collections.defaultdict(set)
    thread = None
    for row in test.jsonl("calls"):
        if row["kind"] == "thread":
            thread = (row["cpu"], row.get("pid"))
        elif row["kind"] == "enter":
            name = row.get("to_sym", row["to"])
            name = re.sub(r"\+0x[0-9a-f]+(?= \[|$)", "", name)
            found[thread].add(name)
    return found


def chrome(test):
    shown = test.shown(test.export("chrome", "trace.json"))
    ours = calls_by_thread(test)
    theirs, cpus = {}, {}
    for title, rows in shown.items():
        if cpu := re.fullmatch(r"CPUs \(pid \d+\), CPU (\d+) \(tid \d+\)", title):
            cpus[int(cpu[1])] = {name for _, _, name in rows}
            continue
        # The idle thread is number 0 on every CPU.
        row = re.fullmatch(r".* \(pid \d+\), .*?(?:(\d+) )?on CPU (\d+) \(tid \d+\)", title)
        if not row:
            raise Failure(f"speedscope shows a profile '{title}'")
        theirs[int(row[2]), int(row[1]) if row[1] else None] = {name for _, _, name in rows}
    same("threads with calls", {str(thread) for thread in ours}, {str(thread) for thread in theirs})
    for thread, names in ours.items():
        same(f"functions called on CPU {thread[0]} by thread {thread[1]}", names, theirs[thread])
    runs = collections.defaultdict(set)
    for row in test.jsonl("timeline"):
        if row["kind"] == "switch" and not row.get("mm_only"):
            runs[row["cpu"]].add(f"{row['next']['pid']} {row['next']['comm']}")
    for cpu, names in runs.items():
        if not names <= cpus.get(cpu, set()):
            raise Failure(f"CPU {cpu}: {names - cpus.get(cpu, set())} are not shown")
    print(f"speedscope: {sum(map(len, ours.values()))} functions of {len(ours)} threads on "
          f"{len(cpus)} CPUs, as btsrec calls and timeline have them")


def duckdb(test):
    node = shutil.which("node")
    if not node:
        raise Failure("there is no node")
    queries, printed = [], []
    for command, options in (("show", ("--types",)), ("calls", ())):
        path = test.folder / f"{command}.jsonl"
        path.write_text(test.btsrec(command, "--format", "jsonl", *options, test.args.dump))
        rows = collections.Counter()
        for line in path.read_text().splitlines():
            row = json.loads(line)
            rows[row["kind"], row["cpu"]] += 1
        queries.append(f"SELECT kind, cpu, count(*) FROM read_json('{path}') GROUP BY ALL")
        printed.append({(kind, cpu, nr) for (kind, cpu), nr in rows.items()})
    query = test.folder / "query.mjs"
    query.write_text(QUERY)
    text = run([node, query, test.args.packages / "node_modules", *queries])
    for ours, line in zip(printed, text.splitlines(), strict=True):
        same("rows in DuckDB", ours, {(kind, int(cpu), int(nr))
                                      for kind, cpu, nr in json.loads(line)})
    print(f"DuckDB: {sum(sum(row[2] for row in rows) for rows in printed)} rows of show and calls, "
          "equal by kind and CPU")


def tables(test):
    """DuckDB reads the tables as they are, and counts in them what functions and calls print."""
    folder = test.folder / "tables"
    test.btsrec("export", "--to", "tables", test.args.dump, folder)
    functions = [row for row in test.jsonl("functions") if row["kind"] == "function"]
    calls = [row for row in test.jsonl("calls") if row["kind"] == "enter"]
    ours = [len(calls), sum(row["branches"] for row in functions),
            sum(row["branches"] for row in functions), sum(row["calls"] for row in functions)]
    query = test.folder / "query.mjs"
    query.write_text(QUERY)
    text = run([shutil.which("node"), query, test.args.packages / "node_modules",
                f"SELECT count(*) FROM '{folder}/call.jsonl.zst'",
                f"SELECT sum(count) FROM '{folder}/edge.jsonl.zst'",
                f"SELECT sum(branches) FROM '{folder}/function.jsonl.zst'",
                f"SELECT sum(f.calls) FROM '{folder}/function.jsonl.zst' f "
                f"JOIN '{folder}/crash.jsonl.zst' USING (crash)"])
    theirs = [int(json.loads(line)[0][0]) for line in text.splitlines()]
    if ours != theirs:
        raise Failure(f"tables: btsrec counts {ours}, DuckDB {theirs}")
    print(f"DuckDB: {theirs[0]} calls, {theirs[1]} branches of edges and of functions, as btsrec "
          "functions and calls have them")


def lcov(test):
    path = test.folder / "coverage.info"
    test.btsrec("export", "--to", "lcov", "--force", "--vmlinux", test.args.vmlinux,
                test.args.dump, path)
    printed = collections.Counter()
    for line in path.read_text().splitlines():
        if row := re.fullmatch(r"(LF|LH|FNF|FNH):(\d+)", line):
            printed[row[1]] += int(row[2])
    text = subprocess.run(["lcov", "--summary", path], capture_output=True, text=True,
                          check=True, timeout=SECONDS)
    shown = re.findall(r"\((\d+) of (\d+) (?:lines|functions)\)", text.stdout + text.stderr)
    ours = [(str(printed["LH"]), str(printed["LF"])), (str(printed["FNH"]), str(printed["FNF"]))]
    if shown != ours or not printed["LH"]:
        raise Failure(f"lcov counts {shown}, the file says {ours}")
    run(["genhtml", "--quiet", "--ignore-errors", "source", "--synthesize-missing",
         "--output-directory", test.folder / "html", path]
        if "--synthesize-missing" in run(["genhtml", "--help"]) else
        ["genhtml", "--quiet", "--ignore-errors", "source", "--output-directory",
         test.folder / "html", path])
    if not (test.folder / "html/index.html").is_file():
        raise Failure("genhtml makes no page")
    print(f"lcov: {printed['LH']} of {printed['LF']} lines, {printed['FNH']} of {printed['FNF']} functions")


def main():
    parser = argparse.ArgumentParser(description="the exports in programs of others")
    parser.add_argument("--btsrec", required=True)
    parser.add_argument("--packages", required=True, type=pathlib.Path)
    parser.add_argument("--chromium")
    parser.add_argument("--vmlinux")
    parser.add_argument("--map", help="all names are those of this System.map")
    parser.add_argument("--screenshots", type=pathlib.Path)
    parser.add_argument("dump")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        test = Test(args, pathlib.Path(name))
        try:
            if args.chromium:
                folded(test)
                chrome(test)
            duckdb(test)
            tables(test)
            if args.vmlinux and shutil.which("lcov"):
                lcov(test)
        except Failure as failure:
            print(failure)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

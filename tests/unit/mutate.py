#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Take each check of the decoder away, one at a time, and see a unit test fail.

    tests/unit/mutate.py [--build DIR] [--cc CC] [--stem FILE] [-v]

A check is a condition with a body that leaves the ordinary way, each operand of
such a condition, and each operand of a returned condition. An operand is replaced
by the constant that makes it without effect; the stem's tests are built against
the changed source and must fail.  Exit status 1 names the checks that no test
misses.  What each test is made of is in the build folder (build/dev).
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SRC = ROOT / "decoder/src"
UNIT = ROOT / "tests/unit"

# Libraries that a stage may need; those that none of its code calls are left out.
LIBRARIES = ["-lz", "-lZydis", "-lzstd", "-lelf", "-ldw", "-lbpf", "-llzo2", "-lsnappy",
             "-lcheck", "-lsubunit", "-lrt", "-lpthread", "-lm", "-ldl"]
# A stage is tested by the test of its name and those with names that go on from it, and by these.
FRAMES = ["frames", "frames_levels", "frames_threads"]
HISTORY = ["session", "history", "losses"]
TESTED_BY = {"stacks": FRAMES, "frames_calls": FRAMES, "frames_entries": FRAMES,
             "history": HISTORY, "checkpoints": HISTORY, "session": HISTORY,
             "locate": ["located"], "calltree_shape": ["calltree_lines"],
             "mkdump_headers": ["mkdump", "elfdump"]}
# It reads lines of its own program.
NOT_HERE = ("dwarf_file",)


def unit_tests(build):
    """Test program -> the stems that it is linked with; and what is defined for unpack.c."""
    lines = (build / "tests/unit_tests").read_text().splitlines()
    tests = {name: stems for name, *stems in map(str.split, lines) if stems}
    commands = (build / "compile_commands.json").read_text()
    return tests, sorted(set(re.findall(r"-DBTSREC_HAVE\w+", commands)))


def tests_of(stem, tests):
    names = {name for name in tests if (name + "_").startswith(stem + "_") or
             stem.startswith(name + "_")}
    return sorted(names | set(TESTED_BY.get(stem, [])))


def stem_files(tests):
    """File of the decoder -> the tests that stand for it."""
    files = {"image.h": ["image", "locate"]}
    for stem in sorted({stem for stems in tests.values() for stem in stems}):
        names = tests_of(stem, tests)
        if names and stem not in NOT_HERE:
            files[f"{stem}.c"] = names
    return files


# What makes an if statement a check.
REJECTS = re.compile(
    r"msg_set\(|diags_add\(|search_reject\(|return BTSREC_ERR_|return status|return NULL"
    r"|return false|return true|return 0|return emit_|return lose_|return tear_|continue;|break;"
    r"|return BTSREC_OK|return tl|first_bad|set_gap\(|feed_gap\(|return is_fatal|return nr"
    r"|return;")


def closing(text, start):
    """Index of the parenthesis that closes the one at start."""
    depth = 0
    for i in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[i], 0)
        if not depth:
            return i
    raise ValueError("unbalanced parentheses")


def split_operands(text, start, end, operator):
    """(start, end) of the operands of a top-level && or || chain."""
    depth, begin, out = 0, start, []
    i = start
    while i < end:
        depth += {"(": 1, ")": -1, "[": 1, "]": -1}.get(text[i], 0)
        if depth == 0 and text.startswith(operator, i):
            out.append((begin, i))
            i += 2
            begin = i
            continue
        i += 1
    out.append((begin, end))
    return out


def replace(text, start, end, constant):
    body = text[start:end]
    lead = body[:len(body) - len(body.lstrip())]
    return text[:start] + lead + constant + " " * bool(end < len(text) and text[end] != ")") \
        + text[end:]


def mutants_of_condition(text, start, end):
    """Without the condition; and without each of its operands."""
    yield start, end, "0"
    ors = split_operands(text, start, end, "||")
    for begin, stop in ors:
        if len(ors) > 1:
            yield begin, stop, "0"
        ands = split_operands(text, begin, stop, "&&")
        for inner in ands if len(ands) > 1 else []:
            yield inner[0], inner[1], "1"


def mutants(text):
    """Yield (line, what, changed text)."""
    for match in re.finditer(r"\bif \(", text):
        start, end = match.end(), closing(text, match.end() - 1)
        body = text[end + 1:]
        body = body[:body.find("}")] if body.startswith(" {") else body[:body.find(";") + 1]
        if not REJECTS.search(body):
            continue
        for begin, stop, constant in mutants_of_condition(text, start, end):
            yield (text.count("\n", 0, begin) + 1, text[begin:stop].strip(),
                   replace(text, begin, stop, constant))
    for operator, constant in (("&&", "1"), ("||", "0")):
        for match in re.finditer(r"\breturn ([^;?]*" + re.escape(operator) + r"[^;?]*);", text):
            for begin, stop in split_operands(text, match.start(1), match.end(1), operator):
                yield (text.count("\n", 0, begin) + 1, text[begin:stop].strip(),
                       replace(text, begin, stop, constant))


def in_room(folder, name):
    """The file of that name; there is one in all rooms below the folder."""
    found, = folder.rglob(name)
    return found


class Builder:
    """@files: as of stem_files(); @work: a folder."""

    def __init__(self, build, compiler, work):
        self.stems, self.defines = unit_tests(build)
        self.files = stem_files(self.stems)
        self.compiler = compiler
        self.work = work

    def command(self, test, tree, out):
        sources = [in_room(tree, f"{stem}.c") for stem in self.stems[test]]
        return [self.compiler, "-std=gnu11", "-O0", "-w", "-D_GNU_SOURCE",
                '-DBTSREC_VERSION="0"', *self.defines,
                "-fsanitize=address,undefined", "-fno-sanitize-recover=all",
                f"-I{tree}", f"-I{ROOT}/tests", f"-I{UNIT}",
                f"-I{ROOT}/decoder/include", f"-I{ROOT}/kmod/include", "-o", out,
                in_room(UNIT, f"test_{test}.c"), UNIT / "fixture.c", UNIT / "failing_alloc.c",
                *sources, "-Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=reallocarray,"
                "--wrap=aligned_alloc,--wrap=strdup,--wrap=asprintf,--wrap=vasprintf",
                "-Wl,--as-needed", *LIBRARIES,
                *["-ldeflate"] * ("-DBTSREC_HAVE_LIBDEFLATE" in self.defines)]

    def run(self, name, what, changed, stem_file):
        """What the test that missed the check said; None: no test did."""
        # All of them, because a source finds the headers beside it first.
        tree = self.work / name
        shutil.copytree(SRC, tree,
                        ignore=shutil.ignore_patterns("view_*", "export_*", "report[._]*"))
        in_room(tree, stem_file).write_text(changed)
        for test in self.files[stem_file]:
            out = self.work / f"{name}-{test}"
            built = subprocess.run(self.command(test, tree, out), capture_output=True, text=True,
                                   check=False)
            if built.returncode:
                raise RuntimeError(f"{name}: {what}: {built.stderr}")
            failed = failure_of(out)
            out.unlink()
            if failed:
                break
        shutil.rmtree(tree)
        return failed


def failure_of(program):
    """Its first failure; None: it has none."""
    with subprocess.Popen([program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                          start_new_session=True) as ran:
        try:
            output, _ = ran.communicate(timeout=120)
        except subprocess.TimeoutExpired:
            # check runs each test in a process group of its own, but in this session.
            subprocess.run(["pkill", "-KILL", "-s", str(ran.pid)], check=False)
            return "hangs"
    if not ran.returncode:
        return None
    failed = [line for line in output.splitlines() if ":F:" in line or ":E:" in line]
    return failed[0].split("/")[-1][:90] if failed else "fails"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/dev", metavar="DIR")
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--stem", action="append", help="only this file, for example ring.c")
    parser.add_argument("-v", "--verbose", action="store_true")
    args = parser.parse_args()
    survivors, nr, jobs = [], 0, {}
    with tempfile.TemporaryDirectory() as work, \
            concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        builder = Builder(args.build, args.cc, pathlib.Path(work))
        for stem_file in args.stem or builder.files:
            text = in_room(SRC, stem_file).read_text()
            failed = builder.run("as-it-is", "", text, stem_file)
            if failed:
                raise SystemExit(f"{stem_file}: fails as it is: {failed}")
            for line, what, changed in mutants(text):
                nr += 1
                job = pool.submit(builder.run, f"m{nr}", what, changed, stem_file)
                jobs[job] = (stem_file, line, " ".join(what.split()))
        for job in concurrent.futures.as_completed(jobs):
            stem_file, line, what = jobs[job]
            killed = job.result()
            if killed and args.verbose:
                print(f"killed    {stem_file}:{line}: {what}  [{killed}]", flush=True)
            if not killed:
                survivors.append((stem_file, line, what))
    for stem_file, line, what in sorted(survivors):
        print(f"SURVIVED  {stem_file}:{line}: {what}")
    print(f"{nr} checks taken away, {nr - len(survivors)} missed by a test, "
          f"{len(survivors)} not missed")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())

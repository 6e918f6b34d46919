#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Take each check of the decoder away, one at a time, and see a unit test fail.

    tests/unit/mutate.py [--cc CC] [--stem STEM] [-v]

A check is a condition whose body leaves the ordinary way, each operand of such a
condition, and each operand of a returned condition.  An operand is replaced
by the constant that makes it without effect; the stem's tests are built against
the changed source and must fail.  Exit status 1 names the checks that no test
misses.
"""
import argparse
import concurrent.futures
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
# What has no test of its own name is tested by another one.
TESTED_BY = {"stacks": ["frames"], "history": ["session"]}
# Tests that tests/CMakeLists.txt makes otherwise, and one that reads lines of its own program.
MORE_TESTS = {"extract": ["extract_read", "extract_write", "status"]}
NOT_HERE = ("dwarf_file",)


def unit_tests():
    """Test program -> the stems that it is linked with, as tests/CMakeLists.txt says."""
    text = (ROOT / "tests/CMakeLists.txt").read_text()
    sets = {name: words.split() for name, words in re.findall(r"^set\((\w+) ([^)$]*)\)", text, re.M)}
    tests = dict(MORE_TESTS)
    for words in re.findall(r"^btsrec_add_unit_test\(([^)]*)\)", text, re.M):
        words = re.sub(r"\$\{(\w+)\}", lambda match: " ".join(sets[match.group(1)]), words)
        tests[words.split()[0]] = words.split()
    return tests


def stem_files(tests):
    """File of the decoder -> the tests that stand for it, each with its stems."""
    files = {"image.h": [(name, tests[name]) for name in ("image", "locate")]}
    for stem in sorted({stem for stems in tests.values() for stem in stems}):
        names = [stem] if stem in tests else TESTED_BY.get(
            stem, [name for name in tests if stem.startswith(name + "_")])
        if names and stem not in NOT_HERE:
            files[f"{stem}.c"] = [(name, tests[name]) for name in names]
    return files


TESTS = stem_files(unit_tests())

# What makes an if statement a check.
REJECTS = re.compile(
    r"msg_set\(|findings_add\(|search_reject\(|return BTSREC_ERR_|return status|return NULL"
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




def build_and_run(cc, work, name, what, changed, stem_file):
    """What the test that missed the check said; None: no test did."""
    for test, stems in TESTS[stem_file]:
        out = work / f"{name}-{test}"
        # All of them, because a source finds the headers beside it first.
        tree = work / name
        if not tree.exists():
            shutil.copytree(SRC, tree, ignore=shutil.ignore_patterns("view*", "export*", "report*"))
        (tree / stem_file).write_text(changed)
        sources = [tree / f"{stem}.c" for stem in stems]
        command = [cc, "-std=gnu11", "-O0", "-w", "-D_GNU_SOURCE", '-DBTSREC_VERSION="0"',
                   "-fsanitize=address,undefined", "-fno-sanitize-recover=all",
                   f"-I{tree}", f"-I{ROOT}/tests", f"-I{UNIT}",
                   f"-I{ROOT}/decoder/include", f"-I{ROOT}/kmod/include", "-o", out,
                   UNIT / f"test_{test}.c", UNIT / "fixture.c", UNIT / "failing_alloc.c",
                   *sources, "-Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=reallocarray,"
                   "--wrap=aligned_alloc,--wrap=strdup,--wrap=asprintf,--wrap=vasprintf",
                   "-Wl,--as-needed", *LIBRARIES]
        built = subprocess.run(command, capture_output=True, text=True, check=False)
        if built.returncode:
            raise RuntimeError(f"{name}: {what}: {built.stderr}")
        with subprocess.Popen([out], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                              start_new_session=True) as ran:
            try:
                output, _ = ran.communicate(timeout=120)
            except subprocess.TimeoutExpired:
                # check runs each test in a process group of its own, but in this session.
                subprocess.run(["pkill", "-KILL", "-s", str(ran.pid)], check=False)
                return "hangs"
            finally:
                out.unlink()
        if ran.returncode:
            failed = [line for line in output.splitlines() if ":F:" in line or ":E:" in line]
            return failed[0].split("/")[-1][:90] if failed else "fails"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--stem", action="append", help="only this file, for example ring.c")
    parser.add_argument("-v", "--verbose", action="store_true")
    args = parser.parse_args()
    survivors, nr, jobs = [], 0, {}
    with tempfile.TemporaryDirectory() as work, \
            concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        for stem_file in args.stem or TESTS:
            text = (SRC / stem_file).read_text()
            failed = build_and_run(args.cc, pathlib.Path(work), "as-it-is", "", text, stem_file)
            if failed:
                raise SystemExit(f"{stem_file}: fails as it is: {failed}")
            for line, what, changed in mutants(text):
                nr += 1
                job = pool.submit(build_and_run, args.cc, pathlib.Path(work), f"m{nr}", what,
                                  changed, stem_file)
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

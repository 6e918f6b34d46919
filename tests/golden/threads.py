#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A listing, and any other view, is the same for every number of threads, whatever they meet.

usage: threads.py --btsrec PROGRAM --mkimage PROGRAM [--threads LIST]

The history has more different branches than ends of lines are kept of, so that they are
forgotten twice and more; the same branches again, which several threads meet at once; names of
the kernel, of a module and of user code, the last with reasons that are counted; runs of a few
branches between switches, and one CPU that follows another.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile

HEAD = """root cpus=3 ring=700000
userkernel user0
symbol _stext T 0xffffffff81000000
symbol middle T 0xffffffff81200000
symbol __x86_return_thunk T 0xffffffff81a00000
symbol _end B 0xffffffff82000000
module name=loop text_kva=0xffffffffc0000000 text_bytes=0x4000
modsym loop_begin T 0xffffffffc0000000
modsym loop_rest t 0xffffffffc0001000
code kernel 0xffffffff81000000 90e8fa00000085c07506cccccccccccc90f490ebeb
code kernel 0xffffffff81200000 e9fbff7f00c3ffe0ffd00f059048cf
code user0 0x401812 c3
"""
INIT, PROG = "1/1/0x1000/init", "4242/4242/0x100000/prog"
# What is kept is half of TAILS_MAX_SLOTS.
NEW = "fill 300000 0xffffffff81000000 0xffffffff81400000 0x5\n"
SAME = """fill 2000 0xffffffff81000000 0xffffffff81200000 0x1
fill 300 0xffffffffc0000000 0xffffffffc0001000 0x8
fill 300 0xffffffff81200000 0xffffffffc0002000 0x1
"""
USER = """fill 7 0x400812 0x400900 0x1
fill 3 0x402010 0x500100 0x4
fill 2 0x7f0000000020 0x7f0000010812 0x1
branch 0x7ffff0020000 0x12345
branch 0x12345 0xffffffff81000010
fill 20 0xffffffff81200000 0xffffffff81a00000 0x1
"""


def switches(nr):
    """The program runs, and something else, in turn."""
    for i in range(nr):
        sides = (PROG, INIT) if i % 2 else (INIT, PROG)
        yield f"switch tsc={10 + i} task=0x0 prev={sides[0]} next={sides[1]}\n{USER}"


def describe_many(form):
    """More CPUs than threads, of different length."""
    yield HEAD.replace("cpus=3 ring=700000", "cpus=9 ring=40000") + form
    for cpu in range(9):
        yield f"cpu {cpu}\narm tsc=1 now={PROG if cpu % 2 else INIT}\n"
        yield SAME * (cpu * 5 % 3)
        yield from switches(7 * cpu + 2)
        yield "fill 500 0xffffffff81000000 0xffffffff81400000 0x5\n"
        if cpu != 4:
            yield f"freeze reason=panic tsc=90000 ip=0xffffffff81000012 " \
                  f"stop_ip=0xffffffff81000010 via_nmi={int(cpu != 3)}\n"


def describe(form):
    yield HEAD + form
    yield f"cpu 0\narm tsc=1 now={INIT}\n"
    yield SAME * 16
    yield from switches(200)
    yield SAME * 4 + NEW + SAME * 5
    yield from switches(1500)
    yield NEW.replace("0x5", "0x6") + SAME
    yield "freeze reason=panic tsc=90000 ip=0xffffffff81000012 stop_ip=0xffffffff81000010\n"
    yield f"cpu 1\narm tsc=1 now={PROG}\n"
    yield SAME * 9 + USER * 900
    yield f"cpu 2\narm tsc=1 now={PROG}\n{SAME}"


# Each CPU is printed by one thread, beside the others.
VIEWS = (["calls"], ["calls", "--format", "jsonl", "--kernel"], ["calls", "-n", "3000"],
         ["insns", "-n", "4000"], ["insns", "--format", "jsonl", "-n", "900", "--cpu", "2,0"],
         ["functions"], ["functions", "--by", "task"], ["functions", "--by", "cpu"],
         ["stack"], ["stack", "--format", "jsonl"], ["prove"], ["summary"],
         ["summary", "--format", "jsonl"], ["info"], ["check"], ["slow"],
         ["calls", "--merge", "--symbol", "loop_*", "-n", "3000"])


def answer(btsrec, dump, words, nr_threads, view="show"):
    files = [] if view == "check" else ["--sysroot", "/sys"]
    done = subprocess.run([btsrec, view, *files, *words, "--threads", str(nr_threads), dump],
                          capture_output=True, check=False)
    return done.returncode, done.stdout, done.stderr


def same(args, dump, words, threads):
    """Is the answer of all of THREADS that of one?"""
    one = answer(args.btsrec, dump, words, 1)
    if one[0] not in (0, 1) or one[2] or one[1].count(b"\n") < 10000:
        raise SystemExit(f"one thread, {words}: exit {one[0]}, {one[2].decode()}")
    for nr_threads in threads:
        if answer(args.btsrec, dump, words, nr_threads) != one:
            print(f"{' '.join(words)}: {nr_threads} threads answer other than one")
            return False
    return True


def same_views(args, dump, nr_threads):
    """The same of all other views, of many CPUs."""
    for view, *words in VIEWS:
        one, more = (answer(args.btsrec, dump, words, nr, view) for nr in (1, nr_threads))
        if one[0] not in (0, 1) or not one[1]:
            raise SystemExit(f"one thread, {view} {words}: exit {one[0]}, {one[2].decode()}")
        if more != one:
            print(f"{view} {' '.join(words)}: {nr_threads} threads answer other than one")
            return False
    return True


def extract(args, dump, words, nr_threads, out):
    """How it ends, what it says, and what it has written by then."""
    with open(out, "wb") as file:
        done = subprocess.run([args.btsrec, "extract", *words, "--threads", str(nr_threads), dump,
                               "-"], stdout=file, stderr=subprocess.PIPE, check=False)
    return done.returncode, done.stderr, b"" if out.is_char_device() else out.read_bytes()


def same_extract(args, dump, words, threads, out, lacks=False):
    """Is the small file that of one thread?  OUT may be where nothing can be written; of a dump
    that lacks a part of the history the status is 1, with a sentence."""
    one = extract(args, dump, words, 1, out)
    if out.is_char_device():
        good = one[0] == 7 and one[1]
    else:
        good = one[0] == lacks and bool(one[1]) == lacks and len(one[2]) > 1000
    if not good:
        raise SystemExit(f"one thread, extract {words}: exit {one[0]}, {one[1].decode()}")
    for nr_threads in threads:
        if extract(args, dump, words, nr_threads, out) != one:
            print(f"extract {' '.join(words)}: {nr_threads} threads write other than one")
            return False
    return True


def first_come_first(args, dump, words):
    """Are the first lines, printed before all of a ring is read, the same where all of it was read
    before? The newest so many events are all that there are."""
    for nr_threads in (1, 3):
        if answer(args.btsrec, dump, words, nr_threads) != \
           answer(args.btsrec, dump, [*words, "-n", "99999999"], nr_threads):
            print(f"{' '.join(words)}: {nr_threads} threads print other lines first")
            return False
    return True


def read_until_first(args, dump, words):
    """How many bytes were read when the first line comes out of a pipe that holds little."""
    with subprocess.Popen([args.btsrec, "show", "--sysroot", "/sys", "--threads", "1", *words,
                           dump], stdout=subprocess.PIPE, bufsize=0, pipesize=4096) as process:
        process.stdout.read(1)
        counts = pathlib.Path(f"/proc/{process.pid}/io").read_text(encoding="ascii")
        process.kill()
    return int(counts.split()[1])


def first_come_soon(args, dump, cpu="0"):
    """Do they come before the ring is read, and would this notice if they did not?"""
    soon, late = (read_until_first(args, dump, ["--cpu", cpu, *words])
                  for words in ([], ["-n", "99999999"]))
    if soon < late / 2:
        return True
    print(f"{soon} bytes are read before the first line, and {late} where all must be")
    return False


def describe_alone(form):
    """For long no switch comes, and nothing but the kernel runs; or the program that only the first
    switch names, at once, soon or too late."""
    parts = ((SAME * 150, 20), (USER * 300 + SAME * 20, 150),
             (SAME + USER + "mark tsc=2 text=a\n" + SAME * 20, 70), (USER * 4700, 1))
    end = "freeze reason=panic tsc=90000 ip=0xffffffff81000012 stop_ip=0xffffffff81000010\n"
    yield HEAD.replace("cpus=3", "cpus=4") + form
    for cpu, (begin, nr_more) in enumerate(parts):
        yield f"cpu {cpu}\n{begin}switch tsc=5 task=0x0 prev={PROG} next={INIT}\n"
        yield SAME * nr_more
        yield end


def describe_holes():
    """Some pages of each ring are not in the dump."""
    yield from describe("format kdump\n")
    for cpu in range(3):
        yield from (f"hole ring{cpu}.{page}\n" for page in range(cpu * 3, 1500, 37))


def make_dump(mkimage, path, text):
    """Of a packed dump the pages are unpacked ahead, of another one the ring is read ahead."""
    subprocess.run([mkimage, path], input="".join(text).encode(), check=True)
    return path


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--btsrec", required=True)
    parser.add_argument("--mkimage", required=True)
    parser.add_argument("--threads", default="2,3,16")
    args = parser.parse_args()
    threads = [int(word) for word in args.threads.split(",")]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        packed = make_dump(args.mkimage, folder / "packed", describe("format kdump\n"))
        plain = make_dump(args.mkimage, folder / "plain", describe(""))
        alone = make_dump(args.mkimage, folder / "alone", describe_alone(""))
        many_packed = make_dump(args.mkimage, folder / "many_packed",
                                describe_many("format kdump\n"))
        many_plain = make_dump(args.mkimage, folder / "many", describe_many(""))
        small = folder / "small"
        holes = make_dump(args.mkimage, folder / "holes", describe_holes())
        good = [same(args, packed, ["--types"], threads),
                same(args, packed, ["--format", "jsonl"], threads[:1]),
                same(args, packed, ["--pid", "4242", "--types"], threads[:1]),
                same(args, plain, ["--types"], threads),
                same(args, plain, ["--types", "--format", "tsv", "--cpu", "0-1"], threads[-1:]),
                same(args, plain, ["--no-names"], threads),
                same(args, plain, ["-n", "400000", "--types"], threads[:1]),
                same(args, plain, ["--kernel", "--types"], threads[:1]),
                same(args, plain, ["--thread", "4242"], threads[:1]),
                same_views(args, many_packed, threads[0]),
                same_views(args, many_plain, threads[-1]),
                same_extract(args, packed, [], threads[:1], small),
                same_extract(args, plain, [], threads[-1:], small),
                same_extract(args, holes, [], threads, small, lacks=True),
                same_extract(args, plain, ["--no-user", "--no-paths"], threads[:1], small),
                same_extract(args, many_packed, [], threads[-1:], pathlib.Path("/dev/full")),
                first_come_first(args, packed, ["--types"]),
                first_come_first(args, plain, ["--format", "jsonl", "--cpu", "0"]),
                first_come_first(args, plain, ["--no-names"]),
                *(first_come_first(args, alone, ["--types", "--cpu", cpu]) for cpu in "0123"),
                first_come_soon(args, plain),
                *(first_come_soon(args, alone, cpu) for cpu in "012")]
    sys.exit(not all(good))


if __name__ == "__main__":
    main()

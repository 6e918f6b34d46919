#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The collector on folders that somebody fills to harm it.

usage: collect.py --collect SCRIPT --btsrec PROGRAM --mkimage PROGRAM [--seconds S] [--rounds R]
                  [--seed N]

Each round makes a folder of dumps, a state folder and a pstore at random: names with what shells,
journals and patterns obey, links that lead out, pipes, folders in place of files, marks and
attempts with any content.  A round repeats with its own seed.  The collector then ends in time and
with status 0.  It changes nothing but its state: no dump, nothing behind a link.  Each line of the
journal is a field that it knows.  A dump that nobody harmed has its report.
"""

import argparse
import os
import pathlib
import random
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import time

TIMEOUT_S = 120
# What a name may have in it, and what it would do.
PARTS = ("a", "$(touch PWNED)", "`touch PWNED`", ";touch PWNED;", "\n", "\nPRIORITY=0", " ", "'",
         '"', "\\", "*", "?[a-z]", "-rf", "--", "\x1b[2J", "\x7f", "é", "%s%n", "..", "&", "|", "$HOME",
         "\t", "incomplete", "=", "~", "{a,b}", "#", "!", "x" * 90)
CONTENTS = (b"", b"\n", b"99999999999999999999\n", b"-1\n", b"0x10\n", b"08\n",
            b"a[$(touch PWNED)]\n", b"\0\0\0", b"/etc\n", b"/\n", b"given up\n", b"..\n", b"\xff\xfe", b"1\n2\n")
FIELDS = re.compile(rb"(MESSAGE_ID|PRIORITY|SYSLOG_IDENTIFIER|MESSAGE|BTSREC_[A-Z]+)=[^\n]*\n")
DUMP = """root ring=200
cpu 0
arm tsc=1 now=7/7/0x100000/init
fill 100 0xffffffff81000000 0xffffffff81100000 0x10
freeze reason=panic tsc={tsc}
"""
# In place of btsrec-analyze, whose own tests are others: as fast as there is one.
ANALYZE = """#!/bin/sh
while [ "$1" != --into ]; do shift; done
printf 'first fault: panic\\nverdict: x\\nPRIORITY=0\\nsignature: v1:\\n' >"$2/summary.txt"
echo 'loss 1' >"$2/info.txt"
"""


def name(rng):
    return "".join(rng.choice(PARTS) for _ in range(rng.randint(1, 3))).replace("/", "")[:120]


def dump_name(rng):
    return rng.choice(("dump.", "vmcore.", "")) + name(rng) if rng.random() < 0.8 else "vmcore"


def put(path, rng, outside, whole):
    """Something called PATH, whatever it is."""
    kind = rng.randrange(9)
    if kind < 2:
        path.write_bytes(whole)
    elif kind == 2:
        path.write_bytes(whole[:rng.randrange(len(whole))])
    elif kind == 3:
        path.write_bytes(rng.choice(CONTENTS))
    elif kind == 4:
        path.symlink_to(rng.choice((outside / "kept", outside, path.name, "/dev/zero", "/")))
    elif kind == 5:
        os.mkfifo(path)
    elif kind == 6:
        path.mkdir()
        put(path / "vmcore", rng, outside, whole)
    elif kind == 7:
        os.link(outside / "kept", path)
    else:
        path.write_bytes(whole)
        path.chmod(0)


def scatter(folder, rng, outside, whole, names):
    """Some things in FOLDER."""
    for _ in range(rng.randint(1, 5)):
        path = folder / names(rng)
        if path.name in ("", ".", "..") or os.path.lexists(path):
            continue
        put(path, rng, outside, whole)


def state_name(rng):
    begin = rng.choice(("000001-", "999999-", "", "0-pstore-", ".run", ".tried", ".lock"))
    return begin + rng.choice(("", name(rng)))


def capture_name(rng):
    return name(rng) + rng.choice((".bts", ".bts.abcdef"))


def log_name(rng):
    return rng.choice(("dmesg.txt", "dmesg-ramoops-0", "dmesg-" + name(rng)))


def facts(folder):
    """What must not change: names, kinds, modes and contents."""
    found = {}
    for parent, folders, files in os.walk(folder):
        for entry in folders + files:
            path = pathlib.Path(parent, entry)
            mode = path.lstat().st_mode
            content = path.read_bytes() if stat.S_ISREG(mode) else b""
            found[str(path)] = (mode, content)
    return found


class Place:
    """The folders of a round, and the programs in front of those of the machine."""

    def __init__(self, args, top):
        self.args, self.top = args, top
        self.collector = str(pathlib.Path(args.collect).resolve())
        self.bin = top / "bin"
        self.bin.mkdir()
        self.script("logger", f'#!/bin/sh\ncat >>"{top}/journal"\n')
        self.script("btsrec-analyze", ANALYZE)
        # No power is lost here, and a disk that is busy takes seconds for each.
        self.script("sync", "#!/bin/sh\n")
        (self.bin / "btsrec").symlink_to(pathlib.Path(args.btsrec).resolve())
        self.dump(top / "whole", 90)
        self.whole = (top / "whole").read_bytes()

    def script(self, called, text):
        path = self.bin / called
        path.write_text(text)
        path.chmod(0o755)

    def dump(self, path, tsc):
        subprocess.run([self.args.mkimage, str(path)], input=DUMP.format(tsc=tsc).encode(),
                       check=True)

    def fill(self, rng):
        for folder in ("round", "outside"):
            shutil.rmtree(self.top / folder, ignore_errors=True)
        (self.top / "journal").write_bytes(b"")
        outside = self.top / "outside"
        outside.mkdir()
        (outside / "kept").write_bytes(b"kept\n")
        root = self.top / "round"
        for folder in ("crash/deep", "state/reports", "state/captures", "state/seen",
                       "state/tables", "pstore", "here"):
            (root / folder).mkdir(parents=True)
        scatter(root / "crash", rng, outside, self.whole, dump_name)
        scatter(root / "crash/deep", rng, outside, self.whole, dump_name)
        scatter(root / "pstore", rng, outside, self.whole, log_name)
        if rng.random() < 0.5:
            scatter(root / "state/captures", rng, outside, self.whole, capture_name)
        if rng.random() < 0.5:
            for folder in ("reports", "seen", "tables"):
                scatter(root / "state" / folder, rng, outside, self.whole, state_name)
        self.dump(root / "crash/dump.good", 100 + rng.randrange(1000))
        return root

    def collect(self, root):
        environment = dict(
            PATH=f"{self.bin}:{os.environ['PATH']}", HOME="/nonexistent", LC_ALL="C.UTF-8",
            DUMP_DIRS=str(root / "crash"), BTSREC_STATE=str(root / "state"),
            BTSREC_PSTORE=str(root / "pstore"), BTSREC_DUMP_OWNER=str(os.getuid()),
            MIN_FREE_MBYTES="0", TABLES="yes", KEEP_TABLES="2", KEEP_REPORTS="4",
            DEBUGINFOD_URLS="")
        return subprocess.run([self.collector], cwd=root / "here", env=environment,
                              stdin=subprocess.DEVNULL, capture_output=True, check=False,
                              timeout=TIMEOUT_S)


def faults_of(place, root, rng):
    """What went wrong in one round, as sentences."""
    before = facts(root / "crash"), facts(place.top / "outside"), facts(root / "pstore")
    harmed = any(True for folder in ("reports", "seen", "tables")
                 for _ in (root / "state" / folder).iterdir())
    try:
        done = place.collect(root)
    except subprocess.TimeoutExpired:
        return ["it does not end"]
    found = []
    if done.returncode:
        found.append(f"exit status {done.returncode}: {done.stderr[-300:]!r}")
    after = facts(root / "crash"), facts(place.top / "outside"), facts(root / "pstore")
    for what, old, new in zip(("dumps", "outside", "pstore"), before, after):
        if old != new:
            differing = {path for path in old.keys() | new.keys() if old.get(path) != new.get(path)}
            found.append(f"{what} changed: {sorted(differing)}")
    if list(place.top.rglob("PWNED")):
        found.append("a name was executed")
    journal = (place.top / "journal").read_bytes()
    rest = FIELDS.sub(b"", journal)
    if rest:
        found.append(f"in the journal: {rest[:200]!r}")
    if re.search(rb"^PRIORITY=0$", journal, re.MULTILINE):
        found.append("a name sets a field of the journal")
    good = (root / "crash/dump.good").as_posix().encode()
    if not harmed and b"BTSREC_DUMP=" + good + b"\nBTSREC_REPORT=" not in journal:
        found.append("the good dump has no report")
    return found


def main():
    parser = argparse.ArgumentParser(description="the collector on hostile folders")
    parser.add_argument("--collect", required=True)
    parser.add_argument("--btsrec", required=True)
    parser.add_argument("--mkimage", required=True)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--rounds", type=int, help="so many, however long they take")
    parser.add_argument("--seed", type=int, default=1, help="of the first round")
    args = parser.parse_args()
    seed, nr_faults, end = args.seed, 0, time.monotonic() + args.seconds

    def goes_on():
        return seed - args.seed < args.rounds if args.rounds else time.monotonic() < end

    with tempfile.TemporaryDirectory() as folder:
        place = Place(args, pathlib.Path(folder))
        while seed == args.seed or goes_on():
            rng = random.Random(seed)
            for fault in faults_of(place, place.fill(rng), rng):
                print(f"seed {seed}: {fault}")
                nr_faults += 1
            seed += 1
    print(f"{seed - args.seed} rounds, {nr_faults} faults")
    return 1 if nr_faults else 0


if __name__ == "__main__":
    sys.exit(main())

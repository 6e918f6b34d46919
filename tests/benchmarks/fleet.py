#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""How long btsrec-fleet takes with many crashes.

usage: fleet.py [--crashes COUNT] [--database FILE] TABLES

TABLES has real crashes, a folder each. COUNT crashes (default: 10000) are drawn from them with
replacement. Each keeps nine of ten rows by chance, and gets one of five kernels. Half of them have
no fault, as snapshots of healthy machines.

Prints what a crash takes to read, and time and memory of questions, each in a process of its own.
"""

import argparse
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "decoder/fleet"))

from btsrec_fleet import store, tables  # noqa: E402 pylint: disable=wrong-import-position

QUESTIONS = (["groups"], ["groups", "--by", "culprit"], ["rank"], ["rank", "--against", "all"],
             ["rank", "--by", "kernel", "--against", "others"])


def resampled(chance: random.Random, read: dict, number: int) -> dict:
    """A crash that is much like this one."""
    row = dict(zip(tables.COLUMNS["crash"], read["crash"][0]))
    row.update(crash=f"{number:032x}", release=f"6.1.{chance.randrange(5)}-fleet")
    found = {table: [one for one in rows if chance.random() < 0.9] for table, rows in read.items()}
    if number % 2:
        row.update(function=None, reason=None, signature=None, verdict=None, text=None)
        found["value"] = []
    found["crash"] = [tuple(row.values())]
    return {table: [(row["crash"], *one[1:]) for one in rows] for table, rows in found.items()}


def fill(path: str, top: pathlib.Path, nr_crashes: int) -> None:
    real = [tables.read(folder) for folder in tables.folders(top)]
    chance = random.Random(1)
    begin = time.process_time()
    real_read = [tables.read(folder) for folder in tables.folders(top)]
    print(f"{len(real_read)} real crashes, {1000 * (time.process_time() - begin) / len(real):.0f} "
          "ms of a processor for each to unpack and parse")
    into = store.Store(path)
    into.connection.executescript(store.ROWS)
    taken = 0.0
    into.connection.execute("BEGIN")
    for number in range(nr_crashes):
        read = resampled(chance, chance.choice(real), number)
        begin = time.process_time()
        fault = into.add_crash(read)
        taken += time.process_time() - begin
        if fault:
            raise SystemExit(fault)
        if number % store.COMMIT_CRASHES == 0:
            into.keep()
    into.connection.execute("COMMIT")
    into.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    print(f"{nr_crashes} crashes, {1000 * taken / nr_crashes:.0f} ms of a processor for each to "
          f"count; {into.one('SELECT count(*) FROM cell')} cells, "
          f"{into.one('SELECT count(*) FROM known')} features, "
          f"{into.one('SELECT count(*) FROM tally')} rows, {os.path.getsize(path) / 1e6:.0f} MB")


def ask(path: str, folder: str) -> None:
    for question in QUESTIONS:
        command = [TOP / "decoder/fleet/btsrec-fleet", *question, "--database", path, folder]
        begin = time.monotonic()
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        print(f"{' '.join(question)}: {time.monotonic() - begin:.1f} s, {usage.ru_utime:.1f} s of a "
              f"processor, {usage.ru_maxrss / 1024:.0f} MiB, status {process.returncode}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--crashes", type=int, default=10000)
    parser.add_argument("--database", help="made if it is not there, and kept")
    parser.add_argument("tables", type=pathlib.Path)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = args.database or f"{folder}/fleet.sqlite"
        if not os.path.exists(path):
            fill(path, args.tables, args.crashes)
        ask(path, folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())

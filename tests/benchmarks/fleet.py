#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""How long btsrec-fleet takes with many crashes.

usage: fleet.py [--crashes COUNT] [--database FILE] TABLES

TABLES has real crashes, a folder each. COUNT crashes (default: 10000) are drawn from them with
replacement. Each keeps nine of ten features by chance, and gets one of five kernels. Half of them
have no fault, as snapshots of healthy machines. What crashes that are drawn alike show is drawn at
once: in the database that is the same.

Prints what a crash takes to read, and time and memory of questions, each in a process of its own.
"""

import argparse
import collections
import multiprocessing
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

NR_KERNELS = 5
KEPT = 0.9

QUESTIONS = (["groups"], ["groups", "--by", "culprit"], ["rank"], ["rank", "--against", "all"],
             ["rank", "--by", "kernel", "--against", "others"])


def binomial(chance: random.Random, nr: int) -> int:
    """How many of @nr crashes keep a feature."""
    return sum(chance.random() < KEPT for _ in range(nr)) if nr < 30 else \
        min(nr, max(0, round(chance.gauss(nr * KEPT, (nr * KEPT * (1 - KEPT)) ** 0.5))))


def read_real(into: store.Store, top: pathlib.Path) -> list[tuple]:
    """Of each real crash its labels, and its features by number: those of values, and others."""
    found, taken, parsed = [], 0.0, 0.0
    folders = tables.folders(top)
    for folder in folders:
        begin = time.process_time()
        read = tables.read(folder)
        parsed += time.process_time() - begin
        begin = time.process_time()
        fault = into.add_crash(read)
        taken += time.process_time() - begin
        if fault:
            raise SystemExit(fault)
        features = into.connection.execute(
            "SELECT s.kind = 'value', k.id FROM shown s JOIN known k USING (feature)").fetchall()
        found.append((into.run("label.sql").fetchone(),
                      [number for is_value, number in features if is_value],
                      [number for is_value, number in features if not is_value]))
    print(f"{len(found)} real crashes, {1000 * parsed / len(found):.0f} ms of a processor for each "
          f"to unpack and parse, {1000 * taken / len(found):.0f} ms to count")
    return found


def label_of(real: tuple, kernel: int, is_healthy: bool) -> tuple:
    member, crashes, _, signature, culprit, site, _, verdict, *times = real
    of_fault = ("",) * 4 if is_healthy else (signature, culprit, site, verdict)
    return (member, crashes, int(is_healthy), *of_fault[:3], f"6.1.{kernel}-fleet", of_fault[3],
            *times)


def fill(path: str, top: pathlib.Path, nr_crashes: int) -> None:
    into = store.Store(path)
    into.connection.executescript(store.ROWS)
    into.connection.execute("BEGIN")
    real = read_real(into, top)
    for table in ("crash_read", "cell", "tally"):
        into.connection.execute(f"DELETE FROM {table}")
    chance = random.Random(1)
    drawn = collections.Counter((chance.randrange(len(real)), chance.randrange(NR_KERNELS),
                                 number % 2 > 0) for number in range(nr_crashes))
    tally: dict[int, collections.Counter] = collections.defaultdict(collections.Counter)
    for (number, kernel, is_healthy), nr in drawn.items():
        label, values, others = real[number]
        cell = into.cell_of(label_of(label, kernel, is_healthy))
        into.connection.execute("UPDATE cell SET crashes = crashes + ? WHERE cell = ?",
                                (nr - 1, cell))
        counts = tally[cell]
        for feature in others if is_healthy else others + values:
            counts[feature] += binomial(chance, nr)
    into.connection.executemany(
        "INSERT INTO tally VALUES (?, ?, ?)",
        ((cell, feature, nr) for cell, counts in tally.items()
         for feature, nr in counts.items() if nr))
    into.connection.execute("COMMIT")
    into.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    print(f"{into.one('SELECT sum(crashes) FROM cell')} crashes; "
          f"{into.one('SELECT count(*) FROM cell')} cells, "
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
            # Its memory would count as that of the questions.
            filler = multiprocessing.Process(target=fill, args=(path, args.tables, args.crashes))
            filler.start()
            filler.join()
            if filler.exitcode:
                return 1
        ask(path, folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())

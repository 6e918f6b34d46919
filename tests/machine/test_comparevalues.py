#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""tests/tools/comparevalues sees each wrong value, in logs of a few instructions.

usage: test_comparevalues.py COMPAREVALUES
"""

import json
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True

import registers  # noqa: E402

LOG_MAGIC = 0x474F4C4C444F4D42
HEADER = struct.Struct("<QIIQQ")


def log(magic: int, nr_slots: int, entries: list[bytes], total: int) -> bytes:
    """ENTRIES are the newest of TOTAL."""
    slots = [b""] * nr_slots
    for number, entry in zip(range(total - len(entries), total), entries):
        slots[number % nr_slots] = entry
    return HEADER.pack(magic, 1, 0, nr_slots, total).ljust(4096, b"\0") + b"".join(slots)


def regs(ip: int, nr_records: int, **held) -> bytes:
    """What is logged before an instruction."""
    values = [0] * 16
    for number, value in held.items():
        values[int(number[1:])] = value
    return registers.REGS.pack(ip, nr_records, *values)


def operand(name: str, value: int, kind="certain") -> dict:
    """As "insns --values" has it."""
    return {"reg": name, "value": hex(value), "class": kind}


class TestCompareValues(unittest.TestCase):
    """Two branches of a history, after three that the ring has lost."""

    def compare(self, insns, *more) -> dict:
        """What is counted, without zeroes, of (event, ip, reads, writes)."""
        entries = [regs(0x100, 4, r3=0x1234), regs(0x104, 4, r3=0x11), regs(0x104, 4, r3=0xab12),
                   regs(0x200, 5, r3=0xab12, r9=7), regs(0x204, 5, r3=0xab12, r9=0xff00000008)]
        lines = [{"cpu": 0, "n": n, "kind": "branch"} for n in (1, 3)]
        lines += [{"cpu": 0, "n": n, "kind": "insn", "ip": hex(ip), "insn": "nop", "reads": reads,
                   "writes": writes} for n, ip, reads, writes in insns]
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "cpu0.log").write_bytes(log(LOG_MAGIC, 0, [], 5))
            Path(folder, "cpu0.regs").write_bytes(
                log(registers.INSNS_MAGIC, len(entries), entries, 12))
            done = subprocess.run(
                [COMMAND, folder, "1"], text=True, capture_output=True, check=True,
                input="".join(json.dumps(line, separators=(",", ":")) + "\n"
                              for line in (*lines, *more)))
        return {key: count for key, count in json.loads(done.stdout).items() if count}

    def test_right(self):
        self.assertEqual(self.compare([
            (2, 0x100, [operand("rbx", 0x1234)], [operand("ebx", 0x11)]),
            (2, 0x104, [operand("bh", 0xab), operand("bl", 0x12, "likely")], []),
            (4, 0x200, [operand("r9b", 7), {"reg": "rax", "class": "unknown"}],
             [operand("r9d", 8)]),
        ]), {"0: certain 100": 5, "0: likely 100": 1, "0: unknown 100": 1})

    def test_wrong(self):
        for name, value, kind in (("rbx", 0x1235, "certain"), ("bh", 0x34, "certain"),
                                  ("bl", 0x12, "likely"), ("r9", 1, "certain"),
                                  ("sil", 1, "certain")):
            with self.subTest(name=name):
                self.assertEqual(
                    self.compare([(2, 0x100, [operand(name, value, kind)], [])]),
                    {f"0: {kind} 100": 1, f"0: wrong {kind} 100": 1})

    def test_written_is_that_before_the_next(self):
        self.assertEqual(self.compare([(4, 0x200, [], [operand("r9", 7)])]),
                         {"0: certain 100": 1, "0: wrong certain 100": 1})

    def test_other_instructions(self):
        self.assertEqual(self.compare([(4, 0x204, [], [])]), {"0: not aligned": 1})
        self.assertEqual(self.compare([(2, 0x100, [], []), (2, 0x108, [], [])]),
                         {"0: not aligned": 2})

    def test_before_the_oldest_branch(self):
        self.assertEqual(self.compare([]), {})

    def test_arguments(self):
        def call(entered, value):
            return {"cpu": 0, "n": 3, "kind": "enter", "to": hex(entered), "args": [
                {"type": "int", "reg": "r9", "bytes": 4, "value": hex(value), "class": "certain"}]}

        for entered, value, counts in (
                (0x200, 7, {"args: certain": 1}),
                (0x200, 8, {"args: certain": 1, "args: wrong certain": 1}),
                (0x204, 7, {"args: not compared": 1})):
            with self.subTest(entered=entered, value=value):
                self.assertEqual(self.compare([], call(entered, value)), counts)


if __name__ == "__main__":
    COMMAND = sys.argv.pop(1)
    unittest.main()

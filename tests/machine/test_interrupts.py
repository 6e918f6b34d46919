#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What interrupts.py takes for an interrupt that is over, and what it must not."""

import sys
import unittest

sys.dont_write_bytecode = True

import interrupts  # noqa: E402
import truth  # noqa: E402

KERNEL = 0xffffffff80000000
TIMER, IRQ, EXCEPTION, IRET, CODE = (KERNEL + 0x1000 * number for number in range(1, 6))
GATES = interrupts.Gates({"asm_sysvec_timer": TIMER, "irq_entries_start": IRQ,
                          "spurious_entries_start": IRQ + 0x100, "native_irq_return_iret": IRET})


class Log:
    """Records as truth.Log gives them."""

    def __init__(self, records):
        self._records = records

    def record(self, age: int):
        source, target, kind = self._records[-1 - age]
        return source, target, 0, 0, kind


def entry(gate, source=CODE):
    return source, gate, truth.INTERRUPT


def branch(source, target=CODE):
    return source, target, 0


def switch(before, after):
    return {"kind": "switch", "prev": {"pid": before}, "next": {"pid": after}}


GAP = {"kind": "gap", "gap": "paused"}
WORK = branch(CODE + 8, CODE + 16)
BACK = branch(IRET)


def own(*what) -> int:
    """Of the records in WHAT, which also has events that are none: those outside."""
    events = [one if isinstance(one, dict) else {"kind": "branch"} for one in what]
    log = Log([one for one in what if not isinstance(one, dict)])
    return sum(interrupts.outside(events, log, GATES))


class Interrupts(unittest.TestCase):
    """Each with two records outside."""

    def check(self, wanted, *what):
        self.assertEqual(own(WORK, *what, WORK), wanted + 2)

    def test_over(self):
        self.check(0, entry(TIMER), WORK, BACK)
        self.check(0, entry(IRQ + 0xf8), WORK, BACK)
        self.check(0, entry(TIMER), BACK, entry(TIMER), BACK)

    def test_no_gate_of_interrupts(self):
        self.check(3, entry(EXCEPTION), WORK, BACK)
        self.check(3, entry(IRQ + 0x100), WORK, BACK)

    def test_not_returned(self):
        self.check(2, entry(TIMER), WORK)
        self.check(3, entry(TIMER), WORK, branch(IRET, CODE + 1))
        self.check(3, entry(TIMER), WORK, branch(IRET + 1))

    def test_nested(self):
        self.check(0, entry(TIMER), entry(EXCEPTION, CODE + 1), branch(IRET, CODE + 2), BACK)
        self.check(2, entry(EXCEPTION), entry(TIMER, CODE + 1), branch(IRET, CODE + 1), BACK)
        # The exception within took the IRET: the interrupt itself has none.
        self.check(3, entry(TIMER), entry(EXCEPTION, CODE + 1), BACK)

    def test_of_user_code(self):
        self.check(0, entry(TIMER, 0x400000), WORK, branch(IRET, 0x400000))
        # A thread that left the kernel, or enters it, has nothing open there.
        self.check(4, entry(TIMER), entry(TIMER, CODE + 1), branch(IRET, 0x400000), BACK)
        self.check(4, entry(TIMER), entry(EXCEPTION, 0x400000), BACK, BACK)

    def test_gap(self):
        self.check(3, entry(TIMER), WORK, GAP, BACK)

    def test_came_in_a_pause(self):
        out = branch(TIMER + 0x1a, CODE + 0x100)
        self.check(0, GAP, switch(1, 2), WORK, entry(EXCEPTION), WORK, BACK, switch(2, 1), WORK,
                   out, BACK)
        self.check(0, GAP, WORK, entry(TIMER), WORK, out, BACK, WORK, out, BACK)
        # The end of an exception, of which the entry may be before the pause.
        self.check(2, GAP, switch(1, 2), switch(2, 1), WORK, BACK)
        self.check(3, GAP, WORK, branch(EXCEPTION + 0x1a), BACK)
        # Another thread's, that was interrupted before; no pause of the recorder.
        self.check(3, GAP, switch(1, 2), WORK, out, BACK)
        self.check(3, {"kind": "gap", "gap": "lost"}, WORK, out, BACK)
        # Back to user code, or after what has not come back as it went.
        self.check(3, GAP, WORK, out, branch(IRET, 0x400000))
        self.check(6, GAP, WORK, entry(TIMER), branch(IRET, CODE + 1), WORK, out, BACK)

    def test_preempted(self):
        self.check(0, entry(TIMER), switch(1, 2), WORK, switch(2, 1), BACK)
        self.check(3, entry(TIMER), switch(1, 2), WORK, BACK)


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: GPL-2.0-or-later
"""Functions of the kernel as the dump has them, with source lines where those are known."""

import bisect
import dataclasses

from .asked import Refused

KERNEL_VA = 1 << 63


@dataclasses.dataclass(slots=True)
class Function:
    """Instructions in the order of addresses; without any it is not known."""

    name: str
    addresses: list
    lines: list

    def at(self, va):
        """The line of "btsrec coverage" for the instruction at or around @va, or None."""
        found = bisect.bisect_right(self.addresses, va) - 1
        return self.lines[found] if found >= 0 else None


class Code:
    """Each function is asked for once."""

    def __init__(self, dump):
        self._dump = dump
        self._known = {}

    def function(self, cpu, n, va):
        """The function around @va; event @n of @cpu exists, and little is counted from there on."""
        if va < KERNEL_VA:
            return Function("", [], [])
        for known in self._known.values():
            if known.addresses and known.addresses[0] <= va <= known.addresses[-1]:
                return known
        if va not in self._known:
            self._known[va] = self._read(cpu, n, va)
        return self._known[va]

    def _read(self, cpu, n, va):
        made = Function("", [], [])
        words = ("--cpu", cpu, "--from", f"n:{n}", "--source")
        try:
            for line in self._dump.ask("coverage", *words, operands=[f"{va:#x}"]):
                if line["kind"] == "coverage":
                    made.name = line["function"].partition("+0x")[0]
                elif line["kind"] == "executed" and "insn" in line:
                    made.addresses.append(int(line["ip"], 16))
                    made.lines.append(line)
        except Refused:
            # It is in no function that is known by name.
            pass
        return made

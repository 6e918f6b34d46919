# SPDX-License-Identifier: GPL-2.0-or-later
"""Interrupts that came and went: what is newer than a fault, but no handling of it.

Such an interrupt is a record that leads to an interrupt's gate, and the newest IRET of
its thread that nothing else belongs to, leading back to the interrupted instruction.
Everything between is its work: softirqs on its way out, and what ran on this CPU while
its thread was preempted.

If it is not sure there was none, so all of it is taken for handling of the fault. Exceptions and
NMIs are no interrupts, an interrupt that did not return is not over, and a gap in the history hides
returns.
"""

import re

import truth

SYMBOLS = ("asm_sysvec_.*", "irq_entries_start", "spurious_entries_start",
           "native_irq_return_iret")

USER_END = 1 << 63


def send(symbols=SYMBOLS) -> str:
    """What the guest's shell does to send the addresses of SYMBOLS, patterns, to sent()."""
    # What they begin with first: a regular expression takes the guest a millisecond a line.
    begins = " ".join(f"-e ' {re.match('[A-Za-z0-9_]*', symbol)[0]}'" for symbol in symbols)
    return f"""
grep -F {begins} /proc/kallsyms | grep -E ' ({"|".join(symbols)})$' >/tmp/symbols
send /tmp/symbols
"""


def sent(machine) -> dict[str, int]:
    """The addresses of the symbols that the guest sent."""
    lines = machine.files.get("symbols", b"").decode().splitlines()
    return {name: int(address, 16) for address, _, name in map(str.split, lines)}


class Gates:
    """Where interrupts enter the kernel, and where it returns from them."""

    def __init__(self, symbols: dict[str, int]):
        """@symbols: at least those of SYMBOLS."""
        self._system = {address for name, address in symbols.items()
                        if name.startswith("asm_sysvec_")}
        self._devices = range(symbols["irq_entries_start"], symbols["spurious_entries_start"])
        self.iret = symbols["native_irq_return_iret"]

    def is_interrupt(self, target: int) -> bool:
        return target in self._system or target in self._devices


class _Thread:
    """Exceptions and interrupts of a thread that have not returned, oldest first."""

    def __init__(self):
        self.frames = []

    def enter(self, index: int, source: int, is_interrupt: bool):
        if source < USER_END:
            self.frames.clear()
        self.frames.append((index, source, is_interrupt))

    def leave(self, target: int) -> int | None:
        """The index of the interrupt's entry that an IRET to TARGET ends."""
        if not self.frames:
            return None
        index, source, is_interrupt = self.frames.pop()
        if target < USER_END or (is_interrupt and source != target):
            self.frames.clear()
        return index if is_interrupt and source == target else None


def over(events, log: truth.Log, gates: Gates) -> list[tuple[int, int]]:
    """The indices in EVENTS of the first and the last record of each interrupt that is over.

    @events: a history that equals the newest records of LOG.
    """
    age = sum(event["kind"] == "branch" for event in events)
    threads, thread, found = {}, _Thread(), []
    for index, event in enumerate(events):
        if event["kind"] == "gap":
            threads, thread = {}, _Thread()
        elif event["kind"] == "switch":
            threads[event["prev"]["pid"]] = thread
            thread = threads.pop(event["next"]["pid"], None) or _Thread()
        elif event["kind"] == "branch":
            age -= 1
            source, target, _, _, kind = log.record(age)
            if kind == truth.INTERRUPT:
                thread.enter(index, source, gates.is_interrupt(target))
            elif source == gates.iret:
                first = thread.leave(target)
                if first is not None:
                    found.append((first, index))
    return found


def outside(events, log: truth.Log, gates: Gates) -> list[bool]:
    """For each of EVENTS, as in over(): is it a record outside of all interrupts that are over?"""
    marks = [event["kind"] == "branch" for event in events]
    for first, last in over(events, log, gates):
        marks[first:last + 1] = [False] * (last + 1 - first)
    return marks

# SPDX-License-Identifier: GPL-2.0-or-later
"""Interrupts that came and went: what is newer than a fault, but no handling of it.

Such an interrupt is a record that leads to an interrupt's gate, and the newest IRET of
its thread that nothing else belongs to, leading back to the interrupted instruction.
Everything between is its work: softirqs on its way out, and what ran on this CPU while
its thread was preempted.

If it is not sure there was none, so all of it is taken for handling of the fault. Exceptions and
NMIs are no interrupts, an interrupt that did not return is not over, and a gap in the history hides
returns.

An interrupt may come while the recorder pauses: the thread is preempted, the switch ends the pause,
and the history has the end alone. That IRET comes from the code of an interrupt's gate, no
exception of the thread is open, and what it does after the pause belongs to the interrupt.
"""

import re

import truth

SYMBOLS = ("asm_sysvec_.*", "irq_entries_start", "spurious_entries_start",
           "native_irq_return_iret")

USER_END = 1 << 63
# Of the code that an interrupt enters by, and leaves by.
GATE_BYTES = 32


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

    def is_of_interrupt(self, source: int) -> bool:
        """Is it in the code of a gate, but of a device's?"""
        return any(0 <= source - address < GATE_BYTES for address in self._system)


class _Thread:
    """Exceptions and interrupts of a thread that have not returned, oldest first.

    @paused: None, or the index of the pause in which it ran, and nothing has come undone since.
    @is_leaving: it is on the way out of an interrupt that came in the pause.
    """

    def __init__(self, paused: int | None = None):
        self.frames = []
        self.paused = paused
        self.is_leaving = False

    def _forget(self):
        self.frames.clear()
        self.paused = None

    def enter(self, index: int, source: int, is_interrupt: bool):
        if source < USER_END:
            self._forget()
        self.frames.append((index, source, is_interrupt))

    def leave(self, target: int) -> int | None:
        """The index of the entry of the interrupt that an IRET to TARGET ends, or of the pause."""
        if not self.frames:
            first = self.paused if self.is_leaving and target >= USER_END else None
            self.is_leaving = False
            return first
        index, source, is_interrupt = self.frames.pop()
        if target < USER_END or (is_interrupt and source != target):
            self._forget()
        return index if is_interrupt and source == target else None


def over(events, log: truth.Log, gates: Gates) -> list[tuple[int, int]]:
    """The indices in EVENTS of the first and the last record of each interrupt that is over.

    Of one that came in a pause the first is the pause.

    @events: a history that equals the newest records of LOG.
    """
    age = sum(event["kind"] == "branch" for event in events)
    threads, thread, found = {}, _Thread(), []
    for index, event in enumerate(events):
        if event["kind"] == "gap":
            threads, thread = {}, _Thread(index if event.get("gap") == "paused" else None)
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
            elif not thread.frames and thread.paused is not None:
                thread.is_leaving |= gates.is_of_interrupt(source)
    return found


def outside(events, log: truth.Log, gates: Gates) -> list[bool]:
    """For each of EVENTS, as in over(): is it a record outside of all interrupts that are over?"""
    marks = [event["kind"] == "branch" for event in events]
    for first, last in over(events, log, gates):
        marks[first:last + 1] = [False] * (last + 1 - first)
    return marks

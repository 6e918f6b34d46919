# SPDX-License-Identifier: GPL-2.0-or-later
"""The history of a CPU as places where a debugger can stand, and the ways between them.

A place is before an instruction that ran, at one that an interrupt or exception hit, or where the
CPU was stopped.  A step over a call goes where that call ended, which "btsrec calls" says.
"""

import bisect
import dataclasses

# Kinds of lines that are places.
INSN, ENTRY, STOP = "insn", "entry", "freeze"


@dataclasses.dataclass(slots=True)
class Place:
    """Event n comes next.  What lies between this place and the one before is in notes."""

    kind: str
    n: int
    ip: int
    task: tuple | None
    function: str | None
    file: str | None
    line: int | None
    text: str
    is_fault: bool
    notes: tuple


@dataclasses.dataclass(slots=True)
class Call:
    """Event n entered a function, event last_n left it; None: it did not end on this CPU."""

    n: int
    last_n: int | None


def _note(line):
    """A line that is no place, as words."""
    kind = line["kind"]
    if kind == "gap":
        return f"gap: {line.get('gap', 'something is missing')}"
    if kind == "break":
        return f"not known what ran here: {line.get('cause', 'the code does not say')}"
    if kind in ("switch", "exec") and isinstance(line.get("next"), dict):
        return f"{kind} to {line['next'].get('pid')} \"{line['next'].get('comm', '')}\""
    return kind


def _task(line):
    return (line["pid"], line.get("comm", "")) if "pid" in line else None


class _Reader:
    """From the lines of "btsrec insns" to places."""

    def __init__(self):
        self.places = []
        self._code = {}
        self._notes = []
        self._fault = False

    def take(self, line):
        kind = line["kind"]
        if kind == "code":
            self._code = line
        elif kind == "fault":
            self._fault = True
        elif kind in (INSN, ENTRY, STOP):
            self._add(kind, line)
        elif "cpu" in line:
            self._notes.append(_note(line))

    def _function(self, line, ip):
        """Straight-line code goes on in the function that it began in."""
        if "ip_sym" in line:
            return line["ip_sym"]
        name, plus, rest = self._code.get("ip_sym", "").rpartition("+0x")
        if not plus:
            return None
        offset, space, module = rest.partition(" ")
        begun = int(self._code["ip"], 16)
        return f"{name}+{int(offset, 16) + ip - begun:#x}{space}{module}"

    def _text(self, kind, line):
        if kind == INSN:
            return line.get("insn", "")
        if kind == STOP:
            return f"stopped: {line.get('reason', 'not known why')}"
        vector = f" {line['vector']}" if "vector" in line else ""
        return f"hit by {line.get('type', 'an interrupt or exception')}{vector}"

    def _add(self, kind, line):
        stop = kind == STOP
        ip = int(line.get({INSN: "ip", ENTRY: "from", STOP: "stop_ip"}[kind], "0"), 16)
        # Where BTS was stopped is not always known; where the CPU was then is.
        ip = ip or int(line.get("ip", "0"), 16)
        if not ip:
            return
        self.places.append(Place(
            kind, line["n"], ip, _task(line if stop else self._code),
            None if stop else self._function(line, ip), line.get("file"), line.get("line"),
            self._text(kind, line), self._fault, tuple(self._notes)))
        self._notes = []
        self._fault = False


class History:
    """The newest events of a CPU; index is where it stands."""

    def __init__(self, dump, cpu, max_events):
        self.cpu = cpu
        self.max_events = max_events
        self._dump = dump
        self._reads = None
        reader = _Reader()
        words = ("--cpu", cpu, "-n", max_events)
        for line in dump.ask("insns", *words, "--source"):
            reader.take(line)
        self.places = reader.places
        self.has_lines = any(place.line is not None for place in self.places)
        self._events = [place.n for place in self.places]
        self._calls = sorted((Call(line["n"], _end(line))
                              for line in dump.ask("calls", *words) if line["kind"] == "enter"),
                             key=lambda call: call.n)
        self._begun = {call.n: call for call in self._calls}
        self._ended = {}
        for call in self._calls:
            # Of calls that end together the outermost one is what a step back goes over.
            if call.last_n is not None:
                self._ended.setdefault(call.last_n, call)
        self._ends = sorted(self._ended)
        self.index = self.fault() if self.fault() is not None else len(self.places) - 1

    @property
    def place(self):
        """Where it stands; None: nothing that ran is known."""
        return self.places[self.index] if self.places else None

    def fault(self):
        """The index of what the first fault hit, if this CPU has it."""
        return next((i for i, place in enumerate(self.places) if place.is_fault), None)

    def reads(self, i):
        """Registers that the instruction at @i reads, as "btsrec insns --values" has them.

        All are asked for at the first time: values take the whole history, however few are wanted.
        """
        if self._reads is None:
            self._reads = {}
            insns = (i for i, place in enumerate(self.places) if place.kind == INSN)
            for line in self._dump.ask("insns", "--cpu", self.cpu, "-n", self.max_events,
                                       "--values"):
                if line["kind"] == INSN:
                    at = next(insns)
                    if line.get("reads"):
                        self._reads[at] = line["reads"]
        return self._reads.get(i, [])

    def newest_entry(self):
        """The index of what the newest interrupt or exception hit, or None."""
        return next((i for i in range(len(self.places) - 1, -1, -1)
                     if self.places[i].kind == ENTRY), None)

    def after(self, i, over):
        """The index after @i, behind what is called there if @over; None: there is none."""
        if i + 1 >= len(self.places):
            return None
        call = self._begun.get(self._events[i])
        if not over or call is None or self._events[i + 1] == self._events[i]:
            return i + 1
        return self._behind(call)

    def _behind(self, call):
        if call.last_n is None:
            return len(self.places) - 1
        found = bisect.bisect_right(self._events, call.last_n)
        return min(found, len(self.places) - 1)

    def before(self, i, over):
        """The index before @i, at the call that ended there if @over; None: there is none."""
        if not i:
            return None
        first, end = self._events[i - 1], self._events[i]
        at = bisect.bisect_left(self._ends, first)
        if not over or at == len(self._ends) or self._ends[at] >= end:
            return i - 1
        # Of what ended between both places: the outermost call.
        outer = min(self._ended[last].n for last in self._ends[at:bisect.bisect_left(
            self._ends, end)])
        return max(bisect.bisect_right(self._events, outer) - 1, 0)

    def out(self, i):
        """The index behind the function of @i; None: its call is older than what is known."""
        now = self.places[i]
        for call in reversed(self._calls[:bisect.bisect_left(self._calls, now.n,
                                                             key=lambda call: call.n)]):
            at = bisect.bisect_right(self._events, call.n) - 1
            if (call.last_n is None or now.n <= call.last_n) and \
                    at >= 0 and self.places[at].task == now.task:
                return self._behind(call)
        return None

    def step(self, i, way, by_line):
        """@way, once or until the source line is another one; None: there is none."""
        found = way(i)
        if not by_line or self.places[i].line is None:
            return found
        begun = self.source(i)
        while found is not None and self.source(found) in (begun, None):
            further = way(found)
            if further is None:
                break
            found = further
        return found

    def line_begin(self, i):
        """The first instruction of the source line of @i, going back over calls."""
        while (found := self.before(i, True)) is not None and self.source(i) is not None \
                and self.source(found) == self.source(i):
            i = found
        return i

    def source(self, i):
        """File and line of @i, or None."""
        place = self.places[i]
        return (place.file, place.line) if place.line is not None else None

    def notes(self, i, j):
        """What lies between two neighbours, or beside the way of a longer step: nothing."""
        if abs(i - j) != 1:
            return ()
        return self.places[max(i, j)].notes

    def call_site(self, n):
        """The place at which event @n left, or None."""
        at = bisect.bisect_right(self._events, n) - 1
        return self.places[at] if at >= 0 and self._events[at] == n else None


def _end(line):
    """Of a call of this CPU; one that ends on another CPU does not end here."""
    if line.get("last_cpu", line["cpu"]) != line["cpu"]:
        return None
    return line.get("last_n")

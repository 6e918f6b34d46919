# SPDX-License-Identifier: GPL-2.0-or-later
"""Requests of an editor.  A CPU is a thread of the protocol: its number and 1, which is not 0.

Each CPU stands at a place of its own history.  To step one leaves the others where they are.
"""

import base64
import pathlib

from . import arguments, history, scopes
from .asked import Dump, Refused
from .breakpoints import Breakpoints
from .code import Code

DEFAULT_EVENTS = 10_000
MAX_EVENTS = 1_000_000
MAX_DISASSEMBLED = 10_000
MAX_MEMORY_BYTES = 1 << 20
# Around an address, code that ran and is in no function that is known.
NEAR_BYTES = 1 << 16
# Stacks of so many older events are asked for at once: a step back asks for the one before.
STACKS_AT_ONCE = 16

CAPABILITIES = {name: True for name in (
    "supportsConfigurationDoneRequest", "supportsStepBack", "supportsDisassembleRequest",
    "supportsInstructionBreakpoints", "supportsFunctionBreakpoints", "supportsSteppingGranularity",
    "supportsReadMemoryRequest", "supportsExceptionInfoRequest", "supportsTerminateRequest",
    "supportsSingleThreadExecutionRequests")}

# Attributes of a launch that are options of btsrec.
OPTIONS = {"vmlinux": "--vmlinux", "systemMap": "--system-map", "sysroot": "--sysroot",
           "debuginfo": "--debuginfo"}

NO_EVALUATION = ("nothing runs in a dump, so no expression is evaluated; the scopes of a frame have "
                 "what is known, and \"btsrec why\" says where a value came from")
NO_CHANGE = "a dump is not changed"


class Adapter:
    """One editor."""

    def __init__(self, sender, program):
        self._sender = sender
        self._program = program
        self._dump = None
        self._cpus = {}
        self._first = None
        self._start = None
        self._at_end = False
        self._events = DEFAULT_EVENTS
        self._folder = None
        self._histories = {}
        self._stacks = {}
        self._frames = []
        self._scopes = []
        self._verdict = None
        self._code = None
        self._breakpoints = Breakpoints(self._source_path)
        # What follows the response under way.
        self._after = []
        self.done = False

    # --- Beginning and end ---

    def on_initialize(self, _args):
        """What is offered."""
        return CAPABILITIES

    def on_launch(self, args):
        """Open the dump; the first fault's CPU stands at the fault."""
        if self._dump:
            raise Refused("a dump is open; disconnect first")
        paths = arguments.files(args)
        self._events = arguments.number(args, "events", DEFAULT_EVENTS, 1, MAX_EVENTS)
        self._folder = arguments.text(args, "sourceDir")
        where = arguments.text(args, "at", "fault")
        if where not in ("fault", "end"):
            raise Refused(f"\"at\" must be \"fault\" or \"end\", not {where!r}")
        self._at_end = where == "end"
        options = [word for name, option in OPTIONS.items() if arguments.text(args, name)
                   for word in (option, args[name])]
        self._dump = Dump(self._program, paths, options)
        try:
            self._open()
        except Refused:
            # The editor may try again.
            self._dump, self._cpus, self._histories = None, {}, {}
            raise
        self._after.append(lambda: self._sender.send("event", event="initialized"))

    on_attach = on_launch

    def _open(self):
        self._code = Code(self._dump)
        self._read_info()
        self._read_summary()
        self._start = self._first if self._first in self._cpus else min(self._cpus)
        self._history(self._start)

    def _read_info(self):
        for line in self._dump.ask("info"):
            if line["kind"] == "cpu":
                self._cpus[line["cpu"]] = line
            elif line["kind"] == "root":
                self._first = line.get("freeze_cpu")
        if not self._cpus:
            raise Refused("no CPU has a history in this dump; \"btsrec check\" says why")

    def _read_summary(self):
        try:
            for line in self._dump.ask("summary"):
                if line["kind"] == "verdict":
                    self._verdict = line.get("text")
        except Refused as reason:
            self._say(str(reason))
        if self._verdict:
            self._say(f"verdict: {self._verdict}")

    def on_configurationdone(self, _args):
        """The editor is ready: it is told where things stand."""
        self._opened()
        place = self._history(self._start).place
        reason = "exception" if place is not None and place.is_fault else "entry"
        self._after.append(lambda: self._stopped(self._start, reason, every=True))

    def on_disconnect(self, _args):
        """The end."""
        self.done = True
        if self._dump:
            self._dump.close()

    def on_terminate(self, _args):
        """An editor that asks for the end waits for this event."""
        self._after.append(lambda: self._sender.send("event", event="terminated"))

    # --- Threads and stacks ---

    def _opened(self):
        if not self._dump:
            raise Refused("no dump is open; launch with \"dump\" first")
        return self._dump

    def _cpu(self, args):
        self._opened()
        number = args.get("threadId")
        if not isinstance(number, int) or number - 1 not in self._cpus:
            raise Refused(f"\"threadId\" must be one of \"threads\", not {number!r}")
        return number - 1

    def _history(self, cpu):
        if cpu not in self._histories:
            past = history.History(self._opened(), cpu, self._events)
            if self._at_end and past.places:
                past.index = len(past.places) - 1
            self._histories[cpu] = past
        return self._histories[cpu]

    def on_threads(self, _args):
        """One for each CPU, with the task that was on it in the end."""
        self._opened()
        return {"threads": [
            {"id": cpu + 1, "name": f"CPU {cpu}: {line['pid']} \"{line.get('comm', '')}\""
             if "pid" in line else f"CPU {cpu}"} for cpu, line in sorted(self._cpus.items())]}

    def _stack(self, cpu, n, with_args=False):
        """The frames after event @n; those of a few events before it are read with them."""
        key = (cpu, n, with_args)
        if key not in self._stacks:
            low = n if with_args else max(n - STACKS_AT_ONCE + 1, 0)
            words = ["--cpu", cpu, "--at", f"{low}-{n}", *(["--args"] if with_args else [])]
            for at in range(low, n + 1):
                self._stacks[(cpu, at, with_args)] = []
            for line in self._dump.ask("stack", *words):
                if line["kind"] == "frame":
                    self._stacks[(cpu, line["n"], with_args)].append(line)
        return self._stacks[key]

    def _stack_here(self, cpu, with_args=False):
        """Of where a CPU stands; the innermost frame is that of its place."""
        place = self._history(cpu).place
        n = place.n if place.kind == history.STOP else place.n - 1
        return self._stack(cpu, n, with_args) if n >= 0 else []

    def on_stacktrace(self, args):
        """Frames as "btsrec stack" has them; calls that are known have a source line."""
        cpu = self._cpu(args)
        first = arguments.number(args, "startFrame", 0, 0, 1 << 31)
        count = arguments.number(args, "levels", 0, 0, 1 << 31)
        past = self._history(cpu)
        if past.place is None:
            raise Refused(f"no instruction of CPU {cpu} is known; \"btsrec check\" says why")
        lines = self._stack_here(cpu) or [{}]
        frames = [self._frame(cpu, number, line, lines[number - 1] if number else None)
                  for number, line in enumerate(lines)]
        return {"stackFrames": frames[first:first + count if count else None],
                "totalFrames": len(frames)}

    def _frame(self, cpu, number, line, inner):
        past = self._history(cpu)
        ip, function = past.place.ip, past.place.function
        if inner is not None:
            ip, function = int(line["ip"], 16), line.get("ip_sym")
        elif not function and line.get("ip") == f"{ip:#018x}":
            function = line.get("ip_sym")
        self._frames.append((cpu, past.index, number))
        frame = {"id": len(self._frames), "name": function or f"{ip:#x}", "line": 0, "column": 0,
                 "instructionPointerReference": f"{ip:#x}"}
        if line.get("gone"):
            frame["name"] += " (left by a jump)"
        if line.get("unreliable"):
            frame["name"] += " (may be otherwise)"
            frame["presentationHint"] = "subtle"
        return self._with_source(frame, *self._line(cpu, ip, inner))

    def _line(self, cpu, ip, inner):
        """File and line of a frame: of its place, or of the call that entered @inner."""
        past = self._history(cpu)
        place = past.place
        if inner is not None:
            place = past.call_site(inner["entered_n"]) if "entered_n" in inner else None
        if place is not None and place.line is not None:
            return place.file, place.line
        if not past.has_lines:
            return None, None
        # It did not complete, or its event is not loaded: the code says where it is. A frame goes
        # on behind its call.
        known = self._function(cpu, ip - (inner is not None)).at(ip - (inner is not None)) or {}
        return known.get("file"), known.get("line")

    def _with_source(self, frame, name, line):
        if line is None:
            return frame
        path = self._source_path(name)
        if path is None:
            frame["name"] += f" at {name}:{line}"
            return frame
        return frame | {"line": line, "column": 1,
                        "source": {"name": path.name, "path": str(path)}}

    def _source_path(self, name):
        """As "btsrec insns --source-dir": leading folders are left out until the rest is there."""
        if not name:
            return None
        parts = [part for part in pathlib.PurePath(name).parts if part not in ("/", "..", ".")]
        if self._folder:
            for i in range(len(parts)):
                path = pathlib.Path(self._folder, *parts[i:])
                if path.is_file():
                    return path.absolute()
        path = pathlib.Path(name)
        return path if path.is_absolute() and path.is_file() else None

    # --- Variables ---

    def on_scopes(self, args):
        """Registers and position of the innermost frame, arguments of all."""
        cpu, index, number = self._entry(self._frames, args, "frameId")
        kinds = (["Registers", "Position"] if not number else []) + ["Arguments at entry"]
        found = []
        for kind in kinds:
            self._scopes.append((cpu, index, number, kind))
            found.append({"name": kind, "variablesReference": len(self._scopes),
                          "expensive": kind.startswith("Arguments")})
            if kind == "Registers":
                found[-1]["presentationHint"] = "registers"
        return {"scopes": found}

    def _entry(self, table, args, name):
        number = args.get(name)
        if not isinstance(number, int) or not 1 <= number <= len(table):
            raise Refused(f"\"{name}\" {number!r} is not known")
        cpu, index = table[number - 1][:2]
        if self._history(cpu).index != index:
            raise Refused(f"\"{name}\" {number} is of a place where CPU {cpu} stands no more")
        return table[number - 1]

    def on_variables(self, args):
        """What a scope has."""
        cpu, _, number, kind = self._entry(self._scopes, args, "variablesReference")
        past = self._history(cpu)
        if kind == "Registers":
            return {"variables": scopes.registers(self._dump, past)}
        if kind == "Position":
            return {"variables": scopes.position(past)}
        frames = self._stack_here(cpu, with_args=True)
        frame = frames[number] if number < len(frames) else {"no_args": "no call of it is known"}
        return {"variables": scopes.arguments(frame)}

    def on_evaluate(self, _args):
        """Always refused."""
        raise Refused(NO_EVALUATION)

    def on_setvariable(self, _args):
        """Always refused."""
        raise Refused(NO_CHANGE)

    on_setexpression = on_writememory = on_setvariable

    def on_source(self, _args):
        """Sources are files; there are no others."""
        raise Refused("source text is read from files; set \"sourceDir\"")

    def on_exceptioninfo(self, args):
        """What stopped the machine, by the summary."""
        cpu = self._cpu(args)
        what = self._cpus[cpu].get("reason", "not known")
        return {"exceptionId": what, "description": self._verdict or what, "breakMode": "always"}

    # --- Steps ---

    def _move(self, args, way, none):
        """Go where @way leads; None: stand still.  Without breakpoints that were looked for, and
        where it stands still, say @none."""
        cpu = self._cpu(args)
        past = self._history(cpu)
        if past.place is None:
            raise Refused(f"no instruction of CPU {cpu} is known; \"btsrec check\" says why")
        granularity = arguments.text(args, "granularity", "statement")
        found, hit = way(past, granularity != "instruction")
        if found is None or hit is None:
            self._say(f"CPU {cpu}: {none}")
        if found is not None:
            for note in past.notes(past.index, found):
                self._say(f"CPU {cpu}: {note}")
            past.index = found
        reason = "breakpoint" if hit else "exception" if past.place.is_fault else "step"
        self._after.append(lambda: self._stopped(cpu, reason, hit or []))

    def _older(self, past):
        if self._cpus[past.cpu].get("events", 0) <= past.max_events:
            return "the history begins here"
        return (f"these are the newest {past.max_events} events of CPU {past.cpu}; launch with more "
                f"\"events\" to go further back")

    def on_next(self, args):
        """Over calls, interrupts and exceptions."""
        self._move(args, lambda past, by_line: (past.step(
            past.index, lambda i: past.after(i, True), by_line), []), "the history ends here")

    def on_stepin(self, args):
        """Into what is called, or what an interrupt led to."""
        self._move(args, lambda past, by_line: (past.step(
            past.index, lambda i: past.after(i, False), by_line), []), "the history ends here")

    def on_stepout(self, args):
        """Behind the call of this function."""
        cpu = self._cpu(args)
        self._move(args, lambda past, _: (past.out(past.index), []),
                   f"the call of this function is older than the newest {self._events} events of "
                   f"CPU {cpu}")

    def on_stepback(self, args):
        """Back over calls; by lines: to the beginning of the line before."""
        def way(past, by_line):
            found = past.step(past.index, lambda i: past.before(i, True), by_line)
            if found is not None and by_line:
                found = past.line_begin(found)
            return found, []

        self._move(args, way, self._older(self._history(self._cpu(args))))

    def _run(self, past, order):
        """To the next breakpoint or the fault, else as far as it goes, with None."""
        last = None
        for last in order:
            place = past.places[last]
            if hit := self._breakpoints.hit(place):
                return last, hit
            if place.is_fault:
                return last, []
        return last, None

    def on_continue(self, args):
        """Forward."""
        self._move(args, lambda past, _: self._run(
            past, range(past.index + 1, len(past.places))), "the history ends here")
        return {"allThreadsContinued": False}

    def on_reversecontinue(self, args):
        """Back."""
        self._move(args, lambda past, _: self._run(past, range(past.index - 1, -1, -1)),
                   self._older(self._history(self._cpu(args))))

    def on_pause(self, args):
        """Nothing ever runs: it is told where it stands."""
        cpu = self._cpu(args)
        self._after.append(lambda: self._stopped(cpu, "pause"))

    def after_response(self):
        """The events that follow a response."""
        events, self._after = self._after, []
        for event in events:
            event()

    def _stopped(self, cpu, reason, hit=(), every=False):
        place = self._history(cpu).place
        more = {"hitBreakpointIds": list(hit)} if hit else {}
        if place is not None and place.is_fault and self._verdict:
            more["text"] = self._verdict
        self._sender.send("event", event="stopped", body={
            "reason": reason, "threadId": cpu + 1, "allThreadsStopped": every,
            "description": place.text if place else "nothing that ran is known"} | more)

    def _say(self, text):
        self._sender.send("event", event="output", body={"category": "console",
                                                         "output": text + "\n"})

    # --- Breakpoints ---

    def _places(self):
        self._opened()
        return [place for past in self._histories.values() for place in past.places]

    def on_setbreakpoints(self, args):
        """Lines of a source file."""
        source = args.get("source")
        path = arguments.text(source, "path") if isinstance(source, dict) else None
        if path is None:
            raise Refused("\"source\" must have a \"path\"")
        lines = [arguments.number(entry, "line", None, 0, 1 << 31)
                 for entry in arguments.objects(args, "breakpoints")]
        return {"breakpoints": self._breakpoints.set_lines(path, lines, self._places())}

    def on_setinstructionbreakpoints(self, args):
        """Addresses."""
        wanted = [arguments.address(entry, "instructionReference", "offset")
                  for entry in arguments.objects(args, "breakpoints")]
        return {"breakpoints": self._breakpoints.set_addresses(wanted, self._places())}

    def on_setfunctionbreakpoints(self, args):
        """The first instruction of functions, by name."""
        names = [arguments.text(entry, "name") or ""
                 for entry in arguments.objects(args, "breakpoints")]
        return {"breakpoints": self._breakpoints.set_functions(names, self._places())}

    def on_setexceptionbreakpoints(self, _args):
        """There are no filters: the fault always stops."""
        self._opened()
        return {"breakpoints": []}

    # --- Code and memory ---

    def on_disassemble(self, args):
        """Instructions of the function as the dump has it, and of what ran elsewhere."""
        self._opened()
        va = arguments.address(args, "memoryReference", "offset")
        skip = arguments.number(args, "instructionOffset", 0, -MAX_DISASSEMBLED, MAX_DISASSEMBLED)
        count = arguments.number(args, "instructionCount", None, 1, MAX_DISASSEMBLED)
        code = self._code_near(va)
        addresses = sorted(code)
        if va not in code:
            raise Refused(f"no code is known at {va:#x}: it is in no function of the kernel, and "
                          f"it did not run")
        at = addresses.index(va) + skip
        return {"instructions": [self._instruction(addresses, code, i, va)
                                 for i in range(at, at + count)]}

    @staticmethod
    def _instruction(addresses, code, i, va):
        if 0 <= i < len(addresses):
            return {"address": f"{addresses[i]:#x}"} | code[addresses[i]]
        # The protocol wants as many as were asked for.
        edge = addresses[0] + i if i < 0 else addresses[-1] + 1 + i - len(addresses)
        return {"address": f"{max(edge, 0) if addresses else va:#x}",
                "instruction": "(not known)", "presentationHint": "invalid"}

    def _code_near(self, va):
        """Instructions by address: of the function, else those that ran near it."""
        known = self._function(self._start, va)
        if known.addresses:
            begin = known.addresses[0]
            return {ip: {"instruction": line["insn"], "symbol": f"{known.name}+{ip - begin:#x}"}
                    for line, ip in zip(known.lines, known.addresses)}
        return {place.ip: {"instruction": place.text}
                for past in self._histories.values() for place in past.places
                if place.kind == history.INSN and abs(place.ip - va) < NEAR_BYTES}

    def _function(self, cpu, va):
        past = self._history(cpu)
        return self._code.function(cpu, past.places[-1].n if past.places else 0, va)

    def on_readmemory(self, args):
        """As the dump has it: that of its end, wherever the history stands."""
        self._opened()
        va = arguments.address(args, "memoryReference", "offset")
        count = arguments.number(args, "count", None, 0, MAX_MEMORY_BYTES)
        found = self._dump.memory(self._start).read(va, count) if count else b""
        return {"address": f"{va:#x}", "unreadableBytes": count - len(found),
                "data": base64.b64encode(found).decode()}

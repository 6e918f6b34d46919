# SPDX-License-Identifier: GPL-2.0-or-later
"""Crash in every way; after each the histories must be true, and say what led to it.

A cell is one boot: load under work, a crash of one kind, a dump. In each cell

- the history of each CPU equals the model's log up to where that CPU stopped,
- the model found no rule broken,
- the newest branch of a frozen CPU leads to code close before the frozen stop_ip,
- the freeze gives the reason that belongs to the kind,
- the newest entry of the fault's handler is in the faulting CPU's history,
- the registers of each freeze are those that the code had which was interrupted.

The other columns count records, of the others for the CPU with the most:
newer    on the faulting CPU, from the entry of the fault's handler on (the exception, or
         the call of panic())
own      of those, of the same thread, without interrupts that came and went meanwhile
         (interrupts.py): an interrupt is no handling of the fault; checked where the table
         of kinds has a limit, unless the kernel preempted the handling
since on the faulting CPU, likewise, from the moment of the fault on, where that is known
         (btscrash): with what the kernel prints before it raises the exception
by NMI   on the others, from the entry of the NMI that stops them on; checked likewise
running on the others, since the moment of the fault, where that is known (btscrash)
fault    what "btsrec show" says that the fault is; it must be the branch that "newer" counts from
registers sets of registers of the freezes that were compared with those that the model has logged

Without options the cells are those of every day; --full runs all. Which those are, is in
crashes.py.
"""

import bisect
import re
import subprocess
from dataclasses import dataclass
from typing import NamedTuple

import crashes
import dump
import guestos
import interrupts
import page
import programs
import registers
import table
import truth
import vm
import workload
from chosen import chosen
from crashes import AXES, KINDS, NMI, PANIC, Cell, Kind
from errors import Failure

SUMMARY = "every kind of crash, as a table"

RING = "1M"
NR_SLOTS = 1048576 // truth.RECORD_SLOT_BYTES
MAX_STRAIGHT_BYTES = 4096
# Enough for each ring; 8 CPUs fit on a small disk.
LOG_RECORDS = 1 << 18

SCRIPT = workload.SHELL + """
%(setup)s
if [ -f /vmlinuz ]; then
	kexec -p /vmlinuz --append="console=ttyS0 quiet panic=0 nokaslr maxcpus=1" ||
		fail "the capture kernel does not load"
fi
%(symbols)s
insmod /modules/btsrec.ko pti=map ring_bytes=%(ring)s arm=0 || fail "the recorder does not load"
grep -i ' t .*btsrec.$' /proc/kallsyms | sort >/tmp/text
send /tmp/text
behind_pause=%(behind_pause)d
insmod /modules/btscrash.ko || fail "btscrash does not load"
insmod /modules/btsmisuse.ko || fail "btsmisuse does not load"
%(prepare)s
echo arm >/dev/btsrec || fail "the recorder does not arm"
%(armed)s
start_work
hurry
sleep 1
crash() { echo "$1" >/sys/module/btscrash/parameters/crash; }
misuse() { echo "$1" >/sys/module/btsmisuse/parameters/misuse; }
# NMIs until one interrupts code of the recorder, in a thread with the given name.
hunt() {
	cd /sys/module/btscrash/parameters
	echo "0x$(head -n 1 /tmp/text | cut -d' ' -f1)" >hunt_start
	echo "0x$(tail -n 1 /tmp/text | cut -d' ' -f1)" >hunt_end
	echo -n "$1" >hunt_comm
	echo "$2" >hunt_skip
	crash nmi-in-text
}
%(trigger)s
"""

MAX_NEWER_NMI = 64
# What the recorder's self-test is in; the compiler may inline the first into the last.
SELF_TEST = ("self_test", "bts_run_known_branches", "bts_claim")

# What only a kernel without any root file system says.
CAPTURE_KERNEL = "Unable to mount root fs"

MARK = re.compile(r"^cpu=(\d+) (MARK|AT_MARK) value=\S+ records=(\d+)$", re.MULTILINE)


def add_options(parser):
    parser.add_argument("--kinds", metavar="LIST", help='of --kernel: "all", or some by comma: '
                        + ", ".join(KINDS))
    parser.add_argument("--axes", default="plain", metavar="LIST",
                        help='with --kinds: "all", or some by comma: ' + ", ".join(AXES))
    parser.add_argument("--full", action="store_true", help="every cell, on every kernel")
    parser.add_argument("--keep", action="store_true", help="keep the dumps of cells that pass")


class Newer(NamedTuple):
    """Branches after the entry of a fault's handler.

    @own: of the same thread, outside of interrupts.
    @preempted: other threads ran in between.
    """

    count: int
    own: int
    preempted: bool


@dataclass
class Row:
    """One line of the table."""

    cell: Cell
    release: str
    equal: str = "-"
    straight: str = "-"
    newer: str = "-"
    own: str = "-"
    since: str = "-"
    nmi: str = "-"
    running: str = "-"
    reason: str = "-"
    fault: str = "-"
    registers: str = "-"
    problem: str = ""

    HEAD = ("kernel", "axis", "kind", "history", "straight", "newer", "own", "since", "by NMI", "running",
            "reason", "fault", "registers", "")

    def columns(self) -> tuple:
        return (self.release, self.cell.axis, self.cell.name, self.equal, self.straight,
                self.newer, self.own, self.since, self.nmi, self.running, self.reason, self.fault,
                self.registers, "FAILED" if self.problem else "")


def _symbols(machine, names) -> dict[int, str]:
    """Entries by address; code for IBT may be called after its first instruction."""
    known = interrupts.sent(machine)
    there = [name for name in names if name in known]
    if not there:
        raise Failure(f"the guest's kernel has none of {', '.join(names)}")
    return {known[name] + behind: name for behind in (4, 0) for name in there}


def _was_paused(history) -> bool:
    """The recorder itself had BTS off when the freeze came."""
    freeze = _freeze(history)
    return bool(freeze) and not int(freeze["debugctl"], 16) & truth.DEBUGCTL_BTS


def _newer_than_entry(history, entries, outside=None, may_be_older=False) -> Newer:
    """From the newest branch to the thread's newest one into ENTRIES; OUTSIDE of interrupts:
    for each event, all without; 0 if BTS was off at the entry.

    The ring need not reach back to the entry if it MAY_BE_OLDER and other threads ran since.
    A pause at the first sign of an oops comes after the entry, which is then in the history.
    """
    freeze = _freeze(history)
    thread = freeze["pid"] if freeze else None
    count, own, away, preempted = 0, 0, False, False
    for index, event in reversed(list(enumerate(history))):
        if event["kind"] == "switch" and event["what"] == "task":
            away = event["prev"]["pid"] != thread
            preempted = True
        if event["kind"] != "branch":
            continue
        count += 1
        if away or (outside and not outside[index]):
            continue
        own += 1
        if int(event["to"], 16) in entries:
            return Newer(count, own, preempted)
    if _was_paused(history):
        return Newer(0, 0, False)
    if may_be_older and preempted:
        return Newer(count, own, True)
    raise Failure(f"no entry of {', '.join(sorted(set(entries.values())))} in the history")


def _freeze(history) -> dict | None:
    return next((event for event in history if event["kind"] == "freeze"), None)


def _check_straight(cpu: int, history):
    """No branch may be missing between the newest one and the stop."""
    freeze = _freeze(history)
    if not freeze:
        return
    newest = next((event for event in reversed(history) if event["kind"] == "branch"), None)
    if not newest:
        raise Failure(f"CPU {cpu} has no branch")
    distance = int(freeze["stop_ip"], 16) - int(newest["to"], 16)
    if not 0 <= distance <= MAX_STRAIGHT_BYTES:
        raise Failure(f"CPU {cpu}: the newest branch leads to {newest['to']}, but it stopped at "
                      f"{freeze['stop_ip']}")


def _check_paused(cpu: int, history, kind: Kind):
    """The freeze must know of the pause that it found open, and since when."""
    freeze = _freeze(history)
    if not kind.paused or not freeze:
        return
    if freeze.get("paused") != kind.paused or not 0 < freeze["paused_tsc"] < freeze["tsc"]:
        raise Failure(f"CPU {cpu}: the freeze says paused={freeze.get('paused')} since "
                      f"{freeze.get('paused_tsc')}, not {kind.paused}")


def _msr_log(machine) -> str:
    return (machine.model_dir / "msr.log").read_text()


def _log(machine, cpu: int) -> truth.Log:
    """What CPU stored into its ring."""
    text = [line.split()[:3] for line in machine.files.get("text", b"").decode().splitlines()]
    names = [name for _, _, name in text]
    starts = [int(address, 16) for address, _, _ in text]

    def is_self_test(ip: int) -> bool:
        index = bisect.bisect(starts, ip) - 1
        return index >= 0 and names[index] in SELF_TEST

    return truth.Log(machine.model_dir / f"cpu{cpu}.log",
                     truth.self_tests(_msr_log(machine), cpu, is_self_test))


def _marks(machine) -> list[tuple[int, int]]:
    """(CPU, records) at the newest mark, the marking CPU first."""
    marks = []
    for cpu, what, records in MARK.findall(_msr_log(machine)):
        if what == "MARK":
            marks = []
        marks.append((int(cpu), int(records)))
    return marks


def _faulting_cpus(histories, marks, kind: Kind) -> list[int]:
    """The CPU that marked, else those that our NMI did not stop: the handler of a fault that may
    be older than the ring may have gone on on another CPU."""
    own = [cpu for cpu, history in histories.items()
           if _freeze(history) and not _freeze(history)["via_nmi"]]
    if marks and (marks[0][0] in own or not kind.may_be_older()):
        return [marks[0][0]]
    if not own or (len(own) > 1 and not kind.together):
        raise Failure(f"which CPU is the faulting one? frozen by itself: {own}")
    return own


def _behind_pause(recorder) -> int:
    """Offset in probe_sched_switch() of the instruction after its first WRMSR."""
    done = subprocess.run(["objdump", "-d", "--no-show-raw-insn", "-j", ".text",
                           "--disassemble=probe_sched_switch", recorder],
                          text=True, capture_output=True, check=False)
    found = re.search(r"^0*([0-9a-f]+) <probe_sched_switch>:$"
                      r".*?\twrmsr\b[^\n]*\n *([0-9a-f]+):\t",
                      done.stdout, re.MULTILINE | re.DOTALL)
    if not found:
        raise Failure(f"{recorder}: no WRMSR in probe_sched_switch(); {done.stderr}")
    return int(found[2], 16) - int(found[1], 16)


def _monitor(kind: Kind):
    def answer(machine, _):
        said = machine.qmp("human-monitor-command", **{"command-line": kind.monitor})
        return said.strip() or "done"

    return {"monitor": answer}


def _append(axis, kind: Kind) -> str:
    words = ["" if "pti" in axis.append else "nopti", axis.append,
             "crashkernel=160M" if axis.kdump else "", kind.append]
    return " ".join(filter(None, words))


def _files(context, axis, modules) -> list:
    files = [(f"modules/{module.name}", module.read_bytes()) for module in modules]
    if axis.kdump:
        files += [*programs.files("kexec-tools", "sbin/kexec"),
                  ("vmlinuz", context.os.vmlinuz.read_bytes())]
    return files


def _boot(context, cell: Cell, modules):
    kind, axis = cell.kind(), AXES[cell.axis]
    symbols = kind.entries + NMI + interrupts.SYMBOLS
    script = SCRIPT % {"setup": axis.setup + kind.setup, "symbols": interrupts.send(symbols),
                       "behind_pause": _behind_pause(modules[0]), "ring": RING,
                       "prepare": kind.prepare, "armed": axis.armed, "trigger": kind.trigger}
    arguments = {"records": LOG_RECORDS, "entrylog": 4096, **({"perfmon": 1} if axis.perf else {})}
    return context.boot(script, [context.os.module("qemu_fw_cfg")], name=_folder(cell),
                        files=_files(context, axis, modules), answers=_monitor(kind),
                        plugin_args=arguments, cpus=axis.cpus, cpu=vm.CPU + axis.cpu,
                        append=_append(axis, kind),
                        memory_mib=context.options.memory + (512 if axis.kdump else 0))


def _folder(cell: Cell) -> str:
    return f"{cell.kernel}-{cell.axis}-{cell.name}"


def _crash(context, machine, kind: Kind, axis, path):
    machine.run(context.seconds(240), kind.end)
    if machine.panicked == kind.survives:
        raise machine.failure("panicked" if kind.survives else "no panic")
    if kind.console not in machine.console():
        raise machine.failure(f'the kernel did not say "{kind.console}"')
    if axis.kdump and CAPTURE_KERNEL not in machine.console():
        raise machine.failure("the capture kernel did not begin")
    machine.dump(path)
    machine.quit()


def _check_frozen(histories, kind: Kind):
    running = [cpu for cpu, history in histories.items() if not _freeze(history)]
    if len(running) > kind.max_unfrozen:
        raise Failure(f"CPU {', '.join(map(str, running))} is not frozen")


def _check_histories(machine, histories, kind: Kind, row: Row) -> dict:
    cpus = range(AXES[row.cell.axis].cpus)
    logs = {cpu: _log(machine, cpu) for cpu in cpus}
    row.equal = "NOT EQUAL"
    for cpu, log in logs.items():
        events = histories.get(cpu, [])
        truth.compare(f"CPU {cpu}", truth.branches_of_events(events), log,
                      log.in_ring(NR_SLOTS, events))
    row.equal = "equal"
    _check_frozen(histories, kind)
    for cpu, history in histories.items():
        _check_paused(cpu, history, kind)
    row.straight = "NO"
    for cpu, history in histories.items():
        _check_straight(cpu, history)
    row.straight = "yes"
    return logs


def _check_fault(fault: dict | None, kind: Kind, newer: int, row: Row):
    """The decoder must find the fault without the kernel's symbols."""
    row.fault = fault["what"] if fault else "-"
    if not kind.mark:
        return
    if row.fault not in kind.mark.split(" or "):
        raise Failure(f"the fault is said to be {fault}, not {kind.mark}")
    if row.fault == "unknown":
        return
    if (row.fault == "call") == (kind.entries == PANIC) and fault["newer"] != newer:
        raise Failure(f"the fault is said to have {fault['newer']} newer branches, not {newer}")


def _judge_faulting(machine, history, fault, log, kind: Kind, row: Row) -> Newer:
    """The records after the fault; 0 without a freeze."""
    freeze = _freeze(history)
    row.reason = freeze["reason"] if freeze else "none"
    if row.reason not in kind.reasons:
        raise Failure(f"the freeze says {row.reason}, not {' or '.join(kind.reasons)}")
    if not freeze:
        return Newer(0, 0, False)
    gates = interrupts.Gates(interrupts.sent(machine))
    newer = _newer_than_entry(history, _symbols(machine, kind.entries),
                              interrupts.outside(history, log, gates),
                              kind.may_be_older())
    _check_fault(fault, kind, newer.count, row)
    return newer


def _since_mark(machine, histories, logs, marks, may_be_older) -> int | None:
    """Records of the CPU that marked outside of interrupts since then; None: nobody marked, or
    the ring does not reach back so far, and that MAY_BE_OLDER."""
    if not marks:
        return None
    cpu, records = marks[0]
    newest = logs[cpu].total - records
    history = histories[cpu]
    if newest > sum(event["kind"] == "branch" for event in history):
        if may_be_older:
            return None
        raise Failure(f"the moment of the fault is {newest} records ago, not in the ring any more")
    outside = interrupts.outside(history, logs[cpu], interrupts.Gates(interrupts.sent(machine)))
    of_branches = [mark for mark, event in zip(outside, history) if event["kind"] == "branch"]
    return sum(of_branches[len(of_branches) - newest:])


def _judge(machine, found, kind: Kind, row: Row, limited: bool):
    histories, faults = found
    logs = _check_histories(machine, histories, kind, row)
    marks = _marks(machine)
    faulting = _faulting_cpus(histories, marks, kind)
    newer = [_judge_faulting(machine, histories.get(cpu, []), faults.get(cpu), logs[cpu], kind, row)
             for cpu in faulting]
    if _freeze(histories.get(faulting[0], [])):
        row.newer = str(max(each.count for each in newer))
        row.own = str(max(each.own for each in newer))
    since = _since_mark(machine, histories, logs, marks, kind.may_be_older())
    if since is not None:
        row.since = str(since)
    running = [logs[other].total - records for other, records in marks if other not in faulting]
    if running:
        row.running = str(max(running))
    stopped = [0 if _was_paused(history) else _newer_than_entry(history, _symbols(machine, NMI)).count
               for history in histories.values()
               if _freeze(history) and _freeze(history)["via_nmi"]]
    if stopped:
        row.nmi = str(max(stopped))
    # Handling that was preempted goes on where the recorder no longer knows of a fault.
    own = max((each.own for each in newer if not each.preempted), default=0)
    if limited:
        _check_newer(kind.max_newer, own, max(stopped, default=0))
        if kind.max_since is not None and (since is None or since > kind.max_since):
            raise Failure(f"{since} records outside of interrupts are newer than the moment of "
                          f"the fault; at most {kind.max_since} may be")


def _check_newer(limit: int | None, own: int, stopped: int):
    if stopped > MAX_NEWER_NMI:
        raise Failure(f"{stopped} records are newer than the NMI; at most {MAX_NEWER_NMI} may be")
    if limit is not None and own > limit:
        raise Failure(f"{own} records outside of interrupts are newer than the fault; at most "
                      f"{limit} may be")


def _check_page(context, path, cell: Cell):
    """The first page has the verdict of the kind, and names the function that did it.

    Where the dump has no names, it says what gives some.
    """
    kind = cell.kind()
    found = page.Page.of(context, path)
    if cell.kernel in guestos.NAMELESS and not found.names():
        return
    fault = page.guilty_fault(found, kind) or page.verdict_fault(found, kind)
    if fault:
        raise Failure(fault)


def _cell(context, cell: Cell, modules) -> Row:
    row = Row(cell, context.os.release)
    kind = cell.kind()
    path = context.out / f"dump-{_folder(cell)}"
    path.unlink(missing_ok=True)
    try:
        with _boot(context, cell, modules) as machine:
            _crash(context, machine, kind, AXES[cell.axis], path)
        # A kernel that checks itself has more branches on every way.
        found = dump.history(context, path)
        _judge(machine, found, kind, row, not context.options.kernel_dir)
        row.registers = str(registers.check(context, path, machine.model_dir, *found))
        _check_page(context, path, cell)
    except (Failure, OSError) as failure:
        row.problem = str(failure)
        context.say(f"{_folder(cell)}: {failure}")
    if not row.problem and not context.options.keep:
        path.unlink()
        for log in machine.model_dir.glob("cpu*.log"):
            log.unlink()
    return row


def _wanted(options) -> list[Cell]:
    if options.full:
        return crashes.full()
    if not options.kinds:
        return crashes.short()
    return crashes.cells([options.kernel], chosen(options.axes, AXES),
                         chosen(options.kinds, KINDS))


def _rows(context, cells) -> list[Row]:
    rows = []
    for kernel in dict.fromkeys(cell.kernel for cell in cells):
        there = context.with_kernel(kernel)
        modules = [there.recorder, *map(there.guest_module, ("btscrash", "btsmisuse", "btsuart"))]
        for cell in cells:
            if cell.kernel == kernel:
                rows.append(_cell(there, cell, modules))
                context.say(" ".join(rows[-1].columns()))
    return rows


def run(context):
    rows = _rows(context, _wanted(context.options))
    text = table.text([Row.HEAD] + [row.columns() for row in rows])
    (context.out / "table").write_text(text + "\n", encoding="utf-8")
    print(text)
    bad = [row for row in rows if row.problem]
    if bad:
        raise Failure(f"{len(bad)} of {len(rows)} cells: " + "; ".join(
            f"{_folder(row.cell)}: {row.problem.splitlines()[0]}" for row in bad))
    context.say(f"{len(rows)} of {len(rows)} cells are as they should be")

# SPDX-License-Identifier: GPL-2.0-or-later
"""Crash in every way; after each the histories must be true, and say what led to it.

A cell is one boot: load under work, a crash of one kind, a dump. In each cell

- the history of each CPU equals the model's log up to where that CPU stopped,
- the model found no rule broken,
- the newest branch of a frozen CPU leads to code close before the frozen stop_ip,
- the freeze gives the reason that belongs to the kind,
- the newest entry of the fault's handler is in the faulting CPU's history.

The columns behind count records, of the others for the CPU with the most:
newer    on the faulting CPU, from the entry of the fault's handler on (the exception, or
         the call of panic()); checked where the table of kinds has a limit
by NMI   on the others, from the entry of the NMI that stops them on; checked likewise
running  on the others, since the instant of the fault, where that is known (btscrash)
"""

import re
from dataclasses import dataclass

import dump
import guestos
import truth
import vm
import workload
from errors import Failure

SUMMARY = "every kind of crash, as a table"

RING = "1M"
NR_SLOTS = 1048576 // truth.RECORD_SLOT_BYTES
MAX_STRAIGHT_BYTES = 4096
# Enough for each ring; 8 CPUs fit on a small disk.
LOG_RECORDS = 1 << 18

SCRIPT = workload.SHELL + """
%(setup)s
grep -E ' (%(entries)s)$' /proc/kallsyms >/tmp/symbols
send /tmp/symbols
insmod /modules/btsrec.ko ring_bytes=%(ring)s arm=0 || fail "the recorder does not load"
insmod /modules/btscrash.ko || fail "btscrash does not load"
%(prepare)s
echo arm >/dev/btsrec || fail "the recorder does not arm"
start_work
hurry
sleep 1
crash() { echo "$1" >/sys/module/btscrash/parameters/crash; }
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

# Where the recorder's code is, for hunt.
TEXT = "grep -i ' t .*btsrec.$' /proc/kallsyms | sort >/tmp/text"
PANIC_ON_OOPS = "echo 1 >/proc/sys/kernel/panic_on_oops"
PAGE_FAULT = ("asm_exc_page_fault",)
PANIC = ("panic", "vpanic")
NMI = ("asm_exc_nmi",)
MAX_NEWER_NMI = 64
# 7.2 asks kfence and the BPF arenas about the address before it calls a page fault an oops.
MAX_NEWER_PAGE_FAULT_7_2 = 4096
DEBUGCTL_BTS = 1 << 7

MARK = re.compile(r"^cpu=(\d+) (MARK|AT_MARK) value=\S+ records=(\d+)$", re.MULTILINE)


@dataclass(frozen=True)
class Kind:
    """One way to crash.

    @setup, @prepare: what the guest's shell does before the recorder is loaded, and after.
    @trigger: what it does under load.
    @console: what the kernel must have said, so that no other crash is taken for this one.
    @entries: handlers whose newest entry is the fault's, as the CPU sees it.
    @reasons: what the freeze may call it.
    @max_unfrozen: CPUs that did not record any more when the others were stopped.
    @monitor: command of QEMU's monitor for "ask monitor".
    @max_newer: records that the faulting CPU may add; None: not limited, see docs/kernels.md.
    """

    trigger: str
    console: str
    entries: tuple = PANIC
    reasons: tuple = ("panic",)
    setup: str = ""
    prepare: str = ""
    max_newer: int | None = None
    min_cpus: int = 1
    max_unfrozen: int = 0
    survives: bool = False
    monitor: str = ""
    append: str = ""
    kernels: tuple = guestos.KERNELS


def _oops(kind: str, console: str, **more) -> Kind:
    more.setdefault("entries", PAGE_FAULT)
    return Kind(f"crash {kind}", console, reasons=("oops",), setup=PANIC_ON_OOPS, **more)


KINDS = {
    "sysrq-c": Kind("echo c >/proc/sysrq-trigger", "sysrq triggered crash", max_newer=64),
    "null": _oops("null", "NULL pointer dereference"),
    "null-hardirq": _oops("null-hardirq", "Fatal exception in interrupt", max_newer=192),
    "null-softirq": _oops("null-softirq", "Fatal exception in interrupt", max_newer=192),
    "gp": _oops("gp", "general protection fault", entries=("asm_exc_general_protection",)),
    "bug": _oops("bug", "kernel BUG at", entries=("asm_exc_invalid_op",)),
    "stack-overflow": _oops("stack-overflow", "stack guard page",
                            entries=("asm_exc_double_fault",)),
    "jump-corrupt": _oops("jump-corrupt", "unable to handle page fault", max_newer=192),
    "return-corrupt": _oops("return-corrupt", "unable to handle page fault", max_newer=192),
    "panic-in-nmi": Kind("crash panic-in-nmi", "btscrash: in an NMI handler", max_newer=64),
    "hard-lockup": Kind("crash hard-lockup", "Hard LOCKUP", reasons=("hard lockup",),
                        max_newer=64),
    "soft-lockup": Kind("crash soft-lockup", "softlockup: hung tasks", reasons=("soft lockup",),
                        max_newer=64, setup="""
echo 1 >/proc/sys/kernel/softlockup_panic
echo 2 >/proc/sys/kernel/watchdog_thresh"""),
    "hung-task": Kind("crash hung-task\nsleep 100", "hung_task: blocked tasks",
                      reasons=("hung task",), max_newer=64, setup="""
echo 1 >/proc/sys/kernel/hung_task_panic
echo 2 >/proc/sys/kernel/hung_task_timeout_secs"""),
    "rcu-stall": Kind("crash rcu-stall", "RCU Stall", max_newer=64, setup="""
echo 1 >/proc/sys/kernel/panic_on_rcu_stall
echo 3 >/sys/module/rcupdate/parameters/rcu_cpu_stall_timeout"""),
    # The 6.1 of the cloud flavour has no CONFIG_X86_MCE; 7.2 reboots before the dump is taken.
    "machine-check": Kind("ask monitor\nsleep 100", "Machine check", reasons=("machine check",),
                          kernels=("6.12",), max_newer=64,
                          monitor="mce -b 0 4 0xb200000000000005 0x5 0 0",
                          # Otherwise it reboots, too.
                          append="mce=nobootlog"),
    "user-oops": Kind("(crash null)\nsleep 1\nfinish 0", "NULL pointer dereference",
                      entries=PAGE_FAULT, reasons=("oops",), survives=True),
    "all-panic": Kind("crash all-panic", "btscrash: CPU", max_newer=64, min_cpus=2),
    "annotating": Kind("hunt '' 1\ndd if=/dev/zero bs=1 | dd of=/dev/null bs=1",
                       "btscrash: NMI at", prepare=TEXT, max_newer=64, min_cpus=2),
    "arming": Kind("""hunt armer 0
printf armer >/proc/self/comm
while :; do echo disarm >/dev/btsrec; echo arm >/dev/btsrec; done""",
                   "btscrash: NMI at", prepare=TEXT, reasons=("panic", "none"), min_cpus=2,
                   max_unfrozen=64),
    "kthread-mm": _oops("kthread-mm", "NULL pointer dereference"),
    "cpu-offline": Kind("""echo 0 >/sys/devices/system/cpu/cpu1/online
echo c >/proc/sysrq-trigger""", "sysrq triggered crash", max_newer=64,
                        min_cpus=2, max_unfrozen=1),
}


# One of each way into the freeze; all would take 10 minutes on a machine at rest.
SHORT = "sysrq-c,null-hardirq,bug,stack-overflow,panic-in-nmi,user-oops,cpu-offline"


def add_options(parser):
    parser.add_argument("--kinds", default=SHORT, metavar="LIST",
                        help=f'"all", or kinds of crash by comma ({SHORT})')
    parser.add_argument("--cpus", default="2", metavar="LIST", help="numbers of CPUs (2)")
    parser.add_argument("--perf", action="store_true",
                        help="with performance monitoring, so that perf is alive")
    parser.add_argument("--pti", action="store_true", help="with page-table isolation")
    parser.add_argument("--keep", action="store_true", help="keep the dumps of cells that pass")


@dataclass
class Row:
    """One line of the table."""

    cpus: int
    name: str
    equal: str = "-"
    straight: str = "-"
    newer: str = "-"
    nmi: str = "-"
    running: str = "-"
    reason: str = "-"
    problem: str = ""

    HEAD = ("kernel", "cpus", "kind", "history", "straight", "newer", "by NMI", "running", "reason")

    def cells(self, release: str) -> tuple:
        return (release, str(self.cpus), self.name, self.equal, self.straight, self.newer,
                self.nmi, self.running, self.reason)


def _symbols(machine, names) -> dict[int, str]:
    """Entries by address; code for IBT may be called behind its first instruction."""
    found = {}
    for line in machine.files.get("symbols", b"").decode().splitlines():
        address, _, name = line.split()[:3]
        if name in names:
            found[int(address, 16)] = name
            found.setdefault(int(address, 16) + 4, name)
    if not found:
        raise Failure(f"the guest's kernel has none of {', '.join(names)}")
    return found


def _was_paused(history) -> bool:
    """The recorder itself had BTS off when the freeze came."""
    freeze = _freeze(history)
    return bool(freeze) and not int(freeze["debugctl"], 16) & DEBUGCTL_BTS


def _newer_than_entry(history, entries) -> int:
    """Branches from the newest one into ENTRIES on; 0 if BTS was off at the entry.

    A pause at the first sign of an oops comes after the entry, which is then in the history.
    """
    newer = 0
    for event in reversed(history):
        if event["kind"] != "branch":
            continue
        newer += 1
        if int(event["to"], 16) in entries:
            return newer
    if _was_paused(history):
        return 0
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


def _marks(machine) -> list[tuple[int, int]]:
    """(CPU, records) at the newest mark, the marking CPU first."""
    marks = []
    for cpu, what, records in MARK.findall((machine.model_dir / "msr.log").read_text()):
        if what == "MARK":
            marks = []
        marks.append((int(cpu), int(records)))
    return marks


def _faulting_cpu(histories, marks) -> int:
    """The CPU that marked, else the one that our NMI did not stop."""
    if marks:
        return marks[0][0]
    own = [cpu for cpu, history in histories.items()
           if _freeze(history) and not _freeze(history)["via_nmi"]]
    if len(own) != 1:
        raise Failure(f"which CPU is the faulting one? frozen by itself: {own}")
    return own[0]


def _monitor(kind: Kind):
    def answer(machine, _):
        said = machine.qmp("human-monitor-command", **{"command-line": kind.monitor})
        return said.strip() or "done"

    return {"monitor": answer}


def _boot(context, cpus: int, name: str, kind: Kind):
    options = context.options
    script = SCRIPT % {"setup": kind.setup, "entries": "|".join(kind.entries + NMI),
                       "ring": RING, "prepare": kind.prepare, "trigger": kind.trigger}
    append = f'{"pti=on" if options.pti else "nopti"} {kind.append}'.strip()
    config = {"append": append, "cpus": cpus}
    arguments = {"records": LOG_RECORDS}
    if options.perf:
        arguments["perfmon"] = 1
        config["cpu"] = vm.CPU + ",level=13"
    files = [(f"modules/{module.name}", module.read_bytes())
             for module in (context.recorder, context.guest_module("btscrash"))]
    return context.boot(script, [context.os.module("qemu_fw_cfg")], name=f"{name}-{cpus}",
                        files=files, answers=_monitor(kind), plugin_args=arguments, **config)


def _crash(context, machine, kind: Kind, path):
    machine.run(context.seconds(150))
    if machine.panicked == kind.survives:
        raise machine.failure("panicked" if kind.survives else "no panic")
    if kind.console not in machine.console():
        raise machine.failure(f'the kernel did not say "{kind.console}"')
    machine.dump(path)
    machine.quit()


def _check_frozen(histories, kind: Kind):
    running = [cpu for cpu, history in histories.items() if not _freeze(history)]
    if len(running) > kind.max_unfrozen:
        raise Failure(f"CPU {', '.join(map(str, running))} is not frozen")


def _judge(machine, histories, kind: Kind, row: Row, release: str):
    logs = {cpu: truth.Log(machine.model_dir / f"cpu{cpu}.log") for cpu in range(row.cpus)}
    row.equal = "NOT EQUAL"
    for cpu, log in logs.items():
        events = histories.get(cpu, [])
        truth.compare(f"CPU {cpu}", truth.branches_of_events(events), log,
                      log.in_ring(NR_SLOTS, events))
    row.equal = "equal"
    _check_frozen(histories, kind)
    row.straight = "NO"
    for cpu, history in histories.items():
        _check_straight(cpu, history)
    row.straight = "yes"
    marks = _marks(machine)
    cpu = _faulting_cpu(histories, marks)
    freeze = _freeze(histories.get(cpu, []))
    row.reason = freeze["reason"] if freeze else "none"
    if row.reason not in kind.reasons:
        raise Failure(f"the freeze says {row.reason}, not {' or '.join(kind.reasons)}")
    newer = 0
    if freeze:
        newer = _newer_than_entry(histories[cpu], _symbols(machine, kind.entries))
        row.newer = str(newer)
    running = [logs[other].total - records for other, records in marks if other != cpu]
    if running:
        row.running = str(max(running))
    stopped = [0 if _was_paused(history) else _newer_than_entry(history, _symbols(machine, NMI))
               for history in histories.values()
               if _freeze(history) and _freeze(history)["via_nmi"]]
    if stopped:
        row.nmi = str(max(stopped))
    _check_newer(_max_newer(kind, release), newer, max(stopped, default=0))


def _max_newer(kind: Kind, release: str) -> int | None:
    if kind.max_newer and kind.entries == PAGE_FAULT and release.startswith("7.2."):
        return MAX_NEWER_PAGE_FAULT_7_2
    return kind.max_newer


def _check_newer(limit: int | None, newer: int, stopped: int):
    if stopped > MAX_NEWER_NMI:
        raise Failure(f"{stopped} records are newer than the NMI; at most {MAX_NEWER_NMI} may be")
    if limit is not None and newer > limit:
        raise Failure(f"{newer} records are newer than the fault; at most {limit} may be")


def _cell(context, cpus: int, name: str) -> Row:
    row = Row(cpus, name)
    kind = KINDS[name]
    path = context.out / f"dump-{name}-{cpus}"
    path.unlink(missing_ok=True)
    try:
        with _boot(context, cpus, name, kind) as machine:
            _crash(context, machine, kind, path)
        _judge(machine, dump.events(context, path), kind, row, context.os.release)
    except (Failure, OSError) as failure:
        row.problem = str(failure)
        context.say(f"{name}, {cpus} CPUs: {failure}")
    if not row.problem and not context.options.keep:
        path.unlink()
        for log in machine.model_dir.glob("cpu*.log"):
            log.unlink()
    return row


def _table(rows) -> str:
    widths = [max(map(len, column)) for column in zip(*rows)]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip()
                     for row in rows)


def run(context):
    options = context.options
    names = list(KINDS) if options.kinds == "all" else options.kinds.split(",")
    unknown = [name for name in names if name not in KINDS]
    if unknown:
        raise Failure(f"unknown kinds {', '.join(unknown)}; there are {', '.join(KINDS)}")
    cells = [(int(cpus), name) for cpus in options.cpus.split(",") for name in names
             if int(cpus) >= KINDS[name].min_cpus and options.kernel in KINDS[name].kernels]
    rows = []
    for cpus, name in cells:
        rows.append(_cell(context, cpus, name))
        context.say(" ".join(rows[-1].cells(context.os.release)))
    print(_table([Row.HEAD] + [row.cells(context.os.release) for row in rows]))
    bad = [row for row in rows if row.problem]
    if bad:
        raise Failure(f"{len(bad)} of {len(rows)} cells: " + "; ".join(
            f"{row.name} ({row.cpus} CPUs): {row.problem.splitlines()[0]}" for row in bad))
    context.say(f"{len(rows)} of {len(rows)} cells are as they should be")

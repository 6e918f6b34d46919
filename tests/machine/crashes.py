# SPDX-License-Identifier: GPL-2.0-or-later
"""The ways to crash, the circumstances, and which of them are combined to cells."""

from dataclasses import dataclass, replace

import guestos
import vm
import workload

PANIC_ON_OOPS = "echo 1 >/proc/sys/kernel/panic_on_oops"
PANIC_ON_WARN = "echo 1 >/proc/sys/kernel/panic_on_warn"
# A machine of many ends boots without these watchdogs.
SOFT_LOCKUP = """
echo 1 >/proc/sys/kernel/watchdog
echo 1 >/proc/sys/kernel/softlockup_panic
echo 2 >/proc/sys/kernel/watchdog_thresh"""
HUNG_TASK = """
echo 1 >/proc/sys/kernel/hung_task_panic
echo 2 >/proc/sys/kernel/hung_task_timeout_secs"""
# A console that has each line, and waits for each character.
SLOW_CONSOLE = """
echo 8 >/proc/sys/kernel/printk
insmod /modules/btsuart.ko || fail "btsuart does not load"
"""
PAGE_FAULT = ("asm_exc_page_fault",)
INVALID_OPCODE = ("asm_exc_invalid_op",)
PROTECTION = ("asm_exc_general_protection",)
PANIC = ("panic", "vpanic")
# Of storing a line or two, and formatting them for each of two consoles; what a driver does with
# them is not recorded, which would be more than a ring.
MAX_PRINTED = 2500
NMI = ("asm_exc_nmi",)
# After it 5.10 and 7.2 do not print what they say in an NMI handler.
STOPPED = "btsrec: Recording stopped"


@dataclass(frozen=True)
class Kind:
    """One way to crash.

    @setup, @prepare: what the guest's shell does before the recorder is loaded, and after;
        $behind_pause: where probe_sched_switch() goes on when it has stopped BTS.
    @trigger: what it does under load.
    @console: what the kernel must have said, so that no other crash is taken for this one.
    @entries: the newest entry of these handlers is the fault's, as the CPU sees it.
    @reasons: what the freeze may call it.
    @max_unfrozen: CPUs that did not record any more when the others were stopped.
    @together: several CPUs may have the fault.
    @monitor: command of QEMU's monitor for "ask monitor".
    @max_newer: records that the faulting CPU may add, without interrupts that came and went;
        None: not limited, see docs/evidence/kernels-and-crashes.md.
    @max_since: records outside of interrupts that it may add from the moment of the fault on, which
        btscrash notes, what is printed first included.
    @end: what the kernel says last.
    @doing: a pattern that the line of another CPU must have; empty: anything.
    @paused: why the history of each CPU ends before the freeze; empty: it need not.
    @mark: what the decoder must say that the fault is, with " or " between; empty: anything.
    @everywhere: --full has it on each kernel, else on the first one.
    @guilty: the function that the first page must name of the CPU that failed; empty: none.
    @verdict: the rule that must fire there, and the function of its "ip", if it has one, with
        " or " between; empty: any.
    @says: a pattern that the sentence of the verdict must have; empty: anything.
    @locks: a pattern that the lines of the page on locks must have; empty: anything.
    @elsewhere: a pattern that the part on other CPUs must have, if their histories reach back to
        the fault; empty: anything.
    """

    trigger: str
    console: str
    entries: tuple = PANIC
    reasons: tuple = ("panic",)
    setup: str = ""
    prepare: str = ""
    max_newer: int | None = None
    max_since: int | None = None
    min_cpus: int = 1
    max_unfrozen: int = 0
    survives: bool = False
    together: bool = False
    monitor: str = ""
    append: str = ""
    end: str = vm.PANIC_END
    mark: str = "call"
    guilty: str = ""
    verdict: str = ""
    says: str = ""
    locks: str = ""
    elsewhere: str = ""
    doing: str = ""
    paused: str = ""
    kernels: tuple = guestos.KERNELS
    everywhere: bool = True

    def may_be_older(self) -> bool:
        """The exception may be older than the rings: its handler may be preempted."""
        return self.mark == "exception or unknown"


def _oops(kind: str, console: str, **more) -> Kind:
    more.setdefault("entries", PAGE_FAULT)
    more.setdefault("max_newer", 64)
    more.setdefault("mark", "exception")
    return Kind(f"crash {kind}", console, reasons=("oops",), setup=PANIC_ON_OOPS, **more)


def _misuse(kind: str, console: str, **more) -> Kind:
    more.setdefault("trigger", f"misuse {kind}")
    return Kind(console=console, everywhere=False, **more)


def _misuse_oops(kind: str, console: str, **more) -> Kind:
    more.setdefault("entries", PAGE_FAULT)
    return _misuse(kind, console, reasons=("oops",), setup=PANIC_ON_OOPS, mark="exception",
                   **more)


def _rare(kind: str, console: str, **more) -> Kind:
    return _oops(kind, console, everywhere=False, **more)


KINDS = {
    "sysrq-c": Kind("echo c >/proc/sysrq-trigger", "sysrq triggered crash", max_newer=64,
                    guilty="sysrq_handle_crash",
                    verdict="panic sysrq_handle_crash"),
    "null": _oops("null", "NULL pointer dereference", guilty="null_dereference",
                  verdict="null-pointer null_dereference"),
    "null-hardirq": _oops("null-hardirq", "Fatal exception in interrupt", guilty="in_irq_work",
                          verdict="null-pointer null_dereference"),
    "null-softirq": _oops("null-softirq", "Fatal exception in interrupt", guilty="in_timer",
                          verdict="null-pointer null_dereference"),
    "gp": _oops("gp", "general protection fault", entries=("asm_exc_general_protection",),
                guilty="general_protection",
                verdict="non-canonical-address general_protection"),
    # Interrupts are on while it is reported: whatever comes then is recorded.
    "bug": _oops("bug", "kernel BUG at", entries=("asm_exc_invalid_op",), max_newer=None,
                 guilty="bug",
                 verdict="bug bug"),
    "warn": Kind("crash warn", "btscrash: a warning with a text", entries=("asm_exc_invalid_op",),
                 mark="exception", guilty="warn", setup=PANIC_ON_WARN, max_since=MAX_PRINTED,
                 verdict="warning warn"),
    "warn-uart": Kind("crash warn", "btscrash: a warning with a text",
                      entries=("asm_exc_invalid_op",), mark="exception", guilty="warn",
                      setup=PANIC_ON_WARN, prepare=SLOW_CONSOLE, max_since=MAX_PRINTED,
                      verdict="warning warn"),
    "printed-bug": Kind("crash printed-bug", "kernel BUG at", entries=("asm_exc_invalid_op",),
                        reasons=("oops",), mark="exception", guilty="printed_bug",
                        setup=PANIC_ON_OOPS,
                        prepare=SLOW_CONSOLE, max_since=MAX_PRINTED,
                        verdict="bug printed_bug"),
    "bug-softirq": _rare("bug-softirq", "kernel BUG at", entries=INVALID_OPCODE, max_newer=None,
                        guilty="bug_in_timer", verdict="bug bug"),
    "read-only": _rare("read-only", "unable to handle page fault", guilty="write_read_only",
                       verdict="read-only write_read_only"),
    "divide": _rare("divide", "divide error", entries=("asm_exc_divide_error",), guilty="divide",
                    verdict="exception divide"),
    "no-instruction": _rare("no-instruction", "invalid opcode", entries=INVALID_OPCODE,
                            guilty="no_instruction", max_newer=None,
                            verdict="exception no_instruction"),
    "breakpoint": _rare("breakpoint", "int3", entries=("asm_exc_int3",), guilty="breakpoint",
                        max_newer=None, verdict="exception breakpoint"),
    "bad-stack": _rare("bad-stack", "double fault", entries=("asm_exc_double_fault",),
                       guilty="bad_stack", verdict="bad-stack bad_stack"),
    "call-null": _rare("call-null", "NULL pointer dereference", guilty="call_null",
                       verdict="no-code call_null"),
    "call-data": _rare("call-data", "NX-protected page", guilty="call_data",
                       verdict="no-code call_data"),
    "stack-overflow": _oops("stack-overflow", "stack guard page",
                            entries=("asm_exc_double_fault",), guilty="recurse",
                            verdict="stack-overflow recurse"),
    "jump-corrupt": _oops("jump-corrupt", "unable to handle page fault", guilty="jump_corrupt",
                          verdict="no-code jump_corrupt"),
    "return-corrupt": _oops("return-corrupt", "unable to handle page fault",
                            guilty="return_corrupt",
                            verdict="no-code return_corrupt"),
    "panic-in-nmi": Kind("crash panic-in-nmi", "btscrash: in an NMI handler", max_newer=64,
                         mark="nmi", end=STOPPED, verdict="nmi or panic on_nmi"),
    "hard-lockup": Kind("crash hard-lockup", "Hard LOCKUP", reasons=("hard lockup",),
                        max_newer=64, mark="nmi", end=STOPPED, guilty="hard_lockup",
                        verdict="stuck hard_lockup"),
    # Two CPUs take two locks in opposite order; one of them with interrupts off.  The verdict is
    # "stuck", or "lockup" if it has spun for too few branches.
    "deadlock": Kind("crash deadlock", "Hard LOCKUP", reasons=("hard lockup",), max_newer=64,
                     mark="nmi", end=STOPPED, min_cpus=2, guilty="deadlock_ba"),
    "soft-lockup": Kind("crash soft-lockup", "softlockup: hung tasks", reasons=("soft lockup",),
                        max_newer=64, mark="unknown", guilty="soft_lockup", setup=SOFT_LOCKUP,
                        verdict="stuck soft_lockup"),
    # A kernel that may preempt the report goes on recording there, and records the panic.
    "hung-task": Kind("crash hung-task\nsleep 100", "hung_task: blocked tasks",
                      reasons=("hung task",), max_newer=64, mark="unknown or call", setup=HUNG_TASK,
                      verdict="hung-task sleep_for_ever"),
    "rcu-stall": Kind("crash rcu-stall", "RCU Stall", reasons=("rcu stall",), max_newer=64,
                      mark="unknown", guilty="rcu_stall", setup="""
echo 1 >/proc/sys/kernel/panic_on_rcu_stall
echo 0 >/sys/module/rcupdate/parameters/rcu_cpu_stall_suppress
echo 3 >/sys/module/rcupdate/parameters/rcu_cpu_stall_timeout""",
                      verdict="stuck rcu_stall"),
    # The 6.1 of the cloud flavour has no CONFIG_X86_MCE.
    "machine-check": Kind("ask monitor\nsleep 100", "Machine check", reasons=("machine check",),
                          kernels=("6.12", "7.2", "7.3"), max_newer=64,
                          # Unknown where it hits while the switch path has BTS off.
                          mark="exception or unknown",
                          monitor="mce -b 0 4 0xb200000000000005 0x5 0 0",
                          # Otherwise it reboots, at once or some time after the panic.
                          append="mce=nobootlog panic=3600", end=STOPPED,
                          verdict="machine-check"),
    "user-oops": Kind("(crash null)\nsleep 1\nfinish 0", "NULL pointer dereference",
                      entries=PAGE_FAULT, reasons=("oops",), survives=True, max_newer=64,
                      mark="exception", guilty="null_dereference",
                      verdict="null-pointer null_dereference"),
    # What wait4() returns to in init is made an instruction that there is none of.
    "init-dies": Kind("""set -- $(cat /proc/1/syscall)
printf '\\017\\013' | dd of=/proc/1/mem bs=1 seek=$(($9)) conv=notrunc
(sleep 0 &)
sleep 100""", "Attempted to kill init! exitcode=0x00000004", guilty="do_exit",
                      verdict="panic do_exit"),
    "all-panic": Kind("crash all-panic", "btscrash: CPU", max_newer=64, min_cpus=2,
                      together=True, guilty="panic_together",
                      verdict="panic panic_together"),
    "annotating": Kind("hunt '' 1\ndd if=/dev/zero bs=1 | dd of=/dev/null bs=1",
                       "btscrash: NMI at", max_newer=64, min_cpus=2, mark=""),
    # Right after the instruction that stops BTS: all that the freeze needs must be there by then.
    "pausing": Kind("""cd /sys/module/btscrash/parameters
printf '0x%x' $((0x$start + behind_pause)) >hunt_start
crash break""", "btscrash: breakpoint at probe_sched_switch", max_newer=64, min_cpus=2, mark="",
                    prepare="start=$(grep ' probe_sched_switch' /tmp/text | cut -d' ' -f1)"),
    "arming": Kind("""hunt armer 0
printf armer >/proc/self/comm
while :; do echo disarm >/dev/btsrec; echo arm >/dev/btsrec; done""",
                   "btscrash: NMI at", reasons=("panic", "none"), min_cpus=2,
                   max_unfrozen=64, mark=""),
    # What fails is a function of the kernel, but what did it is on the page (guest/btsmisuse.c).
    "callback": _misuse_oops("callback", "general protection fault", entries=PROTECTION,
                             guilty="notify", verdict="no-code notify"),
    "double-delete": _misuse_oops("double-delete", "kernel BUG at", entries=INVALID_OPCODE,
                                  guilty="stop_item", verdict="bug"),
    "missing-unlock": _misuse("missing-unlock", "hung_task: blocked tasks", setup=HUNG_TASK,
                              trigger="misuse missing-unlock\nsleep 100",
                              reasons=("hung task",), mark="unknown or call",
                              verdict="hung-task update_item",
                              locks=r"update_item.* for a mutex .*thread \d+ \(init\) owns"),
    "lock-circle": _misuse("lock-circle", "hung_task: blocked tasks", setup=HUNG_TASK,
                           reasons=("hung task",), mark="unknown or call",
                           verdict="hung-task take_both",
                           locks="deadlock: .*take_both.* for a mutex .* owns\n"
                                 "locks: *deadlock: .*take_both.* for a mutex .* owns$"),
    "writer-stays": _misuse("writer-stays", "hung_task: blocked tasks", setup=HUNG_TASK,
                            reasons=("hung task",), mark="unknown or call",
                            verdict="hung-task read_table",
                            locks=r"read_table.* for a rwsem, read .*thread \d+ \(init\) owns"),
    "wait-ipi": _misuse("wait-ipi", "softlockup: hung tasks", setup=SOFT_LOCKUP,
                        reasons=("soft lockup",), mark="unknown", min_cpus=2, guilty="wait_ipi",
                        # The name in 7.3 is the second one.
                        verdict="stuck smp_call_function_single or "
                                "stuck __smp_call_function_single",
                        doing=r"stay_deaf\+0x\w+ \[btsmisuse\], interrupts off"),
    # Either of both threads may be the one that hung.
    "flush-circle": _misuse("flush-circle", "hung_task: blocked tasks", setup=HUNG_TASK,
                            reasons=("hung task",), mark="unknown or call", verdict="hung-task",
                            locks=r"update_work.* for a mutex .*thread \d+ \(init\) owns"),
    # Its code lies apart from the module's, and is freed when it has returned.
    "module-init": _misuse_oops("module-init", "NULL pointer dereference",
                                trigger="rmmod btsmisuse\ninsmod /modules/btsmisuse.ko at_init=1",
                                guilty="count_early", verdict="null-pointer count_early"),
    "neighbour": _misuse_oops("neighbour", "NULL pointer dereference", guilty="read_slot",
                              verdict="null-pointer read_slot"),
    "early-put": _misuse_oops("early-put", "general protection fault", entries=PROTECTION,
                              guilty="count_item", verdict="non-canonical-address count_item"),
    "timer": _misuse_oops("timer", "general protection fault", entries=PROTECTION),
    "two-cpus": _misuse_oops("two-cpus", "kernel BUG at", entries=INVALID_OPCODE, min_cpus=2,
                             guilty="list_thread", verdict="bug",
                             elsewhere=r"(enlist|unlist|construct|list_thread) \[btsmisuse\] at "
                                       r"event \d+, thread \d+/\d+ \"btsmisuse/\d\", "),
    "recursion": _misuse_oops("recursion", "stack guard page", entries=("asm_exc_double_fault",),
                              guilty="visit_children", verdict="stack-overflow"),
    # Which function finds the stack full is chance.
    "recursion-leaf": _misuse_oops("recursion-leaf", "stack guard page",
                                   entries=("asm_exc_double_fault",), guilty="descend",
                                   verdict="stack-overflow"),
    "refcount": _misuse("refcount", "refcount_t: addition on 0", entries=INVALID_OPCODE,
                        mark="exception", setup=PANIC_ON_WARN, guilty="get_dead",
                        verdict="warning"),
    "usercopy": _misuse_oops("usercopy", "kernel BUG at", entries=INVALID_OPCODE,
                             guilty="copy_too_much", verdict="bug"),
    # Newer kernels take the object twice.
    "double-free": _misuse_oops("double-free", "kernel BUG at", entries=INVALID_OPCODE,
                                kernels=("6.1", "6.12"), guilty="free_twice", verdict="bug"),
    "smash-stack": _misuse("smash-stack", "stack-protector", guilty="fill_short",
                           verdict="panic"),
    "sleep-with-lock": _misuse("sleep-with-lock", "scheduling while atomic",
                               setup=PANIC_ON_WARN, guilty="sleep_with_lock", verdict="panic"),
    "take-all": _misuse("take-all", "compulsory panic_on_oom", guilty="out_of_memory",
                        setup="echo 2 >/proc/sys/vm/panic_on_oom",
                        verdict="panic out_of_memory"),
    "spin-worker": _misuse("spin-worker", "softlockup: hung tasks", reasons=("soft lockup",),
                           mark="unknown", setup=SOFT_LOCKUP, guilty="spin_work",
                           verdict="stuck spin_work"),
    "lock-twice": _misuse("lock-twice", "softlockup: hung tasks", reasons=("soft lockup",),
                          mark="unknown", setup=SOFT_LOCKUP, guilty="count_twice",
                          verdict="stuck native_queued_spin_lock_slowpath",
                          says=r"it reads count_lock \[btsmisuse\] again and again",
                          locks=r"a spinlock at count_lock \[btsmisuse\] in count_twice\+"),
    "read-odd": _misuse("read-odd", "softlockup: hung tasks", reasons=("soft lockup",),
                        mark="unknown", setup=SOFT_LOCKUP, guilty="read_odd",
                        verdict="stuck read_odd",
                        says=r"it reads count_version \[btsmisuse\] again and again"),
    "bad-copy": _misuse_oops("bad-copy", "unable to handle page fault", guilty="copy_from",
                             verdict="bad-address"),
    "user-memory": _misuse_oops("user-memory", "permissions violation", guilty="set_option",
                                verdict="user-memory set_option"),
    "page-table": _misuse_oops("page-table", "unable to handle page fault", guilty="read_mapped",
                               verdict="page-table read_mapped"),
    "unknown-nmi": _misuse("unknown-nmi", "NMI: Not continuing", mark="nmi", reasons=("nmi",),
                           trigger="ask monitor\nsleep 100", monitor="nmi", end=STOPPED,
                           setup="echo 1 >/proc/sys/kernel/unknown_nmi_panic", verdict="nmi"),
    # A copy of the rings is being made: no branch leads to the fault, and the freeze knows why.
    "held": Kind("""exec 5<>/dev/btsrec
echo hold >&5
echo c >/proc/sysrq-trigger""", "sysrq triggered crash", mark="unknown", paused="snapshot",
                 verdict="none"),
    # The history reaches back before the arming, with the self-test's branches left out.
    "rearmed": Kind("""echo disarm >/dev/btsrec
echo arm >/dev/btsrec
echo c >/proc/sysrq-trigger""", "sysrq triggered crash", max_newer=64,
                    verdict="panic sysrq_handle_crash"),
    # Its handler may be preempted for so long that the ring has its entry no more.
    "kthread-mm": _oops("kthread-mm", "NULL pointer dereference", mark="exception or unknown",
                        verdict="null-pointer null_dereference"),
    "cpu-offline": Kind("""echo 0 >/sys/devices/system/cpu/cpu1/online
echo c >/proc/sysrq-trigger""", "sysrq triggered crash", max_newer=64,
                        min_cpus=2, max_unfrozen=1,
                        verdict="panic sysrq_handle_crash"),
}


@dataclass(frozen=True)
class Axis:
    """One circumstance that differs from a plain cell, which has 2 CPUs and a CPU without SMAP.

    @setup, @armed: what the guest's shell does before the recorder is loaded, and after it armed.
    @cpu: features to add to the CPU's.
    @perf: with performance monitoring, so that perf is alive.
    @kdump: with a capture kernel, which is entered by the crash.
    @survives: an oops kills its task alone.
    """

    append: str = ""
    setup: str = ""
    armed: str = ""
    cpu: str = ""
    cpus: int = 2
    perf: bool = False
    kdump: bool = False
    survives: bool = False


POST_NOTIFIERS = "crash_kexec_post_notifiers"
AXES = {
    "plain": Axis(),
    "1-cpu": Axis(cpus=1),
    "8-cpus": Axis(cpus=8),
    "pti": Axis(append="pti=on"),
    "perf": Axis(perf=True, cpu=",level=13"),
    "smap": Axis(cpu=",+smap"),
    "kdump": Axis(kdump=True),
    "post-notifiers": Axis(append=POST_NOTIFIERS),
    "kdump-post": Axis(kdump=True, append=POST_NOTIFIERS),
    "ftrace-off": Axis(armed="""
echo 0 >/proc/sys/kernel/ftrace_enabled 2>/dev/null && fail "ftrace can be switched off" """),
    "survive": Axis(survives=True),
}


@dataclass(frozen=True)
class Cell:
    """One boot."""

    kernel: str
    axis: str
    name: str

    def kind(self) -> Kind:
        kind = KINDS[self.name]
        if not AXES[self.axis].survives or kind.survives:
            return kind
        return replace(kind, survives=True, setup="",
                       trigger=f"({kind.trigger})\nsleep 1\nfinish 0")

    def possible(self) -> bool:
        return self.kernel in KINDS[self.name].kernels and \
            AXES[self.axis].cpus >= KINDS[self.name].min_cpus


# Kinds for the axes: of each way into the freeze, and of each with a goal.
OF_AXES = ("sysrq-c", "null", "gp", "bug")
OF_SURVIVAL = ("user-oops", "gp", "bug", "jump-corrupt")
# Axes that take another way through the code of each kernel; the others are run on one.
ON_EACH_KERNEL = ("pti", "smap", "kdump")


def cells(kernels, axes, names) -> list[Cell]:
    found = [Cell(kernel, axis, name) for kernel in kernels for axis in axes for name in names]
    return [cell for cell in found if cell.possible()]


def full() -> list[Cell]:
    """Every kind on every kernel; every axis with at least four kinds."""
    axes = [axis for axis in AXES if axis not in ("plain", "survive")]
    found = []
    for kernel in guestos.KERNELS:
        first = kernel == guestos.KERNELS[0]
        found += cells([kernel], ["plain"],
                       [name for name, kind in KINDS.items() if first or kind.everywhere])
        found += cells([kernel], axes if first else ON_EACH_KERNEL, OF_AXES)
        found += cells([kernel], ["survive"], OF_SURVIVAL if first else ())
    return found


def short() -> list[Cell]:
    """One of each way into the freeze, and one on three later kernels; for every day."""
    first = guestos.KERNELS[0]
    return cells([first], ["plain"], ("sysrq-c", "null", "stack-overflow", "panic-in-nmi",
                                      "cpu-offline")) + \
        cells([first], ["kdump"], ["bug"]) + \
        cells(("5.10", "6.12", guestos.KERNELS[-1]), ["plain"], ["null-hardirq"])


def asked(begin: str, cases: dict[str, str]) -> str:
    """The script of a busy machine that runs into the kind for which it asks, by vm's each_end().

    @begin: what it does before. @cases: by kind, what leads to it.
    """
    return workload.SHELL + f"""
crash() {{ echo "$1" >/sys/module/btscrash/parameters/crash; }}
misuse() {{ echo "$1" >/sys/module/btsmisuse/parameters/misuse; }}
{begin}
start_work
hurry
sleep 1
kind=$(ask kind)
# The kernel finds that much time has passed at once, and that its CPUs switch.
usleep 300000
case $kind in
""" + "\n".join(f"{name})\n{text}\n;;" for name, text in cases.items()) + "\nesac\n"

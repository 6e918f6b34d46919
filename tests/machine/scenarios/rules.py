# SPDX-License-Identifier: GPL-2.0-or-later
"""The model objects to each thing that would kill a real machine, and only then.

guest/btsbreak.ko breaks one rule after the other on purpose. The model must report each
under its name, with the CPU, the address and the instruction, and must report nothing
else. A reset and the start of another kernel, both with BTS on, have a boot of their own.
"""

import re

import programs
import truth
from errors import Failure

SUMMARY = "every rule of the model, broken on purpose and caught"

# What btsbreak is asked for, and the rule that it must break so.
BREAKS = {
    "NONE": None,
    "STORE_UNMAPPED": "STORE_UNMAPPED",
    "STORE_READ_ONLY": "STORE_UNMAPPED",
    "STORE_STRADDLE": "STORE_UNMAPPED",
    "DS_AREA_ZERO": "DS_AREA_ZERO",
    "DS_AREA_MOVED": "DS_AREA_MOVED",
    "RING_BOUNDS": "RING_BOUNDS",
    "RING_MULTIPLE": "RING_MULTIPLE",
    "THRESHOLD_INSIDE": "THRESHOLD_INSIDE",
    "DEBUGCTL_FOREIGN": "DEBUGCTL_FOREIGN",
    "BTS_AFTER_UNLOAD": "BTS_AFTER_UNLOAD",
    "HOTPLUG": None,
}

SCRIPT = """
for rule in %s; do
	insmod /modules/btsbreak.ko rule=$rule || fail "btsbreak does not load"
	rmmod btsbreak
	ask judge $rule
done
# BTS stays on at CPU 0 while CPU 1 goes through its trampoline.
taskset 1 insmod /modules/btsbreak.ko rule=BTS_ON_AT_KEXEC || fail "btsbreak does not load"
echo 0 >/sys/devices/system/cpu/cpu1/online
echo 1 >/sys/devices/system/cpu/cpu1/online
grep -q 0-1 /sys/devices/system/cpu/online || fail "CPU 1 does not come back"
rmmod btsbreak
ask judge HOTPLUG
""" % " ".join(name for name in BREAKS if name != "HOTPLUG")

RESET_SCRIPT = """
insmod /modules/btsbreak.ko rule=BTS_ON_AT_RESET
fail "the machine was not reset"
"""

# CPU 0 starts the next kernel; the one that has BTS on is another, which has to stop.
KEXEC_MARK = "the next kernel starts"
KEXEC_SCRIPT = """
kexec -c -l /vmlinuz --append=console=ttyS0 || fail "kexec does not load a kernel"
taskset 2 insmod /modules/btsbreak.ko rule=%s
say "%s"
kexec -e
fail "kexec did not start the kernel"
""" % ("%s", KEXEC_MARK)

LINE = re.compile(r"^(?P<rule>[A-Z_]+) cpu=(?P<cpu>\d+) ip=0x(?P<ip>[0-9a-f]{16}) "
                  r"addr=0x(?P<addr>[0-9a-f]{16}) insn=(?P<insn>[0-9a-f]+|-) (?P<detail>.+)$")
PAGE_BYTES = 4096
MIN_HOTPLUG_RECORDS = 10_000


class Judge:
    """Looks at the lines that are new since the last look."""

    def __init__(self, context):
        self._context = context
        self._seen = 0

    def new_lines(self, machine) -> list:
        lines = machine.violations().splitlines()
        new, self._seen = lines[self._seen:], len(lines)
        return new

    def __call__(self, machine, what: str) -> str:
        self.expect(what, BREAKS[what], self.new_lines(machine))
        return "judged"

    def expect(self, what: str, rule: str | None, lines: list):
        if not lines and rule:
            raise Failure(f"{what}: the model did not notice")
        for line in lines:
            found = LINE.match(line)
            if not found or found["rule"] != rule:
                raise Failure(f"{what}: unexpected: {line}")
            if int(found["ip"], 16) < PAGE_BYTES or found["insn"] == "-":
                raise Failure(f"{what}: no instruction in: {line}")
        self._context.say(f"{what}: {lines[0] if lines else 'no objection'}")


def _boot(context, script: str, name: str, files=(), answers=None, **config):
    btsbreak = ("modules/btsbreak.ko", context.guest_module("btsbreak").read_bytes())
    machine = context.boot(script, name=name, files=[btsbreak, *files], answers=answers, **config)
    machine.check_violations = lambda: None
    return machine


def _all_but_ends(context, judge: Judge):
    with _boot(context, SCRIPT, "rules", answers={"judge": judge}, cpus=2) as machine:
        machine.expect_finish(context.seconds(120))
        machine.quit()
        total = truth.Log(machine.model_dir / "cpu0.log").total
        if total < MIN_HOTPLUG_RECORDS:
            raise Failure(f"CPU 0 recorded only {total} branches while CPU 1 came online")


def _until_violation(context, machine):
    """Run the guest until the model objects; the lines."""
    def stop():
        if machine.violations():
            machine.finish_status = 0

    machine.check_violations = stop
    machine.run(context.seconds(120))
    return machine.violations().splitlines()


def _reset(context, judge: Judge):
    with _boot(context, RESET_SCRIPT, "reset", reboot=True) as machine:
        judge.expect("BTS_ON_AT_RESET", "BTS_ON_AT_RESET", _until_violation(context, machine))


def _kexec_files(context) -> list:
    return [*programs.files("kexec-tools", "sbin/kexec"),
            ("vmlinuz", context.os.vmlinuz.read_bytes())]


def _kexec(context, judge: Judge):
    with _boot(context, KEXEC_SCRIPT % "BTS_ON_AT_KEXEC", "kexec",
               files=_kexec_files(context), cpus=2) as machine:
        judge.expect("BTS_ON_AT_KEXEC", "BTS_ON_AT_KEXEC", _until_violation(context, machine))


def _kexec_in_order(context, judge: Judge):
    """The same with BTS off: the start of a kernel alone is no reason to object."""
    def stop():
        if "Linux version" in machine.console().partition(KEXEC_MARK)[2]:
            machine.finish_status = 0

    machine = _boot(context, KEXEC_SCRIPT % "NONE", "kexec-in-order",
                    files=_kexec_files(context), cpus=2)
    machine.check_violations = stop
    with machine:
        machine.run(context.seconds(120))
        judge.expect("kexec with BTS off", None, machine.violations().splitlines())


def run(context):
    judge = Judge(context)
    _all_but_ends(context, judge)
    _reset(context, judge)
    _kexec(context, judge)
    _kexec_in_order(context, judge)

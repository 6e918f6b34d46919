# SPDX-License-Identifier: GPL-2.0-or-later
"""Machines on which the recorder must refuse to arm, and say why in one sentence."""

import re
from dataclasses import dataclass, field

import vm
from errors import Failure

SUMMARY = "the module refuses, with a sentence, where it must"

SCRIPT = """
if insmod /modules/btsrec.ko %s; then
	fail "the recorder loads and arms here"
fi
lsmod | grep -q ^btsrec && fail "the refused module is still there"
dmesg | grep btsrec: >/tmp/log
send /tmp/log
finish 0
"""


@dataclass
class Case:
    """@says: what the kernel log must contain. @parameters: the module's. @module: loaded
    before it, with parameters.
    """

    name: str
    says: str
    config: dict = field(default_factory=dict)
    parameters: str = ""
    module: tuple[str, str] | None = None


CASES = [
    Case("no-bts", r"(?i)\bBTS\b.*\b(virtual|no |not )|\b(no|not)\b.*BTS",
         {"cpu": vm.CPU.replace("+ds,", "-ds,")}),
    Case("not-intel", r"Intel",
         {"cpu": vm.CPU.replace("GenuineIntel", "AuthenticAMD").replace("family=6", "family=23")}),
    Case("pti", r"page-table isolation.*pti=refuse", {"append": "pti=on"}, "pti=refuse"),
    Case("pti-by-default", r"page-table isolation.*pti=refuse", {"append": "pti=on"}),
    Case("no-place", r"page-table isolation.*no free place", {"append": "pti=on"},
         parameters="pti=map", module=("btstables", "full=1")),
    Case("no-such-pti", r"pti=maybe is unknown", parameters="pti=maybe"),
    Case("no-such-source", r"source=maybe is unknown", parameters="source=maybe"),
    Case("no-lbr", r"shows no last branch record", parameters="source=lbr"),
    Case("no-records", r"(?i)self-?test", {"plugin": None}),
]


def run(context):
    for case in CASES:
        modules = [(context.guest_module(name), parameters)
                   for name, parameters in filter(None, [case.module])]
        machine = context.boot(SCRIPT % case.parameters, modules, name=case.name,
                               files=[("modules/btsrec.ko", context.recorder.read_bytes())],
                               **case.config)
        with machine:
            machine.expect_finish(context.seconds(90))
            machine.quit()
        log = machine.files["log"].decode(errors="replace").strip()
        sentence = next((line for line in log.splitlines() if re.search(case.says, line)), None)
        if not sentence:
            raise Failure(f"{case.name}: no line of the kernel log says {case.says!r}:\n{log}")
        context.say(f"{case.name}: {sentence}")

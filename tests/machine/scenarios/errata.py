# SPDX-License-Identifier: GPL-2.0-or-later
"""On processors with a known erratum of BTS the recorder arms, and says what to doubt."""

import re

import vm
from errors import Failure

SUMMARY = "the errata that the module knows are named on the processors that have them"

SCRIPT = """
insmod /modules/btsrec.ko mode=%s || fail "the recorder does not arm here"
dmesg | grep -o 'btsrec: This processor has erratum.*' >/tmp/log
send /tmp/log
finish 0
"""

# CPUID model of family 6, mode, ids.
CASES = [
    (0x25, "kernel", ["AAJ122", "BU10"]),  # Westmere
    (0x3A, "all", ["AAJ122"]),  # Ivy Bridge
    (0x0F, "user", ["AR62"]),  # Core 2, 65 nm
    (0x0F, "all", []),
    (0x55, "kernel", []),  # Skylake-SP
]


def run(context):
    for model, mode, expected in CASES:
        machine = context.boot(SCRIPT % mode, name=f"{model:02x}-{mode}",
                               files=[("modules/btsrec.ko", context.recorder.read_bytes())],
                               cpu=vm.CPU.replace("model=85", f"model={model}"), cpus=1)
        with machine:
            machine.expect_finish(context.seconds(90))
            machine.quit()
        log = machine.files["log"].decode()
        found = re.findall(r"erratum (\w+): .+\.$", log, re.MULTILINE)
        if found != expected:
            raise Failure(f"model 0x{model:02x}, mode={mode}: {found}, not {expected}:\n{log}")
        context.say(f"model 0x{model:02x}, mode={mode}: {', '.join(found) or 'none'}")

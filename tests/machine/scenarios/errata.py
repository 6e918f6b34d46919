# SPDX-License-Identifier: GPL-2.0-or-later
"""On processors with a known erratum of BTS the recorder arms, and says what is unreliable.

It says so in the kernel log, and "btsrec info" says the same from the dump.
"""

import json
import re

import dump
import vm
from errors import Failure

SUMMARY = "errata that the module knows are named on the processors with them, and in the dump"

SCRIPT = """
insmod /modules/btsrec.ko mode=%s || fail "the recorder does not arm here"
dmesg | grep -o 'btsrec: This processor has erratum.*' >/tmp/log
send /tmp/log
ask dump
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


def _info(context, path) -> list[str]:
    """The errata that the dump has, the same in text as in JSON."""
    text = re.findall(r"^erratum: +(\w+): .+$", dump.btsrec(context, "info", path), re.MULTILINE)
    root = json.loads(dump.btsrec(context, "info", "--format", "jsonl", path).splitlines()[0])
    if root["errata"] != text:
        raise Failure(f"errata of the dump: {text} as text, {root['errata']} as JSON")
    return text


def run(context):
    path = context.out / "dump"

    for model, mode, expected in CASES:
        machine = context.boot(SCRIPT % mode, name=f"{model:02x}-{mode}",
                               files=[("modules/btsrec.ko", context.recorder.read_bytes())],
                               cpu=vm.CPU.replace("model=85", f"model={model}"), cpus=1,
                               answers={"dump": vm.dumps_to(path)})
        with machine:
            machine.expect_finish(context.seconds(90))
            machine.quit()
        log = machine.files["log"].decode()
        found = re.findall(r"erratum (\w+): .+\.$", log, re.MULTILINE)
        if found != expected:
            raise Failure(f"model 0x{model:02x}, mode={mode}: {found}, not {expected}:\n{log}")
        printed = _info(context, path)
        if printed != expected:
            raise Failure(f"model 0x{model:02x}, mode={mode}: the dump has {printed}, not "
                          f"{expected}")
        context.say(f"model 0x{model:02x}, mode={mode}: {', '.join(found) or 'none'}")

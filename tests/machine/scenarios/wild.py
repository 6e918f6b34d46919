# SPDX-License-Identifier: GPL-2.0-or-later
"""A jump and a return to an address that is not canonical are faults of their own.

The usual end of a use after free.  The processor raises #GP at the branch and records the
exception alone, so the history ends in the function that jumped, with a signature.
"""

import json

import dump
import workload
from errors import Failure

SUMMARY = "a jump or return to a wild address is the fault, and the function is named"

SCRIPT = workload.SHELL + """
echo 1 >/proc/sys/kernel/panic_on_oops
echo %s >/sys/module/btscrash/parameters/crash
"""


def run(context):
    for kind in ("jump-wild", "return-wild"):
        path = context.out / f"dump-{kind}"
        path.unlink(missing_ok=True)
        modules = [*context.recorder_modules(), context.guest_module("btscrash")]
        with context.boot(SCRIPT % kind, modules, name=f"boot-{kind}") as machine:
            machine.dump_at_panic(context.seconds(120), path)
        rows = [json.loads(line) for line in
                dump.btsrec(context, "summary", "--format", "jsonl", path).splitlines()]
        signature = next(row for row in rows if row["kind"] == "signature")
        function = kind.replace("-", "_")
        if not signature.get("complete") or signature["functions"][0] != f"{function} [btscrash]":
            raise Failure(f"{kind}: {signature}")
        _, faults = dump.history(context, path)
        if not any(fault.get("vector") == 13 for fault in faults.values()):
            raise Failure(f"{kind}: the faults are {faults}")
        if "bad-record" in dump.btsrec(context, "show", path):
            raise Failure(f"{kind}: the history has a record that is none")
        context.say(f"{kind}: #GP, signature {signature['signature']}")
        path.unlink()

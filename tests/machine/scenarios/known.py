# SPDX-License-Identifier: GPL-2.0-or-later
"""Instructions with known branches: the model records exactly those.

guest/btsknown.ko runs them on each CPU and compares the ring itself: 999 turns of a
loop, calls and jumps to the next instruction, conditional and indirect ones, and between
them what is no branch. The first record is the first branch after BTS is switched on, the
last one is the last before it is switched off.
"""

import re

import truth
from errors import Failure

SUMMARY = "a piece of code with known branches, record for record"

SCRIPT = """
for mask in 1 2; do
	taskset $mask insmod /modules/btsknown.ko ||
		fail "the records are not the branches: $(dmesg | grep btsknown | head -n 1)"
	rmmod btsknown
done
dmesg | grep btsknown >/tmp/known
send /tmp/known
"""


def run(context):
    btsknown = ("modules/btsknown.ko", context.guest_module("btsknown").read_bytes())
    with context.boot(SCRIPT, files=[btsknown], cpus=2) as machine:
        machine.expect_finish(context.seconds(60))
        machine.quit()
        counts = re.findall(r"btsknown: (\d+) records as expected", machine.files["known"].decode())
        totals = [truth.Log(machine.model_dir / f"cpu{cpu}.log").total for cpu in range(2)]
    if totals != [int(count) for count in counts]:
        raise Failure(f"the guest counted {counts}, the model {totals}")
    context.say(f"{totals} records on 2 CPUs are the branches that ran")

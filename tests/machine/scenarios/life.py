# SPDX-License-Identifier: GPL-2.0-or-later
"""Arm, disarm, unload and load again under load; BTS must be off whenever it should be.

After each unloading the page tables of the cpu_entry_area must be what they were before
the loading. With --pti the rings are in them meanwhile.
"""

import workload

SUMMARY = "arming, disarming and unloading under load breaks no rule"

SCRIPT = workload.SHELL + """
start_work
hurry
tables() { cat /sys/module/btstables/parameters/used; }
before=$(tables)
round=0
while [ $round -lt %d ]; do
	insmod /modules/btsrec.ko ring_bytes=%s || fail "loading, round $round"
	[ "$(sed -n 's/^state: //p' /dev/btsrec)" = armed ] || fail "not armed after loading"
	if grep -q '^Mitigation: PTI' /sys/devices/system/cpu/vulnerabilities/meltdown; then
		[ "$(tables)" != "$before" ] || fail "the rings are not in the shared page tables"
	fi
	for pause in 0 1000 30000 100000; do
		usleep $pause
		echo disarm >/dev/btsrec || fail "disarming, round $round"
		[ "$(sed -n 's/^state: //p' /dev/btsrec)" = disarmed ] || fail "not disarmed"
		echo 1 >/sys/kernel/btsctl/off
		usleep $pause
		echo 0 >/sys/kernel/btsctl/off
		echo "mark nothing to see" >/dev/btsrec 2>/dev/null
		echo arm >/dev/btsrec || fail "arming again, round $round"
		echo "mark round $round" >/dev/btsrec || fail "marking, round $round"
	done
	rmmod btsrec || fail "unloading, round $round"
	[ "$(tables)" = "$before" ] || fail "page tables: $(tables) after, $before before"
	[ ! -e /dev/btsrec ] || fail "the device is still there after unloading"
	echo 1 >/sys/kernel/btsctl/off
	usleep 100000
	echo 0 >/sys/kernel/btsctl/off
	round=$((round + 1))
done
dmesg | grep -E 'WARNING: CPU|BUG:|Oops|Call Trace' && fail "the kernel complains"
finish 0
"""


def add_options(parser):
    parser.add_argument("--rounds", type=int, default=5, help="load and unload so often (5)")
    parser.add_argument("--ring-bytes", default="1M", metavar="SIZE")
    parser.add_argument("--pti", action="store_true", help="with page-table isolation")


def run(context):
    options = context.options
    machine = context.boot(SCRIPT % (options.rounds, options.ring_bytes),
                           [context.guest_module(name) for name in ("btsctl", "btstables")],
                           append="pti=on" if options.pti else "nopti",
                           files=[("modules/btsrec.ko", context.recorder.read_bytes())])
    with machine:
        machine.expect_finish(context.seconds(60 + 15 * options.rounds))
        machine.quit()
    context.say(f"{options.rounds} times loaded, {4 * options.rounds} times disarmed, without "
                "a rule broken")

# SPDX-License-Identifier: GPL-2.0-or-later
"""Arm, disarm, resize, unload and load again under load; BTS must be off whenever it should be.

After each unloading the page tables of the cpu_entry_area, and each CPU's DEBUGCTL,
IA32_DS_AREA and DS area must be what they were before the loading, and nothing of the
recorder may be left in the vmalloc area; nor may a CPU's TLB have a translation of a
ring that is freed (guest/btstlb.c). With --pti the rings are in those page tables
meanwhile; --la57 has five levels of them.
"""

from dataclasses import dataclass

import vm
import workload

SUMMARY = "arming, disarming and unloading under load breaks no rule"

SCRIPT = workload.SHELL + """
# Alone, as each loading of CR3 would empty a TLB; this script is on the first CPU.
taskset -p 1 $$ >/dev/null
insmod /modules/btsrec.ko pti=map ring_bytes=%(ring)s || fail "loading, for the TLB"
insmod /modules/btstlb.ko || fail "btstlb does not load"
usleep 10000
rmmod btsrec || fail "unloading, for the TLB"
tlb=$(cat /sys/module/btstlb/parameters/seen)
rmmod btstlb
echo "TLB: $tlb"
case "$tlb" in
*freed=0*) fail "no ring was free: $tlb" ;;
*stale=0) ;;
*) fail "a TLB has translations of rings that are free: $tlb" ;;
esac
taskset -p ffffffff $$ >/dev/null
start_work
hurry
tables() { cat /sys/module/btstables/parameters/used; }
state() { tables; cat /sys/module/btsmsr/parameters/state; }
before=$(tables)
state_before=$(state)
round=0
while [ $round -lt %(rounds)d ]; do
	insmod /modules/btsrec.ko pti=map ring_bytes=%(ring)s || fail "loading, round $round"
	[ "$(sed -n 's/^state: //p' /dev/btsrec)" = armed ] || fail "not armed after loading"
	if grep -q '^Mitigation: PTI' /sys/devices/system/cpu/vulnerabilities/meltdown; then
		[ "$(tables)" != "$before" ] || fail "the rings are not in the shared page tables"
	else
		grep -q btsrec /proc/vmallocinfo || fail "the rings are not in the vmalloc area"
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
		for size in %(ring)s,0:96K 64K %(ring)s; do
			echo "ring_bytes $size" >/dev/btsrec || fail "resizing to $size, round $round"
		done
	done
	rmmod btsrec || fail "unloading, round $round"
	[ "$(state)" = "$state_before" ] || fail "after: $(state); before: $state_before"
	grep btsrec /proc/vmallocinfo && fail "left over in the vmalloc area"
	[ ! -e /dev/btsrec ] || fail "the device is still there after unloading"
	echo 1 >/sys/kernel/btsctl/off
	usleep 100000
	echo 0 >/sys/kernel/btsctl/off
	round=$((round + 1))
done
dmesg | grep -E 'WARNING: CPU|BUG:|Oops|Call Trace' && fail "the kernel complains"
finish 0
"""


@dataclass
class Guest:
    """Where it is done, and how often."""

    rounds: int
    ring_bytes: str
    cpus: int
    memory_mib: int
    pti: bool = False
    la57: bool = False

    def __str__(self):
        return (f"{self.cpus} CPUs, rings of {self.ring_bytes}{', PTI' * self.pti}"
                f"{', LA57' * self.la57}")


# Nine rings of 128 MiB need more than one entry of the shared page table.
FULL = [
    Guest(1, "64K", 8, 512),
    Guest(1, "64K", 8, 512, pti=True),
    Guest(1, "64K", 32, 1024),
    Guest(1, "64M", 2, 1024),
    Guest(1, "64M", 2, 1024, pti=True),
    Guest(1, "1M", 2, 512, la57=True),
    Guest(1, "1M", 2, 512, pti=True, la57=True),
    Guest(1, "128M", 9, 2048, pti=True),
]


def add_options(parser):
    parser.add_argument("--rounds", type=int, default=3, help="load and unload so often (3)")
    parser.add_argument("--ring-bytes", default="1M", metavar="SIZE")
    parser.add_argument("--pti", action="store_true", help="with page-table isolation")
    parser.add_argument("--la57", action="store_true", help="with page tables of five levels")
    parser.add_argument("--full", action="store_true", help="once on each of "
                        + "; ".join(map(str, FULL)))


def _append(guest: Guest) -> str:
    words = ["pti=on" if guest.pti else "nopti"]
    if guest.cpus > 8:
        # So many emulated CPUs on a few real ones do stall.
        words.append("rcupdate.rcu_cpu_stall_suppress=1")
    return " ".join(words)


def _live(context, guest: Guest, name: str):
    modules = [context.guest_module(module) for module in ("btsctl", "btstables", "btsmsr")]
    machine = context.boot(SCRIPT % {"rounds": guest.rounds, "ring": guest.ring_bytes}, modules, name=name,
                           append=_append(guest),
                           cpu=vm.CPU + (",+la57" if guest.la57 else ""), cpus=guest.cpus,
                           memory_mib=guest.memory_mib,
                           files=[(f"modules/{module.name}", module.read_bytes()) for module in
                                  (context.recorder, context.guest_module("btstlb"))])
    with machine:
        machine.expect_finish(context.seconds(90 + 25 * guest.rounds * max(1, guest.cpus // 2)))
        machine.quit()
    context.say(f"{guest}: {guest.rounds} times loaded, {4 * guest.rounds} times disarmed, "
                "without a rule broken")


def run(context):
    options = context.options
    if options.full:
        for number, guest in enumerate(FULL):
            _live(context, guest, f"boot-{number}")
        return
    _live(context, Guest(options.rounds, options.ring_bytes, options.cpus, options.memory,
                         options.pti, options.la57), "boot")

# SPDX-License-Identifier: GPL-2.0-or-later
"""What the guest is busy with: user and kernel code, processes, pipes, timers, BPF programs."""

# attach KIND FUNCTION...: a BPF program that does nothing, at each (tests/machine/guest/bpfhook.c).
ATTACH = """
attach() {
	bpfhook "$@" >/tmp/bpf-"$1" 2>&1 &
	until grep -qx "bpfhook: $1" /tmp/bpf-"$1"; do
		usleep 10000
		kill -0 $! || { cat /tmp/bpf-"$1"; exit 1; }
	done
}
"""

SHELL = """
# The script itself before all of its work.
hurry() {
	read -r self _ </proc/self/stat
	renice -n -20 -p "$self"
}

start_work() {
	(while :; do seq 1 300 | sort -n | md5sum >/dev/null; done) &
	(while :; do cat /proc/self/maps /proc/interrupts | wc -l >/dev/null; done) &
	(while :; do usleep 700; done) &
	(while :; do i=$((i + 1)); done) &
	(while :; do dd if=/dev/zero of=/tmp/work bs=4k count=64 2>/dev/null; done) &
	(while :; do ls -l /sys/kernel /dev >/dev/null; usleep 3000; done) &
}
"""

# What /dev/btsrec must say, and must not.
SAYS = """
device=/dev/btsrec
# says LINE...: lines of the device that must be there; "!LINE": must not.
says() {
	local line
	for line in "$@"; do
		case $line in
		!*) grep "^${line#!}" $device && fail "$line: $(cat $device)" ;;
		*) grep -q "^$line" $device || fail "no $line: $(cat $device)" ;;
		esac
	done
}
"""

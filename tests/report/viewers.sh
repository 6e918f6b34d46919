#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# usage: viewers.sh CHROMIUM BTSREC MKIMAGE
# viewers.py on a dump with three threads on two CPUs, an interrupt and hostile names.
set -eu
case ${1:-} in -h | --help) sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0"; exit ;; esac
chromium=$1 btsrec=$2 mkimage=$3
here=$(cd "$(dirname "$0")" && pwd)
packages=$("$here/../lib/npm")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/map" <<-'END'
	ffffffff81000000 T _stext
	ffffffff81000000 T main_loop
	ffffffff81000100 T helper
	ffffffff81000200 T tail_caller
	ffffffff81000f00 T timer
	ffffffff81001000 T _end
END
"$mkimage" "$work/dump" <<-'END'
	root cpus=2 ring=128 tsc_khz=1000000
	idt 236 0xffffffff81000f00
	code kernel 0xffffffff81000000 e8fb00000075f9e8f4010000ebf2cc
	code kernel 0xffffffff81000100 c3
	code kernel 0xffffffff81000200 e9fbfeffff
	code kernel 0xffffffff81000f00 9048cf
	cpu 0
	arm tsc=1000 now=7/7/0x100000/in;it
	branch 0xffffffff81000000 0xffffffff81000100
	branch 0xffffffff81000100 0xffffffff81000005
	branch 0xffffffff81000005 0xffffffff81000000
	switch tsc=9000 prev=7/7/0x100000/in;it next=8/8/0x101000/<b>
	branch 0xffffffff81000000 0xffffffff81000100
	branch 0xffffffff81000100 0xffffffff81000005
	branch 0xffffffff81000005 0xffffffff81000f00
	branch 0xffffffff81000f01 0xffffffff81000005
	branch 0xffffffff81000007 0xffffffff81000200
	branch 0xffffffff81000200 0xffffffff81000100
	freeze reason=panic tsc=20000 pid=8 tgid=8 comm=<b> stop_ip=0xffffffff81000100
	cpu 1
	branch 0xffffffff81000000 0xffffffff81000100
	branch 0xffffffff81000100 0xffffffff81000005
	switch tsc=9000 prev=0/0/0x100000/swapper next=9/9/0x101000/work
	branch 0xffffffff81000007 0xffffffff81000200
	branch 0xffffffff81000200 0xffffffff81000100
	branch 0xffffffff81000100 0xffffffff8100000c
	freeze reason=panic via_nmi=1 tsc=20100 pid=9 tgid=9 comm=work stop_ip=0xffffffff8100000c
END
"$here/viewers.py" --btsrec "$btsrec" --packages "$packages" --chromium "$chromium" \
	--map "$work/map" "$work/dump"

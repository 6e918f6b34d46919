#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# usage: perf-gaps.sh PERF BTSREC MKIMAGE
# Gaps in a history are events of lost records for
# perf, between the same branches; what the ring has forgotten is no gap.
set -eu
case ${1:-} in -h | --help) sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0"; exit ;; esac
perf=$1 btsrec=$2 mkimage=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$mkimage" "$work/dump" <<-'END'
	root ring=16 tsc_khz=1000000
	cpu 0
	fill 20 0xffffffff81000010 0xffffffff81000100 0x10
	gap tsc=50 stop_tsc=40 reason=suspend now=7/7/0x100000/init
	branch 0xffffffff81000102 0xffffffff81000006
	gap tsc=90 stop_tsc=80 reason=suspend now=7/7/0x100000/init
	branch 0xffffffff81000001 0xffffffff81000100
	freeze reason=panic tsc=3000000
END
"$btsrec" show --format jsonl "$work/dump" | sed -n -e 's/.*"gap":"overwritten".*//' \
	-e 's/.*"kind":"branch","from":"0x\([0-9a-f]*\)".*/\1/p' -e 's/.*"kind":"gap".*/lost/p' \
	>"$work/ours"
"$btsrec" export "$work/dump" "$work/perf.data"
"$perf" script --show-lost-events -F ip,addr -i "$work/perf.data" 2>/dev/null |
	sed -n -e 's/.*PERF_RECORD_LOST.*/lost/p' -e 's/^ *\([0-9a-f]\{16\}\) .*/\1/p' >"$work/theirs"
grep -q lost "$work/ours"
diff "$work/ours" "$work/theirs"

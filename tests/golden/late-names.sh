#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# usage: late-names.sh MKIMAGE PROGRAM
# The program with a dump with names that say which branches lead through thunks.
set -eu
case ${1:-} in -h | --help) sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0"; exit ;; esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Both name the thunk at ...200; the dump has one more, at ...500.
cat >"$work/map" <<-'END'
	ffffffff81000000 T _stext
	ffffffff81000000 T caller
	ffffffff81000100 T callee
	ffffffff81000200 T __x86_indirect_thunk_rax
	ffffffff81000240 T between
	ffffffff81001000 T _end
END
"$1" "$work/dump" <<-'END'
	root cpus=1 ring=100 tsc_khz=1000000
	symbol _stext T 0xffffffff81000000
	symbol caller T 0xffffffff81000000
	symbol callee T 0xffffffff81000100
	symbol __x86_indirect_thunk_rax T 0xffffffff81000200
	symbol between T 0xffffffff81000240
	symbol __x86_indirect_thunk_array t 0xffffffff81000500
	symbol rest T 0xffffffff81000700
	symbol _end B 0xffffffff81001000
	code kernel 0xffffffff81000000 e8fb010000e9f6040000
	code kernel 0xffffffff81000100 c3
	code kernel 0xffffffff81000200 ffe0
	code kernel 0xffffffff81000500 ffe0
	cpu 0
	arm tsc=1000 now=7/7/0x100000/init
	branch 0xffffffff81000000 0xffffffff81000200
	branch 0xffffffff81000200 0xffffffff81000100
	branch 0xffffffff81000100 0xffffffff81000005
	branch 0xffffffff81000005 0xffffffff81000500
	branch 0xffffffff81000500 0xffffffff81000100
	freeze tsc=2000 reason=panic
END
"$2" "$work/dump" "$work/map"

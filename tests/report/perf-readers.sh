#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# usage: perf-readers.sh PERF BTSREC MKIMAGE
# Every subcommand of perf that reads branch samples reads the export, and finds in its header
# what the dump says: architecture, kernel release, CPUs, the program that wrote it.
set -eu
case ${1:-} in -h | --help) sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0"; exit ;; esac
perf=$1 btsrec=$2 mkimage=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export HOME=$work

"$mkimage" "$work/dump" <<-'END'
	root cpus=3 ring=64 tsc_khz=1000000 release=6.1.0/../x
	cpu 0
	arm tsc=1000 now=7/7/0x100000/init
	branch 0xffffffff81000000 0xffffffff81000100
	freeze reason=panic tsc=9000 pid=7 tgid=7 comm=init
	cpu 2
	branch 0xffffffff81000100 0xffffffff81000004
	freeze reason=panic via_nmi=1 tsc=9000 pid=0 tgid=0 comm=swapper/2
END
"$btsrec" export "$work/dump" "$work/perf.data" 2>/dev/null
cp "$work/perf.data" "$work/other.data"
cd "$work"

# perf SUBCOMMAND...: must end with 0 and print no line that begins as a complaint of perf does.
reads() {
	status=0
	"$perf" "$@" >out 2>err </dev/null || status=$?
	[ "$status" = 0 ] || { echo "perf $*: status $status"; cat err; exit 1; }
	if grep -iq 'failed\|invalid\|corrupt\|segfault' err out; then
		echo "perf $*:"; cat err out; exit 1
	fi
}

reads script -i perf.data
reads script -i perf.data -F comm,tid,pid,cpu,time,event,ip,addr,brstack
reads report --stdio -i perf.data
reads report --stdio --header -b -i perf.data
reads report --stdio --sort cpu,comm,dso,symbol_from,symbol_to -i perf.data
reads annotate --stdio -i perf.data
reads evlist -v -i perf.data
reads buildid-list -i perf.data
reads diff perf.data other.data
reads inject -i perf.data -o injected.data
reads script -i injected.data
reads sched latency -i perf.data
# Debian's perf has both ways of converting, another build may lack one.
for kind in json ctf; do
	if "$perf" data convert --help 2>/dev/null </dev/null | grep -q "to-$kind" ||
	   "$perf" data convert -h 2>&1 </dev/null | grep -q "to-$kind"; then
		reads data convert -i perf.data --to-$kind converted.$kind
	fi
done

reads script --header-only -i perf.data
for line in 'arch : x86_64' 'os release : 6.1.0?..?x' 'nrcpus online : 2' 'nrcpus avail : 3'; do
	grep -qF "$line" out || { echo "the header lacks \"$line\":"; cat out; exit 1; }
done
grep -q 'perf version : btsrec [0-9]' out

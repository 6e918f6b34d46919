#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# usage: collect-limits.sh COLLECT ANALYZE BTSREC MKIMAGE
# The collector without room, killed, and with bounds on what it keeps.
set -u
case ${1:-} in -h | --help) sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0"; exit ;; esac
# shellcheck source=tests/systemd/collect-setup.sh
. "$(dirname "$0")/collect-setup.sh"

test=disk_full
machine
dump "$work/crash/1/dump.1" 90
run MIN_FREE_MBYTES=99999999
expect_reports 0
expect_said "No report of $work/crash/1/dump.1 yet: less than"
run
expect_reports 1

# Not even for what it notes for itself.  A limit of file sizes stands for the disk; the journal
# is elsewhere, and so is what it says.
test=no_room_at_all
machine
dump "$work/crash/1/dump.1" 90
cat >"$work/bin/logger" <<-END
	#!/bin/sh
	ulimit -S -f unlimited
	cat >>"$work/journal"
END
# run_full MBYTES: no file can grow, and so many are to be free
run_full() {
	# shellcheck disable=SC2016 # for the inner shell
	env DUMP_DIRS="$work/crash" MIN_FREE_MBYTES="$1" bash -c 'trap "" XFSZ; ulimit -S -f 0; exec "$0"' "$collect" 2>&1 |
		cat >"$work/said"
	expect_reports 0
}
run_full 0
expect_said "No report of $work/crash/1/dump.1 yet: .* cannot be written to"
# Why nothing can be written is what to do about it.
run_full 999999999
expect_said "No report of $work/crash/1/dump.1 yet: less than 999999999 MB are left in $work/state"
run
expect_reports 1

# Somebody else fills the disk behind the look at how much is free.
test=the_disk_fills_up_during_the_work
machine
dump "$work/crash/1/dump.1" 90
cat >"$work/bin/df" <<-END
	#!/bin/sh
	printf 'head\nfs 9 9 %s 9 /\n' "\$(cat "$work/free")"
END
cat >"$work/bin/btsrec-analyze" <<-END
	#!/bin/sh
	echo 0 >"$work/free"
	exit 1
END
chmod +x "$work/bin/df" "$work/bin/btsrec-analyze"
for _ in 1 2 3 4; do
	echo 100 >"$work/free"
	run
done
expect_reports 0
expect_said "No report of $work/crash/1/dump.1 yet: less than"
rm "$work/bin/df" "$work/bin/btsrec-analyze"
run
expect_reports 1

test=killed_while_it_worked
machine
dump "$work/crash/1/dump.1" 90
mkdir -p "$work/state/reports/.run/report"
echo half >"$work/state/reports/.run/report/half"
run
expect_reports 1
[ ! -e "$(report)/half" ] || fault "$test: the half report is in the whole one"

test=a_dump_that_breaks_the_analysis_is_given_up
machine
dump "$work/crash/1/dump.1" 90
dump "$work/crash/2/dump.2" 91
cat >"$work/bin/btsrec-analyze" <<-'END'
	#!/bin/sh
	kill -SEGV $$
END
chmod +x "$work/bin/btsrec-analyze"
for _ in 1 2 3; do run; done
expect_reports 0
expect_said "given up after 3 attempts"
: >"$work/journal"
run
expect_silence
rm "$work/bin/btsrec-analyze"

test=crash_during_collection
machine
dump "$work/crash/1/dump.1" 90
cat >"$work/bin/btsrec-analyze" <<-END
	#!/bin/sh
	kill -KILL \$(cat "$work/pid")
	sleep 5
END
chmod +x "$work/bin/btsrec-analyze"
# As the machine going down in the middle of it.
# shellcheck disable=SC2016 # for the inner shell
env DUMP_DIRS="$work/crash" MIN_FREE_MBYTES=0 setsid \
	sh -c 'echo $$ >"$0"; exec "$1"' "$work/pid" "$collect" >/dev/null 2>&1
rm "$work/bin/btsrec-analyze"
expect_reports 0
[ -e "$work/crash/1/dump.1" ] || fault "$test: the dump is gone"
dump "$work/crash/2/dump.2" 91
run
expect_reports 2

# As systemd ends it for its time, or the kernel for its memory: nothing of it is left to
# count the attempt afterwards.
test=an_analysis_that_takes_the_collector_with_it_is_given_up
machine
dump "$work/crash/1/dump.1" 90
cat >"$work/bin/btsrec-analyze" <<-END
	#!/bin/sh
	echo >>"$work/began"
	kill -KILL \$(cat "$work/pid")
	sleep 1
END
chmod +x "$work/bin/btsrec-analyze"
for _ in 1 2 3 4 5; do
	# shellcheck disable=SC2016 # for the inner shell
	env DUMP_DIRS="$work/crash" MIN_FREE_MBYTES=0 setsid sh -c 'echo -$$ >"$0"; exec "$1"' "$work/pid" \
		"$collect" >/dev/null 2>&1
done
rm "$work/bin/btsrec-analyze"
[ "$(wc -l <"$work/began")" = 3 ] || fault "$test: begun $(wc -l <"$work/began") times"
expect_said "given up after 3 attempts"
: >"$work/journal"
run
expect_reports 0
expect_silence

test=makedumpfile_found_the_disk_full
machine
mkdir -p "$work/state/captures"
dump "$work/dump" 90
btsrec extract "$work/dump" "$work/state/captures/20261121T000000Z.bts"
mkdir -p "$work/crash/1"
head -c 3000 "$work/dump" >"$work/crash/1/dump-incomplete"
: >"$work/crash/1/dmesg.1"
run
expect_reports 1
btsrec check "$(report)/history.bts" >/dev/null || fault "$test: the history is not whole"

test=limits
machine
for nr in 1 2 3 4; do
	dump "$work/crash/$nr/dump.$nr" "9$nr"
done
run KEEP_REPORTS=2
expect_reports 2
[ -d "$(report 000004)" ] || fault "$test: the newest report is gone"
: >"$work/journal"
run KEEP_REPORTS=2
expect_reports 2
run KEEP_MBYTES=0
expect_reports 1

# "chattr +i", for instance.
test=a_report_that_cannot_be_removed
machine
for nr in 1 2 3; do
	dump "$work/crash/$nr/dump.$nr" "9$nr"
done
cat >"$work/bin/rm" <<-'END'
	#!/bin/sh
	case $* in
	*/reports/000001-*) exit 1 ;;
	esac
	exec /bin/rm "$@"
END
chmod +x "$work/bin/rm"
env DUMP_DIRS="$work/crash" MIN_FREE_MBYTES=0 KEEP_REPORTS=1 timeout 600 "$collect" >"$work/said" 2>&1 ||
	fault "$test: status $?: $(head -n 20 "$work/said")"
/bin/rm "$work/bin/rm"
expect_reports 2
[ -d "$(report 000003)" ] || fault "$test: the newest report is gone"
expect_said "000001-.* cannot be removed"

finish

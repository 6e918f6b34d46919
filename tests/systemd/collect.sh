#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# usage: collect.sh COLLECT ANALYZE BTSREC MKIMAGE
# The collector, in a folder of its own, against all that can happen to dumps.
set -u
case ${1:-} in -h | --help) sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0"; exit ;; esac
# shellcheck source=tests/systemd/collect-setup.sh
. "$(dirname "$0")/collect-setup.sh"

test=one_dump_one_report
machine
dump "$work/crash/202611210001/dump.202611210001" 90
run
expect_reports 1
expect_said "MESSAGE_ID="
expect_said "MESSAGE=First fault: panic on CPU 0\. The branch history is in $work/state/reports/000001-[^ ]*: [0-9]* MB, histories of 1 CPUs\.$"
expect_said "BTSREC_REPORT=$work/state/reports/000001-"
for file in summary info timeline stacks cpu0.branches cpu0.calls check prove unresolved; do
	[ -s "$(report)/$file.txt" ] || fault "$test: no $file.txt"
done
: >"$work/journal"
run
expect_reports 1
expect_silence

[ -z "$(ls "$work/state/tables")" ] || fault "$test: tables that nobody wants"

test=tables_for_a_fleet
machine
dump "$work/crash/1/dump.1" 90
dump "$work/crash/2/dump.2" 91
run TABLES=yes NO_USER=yes NO_PATHS=yes
for made in $(report); do
	[ -s "$work/state/tables/${made##*/??????-}/crash.jsonl.zst" ] || fault "$test: none of $made"
done
stand_in export 'echo "btsrec: --to tables: no room" >&2; exit 5'
dump "$work/crash/3/dump.3" 92
run TABLES=yes
expect_reports 3
expect_said "MESSAGE=No tables of .*: btsrec: --to tables: no room$"
rm "$work/bin/btsrec"
dump "$work/crash/4/dump.4" 93
run TABLES=yes KEEP_REPORTS=1 KEEP_TABLES=2
expect_reports 1
[ "$(find "$work/state/tables" -name crash.jsonl.zst | wc -l)" = 2 ] ||
	fault "$test: $(ls "$work/state/tables")"

test=the_dump_goes_the_report_stays
machine
dump "$work/crash/202611210001/dump.202611210001" 90
run
rm -rf "$work/crash/202611210001"
run
expect_reports 1
btsrec check "$(report)/history.bts" >/dev/null || fault "$test: the small file is not whole"

test=captured_file_and_dump_are_one_crash
machine
dump "$work/crash/1/dump.1" 90
mkdir -p "$work/state/captures"
btsrec extract "$work/crash/1/dump.1" "$work/state/captures/20261121T000000Z.bts"
run
expect_reports 1
expect_said "BTSREC_DUMP=$work/state/captures"
rmdir "$work/state/captures" || fault "$test: the captured file is still there"
[ "$(find "$work/state/seen" -type f | wc -l)" = 2 ] || fault "$test: not both files are known"

test=two_crashes_in_a_row
machine
dump "$work/crash/1/dump.1" 90
dump "$work/crash/2/dump.2" 91
run
expect_reports 2

test=new_dump_under_an_old_name
dump "$work/crash/2/dump.2" 1000000
run
expect_reports 3

test=half_written_dumps_wait
machine
dump "$work/crash/1/dump-incomplete" 90
dump "$work/crash/2/vmcore-incomplete" 91
run
expect_reports 0
expect_silence
mv "$work/crash/1/dump-incomplete" "$work/crash/1/dump.1"
run
expect_reports 1

test=capture_kernel_killed_half_way
machine
mkdir -p "$work/state/captures"
dump "$work/dump" 90
btsrec extract "$work/dump" - | head -c -20 >"$work/state/captures/20261121T000000Z.bts.Ab12Cd"
run
expect_reports 1
grep -q "from a dump that was cut off" "$(report)/check.txt" || fault "$test: not said"
run
expect_reports 1

# One CPU's history has a hole; all of it is gone, and the end of the other's, too.
test=capture_kernel_killed_long_before_the_end
big "$work/dump"
for lost in 120000 3000 20000; do
	machine
	mkdir -p "$work/state/captures"
	btsrec extract "$work/dump" - | head -c -$lost >"$work/state/captures/20261121T000000Z.bts.Ab12Cd"
	run
	expect_reports 1
	btsrec info "$(report)/history.bts" >/dev/null || fault "$test: the small file is not readable"
	grep -q "^btsrec show --types.*: a part of the history is missing" "$(report)/unresolved.txt" ||
		fault "$test: $(cat "$(report)/unresolved.txt")"
	[ -s "$(report)/cpu0.branches.txt" ] || fault "$test: no branches"
	: >"$work/journal"
	run
	expect_silence
done

test=a_hole_is_no_failure
[ "$(btsrec show "$(report)/history.bts" >/dev/null; echo $?)" = 1 ] || fault "$test: no hole"
"$analyze" --into "$work/by-hand" "$(report)/history.bts" >/dev/null ||
	fault "$test: status $?: $(cat "$work/by-hand/unresolved.txt")"
rm -rf "$work/by-hand"

test=one_failed_view_is_named_in_the_report
machine
dump "$work/crash/1/dump.1" 90
stand_in calls 'echo half; echo "btsrec: no memory" >&2; exit 7'
run
rm "$work/bin/btsrec"
expect_reports 1
grep -qx "btsrec calls --cpu 0: btsrec: no memory" "$(report)/unresolved.txt" ||
	fault "$test: $(cat "$(report)/unresolved.txt")"
[ -s "$(report)/events.jsonl" ] || fault "$test: the other views are gone"
[ ! -e "$(report)/cpu0.calls.txt" ] || fault "$test: half a list is there"

test=no_recorder
machine
mkdir -p "$work/crash/1"
printf 'root\nvmcoreinfo none\nhole root\n' | mkimage "$work/crash/1/vmcore"
run
expect_reports 0
expect_said "the recorder was not loaded"
: >"$work/journal"
run
expect_silence

test=garbage
machine
head -c 100000 /dev/urandom >"$work/crash/dump.garbage"
: >"$work/crash/dump.empty"
run
expect_reports 0
expect_said "dump.garbage cannot be read"
expect_said "dump.empty cannot be read"
: >"$work/journal"
run
expect_silence

# Status 4 may be a read error: the same dump is looked at again, and named once.
test=a_read_error_passes
machine
dump "$work/crash/1/dump.1" 90
stand_in info 'echo "btsrec: Input/output error" >&2; exit 4'
run
run
rm "$work/bin/btsrec"
expect_reports 0
[ "$(grep -c '^MESSAGE=.*Input/output error' "$work/journal")" = 1 ] ||
	fault "$test: $(cat "$work/journal")"
run
expect_reports 1

test=short_of_memory_for_a_look
machine
dump "$work/crash/1/dump.1" 90
stand_in info 'exit 137'
run
expect_said "attempt 1 of 3 failed: btsrec info ended with status 137"
rm "$work/bin/btsrec"
run
expect_reports 1
[ -z "$(find "$work/state/seen" -name '*.attempts')" ] || fault "$test: the attempt is still known"
stand_in info 'exit 137'
dump "$work/crash/2/dump.2" 91
for _ in 1 2 3; do run; done
rm "$work/bin/btsrec"
expect_said "given up after 3 attempts"
: >"$work/journal"
run
expect_reports 1
expect_silence

test=a_copy_under_way_is_waited_for
machine
mkdir -p "$work/crash/1"
dump "$work/dump" 90
head -c -1000 "$work/dump" >"$work/crash/1/dump.1"
for _ in 1 2 3 4; do run; done
expect_reports 0
expect_silence
cp "$work/dump" "$work/crash/1/dump.1"
run
expect_reports 1
! btsrec info "$(report)/history.bts" | grep -q "cut off" || fault "$test: the half dump's"

# Nothing is lost if nobody copies the rest; and if somebody does, the whole is better.
test=a_whole_dump_replaces_a_half_one
machine
mkdir -p "$work/crash/1"
head -c -1000 "$work/dump" >"$work/crash/1/dump.1"
touch -d "1 hour ago" "$work/crash/1/dump.1"
run
expect_reports 1
btsrec info "$(report)/history.bts" | grep -q "cut off" || fault "$test: the half dump has no notice"
cp "$work/dump" "$work/crash/1/dump.1"
run
expect_reports 1
[ -d "$(report 000002)" ] || fault "$test: the report is the old one"
expect_said "000002-.* replaces .*000001-"
! btsrec info "$(report)/history.bts" | grep -q "cut off" || fault "$test: the half dump's"
: >"$work/journal"
head -c -1000 "$work/dump" >"$work/crash/2.half"
mkdir -p "$work/crash/2"
mv "$work/crash/2.half" "$work/crash/2/dump.2"
touch -d "1 hour ago" "$work/crash/2/dump.2"
run
expect_reports 1
expect_silence
# With the clock set back, its time is one to come.
machine
mkdir -p "$work/crash/1"
head -c -1000 "$work/dump" >"$work/crash/1/dump.1"
touch -d "next year" "$work/crash/1/dump.1"
run
expect_reports 1

test=marks_live_as_long_as_the_dump
machine
dump "$work/crash/1/dump.1" 90
run
rm -r "$work/state/reports"/0*
find "$work/state/seen" -type f -exec touch -d "2 years ago" {} +
touch -d "2 years ago" "$work/state/seen/of-a-file-that-is-gone"
: >"$work/journal"
run
run
expect_reports 0
expect_silence
[ ! -e "$work/state/seen/of-a-file-that-is-gone" ] || fault "$test: marks are kept for ever"

# What is lost is said where the report is announced.
test=what_is_missing_is_announced
machine
mkdir -p "$work/crash/1"
sed '$ a hole cpu0' >"$work/text" <<-END
	root cpus=2 ring=200
	cpu 0
	arm tsc=1 now=7/7/0x100000/init
	freeze reason=panic tsc=90
	cpu 1
	arm tsc=1 now=7/7/0x100000/init
	freeze reason=panic tsc=95
END
mkimage "$work/crash/1/vmcore" <"$work/text"
run
expect_reports 1
expect_said ": [0-9]* MB, histories of 1 CPUs; loss CPU 0: CPU page: not in the dump\.$"

test=a_folder_that_is_not_there
machine
run DUMP_DIRS="$work/crash $work/nowhere"
run DUMP_DIRS="$work/crash $work/nowhere"
[ "$(grep -c "^MESSAGE=No dump is found in $work/nowhere, " "$work/journal")" = 1 ] ||
	fault "$test: $(cat "$work/journal")"
: >"$work/journal"
mkdir "$work/nowhere"
run DUMP_DIRS="$work/crash $work/nowhere"
expect_silence
rmdir "$work/nowhere"
run DUMP_DIRS="$work/crash $work/nowhere"
expect_said "No dump is found in $work/nowhere"

test=help
machine
dump "$work/crash/1/dump.1" 90
for script in "$collect" "$analyze" "$(dirname "$collect")"/{capture,hooks,metrics,arm}; do
	for word in --help -h; do
		said=$(cd "$work/hooks" && env DUMP_DIRS="$work/crash" BTSREC_HOOKS="$work/hooks" "$script" $word) ||
			fault "$test: $script $word: status $?"
		grep -q "^usage: $(basename "$script")" <<<"$said" || fault "$test: $script $word: $said"
	done
	! "$script" --nonsense >/dev/null 2>&1 || fault "$test: $script --nonsense is taken"
done
[ ! -e "$work/state" ] || fault "$test: reports were made"
[ -z "$(ls -A "$work/hooks")" ] || fault "$test: $(ls -A "$work/hooks")"

test=the_clock_was_set_back
machine
dump "$work/crash/1/dump.1" 90
run
dump "$work/crash/2/dump.2" 91
touch -d 2001-01-01 "$work/crash/2/dump.2"
run
expect_reports 2
[ -d "$(report 000002)" ] || fault "$test: the second report is not number 2"

test=kernel_log_out_of_pstore
machine
mkdir -p "$work/pstore/1700000000/1" "$work/pstore/1700000001/1"
cat >"$work/pstore/1700000000/1/dmesg.txt" <<-'END'
	Panic#1 Part2
	<4>[   12.000000] btsrec: Recording on 2 CPUs.
	<0>[   13.000000] Kernel panic - not syncing: sysrq triggered crash
	<0>[   13.000001] btsrec: Recording stopped at the fault on CPU 1; root_pa=0x1000.
	<0>[   13.000002] btsrec: The last 2 branches of CPU 1 before its freeze, oldest first:
	<0>[   13.000003] btsrec:  ksys_write+0x10/0x20 -> vfs_write+0x0/0x30
	<0>[   13.000004] btsrec:  sysrq_handle_crash+0x11/0x20 -> panic+0x0/0x300
	<0>[   13.000005] Rebooting in 5 seconds..
END
sed '/The last/,$d' "$work/pstore/1700000000/1/dmesg.txt" >"$work/pstore/1700000001/1/dmesg.txt"
run
expect_reports 1
expect_said "MESSAGE=Kernel panic - not syncing: sysrq triggered crash (kernel log from pstore"
expect_said "BTSREC_REPORT=$work/state/reports/000001-pstore-"
expect_said "1700000001/1/dmesg.txt has no branch history: console_records was not set"
[ "$(tail -n 1 "$(report)/summary.txt")" = " sysrq_handle_crash+0x11/0x20 -> panic+0x0/0x300" ] ||
	fault "$test: $(cat "$(report)/summary.txt")"
[ "$(wc -l <"$(report)/summary.txt")" = 4 ] || fault "$test: not the tail alone"
cmp -s "$work/pstore/1700000000/1/dmesg.txt" "$(report)/kernel.log" || fault "$test: no kernel.log"
: >"$work/journal"
run
expect_reports 1
expect_silence
# The piece that it was put together from, and another crash, which is in one piece.
cp "$work/pstore/1700000000/1/dmesg.txt" "$work/pstore/1700000000/1/dmesg-ramoops-0"
sed 's/\[   13/[   14/' "$work/pstore/1700000000/1/dmesg.txt" >"$work/pstore/dmesg-ramoops-0"
: >"$work/pstore/dmesg-ramoops-1.enc.z"
run
expect_reports 2
expect_said "BTSREC_DUMP=$work/pstore/dmesg-ramoops-0"

# systemd does not watch while the collector runs.
test=a_dump_that_comes_meanwhile
machine
dump "$work/crash/1/dump.1" 90
dump "$work/late" 91
cat >"$work/bin/btsrec-analyze" <<-END
	#!/bin/sh
	mkdir -p "$work/crash/0"
	cp -n "$work/late" "$work/crash/0/dump.0"
	exec "$analyze" "\$@"
END
chmod +x "$work/bin/btsrec-analyze"
run
rm "$work/bin/btsrec-analyze"
expect_reports 2

test=long_histories_are_cut_in_the_listings_only
machine
mkdir -p "$work/crash/1"
big "$work/crash/1/dump.1"
run REPORT_EVENTS=200
expect_reports 1
events=$(btsrec show --format jsonl "$(report)/history.bts" | wc -l)
[ "$events" -gt 40000 ] || fault "$test: the small file has $events events"
[ "$(wc -l <"$(report)/events.jsonl")" -le 210 ] || fault "$test: events.jsonl is not cut"
[ "$(wc -l <"$(report)/cpu1.branches.txt")" -le 110 ] || fault "$test: branches are not cut"
head -n 1 "$(report)/cpu1.branches.txt" |
	grep -qx '# The newest 100 of 20002 events; all of them: btsrec show --types --cpu 1 history.bts' ||
	fault "$test: $(head -n 1 "$(report)/cpu1.branches.txt")"
[ ! -e "$(report)/perf.data" ] || fault "$test: perf.data is whole"
[ -s "$(report)/stacks.txt" ] || fault "$test: no stacks.txt"
grep -q "btsrec export --to perf history.bts" "$(report)/README.txt" || fault "$test: not said how"
"$analyze" --into "$work/by-hand" "$(report)/history.bts" >/dev/null || fault "$test: by hand: $?"
[ "$(wc -l <"$work/by-hand/events.jsonl")" = "$events" ] || fault "$test: cut by hand"
[ -s "$work/by-hand/perf.data" ] || fault "$test: no perf.data by hand"
[ ! -e "$work/by-hand/README.txt" ] || fault "$test: by hand: said to be cut"
for count in "" x -1; do
	! "$analyze" --events "$count" "$work/dump" >/dev/null 2>&1 || fault "$test: takes '$count'"
done

# As the dump, which is root's, and the files that btsrec makes itself.
test=by_hand_for_the_owner_only
rm -rf "$work/by-hand"
(umask 022 && "$analyze" --into "$work/by-hand" "$(report)/history.bts" >/dev/null)
[ -z "$(find "$work/by-hand" -perm /077)" ] || fault "$test: $(find "$work/by-hand" -perm /077 | head -n 3)"

test=hooks
machine
dump "$work/crash/1/dump.1" 90
# shellcheck disable=SC2016 # for the hook to expand
printf '#!/bin/sh\nls "$1" >>%s\n' "$work/hooked" >"$work/hooks/10-good"
printf '#!/bin/sh\nexit 7\n' >"$work/hooks/20-bad"
printf 'not for running\n' >"$work/hooks/README"
chmod +x "$work/hooks"/[12]*
run
mkdir -p "$work/begun"
for _ in 1 2; do
	STATE_DIRECTORY=$work/begun BTSREC_HOOKS=$work/hooks "$(dirname "$collect")/hooks" 2>>"$work/journal" ||
		fault "$test: status $?"
done
[ "$(grep -c summary.txt "$work/hooked")" = 1 ] || fault "$test: not run once"
expect_said "20-bad failed with status 7"
[ -z "$(find "$(report)" -newer "$work/hooked")" ] || fault "$test: the report was changed"
rm -r "$work/state/reports"/0*
STATE_DIRECTORY=$work/begun BTSREC_HOOKS=$work/hooks "$(dirname "$collect")/hooks"
[ -z "$(ls "$work/begun")" ] || fault "$test: what was begun is remembered for ever"

test=privacy
for value in yes Yes 1; do
	machine
	dump "$work/crash/1/dump.1" 90
	run NO_USER=$value
	grep -q "without addresses of user space" "$(report)/info.txt" || fault "$test: $value: not left out"
done

test=numbers_that_are_none
machine
dump "$work/crash/1/dump.1" 90
run KEEP_REPORTS=many KEEP_TABLES=089 REPORT_EVENTS=1e6
expect_reports 1
expect_said "MESSAGE=KEEP_REPORTS=many of btsrec.conf is no number: 20 is taken.$"
expect_said "MESSAGE=REPORT_EVENTS=1e6 of btsrec.conf is no number: 250000 is taken.$"
: >"$work/journal"
run KEEP_REPORTS=many REPORT_EVENTS=1e6
expect_silence

test=a_word_that_is_none
machine
dump "$work/crash/1/dump.1" 90
run TABLES="yes # for the fleet"
expect_reports 1
expect_said "MESSAGE=TABLES=yes # for the fleet of btsrec.conf is neither yes nor no: no is taken.$"
[ -z "$(ls "$work/state/tables")" ] || fault "$test: tables without a clear word"
: >"$work/journal"
run TABLES="yes # for the fleet"
expect_silence

test=a_damaged_small_file
machine
mkimage "$work/dump" <<-END
	root cpus=2 ring=9000
	cpu 0
	arm tsc=1 now=7/7/0x100000/init
	fill 8500 0xffffffff81000000 0xffffffff81100000 0x10
	freeze reason=panic tsc=90
	cpu 1
	arm tsc=1 now=8/8/0x100000/other
	fill 8500 0xffffffff81000000 0xffffffff81100000 0x10
	freeze reason=panic tsc=95
END
mkdir -p "$work/state/captures"
small=$work/state/captures/1.bts
btsrec extract "$work/dump" "$small"
frame=$(grep -abo XFRM "$small" | sed -n 2p | cut -d: -f1)
printf '\125\252\125' | dd of="$small" bs=1 seek=$((frame + 1112)) conv=notrunc 2>/dev/null
btsrec info "$small" >/dev/null 2>&1
[ $? -eq 1 ] || fault "$test: the file is not damaged"
run
expect_reports 1
expect_said "The branch history is in .*: .* histories of 2 CPUs"
grep -q "is missing\|damaged" "$(report)/unresolved.txt" || fault "$test: $(cat "$(report)/unresolved.txt")"

finish

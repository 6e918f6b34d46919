#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# usage: collect.sh COLLECT ANALYZE BTSREC MKIMAGE
# The collector, in a folder of its own, against all that can happen to dumps.
set -u
case ${1:-} in -h | --help) sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0"; exit ;; esac
collect=$1
analyze=$2
btsrec=$3
export PATH
PATH=$(dirname "$2"):$(dirname "$3"):$(dirname "$4"):$PATH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
faults=0

fault() {
	echo "FAULT $*"
	faults=$((faults + 1))
}

# What the collector would have put into the journal is in $work/journal.
mkdir "$work/bin"
cat >"$work/bin/logger" <<-END
	#!/bin/sh
	cat >>"$work/journal"
END
chmod +x "$work/bin/logger"
PATH=$work/bin:$PATH

export BTSREC_STATE=$work/state BTSREC_PSTORE=$work/pstore
BTSREC_DUMP_OWNER=$(id -u)
export BTSREC_DUMP_OWNER

# A machine with nothing on it.
machine() {
	rm -rf "$work/state" "$work/crash" "$work/hooks" "$work/journal" "$work/pstore"
	mkdir -p "$work/crash" "$work/hooks"
	: >"$work/journal"
}

run() {
	env DUMP_DIRS="$work/crash" MIN_FREE_MBYTES=0 "$@" "$collect" >"$work/said" 2>&1 ||
		fault "the collector failed: $(cat "$work/said")"
}

# dump FILE TSC: a crash at that time.
dump() {
	mkdir -p "$(dirname "$1")"
	mkimage "$1" <<-END
		root ring=200
		cpu 0
		arm tsc=1 now=7/7/0x100000/init
		fill 100 0xffffffff81000000 0xffffffff81100000 0x10
		freeze reason=panic tsc=$2
	END
}

nr_reports() {
	find "$work/state/reports" -maxdepth 1 -name '0*' 2>/dev/null | wc -l
}

report() {
	find "$work/state/reports" -maxdepth 1 -name "${1:-0}*"
}

expect_reports() {
	[ "$(nr_reports)" = "$1" ] || fault "$test: $(nr_reports) reports, not $1: $(cat "$work/said")"
}

expect_said() {
	grep -q "$1" "$work/journal" || fault "$test: the journal lacks '$1': $(cat "$work/journal")"
}

expect_silence() {
	[ ! -s "$work/journal" ] || fault "$test: $(cat "$work/journal")"
}

# stand_in COMMAND TEXT: btsrec runs that instead of the command.
stand_in() {
	cat >"$work/bin/btsrec" <<-END
		#!/bin/sh
		if [ "\$1" = "$1" ]; then
			$2
		fi
		exec "$btsrec" "\$@"
	END
	chmod +x "$work/bin/btsrec"
}

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

# big FILE: two CPUs with rings that fill many pages.
big() {
	mkimage "$1" <<-END
		root cpus=2 ring=40000
		cpu 0
		arm tsc=1 now=7/7/0x100000/init
		fill 20000 0xffffffff81000000 0xffffffff81100000 0x1f0
		freeze reason=panic tsc=90
		cpu 1
		arm tsc=1 now=7/7/0x100000/init
		fill 20000 0xffffffff81000000 0xffffffff82100000 0x330
		freeze reason=panic tsc=95
	END
}

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

test=names_with_blanks
machine
dump "$work/crash/a b \$(touch owned)/vmcore" 90
run
expect_reports 1
[ ! -e owned ] || fault "$test: a name was run"

# Of such names the journal would make fields of its own, and a path of the first line.
test=names_with_newlines
machine
dump "$work/crash/a
PRIORITY=0
b/vmcore.\\n
" 90
run
expect_reports 1
expect_said 'BTSREC_DUMP=.*/a\\nPRIORITY=0\\nb/vmcore'
! grep -qx 'PRIORITY=0' "$work/journal" || fault "$test: a name became a field"
[ -s "$(report)/summary.txt" ] || fault "$test: no summary"
: >"$work/journal"
run
expect_reports 1
expect_silence
mkdir -p "$work/pstore/x
y"
printf '%s\n' "btsrec: The last 1 branches of CPU 1:" "btsrec:  a -> b" >"$work/pstore/x
y/dmesg.txt"
run
expect_reports 2
"$analyze" "$work/crash/a
PRIORITY=0
b/vmcore.\\n
" >/dev/null || fault "$test: by hand: $?"
[ -s "$work/crash/a
PRIORITY=0
b/vmcore.\\n
.btsrec/report.html" ] || fault "$test: no report by hand"

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

# The decoder gets what it reads as a descriptor, and no capability.
test=the_decoder_has_no_privilege
machine
dump "$work/crash/1/dump.1" 90
cat >"$work/bin/btsrec" <<-END
	#!/bin/sh
	echo "\$1 \$(grep -h -e CapInh -e CapAmb /proc/self/status | tr -d '\n\t') \$*" >>"$work/asked"
	exec "$btsrec" "\$@"
END
chmod +x "$work/bin/btsrec"
rm -f "$work/asked"
# As the unit has it, if this user can do so.
if [ "$(id -u)" = 0 ] && setpriv --inh-caps +dac_read_search --ambient-caps +dac_read_search true 2>/dev/null; then
	run setpriv --inh-caps +dac_read_search --ambient-caps +dac_read_search
else
	run
fi
rm "$work/bin/btsrec"
expect_reports 1
grep -q '^info .* -$' "$work/asked" || fault "$test: $(cat "$work/asked")"
grep -q '^extract .* - ' "$work/asked" || fault "$test: $(cat "$work/asked")"
grep -v 'CapInh:0*CapAmb:0* ' "$work/asked" && fault "$test: with capabilities"
! grep -q "$work/crash" "$work/asked" || fault "$test: by its name: $(cat "$work/asked")"

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

test=a_folder_that_is_a_link
machine
mv "$work/crash" "$work/large-disk"
ln -s "$work/large-disk" "$work/crash"
dump "$work/crash/1/dump.1" 90
run
expect_reports 1
rm -r "$work/crash" "$work/large-disk"

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

# Only root can make files of others, and where it is root of a container not always.
touch "$work/mine"
if chown 65534 "$work/mine" 2>/dev/null; then
	test=a_dump_of_somebody_else
	machine
	dump "$work/crash/1/dump.1" 90
	dump "$work/crash/2/dump.2" 91
	chown 65534 "$work/crash/1/dump.1" "$work/crash/2/dump.2"
	run
	run
	expect_reports 0
	[ "$(grep -c "^MESSAGE=No report of .*belongs to user 65534" "$work/journal")" = 1 ] ||
		fault "$test: $(cat "$work/journal")"
	chown 0 "$work/crash/1/dump.1"
	run
	expect_reports 1

	test=a_folder_of_somebody_else
	mkdir "$work/crash/1/dump.1.btsrec"
	chown 65534 "$work/crash/1/dump.1.btsrec"
	"$analyze" "$work/crash/1/dump.1" 2>/dev/null && fault "$test: it was taken"
	rmdir "$work/crash/1/dump.1.btsrec"
	ln -s "$work/hooks" "$work/crash/1/dump.1.btsrec"
	"$analyze" "$work/crash/1/dump.1" 2>/dev/null && fault "$test: a link was taken"
	[ -z "$(ls "$work/hooks")" ] || fault "$test: written through a link"
fi

# The owner of the folder of the dump swaps the report's for a link between two steps.
test=a_folder_that_is_swapped
machine
dump "$work/crash/1/dump.1" 90
mkdir -p "$work/victim"
for file in summary.txt unresolved.txt timeline.txt report.html cpu0.branches.txt; do
	echo precious >"$work/victim/$file"
done
for moment in info summary show report export prove; do
	rm -rf "$work/moved" "$work/crash/1/dump.1.btsrec"
	stand_in "$moment" "mv '$work/crash/1/dump.1.btsrec' '$work/moved' 2>/dev/null &&
		ln -s '$work/victim' '$work/crash/1/dump.1.btsrec'"
	"$analyze" "$work/crash/1/dump.1" >/dev/null || fault "$test: $moment: status $?"
	[ -s "$work/moved/check.txt" ] || fault "$test: $moment: not in the folder that was opened"
	[ "$(cat "$work/victim"/* | sort -u)" = precious ] || fault "$test: $moment: written through a link"
	[ "$(find "$work/victim" -type f | wc -l)" = 5 ] || fault "$test: $moment: $(ls -a "$work/victim")"
done
rm -rf "$work/bin/btsrec" "$work/moved" "$work/crash/1/dump.1.btsrec"
ln -s "$work/victim" "$work/crash/1/dump.1.btsrec"
"$analyze" "$work/crash/1/dump.1" 2>/dev/null && fault "$test: a link of ours was taken"
mkdir -m 777 "$work/of-all"
"$analyze" --into "$work/of-all" "$work/crash/1/dump.1" 2>/dev/null && fault "$test: a folder of all was taken"
[ -z "$(ls -A "$work/of-all")" ] || fault "$test: written into a folder of all"
rm -rf "$work/victim" "$work/of-all"

# Where a file should be there is a link: it is replaced, what it leads to stays.
test=a_link_in_the_folder
machine
dump "$work/crash/1/dump.1" 90
mkdir "$work/own"
echo precious >"$work/precious"
for file in info.txt summary.txt report.html events.jsonl .part .why .info .unresolved README.txt unresolved.txt check.txt; do
	ln -s "$work/precious" "$work/own/$file"
done
"$analyze" --into "$work/own" "$work/crash/1/dump.1" >/dev/null
[ "$(cat "$work/precious")" = precious ] || fault "$test: written through a link"
[ ! -L "$work/own/summary.txt" ] || fault "$test: the link is the answer"
rm -rf "$work/own"

# A release of the dump's own choice.
test=a_release_that_is_a_path
machine
dump "$work/crash/1/dump.1" 90
# shellcheck disable=SC2016 # nobody is to expand it
for release in ../../../../../../$work/evil .. "a b" '$(touch owned)' "" "6.1/../../x"; do
	stand_in info "case \$* in *jsonl*) echo '{\"kind\":\"root\",\"release\":\"$release\"}'; exit 0 ;; esac"
	printf '#!/bin/sh\necho "$*" >>%s\n' "$work/crash-asked" >"$work/bin/crash"
	chmod +x "$work/bin/crash"
	: >"$work/evil"
	"$analyze" --crash --into "$work/own" "$work/crash/1/dump.1" >/dev/null
	[ ! -e "$work/crash-asked" ] || fault "$test: '$release': $(cat "$work/crash-asked")"
	grep -q "^crash: no vmlinux of this kernel" "$work/own/unresolved.txt" ||
		fault "$test: '$release': $(cat "$work/own/unresolved.txt")"
done
rm -rf "$work/bin/btsrec" "$work/bin/crash" "$work/own"

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

# Each look at it finds another file, and there is no end of them.
test=a_dump_that_is_written_to_all_the_time
machine
dump "$work/crash/1/dump.1" 90
stand_in info "echo >>'$work/looks'; [ \$(wc -l <'$work/looks') -gt 9 ] || echo >>'$work/crash/1/dump.1'; exit 4"
run
[ "$(wc -l <"$work/looks")" = 1 ] || fault "$test: $(wc -l <"$work/looks") looks"
rm "$work/bin/btsrec"
[ "$(grep -c "dump.1 cannot be read" "$work/journal")" = 1 ] || fault "$test: $(cat "$work/journal")"

# A note to itself by whose name there is a link already.
test=links_in_the_state
machine
dump "$work/crash/1/dump.1" 90
echo kept >"$work/kept"
mkdir -p "$work/state/reports/.run"
for name in .lock .run/tried .run/again .run/why; do
	ln "$work/kept" "$work/state/reports/$name"
done
run
expect_reports 1
[ "$(cat "$work/kept")" = kept ] || fault "$test: $(cat "$work/kept")"

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

[ "$faults" = 0 ] && echo "all is as it should be"
[ "$faults" = 0 ]

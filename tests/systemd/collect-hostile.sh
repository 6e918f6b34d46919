#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# usage: collect-hostile.sh COLLECT ANALYZE BTSREC MKIMAGE
# The collector beside users who mean it ill: their names, links, folders and dumps.
set -u
case ${1:-} in -h | --help) sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0"; exit ;; esac
# shellcheck source=tests/systemd/collect-setup.sh
. "$(dirname "$0")/collect-setup.sh"

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
[ -s "$(report 000001)/summary.txt" ] || fault "$test: no summary"
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

test=a_folder_that_is_a_link
machine
mv "$work/crash" "$work/large-disk"
ln -s "$work/large-disk" "$work/crash"
dump "$work/crash/1/dump.1" 90
run
expect_reports 1
rm -r "$work/crash" "$work/large-disk"

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

finish

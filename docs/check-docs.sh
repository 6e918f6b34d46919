#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# usage: check-docs.sh BTSREC MKIMAGE LIBRARY MAN CC [CFLAG...]
# The manual pages, which MAN has as they are installed, are complete and their examples work:
#  - every command has a page, and btsrec(1) refers to it;
#  - a command's page documents the options that its --help prints, with the same letter and the
#    same argument, and no others; no page names an option that no command has;
#  - every event kind, gap kind and JSON member that the code knows is in the pages, and every
#    line of btsrec doctor;
#  - every symbol that the library exports is described in the public headers and in libbtsrec(3);
#  - the command lines of the pages run, the program of libbtsrec(3) compiles and runs;
#  - a page of btsrec that is named anywhere in the tree exists, and is installed;
#  - mandoc and groff have no complaint about the markup.
set -eu
case ${1:-} in -h | --help) sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0"; exit ;; esac
btsrec=$1 mkimage=$2 library=$3 man=$4 cc=$5
shift 5
cflags=("$@")
top=$(cd "$(dirname "$0")/.." && pwd)
faults=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Pages of other projects, which need not be installed here.
others='addr2line(1) crash(8) debuginfod-find(1) diff(1) gdb(1) genhtml(1) geninfo(1) glob(7)
	lcov(1) less(1) makedumpfile(8) nohup(1) perf(1) perf-report(1) systemd-pstore(8)'
# Options of other programs that pages name.
foreign='--add --branch-history --cflags --libs --minimal --no_strip --show-lost-events --split --stdio --symfs'

fault() {
	echo "check-docs: $*"
	faults=$((faults + 1))
}

# The page as a reader sees it, without bold and hyphenation.
page() {
	mandoc -Tascii -O width=1000 "$man/$1" | sed 's/.\x08//g'
}

# --- Options ---

# What btsrec(1) itself documents has no page of its own.
commands() {
	"$btsrec" --help | sed -n 's/^  \([a-z-]\+\) .*/\1/p' | grep -vxE 'help|version'
}

# "-j, --threads COUNT", a line each.
help_options() {
	"$btsrec" "$1" --help |
		sed -nE 's/^ {2}( {4}|-[a-zA-Z], )(--[a-z-]+)( [A-Z]+)?( .*)?$/\1\2\3/p' |
		sed 's/^ *//' | sort
}

# The same of "Fl j , Fl -threads Ar COUNT" in the lines that the sed program $2 chooses.
page_options() {
	sed -n "$2" "$man/$1" | awk '{
		short = long = ""
		for (i = 1; i <= NF; i++) {
			if ($i == "Fl" && $(i + 1) !~ /^-/)
				short = "-" $(++i) ", "
			else if ($i == "Fl" && $(i + 1) != "-")
				long = short "-" $(++i)
			else
				continue
			if (long == "")
				continue
			print long ($(i + 1) == "Ar" ? " " $(i + 2) : "")
			short = long = ""
		}
	}' | sort
}

# $1: a page; $2: file with the options that it must have.
compare_options() {
	page_options "$1" '/^\.It Fl /p' > "$work/documented"
	diff "$2" "$work/documented" > "$work/diff" ||
		fault "$1, options of --help (<) and of the page (>):" "$(cat "$work/diff")"
}

# The synopsis names options by their letter where they have one.
check_synopsis() {
	local option
	while read -r option; do
		grep -qE -e "^$option\b|, $option\b" "$2" ||
			fault "$1: the synopsis has $option, --help has not"
	done < <(sed -n '/^\.Sh SYNOPSIS/,/^\.Sh DESC/p' "$man/$1" |
		grep -oE '\bFl [A-Za-z-]+' | sed 's/^Fl /-/' | grep -vx -e --)
}

check_options() {
	local command nr=0
	for command in $(commands); do
		if [ ! -e "$man/btsrec-$command.1" ]; then
			fault "btsrec $command has no page"
			continue
		fi
		grep -qx "\.It Xr btsrec-$command 1" "$man/btsrec.1" ||
			fault "btsrec(1) does not name btsrec-$command(1)"
		help_options "$command" > "$work/options"
		cat "$work/options" >> "$work/all-options"
		compare_options "btsrec-$command.1" "$work/options"
		check_synopsis "btsrec-$command.1" "$work/options"
		nr=$((nr + $(wc -l < "$work/options")))
	done
	[ "$nr" -ge 200 ] || fault "found only $nr options in the help texts"
	{ help_options summary; echo "-V, --version"; } | sort > "$work/options"
	cat "$work/options" >> "$work/all-options"
	compare_options btsrec.1 "$work/options"
	{ "$top/systemd/btsrec-analyze" --help | grep -oE -e '--[a-z]+( [A-Z]+)?'
	  echo "-h, --help"; } | sort > "$work/options"
	cat "$work/options" >> "$work/all-options"
	compare_options btsrec-analyze.1 "$work/options"
	for command in groups rank compare report sql; do
		"$top/decoder/fleet/btsrec-fleet" "$command" --help |
			sed -nE 's/^  (-[a-z])( [A-Z]+)?, --/  \1, --/; s/^  (-.*)/\1/p' |
			grep -E '^(-[a-z], )?--[a-z]+' | sed 's/  .*//'
	done | sort -u > "$work/options"
	cat "$work/options" >> "$work/all-options"
	compare_options btsrec-fleet.1 "$work/options"
	"$top/decoder/dap/btsrec-dap" --help |
		sed -nE 's/^  (-.*)/\1/p' | sed 's/  .*//' | sort -u > "$work/options"
	cat "$work/options" >> "$work/all-options"
	compare_options btsrec-dap.1 "$work/options"
}

check_option_names() {
	local path option
	for path in "$man"/*.[1-8]; do
		for option in $(page "$(basename "$path")" | grep -oE -e '(^|[^-])--[a-z][a-z_-]*' |
				sed 's/^[^-]//' | sort -u); do
			grep -qe "$option\b" "$work/all-options" || [[ " $foreign " = *" $option "* ]] ||
				fault "$(basename "$path"): no command has $option"
		done
	done
}

# --- Words of the code ---

# What the function $1 returns, in $2 somewhere below decoder/src.
words_of() {
	find "$top/decoder/src" -name "$2" -exec sed -n "/$1/,/^}/s/.*return \"\([a-z-]*\)\";.*/\1/p" \
		{} + | grep -vx unknown
}

# What a line of a tree of calls may be: a way into a function, or what its format calls it.
tree_words() {
	{
		find "$top/decoder/src" -name frames.c -exec sed -nE \
			'/^const char \*frame_kind_str/,/^}/s/.*= "([a-z]+)",/\1/p' {} + |
			sed 's/^exception$/exc/'
		find "$top/decoder/src" -name view_calls_text.c -exec \
			sed -nE 's/.*text_(place|begin)\(.*, "([a-z]+)"\);/\2/p' {} +
	} | sort -u
}

# Events of a history: the table of annotations has most.
event_words() {
	{
		words_of record_event_str record.c
		sed -n 's/^\tx([A-Z]*, btsrec_[a-z]*, [A-Z]*, "\([a-z]*\)",.*/\1/p' \
			"$top/decoder/include/btsrec/events.h"
	} | sort -u
}

check_words() {
	local word nr=0
	page btsrec-show-jsonl.5 > "$work/jsonl.5"
	for word in $(words_of gap_str status.c) $(event_words); do
		nr=$((nr + 1))
		grep -qwE -e "^\.It Cm (.* , )?$word" "$man"/btsrec-*.1 ||
			fault "'$word' is in no page of a command"
		grep -qw -e "$word" "$work/jsonl.5" || fault "'$word' is not in btsrec-show-jsonl(5)"
	done
	while read -r word; do
		nr=$((nr + 1))
		grep -qx "\.Ql $word" "$man/btsrec-insns.1" ||
			fault "the cause '$word' is not in btsrec-insns(1)"
	done < <(find "$top/decoder/src" -name code.c -exec \
		sed -n 's/^.*case CODE_[A-Z_]*:.*return "\(.*\)";$/\1/p' {} + | grep -vx fine)
	while read -r word; do
		nr=$((nr + 1))
		grep -qx "\.It Cm $word" "$man/btsrec-doctor.1" ||
			fault "'$word' is not in btsrec-doctor(1)"
	done < <(sed -nE 's/.*find\(report, "([a-z]+)".*/\1/p' "$top/decoder/cli/doctor_judge.c" |
		sort -u)
	while read -r word; do
		nr=$((nr + 1))
		grep -qE -e "^\.It Cm (.* , )?$word(:[^ ]*)?( ,|$)" "$man/btsrec-calls.1" ||
			fault "the line '$word' is not in btsrec-calls(1)"
	done < <(tree_words)
	[ "$nr" -ge 55 ] || fault "found only $nr words in the code"
}

# The keys that the code gives to json_number() and the like, or writes in texts as \"kind\":.
check_members() {
	local key nr=0
	for key in $(find "$top/decoder/src" -name '*.c' ! -name 'report*' ! -name 'export*' \
			-exec grep -ohE 'json_[a-z]+\([a-z>&.-]+, "[a-z0-9_]+"|\\"[a-z0-9_]+\\":' {} + |
			sed -E 's/.*, "|[\\":]//g' | sort -u); do
		nr=$((nr + 1))
		grep -qw -e "$key" "$work/jsonl.5" || fault "'$key' is not in btsrec-show-jsonl(5)"
	done
	[ "$nr" -ge 100 ] || fault "found only $nr members of JSON objects in the code"
}

check_symbols() {
	local symbol nr=0
	page libbtsrec.3 > "$work/libbtsrec.3"
	while read -r symbol; do
		nr=$((nr + 1))
		grep -q "\* $symbol() - " "$top"/decoder/include/btsrec/*.h ||
			fault "$symbol has no description in the public headers"
		grep -qw "$symbol" "$work/libbtsrec.3" || fault "$symbol is not in libbtsrec(3)"
	done < <(sed -n 's/^\t\(btsrec_[a-z_]*\);$/\1/p' "$top/decoder/btsrec.map")
	[ "$nr" -ge 20 ] || fault "found only $nr exported symbols"
}

# --- Examples ---

# Dumps "vmcore" and "other-vmcore" and the symbol files that the examples name.
make_files() {
	"$mkimage" "$work/vmcore" <<-'END'
		root ring=64 freeze_reason=1 freeze_cpu=0
		code kernel 0xffffffff81000000 e8fb00000090
		code kernel 0xffffffff81000100 c3
		cpu 0
		arm tsc=1 now=1/1/0x1000/init
		switch tsc=2 prev=1/1/0x1000/init next=2/2/0x2000/sh
		branch 0xffffffff81000000 0xffffffff81000100
		branch 0xffffffff81000100 0xffffffff81000005
		freeze reason=panic tsc=3 pid=2 tgid=2 comm=sh stop_ip=0xffffffff81000005
	END
	cp "$work/vmcore" "$work/other-vmcore"
	printf '%s\n' 'ffffffff81000000 T _stext' 'ffffffff81000100 T schedule' \
		'ffffffff81001000 B _end' > "$work/System.map"
	cat > "$work/vmlinux.S" <<-'END'
		.globl _stext, _end
		.text
		_stext: .skip 4096
		_end:
	END
	"$cc" -nostdlib -static -Wl,-Ttext=0xffffffff81000000,-e,_stext -o "$work/vmlinux" \
		"$work/vmlinux.S"
}

check_commands() {
	local line nr=0
	while read -r line; do
		nr=$((nr + 1))
		(cd "$work" && PATH=$(dirname "$btsrec"):$PATH bash -eo pipefail -c "$line") \
			> "$work/out" || fault "example fails: $line"
		[ -s "$work/out" ] || fault "example prints nothing: $line"
	done < <(sed -n 's/^\.Dl \$ //p' "$man"/*.1 | sed 's/\\(dq/"/g')
	[ "$nr" -ge 20 ] || fault "found only $nr examples in the pages"
}

check_program() {
	sed -n '/^\.Bd -literal/,/^\.Ed/p' "$man/libbtsrec.3" | sed -e '1d;$d' -e 's/\\e/\\/g' \
		> "$work/example.c"
	"$cc" -std=c11 -Wall -Wextra -Werror -I"$top/decoder/include" -I"$top/kmod/include" \
		"${cflags[@]}" -o "$work/example" "$work/example.c" "$library" \
		-Wl,-rpath,"$(dirname "$library")" || {
		fault "the program of libbtsrec(3) does not compile"
		return
	}
	[ "$("$work/example" "$work/vmcore")" = "CPU 0: 2" ] ||
		fault "the program of libbtsrec(3) does not print 'CPU 0: 2'"
}

# --- Pages ---

check_installed() {
	local path
	for path in "$top"/docs/man/*.[1-8]; do
		[ -e "$man/$(basename "$path")" ] || fault "$(basename "$path") is not installed"
	done
}

# "btsrec-show(1)" anywhere in the tree, and all references of the pages.
check_references() {
	local name nr=0
	(cd "$top" && git ls-files -z 2> /dev/null || find . -name .git -prune -o -type f -print0) |
		(cd "$top" && xargs -0 grep -hoIE '\b(btsrec|crash-bts|libbtsrec)[a-z.-]*\([1-8]\)') |
		sort -u > "$work/named" || true
	sed -n 's/^\.\(It \)\?Xr \([^ ]*\) \([1-8]\).*/\2(\3)/p' "$man"/*.[1-8] | sort -u \
		>> "$work/named"
	while read -r name; do
		nr=$((nr + 1))
		[ -e "$man/$(tr '(' . <<< "${name%?}")" ] || grep -qwF "$name" <<< "$others" ||
			fault "there is no page $name"
	done < <(sort -u "$work/named")
	[ "$nr" -ge 20 ] || fault "found only $nr references"
}

check_markup() {
	local path
	for path in "$man"/*.[1-8]; do
		# What it cannot find is judged by check_references.
		mandoc -T lint -W style "$path" 2>&1 |
			grep -vE 'mandoc.db|referenced manual not found' > "$work/markup" || true
		groff -t -mandoc -Tascii -z -wmac -wdelim "$path" >> "$work/markup" 2>&1 || true
		[ ! -s "$work/markup" ] || fault "$(cat "$work/markup")"
		# mdoc(7) takes a lone one for punctuation and puts it outside, unless \& is beside it.
		grep -HnE '^\.(It )?(Ql|Cm|Dq|Sq|Ic|Li|Pa|Ar) [][()?!.,:;|]( |$)' "$path" \
			> "$work/markup" || true
		[ ! -s "$work/markup" ] || fault "nothing but punctuation: $(cat "$work/markup")"
	done
}

make_files
check_options
check_option_names
check_words
check_members
check_symbols
check_commands
check_program
check_installed
check_references
check_markup
[ "$faults" = 0 ]

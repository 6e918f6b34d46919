#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# usage: check-docs.sh BTSREC MKIMAGE LIBRARY CC [CFLAG...]
# The documentation is complete and its examples work:
#  - every option that a command's --help shows is in btsrec(1);
#  - every event kind and gap kind that the code knows is in the manual pages;
#  - every symbol that the library exports is described in the public headers and in libbtsrec(3);
#  - the command lines of btsrec(1) run, the program of libbtsrec(3) compiles and runs;
#  - groff formats each page without a warning about its markup, and quotes what is to be quoted.
set -eu
btsrec=$1 mkimage=$2 library=$3 cc=$4
shift 4
cflags=("$@")
top=$(cd "$(dirname "$0")/.." && pwd)
man=$top/docs/man
faults=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fault() {
	echo "check-docs: $*"
	faults=$((faults + 1))
}

# The page as a reader sees it, without bold and hyphenation.
page() {
	groff -mdoc -Tascii -P-c -rHY=0 "$man/$1" | sed 's/.\x08//g'
}

check_options() {
	local command option nr=0
	page btsrec.1 > "$work/btsrec.1"
	for command in $("$btsrec" --help | sed -n 's/^  \([a-z-]\+\) .*/\1/p'); do
		while read -r option; do
			nr=$((nr + 1))
			grep -qe "$option\b" "$work/btsrec.1" ||
				fault "btsrec $command: $option is not in btsrec(1)"
		done < <("$btsrec" "$command" --help | grep -oE -e '--[a-z-]+|^  -[a-z]\b' |
			tr -d ' ')
	done
	[ "$nr" -ge 15 ] || fault "found only $nr options in the help texts"
}

check_words() {
	local word
	page btsrec-show-jsonl.5 > "$work/jsonl.5"
	for word in $(sed -n '/gap_str/,/^}/s/.*return "\([a-z-]*\)";.*/\1/p' \
			"$top/decoder/src/status.c" | grep -vx unknown) \
		$(sed -n '/render_kind_str/,/^}/s/.*return "\([a-z-]*\)";.*/\1/p' \
			"$top/decoder/src/render.c" | grep -vx unknown); do
		grep -qw -e "$word" "$work/btsrec.1" || fault "'$word' is not in btsrec(1)"
		grep -qw -e "$word" "$work/jsonl.5" || fault "'$word' is not in btsrec-show-jsonl(5)"
	done
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

# A dump "vmcore" and the symbol files that the examples name.
make_files() {
	"$mkimage" "$work/vmcore" <<-'END'
		root ring=64
		cpu 0
		arm tsc=1 now=1/1/0x1000/init
		branch 0xffffffff81000010 0xffffffff81000100
		switch tsc=2 prev=1/1/0x1000/init next=2/2/0x2000/sh
		freeze reason=panic tsc=3
	END
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
	done < <(sed -n 's/^\.Dl \$ //p' "$man/btsrec.1" | sed 's/\\(dq/"/g')
	[ "$nr" -ge 5 ] || fault "found only $nr examples in btsrec(1)"
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
	[ "$("$work/example" "$work/vmcore")" = "CPU 0: 1" ] ||
		fault "the program of libbtsrec(3) does not print 'CPU 0: 1'"
}

check_markup() {
	local name
	for name in "$man"/*.[1-8]; do
		groff -mandoc -Tascii -z -wmac -wdelim "$name" > "$work/markup" 2>&1 || true
		[ ! -s "$work/markup" ] || fault "$(cat "$work/markup")"
		# mdoc(7) takes a lone one for punctuation and puts it outside, unless \& is beside it.
		grep -HnE '^\.(It )?(Ql|Cm|Dq|Sq|Ic|Li|Pa|Ar) [][()?!.,:;|]( |$)' "$name" \
			> "$work/markup" || true
		[ ! -s "$work/markup" ] || fault "nothing but punctuation: $(cat "$work/markup")"
	done
}

make_files
check_options
check_words
check_symbols
check_commands
check_program
check_markup
[ "$faults" = 0 ]

# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# What the tests of the collector share: a machine with dumps, and what came of it.
# The arguments are COLLECT ANALYZE BTSREC MKIMAGE.
# shellcheck disable=SC2034,SC2154  # what some of them use, and what each sets
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

finish() {
	[ "$faults" = 0 ] || exit 1
	echo "all is as it should be"
}

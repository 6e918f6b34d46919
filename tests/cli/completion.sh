#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The shell completes every command, every option that a command takes, every word that an option
# takes, and file names.
# usage: completion.sh BTSREC COMPLETION
set -euo pipefail

case ${1:-} in
-h | --help)
	sed -n '3,5s/^# //p' "$0"
	exit 0
	;;
esac

btsrec=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# shellcheck source=/dev/null
. "$2"
cd "$work"
touch dump-of-today

# What the last of these words is completed to, a line each.
complete_words() {
	COMP_WORDS=("$btsrec" "$@")
	COMP_CWORD=$#
	COMPREPLY=()
	_btsrec "$btsrec"
	printf '%s\n' "${COMPREPLY[@]}"
}

expect() {
	[ "$1" = "$2" ] || {
		echo "completion: '$3' gives"
		diff <(echo "$1") <(echo "$2") || true
		exit 1
	}
}

commands=$("$btsrec" help | sed -n 's/^  \([a-z-]\+\) .*/\1/p')
[ "$(wc -l <<<"$commands")" -ge 20 ]
expect "$(complete_words '' | grep -vx dump-of-today)" "$commands" ""
expect "$(complete_words ca)" "calls" ca
expect "$(complete_words show dump)" "dump-of-today" "show dump"
nr_with_words=0
for command in $commands; do
	case $command in help | version) continue ;; esac
	options=$("$btsrec" "$command" --help | grep -oE -e '--[a-z-]+')
	expect "$(complete_words "$command" --)" "$options" "$command --"
	for option in $("$btsrec" "$command" --help | sed -n 's/.* \(--[a-z-]\+\) [A-Z]\+ .*/\1/p'); do
		# The message about a wrong word names those that there are.
		words=$({ "$btsrec" "$command" "$option" @ 2>&1 || true; } |
			sed -n "s/.*takes \([a-z]\+\(, [a-z]\+\)* or [a-z]\+\), not '@'.*/\1/p" |
			sed 's/, \| or /\n/g')
		if [ -n "$words" ]; then
			nr_with_words=$((nr_with_words + 1))
			expect "$(complete_words "$command" "$option" '')" "$words" "$command $option"
		else
			expect "$(complete_words "$command" "$option" dump)" dump-of-today \
				"$command $option dump"
		fi
	done
done
[ "$nr_with_words" -ge 20 ]
expect "$(complete_words show --format js)" "jsonl" "show --format js"
expect "$(complete_words show --format = '')" "$(complete_words show -f '')" "show --format="
expect "$(complete_words show --format =)" "$(complete_words show -f '')" "show --format="
expect "$(complete_words show --fold dump)" "dump-of-today" "show --fold dump"
expect "$(complete_words calls --dep)" "--depth" "calls --dep"

# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Completion for btsrec: commands and options are those that its --help names.

_btsrec() {
	local current=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} words
	COMPREPLY=()
	if [ "$COMP_CWORD" -eq 1 ]; then
		words=$("$1" --help 2>/dev/null | sed -n 's/^  \([a-z-]\+\) .*/\1/p')
	elif [[ $current == -* ]]; then
		words=$("$1" "$command" --help 2>/dev/null | grep -oE -e '--[a-z-]+')
	fi
	if [ -n "${words:-}" ]; then
		mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
	fi
	# A dump, or a value that only the user knows: a file name is the best guess.
	if [[ $current != -* ]]; then
		mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$current")
	fi
}
complete -o filenames -F _btsrec btsrec

# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Completion for btsrec-fleet: commands and options, as its help has them, and file names.

_btsrec_fleet() {
	local current=${COMP_WORDS[COMP_CWORD]} words=
	COMPREPLY=()
	if [ "$COMP_CWORD" -eq 1 ]; then
		words=$("$1" --help 2>/dev/null | sed -n 's/^    \([a-z]\+\) .*/\1/p')
	elif [[ $current == -* ]]; then
		words=$("$1" "${COMP_WORDS[1]}" --help 2>/dev/null | grep -oE -e '--[a-z-]+' | sort -u)
	fi
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
	if [ "$COMP_CWORD" -gt 1 ] && [[ $current != -* ]]; then
		mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$current")
	fi
}
complete -o filenames -F _btsrec_fleet btsrec-fleet

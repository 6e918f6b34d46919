# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Completion for btsrec: commands, options and words that options take, all as its help has them.

# The option whose value the current word is: "--format js", "--format=js" or "-f js".
_btsrec_option() {
	local at=$((COMP_CWORD - 1))
	[ "${COMP_WORDS[at]}" != "=" ] || at=$((at - 1))
	[[ ${COMP_WORDS[at]} != -* ]] || echo "${COMP_WORDS[at]}"
}

_btsrec() {
	local current=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} option words values
	COMPREPLY=()
	option=$(_btsrec_option)
	# The "=" itself is a word: what is completed begins after it.
	[ "$current" != "=" ] || current=
	if [ "$COMP_CWORD" -eq 1 ]; then
		words=$("$1" --help 2>/dev/null | sed -n 's/^  \([a-z-]\+\) .*/\1/p')
	elif [[ $current == -* ]]; then
		words=$("$1" "$command" --help 2>/dev/null | grep -oE -e '--[a-z-]+')
	elif [ -n "$option" ]; then
		words=$("$1" help "$command" "$option" 2>/dev/null | sed -n 's/^one of: //p')
		values=$words
	fi
	if [ -n "${words:-}" ]; then
		mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
	fi
	# A dump, or a value that only the user knows: a file name is the best guess.
	if [[ $current != -* ]] && [ -z "${values:-}" ]; then
		mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$current")
	fi
}
complete -o filenames -F _btsrec btsrec

# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Completion for btsrec-dap: options, as its help has them, and file names.

_btsrec_dap() {
	local current=${COMP_WORDS[COMP_CWORD]} words=
	COMPREPLY=()
	if [[ $current == -* ]]; then
		words=$("$1" --help 2>/dev/null | grep -oE -e '--[a-z-]+' | sort -u)
		mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
	else
		mapfile -t COMPREPLY < <(compgen -f -- "$current")
	fi
}
complete -o filenames -F _btsrec_dap btsrec-dap

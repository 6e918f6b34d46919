#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Module of dracut: what the hooks of kdump-utils run, in capture initramfs only.  The hooks
# themselves are taken by kdump-utils.
# shellcheck disable=SC2154 # moddir and the like are dracut's

check() {
	# kdumpctl sets it.
	[[ -n $IN_KDUMP && -x /etc/kdump/pre.d/50-btsrec ]] || return 1
	require_binaries btsrec timeout stat
}

depends() {
	echo kdumpbase
}

install() {
	inst_multiple btsrec timeout stat date sync mkdir rmdir ln cp mv cat grep sed tr mount findmnt \
		/usr/libexec/btsrec/capture
}

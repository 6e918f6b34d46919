#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# usage: units.sh SYSTEMD-ANALYZE SOURCE BUILD
# systemd understands every line of the units, and exposure stays low.
set -u
case ${1:-} in -h | --help) sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0"; exit ;; esac
analyze=$1 source=$2 build=$3
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
faults=0

fault() {
	echo "FAULT $*"
	faults=$((faults + 1))
}

# As installed, so that the paths of the programs exist.
DESTDIR=$root cmake --install "$build" --component tools >/dev/null || fault "not installable"
units=$(find "$root" -name 'btsrec*.service' -o -name 'btsrec*.path' -o -name 'btsrec*.timer')
[ "$(wc -w <<<"$units")" = 8 ] || fault "found $units"
# Where all that reads settings looks for them, whatever the prefix of this build.
[ -e "$root/etc/btsrec.conf" ] || fault "the settings are in $(find "$root" -name btsrec.conf)"
[ -d "$root/etc/btsrec/report.d" ] || fault "there is no folder for hooks in /etc"
# shellcheck disable=SC2086 # a list of files without blanks
said=$(grep -h '/etc/' $units | grep -v '[-=]/etc/btsrec')
[ -z "$said" ] || fault "other settings: $said"
# A preset for each unit that can be enabled, and for no other.
preset=$(find "$root" -name '*-btsrec.preset')
# shellcheck disable=SC2086 # a list of files without blanks
said=$(diff <(grep -l '^WantedBy=' $units | xargs -n 1 basename | sort) \
	<(sed -n 's/^[a-z]*able //p' "$preset" | sort)) || fault "presets: $said"
for unit in $units; do
	sed -i "s#^\(Exec[A-Za-z]*=\)/#\1$root/#" "$unit"
done
# shellcheck disable=SC2086 # a list of files without blanks
said=$("$analyze" verify --man=no --recursive-errors=no $units 2>&1) || fault "$said"
[ -z "$said" ] || fault "$said"

# Whatever installs, enables or removes the watch does so with the timer.
for file in CMakeLists.txt package/btsrec/{postinst,prerm,postrm} package/rpm/btsrec.{post,preun}; do
	[ "$(grep -c 'btsrec-collect\.path' "$source/systemd/$file")" = \
		"$(grep -c 'btsrec-collect\.timer' "$source/systemd/$file")" ] ||
		fault "$file: the timer is not where the watch is"
done
# Whatever the hook of the initramfs takes for yes, the packages do, too.
for file in btsrec/{postinst,postrm} btsrec-dkms/{postinst,prerm}; do
	asks=$(sed -n 's#.*\(grep -qs .*\) /etc/btsrec\.conf.*#\1#p' "$source/systemd/package/$file")
	for setting in yes '"yes"' "'yes'"; do
		eval "$asks" <<<"INITRAMFS=$setting" || fault "$file: no for INITRAMFS=$setting"
	done
	! eval "$asks" <<<"INITRAMFS=no" || fault "$file: yes for INITRAMFS=no"
done
# Each user of a unit is made by what is installed, and is none that has files of its own.
users=$(find "$root" -path '*sysusers.d/btsrec.conf')
# shellcheck disable=SC2086,SC2013 # a list of files, and of names, without blanks
for user in $(sed -n 's/^User=//p' $units); do
	grep -q "^u $user -" "$users" || fault "no user $user is made by '$users'"
done
# shellcheck disable=SC2086 # a list of files without blanks
! grep -l '^ExecStart=.*/\(collect\|hooks\)$' $units | xargs grep -L '^User=' | grep . ||
	fault "what reads dumps or reports runs as root"
# Or the sixth dump within ten seconds ends the watch until the next boot.
grep -qx 'StartLimitIntervalSec=0' "$(find "$root" -name btsrec-collect.service)" ||
	fault "btsrec-collect.service can be started too often"

# What the units may do: systemd's figure, ten times, from 0 to 100 (docs/guide/unattended.md).
# exposed UNIT LIMIT
exposed() {
	said=$("$analyze" security --offline=true --threshold="$2" --no-pager \
		"$(find "$root" -name "$1")" 2>&1) || fault "$1: $(tail -n 1 <<<"$said")"
}

exposed btsrec.service 35
exposed btsrec-collect.service 11
exposed btsrec-hooks.service 17
exposed btsrec-metrics.service 21
exposed btsrec-watch.service 27

# Settings and the file that explains them agree.
scripts=("$source"/systemd/arm "$source"/systemd/capture "$source"/systemd/collect
	"$source"/systemd/watch "$source"/systemd/initramfs/hook)
sed -n 's/^#\([A-Z_]*\)=.*/\1/p' "$source/systemd/btsrec.conf" | sort >"$root/explained"
grep -oh -e '{[A-Z_]*:' -e '^\s*number_in [A-Z_]*' "${scripts[@]}" |
	sed -e 's/.*number_in //' -e 's/[{:]//g' |
	grep -v -e '^BTSREC_' -e NOTIFY_SOCKET -e CONFDIR |
	sort -u >"$root/read"
said=$(diff "$root/explained" "$root/read") || fault "explained and read differ: $said"

[ "$faults" = 0 ] && echo "all is as it should be"
[ "$faults" = 0 ]

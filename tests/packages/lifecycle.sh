#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# usage: lifecycle.sh FOLDER
# Run in a Debian system without a network: install the packages of FOLDER, upgrade to those
# of FOLDER/next, remove, purge.  After each step that is there which should be, and in the
# end nothing is left.  FOLDER/vmcore is a dump to try the command on.
set -u
case ${1:-} in -h | --help) sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0"; exit ;; esac
folder=$1
faults=0

fault() {
	echo "FAULT $*"
	faults=$((faults + 1))
}

# must COMMAND...: its output is shown if it fails.
must() {
	local said
	said=$("$@" 2>&1) || fault "$* fails: $said"
}

# Everything, but for what apt and dpkg remember of what they did.
files() {
	find / -xdev \( -path /mnt -o -path /tmp -o -path /proc -o -path /dev -o -path /sys \
		-o -path /run \) -prune -o \
		! -path '/var/lib/dpkg/*' ! -path '/var/cache/*' ! -path '/var/log/*' \
		! -path '/var/lib/apt/*' ! -path '/var/lib/systemd/deb-systemd-helper*' -print | sort
}

packages=("$folder"/btsrec_*.deb "$folder"/btsrec-dkms_*.deb "$folder"/crash-bts_*.deb
	"$folder"/libbtsrec-dev_*.deb "$folder"/python3-btsrec_*.deb)
kernel=$(ls /lib/modules)

expect_enabled() {
	local unit want=$1 got
	shift
	for unit; do
		got=$(systemctl is-enabled "$unit" 2>/dev/null)
		[ "$got" = "$want" ] || fault "$step: $unit is $got, not $want"
	done
}

expect_module() {
	local version=$1
	dkms status btsrec | grep -q "btsrec/$version, $kernel, x86_64: installed" ||
		fault "$step: DKMS says '$(dkms status btsrec)'"
	[ "$(dkms status btsrec | wc -l)" = 1 ] || fault "$step: more than one module"
	must modinfo -k "$kernel" btsrec
}

# As prometheus-node-exporter has it.
metrics=/var/lib/prometheus/node-exporter
mkdir -p "$metrics"

files >/tmp/before

step=install
must apt-get -y install "${packages[@]}"
expect_enabled enabled btsrec.service btsrec-collect.service btsrec-collect.path \
	btsrec-collect.timer
expect_enabled disabled btsrec-metrics.timer
expect_module 0.1.0
[ "$(btsrec --version)" = "btsrec 0.1.0" ] || fault "$step: $(btsrec --version)"
must btsrec check "$folder/vmcore"
must btsrec-fleet --help >/dev/null
must btsrec-dap --help >/dev/null
must python3 -c "import btsrec; assert len(btsrec.open('$folder/vmcore').branches(0)) == 100"
must btsrec-analyze --into /tmp/report "$folder/vmcore"
for page in btsrec btsrec-{calls,show,doctor}; do
	[ -s "/usr/share/man/man1/$page.1.gz" ] || fault "$step: no manual page $page(1)"
done
echo quit | crash --help extend >/dev/null || fault "$step: crash does not run"
[ -e /usr/lib/crash/extensions/bts.so ] || fault "$step: no extension for crash"
[ -e /usr/lib/x86_64-linux-gnu/libbtsrec.so ] || fault "$step: nothing to link with"
must systemd-analyze verify --man=no /lib/systemd/system/btsrec.service \
	/lib/systemd/system/btsrec-collect.path /lib/systemd/system/btsrec-collect.timer
# shellcheck source=/dev/null
. /usr/share/bash-completion/completions/btsrec
COMP_WORDS=(btsrec ex) COMP_CWORD=1
_btsrec btsrec
[[ " ${COMPREPLY[*]} " = *" extract "* ]] || fault "$step: completes ex to '${COMPREPLY[*]}'"
COMP_WORDS=(btsrec show --for) COMP_CWORD=2
_btsrec btsrec
[ "${COMPREPLY[*]}" = --format ] || fault "$step: completes --for to '${COMPREPLY[*]}'"

step=initramfs
must mkinitramfs -o /tmp/initrd "$kernel"
! lsinitramfs /tmp/initrd | grep -q btsrec.ko || fault "$step: the module is there unasked"
echo INITRAMFS=yes >>/etc/btsrec.conf
must mkinitramfs -o /tmp/initrd "$kernel"
unmkinitramfs /tmp/initrd /tmp/defaults
said=$(modprobe --config "$(find /tmp/defaults -path '*modprobe.d/btsrec.conf')" --showconfig 2>&1 >/dev/null)
[ -z "$said" ] || fault "$step: $said"
echo RING_BYTES=2M >>/etc/btsrec.conf
must mkinitramfs -o /tmp/initrd "$kernel"
lsinitramfs /tmp/initrd >/tmp/list
for name in updates/dkms/btsrec.ko etc/modprobe.d/btsrec.conf scripts/init-top/btsrec; do
	grep -q "$name" /tmp/list || fault "$step: no $name"
done
unmkinitramfs /tmp/initrd /tmp/unpacked
grep -rqx "options btsrec ring_bytes=2M" /tmp/unpacked --include=btsrec.conf ||
	fault "$step: not the parameters"
# The capture kernel's own.
must /etc/kernel/postinst.d/kdump-tools "$kernel"
! lsinitramfs "/var/lib/kdump/initrd.img-$kernel" | grep -q btsrec.ko ||
	fault "$step: the capture kernel would record"
sed -i '/^INITRAMFS=/d; /^RING_BYTES=2M/d' /etc/btsrec.conf

step=upgrade
printf 'RING_BYTES=64K\nINITRAMFS=yes\n' >>/etc/btsrec.conf
printf '#!/bin/sh\n' >/etc/btsrec/report.d/mail
mkdir -p /var/lib/btsrec/reports/000001-x
systemctl disable -q btsrec.service
systemctl enable -q btsrec-metrics.timer
: >"$metrics/btsrec.prom"
must apt-get -y -o Dpkg::Options::=--force-confold install "$folder"/next/*.deb
expect_module 0.2.0
expect_enabled disabled btsrec.service
expect_enabled enabled btsrec-collect.path btsrec-collect.timer btsrec-metrics.timer
grep -qx RING_BYTES=64K /etc/btsrec.conf || fault "$step: the settings are gone"
[ -d /var/lib/btsrec/reports/000001-x ] || fault "$step: the reports are gone"
[ ! -e /usr/src/btsrec-0.1.0 ] || fault "$step: the old source is left"
unmkinitramfs "/boot/initrd.img-$kernel" /tmp/upgraded
[ "$(modinfo -F version "$(find /tmp/upgraded -name btsrec.ko)")" = 0.2.0 ] ||
	fault "$step: the initramfs does not have the new module"

step=remove
must apt-get -y remove btsrec btsrec-dkms crash-bts libbtsrec-dev python3-btsrec
[ ! -e "$metrics/btsrec.prom" ] || fault "$step: old metrics are left"
[ -z "$(dkms status btsrec)" ] || fault "$step: DKMS still has $(dkms status btsrec)"
! modinfo -k "$kernel" btsrec >/dev/null 2>&1 || fault "$step: the module is left"
! lsinitramfs "/boot/initrd.img-$kernel" | grep -q btsrec || fault "$step: the initramfs would arm"
grep -qx RING_BYTES=64K /etc/btsrec.conf || fault "$step: the settings are gone"
[ -d /var/lib/btsrec/reports/000001-x ] || fault "$step: the reports are gone"

step=install_again
must apt-get -y install "${packages[@]:0:2}"
expect_enabled disabled btsrec.service
expect_enabled enabled btsrec-metrics.timer
must apt-get -y remove btsrec btsrec-dkms

step=purge
rm /etc/btsrec/report.d/mail
must apt-get -y purge btsrec btsrec-dkms
# crash came with crash-bts, and stays if makedumpfile may recommend it.
must apt-get -y -o APT::AutoRemove::RecommendsImportant=false \
	-o APT::AutoRemove::SuggestsImportant=false autoremove --purge
files >/tmp/after
said=$(diff /tmp/before /tmp/after) || fault "$step: left behind or missing: $said"
left=$(find /var/lib/systemd -name '*btsrec*')
[ -z "$left" ] || fault "$step: $left"

[ "$faults" = 0 ] && echo "all is as it should be"
[ "$faults" = 0 ]

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# usage: doctor.sh BTSREC METRICS
# btsrec doctor against machines that are folders here: one where all is well, then each with
# one thing wrong.
set -u
case ${1:-} in -h | --help) sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0"; exit ;; esac
btsrec=$1 metrics=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
faults=0
root=$work/root

fault() {
	echo "FAULT $*"
	faults=$((faults + 1))
}

# put NAME TEXT: a file of the machine.
put() {
	mkdir -p "$root$(dirname "$1")"
	printf '%b' "$2" >"$root$1"
}

recording='cpu0: armed annotations=10 skipped=0 foreign_stops=0\ncpu1: armed annotations=7 skipped=0 foreign_stops=0\n'

# The machine without a complaint.
healthy() {
	local cpu
	rm -rf "$root"
	for cpu in 0 1; do
		printf 'processor\t: %s\nvendor_id\t: GenuineIntel\nflags\t\t: fpu dtes64 bts pebs\n' $cpu
	done >"$work/cpuinfo"
	put /proc/cpuinfo "$(cat "$work/cpuinfo")\n"
	put /proc/sys/kernel/osrelease '6.1.0-9\n'
	put /proc/meminfo 'MemTotal: 1000 kB\nSlab: 1024 kB\nSUnreclaim: 99 kB\n'
	put /sys/devices/system/cpu/vulnerabilities/meltdown 'Not affected\n'
	put /sys/module/btsrec/parameters/pti 'map\n'
	put /sys/module/btsrec/parameters/console_records '0\n'
	put /sys/kernel/kexec_crash_size '268435456\n'
	put /sys/kernel/kexec_crash_loaded '1\n'
	put /sys/kernel/security/lockdown '[none] integrity confidentiality\n'
	put /lib/modules/6.1.0-9/modules.dep 'kernel/a.ko:\nupdates/dkms/btsrec.ko: kernel/a.ko\n'
	put /lib/modules/6.1.0-9/updates/dkms/btsrec.ko 'ELF'
	put /dev/btsrec "state: armed\nmode: all\nring_bytes: 1048576\narms: 3\nexecs: 44\n$recording"
	put /etc/systemd/system/sysinit.target.wants/btsrec.service ''
	put /etc/systemd/system/multi-user.target.wants/btsrec-collect.service ''
}

# expect STATUS PATTERN...: the exit status, and what is said.
expect() {
	local status=$1 pattern got
	shift
	said=$(timeout 300 "$btsrec" doctor --root "$root" 2>&1)
	got=$?
	[ "$got" = "$status" ] || fault "$test: status $got, not $status: $said"
	for pattern; do
		grep -q "$pattern" <<<"$said" || fault "$test: does not say '$pattern': $said"
	done
}

# unload: the module is not there yet.
unload() {
	rm -rf "${root:?}/sys/module/btsrec" "${root:?}/dev"
}

test=healthy
healthy
expect 0 "good  *cpu .* 2 CPUs" "good  *armed  *2 CPUs record, each passed the self-test" \
	"good  *kdump .*256 MiB" "there will be a history\.$"
[ "$("$btsrec" doctor --root "$root" | grep -c '^good ')" = 8 ] || fault "$test: not 8 checks"

test=cpu
put /proc/cpuinfo 'processor: 0\nvendor_id : AuthenticAMD\nflags : bts dtes64\n'
expect 2 "^no-history  cpu .*none" "will be no history"
put /proc/cpuinfo 'processor: 0\nvendor_id : GenuineIntel\nflags : abts bts_ rtbts dtes64\n'
expect 2 "^no-history  cpu .*without bts" firmware
put /proc/cpuinfo 'processor: 0\nvendor_id : GenuineIntel\nflags : bts\n'
expect 2 "^no-history  cpu .*bts without dtes64"
put /proc/cpuinfo 'processor: 0\nvendor_id : GenuineIntel\nflags : hypervisor\n'
expect 2 "^no-history  cpu .*virtual machine"
rm "$root/proc/cpuinfo"
expect 2 "^no-history  cpu .*says nothing"
# What gives no end, or no beginning.
mkfifo "$root/proc/cpuinfo"
expect 2 "^no-history  cpu .*says nothing"
rm "$root/proc/cpuinfo"
ln -s /dev/zero "$root/proc/cpuinfo"
expect 2 "^no-history  cpu .*says nothing"

test=pti
healthy
put /sys/devices/system/cpu/vulnerabilities/meltdown 'Mitigation: PTI\n'
expect 0 "^good  *pti .*shown to user page tables"
put /sys/module/btsrec/parameters/pti 'refuse\n'
expect 2 "^no-history  pti .*not set to record" "PTI=map"
rm "$root/sys/module/btsrec/parameters/pti"
expect 2 "^no-history  pti .*not set to record" "PTI=map"
put /etc/btsrec.conf 'PTI=map\n'
expect 0 "^good  *pti .*shown to user page tables"
rm "$root/sys/devices/system/cpu/vulnerabilities/meltdown"
expect 1 "^degraded  *pti .*not known" "Mount /sys"
! grep -q "are not isolated" <<<"$said" || fault "$test: what is not known is printed"

test=module
healthy
unload
expect 2 "^no-history  module .*not loaded" "systemctl start btsrec"
put /sys/kernel/security/lockdown 'none [integrity] confidentiality\n'
expect 2 "^no-history  module .*dkms/btsrec.ko has no signature" "mok.pub"
put /lib/modules/6.1.0-9/updates/dkms/btsrec.ko 'ELF~Module signature appended~\n'
expect 2 "^no-history  module .*signed, and not loaded"
put /sys/kernel/security/lockdown '[none] integrity\n'
put /sys/module/module/parameters/sig_enforce 'Y\n'
put /lib/modules/6.1.0-9/updates/dkms/btsrec.ko 'E'
expect 2 "^no-history  module .*no signature"
put /lib/modules/6.1.0-9/modules.dep 'extra/notbtsrec.ko:\n'
expect 2 "^no-history  module .*no module for the kernel 6.1.0-9" "btsrec-dkms"

test=armed
healthy
put /dev/btsrec "state: frozen\n$recording"
expect 2 "^no-history  armed .*earlier fault"
put /dev/btsrec "state: armed\nhooks_missing: 2\nmissing_hook: report_bug: the history of it\nmissing_hook: _printk: so: and so\n$recording"
expect 1 "^degraded  *hooks .*without 2 hooks in the kernel: report_bug, _printk\.$" "kernel log"
put /dev/btsrec "state: armed\nfreeze_on: warn,function:ksys_sync\nhooks_missing: 0\n$recording"
expect 0 "^good  *freeze-on .*stops for warn,function:ksys_sync\.$"
put /dev/btsrec "state: armed\nfreeze_on: warn\non_trigger: copy\ncopies: 3\nmissed_triggers: 0\n$recording"
expect 0 "^good  *freeze-on .*copies its rings for warn: 3 times so far\.$"
put /dev/btsrec "state: armed\nfreeze_on: warn\non_trigger: copy\ncopies: 3\nmissed_triggers: 7\n$recording"
expect 0 "^good  *missed .*7 times .*a copy had not been taken\.$"
put /dev/btsrec "state: armed\nfreeze_on: none\nhooks_missing: 0\n$recording"
expect 0
put /dev/btsrec "state: armed\ncpus: 0\nleft_out: 1\n${recording%cpu1*}"
expect 0 "^good  *left-out .*Of 1 CPUs .* not in CPUS=0\.$"
grep -q "1 CPUs record" <<<"$said" || fault "$test: a CPU that is left out is missed"
put /dev/btsrec "state: armed\ntasks: comm:a\nmax_rate: 7\n${recording//foreign_stops=0/foreign_stops=0 records=5000 recorded_ms=2500}"
expect 0 "^good  *tasks .* TASKS=comm:a only the switches"
grep -q "max-rate .* 7 branches a second" <<<"$said" || fault "$test: no rate"
grep -q "recorded .* 10000 branches in 5 s" <<<"$said" || fault "$test: no counters"
put /dev/btsrec "state: armed\nsource: lbr\nlast_branches: 32\n$recording"
put /proc/cpuinfo 'processor: 0\nvendor_id : GenuineIntel\nflags : hypervisor\nprocessor: 1\n'
expect 1 "^degraded  *cpu .*the last 32 branches of a CPU\.$" "Branch Trace Store for more"
put /proc/cpuinfo "$(cat "$work/cpuinfo")\n"
put /dev/btsrec "state: armed\nsource: bts\nlast_branches: 0\n$recording"
expect 0
put /dev/btsrec "state: armed\ntasks: all\nmax_rate: 0\n$recording"
expect 0
! grep -Eq "TASKS|max-rate" <<<"$said" || fault "$test: limits that are none"
put /dev/btsrec 'state: disarmed\ncpu0: stopped annotations=1 skipped=0 foreign_stops=0\n'
expect 2 "^no-history  armed .*not armed: disarmed"
put /dev/btsrec 'state: armed\ncpu0: armed annotations=1 skipped=0 foreign_stops=0\n'
expect 1 "^degraded  *armed  *1 of 2 CPUs"
put /dev/btsrec "state: armed\n${recording/foreign_stops=0/foreign_stops=3}"
expect 1 "^degraded  *perf .* 3 times"
put /dev/btsrec "state: armed\n${recording/skipped=0/skipped=5}"
expect 1 "^degraded  *gaps .*5 annotations"
rm "$root/dev/btsrec"
expect 1 "^degraded  *armed .*No such file" "devtmpfs"
! grep -q "as root" <<<"$said" || fault "$test: root would not find the device either"
mkfifo "$root/dev/btsrec"
expect 1 "^degraded  *armed .*not known.*No such device"
rm "$root/dev/btsrec"
# The device is no regular file; of this one nothing can be read.
ln -s /dev/null "$root/dev/btsrec"
expect 2 "^no-history  armed .*not armed"
rm "$root/dev/btsrec"
put /dev/btsrec "state: armed\n$recording"
chmod 000 "$root/dev/btsrec"
# Root's files, and no capability to read them all the same.
plain=$btsrec
printf '#!/bin/sh\nexec setpriv --bounding-set=-all --inh-caps=-all %s "$@"\n' "$plain" >"$work/weak"
chmod +x "$work/weak"
[ "$(id -u)" != 0 ] || btsrec=$work/weak
expect 1 "^degraded  *armed .*Permission denied" "as root"
btsrec=$plain

test=kdump
healthy
put /sys/kernel/kexec_crash_loaded '0\n'
expect 2 "^no-history  kdump .*none is loaded" "systemctl start kdump-tools"
put /sys/kernel/kexec_crash_size '0\n'
expect 2 "^no-history  kdump .*No memory is reserved" "crashkernel="
put /sys/module/btsrec/parameters/console_records '100\n'
expect 2 "^no-history  kdump"
put /sys/module/pstore/parameters/backend '(null)\n'
expect 2 "^no-history  kdump"
put /sys/module/pstore/parameters/backend 'efi_pstore\n'
expect 1 "^degraded  *kdump .*newest 100 branches"
put /sys/kernel/kexec_crash_loaded '1\n'
put /sys/kernel/kexec_crash_size '67108864\n'
expect 1 "^degraded  *kdump .* 64 MiB"
healthy
put /etc/btsrec.conf '#CAPTURE=no\nCAPTURE=yes\n'
expect 0
for setting in '"yes"' "'yes'" "" "yes " '""' " yes"; do
	put /etc/btsrec.conf "CAPTURE=no\nCAPTURE=$setting\n"
	expect 0
done
for setting in no '"no"' "yes no" '" yes"' "yes\nCAPTURE=no"; do
	put /etc/btsrec.conf "CAPTURE=$setting\n"
	expect 1 "^degraded  *capture"
done

rm "$root/etc/btsrec.conf"
expect 0
mkfifo "$root/etc/btsrec.conf"
expect 1 "^degraded  *capture .*not known.*No such device"

test=space
healthy
put /proc/meminfo 'Slab: 99999999999999 kB\n'
expect 1 "^degraded  *space .*/var/crash"
put /etc/btsrec.conf 'DUMP_DIRS="/srv/dumps /var/crash"\n'
expect 1 "^degraded  *space .*/srv/dumps;"
put /etc/btsrec.conf 'DUMP_DIRS=/srv/dumps\nDUMP_DIRS=\n'
expect 1 "^degraded  *space .*/var/crash;"
put /dev/btsrec "state: armed\nring_bytes: 9999999999999999\n$recording"
expect 1 "^degraded  *space .*below\|^degraded  *space .*for reports"
# What the collector asks for, MIN_FREE_MBYTES and the rings, and the captured file beside it.
healthy
put /dev/btsrec "state: armed\nring_bytes: 1125899906842624\n$recording"
expect 1 "a crash may want $((256 + 2147483648 + 2147483648 + 16))\."
# What each CPU has, not what others would get.
healthy
put /dev/btsrec "state: armed\nring_bytes: 1125899906842624\n${recording//foreign_stops=0/foreign_stops=0 ring_bytes=2097152}"
put /etc/btsrec.conf 'MIN_FREE_MBYTES=99999999\n'
expect 1 "for reports; a crash may want $((99999999 + 4 + 4 + 16))\."
healthy
put /etc/btsrec.conf 'MIN_FREE_MBYTES=99999999\n'
expect 1 "for reports; a crash may want $((99999999 + 2 + 2 + 16))\."
put /etc/btsrec.conf 'MIN_FREE_MBYTES="99999999"\nCAPTURE=no\n'
expect 1 "for reports; a crash may want $((99999999 + 2))\."
put /etc/btsrec.conf 'MIN_FREE_MBYTES=99999999\nMIN_FREE_MBYTES=\n'
expect 0

# What is not known is not good.
healthy
rm "$root/proc/meminfo"
expect 1 "^degraded  *space .*not known: /proc/meminfo"
healthy
put /etc/btsrec.conf 'DUMP_DIRS=/file/dumps\n'
put /file ''
expect 1 "^degraded  *space .*in /file/dumps is not known"
put /var/lib/btsrec ''
rm "$root/var/lib/btsrec"
ln -s btsrec "$root/var/lib/btsrec"
expect 1 "^degraded  *space .*for reports is not known"

test=units
healthy
rm "$root/etc/systemd/system/multi-user.target.wants/btsrec-collect.service"
expect 1 "^degraded  *units .*makes a report" "enable btsrec-collect"
rm "$root/etc/systemd/system/sysinit.target.wants/btsrec.service"
expect 1 "^degraded  *units .*not armed at boot"

test=formats
healthy
put /dev/btsrec "state: armed\narms: 3\nexecs: 44\n${recording/skipped=0/skipped=5}"
said=$("$btsrec" doctor -f prometheus --root "$root")
for line in "btsrec_history_level 1" "btsrec_cpus 2" "btsrec_cpus_armed 2" "btsrec_cpus_left_out 0" \
	"btsrec_records_total 0" "btsrec_recorded_milliseconds_total 0" \
	"btsrec_annotations_total 17" "btsrec_annotations_skipped_total 5" \
	"btsrec_foreign_stops_total 0" "btsrec_execs_total 44" "btsrec_arms_total 3" \
	'btsrec_check_level{name="gaps"} 1' 'btsrec_check_level{name="cpu"} 0' \
	'# TYPE btsrec_arms_total counter'; do
	grep -qxF "$line" <<<"$said" || fault "$test: no '$line' in: $said"
done
unload
put /sys/module/module/parameters/sig_enforce 'Y\n'
put /lib/modules/6.1.0-9/modules.dep 'up"\\\\\\\\\0001/btsrec.ko:\n'
"$btsrec" doctor --format jsonl --root "$root" >"$work/jsonl"
[ $? = 2 ] || fault "$test: the status of jsonl is not that of text"
python3 - "$work/jsonl" <<-'END' || fault "$test: $(cat "$work/jsonl")"
	import json, sys
	lines = [json.loads(line) for line in open(sys.argv[1])]
	assert lines[-1]["kind"] == "verdict" and lines[-1]["level"] == "no-history"
	module = [line for line in lines if line.get("name") == "module"][0]
	assert set(module) == {"kind", "name", "level", "text", "remedy"}
	assert 'up"\\' in module["text"] and "\x01" in module["text"], module
	assert lines[0]["remedy"] is None
END

test=metrics
mkdir "$work/prom" "$work/bin"
printf '#!/bin/sh\nexec %s "$@" --root %s\n' "$btsrec" "$root" >"$work/bin/btsrec"
chmod +x "$work/bin/btsrec"
PATH=$work/bin:$PATH "$metrics" "$work/prom" || fault "$test: status $?"
grep -qx "btsrec_history_level 2" "$work/prom/btsrec.prom" || fault "$test: not written"
# The folder is not root's where node exporter is Debian's.
echo precious >"$work/precious"
ln -s "$work/precious" "$work/prom/btsrec.prom.new"
PATH=$work/bin:$PATH "$metrics" "$work/prom" || fault "$test: status $? where a link is in the way"
[ "$(cat "$work/precious")" = precious ] || fault "$test: written through a link"
[ ! -L "$work/prom/btsrec.prom" ] || fault "$test: it is the link"
# Nor is another folder root's choice.
ln -s prom "$work/led"
PATH=$work/bin:$PATH "$metrics" "$work/led" 2>/dev/null && fault "$test: a link was followed"
printf '#!/bin/sh\necho half; exit 7\n' >"$work/bin/btsrec"
PATH=$work/bin:$PATH "$metrics" "$work/prom" && fault "$test: a failure is none"
grep -qx half "$work/prom/btsrec.prom" && fault "$test: half a file took the place of a whole one"

test=usage
"$btsrec" doctor --format xml >/dev/null 2>&1
[ $? = 3 ] || fault "$test: a wrong format does not end with status 3"
for wrong in "$work/nowhere" "$btsrec"; do
	said=$("$btsrec" doctor --root "$wrong" 2>&1)
	[ $? = 3 ] || fault "$test: --root $wrong does not end with status 3"
	grep -q "^btsrec: doctor: --root.* $wrong" <<<"$said" || fault "$test: --root $wrong: $said"
done
"$btsrec" doctor vmcore >/dev/null 2>&1
[ $? = 3 ] || fault "$test: a dump does not end with status 3"
"$btsrec" doctor --help | grep -q -e --root || fault "$test: no help"
"$btsrec" doctor >/dev/full 2>&1
[ $? = 7 ] || fault "$test: no room for the output is no error"

[ "$faults" = 0 ] && echo "all is as it should be"
[ "$faults" = 0 ]

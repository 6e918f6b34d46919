#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# usage: arm.sh ARM CAPTURE BTSREC MKIMAGE
# What the units run, against a CPU, a module and a vmcore that are files here.
set -u
case ${1:-} in -h | --help) sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0"; exit ;; esac
arm=$1 capture=$2
export PATH
PATH=$(dirname "$3"):$(dirname "$4"):$PATH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
faults=0
export BTSREC_DEVICE=$work/device BTSREC_CPUINFO=$work/cpuinfo

fault() {
	echo "FAULT $*"
	faults=$((faults + 1))
}

# stub NAME TEXT: a program that is the shell script TEXT.
stub() {
	mkdir -p "$work/bin"
	printf '#!/bin/sh\n%s\n' "$2" >"$work/bin/$1"
	chmod +x "$work/bin/$1"
}
PATH=$work/bin:$PATH

# expect STATUS PATTERN COMMAND...
expect() {
	local status=$1 pattern=$2 said got
	shift 2
	said=$("$@" 2>&1)
	got=$?
	[ "$got" = "$status" ] || fault "$*: status $got, not $status: $said"
	grep -q "$pattern" <<<"$said" || fault "$*: says '$said', not '$pattern'"
}

cpu() {
	printf 'vendor_id\t: %s\nflags\t\t: fpu %s\n' "$1" "$2" >"$work/cpuinfo"
}

armed='state: armed\ncpu0: armed annotations=1\ncpu1: armed annotations=1\n'

cpu GenuineIntel "dtes64 bts pebs"
expect 0 "" "$arm" possible
cpu GenuineIntel "dtes64 pebs"
expect 1 "offers no Branch Trace Store" "$arm" possible
cpu GenuineIntel "abts rtbts"
expect 1 "offers no Branch Trace Store" "$arm" possible
cpu AuthenticAMD "bts"
expect 1 "Intel" "$arm" possible
cpu GenuineIntel "pebs"
expect 0 "" env SOURCE=lbr "$arm" possible
expect 1 "offers no Branch Trace Store" env SOURCE=auto "$arm" possible

# A share of the machines, the same ones each time; a larger one has those of a smaller one.
cpu GenuineIntel "bts"
export BTSREC_MACHINE_ID=$work/machine-id
echo 4f0b >"$BTSREC_MACHINE_ID"
place=$(($(cksum <"$BTSREC_MACHINE_ID" | cut -d' ' -f1) % 100))
expect 0 "" env ARM_SHARE=100 "$arm" possible
expect 0 "" env ARM_SHARE=$((place + 1)) "$arm" possible
expect 1 "ARM_SHARE=$place does not have this machine" env ARM_SHARE=$place "$arm" possible
expect 1 "ARM_SHARE=0 does not" env ARM_SHARE=0 "$arm" possible
for bad in x -1 1.5 101 110 200 1000; do
	expect 1 "ARM_SHARE=$bad is no number" env ARM_SHARE=$bad "$arm" possible
done
for id in $(seq 400); do
	echo "$id" >"$BTSREC_MACHINE_ID"
	ARM_SHARE=25 "$arm" chosen >/dev/null && echo "$id"
done >"$work/chosen"
nr_chosen=$(wc -l <"$work/chosen")
if [ "$nr_chosen" -le 60 ] || [ "$nr_chosen" -ge 140 ]; then
	fault "25 of 100 are $nr_chosen of 400"
fi
rm "$BTSREC_MACHINE_ID"
expect 1 "does not say which machine" env ARM_SHARE=50 "$arm" possible
expect 0 "" "$arm" possible

# The module is loaded with what is set, and with nothing that is not.
stub modprobe "echo \"\$*\" >'$work/modprobe'; printf '$armed' >'$work/device'"
stub dmesg "printf '[    1.0] btsrec: Not loaded: no BTS here; do this.\n[    2.0] other: text\n'"
expect 0 "Recording on 2 CPUs" env RING_BYTES=64K,0-1:1M SOURCE=lbr OOPS=rearm CPUS=0-1 TASKS=comm:a MAX_RATE=5 \
	FREEZE_ON=warn ON_TRIGGER=copy "$arm" start
grep -qx "btsrec ring_bytes=64K,0-1:1M source=lbr oops=rearm cpus=0-1 tasks=comm:a max_rate=5 freeze_on=warn on_trigger=copy" "$work/modprobe" ||
	fault "modprobe got '$(cat "$work/modprobe")'"
rm "$work/modprobe"
expect 0 "Recording on 2 CPUs" "$arm" start
[ ! -e "$work/modprobe" ] || fault "a loaded module was loaded again"
stub rmmod "echo \"\$*\" >'$work/rmmod'"
expect 0 "" "$arm" stop
grep -qx btsrec "$work/rmmod" || fault "not unloaded"
rm "$work/device"
expect 0 "" "$arm" stop

# What a fault left is kept until somebody arms by hand, also if it came with the module.
printf 'state: frozen\ncpu0: frozen annotations=1\n' >"$work/device"
cp "$work/device" "$work/frozen"
expect 1 "Not recording: .*btsrec snapshot FILE.*echo arm >$work/device" "$arm" start
cmp -s "$work/device" "$work/frozen" || fault "a frozen recorder was sent '$(cat "$work/device")'"
rm "$work/device"
stub modprobe "cp '$work/frozen' '$work/device'"
expect 1 "Not recording: .*btsrec snapshot" "$arm" start
printf 'state: disarmed\n' >"$work/device"
expect 1 "Not recording: neither" "$arm" start
grep -qx arm "$work/device" || fault "a recorder that was disarmed was not armed"
rm "$work/device"

# The module's sentence is what the user reads, if it is of this attempt; else modprobe's.
echo '[    0.5] btsrec: Loaded and armed: of an earlier attempt.' >"$work/log"
stub dmesg "cat '$work/log'; echo '[    9.0] other: text'"
stub modprobe "echo 'modprobe: FATAL: Module btsrec not found.' >&2; exit 1"
expect 1 "Not recording: modprobe: FATAL: Module btsrec not found.$" "$arm" start
stub modprobe "exit 1"
expect 1 "Not recording: neither modprobe nor the module says why" "$arm" start
stub modprobe "echo '[    3.0] btsrec: Not loaded: no BTS here; do this.' >>'$work/log'
echo 'modprobe: ERROR' >&2; exit 1"
expect 1 "Not recording: Not loaded: no BTS here; do this." "$arm" start
stub modprobe "echo \"[    4.\$\$] btsrec: Not loaded: no BTS here; do this.\" >>'$work/log'; exit 1"
stub systemd-notify "echo \"\$*\" >'$work/status'"
expect 1 "Not recording" env NOTIFY_SOCKET=x "$arm" start
grep -q "no BTS here" "$work/status" || fault "no status text"
expect 2 "usage" "$arm"
expect 2 "usage" "$arm" dance

# What FREEZE_ON names: the history goes to the collector, and the recorder is armed again.  A day
# has so many of them; then the list is put aside.
watch=$(dirname "$arm")/watch
export BTSREC_STATE=$work/state
mkdir "$BTSREC_STATE"
frozen='state: frozen\nfreeze_trigger: ksys_sync\nfreeze_on: function:ksys_sync\n'
expect 2 "usage" "$watch"
printf '%b' "$frozen" >"$work/device"
expect 1 "" "$watch" wanted
expect 1 "" env FREEZE_ON=none "$watch" wanted
expect 0 "" env FREEZE_ON=warn "$watch" wanted
# A device that takes commands into a file: three freezes, then an end of the wait.
cat >"$work/bin/device-sh" <<-'END'
	sed "s#>\"\$device\"#| \"$BTSREC_TELL\"#" "$1" >"$1.told"
END
stub tell "read -r line; echo \"\$line\" >>'$work/told'
[ \"\$line\" != wait ] || [ \"\$(grep -c '^wait' '$work/told')\" -le 3 ]"
cp "$watch" "$work/watch"
BTSREC_TELL=$work/bin/tell sh "$work/bin/device-sh" "$work/watch"
stub btsrec "[ \"\$1\" = snapshot ] && for out; do :; done && echo a history >\"\$out\""
stub sleep "echo \"sleep \$1\" >>'$work/told'"
expect 1 "The history of a freeze (ksys_sync) is in $work/state/captures.*" \
	env FREEZE_ON=function:ksys_sync FREEZE_REPORTS_PER_DAY=2 sh "$work/watch.told" run
[ "$(find "$BTSREC_STATE/captures" -name '*.bts' | wc -l)" = 2 ] ||
	fault "not two histories: $(ls "$BTSREC_STATE/captures")"
said=$(sed 's/^sleep 86[0-9]*$/sleep a day/' "$work/told")
[ "$said" = "wait
arm
wait
arm
wait
freeze_on none
arm
sleep a day
freeze_on function:ksys_sync
wait" ] || fault "the watch wrote: $said"
# Yesterday's do not count, nor those of a clock that was set back, and a failure is a sentence.
{
	echo "$(($(date +%s) - 90000))"
	seq "$(($(date +%s) + 900000000))" "$(($(date +%s) + 900000020))"
} >"$BTSREC_STATE/freezes"
stub btsrec "exit 4"
: >"$work/told"
expect 1 "No report of a freeze (ksys_sync): the history could not be written" \
	env FREEZE_ON=warn FREEZE_REPORTS_PER_DAY=9 sh "$work/watch.told" run
# A copy is given back, and nothing armed; the recorder has gone on.
printf 'state: armed\nfreeze_trigger: \ncopy_pa: 0x1000\ncopy_trigger: ksys_sync\nfreeze_on: warn\n' \
	>"$work/device"
stub btsrec "[ \"\$1\" = snapshot ] && for out; do :; done && echo a history >\"\$out\""
rm "$BTSREC_STATE/freezes"
: >"$work/told"
expect 1 "The history of a freeze (ksys_sync) is in $work/state/captures.*" \
	env FREEZE_ON=warn FREEZE_REPORTS_PER_DAY=2 sh "$work/watch.told" run
said=$(sed 's/^sleep 86[0-9]*$/sleep a day/' "$work/told")
[ "$said" = "wait
taken
wait
taken
wait
freeze_on none
taken
sleep a day
freeze_on warn
wait" ] || fault "of copies the watch wrote: $said"
rm "$work/bin/btsrec" "$work/bin/sleep" "$work/device"

# In the capture kernel nothing fails, and the file is there or not.
mkimage "$work/vmcore" <<-END
	root ring=200
	cpu 0
	arm tsc=1 now=7/7/0x100000/init
	fill 100 0xffffffff81000000 0xffffffff81100000 0x10
	freeze reason=panic tsc=9
END
expect 0 "the branch history is in $work/new/[^ ]*\.bts: [1-9][0-9]* bytes, histories of 1 CPUs$" \
	"$capture" "$work/vmcore" "$work/new"
btsrec check "$work/new/"*.bts >/dev/null || fault "the captured file is not right"
(cd "$work" && expect 0 "the branch history is in new7/" "$capture" vmcore new7)
expect 0 "No such file" "$capture" "$work/nothing" "$work/new2"
# A file without any history is no silence.
mkimage "$work/empty" <<-END
	root ring=200
	cpu 0
	arm tsc=1 now=7/7/0x100000/init
	freeze reason=panic tsc=9
	hole cpu0
END
expect 0 "the branch history is in .* bytes, histories of 0 CPUs; loss CPU 0: CPU page: not in the dump$" \
	"$capture" "$work/empty" "$work/new8"
# A clock that begins anew with each boot: the history of the crash before is not collected yet.
stub date "echo 19700101T000009Z"
for _ in 1 2 3; do
	expect 0 "the branch history is in" "$capture" "$work/vmcore" "$work/new5"
done
rm "$work/bin/date"
[ "$(find "$work/new5" -name '*.bts' | wc -l)" = 3 ] || fault "captured over each other: $(ls "$work/new5")"
: >"$work/not-a-folder"
expect 0 "no branch history was saved: mkdir: .*not-a-folder" "$capture" "$work/vmcore" "$work/not-a-folder"
expect 0 "" env CAPTURE=no "$capture" "$work/vmcore" "$work/new3"
[ ! -e "$work/new3" ] || fault "captured although CAPTURE=no"
for bad in Yes "no # for now" false; do
	expect 0 "CAPTURE=$bad is neither yes nor no: yes is taken" \
		env CAPTURE="$bad" "$capture" "$work/vmcore" "$work/new9"
done
[ "$(find "$work/new9" -name '*.bts' | wc -l)" = 3 ] || fault "not captured: CAPTURE is no clear no"
stub timeout "echo \"\$*\" >>'$work/timeouts'"
for bad in 0 00 -1 1m 99999999999999999999; do
	expect 0 "CAPTURE_TIMEOUT_S=$bad is no number of seconds from 1 to 9999999: 120 are taken" \
		env CAPTURE_TIMEOUT_S=$bad "$capture" "$work/vmcore" "$work/new10"
done
grep -qv "^-s KILL 120 btsrec" "$work/timeouts" && fault "no limit: $(cat "$work/timeouts")"
rm "$work/bin/timeout"
stub btsrec "sleep 60"
expect 0 "gave up after 1 s" env CAPTURE_TIMEOUT_S=1 "$capture" "$work/vmcore" "$work/new4"
# What was written until then stays for the collector, although a request to end removes it.
# shellcheck disable=SC2016 # the stub's own
stub btsrec 'for half; do :; done
half=$half.Ab12Cd
trap "rm -f $half; exit 1" HUP INT QUIT TERM
: >"$half"
sleep 60 &
wait'
expect 0 "gave up after 1 s; .* in $work/new6" env CAPTURE_TIMEOUT_S=1 "$capture" "$work/vmcore" "$work/new6"
[ -n "$(find "$work/new6" -name '*.bts.??????')" ] || fault "the half file is gone"
stub btsrec "exit 7"
expect 0 "no branch history was saved: status 7" "$capture" "$work/vmcore" "$work/new4"

# For kdump-utils: the settings of the machine that crashed count, if a shell can read them.
for hook in pre post; do
	sed "s#/sysroot#$work/sysroot#; s#/usr/libexec/btsrec/capture#$work/bin/capture#
		s#/run/btsrec#$work/run#; s#/lib/kdump-lib-initramfs.sh#$work/kdump-lib#" \
		"$(dirname "$capture")/kdump-utils/$hook.d-btsrec" >"$work/$hook.d"
	chmod +x "$work/$hook.d"
done
# As the functions of kdump-utils: a file is its kdump.conf.
cat >"$work/kdump-lib" <<'END'
kdump_read_conf() { cat "$work/kdump.conf"; }
kdump_get_conf_val() { sed -n "s/^$1 //p" "$work/kdump.conf"; }
get_save_path() { found=$(kdump_get_conf_val path); echo "${found:-/var/crash}"; }
is_raw_dump_target() { [ -n "$(kdump_get_conf_val raw)" ]; }
is_ssh_dump_target() { [ -n "$(kdump_get_conf_val ssh)" ]; }
is_mounted() { true; }
get_mount_info() { echo ro; }
get_mntpoint_from_target() { echo "$work/disk"; }
get_dracut_args_target() { :; }
END
export work
mkdir -p "$work/sysroot/etc" "$work/sysroot/var/crash" "$work/disk/dumps"
: >"$work/kdump.conf"
stub mount "exit 0"
stub capture "echo \"\${CAPTURE-unset} \${CAPTURE_TIMEOUT_S-unset} \${NO_USER-unset} \${NO_PATHS-unset} \${NO_LOG-unset} \$*\""
expect 0 "^unset unset unset unset unset /proc/vmcore $work/sysroot/var/lib/btsrec/captures$" "$work/pre.d"
printf 'CAPTURE="no"\nCAPTURE_TIMEOUT_S=9\nNO_USER=yes\nNO_LOG=yes\nDUMP_DIRS="/a /b"\n' >"$work/sysroot/etc/btsrec.conf"
expect 0 "^no 9 yes unset yes /proc/vmcore" "$work/pre.d"
# For systemd that is one folder and another; here a command that there is not.
printf 'CAPTURE_TIMEOUT_S=9\nNO_USER=yes\nDUMP_DIRS=/a /b\n' >"$work/sysroot/etc/btsrec.conf"
expect 0 "unset 9 yes unset unset /proc/vmcore" "$work/pre.d"
printf 'CAPTURE="no\n' >"$work/sysroot/etc/btsrec.conf"
expect 0 "^unset unset unset unset unset /proc/vmcore" "$work/pre.d"
expect 0 "" "$work/post.d" 0
# What was captured is beside the dump of this crash; the collector's folder keeps it.
# shellcheck disable=SC2016 # the stub's own
stub capture 'mkdir -p "$2" && echo new >"$2/2.bts"'
mkdir -p "$work/sysroot/var/lib/btsrec/captures" "$work/sysroot/var/crash/old"
: >"$work/sysroot/var/crash/old/vmcore"
echo old >"$work/sysroot/var/lib/btsrec/captures/1.bts"
"$work/pre.d"
mkdir "$work/sysroot/var/crash/now" && : >"$work/sysroot/var/crash/now/vmcore-incomplete"
expect 0 "the branch history is in $work/sysroot/var/crash/now/vmcore.bts" "$work/post.d" 1
grep -qx new "$work/sysroot/var/crash/now/vmcore.bts" || fault "not the file of this crash"
[ ! -e "$work/sysroot/var/crash/old/vmcore.bts" ] || fault "beside the dump of another crash"
[ -e "$work/sysroot/var/lib/btsrec/captures/2.bts" ] || fault "the collector does not find it"
# Of another disk nothing is left but what is beside the dump.
printf 'path dumps\next4 /dev/sdb1\n' >"$work/kdump.conf"
"$work/pre.d"
mkdir "$work/disk/dumps/now" && : >"$work/disk/dumps/now/vmcore"
expect 0 "is in $work/disk/dumps/now/vmcore.bts" "$work/post.d" 0
[ "$(find "$work/disk" -type f | wc -l)" = 2 ] || fault "left over: $(find "$work/disk")"
# The next dump is none of a crash that has no small file.
stub capture "exit 0"
"$work/pre.d"
mkdir "$work/disk/dumps/next" && : >"$work/disk/dumps/next/vmcore"
expect 0 "^$" "$work/post.d" 0
echo "ssh root@server" >"$work/kdump.conf"
expect 0 "no small file: the dump goes to no file system" "$work/pre.d"
export -n work

# The initramfs is made whatever the settings look like: kernels could not be installed else.
sed "s#/etc/btsrec.conf#$work/conf#; s#/usr/share/initramfs-tools/hook-functions#$work/hook-functions#" \
	"$(dirname "$capture")/initramfs/hook" >"$work/hook"
chmod +x "$work/hook"
echo 'manual_add_modules() { echo "adds $*"; }' >"$work/hook-functions"
printf 'INITRAMFS=yes\nRING_BYTES="64K"\n' >"$work/conf"
expect 0 "adds btsrec" env DESTDIR="$work/initramfs" "$work/hook"
grep -qx "options btsrec ring_bytes=64K" "$work/initramfs/etc/modprobe.d/btsrec.conf" ||
	fault "the initramfs has other settings"
for bad in Yes true 'yes,no'; do
	echo "INITRAMFS=$bad" >"$work/conf"
	expect 0 "W: btsrec: INITRAMFS=$bad of $work/conf is neither yes nor no: no is taken" \
		env DESTDIR="$work/initramfs2" "$work/hook"
done
printf 'INITRAMFS=yes\nRING_BYTES="64K\n' >"$work/conf"
expect 0 "not armed in the initramfs: correct the line" env DESTDIR="$work/initramfs2" "$work/hook"
[ ! -e "$work/initramfs2" ] || fault "armed in the initramfs with half of the settings"

[ "$faults" = 0 ] && echo "all is as it should be"
[ "$faults" = 0 ]

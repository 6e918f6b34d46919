# SPDX-License-Identifier: GPL-2.0-or-later
"""The module's control files: no user of them can break it, and no other may use them.

Parameters beyond every boundary are refused with a sentence. guest/fuzzdev.c writes random
and nearly right commands to /dev/btsrec from three processes at once, reads, seeks and asks for
what is not there: each answer must be what the grammar says, and afterwards the recorder
must still record, its ring be valid and marks of random bytes be printed escaped. A user
without privileges opens nothing, and finds no address of the kernel in what the module shows.

"btsrec bench-overhead" moves the recorder by the same device: it measures the given work, and
leaves the recorder as it was, also when a signal ends it. Its times mean nothing here.

On a kernel that is locked down after the module was loaded, arming goes on; the kernel's
memory, and so "btsrec --live", is closed at "confidentiality"; a module without a signature does
not load.
"""

import json
import re
from statistics import median

import dump
import programs
import vm
from errors import Failure

SUMMARY = "control files fuzzed; users, locked-down kernels; bench-overhead"

REFUSED = (
    "ring_bytes=0", "ring_bytes=767", "ring_bytes=129M", "ring_bytes=-1", "ring_bytes=x",
    "ring_bytes=", "ring_bytes=1M1", "ring_bytes=1E",
    # 2^64 and 1 MiB; 2^44 and 1 MiB in units of it.
    "ring_bytes=18446744073710600192", "ring_bytes=17592186044417M",
    "ring_bytes=1M,8000:1M", "ring_bytes=1M,0-1", "ring_bytes=0-1", "ring_bytes=1M,1-0:1M",
    "mode=", "mode=ALL", "mode=kernel,user", f"mode={'a' * 300}", "pti=", "oops=never",
    "tasks=", "tasks=x", "tasks=process:-1", "tasks=comm:", "tasks=cgroup:/none",
    "max_rate=-1", "max_rate=999", "max_rate=x", "max_rate=100000001",
    "cpus=", "cpus=x", "cpus=1-0", "cpus=8000",
    "console_records=-1", "console_records=4294967296", "arm=2",
)
ACCEPTED = ("tasks=all", "tasks=process:1,comm:x,cgroup:/", "max_rate=1000", "cpus=all", "cpus=0-1",
            "cpus=1", "ring_bytes=768", "ring_bytes=0x300", "ring_bytes=1k",
            "ring_bytes=1M,0-1:2M,1:768", "ring_bytes=0:768",
            "console_records=4294967295")

SCRIPT = """
device=/dev/btsrec
load() { insmod /modules/btsrec.ko "$@" 2>/tmp/insmod; }

while read -r parameter; do
	dmesg -c >/dev/null
	load arm=0 "$parameter" && fail "loads with $parameter"
	dmesg | grep -Eq "btsrec: (Not loaded: .{30}|.* invalid for parameter)" ||
		fail "$parameter: no sentence: $(dmesg)"
done </refused
while read -r parameter; do
	load arm=0 "$parameter" || fail "does not load with $parameter: $(dmesg | tail -n 2)"
	rmmod btsrec || fail "$parameter: does not unload"
done </accepted

load || fail "does not load: $(cat /tmp/insmod)"
[ "$(stat -c '%%a %%u:%%g' $device)" = '600 0:0' ] || fail "$(ls -l $device)"
for file in /sys/module/btsrec/parameters/*; do
	[ "$(stat -c %%a $file)" = 444 ] || fail "$(ls -l $file)"
	echo 1 2>/dev/null >$file && fail "root can write to $file"
done

/bin/fuzzdev %d %d || fail "fuzzdev: see above"
[ "$(sed -n 's/^held: //p' $device)" = 0 ] || fail "held by nobody"
echo arm >$device || fail "does not arm any more"
grep -c '^cpu[0-9]*: armed' $device | grep -qx "$(nproc)" || fail "$(cat $device)"
echo disarm >$device

mkdir -p /etc
echo 'somebody:x:1000:1000::/:/bin/sh' >/etc/passwd
chmod 755 /tmp
as_user() { su somebody -c "$1"; }
/bin/fuzzdev denied 13 || fail "fuzzdev: see above"
chmod 666 $device
/bin/fuzzdev denied 1 || fail "fuzzdev: see above"
chmod 600 $device
echo 0 >/proc/sys/kernel/dmesg_restrict
as_user 'dmesg | grep btsrec' >/tmp/seen || fail "a user sees no kernel log: too easy"
as_user 'find /sys/module/btsrec/ /sys/class/misc/btsrec/ -type f | xargs grep -H "" 2>/dev/null
	grep btsrec /proc/modules /proc/misc /proc/devices
	grep "\\[btsrec\\]" /proc/kallsyms' >>/tmp/seen
send /tmp/seen

echo arm >$device
/bin/fuzzdev marks %d || fail "fuzzdev: see above"
ask dump

btsrec bench-overhead -- true 2>/tmp/refused && fail "measures instead of keeping a history"
grep -q 'keeps the history' /tmp/refused || fail "frozen, it says: $(cat /tmp/refused)"
echo arm >$device
as_user 'btsrec bench-overhead' 2>/tmp/refused && fail "anybody may measure"
grep -q 'be root' /tmp/refused || fail "to a user it says: $(cat /tmp/refused)"
btsrec bench-overhead --pairs 2 --format jsonl -- true >/tmp/bench || fail "bench-overhead: $?"
send /tmp/bench
btsrec bench-overhead --pairs 1 --work switches || fail "bench-overhead: $?"
grep -q '^state: armed' $device || fail "not armed as before: $(cat $device)"
btsrec bench-overhead -- sleep 1000 &
usleep 500000
kill $!
wait $!
[ $? = 143 ] || fail "not ended by a signal"
grep -q '^state: armed' $device || fail "not armed after a signal: $(cat $device)"
mount -t securityfs security /sys/kernel/security
lockdown=/sys/kernel/security/lockdown
[ -e $lockdown ] || fail "the kernel has no lockdown"
for level in integrity confidentiality; do
	echo $level >$lockdown || fail "no lockdown for $level"
	grep -q "\\[$level\\]" $lockdown || fail "not locked: $(cat $lockdown)"
	echo disarm >$device
	echo arm >$device || fail "$level: does not arm: $(dmesg | tail -n 3)"
	grep -c '^cpu[0-9]*: armed' $device | grep -qx "$(nproc)" || fail "$(cat $device)"
	echo mark $level >$device || fail "$level: no mark"
	btsrec info --no-names --live >/tmp/live-$level 2>&1
	echo "status $?" >>/tmp/live-$level
	send /tmp/live-$level
done
rmmod btsrec || fail "does not unload when locked down"
load && fail "an unsigned module loads on a kernel that is locked down"
grep -q "not permitted" /tmp/insmod || fail "insmod says: $(cat /tmp/insmod)"
finish 0
"""

ADDRESS = re.compile(r"\bf{4}[0-9a-f]{12}\b")
# Of a module's symbols in /proc/kallsyms.
SYMBOL = re.compile(r"^([0-9a-f]{16}) \w (\S+)\t\[btsrec\]$", re.MULTILINE)
CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f\x80-\x9f]")
MIN_SYMBOLS = 20
MIN_MARKS = 20


def add_options(parser):
    parser.add_argument("--fuzz-seconds", type=int, default=4,
                        help="how long to fuzz the device (4)")
    parser.add_argument("--seed", type=int, default=1, help="of the fuzzer (1)")


def _check_seen(text: str):
    """What a user could read."""
    symbols = SYMBOL.findall(text)
    if len(symbols) < MIN_SYMBOLS or "parameters/ring_bytes:1M" not in text:
        raise Failure(f"a user saw next to nothing: too easy\n{text}")
    shown = [name for address, name in symbols if int(address, 16)]
    found = ADDRESS.search(text)
    if shown or found:
        raise Failure(f"a user sees addresses of the kernel: {shown or found.group(0)}")


def _check_dump(context, path):
    print(dump.btsrec(context, "check", path), end="")
    marks = [event for events in dump.events(context, path).values() for event in events
             if event["kind"] == "mark" and event["text"].startswith(",")]
    text = dump.btsrec(context, "show", path)
    found = CONTROL.search(text)
    if len(marks) < MIN_MARKS:
        raise Failure(f"{len(marks)} marks: too few to judge")
    if found:
        raise Failure(f"a control character on the terminal: {found.group(0)!r}")
    context.say(f"{len(marks)} marks of random bytes are in the history, none unescaped")


def _check_live(machine):
    for level, status, says in (("integrity", "0", r"CPU 1\b|cpu 1\b|cpu1\b|^1\b"),
                                ("confidentiality", "4", "locked-down kernel")):
        text = machine.files[f"live-{level}"].decode(errors="replace")
        if not text.endswith(f"status {status}\n") or not re.search(says, text, re.MULTILINE):
            raise Failure(f"{level}: btsrec info --live says: {text}")


def _check_bench(machine):
    head, *results = map(json.loads, machine.files["bench"].decode().splitlines())
    found = [(len(result["disarmed_s"]), len(result["armed_s"])) for result in results]
    if head["kind"] != "machine" or head["ring_bytes"] != 1048560 or found != [(2, 2)]:
        raise Failure(f"bench-overhead says: {head}, {results}")
    for result in results:
        pairs = list(zip(result["disarmed_s"], result["armed_s"]))
        expected = {"disarmed_median_s": median(a for a, _ in pairs),
                    "armed_median_s": median(b for _, b in pairs),
                    "ratio": median(b / a for a, b in pairs),
                    "ratio_least": min(b / a for a, b in pairs),
                    "ratio_most": max(b / a for a, b in pairs)}
        if any(abs(result[name] / value - 1) > 0.01 for name, value in expected.items()):
            raise Failure(f"bench-overhead makes {result} of it, not {expected}")


def run(context):
    options = context.options
    path = context.out / "dump"

    files = [("modules/btsrec.ko", context.recorder.read_bytes()),
             ("bin/fuzzdev", context.guest_program("fuzzdev.c")),
             ("refused", "".join(f"{line}\n" for line in REFUSED).encode()),
             ("accepted", "".join(f"{line}\n" for line in ACCEPTED).encode()),
             *programs.of_host(context.btsrec, "bin/btsrec")]
    with context.boot(SCRIPT % (options.fuzz_seconds, options.seed, options.seed),
                      [context.os.module("qemu_fw_cfg")], files=files,
                      answers={"dump": vm.dumps_to(path)}) as machine:
        machine.expect_finish(context.seconds(300))
        machine.quit()
    _check_seen(machine.files["seen"].decode(errors="replace"))
    _check_dump(context, path)
    _check_live(machine)
    _check_bench(machine)
    found = re.findall(r"fuzzdev: (\d+) actions", machine.console())
    context.say(f"{len(REFUSED)} parameters refused; {' + '.join(found)} actions on the device")

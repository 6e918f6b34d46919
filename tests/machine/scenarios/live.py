# SPDX-License-Identifier: GPL-2.0-or-later
"""The running recorder, read by btsrec in the guest itself, shows what the CPUs recorded.

Under load the guest lists its own history: on each CPU a whole ring of the model's log without
a hole. The recorder goes on, is held and released by hand, and frozen; a snapshot is again what the
CPUs recorded and shows the hold, as a listing did where other code switched BTS on after a hold.
After a freeze the next switch of threads takes it away. The snapshot answers on the host, code
included.

At last it is disarmed, which takes its hooks out of the kernel's code, and read once more: what ran
at those hooks is printed as that, and nothing that the kernel did as impossible.
"""

import json

import dump
import programs
import truth
import workload
from errors import Failure

SUMMARY = "the running recorder, read by btsrec in the guest, shows the truth"

RING = "128K"
NR_SLOTS = (128 << 10) // truth.RECORD_SLOT_BYTES
# By which a listing is found in the log.
NEWEST = 64
# Where the kernel itself is; modules and what the kernel makes are above.
KERNEL_IMAGE = range(0xffffffff80000000, 0xffffffffc0000000)
# What runs from the reading to the end of the listing must not push it out of the log.
LOG_RECORDS = 1 << 24

SCRIPT = workload.SHELL + """
insmod /modules/btsrec.ko pti=map ring_bytes=%s || fail "the recorder does not load"
insmod /modules/btsmsr.ko || fail "btsmsr does not load"
# The gap of the hold is overwritten if much runs between its end and the freeze.
hold_shown() {
	for try in 1 2 3 4 5; do
		exec 4>/dev/btsrec
		echo hold >&4
		[ -z "$1" ] || echo 0 >/sys/module/btsmsr/parameters/on
		exec 4>&-; echo freeze >/dev/btsrec
		btsrec show --no-names --live --cpu 0 --format jsonl | grep -q '"reason":"snapshot"' &&
			return
		echo arm >/dev/btsrec || fail "does not arm again"
	done
	return 1
}
hold_shown "BTS on" || fail "no gap where somebody switched BTS on"
# The machine goes on after that freeze: the next switch of threads takes BTS away again.
echo 0 >/sys/module/btsmsr/parameters/on
sleep 1
grep "^cpu=0 debugctl=[0-9a-f]*[4-9a-f][0-9a-f] " /sys/module/btsmsr/parameters/state &&
	fail "BTS stays on after a freeze"
echo arm >/dev/btsrec || fail "does not arm again"
start_work
hurry
sleep 1
btsrec show --no-names --live --format jsonl >/tmp/live || fail "btsrec show --live: $?"
[ "$(sed -n 's/^held: //p' /dev/btsrec)" = 0 ] || fail "still held"
[ "$(sed -n 's/^state: //p' /dev/btsrec)" = armed ] || fail "not armed any more"
# What runs after the hold pushes its gap out of the ring.
for job in $(jobs -p); do kill $job; done
sleep 1
exec 4>/dev/btsrec
echo hold >&4 || fail "cannot hold"
echo hold >/dev/btsrec 2>/dev/null && fail "two may hold"
btsrec info --live 2>/tmp/busy && fail "read while somebody else holds"
grep -q "somebody else" /tmp/busy || fail "held by another, it says: $(cat /tmp/busy)"
exec 4>&-
hold_shown
[ "$(sed -n 's/^held: //p' /dev/btsrec)" = 0 ] || fail "held after the end of the file"
btsrec snapshot /tmp/small || fail "btsrec snapshot: $?"
tar -c -f /dev/nvme0n1 -C /tmp live small && sync || fail "the disk"
mkdir -p /etc
echo 'somebody:x:1000:1000::/:/bin/sh' >/etc/passwd
chmod 755 /tmp
su somebody -c 'btsrec info --live' 2>/tmp/user && fail "anybody may read"
grep -q "be root" /tmp/user || fail "to a user it says: $(cat /tmp/user)"
# The newest switch of a CPU is overwritten if much runs after it.
for try in 1 2 3 4 5; do
	echo arm >/dev/btsrec && echo disarm >/dev/btsrec || fail "cannot disarm"
	btsrec info --no-names --live >/dev/null || fail "disarmed: btsrec info: $?"
	btsrec prove --no-names --live --format jsonl >/tmp/try
	[ $? -le 1 ] || fail "disarmed: btsrec prove"
	cat /tmp/try >>/tmp/disarmed
	grep -q '"patched":0,' /tmp/try || break
done
send /tmp/disarmed
finish 0
""" % RING


def add_options(parser):
    parser.add_argument("--pti", action="store_true", help="with page-table isolation")


def _by_cpu(text: str) -> dict[int, list[dict]]:
    found: dict[int, list[dict]] = {}
    for line in text.splitlines():
        event = json.loads(line)
        if event["kind"] != "fault":
            found.setdefault(event["cpu"], []).append(event)
    return found


def _age_of(log: truth.Log, branches: list[truth.Branch]) -> int:
    """How many records of LOG are newer than the last of BRANCHES."""
    newest = branches[-NEWEST:][::-1]
    for age in log.ages_of(newest[0]):
        if all(log.branch(age + i) == branch for i, branch in enumerate(newest)):
            return age
    raise Failure(f"CPU {log.cpu} never recorded the newest {len(newest)} branches of the listing")


def _check(what: str, logs, histories):
    for cpu, log in logs.items():
        events = histories.get(cpu, [])
        if not truth.wrapped(events):
            raise Failure(f"{what}: the ring of CPU {cpu} has not come round: too easy")
        branches = truth.branches_of_events(events)
        log.forget_newest(_age_of(log, branches))
        truth.compare(f"{what}, CPU {cpu}", branches, log, log.in_ring(NR_SLOTS, events))


def _logs(machine) -> dict[int, truth.Log]:
    return {cpu: truth.Log(machine.model_dir / f"cpu{cpu}.log")
            for cpu in range(machine.config.cpus)}


def _check_gaps(histories):
    """The reading before the end left a gap, and nothing is lost in front of it."""
    reasons = [event["reason"] for events in histories.values() for event in events
               if event["kind"] == "gap" and event["gap"] == "paused"]
    if "snapshot" not in reasons:
        raise Failure(f"no gap is that of the hold, only {reasons}")


def _check_disarmed(text: str):
    """At a switch of each CPU at least the probe of sched_switch is gone."""
    patched: dict[int, int] = {}
    for proof in map(json.loads, text.splitlines()):
        broken = proof.get("first_broken")
        # Pages of processes that are gone, and of trampolines, may have other code by now.
        if broken and int(broken["at"], 16) in KERNEL_IMAGE:
            raise Failure(f"disarmed: {proof}")
        patched[proof["cpu"]] = patched.get(proof["cpu"], 0) + proof["patched"]
    if not patched or not all(patched.values()):
        raise Failure(f"disarmed: branches at hooks that are gone, by CPU: {patched}")


def run(context):
    small, listing = context.out / "small", context.out / "listing"
    files = [("modules/btsrec.ko", context.recorder.read_bytes()),
             ("modules/btsmsr.ko", context.guest_module("btsmsr").read_bytes()),
             *programs.of_host(context.btsrec, "bin/btsrec")]
    with context.boot(SCRIPT, [context.os.module("qemu_fw_cfg")], files=files, disk_mib=64,
                      append="pti=on" if context.options.pti else "nopti",
                      plugin_args={"records": LOG_RECORDS}) as machine:
        machine.expect_finish(context.seconds(120))
        machine.quit()
    machine.disk_file("small", small)
    machine.disk_file("live", listing)
    _check_disarmed(machine.files["disarmed"].decode())
    _check("live", _logs(machine), _by_cpu(listing.read_text()))
    kept = dump.events(context, small)
    _check("snapshot", _logs(machine), kept)
    _check_gaps(kept)
    proof = dump.btsrec(context, "prove", small, ok=(0, 1))
    context.say("live listing and snapshot are what the CPUs recorded; the snapshot proves:")
    print(proof, end="")
    for path in (machine.disk, *machine.model_dir.glob("cpu*.log")):
        path.unlink()

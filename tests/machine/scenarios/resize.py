# SPDX-License-Identifier: GPL-2.0-or-later
"""ring_bytes=: each CPU has a ring of its own size, which changes while the module stays loaded.

A list that says nothing is refused with a sentence and changes nothing; so is any while the rings
are kept for somebody: frozen, held, or copied.  Under load the sizes change again and again while
all CPUs record.  A CPU that is offline or left out, and a recorder that is disarmed, get theirs
when they record again.  With on_trigger=copy the memory for copies changes with the rings.  All of
it is done without page-table isolation and with it.  What a want of memory does is shown by
"alloc-failures".

Then the guest panics.  The history of each CPU equals the model's log, record for record, with as
many records as its ring has room for; "crash> bts" prints the same.  Every view takes it, from the
dump and from a small file.
"""

import dump
import truth
import workload
from errors import Failure

SUMMARY = "ring_bytes=: a size for each CPU, changed while armed; histories equal the log"

LOADED, LAST = "64K,1:1M", "0:256K,1:24024"

SCRIPT = workload.SHELL + workload.SAYS + """
cpu1=/sys/devices/system/cpu/cpu1/online
set_sizes() { echo "ring_bytes $1" 2>/dev/null >$device; }
# sized LIST BYTES BYTES: it takes the list, and both CPUs record in such rings.
sized() {
	set_sizes "$1" || fail "$1: $(dmesg | tail -n 2)"
	says "state: armed" "ring_sizes: $1\\$" "cpu0: armed .* ring_bytes=$2\\$" "cpu1: armed .* ring_bytes=$3\\$"
}
sizes() {
	sed -n -e '/^state\|^arms\|^ring_/p' -e '/^cpu[0-9]/s/ annotations=.*ring_bytes=/ ring_bytes=/p' $device
}
# refused LIST WORDS: it does not take the list, says why, and nothing has changed.
refused() {
	sizes >/tmp/before
	dmesg -c >/dev/null
	set_sizes "$1" && fail "takes '$1'"
	[ -z "$1" ] || dmesg | grep -q "btsrec: Not changed: ring_bytes=$1: .*$2" || fail "$1: $(dmesg)"
	sizes | cmp - /tmp/before || fail "refused, '$1' changes something"
}
says "ring_bytes: 65520" "ring_sizes: 64K,1:1M" "cpu0: armed .* ring_bytes=65520" \\
	"cpu1: armed .* ring_bytes=1048560"
refused ""
for list in x 0 767 129M -1 1E 1M1 1M, ,1M 1M,1 1M,1: 1M,0:129M 0:1M:2M 0,1:1M; do
	refused "$list" "a size is 768 bytes to 128M"
done
for list in :1M 1M,1-0:1M 1M,0-1-1:1M 1M,-1:1M 1M,1-:1M 1M,x:1M "1M, 1:1M" all:1M; do
	refused "$list" "before a colon"
done
for list in 1M,2:1M 1M,0-2:1M 1M,8000:1M; do
	refused "$list" "this machine cannot have such a CPU"
done
refused "$(seq -s , 100 164)" "more than 255 characters"

start_work
hurry
round=0
while [ $round -lt %(rounds)d ]; do
	sized 256K,1:64K 262128 65520
	echo "mark round $round" >$device || fail "no mark"
	sized 0:768,1:128K 768 131064
	usleep 30000
	sized 1:3M 1048560 3145728
	usleep 100000
	# The last word is that counts, and a single one is for all.
	sized 0-1:4M,1:2M,64K 65520 65520
	sized 0x10000,0-1:1000,1-1:2M 984 2097144
	round=$((round + 1))
done

exec 4<>$device
echo hold >&4 || fail "cannot hold"
refused 1M "somebody copies the rings"
echo release >&4
exec 4>&-
sized 64K,1:1M 65520 1048560
echo freeze >$device
refused 1M "the recorder is frozen"
echo disarm >$device
set_sizes 128K,1:256K || fail "not while disarmed"
says "ring_sizes: 128K,1:256K" "cpu0: frozen .* ring_bytes=65520" "cpu1: frozen .* ring_bytes=1048560"
echo arm >$device || fail "does not arm"
says "cpu0: armed .* ring_bytes=131064" "cpu1: armed .* ring_bytes=262128"

echo 0 >$cpu1 || fail "CPU 1 stays online"
set_sizes 128K,1:512K || fail "not with a CPU offline"
says "cpu0: armed .* ring_bytes=131064" "cpu1: stopped .* ring_bytes=262128"
for twice in 1 2; do
	echo 1 >$cpu1 || fail "CPU 1 stays offline"
	says "cpu0: armed .* ring_bytes=131064" "cpu1: armed .* ring_bytes=524280"
	[ $twice = 1 ] && echo 0 >$cpu1
done
echo cpus 0 >$device
set_sizes 128K,1:1M || fail "not with a CPU left out"
says "cpu1: stopped .* ring_bytes=524280"
echo cpus all >$device || fail "all are not chosen"
says "cpu0: armed .* ring_bytes=131064" "cpu1: armed .* ring_bytes=1048560"

echo on_trigger copy >$device || fail "no memory for copies"
echo freeze_on request >$device || fail "no freeze_on"
sized 64K,1:512K 65520 524280
for size in 64K,1:512K 1M,0:128K; do
	set_sizes $size || fail "$size, with copies: $(dmesg | tail -n 2)"
	usleep 300000
	echo "freeze of $size" >$device || fail "no trigger"
	echo wait >$device
	says "state: armed" "copy_pa: 0x[1-9a-f]"
	refused 1M "a copy has not been taken"
	ask dump "$size $(sed -n 's/^copy_pa: //p' $device)"
	echo taken >$device || fail "cannot be taken"
done
echo on_trigger freeze >$device || fail "cannot go back to a freeze"
sized %(last)s 262128 24024
dmesg | grep -E 'WARNING: CPU|BUG:|Oops|Call Trace' && fail "the kernel complains"
sleep 1
echo c >/proc/sysrq-trigger
"""

VIEWS = ("info", "summary", "show", "insns", "calls", "functions", "stack", "timeline", "prove",
         "check", "locks")


def add_options(parser):
    parser.add_argument("--rounds", type=int, default=3, help="of changes under load (3)")


class Copies:
    """The dumps that are taken while a copy waits."""

    def __init__(self, context):
        self._context = context
        self.nr = 0

    def check(self, machine, what: str) -> str:
        """The copy has rings of these sizes, and is whole."""
        sizes, root_pa = what.split(" ")
        path = self._context.out / "dump-copy"
        path.unlink(missing_ok=True)
        machine.dump(path, resume=True)
        dump.btsrec(self._context, "check", "--root", root_pa, path)
        _check_sizes(self._context, path, sizes, "--root", root_pa)
        path.unlink()
        self.nr += 1
        return "dumped"


def _check_sizes(context, path, sizes: str, *options):
    rows = dump.btsrec(context, "info", "--format", "tsv", *options, path).splitlines()[1:]
    slots = [int(row.split("\t")[4]) for row in rows]
    wanted = [truth.ring_slots(sizes, cpu) for cpu in range(context.options.cpus)]
    if slots != wanted:
        raise Failure(f"rings of {slots} records, not {wanted}, for {sizes}")


def _check_views(context, path):
    small = context.out / "small"
    small.unlink(missing_ok=True)
    dump.btsrec(context, "extract", path, small)
    for view in VIEWS:
        whole = dump.btsrec(context, view, path)
        if view not in ("info", "stack", "locks") and whole != dump.btsrec(context, view, small):
            raise Failure(f"{view}: the small file is not as the dump")


def _one(context, append: str):
    path, copies = context.out / f"dump-{append}", Copies(context)
    path.unlink(missing_ok=True)
    with context.boot(SCRIPT % {"rounds": context.options.rounds, "last": LAST},
                      context.recorder_modules(f"ring_bytes={LOADED}"), name=append,
                      append=append, answers={"dump": copies.check}) as machine:
        machine.expect_panic(context.seconds(400))
        machine.dump(path)
        machine.quit()
    if copies.nr != 2:
        raise Failure(f"{copies.nr} copies were looked at")
    _check_sizes(context, path, LAST)
    counts = []
    said = truth.said_by_crash(context, path, dump.crash_lacks(context))
    for cpu, events in sorted(dump.events(context, path).items()):
        log = truth.Log(machine.model_dir / f"cpu{cpu}.log")
        if not truth.wrapped(events):
            raise Failure(f"the ring of CPU {cpu} has not come round: that tests no size")
        branches = truth.branches_of_events(events)
        counts.append(truth.compare(f"CPU {cpu}", branches, log,
                                    log.in_ring(truth.ring_slots(LAST, cpu), events)))
        if said is not None and said.get(cpu) != branches:
            raise Failure(f"crash> bts has another history of CPU {cpu} than btsrec")
    _check_views(context, path)
    context.say(f"{append}: rings of {LAST}: records equal by CPU: {', '.join(map(str, counts))}"
                + ("; the same from crash> bts" if said is not None else ""))


def run(context):
    for append in ("nopti", "pti=on"):
        _one(context, append)

# SPDX-License-Identifier: GPL-2.0-or-later
"""Panic under load; the history of each CPU must equal the model's log, record for record.

Checked for "btsrec show --format jsonl" and for "crash> bts show", which is left out of kernels
whose vmlinux was not fetched. Without --ring-bytes each repetition takes the next of a list of
rings, which has odd, tiny and never wrapped ones. Every boot has its own KASLR offset. With --pti
the guest has page-table isolation, so that the model stores the branches of user mode through the
user page tables.
"""

import re
from dataclasses import dataclass

import dump
import truth
import workload
from errors import Failure

SUMMARY = "histories equal the model's log, record for record"

SCRIPT = workload.SHELL + """
start_work
sleep 1
hurry
sed -n 's/^Mitigation: PTI$/pti: on/p' /sys/devices/system/cpu/vulnerabilities/meltdown >/tmp/pti
send /tmp/pti
insmod /modules/btsrec.ko pti=map ring_bytes=%s || fail "the recorder does not load"
cat /dev/btsrec >/tmp/status
send /tmp/status
%s
echo c >/proc/sysrq-trigger
"""


@dataclass
class Ring:
    """@wraps: what must have happened at the end, or else the run tests nothing: all rings have
        wrapped, or one has not. The first CPU records the allocation of the others' rings.
    @late: armed by the device, immediately before the panic, not by loading the module.
    """

    size: str
    wraps: bool = True
    late: bool = False

    def script(self) -> str:
        return SCRIPT % ((f"{self.size} arm=0", "echo arm >/dev/btsrec") if self.late
                         else (self.size, "sleep 1"))


RINGS = [
    Ring("1M"),
    Ring("65537"),  # odd number of bytes
    Ring("768"),  # 32 records, the smallest
    Ring("32M", wraps=False, late=True),
    Ring("24024"),  # 1001 records, not whole pages
    Ring("4096"),
    Ring("3M"),
    Ring("1000"),  # 41 records
    Ring("98328"),  # 4097 records
    Ring("256K"),
    Ring("64K,1:3M"),
    Ring("0:3M,1-1:1000,0:65537"),
]


def add_options(parser):
    parser.add_argument("--repeat", type=int, default=1, help="boots (1); 12 is a full run")
    parser.add_argument("--ring-bytes", metavar="SIZE", help="this ring only")
    parser.add_argument("--first", type=int, default=0, help="ring of the list to begin with (0)")
    parser.add_argument("--pti", action="store_true", help="with page-table isolation")
    parser.add_argument("--no-crash", action="store_true", help="leave out crash")
    parser.add_argument("--keep", action="store_true", help="keep the dumps of runs that pass")


def _status(machine) -> dict:
    text = machine.files.get("status", b"").decode()
    return dict(line.split(": ", 1) for line in text.splitlines() if ": " in line)


def _check_wrapped(histories, ring: Ring):
    wrapped = [truth.wrapped(events) for events in histories.values()]
    if all(wrapped) != ring.wraps:
        raise Failure(f"{sum(wrapped)} of {len(wrapped)} rings of {ring.size} have wrapped: "
                      "this run was to test another state")


def _compare_cpu(cpu, histories, crash_branches, log, nr_slots) -> int:
    events = histories.get(cpu)
    if not events:
        raise Failure(f"CPU {cpu} has no history")
    expected = log.in_ring(nr_slots, events)
    count = truth.compare(f"CPU {cpu}, btsrec", truth.branches_of_events(events), log, expected)
    if crash_branches is not None:
        truth.compare(f"CPU {cpu}, crash", crash_branches.get(cpu, []), log, expected)
    return count


def _check_last_words(context, machine, ring: Ring):
    """What the kernel log says about the recorder at the end."""
    status = _status(machine)
    said = re.search(r"Recording stopped at the fault on CPU \d+; the newest branches of (\d+) "
                     r"CPUs, (\d+) bytes, are in memory, root_pa=(0x\w+)",
                     machine.console())
    slots = [truth.ring_slots(ring.size, cpu) for cpu in range(context.options.cpus)]
    wanted = (str(len(slots)), str(sum(slots) * truth.RECORD_SLOT_BYTES), status["root_pa"])
    if not said or said.groups() != wanted:
        raise Failure(f"the kernel log says {said and said[0]}, not {wanted}")


def _one(context, number: int, ring: Ring) -> str:
    """Boot, panic and compare once; the KASLR offset."""
    options = context.options
    path = context.out / f"dump-{number}"
    path.unlink(missing_ok=True)
    machine = context.boot(ring.script(), [context.os.module("qemu_fw_cfg")],
                           name=f"boot-{number}", append="pti=on" if options.pti else "nopti",
                           files=[("modules/btsrec.ko", context.recorder.read_bytes())])
    with machine:
        machine.expect_panic(context.seconds(120))
        machine.dump(path)
        machine.quit()
    if bool(machine.files["pti"]) != options.pti:
        raise Failure(f"the guest's kernel says of PTI: {machine.files['pti']}")
    _check_last_words(context, machine, ring)
    histories = dump.events(context, path)
    _check_wrapped(histories, ring)
    crash_branches = None
    if not options.no_crash:
        lacks = "" if context.os.vmlinux.is_file() else dump.crash_lacks(context)
        crash_branches = truth.said_by_crash(context, path, lacks)
    counts = [_compare_cpu(cpu, histories, crash_branches,
                           truth.Log(machine.model_dir / f"cpu{cpu}.log"),
                           truth.ring_slots(ring.size, cpu))
              for cpu in range(context.options.cpus)]
    for log in machine.model_dir.glob("cpu*.log"):
        if not context.options.keep:
            log.unlink()
    if not context.options.keep:
        path.unlink()
    offset = re.search(r"Kernel Offset: (\S+)", machine.console())
    context.say(f"{number}: ring {ring.size} ("
                f"{'wrapped' if ring.wraps else 'not wrapped'}), KASLR "
                f"{offset.group(1) if offset else 'none'}: records equal by CPU: "
                f"{', '.join(map(str, counts))}")
    return offset.group(1) if offset else ""


def run(context):
    options = context.options
    rings = [Ring(options.ring_bytes)] if options.ring_bytes else RINGS
    offsets = [_one(context, number, rings[(options.first + number) % len(rings)])
               for number in range(options.repeat)]
    if options.repeat > 3 and len(set(offsets)) < 2:
        raise Failure(f"all {options.repeat} boots had the same KASLR offset")
    context.say(f"{options.repeat} of {options.repeat} boots: every record equal, "
                f"{len(set(offsets))} different KASLR offsets")

# SPDX-License-Identifier: GPL-2.0-or-later
"""The listing of "btsrec insns" equals what the model saw executed, address by address.

The model logs every instruction that is begun while BTS is on. Between two records the
listing must name the same addresses in the same order. Two things are no difference: an
instruction that is interrupted or faults is begun, but listed only when it is done; and a
repeated string instruction is listed once. What the dump does not hold (code of
processes that are gone) the listing must call unknown, and is counted here.

One process is a 32-bit program; most of its instructions mean something else in 64-bit code; it
enters the kernel by INT 0x80 and by the vDSO's SYSENTER, and runs code that it made.
"""

import json
import mmap
import re
import struct
import subprocess
from collections import Counter
from dataclasses import dataclass, field

import dump
import truth
import workload
from errors import Failure

SUMMARY = "the listed instructions are those that ran, and every pair of branches is proven"

SCRIPT = workload.SHELL + """
start_work
/opt/compat &
# Its turn must come within what a ring holds.
renice -n -5 -p $!
sleep 2
echo c >/proc/sysrq-trigger
"""

# In 32-bit code: what 64-bit code has as a prefix, and ways into the kernel.
COMPAT_TEXTS = ("inc", "dec", "int", "sysenter")

MAGIC = 0x534E53494C444D42
HEADER = struct.Struct("<QIIQQ")
HEADER_BYTES = 4096
INSN = struct.Struct("<QQ")
MODULES_KVA = 0xFFFFFFFFC0000000
KERNEL_KVA = 1 << 63


def add_options(parser):
    parser.add_argument("--ring-bytes", default="4M", metavar="SIZE", help="ring (4M)")
    parser.add_argument("--insns", type=int, default=16_000_000,
                        help="instructions of each CPU to log (16000000)")
    parser.add_argument("--pti", action="store_true", help="with page-table isolation")
    parser.add_argument("--keep", action="store_true", help="keep dump and logs")


def _logged(path) -> dict[int, list[int]]:
    """Addresses by the number of records before them; whole groups only."""
    with open(path, "rb") as file:
        data = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
    magic, version, _, capacity, total = HEADER.unpack_from(data)
    if (magic, version) != (MAGIC, 1):
        raise Failure(f"{path} is no instruction log of version 1")
    groups: dict[int, list[int]] = {}
    oldest = max(0, total - capacity)
    for number in range(oldest, total):
        address, records = INSN.unpack_from(data, HEADER_BYTES + number % capacity * INSN.size)
        groups.setdefault(records, []).append(address)
    if oldest:
        groups.pop(min(groups))
    return groups


def _completed(begun: list[int], record, ints) -> list[int]:
    """The instructions of BEGUN that were done when RECORD (None: the stop) was written.

    An INT, at INTS, is done by what looks like an interrupt.
    """
    done = [address for place, address in enumerate(begun)
            if not place or address != begun[place - 1]]
    if record and record[4] == truth.INTERRUPT and done and done[-1] == record[0] \
            and record[0] not in ints:
        done.pop()
    return done


def _ints(program) -> set[int]:
    """Where the 32-bit program has INT instructions."""
    text = subprocess.run(["objdump", "-d", program], check=True, capture_output=True,
                          text=True).stdout
    return {int(address, 16)
            for address in re.findall(r"^ *([0-9a-f]+):.*\tint +\$0x80", text, re.M)}


@dataclass
class Listing:
    """The listing of one CPU by event: addresses, and why there are none."""

    insns: dict[int, list[int]] = field(default_factory=dict)
    breaks: dict[int, dict] = field(default_factory=dict)
    texts: Counter = field(default_factory=Counter)


def _listed(context, path) -> dict[int, Listing]:
    found: dict[int, Listing] = {}
    mode = ""
    for line in dump.btsrec(context, "insns", "--format", "jsonl", path).splitlines():
        item = json.loads(line)
        listing = found.setdefault(item["cpu"], Listing())
        if item["kind"] == "insn":
            listing.insns.setdefault(item["n"], []).append(int(item["ip"], 16))
            if mode:
                listing.texts[f"{mode} {item['insn'].split()[0]}"] += 1
        elif item["kind"] == "code":
            mode = item.get("mode", "")
            if not item.get("mode_known", True):
                mode = f"mode not known, {item.get('ip_why')}"
        elif item["kind"] == "break":
            listing.breaks[item["n"]] = item
    return found


@dataclass
class Count:
    kernel: int = 0
    module: int = 0
    user: int = 0
    unknown: int = 0

    def add(self, addresses):
        for address in addresses:
            if address < KERNEL_KVA:
                self.user += 1
            elif address >= MODULES_KVA:
                self.module += 1
            else:
                self.kernel += 1

    def total(self) -> int:
        return self.kernel + self.module + self.user


def _show(addresses) -> str:
    return " ".join(f"0x{address:x}" for address in addresses) or "nothing"


def _compare(cpu, events, listing, log, groups, ints) -> Count:
    count = Count()
    branches = [event for event in events if event["kind"] == "branch"]
    # Number of the log record of each event; the stop comes after the newest.
    numbers = {event["n"]: log.total - len(branches) + place
               for place, event in enumerate(branches)}
    if events[-1]["kind"] != "freeze":
        raise Failure(f"CPU {cpu} is not frozen")
    numbers[events[-1]["n"]] = log.total
    if min(groups) > min(numbers.values()):
        raise Failure("the model's log of instructions is too short; make it longer with --insns")
    for n, number in numbers.items():
        record = log.record(log.total - 1 - number) if number < log.total else None
        ran = _completed(groups.get(number, []), record, ints)
        listed = listing.insns.get(n, [])
        if n in listing.breaks:
            if listing.breaks[n]["verdict"] != "unknown":
                raise Failure(f"CPU {cpu}: {listing.breaks[n]} but {_show(ran)} ran")
            count.unknown += len(ran)
            continue
        if n == branches[0]["n"]:
            ran = ran[-len(listed):] if listed else []
        if listed != ran:
            raise Failure(f"CPU {cpu}, event {n}: listed {_show(listed)}; ran {_show(ran)}")
        count.add(listed)
    return count


def _proofs(context, path):
    for line in dump.btsrec(context, "prove", "--format", "jsonl", path, ok=(0, 1)).splitlines():
        proof = json.loads(line)
        context.say(f"CPU {proof['cpu']}: pairs proven: kernel {proof['kernel_proven']}, user "
                    f"{proof['user_proven']}; not in the dump {proof['unknown']}; impossible "
                    f"{proof['broken']}; to the stop: {proof['stop_proven']}")
        if proof["broken"] or not proof["stop_proven"]:
            raise Failure(f"not proven: {proof}")


def _check_compat(context, texts: Counter):
    """The mode is known of every process that lives; all ways into the kernel are there."""
    guessed = Counter()
    for text, count in texts.items():
        if not text.startswith("32-bit "):
            guessed[text.rpartition(" ")[0]] += count
    if set(guessed) - {"mode not known, mm gone"}:
        raise Failure(f"the mode of instructions is a guess: {dict(guessed)}")
    for text in COMPAT_TEXTS:
        if not texts[f"32-bit {text}"]:
            raise Failure(f"no {text} in 32-bit code: nothing to compare")
    context.say(f"{texts.total() - guessed.total()} of them are 32-bit code, "
                f"{texts['32-bit int']} int, {texts['32-bit sysenter']} sysenter; the mode of "
                f"{guessed.total()} in processes that are gone is a guess")


def run(context):
    options = context.options
    path = context.out / "dump"
    path.unlink(missing_ok=True)
    with context.boot(SCRIPT, context.recorder_modules(f"ring_bytes={options.ring_bytes}"),
                      files=[("opt/compat", context.guest_program(
                          "user/compat.S", "-m32", "-nostdlib", "-no-pie"))],
                      plugin_args={"insnlog": options.insns},
                      append="pti=on" if options.pti else "nopti") as machine:
        machine.expect_panic(context.seconds(240))
        machine.dump(path)
        machine.quit()
    _proofs(context, path)
    events = dump.events(context, path)
    listings = _listed(context, path)
    ints = _ints(context.out / "compat")
    total = Count()
    for cpu in range(options.cpus):
        log = truth.Log(machine.model_dir / f"cpu{cpu}.log")
        groups = _logged(machine.model_dir / f"cpu{cpu}.insns")
        count = _compare(cpu, events[cpu], listings[cpu], log, groups, ints)
        context.say(f"CPU {cpu}: {count.total()} instructions equal: kernel {count.kernel}, "
                    f"modules {count.module}, user {count.user}; {count.unknown} more ran whose "
                    "code is not in the dump, and none is listed")
        for name in ("kernel", "module", "user", "unknown"):
            setattr(total, name, getattr(total, name) + getattr(count, name))
    if not total.kernel or not total.module or not total.user:
        raise Failure("one kind of code is missing: nothing to compare")
    context.say(f"all {total.total()} listed instructions are those that ran")
    _check_compat(context, sum((listing.texts for listing in listings.values()), Counter()))
    if not options.keep:
        path.unlink()
        for file in machine.model_dir.glob("cpu*.*"):
            file.unlink()

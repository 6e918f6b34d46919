# SPDX-License-Identifier: GPL-2.0-or-later
"""The names that btsrec finds in the dump alone equal those of other sources, all of them.

Of the kernel: the symbol table of the vmlinux with debug information, where there is one.
Of the recorder's module: the symbol table of its .ko and the places of its sections. Of
both: what the running kernel said in /proc/kallsyms. Every different kernel address in the
history of all CPUs is compared, name and offset; so is code that the kernel made at run
time: a BPF program, which the guest runs, and trampolines. What has no name must be nowhere
in all these. Source lines equal those of addr2line. And the flattened dump that QEMU writes must print the
same as the plain one.
"""

import bisect
import re
import subprocess
import time
from collections import Counter

import dump
import sourcelines
import workload
from errors import Failure, Skip

SUMMARY = "names from the dump alone equal those of vmlinux, .ko and /proc/kallsyms"

SCRIPT = workload.SHELL + """
grep -E " [tTwW] | _end$" /proc/kallsyms >/tmp/kallsyms
send /tmp/kallsyms
for section in /sys/module/btsrec/sections/.*; do
	[ -f "$section" ] && echo "${section##*/} $(cat "$section")"
done >/tmp/sections
send /tmp/sections
echo arm >/dev/btsrec
echo 1 >/proc/sys/net/core/bpf_jit_kallsyms
bpf >/tmp/bpf &
program=$!
until grep running /tmp/bpf; do usleep 10000; done
kill -STOP $program
renice -n -20 -p $program
grep -F [ /proc/kallsyms >/tmp/made
send /tmp/made
start_work
sleep 2
kill -CONT $program
usleep 20000
echo c >/proc/sysrq-trigger
"""

KERNEL_HALF = 1 << 63

# scripts/mksysmap leaves these out of System.map, and kallsyms does too.
NO_NAME = re.compile(r"\.L|\$|__ksymtab_|__kstrtab_|__kstrtabns_|__kcrctab_|__crc_")


def _rank(letter: str):
    """The rule of btsrec-names(7): functions before data, global before local; None: neither."""
    if letter in "TWtw":
        return 0 if letter in "TW" else 1
    if letter in "DRBVdrbv":
        return 2 if letter in "DRBV" else 3
    return None


class Names:
    """Symbols of the kernel or of a module: an address to "name+0xoffset"."""

    def __init__(self, suffix=""):
        self._best: dict[int, tuple] = {}
        self._addresses: list[int] = []
        self._suffix = suffix
        self.bounds = range(0)

    def add(self, address: int, letter: str, name: str):
        rank = _rank(letter)
        if rank is None or not name or NO_NAME.match(name):
            return
        if self._suffix and letter in "tw":
            rank = 0
        key = (rank, len(name) - len(name.lstrip("_")), name)
        if address not in self._best or key < self._best[address]:
            self._best[address] = key

    def finish(self, bounds: range):
        self.bounds = bounds
        self._addresses = sorted(address for address in self._best if address in bounds)
        return self

    def address(self, name: str) -> int:
        for address, key in self._best.items():
            if key[2] == name:
                return address
        raise Failure(f"no symbol {name}")

    def find(self, address: int):
        """None: outside."""
        place = bisect.bisect_right(self._addresses, address)
        if address not in self.bounds or not place:
            return None
        start = self._addresses[place - 1]
        return f"{self._best[start][2]}+0x{address - start:x}{self._suffix}"


def _output(*command) -> str:
    try:
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout
    except FileNotFoundError as error:
        raise Skip(f"{command[0]} is not installed") from error


# --- The sources to compare with ---

def of_vmlinux(path, shift: int) -> Names:
    names = Names()
    bounds = {}
    for line in _output("nm", path).splitlines():
        address, letter, name = line[:16], line[17], line[19:]
        if address.strip():
            names.add(int(address, 16) + shift, letter, name)
            if name in ("_stext", "_end"):
                bounds[name] = int(address, 16) + shift
    return names.finish(range(bounds["_stext"], bounds["_end"]))


def of_made(text: str) -> dict[int, str]:
    """Start of each piece of code to "name [module]"; the kernel does not say where one ends."""
    found = {}
    for line in text.splitlines():
        address, _, name, module = re.split(r"[ \t]+", line)
        if module.startswith(("[bpf]", "[__builtin__")):
            found[int(address, 16)] = f"{name} {module}"
    return found


def of_kallsyms(text: str) -> dict[str, Names]:
    """By module; "" is the kernel."""
    found: dict[str, Names] = {}
    bounds = {}
    for line in text.splitlines():
        address, letter, name, *module = re.split(r"[ \t]+", line)
        module = module[0].strip("[]") if module else ""
        suffix = f" [{module}]" if module else ""
        found.setdefault(module, Names(suffix)).add(int(address, 16), letter, name)
        if not module and name in ("_stext", "_end"):
            bounds[name] = int(address, 16)
    found[""].finish(range(bounds["_stext"], bounds["_end"]))
    return found


def text_sections(path, addresses: dict[str, int]) -> dict[str, tuple[str, range]]:
    """Section number to name and place, of the code that stays in memory."""
    found = {}
    for number, name, size in re.findall(
            r"^ *\[ *(\d+)\] (\S+) +\S+ +[0-9a-f]+ [0-9a-f]+ ([0-9a-f]+)",
            _output("readelf", "-SW", path), re.M):
        if name in addresses and name.endswith((".text", ".text.unlikely")) \
                and not name.startswith(".init"):
            found[number] = (name, range(addresses[name], addresses[name] + int(size, 16)))
    return found


def of_module(path, sections) -> Names:
    names = Names(f" [{path.stem}]")
    for line in _output("readelf", "-sW", path).splitlines():
        words = line.split()
        if len(words) == 8 and words[6] in sections and words[3] in ("FUNC", "NOTYPE"):
            names.add(sections[words[6]][1].start + int(words[1], 16), "t", words[7])
    return names.finish(_hull(sections))


def _hull(sections) -> range:
    return range(min(place.start for _, place in sections.values()),
                 max(place.stop for _, place in sections.values()))


# --- The comparison ---

def found_names(histories) -> dict[int, str]:
    """Kernel addresses of all branches and what btsrec called them; None: nothing."""
    found = {}
    for history in histories.values():
        for event in history:
            if event["kind"] != "branch":
                continue
            for side in ("from", "to"):
                address = int(event[side], 16)
                if address < KERNEL_HALF:
                    continue
                name = event.get(f"{side}_sym")
                if found.setdefault(address, name) != name:
                    raise Failure(f"0x{address:x} is both {found[address]} and {name}")
    return found


def compare(context, what: str, found: dict[int, str], truth: Names) -> int:
    """Every address of FOUND inside TRUTH must have its name; their number."""
    wrong = []
    count = 0
    for address, name in sorted(found.items()):
        if address not in truth.bounds:
            continue
        count += 1
        if truth.find(address) != name:
            wrong.append(f"  0x{address:x}: {name}, but {what} says {truth.find(address)}")
    if wrong:
        raise Failure(f"{len(wrong)} of {count} names differ\n" + "\n".join(wrong[:20]))
    if not count:
        raise Failure(f"no address of the history is in {what}")
    context.say(f"{what}: {count} different addresses, {count} names and offsets equal")
    return count


def check_made(context, found, truths, made):
    """What is in none of TRUTHS is code that the kernel made, with the name in MADE."""
    count = Counter()
    starts = sorted(made)
    for address, name in sorted(found.items()):
        if any(address in truth.bounds for truth in truths):
            continue
        place = bisect.bisect_right(starts, address)
        if not place:
            raise Failure(f"0x{address:x} ({name}) is neither kernel, module nor made code")
        symbol, module = made[starts[place - 1]].split(" ")
        expected = f"{symbol}+0x{address - starts[place - 1]:x} {module}"
        if name != expected:
            raise Failure(f"0x{address:x} is {expected}, but btsrec says {name}")
        count[f"{symbol} {module}"] += 1
    for symbol, number in sorted(count.items()):
        context.say(f"/proc/kallsyms, {symbol}: {number} different addresses, all equal")
    for kind in ("[bpf]", "[__builtin__ftrace]"):
        if not any(symbol.endswith(kind) for symbol in count):
            raise Failure(f"no address in {kind}: nothing to compare")


def _panic(context) -> tuple:
    """The guest's files, and a plain and a flattened dump of one moment."""
    path, flattened = context.out / "dump", context.out / "dump-flattened"
    for old in (path, flattened):
        old.unlink(missing_ok=True)
    with context.boot(SCRIPT, context.recorder_modules("arm=0"),
                      files=[("bin/bpf", context.guest_program("bpf.c"))]) as machine:
        machine.expect_panic(context.seconds(180))
        machine.dump(path)
        machine.dump(flattened, "kdump-zlib")
        machine.quit()
    offset = re.search(r"Kernel Offset: (0x\S+)", machine.console())
    return machine.files, int(offset.group(1), 16) if offset else 0, path, flattened


def check_flattened(context, path, flattened):
    if not flattened.read_bytes()[:12] == b"makedumpfile":
        raise Failure("QEMU's dump is not flattened, so that this tests nothing")
    started = time.monotonic()
    text = dump.btsrec(context, "show", flattened)
    seconds = time.monotonic() - started
    if text != dump.btsrec(context, "show", path):
        raise Failure("the flattened dump prints something else than the plain one")
    context.say(f"the flattened dump of {flattened.stat().st_size >> 20} MiB prints the same, "
                f"in {seconds:.2f} s")


def run(context):
    files, shift, path, flattened = _panic(context)
    kallsyms = of_kallsyms(files["kallsyms"].decode())
    addresses = {name: int(address, 16) for name, address in
                 (line.split() for line in files["sections"].decode().splitlines())}
    made = of_made(files["made"].decode())
    sections = text_sections(context.recorder, addresses)
    found = found_names(dump.events(context, path, "--raw-names"))
    context.say(f"{len(found)} different kernel addresses in the history")

    module = kallsyms["btsrec"].finish(_hull(sections))
    if context.os.vmlinux.is_file():
        compare(context, "vmlinux", found, of_vmlinux(context.os.vmlinux, shift))
        sourcelines.compare(context, path, context.os.vmlinux, shift)
    compare(context, "/proc/kallsyms, kernel", found, kallsyms[""])
    compare(context, "btsrec.ko", found, of_module(context.recorder, sections))
    compare(context, "/proc/kallsyms, btsrec", found, module)
    check_made(context, found, [kallsyms[""], module], made)
    check_flattened(context, path, flattened)

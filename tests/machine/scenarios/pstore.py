# SPDX-License-Identifier: GPL-2.0-or-later
"""A Debian system without kdump crashes; what is left is the kernel log that ramoops kept.

The machine of "unattended" has memory that survives a reset, and CONSOLE_RECORDS= in its
settings.  After the panic it resets, systemd-pstore takes the log out, and the collector
makes a report of it: its branches are the newest that the CPU has recorded.
"""

import json
import re
from pathlib import Path

import installed
import truth
from errors import Failure

SUMMARY = "no kdump: the report is made of the kernel log in ramoops, in a whole Debian"

NR_RECORDS = 64
# In the middle of the memory, out of the way of firmware, kernel and initrd.
RAMOOPS_PA = 0x40000000
RAMOOPS_BYTES = 0x100000
RECORD_BYTES = 0x20000
WORDS = (f"systemd.mask=kdump-tools.service panic=1 memmap={RAMOOPS_BYTES:#x}${RAMOOPS_PA:#x} "
         f"ramoops.mem_address={RAMOOPS_PA:#x} ramoops.mem_size={RAMOOPS_BYTES:#x} "
         f"ramoops.record_size={RECORD_BYTES:#x}")
HEAD = re.compile(r"^The last (\d+) branches of CPU (\d+) before its freeze", re.MULTILINE)
BRANCH = re.compile(r"^ (\S+(?: \[\w+\])?) -> (\S+(?: \[\w+\])?)$", re.MULTILINE)
SYMBOL = re.compile(r"^([0-9a-f]{16}) \w (\S+)$", re.MULTILINE)
# Of the ends of branches; the rest is in modules with unknown addresses.
MIN_RESOLVED = 0.5


def add_options(parser):
    installed.add_options(parser)


def _summary(files: dict) -> str:
    names = ("journal", "files", "failed")
    said = {name: files.get(name, b"").decode(errors="replace") for name in names}
    reports = list(installed.reports(files).values())
    if len(reports) != 1:
        raise Failure(f"{len(reports)} reports after one crash: {said}")
    entries = [json.loads(line) for line in said["journal"].splitlines()]
    printed = [entry for entry in entries if "BTSREC_REPORT" in entry]
    if len(printed) != 1 or "kernel log from pstore" not in printed[0]["MESSAGE"]:
        raise Failure(f"the journal does not name one report of a kernel log: {said}")
    if said["failed"].strip():
        raise Failure(f"units failed: {said}")
    return reports[0]["summary.txt"].decode(errors="replace")


def _symbols(kallsyms: bytes) -> dict[str, list[int]]:
    """The addresses of each name in the kernel, which is where it was linked to."""
    symbols: dict[str, list[int]] = {}
    for address, name in SYMBOL.findall(kallsyms.decode(encoding="ascii")):
        symbols.setdefault(name, []).append(int(address, 16))
    return symbols


def _addresses(text: str, symbols: dict) -> list[int]:
    """What an address that was printed as TEXT may be; nothing: it is in a module."""
    if text.startswith("0x"):
        return [int(text, 16)]
    if text.endswith("]"):
        return []
    name, _, offset = text.partition("/")[0].rpartition("+")
    return [base + int(offset, 16) for base in symbols.get(name, [])]


def _compare(context, summary: str, model_dir: Path, symbols: dict):
    head = HEAD.search(summary)
    branches = BRANCH.findall(summary)
    if not head or int(head.group(1)) != NR_RECORDS or len(branches) != NR_RECORDS:
        raise Failure(f"{len(branches)} branches, not {NR_RECORDS}:\n{summary}")
    log = truth.Log(model_dir / f"cpu{head.group(2)}.log")
    nr_resolved = 0
    for age, pair in enumerate(reversed(branches)):
        recorded = log.branch(age)
        for text, address in zip(pair, (recorded.source, recorded.target), strict=True):
            found = _addresses(text, symbols)
            nr_resolved += bool(found)
            if found and address not in found:
                raise Failure(f"branch {age} from the newest is {' -> '.join(pair)}, but the CPU "
                              f"recorded {recorded}")
    if nr_resolved < MIN_RESOLVED * 2 * NR_RECORDS:
        raise Failure(f"only {nr_resolved} addresses are in the kernel:\n{summary}")
    context.say(f"{NR_RECORDS} branches of CPU {head.group(2)} in the report are the newest of the "
                f"log; {nr_resolved} of {2 * NR_RECORDS} addresses compared")


def run(context):
    mnt, _ = installed.make(context, settings=f"CONSOLE_RECORDS={NR_RECORDS}")
    memory = context.out / "memory"
    memory.unlink(missing_ok=True)
    with installed.boot(context, mnt, "crash", WORDS, kaslr=False,
                        memory_file=memory) as machine:
        machine.run_to_exit(context.seconds(900))
        model_dir = machine.model_dir
    context.say("crashed, reset")
    with installed.boot(context, mnt, "after", WORDS, is_recording=False, kaslr=False,
                        memory_file=memory) as machine:
        machine.run_to_exit(context.seconds(900))
        files = machine.files
    installed.keep_told(context, files)
    memory.unlink()
    _compare(context, _summary(files), model_dir, _symbols(files["kallsyms"]))
    installed.clean(context, mnt)

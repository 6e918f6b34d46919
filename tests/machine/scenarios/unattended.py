# SPDX-License-Identifier: GPL-2.0-or-later
"""A Debian system with the packages and kdump-tools crashes; nobody touches it.

The packages are installed in a minimal Debian, which is then booted from a disk on the
emulated machine.  systemd arms the recorder, a unit works for some seconds and panics; the
kernel starts the capture kernel, which writes the small file and the dump, and reboots; the
collector makes a report.  The history in it must be what the CPU recorded.
"""

import json
import shutil
import subprocess
from pathlib import Path

import debian
import dump
import truth
import vm
from context import SOURCE
from errors import Failure
from scenarios import install

SUMMARY = "packages installed, crash, report: a whole Debian on its own"

RING_BYTES = 1 << 20
CRASHKERNEL = {"bookworm": "256M", "trixie": "320M"}
MEMORY_MIB = 1280


def add_options(parser):
    parser.add_argument("--suite", default="bookworm", choices=debian.SUITES,
                        help="release of Debian, with its kernel (bookworm)")
    parser.add_argument("--packages", type=Path, metavar="DIR",
                        help="install those of DIR, built before for that release")
    parser.add_argument("--keep", action="store_true", help="keep the disk")


def _packages(context) -> Path:
    """The folder of packages for the release that is asked for."""
    suite = context.options.suite
    if context.options.packages:
        return context.options.packages
    if suite not in debian.BUILDING:
        return install.build()
    mnt = context.out / "source"
    shutil.rmtree(mnt, ignore_errors=True)
    shutil.copytree(SOURCE, mnt, ignore=shutil.ignore_patterns("build", ".git"))
    shutil.copy(SOURCE / "tests/machine/unattended/build-packages", mnt)
    debian.get(suite).changed(mnt, "/mnt/build-packages",
                              *debian.DOWNLOADED, *debian.BUILDING[suite],
                              memory_mib=3000, seconds=context.seconds(900))
    return mnt / "packages"


def _disk(context) -> tuple[Path, str]:
    """The folder with disk, vmlinuz and initrd, and the kernel's release."""
    mnt = context.out / "mnt"
    shutil.rmtree(mnt, ignore_errors=True)
    mnt.mkdir()
    for deb in _packages(context).glob("btsrec*.deb"):
        shutil.copy(deb, mnt)
    for path in (SOURCE / "tests/machine/unattended").iterdir():
        shutil.copy(path, mnt)
    said = debian.get(context.options.suite).changed(mnt, "/mnt/prepare", "/mnt",
                                                     seconds=context.seconds(600))
    kernel = said.strip().splitlines()[-1]
    if not (mnt / "disk").exists():
        raise Failure(f"no disk was made: {said}")
    return mnt, kernel


def _boot(context, mnt: Path, name: str, is_recording=True):
    append = f"root=/dev/vda ro nopti crashkernel={CRASHKERNEL[context.options.suite]}"
    if not is_recording:
        append += " btsrec=off"
    out = context.out / name
    shutil.rmtree(out, ignore_errors=True)
    return vm.Machine(vm.Config(
        kernel=mnt / "vmlinuz", initrd=(mnt / "initrd").read_bytes(), out=out,
        plugin=context.plugin if is_recording else None, disk=mnt / "disk", append=append,
        cpus=context.options.cpus,
        memory_mib=MEMORY_MIB))


def _compare(context, history: Path, model_dir: Path) -> int:
    events = dump.events(context, history)
    branches = truth.branches_of_text(dump.btsrec(context, "show", history))
    total = 0
    for cpu in range(context.options.cpus):
        log = truth.Log(model_dir / f"cpu{cpu}.log")
        nr = truth.compare(f"the report's history, CPU {cpu}", branches.get(cpu, []), log,
                           log.in_ring(RING_BYTES // truth.RECORD_SLOT_BYTES, events[cpu]))
        if nr < 1000:
            raise Failure(f"CPU {cpu} has only {nr} branches")
        total += nr
    return total


def _judge(context, files: dict, model_dir: Path):
    text = {name: data.decode(errors="replace") for name, data in files.items()
            if name != "history.bts"}
    if "history.bts" not in files:
        raise Failure(f"no report after the crash:\n{text}")
    history = context.out / "history.bts"
    history.write_bytes(files["history.bts"])
    context.say(f"{_compare(context, history, model_dir)} branches of the report equal the log")
    entries = [json.loads(line) for line in text["journal"].splitlines()]
    reports = [entry for entry in entries if "BTSREC_REPORT" in entry]
    if len(reports) != 1 or reports[0]["PRIORITY"] != "2":
        raise Failure(f"the journal does not name one report: {text['journal']}")
    if not reports[0]["MESSAGE"].startswith("First fault: panic on CPU "):
        raise Failure(f"the journal does not say what happened: {reports[0]}")
    if "/var/lib/btsrec/captures/" not in reports[0]["BTSREC_DUMP"]:
        raise Failure(f"the report is not of the capture kernel's file: {reports[0]}")
    if reports[0]["BTSREC_REPORT"] not in text["catalog"]:
        raise Failure(f"the catalog's text does not name the report: {text['catalog']}")
    context.say(f"journal: {reports[0]['MESSAGE']}")
    if '"kind":"root"' not in text.get("dump-info", ""):
        raise Failure(f"kdump-tools left no dump with the history: {text['files']}")
    if text["failed"].strip():
        raise Failure(f"units failed: {text['failed']}")
    if "panic" not in text["summary.txt"]:
        raise Failure(f"the summary names no panic: {text['summary.txt']}")


def run(context):
    mnt, kernel = _disk(context)
    context.say(f"installed in {context.options.suite}, kernel {kernel}")
    with _boot(context, mnt, "crash") as machine:
        machine.run_to_exit(context.seconds(900))
        console = machine.console()
        model_dir = machine.model_dir
    for wanted in ("Recording on", "btsrec: the branch history is in"):
        if wanted not in console:
            raise machine.failure(f"the console does not say '{wanted}'")
    if "there will be a history." not in console:
        raise machine.failure("btsrec doctor is not content before the crash")
    context.say("crashed, captured, rebooted")
    # A report of a recorded decoder takes half an hour of emulation.
    with _boot(context, mnt, "after", is_recording=False) as machine:
        machine.run_to_exit(context.seconds(900))
        files = machine.files
    _judge(context, files, model_dir)
    if not context.options.keep:
        subprocess.run(debian.as_root(["rm", "-rf", mnt]), check=True)

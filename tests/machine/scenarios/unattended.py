# SPDX-License-Identifier: GPL-2.0-or-later
"""A Debian system with the packages and kdump-tools crashes; nobody touches it.

The packages are installed in a minimal Debian, which is then booted from a disk on the
emulated machine.  systemd arms the recorder, a unit works for some seconds and panics; the
kernel starts the capture kernel, which writes the small file and the dump, and reboots; the
collector makes a report.  The history in it must be what the CPU recorded.

--times does it on one CPU with a clock that counts its instructions, on which the load of the
host has little influence, and says what the recorder adds to a boot and to the capture kernel.
"""

import json
import re
import shutil
from pathlib import Path

import installed
from errors import Failure

SUMMARY = "packages installed, crash, report: a whole Debian on its own"

# In the journal of the capture kernel, with seconds since its start.
STAMP = r"^\[ *([\d.]+)\] .*"
STEPS = {"begin": "Starting .*kdump-tools-dump.service",
         "captured": "btsrec: the branch history is in",
         "dumping": "running makedumpfile -F",
         "dumped": "saved vmcore in"}


def add_options(parser):
    installed.add_options(parser)
    parser.add_argument("--initramfs", action="store_true",
                        help="with INITRAMFS=yes: armed before the root file system is mounted")
    parser.add_argument("--times", action="store_true",
                        help="count instructions, and boot once more without the recorder")


def _judge(context, files: dict, model_dir: Path):
    text = {name: data.decode(errors="replace") for name, data in files.items()
            if not name.endswith(".bts")}
    reports = list(installed.reports(files).values())
    if len(reports) != 1 or "history.bts" not in reports[0]:
        raise Failure(f"{len(reports)} reports after one crash:\n{text}")
    nr = installed.compare(context, "history", reports[0]["history.bts"], model_dir)
    context.say(f"{nr} branches of the report equal the log")
    entries = [json.loads(line) for line in text["journal"].splitlines()]
    printed = [entry for entry in entries if "BTSREC_REPORT" in entry]
    if len(printed) != 1 or printed[0]["PRIORITY"] != "2":
        raise Failure(f"the journal does not name one report: {text['journal']}")
    if not printed[0]["MESSAGE"].startswith("First fault: panic on CPU "):
        raise Failure(f"the journal does not say what happened: {printed[0]}")
    if "/var/lib/btsrec/captures/" not in printed[0]["BTSREC_DUMP"]:
        raise Failure(f"the report is not of the capture kernel's file: {printed[0]}")
    if printed[0]["BTSREC_REPORT"] not in text["catalog"]:
        raise Failure(f"the catalog's text does not name the report: {text['catalog']}")
    context.say(f"journal: {printed[0]['MESSAGE']}")
    if '"kind":"root"' not in text.get("dump-info", ""):
        raise Failure(f"kdump-tools left no dump with the history: {text['files']}")
    if text["failed"].strip():
        raise Failure(f"units failed: {text['failed']}")
    if b"panic" not in reports[0]["summary.txt"]:
        raise Failure(f"the summary names no panic: {reports[0]['summary.txt']}")


def _times(files: dict) -> dict[str, float]:
    """What the guest measured at the end of its boot, in seconds."""
    text = files["times"].decode()
    found = {key: float(value) for key, value in re.findall(r"^(\w+)=([\d.]+)$", text, re.M)}
    total = re.search(r" = (?:(\d+)min )?([\d.]+)s", text)
    if not total or {"up", "idle", "unit_us", "unit_ns"} - found.keys():
        raise Failure(f"the guest's figures are not complete: {text}")
    return {"boot": 60 * int(total.group(1) or 0) + float(total.group(2)),
            "up": found["up"], "idle": found["idle"],
            "unit": found["unit_us"] / 1e6, "unit_cpu": found["unit_ns"] / 1e9}


def _tell_boots(context, without: dict, recorded: dict):
    busy = [times["up"] - times["idle"] for times in (without, recorded)]
    context.say(f"boot without the recorder {without['boot']:.3f} s, with it "
                f"{recorded['boot']:.3f} s; executed until then {busy[0]:.3f} and {busy[1]:.3f} "
                "thousand million instructions")
    context.say(f"btsrec.service: {recorded['unit']:.3f} s from begin to end, "
                f"{recorded['unit_cpu']:.3f} thousand million instructions")


def _tell_capture(context, journal: str):
    at = {}
    for step, pattern in STEPS.items():
        found = re.search(STAMP + pattern, journal, re.MULTILINE)
        if not found:
            raise Failure(f"the capture kernel's journal does not say '{pattern}':\n{journal}")
        at[step] = float(found.group(1))
    context.say(f"capture kernel: the small file {at['captured'] - at['begin']:.3f} s, "
                f"makedumpfile {at['dumped'] - at['dumping']:.3f} s")


def _boot_without(context, mnt: Path) -> dict:
    """The figures of a first boot that records nothing, of a copy of the disk."""
    copy = mnt.with_name("copy")
    shutil.copytree(mnt, copy, dirs_exist_ok=True)
    words = installed.crashkernel(context) + " misfortune=times"
    # The plugin watches, so that the machine is the same.
    with installed.boot(context, copy, "without", words + " btsrec=off", icount=True) as machine:
        machine.run_to_exit(context.seconds(900))
        files = machine.files
    installed.clean(context, copy)
    context.say("booted without the recorder")
    return _times(files)


def _is_early(console: str) -> bool:
    """Did the recorder say that it was armed before the root file system was mounted?"""
    armed = console.find("] btsrec: Loaded and armed")
    mounted = console.find("] EXT4-fs (vda): mounted")
    return 0 <= armed < mounted


def run(context):
    options = context.options
    if options.times:
        options.cpus = 1
    mnt, _ = installed.make(context, settings="INITRAMFS=yes" if options.initramfs else "")
    without = _boot_without(context, mnt) if options.times else {}
    words = installed.crashkernel(context) + (" misfortune=times" if options.times else "")
    with installed.boot(context, mnt, "crash", words, icount=options.times) as machine:
        machine.run_to_exit(context.seconds(900))
        console = machine.console()
        recorded = _times(machine.files) if options.times else {}
        model_dir = machine.model_dir
    for wanted in ("Recording on", "btsrec: the branch history is in"):
        if wanted not in console:
            raise machine.failure(f"the console does not say '{wanted}'")
    if "there will be a history." not in console:
        raise machine.failure("btsrec doctor is not content before the crash")
    if _is_early(console) != options.initramfs:
        raise machine.failure("the recorder was armed before the root file system was mounted, "
                              "or should have been")
    context.say("crashed, captured, rebooted")
    # A report of a recorded decoder takes half an hour of emulation.
    with installed.boot(context, mnt, "after", is_recording=False) as machine:
        machine.run_to_exit(context.seconds(900))
        files = machine.files
    installed.keep_told(context, files)
    _judge(context, files, model_dir)
    if options.times:
        _tell_boots(context, without, recorded)
        _tell_capture(context, files["capture"].decode(errors="replace"))
    installed.clean(context, mnt)

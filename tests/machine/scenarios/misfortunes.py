# SPDX-License-Identifier: GPL-2.0-or-later
"""A Debian system crashes four times, each time with something else going wrong.

The machine of "unattended", with one disk throughout:

1. crashes on a disk that is full: there is room for the small file, not for the dump.  Then
   the collector has no room for a report and says so; with room made, it makes it.
2. crashes, and the power fails while makedumpfile writes.
3. crashes with its clock set back by years, and while the collector works on the crash before.
4. crashes without a recorder.

A file of garbage lies among the dumps from the second crash on.  At the end there is one
report for each of the first three crashes with the history that the CPUs recorded, nothing of
those before is lost, and the journal says once what each of the other files is.
"""

import json
import re
import time
from pathlib import Path

import installed
from errors import Failure

SUMMARY = "full disk, power failure while dumping, clock set back, four crashes of a whole Debian"

# systemd takes it to when systemd was made, which is before the day of this run.
SET_BACK = "2024-02-03T04:05:06"
# From the line that says that the dump begins, to the power failure.
DUMPING_SECONDS = 3
NO_ROOM = r"No report of \S+\.bts yet: less than \d+ MB are left"
GARBAGE = r"/var/crash/garbage/dump\.garbage cannot be read"
NO_RECORDER = r"/var/crash/\S+ has no branch history: the recorder was not loaded"


def add_options(parser):
    installed.add_options(parser)


def _crash(context, mnt: Path, name: str, words: str, **config) -> Path:
    """Crash and capture until the reset; where the model's logs are."""
    words = f"{installed.crashkernel(context)} {words}"
    with installed.boot(context, mnt, name, words, **config) as machine:
        machine.run_to_exit(context.seconds(900))
        model_dir = machine.model_dir
    context.say(f"{name}: crashed, reset")
    return model_dir


def _crash_and_fail(context, mnt: Path, name: str) -> Path:
    words = f"{installed.crashkernel(context)} misfortune=again"
    with installed.boot(context, mnt, name, words) as machine:
        machine.run(context.seconds(900), "running makedumpfile -F")
        time.sleep(DUMPING_SECONDS)
        machine.kill()
    context.say(f"{name}: crashed, power failed while dumping")
    return machine.model_dir


def _ask(context, mnt: Path, name: str, words="", **config) -> dict[str, bytes]:
    """What the machine's witness prints."""
    with installed.boot(context, mnt, name, words, is_recording=False, **config) as machine:
        machine.run_to_exit(context.seconds(900))
        files = machine.files
    for file, data in files.items():
        (context.out / name / f"sent-{file}").write_bytes(data)
    return files


def _said(*journals: bytes) -> list[str]:
    """The messages of JOURNALS; with a full disk systemd keeps one for that boot only."""
    entries: dict[str, str] = {}
    for journal in journals:
        for line in journal.decode(errors="replace").splitlines():
            if line.startswith("{"):
                entry = json.loads(line)
                entries[entry["__CURSOR"]] = entry["MESSAGE"]
    return list(entries.values())


def _check_full(files: dict):
    """The small file alone is there, and no report until there is room."""
    text = files["before"].decode(errors="replace")
    said = _said(files["before"])
    if not any(re.match(NO_ROOM, line) for line in said) or \
            any("The branch history is in" in line for line in said):
        raise Failure(f"the journal does not say that there is no room: {said}")
    if not re.search(r"\d{8}T\d{6}Z\.bts$", text, re.MULTILINE):
        raise Failure(f"there is no small file: {text}")
    if re.search(r" dump\.\d+$", text, re.MULTILINE):
        raise Failure(f"there was room for the dump: {text}")
    if len(installed.reports(files)) != 1:
        raise Failure(f"not one report after there is room: {_said(files['journal'])}")


def _check_said(said: list[str]):
    for pattern in (GARBAGE, NO_RECORDER):
        nr = sum(bool(re.match(pattern, line)) for line in said)
        if nr != 1:
            raise Failure(f"'{pattern}' stands {nr} times, not once, in the journal: {said}")
    nr = sum("The branch history is in" in line for line in said)
    if nr != 3:
        raise Failure(f"the journal names {nr} reports, not 3: {said}")


def _check_reports(context, reports: dict, models: dict):
    """Each of MODELS, in the order of crashes, is the history of one report."""
    by_time = sorted(reports, key=lambda name: name.split("-")[1])
    if len(by_time) != 3:
        raise Failure(f"the reports are {sorted(reports)}")
    back, *others = by_time
    for name, what in zip((*others, back), models, strict=True):
        nr = installed.compare(context, what, reports[name]["history.bts"], models[what])
        context.say(f"{what}: {nr} branches of the report {name} equal the log")


def run(context):
    mnt, _ = installed.make(context)
    models = {"full": _crash(context, mnt, "full", "misfortune=full")}
    first = _ask(context, mnt, "relieved", "misfortune=relief")
    _check_full(first)
    context.say("relieved: no report while the disk was full, then one")
    models["power"] = _crash_and_fail(context, mnt, "power")
    models["back"] = _crash(context, mnt, "back", "misfortune=again", clock=SET_BACK)
    _crash(context, mnt, "unrecorded", "btsrec=off", plugin=None)
    files = _ask(context, mnt, "after", clock=SET_BACK)
    reports = installed.reports(files)
    _check_reports(context, reports, models)
    for name, parts in installed.reports(first).items():
        if reports[name] != parts:
            raise Failure(f"the report {name} is not what it was")
    _check_said(_said(first["journal"], files["journal"]))
    if files["failed"].strip():
        raise Failure(f"units failed: {files['failed']}")
    installed.clean(context, mnt)

# SPDX-License-Identifier: GPL-2.0-or-later
"""The packages of a machine that records, under systemd: upgraded, removed, purged.

A Debian as that of "unattended" boots and arms.  Then a next version of the packages is
installed, the recorder restarted, and the packages are removed and purged; after each step
the machine says what there is.
"""

import re

import installed
from errors import Failure

SUMMARY = "packages upgraded, removed and purged while the recorder is armed, with systemd"

# apt and DKMS execute for half an hour if all that they do is recorded; more than the
# recorder's self-test looks at.
LAZY = 100000
ARMED = "loaded active"
# What must be there after each step.
STEPS = {
    "booted": {"loaded": "0.1.0", "recorder": "armed", "unit": ARMED, "watch": "active",
               "built": "0.1.0"},
    "upgraded": {"loaded": "0.1.0", "recorder": "armed", "unit": ARMED, "watch": "active",
                 "built": "0.2.0"},
    "restarted": {"loaded": "0.2.0", "recorder": "armed", "unit": ARMED, "watch": "active",
                  "built": "0.2.0"},
    "removed": {"loaded": "", "recorder": "", "watch": "inactive", "built": "", "dkms": ""},
    "purged": {"loaded": "", "recorder": "", "watch": "inactive", "built": "", "dkms": "",
               "unit": "not-found inactive"},
}


def add_options(parser):
    installed.add_options(parser)


def _state(files: dict, step: str) -> dict:
    """What the machine said after STEP; "file" is the list of what has our name."""
    if step not in files:
        raise Failure(f"the machine did not come to '{step}'")
    state = {"file": []}
    for key, value in re.findall(r"^(\w+)=(.*)$", files[step].decode(), re.MULTILINE):
        if key == "file":
            state["file"].append(value)
        else:
            state[key] = value
    return state


def _judge_step(step: str, state: dict, kernel: str):
    wanted = dict(STEPS[step], failed="")
    if wanted["built"]:
        wanted["dkms"] = f"btsrec/{wanted['built']}, {kernel}, x86_64: installed"
    wrong = {key: state.get(key) for key, value in wanted.items() if state.get(key) != value}
    if wrong:
        raise Failure(f"{step}: {wrong}, not {({key: wanted[key] for key in wrong})}")


def _judge_files(removed: dict, purged: dict):
    # The folder of reports has no file with our name in its own.
    if "/etc/btsrec.conf" not in removed["file"] or "/var/lib/btsrec" not in removed["file"]:
        raise Failure(f"removal took settings or reports: {removed['file']}")
    if purged["file"]:
        raise Failure(f"left after the purge: {purged['file']}")


def run(context):
    mnt, kernel = installed.make(context, fate="upgrade", with_next=True)
    with installed.boot(context, mnt, "life", "systemd.mask=kdump-tools.service",
                        plugin_args={"lazy": LAZY}) as machine:
        machine.run_to_exit(context.seconds(1800))
        files = machine.files
    installed.keep_told(context, files)
    states = {step: _state(files, step) for step in STEPS}
    for step, state in states.items():
        context.say(f"{step}: " + ", ".join(f"{key} '{state.get(key)}'" for key in STEPS[step]))
    for step, state in states.items():
        _judge_step(step, state, kernel)
    before, after = states["booted"], states["upgraded"]
    if before["generation"] != after["generation"] or \
            int(after["annotations"]) <= int(before["annotations"]):
        raise Failure("the upgrade interrupted the recording")
    _judge_files(states["removed"], states["purged"])
    installed.clean(context, mnt)

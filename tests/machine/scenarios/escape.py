# SPDX-License-Identifier: GPL-2.0-or-later
"""Something takes the decoder's place in the collector and tries to get out.

In a Debian with the packages, booted, the real unit makes a report of a dump of root's.  In the
place of the decoder stands tests/systemd/escape.c, which tries each way that it knows: systemd
and D-Bus, devices, other processes, keyrings, files that are not its own, rights and limits.
Before that it has to get out by each way where nothing holds it.  Then the decoder does its
work: the report has to be there, and a hook must not be led by links in a report.

At last the unit runs without what makes its sandbox, and the code has to get out: it is the unit
that refuses. With "--mutations" it also runs without each setting alone, and lists what that one
is for.
"""

import json
import re
import shutil
import subprocess
from pathlib import Path

import installed
from context import SOURCE
from errors import Failure

SUMMARY = "the collector's sandbox: code in the decoder's place tries to get out"

DUMP = """root ring=200
cpu 0
arm tsc=1 now=7/7/0x100000/init
fill 100 0xffffffff81000000 0xffffffff81100000 0x10
freeze reason=panic tsc=90
"""
LIMITS = {"User": "btsrec", "MemoryMax": str(2 << 30), "TasksMax": "64",
          "LimitFSIZE": str(16 << 30)}
# Settings of the unit that say what its work is; all others keep it from what is none.
WORK = {"Type", "EnvironmentFile", "ExecStart", "Nice", "CPUSchedulingPolicy", "IOSchedulingClass",
        "RuntimeMaxSec", "User", "StateDirectory", "StateDirectoryMode", "UMask",
        "AmbientCapabilities", "OOMPolicy"}
# Ways by which another user than root gets out of a unit without a sandbox.
OF_ANYBODY = {"internet", "netlink", "message_bus", "session_key", "new_privileges", "namespaces",
              "writable_code", "many_processes", "huge_file", "core_file"}


def add_options(parser):
    installed.add_options(parser)
    parser.add_argument("--mutations", action="store_true",
                        help="also without each setting of the sandbox alone")


def _without(context) -> dict[str, list[str]]:
    """By name settings that the unit runs without."""
    unit = (SOURCE / "systemd/btsrec-collect.service.in").read_text(encoding="ascii")
    service = unit.split("[Service]")[1].split("[Install]")[0]
    settings = list(dict.fromkeys(re.findall(r"^(\w+)=", service, re.M)))
    sandbox = [setting for setting in settings if setting not in WORK]
    alone = {setting: [setting] for setting in sandbox} if context.options.mutations else {}
    return {**alone, "sandbox": sandbox}


def _extra(context) -> Path:
    """What the machine needs beside the packages."""
    folder = context.out / "extra"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    shutil.copy(context.built("escape"), folder)
    subprocess.run([context.built("mkimage"), folder / "vmcore"], input=DUMP, text=True, check=True)
    lines = [f"{name}\t{'|'.join(settings)}\n" for name, settings in _without(context).items()]
    (folder / "without").write_text("".join(lines), encoding="ascii")
    return folder


def _ways(text: str) -> dict[str, str]:
    """What became of each way, by its name."""
    return dict(line.split(" ", 1) for line in text.splitlines())


def _judge(context, text: dict):
    free, confined = _ways(text["free"]), _ways(text["said"])
    if not free or free.keys() != confined.keys():
        raise Failure(f"tried {sorted(confined)}, and where nothing holds it {sorted(free)}")
    useless = [f"{name} {became}" for name, became in free.items() if became != "out"]
    if useless:
        raise Failure(f"leads out of nothing, so that a refusal says nothing: {useless}")
    context.say(f"{len(free)} ways lead out where nothing holds it")
    faults = [f"{name} leads out" for name, became in confined.items() if became == "out"]
    if "root:" in text["hooked"]:
        faults.append("a hook reads /etc/shadow by a link in a report")
    if text["escaped"].strip():
        faults.append(f"written: {text['escaped'].split()}")
    if faults:
        raise Failure(f"{len(faults)}: {', '.join(faults)}")
    context.say("each is refused in the collector")


def _judge_weakened(context, text: str):
    """Without the sandbox it gets out; what each setting alone refuses is said."""
    ways: dict[str, set[str]] = {name: set() for name in _without(context)}
    tried = set()
    for line in text.splitlines():
        name, way, became = line.split(" ", 3)[:3]
        tried.add(name)
        if became == "out":
            ways[name].add(way)
    if tried != ways.keys():
        raise Failure(f"nothing was tried without {ways.keys() - tried}: {text[-500:]}")
    for name, out in ways.items():
        context.say(f"without {name}: {' '.join(sorted(out)) or 'others refuse the same'}")
    missing = OF_ANYBODY - ways["sandbox"]
    if missing:
        raise Failure(f"refused without a sandbox, so that a refusal says nothing: {missing}")


def _judge_work(context, text: dict):
    """The collector does its work all the same."""
    entries = [json.loads(line) for line in text["journal"].splitlines()]
    reports = [entry["BTSREC_REPORT"] for entry in entries if "BTSREC_REPORT" in entry]
    if len(reports) != 1 or "first fault: panic on CPU 0" not in text["hooked"]:
        raise Failure(f"no report, or no hook: {text['units']}\n{text['files']}\n{text['hooked']}")
    limits = dict(line.split("=", 1) for line in text["limits"].splitlines())
    if limits != LIMITS:
        raise Failure(f"the limits are {limits}")
    if text["failed"].strip():
        raise Failure(f"units failed: {text['failed']}")
    context.say(f"reported and announced: {reports[0]}, and the hook has read it")


def run(context):
    mnt, _ = installed.make(context, fate="escape", extra=_extra(context))
    with installed.boot(context, mnt, "escape", is_recording=False) as machine:
        machine.run_to_exit(context.seconds(900))
        files = machine.files
    installed.keep_told(context, files)
    text = {name: data.decode(errors="replace") for name, data in files.items()}
    installed.clean(context, mnt)
    _judge(context, text)
    _judge_work(context, text)
    _judge_weakened(context, text["weakened"])

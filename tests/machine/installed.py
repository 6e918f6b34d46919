# SPDX-License-Identifier: GPL-2.0-or-later
"""Machines with a disk: a whole Debian in which the project's packages are installed.

They are installed in a system of debian.py, where maintainer scripts run and DKMS builds the
module; the disk is made of that.  What befalls the machine is a script of unattended/.
"""

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

CRASHKERNEL = {"bookworm": "256M", "trixie": "320M"}
MEMORY_MIB = 1280
RING_BYTES = 1 << 20
# What is printed of a slow machine is of no interest; emulated ones are slow.
PATIENCE = ("watchdog_thresh=60 rcupdate.rcu_cpu_stall_suppress=1 "
            "systemd.default_timeout_start_sec=900")


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


def make(context, fate="misfortune", settings="", with_next=False,
         extra: Path | None = None) -> tuple[Path, str]:
    """The folder with disk, vmlinuz and initrd, and the kernel's release.

    @fate: the script that runs when the machine is up.  @settings: lines for btsrec.conf.
    @with_next: the packages of a next version are in /root/next.
    @extra: a folder that is /root/extra there.
    """
    mnt = context.out / "mnt"
    shutil.rmtree(mnt, ignore_errors=True)
    mnt.mkdir()
    debs = [Path(shutil.copy(deb, mnt)) for deb in _packages(context).glob("btsrec*.deb")]
    if extra:
        shutil.copytree(extra, mnt / "extra")
    if with_next:
        install.next_version(debs, mnt / "next")
    for path in (SOURCE / "tests/machine/unattended").iterdir():
        shutil.copy(path, mnt)
    said = debian.get(context.options.suite).changed(
        mnt, "/mnt/prepare", "/mnt", fate, settings, seconds=context.seconds(600))
    kernel = said.strip().splitlines()[-1]
    if not (mnt / "disk").exists():
        raise Failure(f"no disk was made: {said}")
    context.say(f"installed in {context.options.suite}, kernel {kernel}")
    return mnt, kernel


def boot(context, mnt: Path, name: str, words="", is_recording=True, **config) -> vm.Machine:
    """A machine, not yet started, with the disk of MNT and WORDS on its command line.

    @is_recording: without, the recorder stays off and emulation is several times as fast.
    """
    append = f"root=/dev/vda ro nopti {PATIENCE} {words}"
    if not is_recording:
        append += " btsrec=off"
    config.setdefault("plugin", context.plugin if is_recording else None)
    out = context.out / name
    shutil.rmtree(out, ignore_errors=True)
    return vm.Machine(vm.Config(
        kernel=mnt / "vmlinuz", initrd=(mnt / "initrd").read_bytes(), out=out,
        disk=mnt / "disk", append=append, cpus=context.options.cpus, memory_mib=MEMORY_MIB,
        **config))


def crashkernel(context) -> str:
    """The word that reserves memory for a capture kernel."""
    return f"crashkernel={CRASHKERNEL[context.options.suite]}"


def reports(files: dict) -> dict[str, dict[str, bytes]]:
    """Of the FILES that a guest's witness has sent those of each report, by the report's name."""
    found: dict[str, dict[str, bytes]] = {}
    for name, data in files.items():
        report, _, file = name.partition(".")
        if report[:1].isdigit():
            found.setdefault(report, {})[file] = data
    return found


def compare(context, what: str, history: bytes, model_dir: Path) -> int:
    """The number of branches in the HISTORY of a report; all are the model's."""
    path = context.out / f"{what}.bts"
    path.write_bytes(history)
    events = dump.events(context, path)
    branches = truth.branches_of_text(dump.btsrec(context, "show", path))
    total = 0
    for cpu in range(context.options.cpus):
        log = truth.Log(model_dir / f"cpu{cpu}.log")
        nr = truth.compare(f"{what}, CPU {cpu}", branches.get(cpu, []), log,
                           log.in_ring(RING_BYTES // truth.RECORD_SLOT_BYTES, events[cpu]))
        if nr < 1000:
            raise Failure(f"{what}: CPU {cpu} has only {nr} branches")
        total += nr
    return total


def clean(context, mnt: Path):
    """What is left of MNT at the end, which belongs to root."""
    if not context.options.keep:
        subprocess.run(debian.as_root(["rm", "-rf", mnt]), check=True)


def keep_told(context, files: dict):
    """What a guest has sent, as files of the run's folder."""
    for name, data in files.items():
        (context.out / f"sent-{name}").write_bytes(data)

# SPDX-License-Identifier: GPL-2.0-or-later
"""QEMU with the plugin interface that the BTS model needs, whatever the host runs.

The model writes registers and guest memory and follows interrupts, which plugins can do
from QEMU 11 on. Debian 13 has it in its backports; its packages are unpacked into the
cache and run with their own libraries by their own dynamic linker. So neither root nor
a chroot is needed.
"""

import re
import shutil
import subprocess
from pathlib import Path

import apt
import cache
from errors import Failure

SUITES = ("trixie", "trixie-backports")
PACKAGE = "qemu-system-x86"
MIN_MAJOR = 11
RECIPE = f"1 {SUITES} {PACKAGE}"


def _make(folder: Path):
    private = folder / ".apt"
    private.mkdir()
    for deb in apt.PrivateRoot(private, SUITES).fetch(PACKAGE):
        apt.unpack(deb, folder)
    shutil.rmtree(private)
    _check(folder)


def _check(folder: Path):
    done = subprocess.run([*command(folder), "--version"], text=True, capture_output=True,
                          timeout=600, check=False)
    found = re.search(r"version (\d+)\.", done.stdout)
    if not found or int(found.group(1)) < MIN_MAJOR:
        raise Failure(f"the toolbox needs QEMU {MIN_MAJOR} or newer, not: "
                      f"{(done.stdout + done.stderr).strip()[:300]}")


def get() -> Path:
    """The toolbox's folder; made (about 15 s and 300 MB) if there is none."""
    return cache.entry("toolbox", RECIPE, _make)


def command(folder: Path) -> list[str]:
    """How to start QEMU: the arguments go behind."""
    libs = ":".join(str(folder / sub) for sub in
                    ("lib/x86_64-linux-gnu", "usr/lib/x86_64-linux-gnu"))
    linker = folder / "usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2"
    return [str(linker), "--library-path", libs, str(folder / "usr/bin/qemu-system-x86_64"),
            "-L", str(folder / "usr/share/qemu"), "-L", str(folder / "usr/share/seabios")]

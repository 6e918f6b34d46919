# SPDX-License-Identifier: GPL-2.0-or-later
"""Other releases of Debian, to build and test with their compiler, crash and libraries.

Each is a folder of unpacked packages: those of tests/lib/packages and a shell with its tools.
"""

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import apt
import cache
import chroot
from errors import Failure

SUITES = ("bookworm", "trixie", "forky")
BASE = ("base-files", "bash", "dash", "coreutils", "sed", "grep", "findutils", "diffutils", "mawk",
        "less", "libc-bin", "ncurses-base", "tar", "util-linux")
PACKAGES = Path(__file__).resolve().parents[1] / "lib/packages"


@dataclass
class Suite:
    """@versions: of each package that was unpacked."""

    name: str
    folder: Path
    versions: dict[str, str]

    def run(self, mounts: dict, *words, seconds=600, stdin="") -> subprocess.CompletedProcess:
        """WORDS as a command, with the folders of MOUNTS at /mnt/NAME; its output is kept."""
        try:
            return subprocess.run(chroot.command(self.folder, mounts, *words), input=stdin,
                                  text=True, errors="replace", capture_output=True,
                                  timeout=seconds, check=False)
        except subprocess.TimeoutExpired as error:
            raise Failure(f"{self.name}: {' '.join(map(str, words))}: no end after {seconds} s") \
                from error

    def check(self, mounts: dict, *words, **more) -> str:
        """As run(), but it must succeed; its output."""
        done = self.run(mounts, *words, **more)
        if done.returncode:
            raise Failure(f"{self.name}: {' '.join(map(str, words))}: exit {done.returncode}\n"
                          f"{(done.stdout + done.stderr)[-3000:]}")
        return done.stdout


def _packages() -> list[str]:
    """Those of the project, but for kernel headers, which follow no release of Debian's."""
    lines = PACKAGES.read_text(encoding="ascii").split("\n")
    return [line for line in lines if line and not line.startswith(("#", "linux-headers"))]


def get(name: str) -> Suite:
    """The release NAME; downloaded (120 MB) if it is not there."""
    packages = [*BASE, *_packages()]

    def make(folder: Path):
        private = folder / ".apt"
        private.mkdir()
        debs = apt.PrivateRoot(private, (name,)).fetch(*packages)
        for deb in debs:
            apt.unpack(deb, folder)
        (folder / "versions").write_text("".join(
            deb.name.rpartition("_")[0].replace("_", " ").replace("%3a", ":") + "\n"
            for deb in debs), encoding="ascii")
        chroot.prepare(folder)
        shutil.rmtree(private)

    folder = cache.entry(f"suite-{name}", f"3 {name} {packages}", make)
    lines = (folder / "versions").read_text(encoding="ascii").splitlines()
    return Suite(name, folder, dict(re.split(" ", line, maxsplit=1) for line in lines))

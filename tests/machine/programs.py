# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs of Debian packages with the libraries that they load, for a guest without any."""

import re
import shutil
import subprocess
from pathlib import Path

import apt
import cache
from errors import Failure

# The release with the kernel that the guest runs.
SUITE = "bookworm"
LIBRARIES = ("lib/x86_64-linux-gnu", "usr/lib/x86_64-linux-gnu")
LINKER = "ld-linux-x86-64.so.2"


def _get(package: str, suites=(SUITE,)) -> Path:
    def make(folder: Path):
        private = folder / ".apt"
        private.mkdir()
        for deb in apt.PrivateRoot(private, suites).fetch(package):
            apt.unpack(deb, folder)
        shutil.rmtree(private)

    return cache.entry("-".join((package, *suites[1:])), f"1 {' '.join(suites)} {package}", make)


def _libraries(folder: Path, program: Path, linker: Path) -> list[Path]:
    search = ":".join(str(folder / sub) for sub in LIBRARIES)
    done = subprocess.run([linker, "--library-path", search, "--list", program],
                          text=True, capture_output=True, timeout=60, check=False)
    if done.returncode or "not found" in done.stdout:
        raise Failure(f"{program} does not load: {done.stdout}{done.stderr}")
    return [Path(path) for path in re.findall(r"=> (\S+)", done.stdout)]


def of_host(program: Path, name: str) -> list[tuple[str, bytes]]:
    """PROGRAM, linked on this machine, as NAME in the guest, with the libraries that it loads."""
    done = subprocess.run(["ldd", program], text=True, capture_output=True, timeout=60, check=False)
    if done.returncode or "not found" in done.stdout:
        raise Failure(f"{program} does not load: {done.stdout}{done.stderr}")
    found = [(name, program.read_bytes())]
    for path in map(Path, re.findall(r"(/\S+) \(0x", done.stdout)):
        folder = "lib64" if path.name == LINKER else "lib/x86_64-linux-gnu"
        found.append((f"{folder}/{path.name}", path.read_bytes()))
    return found


def command(package: str, program: str, suites) -> list[str]:
    """How to run PROGRAM of PACKAGE of another release on this host."""
    folder = _get(package, suites)
    linker = next(path for sub in LIBRARIES for path in (folder / sub).glob(LINKER))
    search = ":".join(str(folder / sub) for sub in LIBRARIES)
    return [str(linker), "--library-path", search, str(folder / program)]


def files(package: str, program: str) -> list[tuple[str, bytes]]:
    """PROGRAM of PACKAGE (its path there) and what it loads, as (name in the guest, content)."""
    folder = _get(package)
    linker = next(path for sub in LIBRARIES for path in (folder / sub).glob(LINKER))
    names = {program: folder / program, f"lib64/{LINKER}": linker}
    for path in _libraries(folder, folder / program, linker):
        names[f"lib/x86_64-linux-gnu/{path.name}"] = path
    return [(name, path.read_bytes()) for name, path in names.items()]

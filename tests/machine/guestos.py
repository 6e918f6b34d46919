# SPDX-License-Identifier: GPL-2.0-or-later
"""What the guest is made of: Debian's kernel and busybox, from packages that stay uninstalled."""

import re
from dataclasses import dataclass
from pathlib import Path

import apt
import cache
from errors import Failure

META = "linux-image-cloud-amd64"
RECIPE = "1"


@dataclass
class GuestOS:
    """The pieces of one kernel package."""

    folder: Path
    release: str

    @property
    def vmlinuz(self) -> Path:
        return self.folder / f"boot/vmlinuz-{self.release}"

    @property
    def vmlinux(self) -> Path:
        """With debug information: what crash wants."""
        return self.folder / f"usr/lib/debug/boot/vmlinux-{self.release}"

    @property
    def system_map(self) -> Path:
        return self.folder / f"usr/lib/debug/boot/System.map-{self.release}"

    @property
    def busybox(self) -> Path:
        return self.folder / "bin/busybox"

    def module(self, name: str) -> Path:
        """A module of the distribution's kernel."""
        tree = self.folder / f"lib/modules/{self.release}"
        for path in tree.rglob(f"{name}.ko"):
            return path
        raise Failure(f"no module {name} in {tree}")


def _image_package() -> tuple[str, str]:
    """Name and version of the kernel package that the meta-package stands for now."""
    depends = apt.candidate(META, "Depends")
    found = re.search(r"(linux-image-[^ ,]+)(?: \(= ([^)]+)\))?", depends)
    if not found:
        raise Failure(f"{META} depends on no kernel: {depends}")
    name = found.group(1)
    return name, found.group(2) or apt.candidate(name, "Version")


def release() -> str:
    """The kernel release that the guest runs; the module must be built for it."""
    return _image_package()[0].removeprefix("linux-image-")


def get() -> GuestOS:
    """The guest's pieces; downloaded (310 MB) and unpacked if they are not there."""
    package, version = _image_package()
    guest_release = package.removeprefix("linux-image-")

    def make(folder: Path):
        debs = folder / ".debs"
        debs.mkdir()
        apt.unpack(apt.download(package, debs, version), folder)
        debug = apt.download(f"{package}-dbg", debs, version)
        apt.unpack_members(debug, folder, [
            f"./usr/lib/debug/boot/{name}-{guest_release}" for name in ("System.map", "vmlinux")])
        apt.unpack(apt.download("busybox-static", debs), folder)
        for deb in debs.iterdir():
            deb.unlink()
        debs.rmdir()

    folder = cache.entry("guest", f"{RECIPE} {package} {version}", make)
    return GuestOS(folder, guest_release)

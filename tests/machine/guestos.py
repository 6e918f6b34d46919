# SPDX-License-Identifier: GPL-2.0-or-later
"""What the guest is made of: Debian's kernel and busybox, from packages that stay uninstalled.

The first kernel is that of the host's own release, with the debug information that crash
wants; modules for it are made with the host's headers and compiler. The other kernels are
those of later releases. Each comes without debug information, but with its headers and
the compiler that they want, and modules are made in a chroot of all that.
"""

import lzma
import re
import shlex
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import apt
import cache
from errors import Failure

META = "linux-image-cloud-amd64"
RECIPE = "1"

# The newest suite last: packages are taken from it.
SUITES = {"6.12": ("trixie",), "7.2": ("trixie", "trixie-backports")}
KERNELS = ("6.1", *SUITES)
PACKAGES = ("linux-image-cloud-amd64", "linux-headers-cloud-amd64", "gcc-14", "binutils", "make",
            "mawk", "base-files", "bash", "dash", "coreutils", "sed", "grep", "findutils",
            "busybox-static")

# Arguments: the root, the folder of the module, make's arguments.
CHROOT_MAKE = """
set -e
root=$1 module=$2
shift 2
mkdir -p "$root/mnt/module"
mount --bind "$module" "$root/mnt/module"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
exec chroot "$root" env -i PATH=/usr/sbin:/usr/bin make AWK=mawk M=/mnt/module "$@"
"""


@dataclass
class GuestOS:
    """The pieces of one kernel package.

    @has_toolchain: headers and compiler are in @folder, too.
    """

    folder: Path
    release: str
    has_toolchain: bool = False

    @property
    def vmlinuz(self) -> Path:
        for path in (self.folder / f"boot/vmlinuz-{self.release}",
                     self.folder / f"usr/lib/modules/{self.release}/vmlinuz"):
            if path.is_file():
                return path
        raise Failure(f"no vmlinuz of {self.release} in {self.folder}")

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

    def make_modules(self, folder: Path):
        """Build the kernel modules whose Kbuild is in FOLDER."""
        if self.has_toolchain:
            command = ["unshare", "--map-root-user", "--mount", "--pid", "--fork", "sh", "-c",
                       CHROOT_MAKE, "sh", str(self.folder), str(folder),
                       "-C", f"/usr/src/linux-headers-{self.release}", "modules"]
        else:
            command = ["make", "-C", f"/lib/modules/{self.release}/build", f"M={folder}", "modules"]
        done = subprocess.run(command, check=False, text=True, stdin=subprocess.DEVNULL,
                              capture_output=True)
        if done.returncode:
            needed = "" if self.has_toolchain else \
                f"; is linux-headers-{self.release} installed?"
            raise Failure(f"{shlex.join(command[-4:])}: the modules do not build{needed}\n"
                          f"{done.stdout[-1000:]}{done.stderr[-3000:]}")


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


def _unpack_modules(tree: Path):
    """Modules that the guest's busybox can load; most are of no use here and stay packed."""
    for path in tree.rglob("qemu_fw_cfg.ko.xz"):
        path.with_suffix("").write_bytes(lzma.decompress(path.read_bytes()))


def _get_later(kernel: str) -> GuestOS:
    suites = SUITES[kernel]

    def make(folder: Path):
        private = folder / ".apt"
        private.mkdir()
        for deb in apt.PrivateRoot(private, suites).fetch(*PACKAGES):
            apt.unpack(deb, folder)
        shutil.rmtree(private)
        (folder / "mnt/module").mkdir(parents=True)
        _unpack_modules(folder / "usr/lib/modules")

    folder = cache.entry(f"guest-{kernel}", f"1 {suites} {PACKAGES}", make)
    releases = [path.name for path in (folder / "usr/lib/modules").glob(f"{kernel}.*")]
    if len(releases) != 1:
        raise Failure(f"{suites[-1]} has no kernel {kernel}, but {releases or 'another'}")
    return GuestOS(folder, releases[0], has_toolchain=True)


def get(kernel: str = KERNELS[0]) -> GuestOS:
    """The guest's pieces; downloaded (310 MB, later kernels 140 MB) if they are not there."""
    if kernel in SUITES:
        return _get_later(kernel)
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

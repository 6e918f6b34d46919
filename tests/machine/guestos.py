# SPDX-License-Identifier: GPL-2.0-or-later
"""What the guest is made of: Debian's kernel and busybox, from packages that stay uninstalled.

The first kernel is that of the host's own release, with the debug information that crash
wants; modules for it are made with the host's headers and compiler. The other kernels are
those of other releases. Each comes with its headers and the compiler that they want, and
modules are made in a chroot of all that; debug information is a download of its own. A
kernel may also be one that was built from source, given by its build folder.
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
import chroot
from errors import Failure

META = "linux-image-cloud-amd64"
RECIPE = "1"

# The newest suite last: packages are taken from it.
SUITES = {"5.10": ("bullseye", "bullseye-security"), "6.12": ("trixie",),
          "7.2": ("trixie", "trixie-backports"), "7.3": ("trixie", "trixie-backports")}
KERNELS = ("6.1", *SUITES)
TOOLS = ("binutils", "make", "mawk", "base-files", "bash", "dash", "coreutils", "sed", "grep",
         "findutils", "busybox-static")
COMPILERS = {"5.10": "gcc-10", "6.1": "gcc-12", "6.12": "gcc-14", "7.2": "gcc-14", "7.3": "gcc-14"}
FLAVOUR = "cloud-amd64"
# Their VMCOREINFO does not say where kallsyms is, so their dumps have the names of modules alone.
NAMELESS = ("5.10",)
# Of the release: it lacks what the guests' scripts use.
OLD_BUSYBOX = ("5.10",)


@dataclass
class GuestOS:
    """The pieces of one kernel package.

    @has_toolchain: headers and compiler are in @folder, too.
    @is_hosts: the host's own kernel package; the build makes the recorder for its headers.
    @other: has the busybox; None: this one has.
    """

    folder: Path
    release: str
    has_toolchain: bool = False
    is_hosts: bool = False
    other: "GuestOS | None" = None

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
        return (self.other or self).folder / "bin/busybox"

    def module(self, name: str) -> Path:
        """A module of the distribution's kernel."""
        tree = self.folder / f"lib/modules/{self.release}"
        for path in tree.rglob(f"{name}.ko"):
            return path
        raise Failure(f"no module {name} in {tree}")

    def _make_command(self, folder: Path, *words: str) -> list[str]:
        if self.has_toolchain:
            return chroot.command(self.folder, {"module": folder}, "make", "AWK=mawk",
                                  "-C", f"/usr/src/linux-headers-{self.release}",
                                  "M=/mnt/module", *words, "modules")
        return ["make", "-C", f"/lib/modules/{self.release}/build", f"M={folder}", *words,
                "modules"]

    def make_modules(self, folder: Path, *words: str):
        """Build the kernel modules with their Kbuild in FOLDER; WORDS are more for make."""
        command = self._make_command(folder, *words)
        done = subprocess.run(command, check=False, text=True, stdin=subprocess.DEVNULL,
                              capture_output=True)
        if done.returncode:
            needed = f"; is linux-headers-{self.release} installed?" if self.is_hosts else ""
            raise Failure(f"{shlex.join(command[-4:])}: the modules do not build{needed}\n"
                          f"{done.stdout[-1000:]}{done.stderr[-3000:]}")


@dataclass
class SelfMade(GuestOS):
    """A kernel's build folder, and the busybox of @other."""

    @property
    def vmlinuz(self) -> Path:
        return self.folder / "arch/x86/boot/bzImage"

    @property
    def vmlinux(self) -> Path:
        return self.folder / "vmlinux"

    @property
    def system_map(self) -> Path:
        return self.folder / "System.map"

    def module(self, name: str) -> Path:
        for path in self.folder.rglob(f"{name}.ko"):
            return path
        raise Failure(f"no module {name} in {self.folder}")

    def _make_command(self, folder: Path, *words: str) -> list[str]:
        return ["make", "-C", str(self.folder), f"M={folder}", *words, "modules"]


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


def _unpack_modules(folder: Path):
    """Modules that the guest's busybox can load; most are of no use here and stay packed."""
    for path in folder.rglob("qemu_fw_cfg.ko.xz"):
        path.with_suffix("").write_bytes(lzma.decompress(path.read_bytes()))


def newest(source: apt.PrivateRoot, kernel: str, flavour: str) -> str:
    """The newest release of the version KERNEL, or of all if that is empty."""
    version = re.escape(f"{kernel}.") if kernel else r"\d+\."
    form = re.compile(rf"linux-headers-({version}[\d.]+(?:-\d+|\+deb\d+)-{flavour})")
    found = filter(None, map(form.fullmatch, source.names(f"linux-headers-{kernel}")))
    best = max((match.group(1) for match in found), default=None,
               key=lambda name: [int(number) for number in re.findall(r"\d+", name)])
    if not best:
        raise Failure(f"{source.suites[-1]} has no kernel {kernel} for {flavour}")
    return best


def _get_other(kernel: str) -> GuestOS:
    suites = SUITES[kernel]
    tools = (COMPILERS[kernel], *TOOLS)

    def make(folder: Path):
        private = folder / ".apt"
        private.mkdir()
        source = apt.PrivateRoot(private, suites)
        found = newest(source, kernel, FLAVOUR)
        for deb in source.fetch(f"linux-image-{found}", f"linux-headers-{found}", *tools):
            apt.unpack(deb, folder)
        shutil.rmtree(private)
        chroot.prepare(folder)
        _unpack_modules(folder)

    folder = cache.entry(f"guest-{kernel}", f"2 {suites} {FLAVOUR} {tools}", make)
    # Packages up to Debian 12 have modules in /lib.
    releases = {path.name for place in ("lib", "usr/lib")
                for path in (folder / place / "modules").glob(f"{kernel}.*")}
    if len(releases) != 1:
        raise Failure(f"{folder} holds the kernels {releases}, not one {kernel}")
    return GuestOS(folder, releases.pop(), has_toolchain=True,
                   other=get() if kernel in OLD_BUSYBOX else None)


def get(kernel: str = KERNELS[0]) -> GuestOS:
    """The guest's pieces; downloaded (310 MB, other kernels 140 MB) if they are not there."""
    if kernel in SUITES:
        return _get_other(kernel)
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
    return GuestOS(folder, guest_release, is_hosts=True)


def debug_vmlinux(kernel: str) -> Path:
    """KERNEL with debug information; of other kernels downloaded (350 MB) if it is not there."""
    if kernel not in SUITES:
        return get(kernel).vmlinux
    wanted = get(kernel).release

    def make(folder: Path):
        private = folder / ".apt"
        private.mkdir()
        source = apt.PrivateRoot(private, SUITES[kernel])
        deb = source.download(f"linux-image-{wanted}-dbg", private)
        apt.unpack_without(deb, folder, "*.ko*")
        shutil.rmtree(private)

    folder = cache.entry(f"vmlinux-{kernel}", f"1 {wanted}", make)
    return (folder / f"usr/lib/debug/boot/vmlinux-{wanted}").resolve()


def of_folder(folder: Path) -> GuestOS:
    """The kernel that was built from source in FOLDER."""
    try:
        found = (folder / "include/config/kernel.release").read_text(encoding="ascii").strip()
    except OSError as error:
        raise Failure(f"{folder} is no folder in which a kernel was built: {error}") from error
    return SelfMade(folder, found, other=get())

# SPDX-License-Identifier: GPL-2.0-or-later
"""Installed systems of Debian: what packages are installed into, and what a machine boots.

Unlike the folders of suiteos.py these went through dpkg: maintainer scripts ran, services
are enabled, DKMS builds.  That takes root.  What a run changes, it changes in memory.
"""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import apt
import cache
from errors import Failure

SUITES = ("bookworm", "trixie")
# A minimal system with systemd, kernel, headers, DKMS and kdump; what the project's own
# packages depend on is downloaded, not installed, so that apt does it.
INSTALLED = ("systemd-sysv", "udev", "kmod", "dbus", "initramfs-tools", "linux-image-cloud-amd64",
             "linux-headers-cloud-amd64", "dkms", "gcc", "make", "kdump-tools", "makedumpfile",
             "procps", "e2fsprogs")
DOWNLOADED = ("libkdumpfile-dev", "libbpf-dev", "libdeflate-dev", "libdw-dev", "libelf-dev",
              "libzstd-dev", "libzydis-dev", "zlib1g-dev", "liblzo2-2", "crash", "python3")
# What builds the project's packages where they are not those of the host's release.
BUILDING = {"trixie": ("cmake", "ninja-build", "pkgconf", "dpkg-dev", "libc6-dev", "file",
                       "systemd-dev")}
# All that the emulated machine's disk needs; the default would be every driver there is.
DRIVERS = ("ext4", "crc32c", "virtio_pci", "virtio_blk")
SECONDS = 1800

# Arguments: the system, the memory for changes in MiB, a folder for /mnt, --, the command.
CHANGEABLE = """
set -e
system=$1 mnt=$3
work=$(mktemp -d)
mount -t tmpfs -o size=$2M none "$work"
shift 4
mkdir "$work/upper" "$work/work" "$work/root"
mount -t overlay overlay "$work/root" \
	-o "lowerdir=$system,upperdir=$work/upper,workdir=$work/work"
mount --bind "$mnt" "$work/root/mnt"
mount -t proc proc "$work/root/proc"
mount --rbind /dev "$work/root/dev"
mount -t tmpfs none "$work/root/tmp"
path=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
chroot "$work/root" env -i PATH=$path HOME=/root LC_ALL=C.UTF-8 TERM=dumb \
	DEBIAN_FRONTEND=noninteractive "$@"
"""


def as_root(command: list) -> list[str]:
    """COMMAND for root: as it is, or through sudo."""
    words = [str(word) for word in command]
    return words if os.geteuid() == 0 else ["sudo", "-n", *words]


@dataclass
class System:
    """An installed system; its folder is never changed."""

    suite: str
    folder: Path

    def changed(self, mnt: Path, *words, memory_mib=1500, seconds=SECONDS) -> str:
        """What WORDS print, run in the system with MNT at /mnt, without a network.

        Changes live as long as the command.  A Failure if it fails.
        """
        command = as_root(["unshare", "--mount", "--pid", "--net", "--fork", "sh", "-c", CHANGEABLE,
                           "sh", self.folder, memory_mib, mnt, "--", *words])
        try:
            done = subprocess.run(command, text=True, errors="replace", stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  timeout=seconds, check=False)
        except subprocess.TimeoutExpired as error:
            raise Failure(f"{self.suite}: {words[0]}: no end after {seconds} s") from error
        if done.returncode:
            raise Failure(f"{self.suite}: {words[0]}: exit {done.returncode}\n"
                          f"{done.stdout[-4000:]}")
        return done.stdout


def _hook(text: str) -> str:
    return f"--essential-hook={text}"


def _downloaded(suite: str) -> tuple:
    return DOWNLOADED + BUILDING.get(suite, ())


def _make(suite: str, folder: Path):
    drivers = "\\n".join(DRIVERS)
    command = as_root([
        "mmdebstrap", "--quiet", "--mode=root", "--variant=minbase",
        "--skip=cleanup/apt/lists,cleanup/apt/cache", '--aptopt=Acquire::Languages "none"',
        '--aptopt=Acquire::Retries "3"', '--aptopt=Apt::Install-Recommends "false"',
        _hook('mkdir -p "$1/etc/initramfs-tools/conf.d"'),
        _hook('echo MODULES=list >"$1/etc/initramfs-tools/conf.d/machine"'),
        _hook(f'printf "{drivers}\\n" >"$1/etc/initramfs-tools/modules"'),
        f"--include={','.join(INSTALLED)}",
        '--customize-hook=chroot "$1" apt-get -y -q install --download-only '
        f"--no-install-recommends {' '.join(_downloaded(suite))}",
        # Of the log of making it, nothing is wanted in the system.
        '--customize-hook=find "$1/var/log" -type f -delete',
        suite, folder, apt.mirror()])
    apt.run(command, SECONDS)


def get(suite: str) -> System:
    """Debian SUITE; downloaded (150 MB) and installed, which takes root, if it is not there."""
    recipe = f"2 {suite} {INSTALLED} {_downloaded(suite)} {DRIVERS}"
    return System(suite, cache.entry(f"installed-{suite}", recipe,
                                     lambda folder: _make(suite, folder)))

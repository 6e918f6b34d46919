# SPDX-License-Identifier: GPL-2.0-or-later
"""The guest's root file system: busybox, modules and one script in an initramfs.

The format is the kernel's Documentation/driver-api/early-userspace/buffer-format.rst
("newc"). The content is written uncompressed: it lives for one boot.
"""

import stat
from pathlib import Path

INIT = """#!/bin/busybox sh
/bin/busybox mkdir -p /proc /sys /dev /tmp /usr/bin /usr/sbin /sbin
/bin/busybox --install -s
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev 2>/dev/null
mount -t tracefs tracefs /sys/kernel/tracing
exec 0</dev/console 1>/dev/console 2>&1
export PATH=/bin:/sbin:/usr/bin:/usr/sbin HOME=/
stty -F /dev/ttyS1 raw -echo
exec 3<>/dev/ttyS1
dmesg -n 7
. /lib/guest.sh
load_modules
say "guest: up after $(cut -d' ' -f1 /proc/uptime) s, kernel $(uname -r), $(nproc) CPUs"
echo 1 >/proc/sys/kernel/sysrq
if [ -n "$INTERACTIVE" ]; then
\t. /scenario.sh
\tsetsid cttyhack sh -l
\tprintf 'Leave a dump of the memory on the host? [y/N] '
\tread -r answer
\tcase "$answer" in [yY]*) ask dump ;; esac
\tfinish 0
fi
(. /scenario.sh)
finish $?
"""

# The guest's half of the protocol on ttyS1; channel.py is the host's.
GUEST_SH = """
say() { echo "$*"; }

# Modules in the order given; "name.ko a=b" passes parameters.
load_modules() {
\t[ -f /modules.list ] || return 0
\twhile read -r module; do
\t\t# shellcheck disable=SC2086
\t\tinsmod /modules/$module || finish 90
\tdone </modules.list
}

# Give the host a file.
send() {
\techo "@file ${2:-$(basename "$1")}" >&3
\tgzip -c <"$1" | base64 >&3
\techo "@end" >&3
}

# Ask the host to do something and wait for its answer, which is printed.
ask() {
\techo "@ask $*" >&3
\tread -r answer <&3
\techo "$answer"
}

# The end of the run: 0 is success.
finish() {
\techo "@finish $1" >&3
\tsleep 60
\tpoweroff -f
}

fail() {
\tsay "FAIL: $*"
\techo "@fail $*" >&3
\tfinish 1
\tsleep 1000
}
"""


class Archive:
    """A newc archive under construction; parents are made as needed."""

    def __init__(self):
        self._data = bytearray()
        self._seen = set()
        self._inode = 0

    def _add(self, name: str, mode: int, data: bytes, rdev=(0, 0)):
        encoded = name.encode() + b"\0"
        self._inode += 1
        fields = (self._inode, mode, 0, 0, 1, 0, len(data), 0, 0, *rdev, len(encoded), 0)
        self._data += b"070701" + b"".join(b"%08x" % field for field in fields) + encoded
        self._pad()
        self._data += data
        self._pad()
        self._seen.add(name)

    def _pad(self):
        self._data += bytes(-len(self._data) % 4)

    def folder(self, name: str):
        for parent in [*reversed(Path(name).parents), Path(name)]:
            if str(parent) != "." and str(parent) not in self._seen:
                self._add(str(parent), stat.S_IFDIR | 0o755, b"")

    def file(self, name: str, data: bytes, mode=0o755):
        self.folder(str(Path(name).parent))
        self._add(name, stat.S_IFREG | mode, data)

    def char_device(self, name: str, major: int, minor: int):
        self.folder(str(Path(name).parent))
        self._add(name, stat.S_IFCHR | 0o600, b"", (major, minor))

    def finished(self) -> bytes:
        self._add("TRAILER!!!", 0, b"")
        return bytes(self._data)


def build(busybox: Path, script: str, modules=(), files=(), interactive=False) -> bytes:
    """The archive of one run.

    @script: runs as /scenario.sh, sourced by the shell of /init.
    @modules: (path, parameters) in the order of loading.
    @files: (name in the guest, bytes).
    """
    archive = Archive()
    archive.folder("dev")
    archive.char_device("dev/console", 5, 1)
    archive.file("bin/busybox", busybox.read_bytes())
    archive.file("init", INIT.replace("$INTERACTIVE", "1" if interactive else "").encode())
    archive.file("lib/guest.sh", GUEST_SH.encode())
    archive.file("scenario.sh", script.encode())
    for path, _ in modules:
        archive.file(f"modules/{path.name}", path.read_bytes(), 0o644)
    archive.file("modules.list", "".join(
        f"{path.name} {parameters}\n" for path, parameters in modules).encode(), 0o644)
    for name, data in files:
        archive.file(name, data)
    return archive.finished()

# SPDX-License-Identifier: GPL-2.0-or-later
"""Commands that run in a folder of unpacked packages as if it were installed; needs no root."""

from pathlib import Path

# Arguments: the root, then pairs of a folder outside and its place under /mnt, --, the command.
SCRIPT = """
set -e
root=$1
shift
mount -t tmpfs none "$root/mnt"
while [ "$1" != -- ]; do
	mkdir "$root/mnt/$2"
	mount --bind "$1" "$root/mnt/$2"
	shift 2
done
shift
mount -t tmpfs none "$root/tmp"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
path=/usr/sbin:/usr/bin:/sbin:/bin
exec chroot "$root" env -i PATH=$path HOME=/tmp LC_ALL=C.UTF-8 TERM=dumb "$@"
"""


# What maintainer scripts make: the shell in bookworm, the others as alternatives.
LINKS = (("bin/sh", "dash"), ("usr/bin/awk", "mawk"), ("usr/bin/cc", "gcc"))


def prepare(root: Path):
    """What a fresh folder of packages lacks."""
    for place in ("mnt", "tmp", "proc", "dev"):
        (root / place).mkdir(exist_ok=True)
    for name, target in LINKS:
        link = root / name
        if not link.exists() and (link.parent / target).exists():
            link.symlink_to(target)


def command(root: Path, mounts: dict[str, Path], *words) -> list[str]:
    """WORDS as a command in ROOT, with the folders of MOUNTS at /mnt/NAME."""
    pairs = [str(word) for name, folder in mounts.items() for word in (folder, name)]
    return ["unshare", "--map-root-user", "--mount", "--pid", "--fork", "sh", "-c", SCRIPT, "sh",
            str(root), *pairs, "--", *map(str, words)]

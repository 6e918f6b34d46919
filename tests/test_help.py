#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Every executable script of the tree answers --help and -h, and does nothing else then.

Each runs in an empty folder, which is its home, too, and stays empty. Of programs it finds only
interpreters and what prints a text: where it starts another one, that is an error message.
"""

import argparse
import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

PROGRAMS = ("bash", "sh", "env", "sed", "cat", "dirname", "basename")
SECONDS = 300
# Others decide what these are called with: initramfs-tools and kdump.
CALLED_BY_OTHERS = ("systemd/initramfs/hook", "systemd/initramfs/script",
                    "systemd/kdump-utils/pre.d-btsrec", "systemd/kdump-utils/post.d-btsrec",
                    "systemd/kdump-utils/module-setup.sh")
FOLDERS = (".ci", "decoder", "docs", "systemd", "tests")


def scripts(source: pathlib.Path) -> list[pathlib.Path]:
    """Files that may be executed and name an interpreter."""
    found = []
    for folder in FOLDERS:
        for path in sorted((source / folder).rglob("*")):
            if path.is_file() and os.access(path, os.X_OK) and path.open("rb").read(2) == b"#!":
                found.append(path)
    return found


def faults(path: pathlib.Path, word: str, programs: pathlib.Path) -> list[str]:
    with tempfile.TemporaryDirectory() as home:
        done = subprocess.run([path, word], cwd=home, text=True, errors="replace", check=False,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS,
                              env={"PATH": str(programs), "HOME": home, "TMPDIR": home,
                                   "LC_ALL": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1"})
        left = os.listdir(home)
    found = []
    if done.returncode:
        found.append(f"exit status {done.returncode}")
    if "usage:" not in done.stdout.lower():
        found.append("no line with \"usage:\"")
    if done.stderr:
        found.append(f"on standard error: {done.stderr[-300:].strip()}")
    if left:
        found.append(f"left behind: {', '.join(left)}")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source", type=pathlib.Path, nargs="?",
                        default=pathlib.Path(__file__).resolve().parents[1])
    source = parser.parse_args().source.resolve()
    left_out = {source / name for name in CALLED_BY_OTHERS}
    tried = [path for path in scripts(source) if path not in left_out]
    nr_faults = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in PROGRAMS:
            os.symlink(shutil.which(name), f"{folder}/{name}")
        os.symlink(os.path.realpath(sys.executable), f"{folder}/python3")
        runs = [(path, word) for path in tried for word in ("--help", "-h")]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            results = pool.map(lambda run: faults(*run, pathlib.Path(folder)), runs)
        for (path, word), found in zip(runs, results):
            for text in found:
                nr_faults += 1
                print(f"{path.relative_to(source)} {word}: {text}")
    print(f"{len(tried)} scripts, {nr_faults} faults")
    return 1 if nr_faults or not tried else 0


if __name__ == "__main__":
    sys.exit(main())

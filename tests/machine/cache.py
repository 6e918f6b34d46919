# SPDX-License-Identifier: GPL-2.0-or-later
"""The cache of everything that can be made again: the toolbox and the guest's pieces.

An entry is a folder named after what it is and a hash of how it was made. It appears
by one rename, when it is whole, and never changes afterwards; so a run needs no lock
to use an entry, and two runs that need the same new one make it once.
"""

import fcntl
import hashlib
import os
import shutil
from contextlib import contextmanager
from pathlib import Path


def root() -> Path:
    """The folder of all entries; made on demand, deletable at any time between runs."""
    base = os.environ.get("BTSREC_CACHE")
    if not base:
        base = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"),
                            "btsrec")
    path = Path(base).resolve()
    path.mkdir(parents=True, exist_ok=True)
    return path


@contextmanager
def lock(name: str):
    """Held by the one run that makes NAME; the kernel drops it if that run dies."""
    with open(root() / f".lock-{name}", "w", encoding="ascii") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def entry(name: str, recipe: str, make) -> Path:
    """The folder NAME as made by RECIPE (a text that decides the content).

    make(folder) fills an empty folder and is called only if no such entry exists.
    What a run that died has left half-made is removed by the next one.
    """
    key = hashlib.sha256(recipe.encode()).hexdigest()[:12]
    path = root() / f"{name}-{key}"
    if path.is_dir():
        return path
    with lock(name):
        if path.is_dir():
            return path
        temp = root() / f".tmp-{name}"
        shutil.rmtree(temp, ignore_errors=True)
        temp.mkdir()
        make(temp)
        temp.rename(path)
    return path

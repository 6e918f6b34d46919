# SPDX-License-Identifier: GPL-2.0-or-later
"""System.map of the guest's kernel: of the package, or what the kernel says itself.

Of most kernels the package with System.map is large, and not fetched. /proc/kallsyms has the same
symbols, at addresses that KASLR has moved, and those of modules beside.
"""

import re
from pathlib import Path

from errors import Failure

# For a guest's script.
SEND = "cat /proc/kallsyms >/tmp/kallsyms && send /tmp/kallsyms || exit 1\n"
TEXT_KVA = 0xffffffff81000000
IMAGE_KVA = 0xffffffff80000000


def script(context) -> str:
    """What the guest has to do for path()."""
    return "" if context.os.system_map.exists() else SEND


def path(context, files: dict[str, bytes]) -> Path:
    """@files: what a guest has sent that did what script() says."""
    if context.os.system_map.exists():
        return context.os.system_map
    symbols = re.findall(r"^([0-9a-f]+) (\w \S+)$", files["kallsyms"].decode(), re.M)
    moved = next((int(kva, 16) - TEXT_KVA for kva, name in symbols if name == "T _text"), None)
    if moved is None:
        raise Failure("/proc/kallsyms does not say where the kernel is")
    made = context.out / "System.map"
    with open(made, "w", encoding="ascii") as file:
        for kva, name in symbols:
            at = int(kva, 16)
            file.write(f"{at - moved if at >= IMAGE_KVA else at:016x} {name}\n")
    return made

# SPDX-License-Identifier: GPL-2.0-or-later
"""System.map of the guest's kernel: of the package, or what the kernel says itself.

Of most kernels the package with System.map is large, and not fetched. /proc/kallsyms has the same
symbols at the same addresses, if KASLR is off, and those of modules beside. A machine of its own
is asked: one that records takes minutes to send it.
"""

import re
from pathlib import Path

from errors import Failure

SCRIPT = "cat /proc/kallsyms >/tmp/kallsyms && send /tmp/kallsyms || exit 1\n"


def path(context) -> Path:
    """The file; the package's is where it is."""
    if context.os.system_map.exists():
        return context.os.system_map
    with context.boot(SCRIPT, name="boot-map", plugin=None, append="nokaslr") as machine:
        machine.expect_finish(context.seconds(240))
        symbols = re.findall(r"^[0-9a-f]+ \w \S+$", machine.files["kallsyms"].decode(), re.M)
    if not any(symbol.endswith(" T _text") for symbol in symbols):
        raise Failure("/proc/kallsyms does not say where the kernel is")
    made = context.out / "System.map"
    made.write_text("\n".join([*symbols, ""]), encoding="ascii")
    return made

# SPDX-License-Identifier: GPL-2.0-or-later
"""A shell on the emulated machine, with the recorder armed and every key of yours sent there.

Leave it with "exit", which offers a dump; a panic leaves one without asking.
"""

import sys
from pathlib import Path

from errors import Failure

SUMMARY = "a shell on the machine, the recorder armed"

SCRIPT = """
cat /dev/btsrec
cat <<END

The recorder is armed. Commands for it: echo mark TEXT, freeze, disarm or arm into
/dev/btsrec; cat /dev/btsrec is its status. "echo c >/proc/sysrq-trigger" panics.
"exit" ends the machine and offers a dump of its memory.

END
"""


def add_options(parser):
    parser.add_argument("--parameters", default="", help="of btsrec.ko, such as ring_bytes=64K")
    parser.add_argument("--dump", metavar="FILE", help="where a dump goes (dump in --out)")
    parser.add_argument("--append", default="nopti", help="kernel command line (nopti)")


def _advise(context, path: Path):
    print(f"\nThe memory of the machine is in {path}. Look at it:\n"
          f"  {context.btsrec} info {path}\n"
          f"  {context.btsrec} show --system-map {context.os.system_map} {path} | tail\n"
          f"  crash {context.os.vmlinux} {path}\n"
          f"  crash> extend {context.crash_extension}\n"
          f"  crash> bts")


def run(context):
    if not sys.stdin.isatty():
        raise Failure("play needs a terminal")
    path = Path(context.options.dump).resolve() if context.options.dump else context.out / "dump"

    def take_dump(machine, _):
        path.unlink(missing_ok=True)
        machine.dump(path, resume=True)
        return f"dump written to {path}"

    with context.boot(SCRIPT, context.recorder_modules(context.options.parameters),
                      answers={"dump": take_dump}, append=context.options.append,
                      interactive=True) as machine:
        machine.run(float("inf"))
        if machine.panicked:
            take_dump(machine, "")
        machine.quit()
    if path.exists():
        _advise(context, path)

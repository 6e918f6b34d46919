# SPDX-License-Identifier: GPL-2.0-or-later
"""A kernel that was entered by kexec, and crashes: the root of the one before is not found.

Memory outlives kexec, so the root page of an armed recorder would still be in the first 16 MiB.
The module makes it none at the very end; a search of all memory must not find a root either.
"""

import dump
import programs
from errors import Failure

SUMMARY = "after kexec the history of the kernel before is not taken for the new one's"

SCRIPT = """
insmod /modules/btsrec.ko || fail "the recorder does not load"
dmesg | grep 'btsrec: Loaded' >/tmp/loaded
send /tmp/loaded
kexec -l /vmlinuz --append="console=ttyS0 quiet panic=0" || fail "the next kernel does not load"
kexec -e
sleep 100
"""

# What only a kernel without any root file system says.
NEXT_KERNEL = "Unable to mount root fs"
NO_ROOT = (3, 5)


def _find(context, path, *options) -> str:
    return dump.btsrec(context, "info", *options, path, ok=NO_ROOT)


def run(context):
    path = context.out / "dump"
    path.unlink(missing_ok=True)
    files = [*programs.files("kexec-tools", "sbin/kexec"),
             ("modules/btsrec.ko", context.recorder.read_bytes()),
             ("vmlinuz", context.os.vmlinuz.read_bytes())]
    with context.boot(SCRIPT, [context.os.module("qemu_fw_cfg")], files=files,
                      memory_mib=context.options.memory + 512) as machine:
        machine.run(context.seconds(240))
        if NEXT_KERNEL not in machine.console():
            raise machine.failure("the next kernel did not begin")
        if not machine.files.get("loaded", b"").strip():
            raise Failure("the recorder did not say where its root is")
        machine.dump(path)
        machine.quit()
    _find(context, path)
    _find(context, path, "--scan", "all")
    path.unlink()
    context.say("the next kernel's dump has no root")

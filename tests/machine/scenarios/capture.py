# SPDX-License-Identifier: GPL-2.0-or-later
"""A real capture kernel: btsrec and Debian's makedumpfile read /proc/vmcore there.

The guest crashes into a kernel that kexec loaded. There btsrec extracts, and makedumpfile
writes filtered and flattened dumps. On the host the history in each must be what the CPUs
recorded, and the same text from each. The small file was made of memory that was not filtered:
it must prove more of user space than the filtered dump.

In another boot somebody switches BTS on again after a freeze, as KVM may. It must be off on all
CPUs when the capture kernel starts, which has no ring where the processor would store.
"""

import json

import dump
import initramfs
import programs
import truth
import workload
from errors import Failure

SUMMARY = "btsrec and makedumpfile in a real capture kernel print the truth"

RING = "256K"
NR_SLOTS = (256 << 10) // truth.RECORD_SLOT_BYTES

SCRIPT = workload.SHELL + """
kexec -p /vmlinuz --initrd=/capture --append="console=ttyS0 quiet panic=0 nokaslr maxcpus=1 \\
rdinit=/init reset_devices" || fail "the capture kernel does not load"
insmod /modules/btsrec.ko ring_bytes=%s || fail "the recorder does not load"
start_work
sleep 2
echo c >/proc/sysrq-trigger
""" % RING

RUDE_SCRIPT = """
kexec -p /vmlinuz --initrd=/capture --append="console=ttyS0 quiet panic=0 nokaslr maxcpus=1 \\
rdinit=/init reset_devices" || fail "the capture kernel does not load"
insmod /modules/btsrec.ko || fail "the recorder does not load"
echo freeze >/dev/btsrec
echo 1 >/sys/module/btsmsr/parameters/crash
"""

RUDE_CAPTURE = """
[ -s /proc/vmcore ] || fail "there is no /proc/vmcore"
finish 0
"""

CAPTURE = """
[ -s /proc/vmcore ] || fail "there is no /proc/vmcore"
at() { say "$1 at $(cut -d' ' -f1 /proc/uptime)"; }
at "begin"
btsrec extract /proc/vmcore /tmp/small || fail "btsrec extract: $?"
at "extracted"
makedumpfile -l -d 31 /proc/vmcore /tmp/filtered >/tmp/log 2>&1 || fail "$(tail -n 3 /tmp/log)"
at "filtered"
makedumpfile -F -c -d 31 /proc/vmcore >/tmp/flattened 2>/tmp/log || fail "$(tail -n 3 /tmp/log)"
at "flattened"
tar -c -f /dev/nvme0n1 -C /tmp small filtered flattened && sync || fail "the disk"
at "end"
finish 0
"""


def _capture(context) -> bytes:
    files = [*programs.of_host(context.btsrec, "bin/btsrec")]
    have = {name for name, _ in files}
    files += [(name, data) for name, data in programs.files("makedumpfile", "usr/bin/makedumpfile")
              if name not in have]
    return initramfs.build(context.os.busybox, CAPTURE, files=files)


def _boot(context, script, capture, modules=(), **options):
    files = [("modules/btsrec.ko", context.recorder.read_bytes()),
             *programs.files("kexec-tools", "sbin/kexec"),
             ("vmlinuz", context.os.vmlinuz.read_bytes()), ("capture", capture)]
    return context.boot(script, [context.os.module("qemu_fw_cfg"), *modules], files=files,
                        append="nopti crashkernel=256M",
                        memory_mib=context.options.memory + 512, **options)


def _compare(context, machine, paths):
    text = dump.btsrec(context, "show", paths["small"])
    for name, path in paths.items():
        if dump.btsrec(context, "show", path) != text:
            raise Failure(f"{name} has another listing than the small file")
    for cpu, events in dump.events(context, paths["small"]).items():
        log = truth.Log(machine.model_dir / f"cpu{cpu}.log")
        count = truth.compare(f"CPU {cpu}", truth.branches_of_events(events), log,
                              log.in_ring(NR_SLOTS, events))
        context.say(f"CPU {cpu}: {count} branches equal, from {', '.join(paths)}")


def _proven(context, path) -> int:
    text = dump.btsrec(context, "prove", "--format", "jsonl", "--sysroot", "/sys", path,
                       ok=(0, 1))
    return sum(json.loads(line).get("user_proven", 0) for line in text.splitlines())


def run(context):
    paths = {name: context.out / name for name in ("small", "filtered", "flattened")}
    with _boot(context, SCRIPT, _capture(context), disk_mib=128) as machine:
        machine.expect_finish(context.seconds(180))
        machine.quit()
    for name, path in paths.items():
        machine.disk_file(name, path)
    machine.disk.unlink()
    _compare(context, machine, paths)
    whole, filtered = (_proven(context, paths[name]) for name in ("small", "filtered"))
    if not whole > filtered:
        raise Failure(f"pairs proven in user space: {whole} with the small file, {filtered} with "
                      "the filtered dump: no user code was kept")
    context.say(f"pairs proven in user space: {whole} with the small file, {filtered} with the "
                "filtered dump")
    with _boot(context, RUDE_SCRIPT, initramfs.build(context.os.busybox, RUDE_CAPTURE),
               [context.guest_module("btsmsr")]) as rude:
        rude.expect_finish(context.seconds(120))
        rude.quit()
    context.say("BTS was on again after a freeze, and off in the capture kernel")

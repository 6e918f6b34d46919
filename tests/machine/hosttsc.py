# SPDX-License-Identifier: GPL-2.0-or-later
"""The speed of the time stamp counter, which QEMU's emulation hands through to the guest.

The guest's kernel measures it against emulated timers. On a busy host it has found half of
it, or nothing: then its clock, its watchdogs and the time stamps of the recorder are off.
"""

import ctypes
import functools
import mmap
import platform
import time

SECONDS = 0.1

# RDTSC; SHL RDX, 32; OR RAX, RDX; RET
RDTSC = bytes.fromhex("0f31 48c1e220 4809d0 c3")


def _reader():
    """A function that reads the counter."""
    page = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(RDTSC)
    read = ctypes.CFUNCTYPE(ctypes.c_uint64)(ctypes.addressof(ctypes.c_char.from_buffer(page)))
    read.page = page
    return read


def _sample(read) -> tuple[int, int]:
    """(ns, count) of one moment: the closest of a few pairs."""
    pairs = []
    for _ in range(20):
        before = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
        count = read()
        after = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
        pairs.append((after - before, (before + after) // 2, count))
    return min(pairs)[1:]


@functools.cache
def khz() -> int | None:
    """None: this machine has no such counter, or lets nobody run the instruction."""
    if platform.machine() != "x86_64":
        return None
    try:
        read = _reader()
    except OSError:
        return None
    begin = _sample(read)
    time.sleep(SECONDS)
    end = _sample(read)
    return round((end[1] - begin[1]) * 1_000_000 / (end[0] - begin[0]))

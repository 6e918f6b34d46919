#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What a user of drgn would write: the newest branches of a frozen CPU with names, one a line.

    ring.py DUMP VMLINUX ROOT_PA CPU COUNT

Offsets are those of btsrec/abi.h; annotations, which have a tag instead of an address, are left out.
"""

import struct
import sys

import drgn

PAGE_BYTES = 4096
RECORD = struct.Struct("<QQQ")
ROOT_CPU_DIR = 304      # cpu_dir_pa
CPU_RING = 48           # ring_kva, ring_bytes
CPU_PAGES = 80          # nr_ring_pages, nr_list_pages
CPU_LISTS = 88          # list_pa
CPU_FREEZE_INDEX = 1184  # freeze.index_kva
TAG, TAG_SHIFT = 0xb75a, 48
PREDICTED = 0x10


def words(prog, pa, number):
    return struct.unpack(f"<{number}Q", prog.read(pa, 8 * number, True))


def history(prog, root_pa, cpu):
    directory, = words(prog, root_pa + ROOT_CPU_DIR, 1)
    page, = words(prog, directory + 8 * cpu, 1)
    ring_kva, ring_bytes = words(prog, page + CPU_RING, 2)
    nr_pages, nr_lists = struct.unpack("<II", prog.read(page + CPU_PAGES, 8, True))
    lists = words(prog, page + CPU_LISTS, nr_lists)
    pages = [pa for at in lists for pa in words(prog, at, PAGE_BYTES // 8)][:nr_pages]
    ring = b"".join(prog.read(pa, PAGE_BYTES, True) for pa in pages)[:ring_bytes]
    index, = words(prog, page + CPU_FREEZE_INDEX, 1)
    return ring[index - ring_kva:] + ring[:index - ring_kva]


def name(prog, address):
    try:
        symbol = prog.symbol(address)
    except LookupError:
        return "-"
    return f"{symbol.name}+{address - symbol.address:#x}"


def main():
    prog = drgn.Program()
    prog.set_core_dump(sys.argv[1])
    prog.load_debug_info([sys.argv[2]])
    records = RECORD.iter_unpack(history(prog, int(sys.argv[3], 0), int(sys.argv[4])))
    branches = [record for record in records if record[0] >> TAG_SHIFT != TAG]
    for source, target, flags in branches[-int(sys.argv[5]):]:
        print(f"{source:#018x} -> {target:#018x} {'P' if flags & PREDICTED else '-'}  "
              f"{name(prog, source)} -> {name(prog, target)}")


main()

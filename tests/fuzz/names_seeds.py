#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables of the kernel and of a module for fuzz_names.c, in order."""

import argparse
import pathlib
import struct

IMAGE_KVA = 0xffffffff80000000


def kernel():
    """kallsyms at the places of fuzz_names.c; each token is one character."""
    names = [b"Ta", b"tb.c", b"D__d", b"T_stext"]
    page = bytearray(4096)
    struct.pack_into("<I4xQ", page, 0, len(names), IMAGE_KVA)
    struct.pack_into("<4I", page, 64, 0, 0x10, 0x10, 0x40)
    struct.pack_into("<256H", page, 512, *range(0, 512, 2))
    page[1024:1536] = b"".join(bytes([char, 0]) for char in range(256))
    at = 2048
    for name in names:
        page[at:at + 1 + len(name)] = bytes([len(name)]) + name
        at += 1 + len(name)
    return bytes(page)


def module():
    """struct mod_kallsyms at 0, its symbols, names and types after it."""
    page = bytearray(1024)
    struct.pack_into("<QI4xQQ", page, 0, IMAGE_KVA + 0x100, 3, IMAGE_KVA + 0x200,
                     IMAGE_KVA + 0x300)
    for i, name_at in enumerate((0, 1, 5)):
        struct.pack_into("<IBBHQQ", page, 0x100 + 24 * i, name_at, 2, 0, 1,
                         IMAGE_KVA + 0x40 * i, 0x20)
    page[0x200:0x20a] = b"\0one\0two\\\0"
    page[0x300:0x303] = b" tT"
    return bytes(page)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path, help="gets the files kernel and module")
    folder = parser.parse_args().folder
    (folder / "kernel").write_bytes(kernel())
    (folder / "module").write_bytes(module())


if __name__ == "__main__":
    main()

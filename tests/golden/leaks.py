#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What "btsrec extract --no-user --no-paths" writes has nothing of user space in it.

usage: leaks.py --btsrec PROGRAM --mkimage PROGRAM [--dump FILE]

User addresses of branches and of the freeze, all registers but rip of kernel code, paths and lines of
the kernel's log are taken from what is printed of the dump. None of them may be in the bytes of the
small file, unpacked. The same search must find them in a small file with everything.
--dump: of that dump instead of those that are made here.
Exit status: 0: so it is; 1: not, with what is there and where.
"""

import argparse
import ctypes
import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

import golden

CASES = ("extract-redacted", "extract-user", "registers")
# btsrec-extract(5).
HEADER_BYTES, FRAME_BYTES, PAGE_BYTES, END = 80, 24, 16, b"XEND"
USER_VA_END = 1 << 47
# Smaller numbers are counts, lengths and page offsets, too.
MIN_VALUE = 1 << 32
# Ends of functions are the same in the kernel.
MIN_CODE_BYTES = 20

zstd = ctypes.CDLL("libzstd.so.1")
zstd.ZSTD_decompress.restype = ctypes.c_size_t
zstd.ZSTD_decompress.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]


def unpacked(path):
    """(where, bytes) of each part of a small file."""
    data = path.read_bytes()
    header_bytes, = struct.unpack_from("<I", data, 12)
    nr_text, = struct.unpack_from("<I", data, 40)
    at = header_bytes + nr_text
    yield "header", data[:at]
    while data[at:at + 4] != END:
        assert data[at:at + 4] == b"XFRM", f"no frame at {at}"
        nr_pages, raw_bytes = struct.unpack_from("<II", data, at + 8)
        packed_bytes, = struct.unpack_from("<Q", data, at + 16)
        table = at + FRAME_BYTES
        begin = table + nr_pages * PAGE_BYTES
        raw = ctypes.create_string_buffer(raw_bytes)
        got = zstd.ZSTD_decompress(raw, raw_bytes, data[begin:begin + packed_bytes], packed_bytes)
        assert got == raw_bytes, f"{got} bytes, not {raw_bytes}"
        offset = 0
        for page in range(nr_pages):
            pa, lines = struct.unpack_from("<QQ", data, table + page * PAGE_BYTES)
            length = 64 * bin(lines).count("1")
            yield f"page {pa:#x}", raw.raw[offset:offset + length]
            offset += length
        at = begin + packed_bytes
    yield "end", data[at:]


def lines(args, view, *words):
    done = subprocess.run([args.btsrec, view, "--format", "jsonl", *words], capture_output=True,
                          text=True, check=False, cwd=args.folder)
    return [json.loads(line) for line in done.stdout.splitlines()]


def is_user(va):
    return MIN_VALUE <= va < USER_VA_END


def secrets(args, dump):
    """Numbers and texts of user space, by what they are."""
    found = {}

    def number(what, value):
        if is_user(value):
            found.setdefault(struct.pack("<Q", value), what)

    for event in lines(args, "show", "--no-names", dump):
        for name in ("from", "to", "ip", "sp", "bp", "stop_ip"):
            if name in event:
                number(f"{event['kind']}: {name}", int(event[name], 16))
        if event.get("path"):
            found.setdefault(event["path"].encode(), "path")
    for cpu in lines(args, "info", "--registers", dump):
        for place in ("stop", "entry"):
            for name, value in cpu.get("registers", {}).get(place, {}).items():
                if isinstance(value, str) and value.startswith("0x"):
                    number(f"register {name}", int(value, 16))
    for event in lines(args, "show", dump):
        for name in ("from_sym", "to_sym", "ip_sym"):
            if match := re.search(r"\[(/[^\]]+)\]", event.get(name, "")):
                found.setdefault(match[1].encode(), "path of a mapped file")
    for line in lines(args, "timeline", dump):
        # Without a number it may be the format itself, which the kernel has.
        if line["kind"] == "log" and re.search(r"\d\d", line.get("text", "")):
            found.setdefault(line["text"].encode(), "line of the log")
    for code in user_code(args, dump):
        found.setdefault(code, "code of a program")
    return found


def user_code(args, dump):
    """The bytes of straight-line code of programs, where they are long enough to be recognized."""
    code, end = b"", None
    for line in lines(args, "insns", "--bytes", "--user", "-n", "3000", dump):
        if line["kind"] != "insn" or int(line["ip"], 16) != end:
            if len(set(code)) >= MIN_CODE_BYTES:
                yield code
            code = b""
        if line["kind"] == "insn":
            code += bytes.fromhex(line["bytes"])
            end = int(line["ip"], 16) + len(line["bytes"]) // 2


def user_addresses(args):
    """What is printed of the small file: addresses of user space, of any size."""
    return [f"{event['kind']} {event['n']}: {name}={event[name]}"
            for event in lines(args, "show", "--no-names", "small")
            for name in ("from", "to", "ip", "sp", "bp", "stop_ip")
            if 0 < int(event.get(name, "0"), 16) < USER_VA_END]


def hits(path, found):
    """What of it is in a small file."""
    return [f"{what} {secret!r} in {where}" for where, data in unpacked(path)
            for secret, what in found.items() if secret in data]


def check(args, dump):
    """Numbers of secrets, of those in a whole small file, and what a redacted one has."""
    found = secrets(args, dump)
    for name, words in (("whole", ()), ("small", ("--no-user", "--no-paths"))):
        subprocess.run([args.btsrec, "extract", "--force", *words, dump, name], cwd=args.folder,
                       check=False, capture_output=True)
    whole = hits(args.folder / "whole", found)
    return len(found), len(whole), hits(args.folder / "small", found) + user_addresses(args)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--btsrec", required=True, type=pathlib.Path)
    parser.add_argument("--mkimage", required=True)
    parser.add_argument("--dump", type=pathlib.Path)
    args = parser.parse_args()
    args.btsrec = args.btsrec.resolve()
    os.environ["DEBUGINFOD_URLS"] = ""
    failed = 0
    for name in CASES if not args.dump else (args.dump,):
        with tempfile.TemporaryDirectory() as folder:
            args.folder = pathlib.Path(folder)
            if not args.dump:
                golden.make_folder(golden.Case(pathlib.Path(golden.__file__).parent / f"{name}.in"),
                                   args.folder, args.mkimage)
            nr_secrets, nr_whole, left = check(args, args.dump.resolve() if args.dump else "dump")
        print(f"{name}: {nr_secrets} secrets, {nr_whole} found in a whole small file, "
              f"{len(left)} in a redacted one")
        if not nr_whole or left:
            print("\n".join(left[:20]))
            failed = 1
    return failed


if __name__ == "__main__":
    sys.exit(main())

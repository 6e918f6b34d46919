# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads what "btsrec export --to tables" writes: a folder for each crash."""

import ctypes
import functools
import json
import pathlib

SCHEMA = 1
# What is read of a crash, and the columns of it.
COLUMNS = {
    "crash": ("crash", "release", "time_ns", "verdict", "text", "function", "reason", "signature"),
    "function": ("crash", "function", "name", "module", "branches", "calls"),
    "edge": ("crash", "from", "from_offset", "to", "to_offset"),
    "value": ("crash", "step", "what", "function", "offset", "insn", "class"),
}


class Unreadable(Exception):
    """A folder that is no crash, and why."""


class Buffer(ctypes.Structure):
    """ZSTD_inBuffer and ZSTD_outBuffer."""

    _fields_ = [("bytes", ctypes.c_void_p), ("size", ctypes.c_size_t), ("pos", ctypes.c_size_t)]


@functools.cache
def libzstd():
    """The library that btsrec itself uses: Python before 3.14 has none."""
    zstd = ctypes.CDLL("libzstd.so.1")
    zstd.ZSTD_createDCtx.restype = ctypes.c_void_p
    zstd.ZSTD_freeDCtx.argtypes = [ctypes.c_void_p]
    zstd.ZSTD_decompressStream.argtypes = [ctypes.c_void_p, ctypes.POINTER(Buffer),
                                           ctypes.POINTER(Buffer)]
    zstd.ZSTD_decompressStream.restype = ctypes.c_size_t
    zstd.ZSTD_isError.argtypes = [ctypes.c_size_t]
    return zstd


def unpack(path: pathlib.Path) -> bytes:
    """The bytes that a zstd file stands for; Unreadable: it is none, or is cut off."""
    zstd = libzstd()
    packed = path.read_bytes()
    source = Buffer(ctypes.cast(packed, ctypes.c_void_p), len(packed), 0)
    room = ctypes.create_string_buffer(1 << 20)
    context, parts, left = zstd.ZSTD_createDCtx(), [], 1
    while left:
        target = Buffer(ctypes.cast(room, ctypes.c_void_p), len(room), 0)
        before = source.pos
        left = zstd.ZSTD_decompressStream(context, ctypes.byref(target), ctypes.byref(source))
        if zstd.ZSTD_isError(left) or (left and not target.pos and source.pos == before):
            zstd.ZSTD_freeDCtx(context)
            raise Unreadable(f"{path.name} is no zstd file that ends")
        parts.append(ctypes.string_at(room, target.pos))
    zstd.ZSTD_freeDCtx(context)
    return b"".join(parts)


def rows(folder: pathlib.Path, table: str) -> list[dict]:
    """The rows of a table of one crash."""
    try:
        text = unpack(folder / f"{table}.jsonl.zst")
        # One call for all rows takes a third less than one for each.
        return json.loads(b"[" + b",".join(text.splitlines()) + b"]")
    except (OSError, ValueError) as error:
        raise Unreadable(f"{table}.jsonl.zst: {error}") from error


def read(folder: pathlib.Path) -> dict[str, list[tuple]]:
    """The tables of one crash, as tuples in the order of COLUMNS; Unreadable: why not."""
    found = {}
    for table, columns in COLUMNS.items():
        dicts = rows(folder, table)
        if table == "crash":
            check_crash(dicts)
        try:
            found[table] = [tuple(map(row.get, columns)) for row in dicts]
        except AttributeError as error:
            raise Unreadable(f"{table}.jsonl.zst: a row is no object") from error
    return found


def check_crash(dicts: list) -> None:
    """One crash, of the schema that is known here; else Unreadable."""
    if len(dicts) != 1 or not isinstance(dicts[0], dict) or not dicts[0].get("crash"):
        raise Unreadable("crash.jsonl.zst does not have one crash")
    if dicts[0].get("schema") != SCHEMA:
        raise Unreadable(f"its schema is {dicts[0].get('schema')}, not {SCHEMA}")


def shown(text: str) -> str:
    """A text of a table, for a terminal: its characters are bytes, of another machine."""
    try:
        text = text.encode("latin-1").decode()
    except UnicodeError:
        pass
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def folders(top: pathlib.Path) -> list[pathlib.Path]:
    """Folders with a whole crash, sorted: crash.jsonl.zst is written last."""
    return sorted(path.parent for path in top.glob("*/crash.jsonl.zst"))


def nr_unfinished(top: pathlib.Path) -> int:
    """Folders with tables, but not of a whole crash."""
    return sum(not (path.parent / "crash.jsonl.zst").exists()
               for path in top.glob("*/edge.jsonl.zst"))

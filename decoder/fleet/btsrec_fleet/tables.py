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
# Those that each row has, and those that are numbers; all others are texts.
REQUIRED = {
    "crash": ("crash", "release"),
    "function": ("crash", "function", "name", "branches", "calls"),
    "edge": ("crash",),
    "value": ("crash", "step", "what", "function", "class"),
}
NUMBERS = ("time_ns", "branches", "calls", "from_offset", "to_offset", "step", "offset")
# SQLite's numbers have a sign.
NUMBER_END = 1 << 63
# A table of 64 CPUs has less; a file of a few bytes may stand for all memory.
MAX_BYTES = 1 << 30


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
    if not path.is_file() and path.exists():
        raise Unreadable(f"{path.name} is no regular file")
    packed = path.read_bytes()
    source = Buffer(ctypes.cast(packed, ctypes.c_void_p), len(packed), 0)
    room = ctypes.create_string_buffer(1 << 20)
    context, parts, left, nr_bytes = zstd.ZSTD_createDCtx(), [], 1, 0
    while left:
        target = Buffer(ctypes.cast(room, ctypes.c_void_p), len(room), 0)
        before = source.pos
        left = zstd.ZSTD_decompressStream(context, ctypes.byref(target), ctypes.byref(source))
        if zstd.ZSTD_isError(left) or (left and not target.pos and source.pos == before):
            zstd.ZSTD_freeDCtx(context)
            raise Unreadable(f"{path.name} is no zstd file that ends")
        nr_bytes += target.pos
        if nr_bytes > MAX_BYTES:
            zstd.ZSTD_freeDCtx(context)
            raise Unreadable(f"{path.name} has more than {MAX_BYTES >> 20} MiB")
        parts.append(ctypes.string_at(room, target.pos))
    zstd.ZSTD_freeDCtx(context)
    return b"".join(parts)


def rows(folder: pathlib.Path, table: str) -> list[dict]:
    """The rows of a table of one crash."""
    try:
        text = unpack(folder / f"{table}.jsonl.zst")
        # One call for all rows takes a third less than one for each.
        return json.loads(b"[" + b",".join(text.splitlines()) + b"]")
    except OSError as error:
        raise Unreadable(f"{table}.jsonl.zst: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
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
        for column, values in zip(columns, zip(*found[table])):
            fault = fault_of(table, column, values)
            if fault:
                raise Unreadable(f"{table}.jsonl.zst: {column} {fault}")
        if {row[0] for row in found[table]} - {found["crash"][0][0]}:
            raise Unreadable(f"{table}.jsonl.zst has rows of another crash")
    return found


def fault_of(table: str, column: str, values: tuple) -> str | None:
    """Why the values of a column are none that the database takes."""
    known = [value for value in values if value is not None]
    if len(known) < len(values) and column in REQUIRED[table]:
        return "is missing in a row"
    want = int if column in NUMBERS else str
    if set(map(type, known)) - {want}:
        return "is no number" if want is int else "is no text"
    if want is int and known and not 0 <= min(known) <= max(known) < NUMBER_END:
        return "is out of range"
    if want is str and not is_text("".join(known)):
        return "is no text"
    return None


def is_text(text: str) -> bool:
    """Whether it can be written: half of a surrogate pair is an escape that JSON has."""
    try:
        text.encode()
    except UnicodeError:
        return False
    return True


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
    return printable(text)


def printable(text: str) -> str:
    """A name of a file or of a dump, which a terminal might obey."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def has(folder: pathlib.Path, table: str) -> bool:
    """Is the table in the folder? One that cannot be looked into may have it: reading it says so."""
    try:
        return (folder / f"{table}.jsonl.zst").exists()
    except PermissionError:
        return True


def folders(top: pathlib.Path) -> list[pathlib.Path]:
    """Folders with a whole crash, sorted: crash.jsonl.zst is written last."""
    return sorted(path for path in top.iterdir() if path.is_dir() and has(path, "crash"))


def nr_unfinished(top: pathlib.Path) -> int:
    """Folders with tables, but not of a whole crash."""
    return sum(path.is_dir() and has(path, "edge") and not has(path, "crash")
               for path in top.iterdir())

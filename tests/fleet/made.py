# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables of crashes that were made up, as btsrec export --to tables would write them.

Every machine runs much the same functions, each by chance. Two bugs end at one crash site: what
they have in common is no culprit. Each has a function and an edge that only its crashes show.
"""

import ctypes
import json
import random

from btsrec_fleet import tables

BUGS = ("first", "second")
SITE = "shared_fault"
NR_COMMON = 60
NR_EDGES = 3


def key(name):
    """A key of a function; no two of these names have the same."""
    return f"{int.from_bytes(name.encode()[-8:], 'big'):016x}"


def pack(text):
    zstd = tables.libzstd()
    zstd.ZSTD_compress.restype = ctypes.c_size_t
    zstd.ZSTD_compressBound.restype = ctypes.c_size_t
    room = ctypes.create_string_buffer(zstd.ZSTD_compressBound(ctypes.c_size_t(len(text))))
    size = zstd.ZSTD_compress(room, ctypes.c_size_t(len(room)), text, ctypes.c_size_t(len(text)), 3)
    return room.raw[:size]


def write(folder, rows, left_out=()):
    folder.mkdir()
    for table, found in rows.items():
        text = "".join(json.dumps(row) + "\n" for row in found).encode()
        if table not in left_out:
            (folder / f"{table}.jsonl.zst").write_bytes(pack(text))


def ran(chance, names):
    """What a history shows that has these functions, and others by chance."""
    common = [f"f{i}" for i in range(NR_COMMON) if chance.random() < (1 + i % 10) / 10]
    functions, edges = [], []
    for name in common + names:
        functions.append({"function": key(name), "name": name, "module": "", "branches": 5,
                          "calls": 1})
        for i in range(NR_EDGES):
            if chance.random() < 0.8:
                edges.append({"from": key(name), "from_offset": 8 * i, "to": key(name),
                              "to_offset": 64 + i, "count": 1})
    return functions, edges


def crash(chance, number, bug):
    """The tables of a crash by this bug; None: of a healthy machine."""
    label = {"schema": tables.SCHEMA, "btsrec": "0.1.0", "time_ns": 10**18 + number,
             "release": f"6.1.{number % 2}"}
    values = []
    if bug:
        names = [SITE, f"{bug}_bug"]
        label |= {"verdict": "null-pointer", "function": key(SITE), "offset": 5, "reason": "oops",
                  "signature": f"v2:{BUGS.index(bug):016x}", "signature_complete": True}
        values = [{"step": 0, "what": "asked", "function": key(SITE), "class": "certain"},
                  {"step": 1, "what": "stored", "function": key(f"{bug}_bug"), "offset": 3,
                   "class": "likely"},
                  {"step": 2, "what": "stored", "function": key(SITE), "insn": "push %rbx",
                   "class": "likely"},
                  {"step": 3, "what": "loaded", "function": key(SITE), "class": "likely"},
                  {"step": 4, "what": "maybe", "function": key("f1"), "class": "unknown"}]
    else:
        names = []
    functions, edges = ran(chance, names)
    if bug:
        # The branch that the bug takes, in a function that healthy machines run, too.
        functions.append({"function": key("f9"), "name": "f9", "module": "", "branches": 1,
                          "calls": 0})
        edges.append({"from": key("f9"), "from_offset": 200, "to": key(f"{bug}_bug"), "count": 1})
    rows = {"crash": [label], "function": functions, "edge": edges, "value": values}
    for table in rows.values():
        for row in table:
            row["crash"] = f"{number:032x}"
    return rows


def fleet(chance, nr_crashes, nr_healthy):
    """Crashes by number: of each bug, then of healthy machines."""
    bugs = [bug for bug in BUGS for _ in range(nr_crashes)] + [None] * nr_healthy
    return [crash(chance, number, bug) for number, bug in enumerate(bugs)]


def shuffled(chance, fleet_rows):
    """The same crashes, each with the label of another: what they show says nothing."""
    labels = [(rows["crash"][0], rows["value"]) for rows in fleet_rows]
    chance.shuffle(labels)
    found = []
    for rows, (label, _) in zip(fleet_rows, labels):
        number = rows["crash"][0]["crash"]
        found.append(rows | {"crash": [label | {"crash": number}], "value": []})
    return found

# SPDX-License-Identifier: GPL-2.0-or-later
"""A perf.data as "perf record -e intel_bts//u" leaves it, with given BTS records.

Layouts are those of the kernel's tools/perf/util/header.h, event.h and intel-bts.h.
"""

import os
import struct
from pathlib import Path

PMU = 8
PID = 1234
ID = 77
TIME = 1000
# perf_event_attr: IP|TID|TIME|ADDR|PERIOD|IDENTIFIER, and the bit sample_id_all.
SAMPLE_TYPE = 1 | 2 | 4 | 8 | 1 << 8 | 1 << 16
SAMPLE_ID_ALL = 1 << 18
ATTR_BYTES = 112
MMAP, COMM, FINISHED_ROUND, AUXTRACE_INFO, AUXTRACE = 1, 3, 68, 70, 71
MISC_USER = 2
INTEL_BTS = 2


def _event(kind: int, payload: bytes, misc=0) -> bytes:
    return struct.pack("<IHH", kind, misc, 8 + len(payload)) + payload


def _padded(text: str) -> bytes:
    data = text.encode() + b"\0"
    return data + bytes(-len(data) % 8)


def _trailer(when: int) -> bytes:
    return struct.pack("<IIQQ", PID, PID, when, ID)


def _head(program: Path, base: int, nr_bytes: int) -> bytes:
    # pmu type, time shift, mult (0 makes perf divide by it), zero, cap, snapshot
    info = struct.pack("<II6Q", INTEL_BTS, 0, PMU, 0, 1, 0, 0, 0)
    comm = struct.pack("<II", PID, PID) + _padded("walk") + _trailer(TIME)
    size = os.path.getsize(program)
    mapped = struct.pack("<IIQQQ", PID, PID, base, size, 0x1000) + _padded(str(program)) + \
        _trailer(TIME)
    trace = struct.pack("<QQQIIII", nr_bytes, 0, TIME + 1, 0, PID, 0xffffffff, 0)
    return (_event(AUXTRACE_INFO, info) + _event(COMM, comm) + _event(MMAP, mapped, MISC_USER) +
            _event(AUXTRACE, trace))


def write(path: Path, program: Path, base: int, records: Path):
    """PATH from the file RECORDS; PROGRAM has its code at the address BASE, file offset 4096."""
    nr_bytes = os.path.getsize(records) + 24  # perf leaves the last one out
    attr = struct.pack("<IIQQQQQ", PMU, ATTR_BYTES, 0, 1, SAMPLE_TYPE, 0, SAMPLE_ID_ALL)
    attr += bytes(ATTR_BYTES - len(attr))
    ids_at = 104
    attrs_at = ids_at + 8
    data_at = attrs_at + ATTR_BYTES + 16
    head = _head(program, base, nr_bytes)
    end = _event(FINISHED_ROUND, b"")
    with open(path, "wb") as out, open(records, "rb") as source:
        out.write(b"PERFILE2" + struct.pack("<QQQQQQQQ4Q", 104, ATTR_BYTES + 16, attrs_at,
                                            ATTR_BYTES + 16, data_at,
                                            len(head) + nr_bytes + len(end), 0, 0, 0, 0, 0, 0))
        out.write(struct.pack("<Q", ID) + attr + struct.pack("<QQ", ids_at, 8) + head)
        while block := source.read(1 << 20):
            out.write(block)
        out.write(bytes(24) + end)

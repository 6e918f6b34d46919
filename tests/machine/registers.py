# SPDX-License-Identifier: GPL-2.0-or-later
"""The registers of each freeze, compared with those that the model has logged (model_log.h)."""

import json
import mmap
import struct
from collections.abc import Iterable
from itertools import islice
from pathlib import Path

import dump
import truth
from errors import Failure

INSNS_MAGIC = 0x534745524C444D42
ENTRIES_MAGIC = 0x544E45444C444D42
# ip, records before it, registers by their numbers.
REGS = struct.Struct("<18Q")
_HEADER = struct.Struct("<QIIQQ")
_HEADER_BYTES = 4096

NAMES = "rax rcx rdx rbx rsp rbp rsi rdi r8 r9 r10 r11 r12 r13 r14 r15".split()
# Of the call that ftrace has made of the beginning of a hooked function.
HOOK_CALL_BYTES = 5


class Logged:
    """(ip, records before it, registers...), newest first; what is begun anew is there once more.

    Unpacked as it is read: a log may be larger than memory.
    """

    def __init__(self, path: Path, magic: int):
        with open(path, "rb") as file:
            self._data = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
        found, version, _, self._capacity, self._total = _HEADER.unpack_from(self._data)
        if (found, version) != (magic, 1):
            raise Failure(f"{path} is no log of registers of version 1")

    def __iter__(self):
        for number in range(self._total - 1, max(0, self._total - self._capacity) - 1, -1):
            yield REGS.unpack_from(self._data, _HEADER_BYTES + number % self._capacity * REGS.size)


def _compare(what: str, said: dict, logs: Iterable[tuple]):
    ip = int(said["ip"], 16)
    true = next((entry for entry in logs if entry[0] == ip), None)
    if not true:
        raise Failure(f"{what}: nothing was interrupted at {said['ip']}")
    wrong = [f"{name} is {said[name]}, not 0x{value:016x}"
             for name, value in zip(NAMES, true[2:]) if int(said[name], 16) != value]
    if wrong:
        raise Failure(f"{what} at {said['ip']}: {', '.join(wrong)}")


def _entry(cpu: int, registers: dict, fault: dict | None, logs: Iterable[tuple]) -> int:
    """What the history's end interrupted; how many were compared."""
    said = registers.get("entry")
    if not said:
        return 0
    _compare(f"CPU {cpu}, entry", said, logs)
    if fault and fault.get("vector", said["vector"]) != said["vector"] and \
            fault["from"] == said["ip"]:
        raise Failure(f"CPU {cpu}: the vector is {said['vector']}, not {fault['vector']}")
    return 1


def _stop(cpu: int, registers: dict, freeze: dict, model_dir: Path, logs: Iterable[tuple]) -> int:
    """What the freeze interrupted, if that is logged."""
    said = registers.get("stop")
    if not said:
        return 0
    for name, member in (("ip", "ip"), ("rsp", "sp"), ("rbp", "bp"), ("rflags", "rflags")):
        if int(said[name], 16) != int(freeze[member], 16):
            raise Failure(f"CPU {cpu}: {name} is {said[name]}, in the freeze {freeze[member]}")
    if not int(freeze["debugctl"], 16) & truth.DEBUGCTL_BTS:
        return 0
    insns = model_dir / f"cpu{cpu}.regs"
    if freeze["via_nmi"]:
        _compare(f"CPU {cpu}, stop", said, islice(logs, 1))
    elif insns.exists():
        _compare(f"CPU {cpu}, stop", {**said, "ip": hex(int(said["ip"], 16) - HOOK_CALL_BYTES)},
                 Logged(insns, INSNS_MAGIC))
    else:
        return 0
    return 1


def _frozen(context, path: Path):
    """(row, must there be registers of the freeze itself) of each frozen CPU."""
    rows = [json.loads(line) for line in
            dump.btsrec(context, "info", "--registers", "--format", "jsonl", path).splitlines()]
    first = next(row for row in rows if row["kind"] == "root").get("freeze_cpu")
    for row in rows:
        if row["kind"] == "cpu" and row["state"] == "frozen":
            yield row, row["cpu"] == first


def check(context, path: Path, model_dir: Path, histories: dict, faults: dict) -> int:
    """How many sets of registers in the dump PATH were compared."""
    compared = 0
    for row, needed in _frozen(context, path):
        cpu, said = row["cpu"], row.get("registers", {})
        freeze = next(event for event in reversed(histories[cpu]) if event["kind"] == "freeze")
        if "stop" not in said and (needed or freeze["via_nmi"]):
            raise Failure(f"CPU {cpu} has no registers of its freeze: {row}")
        logs = Logged(model_dir / f"cpu{cpu}.entries", ENTRIES_MAGIC)
        compared += _entry(cpu, said, faults.get(cpu), logs)
        compared += _stop(cpu, said, freeze, model_dir, logs)
    return compared

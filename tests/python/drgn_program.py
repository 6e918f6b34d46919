#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Through a drgn program a dump answers as it does by itself, and addresses become objects.

usage: drgn_program.py --mkimage PROGRAM
The program has the memory of tests/golden/why.in, the types of two parameters, and no kernel.
Exit status: 0: so it is; 1: not, with a traceback; 77: there is no drgn.
"""

import argparse
import os
import pathlib
import struct
import sys
import tempfile
import unittest

SYSTEM_PYTHON = "/usr/bin/python3"
try:
    import drgn
except ImportError:
    if os.path.realpath(sys.executable) == os.path.realpath(SYSTEM_PYTHON) or \
            not os.path.exists(SYSTEM_PYTHON):
        sys.exit(77)
    os.execv(SYSTEM_PYTHON, [SYSTEM_PYTHON, "-B", *sys.argv])

import btsrec
from btsrec.drgn import arguments, history, task

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "golden"))
import golden  # noqa: E402

OUTER, USE = 0xffffffff81000000, 0xffffffff81000200


def segments(path):
    """The parts of an ELF core by physical address."""
    elf = path.read_bytes()
    start, nr = struct.unpack_from("<Q", elf, 32)[0], struct.unpack_from("<H", elf, 56)[0]
    for i in range(nr):
        kind, _, offset, _, pa, size = struct.unpack_from("<IIQQQQ", elf, start + 56 * i)
        if kind == 1:
            yield pa, elf[offset:offset + size]


def vmcoreinfo(path):
    """The text of the note in an ELF core."""
    elf = path.read_bytes()
    at = elf.index(b"VMCOREINFO\0\0")
    return elf[at + 12:at + 12 + struct.unpack_from("<I", elf, at - 8)[0]]


def program(path):
    """A program with this memory and a function use(struct task_struct *who, signed char how)."""
    prog = drgn.Program(drgn.Platform(drgn.Architecture.X86_64))
    for pa, data in segments(path):
        prog.add_memory_segment(pa, len(data), lambda address, count, offset, physical, data=data:
                                data[offset:offset + count], physical=True)
    record = prog.struct_type("task_struct", 8, ())
    byte = prog.int_type("signed char", 1, True)
    function = prog.function_type(prog.void_type(), (
        drgn.TypeParameter(prog.pointer_type(record, 8), "who"),
        drgn.TypeParameter(byte, "how"),
        drgn.TypeParameter(record, "whole"),
        drgn.TypeParameter(byte, "after")))
    addresses = {"use": USE, "outer": OUTER + 1}
    prog.add_type_finder(lambda kind, name, filename: record
                         if (kind, name) == (drgn.TypeKind.STRUCT, "task_struct") else None)
    text = vmcoreinfo(path)

    def find(prog, name, _flags, _filename):
        if name == "VMCOREINFO":
            return drgn.Object(prog, prog.array_type(prog.int_type("char", 1, True), len(text)),
                               list(text))
        return drgn.Object(prog, function, address=addresses[name]) if name in addresses else None

    prog.add_object_finder(find)
    return prog


class Drgn(unittest.TestCase):
    path = None

    def setUp(self):
        self.prog = program(self.path)
        self.dump = btsrec.open(self.path)

    def test_answers(self):
        through = history(self.prog)
        self.assertIs(history(self.prog), through)
        for view in ("summary", "calls", "stack", "functions", "insns", "why", "check"):
            self.assertEqual(getattr(through, view)(), getattr(self.dump, view)(), view)
        self.assertEqual(through.branches(0).to, self.dump.branches(0).to)

    def test_task(self):
        freeze = self.dump.events(0)[-1]
        self.assertIsNone(task(self.prog, freeze))
        fields = list(freeze)
        fields[-2] = freeze.freeze.__class__(
            [0xffff888000001000 if name == "task_kva" else value
             for name, value in zip(freeze.freeze.__match_args__, freeze.freeze)])
        found = task(self.prog, btsrec.Event(fields))
        self.assertEqual(found.value_(), 0xffff888000001000)
        self.assertEqual(found.type_.type_name(), "struct task_struct *")
        self.assertIsNone(task(self.prog, self.dump.events(0)[2]))

    def test_arguments(self):
        [call] = [call for call in self.dump.calls() if call.to.name == "use"]
        found = arguments(self.prog, call)
        self.assertEqual(found["who"].value_(), 0xffff888000001000)
        self.assertEqual(list(found), ["who", "how", "whole", "after"])
        # rsi is 0x10d, of which a char has the lowest byte; a structure may be anywhere.
        self.assertEqual(found["how"].value_(), 0xd)
        self.assertEqual([found["whole"], found["after"]], [None, None])

    def test_other_function(self):
        for name in ("cause", "outer"):
            call = [call for call in self.dump.calls() if call.to.name in ("cause", "outer")][0]
            fields = [call.to.__class__((name, "", 0, None)) if key == "to" else value
                      for key, value in zip(call.__match_args__, call)]
            self.assertRaises(LookupError, arguments, self.prog, call.__class__(fields))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mkimage", required=True)
    args, rest = parser.parse_known_args()
    case = golden.Case(pathlib.Path(golden.__file__).parent / "why.in")
    with tempfile.TemporaryDirectory() as name:
        golden.make_folder(case, pathlib.Path(name), args.mkimage)
        Drgn.path = pathlib.Path(name) / "dump"
        unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()

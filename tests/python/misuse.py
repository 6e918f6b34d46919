#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What programs do wrong with the Python package ends in an exception, and leaks nothing.

usage: misuse.py --mkimage PROGRAM
Exit status: 0: so it is; 1: not, with a traceback.
"""

import argparse
import copy
import ctypes
import gc
import os
import pathlib
import pickle
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import unittest

import btsrec

NR_BRANCHES = 20000


class Misuse(unittest.TestCase):
    path = ""

    def setUp(self):
        self.dump = btsrec.open(self.path)

    def tearDown(self):
        self.dump.close()

    # --- Closed, or in use ---

    def test_closed(self):
        values = self.dump.events(0)
        branches = self.dump.branches(0)
        self.dump.close()
        self.dump.close()
        for call in (self.dump.summary, self.dump.calls, lambda: self.dump.events(0),
                     lambda: self.dump.branches(0), lambda: self.dump.cpu(0),
                     lambda: self.dump.root, lambda: self.dump.resolve(1),
                     lambda: self.dump.module_at(1), lambda: self.dump.has_losses(0)):
            self.assertRaises(ValueError, call)
        self.assertEqual(len(branches) + 2, len(values))
        self.assertEqual(branches.from_[5], values[6].branch.from_)

    def test_used_while_it_is_read(self):
        seen = []

        def each(event):
            seen.append(event.n)
            for call in (self.dump.close, self.dump.summary, lambda: self.dump.cpu(0)):
                self.assertRaises(RuntimeError, call)
            return len(seen) < 3

        self.assertEqual(self.dump.events(0, each), [])
        self.assertEqual(seen, [0, 1, 2])
        self.assertRaises(RuntimeError, self.dump.diff, self.dump)
        self.assertTrue(self.dump.cpu(0))

    def test_exception_in_a_callback(self):
        for view in (self.dump.calls, self.dump.show, self.dump.timeline, self.dump.info):
            with self.assertRaises(ZeroDivisionError):
                view(each=lambda value: 1 / 0)
        self.assertEqual(len(self.dump.info()), 1)

    def test_threads(self):
        errors, nr_read = [], []

        def read():
            for _ in range(20):
                try:
                    nr_read.append(len(self.dump.events(0)))
                except RuntimeError as error:
                    errors.append(error)

        threads = [threading.Thread(target=read) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(errors) + len(nr_read), 80)
        self.assertEqual(set(nr_read), {NR_BRANCHES + 2})

    def test_interrupted(self):
        def interrupt(event):
            if event.n == 10:
                os.kill(os.getpid(), signal.SIGINT)

        self.assertRaises(KeyboardInterrupt, self.dump.events, 0, interrupt)
        timer = threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT))
        with self.assertRaises(KeyboardInterrupt):
            timer.start()
            while True:
                self.dump.events(0)
        self.assertEqual(len(self.dump.other_events(0)), 2)

    # --- Arguments ---

    def test_arguments(self):
        for error, call in (
                (TypeError, lambda: self.dump.calls(no_such=1)),
                (TypeError, lambda: self.dump.calls(format=1)),
                (TypeError, lambda: self.dump.summary(cpus=[0])),
                (TypeError, lambda: self.dump.calls(thread=5)),
                (TypeError, lambda: self.dump.calls(cpus=5)),
                (TypeError, lambda: self.dump.calls(cpus=["a"])),
                (TypeError, lambda: self.dump.stack(at=[1])),
                (TypeError, lambda: self.dump.diff(None)),
                (OverflowError, lambda: self.dump.calls(max_depth=1 << 32)),
                (OverflowError, lambda: self.dump.calls(cpus=[1 << 40])),
                (OverflowError, lambda: self.dump.calls(max_events=-1)),
                (OverflowError, lambda: self.dump.events(1 << 32)),
                (OverflowError, lambda: self.dump.other_events(-1)),
                (OverflowError, lambda: self.dump.branches(1 << 32)),
                (OverflowError, lambda: self.dump.cpu(1 << 64)),
                (OverflowError, lambda: self.dump.has_losses(0, -1)),
                (OverflowError, lambda: self.dump.resolve(1 << 64)),
                (OverflowError, lambda: self.dump.module_at(-1)),
                (OverflowError, lambda: btsrec.open(self.path, root_pa=1 << 64)),
                (ValueError, lambda: self.dump.calls(thread="a\0b")),
                (btsrec.NoCpuError, lambda: self.dump.events(99)),
                (btsrec.NoCpuError, lambda: self.dump.branches(99)),
                (btsrec.NoCpuError, lambda: self.dump.calls(cpus=[99])),
                (btsrec.InvalError, lambda: self.dump.show(fold=True)),
                (ValueError, lambda: self.dump.coverage()),
                (IndexError, lambda: self.dump.stack(at=[()])),
                (OSError, lambda: btsrec.open("/nonexistent")),
                (btsrec.NotDumpError, lambda: btsrec.open(__file__)),
                (btsrec.CorruptError, lambda: btsrec.open(self.path, system_map=__file__)),
                (TypeError, lambda: btsrec.open(None)),
                (ValueError, lambda: btsrec.open("a\0b"))):
            with self.subTest(error=error):
                self.assertRaises(error, call)
        self.assertEqual(self.dump.calls(cpus=None, thread=None), self.dump.calls())

    def test_errors_say_why(self):
        with self.assertRaises(btsrec.Error) as raised:
            btsrec.open("/nonexistent/\udcff")
        self.assertIn("nonexistent", str(raised.exception))
        with self.assertRaises(btsrec.NoCpuError) as raised:
            self.dump.calls(cpus=[99])
        self.assertEqual(raised.exception.values, [])

    # --- Values ---

    def test_values(self):
        event = self.dump.events(0)[3]
        self.assertIsInstance(event, btsrec.Event)
        self.assertEqual(copy.deepcopy(event), event)
        self.assertEqual(pickle.loads(pickle.dumps(event)), event)
        self.assertIs(event.kind, btsrec.EventKind.BRANCH)
        self.assertIsNone(event.sw)
        self.assertIn("kind=BRANCH", repr(event))
        self.assertIn(f"from_={event.branch.from_:#x}", repr(event.branch))
        self.assertRaises(AttributeError, setattr, event, "n", 3)

    def test_args(self):
        for words, text in (
                (("char *", "name", "certain", 16, 8, None, None, False), "char *name=0x10"),
                (("unsigned int", "nr", "likely", 5, 4, None, None, False), "unsigned int nr~0x5"),
                (("int", None, "unknown", None, 4, "why", None, False), "int=?")):
            self.assertEqual(str(btsrec.Arg(words)), text)

    def test_columns(self):
        branches = self.dump.branches(0)
        events = [event for event in self.dump.events(0) if event.branch]
        self.assertEqual(list(branches.n), [event.n for event in events])
        for name in ("from_", "to", "flags"):
            self.assertEqual(getattr(branches, name).tolist(),
                             [getattr(event.branch, name) for event in events])
        self.assertEqual(branches.records.format, "T{Q:from:Q:to:Q:flags:}")
        first = struct.unpack_from("<QQQ", branches.records.tobytes())
        self.assertEqual(first, tuple(events[0].branch))
        self.assertRaises(TypeError, branches.from_.__setitem__, 0, 1)
        from_ = branches.from_
        del branches
        gc.collect()
        self.assertEqual(from_[-1], events[-1].branch.from_)

    # --- Memory through a function ---

    def image(self, more=lambda pa: None):
        """What reads the memory of the dump, and calls more() before."""
        elf = pathlib.Path(self.path).read_bytes()
        segments = []
        start, nr = struct.unpack_from("<Q", elf, 32)[0], struct.unpack_from("<H", elf, 56)[0]
        for i in range(nr):
            kind, _, offset, _, pa, size = struct.unpack_from("<IIQQQQ", elf, start + 56 * i)
            if kind == 1:
                segments.append((pa, offset, size))

        def read(pa, length):
            more(pa)
            for first, offset, size in segments:
                if first <= pa < first + size:
                    end = min(pa + length, first + size)
                    return elf[offset + pa - first:offset + end - first]
            return b""

        return read

    def test_image(self):
        with btsrec.open_image(self.image(), max_pa=1 << 30) as dump:
            self.assertEqual(dump.events(0), self.dump.events(0))
            self.assertEqual(dump.summary(), self.dump.summary())

    def test_image_that_fails(self):
        state = {"nr": 0}

        def more(_pa):
            state["nr"] += 1
            if state["nr"] == state["fail"]:
                raise KeyError("no memory today")

        with self.assertRaises(KeyError):
            state["fail"] = 1
            btsrec.open_image(self.image(more))
        with btsrec.open_image(self.image(more)) as dump:
            state["fail"] = state["nr"] + 3
            self.assertRaises(KeyError, dump.events, 0)
            state["fail"] = 0
            self.assertEqual(len(dump.events(0)), NR_BRANCHES + 2)
        self.assertRaises(TypeError, btsrec.open_image, lambda pa, length: "text")
        self.assertRaises(TypeError, btsrec.open_image, 5)
        self.assertRaises(btsrec.NoRootError, btsrec.open_image, lambda pa, length: b"")

    def test_image_that_uses_its_own_dump(self):
        box = {}

        def more(_pa):
            if "dump" in box:
                box["dump"].close()

        box["dump"] = btsrec.open_image(self.image(more))
        self.assertRaises(RuntimeError, box["dump"].events, 0)
        del box["dump"]

    # --- Leaks ---

    def test_nothing_leaks(self):
        def use():
            dump = btsrec.open(self.path)
            for view in (dump.calls, dump.summary, dump.functions, dump.info):
                view(**({"max_events": 50} if view == dump.calls else {}))
            dump.other_events(0)
            dump.branches(0)
            for call in (lambda: dump.calls(thread=5), lambda: dump.calls(cpus=[99]),
                         lambda: dump.timeline(each=lambda value: 1 / 0)):
                try:
                    call()
                except (TypeError, btsrec.NoCpuError, ZeroDivisionError):
                    pass
            cycle = {}
            cycle["dump"] = btsrec.open_image(self.image(lambda pa: cycle and None))

        for _ in range(10):
            use()
        gc.collect()
        before, before_kib = sys.getallocatedblocks(), allocated_kib()
        for _ in range(30):
            use()
        gc.collect()
        self.assertLess(sys.getallocatedblocks() - before, 100)
        self.assertLess(allocated_kib() - before_kib, 16)


class Mallinfo2(ctypes.Structure):
    """struct mallinfo2 of mallinfo(3); all arenas together."""

    _fields_ = [(name, ctypes.c_size_t) for name in (
        "arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks",
        "fordblks", "keepcost")]


def allocated_kib():
    """What is resident says little: how much of it is free depends on how threads took turns."""
    mallinfo2 = ctypes.CDLL(None).mallinfo2
    mallinfo2.restype = Mallinfo2
    info = mallinfo2()
    return (info.uordblks + info.hblkhd) // 1024


def describe():
    """A CPU with many branches between a start and a freeze."""
    yield f"root cpus=1 ring={NR_BRANCHES + 64} freeze_reason=1 freeze_cpu=0 tsc_khz=1000000"
    yield "cpu 0"
    yield "arm tsc=1 now=7/7/0x100000/init"
    for i in range(NR_BRANCHES):
        yield f"branch {0xffffffff81000000 + i % 64 * 16:#x} {0xffffffff81001000 + i % 32 * 16:#x}"
    yield "freeze reason=panic tsc=900 debugctl=0xc0 pid=7"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mkimage", required=True)
    args, rest = parser.parse_known_args()
    with tempfile.TemporaryDirectory() as name:
        Misuse.path = str(pathlib.Path(name) / "dump")
        subprocess.run([args.mkimage, Misuse.path], check=True,
                       input="".join(f"{line}\n" for line in describe()).encode())
        unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()

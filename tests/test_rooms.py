#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What tests/rooms must refuse: planted edges that go up, and a file outside all rooms."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOMS = pathlib.Path(__file__).resolve().parent / "rooms"


class Rooms(unittest.TestCase):
    """Two rooms, low and high; low/a.c and high/b.c."""

    def setUp(self):
        self.work = tempfile.TemporaryDirectory()
        self.src = pathlib.Path(self.work.name) / "src"
        self.write("rooms", "# order\nlow\tbelow\nhigh\tabove\n")
        self.write("low/a.h", "int a(void);\n")
        self.write("low/a.c", '#include "low/a.h"\nint a(void) { return 1; }\n')
        self.write("high/b.c", '#include "low/a.h"\nint b(void) { return a(); }\n')

    def tearDown(self):
        self.work.cleanup()

    def write(self, name, text):
        path = self.src / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def run_rooms(self, *args):
        return subprocess.run([ROOMS, "--src", self.src, *args], capture_output=True, text=True,
                              check=False)

    def build(self):
        """Objects where CMake puts them."""
        for path in sorted(self.src.rglob("*.c")):
            out = pathlib.Path(self.work.name) / "build/decoder/x.dir/src" / \
                f"{path.relative_to(self.src)}.o"
            out.parent.mkdir(parents=True, exist_ok=True)
            subprocess.run(["cc", f"-I{self.src}", "-c", path, "-o", out], check=True)
        return f"--build={self.work.name}/build"

    def test_down_is_right(self):
        done = self.run_rooms(self.build())
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("0 faults", done.stdout)

    def test_an_include_goes_up(self):
        self.write("high/b.h", "int b(void);\n")
        self.write("low/a.c", '#include "high/b.h"\nint a(void) { return 1; }\n')
        done = self.run_rooms()
        self.assertEqual(done.returncode, 1)
        self.assertIn("low/a.c: uses high/b.h, which is in a room above", done.stdout)

    def test_a_call_goes_up(self):
        self.write("low/a.c", "int b(void);\nint a(void) { return b(); }\n")
        build = self.build()
        self.assertEqual(self.run_rooms().returncode, 0)
        done = self.run_rooms(build)
        self.assertEqual(done.returncode, 1)
        self.assertIn("low/a.c: uses high/b.c, which is in a room above", done.stdout)

    def test_a_file_without_room(self):
        self.write("loose/c.c", "int c;\n")
        done = self.run_rooms()
        self.assertEqual(done.returncode, 1)
        self.assertIn("loose/c.c: in no room of the list", done.stdout)


if __name__ == "__main__":
    if set(sys.argv[1:]) & {"-h", "--help"}:
        print("usage: tests/test_rooms.py\n" + __doc__)
        sys.exit(0)
    unittest.main()

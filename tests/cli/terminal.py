#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What a user at a terminal gets besides the output, and that a file or pipe gets none of it.

usage: terminal.py BTSREC MKIMAGE
"""
import fcntl
import os
import pathlib
import pty
import select
import subprocess
import sys
import tempfile
import time
import unittest

DUMP = """root cpus=1 ring=256 freeze_reason=1 freeze_cpu=0
cpu 0
arm tsc=1 now=1/1/0x1000/init
""" + "branch 0xffffffff81000000 0xffffffff81000100\n" * 200 + """slot 1 2 3
freeze reason=panic tsc=3 pid=1 tgid=1 comm=init stop_ip=0xffffffff81000005
"""
LEGEND = "# Every mark is explained by: btsrec help marks\n"
RED = "\x1b[31m"
TIMEOUT_S = 60


def read_all(fd: int) -> str:
    """Until its other end is closed; a terminal says EIO then."""
    data = b""
    while select.select([fd], [], [], TIMEOUT_S)[0]:
        try:
            part = os.read(fd, 65536)
        except OSError:
            part = b""
        if not part:
            break
        data += part
    return data.decode()


class Terminal(unittest.TestCase):
    """Runs in a folder with a file "dump"; each stream is a terminal or a pipe."""

    btsrec = mkimage = ""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        subprocess.run([self.mkimage, self.folder / "dump"], input=DUMP.encode(), check=True)
        self.env = {"PATH": os.environ["PATH"], "TERM": "xterm", "BTSREC_PAGER": ""}

    def run_btsrec(self, *words: str, stdout=True, stderr=False, **env) -> tuple[str, str, int]:
        """Both texts, and the exit status. @stdout and @stderr: it is a terminal."""
        ends = [pty.openpty() if tty else os.pipe() for tty in (stdout, stderr)]
        with subprocess.Popen([self.btsrec, *words], cwd=self.folder, env={**self.env, **env},
                              stdin=subprocess.DEVNULL, stdout=ends[0][1],
                              stderr=ends[1][1]) as child:
            for end in ends:
                os.close(end[1])
            texts = [read_all(end[0]).replace("\r\n", "\n") for end in ends]
            for end in ends:
                os.close(end[0])
        return texts[0], texts[1], child.returncode

    def plain(self, *words: str) -> str:
        return self.run_btsrec(*words, stdout=False)[0]

    def test_a_file_gets_nothing_of_it(self):
        for env in ({}, {"BTSREC_PAGER": "sed s/^/P:/"}):
            text = self.run_btsrec("show", "dump", stdout=False, **env)[0]
            self.assertNotIn("\x1b", text)
            self.assertNotIn(LEGEND, text)
            self.assertTrue(text.startswith("# CPU 0"))

    def test_colors(self):
        plain = self.plain("show", "dump")
        text = self.run_btsrec("show", "dump")[0]
        self.assertIn(RED, text)
        for code in ("0", "1", "2", "31"):
            text = text.replace(f"\x1b[{code}m", "")
        self.assertEqual(text, LEGEND + plain)
        for env in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
            self.assertEqual(self.run_btsrec("show", "dump", **env)[0], LEGEND + plain)
        self.assertIn(RED, self.run_btsrec("show", "dump", NO_COLOR="")[0])
        self.assertNotIn(RED, self.run_btsrec("show", "--color", "never", "dump")[0])
        self.assertIn(RED, self.run_btsrec("show", "--color=always", "dump", stdout=False)[0])
        self.assertIn("did you mean 'always'",
                      self.run_btsrec("show", "--color", "alway", "dump")[1])

    def test_an_address_that_has_a_name_is_left_out(self):
        (self.folder / "map").write_text("ffffffff81000000 T _stext\nffffffff81000000 T caller\n"
                                         "ffffffff81000100 T callee\nffffffff81001000 T _end\n")
        words = ("show", "--no-names", "--color=never", "--system-map", "map", "dump")
        here, there = "0xffffffff81000000", "0xffffffff81000100"
        both = f"  0         1 branch  {here} -> {there} -  caller+0x0 -> callee+0x0\n"
        text = self.run_btsrec(*words)[0]
        self.assertIn("  0         1 branch  caller+0x0 -> callee+0x0 -\n", text)
        self.assertIn("branch  0x0000000000000001 -> 0x0000000000000002 -\n", text)
        self.assertNotIn(here, text)
        self.assertIn("branch  caller+0x0 -> callee+0x0 - -\n", self.run_btsrec(*words, "-t")[0])
        self.assertIn(both, self.run_btsrec(*words, "--addresses")[0])
        self.assertIn(both, self.plain(*words))

    def test_other_formats_are_as_they_are(self):
        plain = self.plain("show", "--format", "jsonl", "dump")
        self.assertEqual(self.run_btsrec("show", "--format", "jsonl", "--color=always", "dump")[0],
                         plain)

    def test_the_pager_has_the_output(self):
        env = {"BTSREC_PAGER": "sed s/^/P:/"}
        text = self.run_btsrec("info", "--color=never", "dump", **env)[0]
        self.assertTrue(all(line.startswith("P:") for line in text.splitlines()), text)
        self.assertIn("P:" + LEGEND, text)
        self.assertNotIn("P:", self.run_btsrec("info", "--no-pager", "dump", **env)[0])
        self.assertIn("P:", self.run_btsrec("help", **env)[0])
        del self.env["BTSREC_PAGER"]
        self.assertIn("Q:", self.run_btsrec("info", "dump", PAGER="sed s/^/Q:/")[0])

    def test_a_pager_that_is_left_early(self):
        text, error, status = self.run_btsrec("show", "--color=never", "dump",
                                              BTSREC_PAGER="head -n 1")
        self.assertEqual((text, error), (LEGEND, ""))
        self.assertIn(status, (0, 1))

    def test_a_pager_that_is_not_there(self):
        _, error, status = self.run_btsrec("show", "dump", BTSREC_PAGER="/nowhere")
        self.assertIn("there is no pager '/nowhere': nothing was shown; --no-pager prints without "
                      "one", error)
        self.assertEqual(status, 7)

    def test_diff_has_its_own_status_for_trouble(self):
        _, error, status = self.run_btsrec("diff", "--help", BTSREC_PAGER="/nowhere")
        self.assertIn("there is no pager", error)
        self.assertEqual(status, 2)

    def test_how_a_pager_ends_does_not_count(self):
        for pager in ("cat >/dev/null; exit 3", "cat >/dev/null; kill -9 $$"):
            _, error, status = self.run_btsrec("info", "dump", BTSREC_PAGER=pager)
            self.assertEqual((error, status), ("", 0))

    def test_a_pager_that_cannot_run(self):
        (self.folder / "no-program").write_text("")
        _, error, status = self.run_btsrec("help", BTSREC_PAGER=str(self.folder / "no-program"))
        self.assertIn("could not run the pager", error)
        self.assertEqual(status, 7)

    def test_what_was_written(self):
        error = self.run_btsrec("extract", "dump", "small", stderr=True)[1]
        nr_bytes = (self.folder / "small").stat().st_size
        size = f"{nr_bytes / 1024:.1f} KiB" if nr_bytes >= 1024 else f"{nr_bytes} bytes"
        self.assertEqual(error, f"btsrec: small: {size}\n")
        self.assertEqual(self.run_btsrec("extract", "--force", "dump", "small")[1], "")

    def test_progress(self):
        """The pipe is full, so that the work takes as long as the test wants."""
        master, slave = pty.openpty()
        out, into = os.pipe()
        fcntl.fcntl(into, fcntl.F_SETPIPE_SZ, 4096)
        with subprocess.Popen([self.btsrec, "show", "dump"], cwd=self.folder, env=self.env,
                              stdout=into, stderr=slave) as child:
            os.close(slave)
            os.close(into)
            self.assertTrue(select.select([master], [], [], TIMEOUT_S)[0])
            time.sleep(0.1)
            read_all(out)
            os.close(out)
            text = read_all(master)
        os.close(master)
        self.assertEqual(child.returncode, 0)
        self.assertRegex(text, r"\A(\r\x1b\[Kbtsrec: \d+ s, \d+ KiB of output )+\r\x1b\[K\Z")


if __name__ == "__main__":
    if sys.argv[1:2] in (["-h"], ["--help"]):
        print(__doc__.strip())
        sys.exit(0)
    Terminal.btsrec, Terminal.mkimage = (str(pathlib.Path(p).resolve()) for p in sys.argv[1:3])
    unittest.main(argv=sys.argv[:1])

#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The clock of time limits: a process that others keep from running has more time."""

import os
import subprocess
import sys
import time
import unittest

sys.dont_write_bytecode = True

import timelimit  # noqa: E402

BUSY = (sys.executable, "-I", "-S", "-c", "while True: pass")


class TestTimeLimit(unittest.TestCase):
    """Processes that share one processor."""

    def start(self, *command):
        cpu = {min(os.sched_getaffinity(0))}
        process = subprocess.Popen(command, preexec_fn=lambda: os.sched_setaffinity(0, cpu))
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def test_idle(self):
        process = self.start("sleep", "60")
        limit = timelimit.TimeLimit(process.pid, 0.5)
        self.assertFalse(limit.is_over())
        time.sleep(0.6)
        self.assertTrue(limit.is_over())

    def test_busy(self):
        processes = [self.start(*BUSY) for _ in range(4)]
        time.sleep(0.5)
        limit = timelimit.TimeLimit(processes[0].pid, 1)
        time.sleep(1.5)
        self.assertFalse(limit.is_over())
        for process in processes[1:]:
            process.kill()
        end = time.monotonic() + 60
        while not limit.is_over() and time.monotonic() < end:
            time.sleep(0.1)
        self.assertTrue(limit.is_over())


if __name__ == "__main__":
    unittest.main()

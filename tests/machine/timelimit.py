# SPDX-License-Identifier: GPL-2.0-or-later
"""Time limits that a busy machine cannot use up."""

import time
from pathlib import Path


def waited_s(pid: int) -> float:
    """How long the thread of PID that waited longest was ready, and had no processor.

    The second number of /proc/PID/task/TID/schedstat, in nanoseconds (the kernel's
    Documentation/scheduler/sched-stats.rst). 0 where the kernel does not count it.
    """
    waited_ns = 0
    for path in Path(f"/proc/{pid}/task").glob("*/schedstat"):
        try:
            waited_ns = max(waited_ns, int(path.read_text(encoding="ascii").split()[1]))
        except (OSError, IndexError, ValueError):
            continue
    return waited_ns / 1e9


class TimeLimit:
    """So many SECONDS of the process PID. Time in which it waits for a processor that others
    use does not count."""

    def __init__(self, pid: int, seconds: float):
        self.seconds = seconds
        self._pid = pid
        self._begin = time.monotonic()
        self._waited = waited_s(pid)

    def is_over(self) -> bool:
        elapsed = time.monotonic() - self._begin
        return elapsed > self.seconds and \
            elapsed - (waited_s(self._pid) - self._waited) > self.seconds

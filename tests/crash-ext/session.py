# SPDX-License-Identifier: GPL-2.0-or-later
"""Sessions of crash: one fed from a script, one on a terminal of its own."""

import errno
import os
import pty
import re
import select
import signal
import subprocess
import tempfile
import time

PROMPT = b"crash> "
START_SECONDS = 600
COMMAND_SECONDS = 600


class SessionError(Exception):
    """crash did not do what a session needs to go on."""


def _environment(home):
    """No .crashrc of the user, no colours, and a pager that shows its prompt."""
    env = dict(os.environ, HOME=home, TERM="vt100", LESS="", LC_ALL="C")
    for name in ("CRASH_EXTENSIONS", "CRASHPAGER", "PAGER"):
        env.pop(name, None)
    return env


def run_script(crash, lines, folder):
    """Run the commands of lines in one session that is no terminal.

    Returns (exit status, standard output and error together).
    """
    script = "".join(line + "\n" for line in lines)
    done = subprocess.run(crash, input=script.encode(), cwd=folder, timeout=COMMAND_SECONDS,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
                          env=_environment(folder))
    return done.returncode, done.stdout.decode(errors="replace")


class Terminal:
    """crash on a pseudo-terminal; leaves with the context."""

    def __init__(self, crash):
        self._home = tempfile.TemporaryDirectory(prefix="crash-home-")
        self.pid, self._fd = pty.fork()
        if self.pid == 0:
            os.chdir(self._home.name)
            os.execvpe(crash[0], crash, _environment(self._home.name))
        self.read_until(PROMPT, START_SECONDS)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            os.kill(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        os.waitpid(self.pid, 0)
        os.close(self._fd)
        self._home.cleanup()

    def send(self, data):
        """Type data, without an end of line."""
        os.write(self._fd, data)

    def _read(self, seconds):
        ready, _, _ = select.select([self._fd], [], [], max(seconds, 0))
        if not ready:
            return b""
        try:
            data = os.read(self._fd, 65536)
        except OSError as error:
            if error.errno != errno.EIO:
                raise
            data = b""
        if not data:
            raise SessionError("crash left")
        return data

    def read_until(self, text, seconds=COMMAND_SECONDS):
        """Everything up to the first output that ends in text."""
        end = time.monotonic() + seconds
        seen = b""
        while not seen.endswith(text):
            if time.monotonic() > end:
                raise SessionError(f"no {text!r} within {seconds} s after {seen[-200:]!r}")
            seen += self._read(end - time.monotonic())
        return seen

    def read_while_busy(self, quiet_seconds=0.5):
        """Everything until nothing came for quiet_seconds."""
        seen = b""
        while data := self._read(quiet_seconds):
            seen += data
        return seen

    def command(self, line):
        """Run a command with its whole output."""
        self.send(line.encode() + b"\n")
        return self.read_until(PROMPT).decode(errors="replace")

    def alive(self):
        """Does the session still calculate?"""
        return re.search(r"hexadecimal: 7\b", self.command("eval 3 + 4")) is not None

    def resident_bytes(self):
        """Resident memory of crash itself."""
        with open(f"/proc/{self.pid}/statm", encoding="ascii") as statm:
            return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def wait_blocked(self, seconds=COMMAND_SECONDS):
        """Wait until crash sleeps in a write that nobody reads: no CPU time passes, though it
        waits for no CPU, either."""
        end = time.monotonic() + seconds
        before = -1
        while (now := self._cpu_ticks()) != before or self._state() == "R":
            if time.monotonic() > end:
                raise SessionError("crash does not get blocked by its output")
            before = now
            time.sleep(0.3)

    def wait_busy(self, seconds=2):
        """Wait until crash has computed for some hundredths of a second."""
        end = time.monotonic() + seconds
        before = self._cpu_ticks()
        while self._cpu_ticks() < before + 2 and time.monotonic() < end:
            time.sleep(0.002)

    def _stat(self):
        """/proc/PID/stat from the third field on."""
        with open(f"/proc/{self.pid}/stat", encoding="ascii", errors="replace") as stat:
            return stat.read().rpartition(")")[2].split()

    def _state(self):
        return self._stat()[0]

    def _cpu_ticks(self):
        fields = self._stat()
        return int(fields[11]) + int(fields[12])

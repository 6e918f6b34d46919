# SPDX-License-Identifier: GPL-2.0-or-later
"""What btsrec says of a dump: its views as JSON lines, and memory from its gdb server."""

import json
import subprocess

# Exit statuses of btsrec with an answer: whole, or whole but for a part.
ANSWERED = (0, 1)
# Two digits a byte; the server takes packets of 16 KiB.
MEMORY_BYTES = 4096


class Refused(Exception):
    """Why something cannot be answered, for a user."""


class Dump:
    """A dump, by what btsrec is called with."""

    def __init__(self, program, files, options):
        self._program = program
        self._files = files
        self._options = options
        self._memory = {}

    def _command(self, view, words, operands=()):
        return [self._program, view, *map(str, words), *self._options, "--", *self._files,
                *operands]

    def ask(self, view, *words, operands=()):
        """The lines of a view as objects, one by one; Refused: with what btsrec said."""
        command = self._command(view, [*words, "--format", "jsonl"], operands)
        try:
            with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE) as child:
                # What it says on standard error is less than a pipe holds.
                for line in child.stdout:
                    yield json.loads(line)
                said = child.stderr.read().decode(errors="replace")
        except OSError as error:
            raise Refused(f"{self._program} cannot be started: {error.strerror}") from error
        if child.returncode not in ANSWERED:
            raise Refused(said.strip() or f"btsrec {view} ended with {child.returncode}")

    def memory(self, cpu):
        """The gdb server of a CPU, started once."""
        if cpu not in self._memory:
            command = self._command("gdbserver", ["--cpu", cpu])
            options = [word for word in command if word != "--raw-names"]
            self._memory[cpu] = Memory(options)
        return self._memory[cpu]

    def close(self):
        for memory in self._memory.values():
            memory.close()
        self._memory = {}


class Memory:
    """A connection to btsrec gdbserver, in the protocol of gdb's manual, "Remote Protocol"."""

    def __init__(self, command):
        try:
            self._child = subprocess.Popen(  # pylint: disable=consider-using-with
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        except OSError as error:
            raise Refused(f"{command[0]} cannot be started: {error.strerror}") from error
        self._ask("QStartNoAckMode")
        # The last acknowledgement.
        self._send(b"+")

    def _send(self, data):
        try:
            self._child.stdin.write(data)
            self._child.stdin.flush()
        except OSError as error:
            raise self._gone() from error

    def _gone(self):
        said = self._child.stderr.read().decode(errors="replace").strip()
        return Refused(said or "btsrec gdbserver went away")

    def _ask(self, packet):
        self._send(f"${packet}#{sum(packet.encode()) & 0xff:02x}".encode())
        answer = bytearray()
        while not answer.endswith(b"#"):
            byte = self._child.stdout.read(1)
            if not byte:
                raise self._gone()
            answer += byte
        self._child.stdout.read(2)
        return bytes(answer[answer.index(b"$") + 1:-1])

    def read(self, va, length):
        """As many bytes from @va on as the dump has, at most @length."""
        found = bytearray()
        while len(found) < length:
            part = min(MEMORY_BYTES, length - len(found))
            answer = self._ask(f"m{va + len(found):x},{part:x}")
            # An error is E and two digits, which is no whole number of bytes.
            if len(answer) % 2:
                break
            got = bytes.fromhex(answer.decode())
            found += got
            if len(got) < part:
                break
        return bytes(found)

    def close(self):
        self._child.stdin.close()
        self._child.stdout.close()
        self._child.stderr.close()
        self._child.wait()

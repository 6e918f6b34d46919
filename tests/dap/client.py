# SPDX-License-Identifier: GPL-2.0-or-later
"""A client of the Debug Adapter Protocol that a test asks by script."""

import json
import subprocess


class Client:
    """btsrec-dap as a child."""

    def __init__(self, command, folder):
        self._child = subprocess.Popen(  # pylint: disable=consider-using-with
            command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE)
        self._seq = 0
        self.events = []

    def send(self, data):
        self._child.stdin.write(data)
        self._child.stdin.flush()

    def receive(self):
        """A message; None: it went away."""
        length = 0
        while line := self._child.stdout.readline():
            if not line.strip():
                return json.loads(self._child.stdout.read(length))
            length = int(line.partition(b":")[2])
        return None

    def ask(self, command, **arguments):
        """The response; events before it are kept."""
        self._seq += 1
        body = json.dumps({"seq": self._seq, "type": "request", "command": command,
                           "arguments": arguments}).encode()
        self.send(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        while message := self.receive():
            if message["type"] == "response":
                assert message["request_seq"] == self._seq, message
                return message
            self.events.append(message)
        raise AssertionError(f"it went away at {command}: {self.end()}")

    def body(self, command, **arguments):
        """Of a response that must be a success."""
        response = self.ask(command, **arguments)
        assert response["success"], response
        return response.get("body", {})

    def error(self, command, **arguments):
        """The text of a response that must be an error."""
        response = self.ask(command, **arguments)
        assert not response["success"], response
        assert response["body"]["error"]["variables"]["text"] == response["message"], response
        return response["message"]

    def wait(self, event):
        """The next such event."""
        while True:
            for i, message in enumerate(self.events):
                if message["event"] == event:
                    return self.events.pop(i).get("body", {})
            message = self.receive()
            assert message and message["type"] == "event", message
            self.events.append(message)

    def end(self):
        """Exit status, and what it said on standard error."""
        self._child.stdin.close()
        said = self._child.stderr.read().decode()
        self._child.stdout.close()
        return self._child.wait(), said

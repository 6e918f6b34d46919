# SPDX-License-Identifier: GPL-2.0-or-later
"""Messages of the Debug Adapter Protocol: a head, an empty line, and JSON.

https://microsoft.github.io/debug-adapter-protocol/overview#base-protocol
"""

import json
import re

# No editor sends as much; it bounds what a wrong length may take.
MAX_BYTES = 16 << 20
MAX_HEAD_LINE_BYTES = 1000


class Broken(Exception):
    """What comes is no message, and where the next one begins is not known."""


class Malformed(Exception):
    """A message, but its content cannot be answered."""


def _length(stream):
    """From the head; None: nothing comes any more."""
    length = None
    while line := stream.readline(MAX_HEAD_LINE_BYTES):
        if not line.strip():
            break
        if match := re.fullmatch(rb"content-length: *(\d{1,9})\s*", line, re.IGNORECASE):
            length = int(match[1])
        elif not re.fullmatch(rb"[\w-]+:.*\s*", line):
            raise Broken(f"{line[:40]!r} is no line of a message's head")
    else:
        return None
    if length is None or length > MAX_BYTES:
        raise Broken(f"a message without Content-Length, or above {MAX_BYTES} bytes")
    return length


def receive(stream):
    """A message as an object with "type" and "seq"; None: nothing comes any more."""
    length = _length(stream)
    if length is None:
        return None
    body = stream.read(length)
    if len(body) < length:
        return None
    try:
        message = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise Malformed(f"a message is no JSON: {error}") from error
    if not isinstance(message, dict) or not isinstance(message.get("seq"), int):
        raise Malformed("a message is no object with a number seq")
    return message


class Sender:
    """What is sent has numbers that count up."""

    def __init__(self, stream):
        self._stream = stream
        self._seq = 0

    def send(self, kind, **members):
        self._seq += 1
        body = json.dumps({"seq": self._seq, "type": kind} | members).encode()
        self._stream.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self._stream.flush()

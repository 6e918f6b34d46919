# SPDX-License-Identifier: GPL-2.0-or-later
"""The command line of btsrec-dap(1), and the loop that answers."""

import sys

import btsrec_standard

from . import wire
from .adapter import Adapter
from .asked import Refused

EXIT_OK, EXIT_PROTOCOL = 0, 2


def parser():
    made = btsrec_standard.Parser(
        prog="btsrec-dap",
        description="A debug adapter: an editor on standard input and output steps through a dump, "
                    "back and forth.",
        epilog="The editor's configuration names the dump; see btsrec-dap(1).")
    made.add_argument("--btsrec", default="btsrec", metavar="PROGRAM",
                      help="the command that reads dumps (btsrec)")
    return made


def _error(text):
    return {"success": False, "message": text,
            "body": {"error": {"id": 1, "format": "{text}", "variables": {"text": text},
                               "showUser": True}}}


def _answer(adapter, command, args):
    """Members of the response."""
    method = getattr(adapter, f"on_{command.lower()}", None)
    if not isinstance(command, str) or method is None:
        return _error(f"btsrec-dap does not know the request '{command}'")
    try:
        body = method(args if isinstance(args, dict) else {})
    except Refused as reason:
        return _error(str(reason))
    # Whatever a dump holds, the editor goes on.
    except Exception as error:  # pylint: disable=broad-exception-caught
        return _error(f"btsrec-dap failed, which is a bug: {type(error).__name__}: {error}")
    return {"success": True} | ({"body": body} if body else {})


def serve(receiver, sender, program):
    adapter = Adapter(sender, program)
    while not adapter.done:
        try:
            message = wire.receive(receiver)
        except wire.Malformed as reason:
            print(f"btsrec-dap: {reason}", file=sys.stderr)
            continue
        if message is None:
            break
        if message.get("type") != "request":
            continue
        command = message.get("command")
        command = command if isinstance(command, str) else ""
        sender.send("response", request_seq=message["seq"], command=command,
                    **_answer(adapter, command, message.get("arguments")))
        adapter.after_response()
    adapter.on_disconnect({})


def main():
    btsrec_standard.catch_interrupts()
    try:
        args = parser().parse_args()
        serve(sys.stdin.buffer, wire.Sender(sys.stdout.buffer), args.btsrec)
    except wire.Broken as reason:
        print(f"btsrec-dap: {reason}", file=sys.stderr)
        return EXIT_PROTOCOL
    except (BrokenPipeError, KeyboardInterrupt):
        # The editor went away.
        btsrec_standard.drop_output()
    except OSError as reason:
        print(f"btsrec-dap: {reason}", file=sys.stderr)
        btsrec_standard.drop_output()
        return EXIT_PROTOCOL
    return EXIT_OK

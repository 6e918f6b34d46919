#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""btsrec-dap steps through dumps of golden cases, and endures wrong requests and wrong dumps.

usage: dap.py --btsrec PROGRAM --mkimage PROGRAM

Exit status: 0: so it is; 1: not, with what differs.
"""

import argparse
import base64
import os
import pathlib
import random
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
GOLDEN = HERE.parent / "golden"
PROGRAM = HERE.parents[1] / "decoder/dap/btsrec-dap"
sys.path[:0] = [str(HERE), str(GOLDEN)]

# pylint: disable=wrong-import-position
import golden  # noqa: E402
from client import Client  # noqa: E402

NR_CUTS = 12


class Test:
    """A dump, and an editor that opened it."""

    def __init__(self, args, folder, name):
        self.folder = folder
        self.command = [str(PROGRAM), "--btsrec", str(pathlib.Path(args.btsrec).resolve())]
        self.case = golden.Case(GOLDEN / f"{name}.in")
        golden.make_folder(self.case, folder, args.mkimage)
        self.client = None

    def open(self, **launch):
        self.client = Client(self.command, self.folder)
        assert self.client.body("initialize", adapterID="btsrec")["supportsStepBack"]
        self.client.body("launch", dump="dump", **launch)
        self.client.wait("initialized")
        self.client.body("configurationDone")
        return self.client.wait("stopped")

    def where(self, cpu=0):
        """The frames' names and source lines, innermost first."""
        frames = self.client.body("stackTrace", threadId=cpu + 1)["stackFrames"]
        return [(frame["name"], frame["line"]) for frame in frames]

    def move(self, command, **more):
        """What is there after a step: the innermost frame, and the event's reason."""
        self.client.body(command, threadId=1, **more)
        reason = self.client.wait("stopped")["reason"]
        return self.where()[0], reason

    def scope(self, number, name):
        """The variables of a scope of a frame."""
        frame = self.client.body("stackTrace", threadId=1)["stackFrames"][number]
        found = {scope["name"]: scope["variablesReference"]
                 for scope in self.client.body("scopes", frameId=frame["id"])["scopes"]}
        variables = self.client.body("variables", variablesReference=found[name])["variables"]
        return {variable["name"]: variable["value"] for variable in variables}

    def close(self):
        self.client.body("disconnect")
        assert self.client.end() == (0, ""), "it did not end well"


def equal(what, got, expected):
    if got != expected:
        raise AssertionError(f"{what}: {got}, not {expected}")


def test_fault(args, folder):
    """It stands at the fault, whose registers the dump has, and steps back to the call."""
    test = Test(args, folder, "verdict-null")
    stopped = test.open()
    equal("stopped", stopped["reason"], "exception")
    assert "culprit+0x1 wrote through a NULL pointer" in stopped["text"], stopped
    equal("at the fault", test.where(), [("culprit+0x1", 0), ("outer+0x5", 0)])
    equal("rip", test.scope(0, "Registers")["rip"], "0xffffffff81000101")
    equal("a step back", test.move("stepBack"), (("culprit+0x0", 0), "step"))
    assert test.scope(0, "Registers")["rcx"].startswith("<unavailable: "), "a register from nowhere"
    equal("another", test.move("stepBack"), (("outer+0x0", 0), "step"))
    equal("over the call", test.move("next"), (("asm_exc+0x1", 0), "step"))
    equal("back to the fault", test.move("reverseContinue"), (("culprit+0x1", 0), "exception"))
    equal("into the handler", test.move("stepIn"), (("asm_exc+0x0", 0), "step"))
    equal("and out of it", test.move("stepOut")[0], ("asm_exc+0x1", 0))
    code = test.client.body("disassemble", memoryReference="0xffffffff81000100",
                            instructionOffset=-1, instructionCount=5)["instructions"]
    equal("instructions", [entry["instruction"] for entry in code[1:4]],
          ["nop", "mov %ecx, 0x10(%rax)", "ret"])
    equal("what is before", (len(code), code[0]["presentationHint"]), (5, "invalid"))
    memory = test.client.body("readMemory", memoryReference="0xffffffff81000000", offset=0x100,
                              count=4)
    equal("memory", base64.b64decode(memory["data"]), bytes.fromhex("90894810"))
    equal("no memory", test.client.body("readMemory", memoryReference="0x1000", count=4)
          ["unreadableBytes"], 4)
    test.close()


def test_registers(args, folder):
    """Where it was stopped are those of the freeze, and of an instruction what it reads."""
    test = Test(args, folder, "registers")
    test.open(at="end")
    found = test.scope(0, "Registers")
    equal("of the freeze", (found["rip"], found["rax"], found["r15"]),
          ("0xffffffff81000300", "0x0000000000000001", "0x000000000000000f"))
    test.close()
    test = Test(args, folder, "insns-values")
    test.open(at="end")
    test.move("reverseContinue")
    test.move("stepBack", granularity="instruction")
    equal("what is read", test.scope(0, "Registers")["bl"], "0x0")
    test.move("stepBack", granularity="instruction")
    test.move("stepBack", granularity="instruction")
    found = test.scope(0, "Registers")
    equal("before a test", (found["ebx"], found["rcx"]),
          ("0x0", "<unavailable: this instruction does not read it>"))
    test.close()


def test_lines(args, folder):
    """Source lines, breakpoints on them, on functions and on addresses; steps over calls."""
    test = Test(args, folder, "lines-found")
    subprocess.run(["sh", "-c", test.case.commands[0]], cwd=folder, check=True,
                   stdout=subprocess.DEVNULL)
    test.open(vmlinux="vmlinux", sourceDir=str(folder), at="end")
    equal("in the end", test.where()[0], ("helper+0x1", 11))
    source = test.client.body("stackTrace", threadId=1)["stackFrames"][1]["source"]["path"]
    equal("its file", os.path.realpath(source), os.path.realpath(folder / "loop.c"))
    equal("the caller's line", test.where()[1], ("_stext+0x5", 4))
    answers = test.client.body("setBreakpoints", source={"path": source},
                               breakpoints=[{"line": 6}, {"line": 8}])["breakpoints"]
    equal("breakpoints", [answer["verified"] for answer in answers], [True, False])
    equal("back to line 6", test.move("reverseContinue"), (("_stext+0x7", 6), "breakpoint"))
    equal("over its call", test.move("next"), (("_stext+0xc", 7), "step"))
    equal("back over it", test.move("stepBack"), (("_stext+0x7", 6), "step"))
    equal("into it", test.move("stepIn"), (("helper+0x0", 10), "step"))
    equal("one instruction", test.move("stepIn", granularity="instruction"),
          (("helper+0x1", 11), "step"))
    equal("out of it", test.move("stepOut"), (("_stext+0xc", 7), "step"))
    test.client.body("setBreakpoints", source={"path": source}, breakpoints=[])
    test.client.body("setFunctionBreakpoints", breakpoints=[{"name": "helper"}])
    equal("to a function", test.move("reverseContinue"), (("helper+0x0", 10), "breakpoint"))
    test.client.body("setFunctionBreakpoints", breakpoints=[])
    test.client.body("setInstructionBreakpoints",
                     breakpoints=[{"instructionReference": "0xffffffff81000000", "offset": 5}])
    equal("to an address", test.move("reverseContinue"), (("_stext+0x5", 5), "breakpoint"))
    test.client.body("setInstructionBreakpoints", breakpoints=[])
    equal("to the beginning", test.move("reverseContinue")[1], "step")
    assert "the history begins here" in str(test.client.events), "it does not say why it ends"
    equal("nothing before it", test.move("stepBack")[1], "step")
    test.close()
    test.open(events=2)
    test.move("reverseContinue")
    assert "launch with more" in str(test.client.events), "it does not say that there is more"
    test.close()


WRONG = (
    ("launch", {}, "\"dump\" must be"),
    ("launch", {"dump": []}, "\"dump\" must be"),
    ("launch", {"dump": "\ud800"}, "\"dump\" must be"),
    ("launch", {"dump": "dump", "vmlinux": "a\0b"}, "\"vmlinux\" must be"),
    ("launch", {"dump": "dump", "sysroot": "\udfff"}, "\"sysroot\" must be"),
    ("launch", {"dump": "dump", "events": 0}, "\"events\" must be a number"),
    ("launch", {"dump": "dump", "at": "once"}, "\"at\" must be"),
    ("launch", {"dump": "nowhere"}, "nowhere: No such file or directory"),
    ("launch", {"dump": "dump", "vmlinux": "nowhere"}, "nowhere"),
    ("threads", {}, "no dump is open"),
)
WRONG_WHEN_OPEN = (
    ("launch", {"dump": "dump"}, "a dump is open"),
    ("stackTrace", {"threadId": 9}, "\"threadId\" must be"),
    ("stackTrace", {"threadId": 1, "levels": "all"}, "\"levels\" must be"),
    ("stepBack", {}, "\"threadId\" must be"),
    ("next", {"threadId": 1, "granularity": 3}, "\"granularity\" must be"),
    ("scopes", {"frameId": 77}, "\"frameId\" 77 is not known"),
    ("variables", {"variablesReference": None}, "is not known"),
    ("disassemble", {"memoryReference": "here", "instructionCount": 1}, "must be an address"),
    ("disassemble", {"memoryReference": "0x10", "instructionCount": 1}, "no code is known"),
    ("disassemble", {"memoryReference": "0x10", "instructionCount": 1 << 40}, "must be a number"),
    ("readMemory", {"memoryReference": "0x10"}, "\"count\" must be"),
    ("setBreakpoints", {"source": 1}, "must have a \"path\""),
    ("setBreakpoints", {"source": {"path": "a"}, "breakpoints": [1]}, "list of objects"),
    ("evaluate", {"expression": "1+1"}, "no expression is evaluated"),
    ("setVariable", {"name": "rax", "value": "1"}, "a dump is not changed"),
    ("source", {"sourceReference": 1}, "sourceDir"),
    ("flyToTheMoon", {}, "does not know the request"),
)


def test_wrong_requests(args, folder):
    """Each gets an error that says what to do, and the session goes on."""
    test = Test(args, folder, "verdict-null")
    client = test.client = Client(test.command, folder)
    for command, given, expected in WRONG:
        said = client.error(command, **given)
        assert expected in said, f"{command} {given}: {said}"
    equal("its end", test.client.end(), (0, ""))
    test.open()
    for command, given, expected in WRONG_WHEN_OPEN:
        said = test.client.error(command, **given)
        assert expected in said, f"{command} {given}: {said}"
    old = test.client.body("stackTrace", threadId=1)["stackFrames"][0]["id"]
    test.move("stepBack")
    assert "stands no more" in test.client.error("scopes", frameId=old), "an old frame is answered"
    equal("it goes on", test.move("stepIn")[1], "exception")
    test.client.send(b"Content-Length: 9\r\n\r\n{\"seq\": [")
    equal("after no JSON", test.move("stepBack")[1], "step")
    test.client.send(b"Content-Type: text\r\n\r\n")
    status, said = test.client.end()
    equal("after no head", status, 2)
    assert "no JSON" in said and "without Content-Length" in said, said


def test_closed_files(_args, folder):
    """Without an editor at the other end, or with nowhere to write to, it says so."""
    closed, full = "[Errno 9] Bad file descriptor", "[Errno 28] No space left on device"
    for redirection, option, said in (("<&-", [], closed), ("<&- >&-", [], closed),
                                      (">&-", ["--help"], closed),
                                      (">/dev/full", ["--help"], full)):
        done = subprocess.run(["sh", "-c", f'exec "$@" {redirection}', "sh", str(PROGRAM), *option],
                              cwd=folder, text=True, capture_output=True, check=False)
        equal(f"its end with {redirection} {option}", (done.returncode, done.stderr),
              (2, f"btsrec-dap: {said}\n"))


def test_open_again(args, folder):
    """An open that failed half-way leaves nothing behind."""
    test = Test(args, folder, "verdict-null")
    program = folder / "fails-once"
    program.write_text(f"""#!/bin/sh
[ "$1" != calls ] || [ -e once ] || {{ : >once; echo 'btsrec: out of memory' >&2; exit 6; }}
exec {test.command[2]} "$@"
""")
    program.chmod(0o755)
    client = Client([*test.command[:2], str(program)], folder)
    equal("the reason", client.error("launch", dump="dump"), "btsrec: out of memory")
    client.body("launch", dump="dump")
    client.body("disconnect")
    equal("its end", client.end(), (0, ""))


def test_wrong_dumps(args, folder):
    """Of a dump that is cut or damaged there is an answer or an error, always."""
    test = Test(args, folder, "verdict-null")
    whole = (folder / "dump").read_bytes()
    chance = random.Random(1)
    for number in range(NR_CUTS):
        data = bytearray(whole)
        if number % 3 == 0:
            del data[chance.randrange(len(data)):]
        for _ in range(200 if number % 3 else 0):
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        (folder / "dump").write_bytes(data)
        client = Client(test.command, folder)
        if client.ask("launch", dump="dump")["success"]:
            client.ask("configurationDone")
            for command in ("threads", "stackTrace", "stepBack", "stackTrace", "reverseContinue",
                            "stackTrace", "exceptionInfo", "stepOut", "next"):
                said = client.ask(command, threadId=1).get("message", "")
                assert "a bug" not in said, f"{number}: {command}: {said}"
        client.ask("disconnect")
        equal(f"damage {number}", client.end(), (0, ""))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--btsrec", required=True)
    parser.add_argument("--mkimage", required=True)
    args = parser.parse_args()
    os.environ["DEBUGINFOD_URLS"] = ""
    failed = 0
    for test in (test_fault, test_registers, test_lines, test_wrong_requests, test_open_again,
                 test_wrong_dumps, test_closed_files):
        with tempfile.TemporaryDirectory() as name:
            try:
                test(args, pathlib.Path(name))
            except AssertionError as reason:
                print(f"{test.__name__}: {reason}")
                failed = 1
    return failed


if __name__ == "__main__":
    sys.exit(main())

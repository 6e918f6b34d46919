#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Back and forth along a history as gdb asks for it: what is known there, and what is not.

usage: gdb.py --btsrec PROGRAM --mkimage PROGRAM
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile

# mov $5,%eax; add $3,%eax; push %rax; xor %eax,%eax; pop %rcx; push %rsp; test %ebx,%ebx;
# je; mov %bl,%cl; mov (%rbx),%rax, which faults.
VALUES = """root ring=64
idt 14 0xffffffff81000e00
code kernel 0xffffffff81000000 b80500000083c0035031c0595485db7402cccc88d9488b03
code kernel 0xffffffff81000e00 90
cpu 0
arm tsc=1 now=7/7/0x100000/init
branch 0xffffffff81000f00 0xffffffff81000000
branch 0xffffffff8100000f 0xffffffff81000013
branch 0xffffffff81000015 0xffffffff81000e00
freeze reason=oops tsc=3 stop_ip=0xffffffff81000e00 ip=0xffffffff81000015 \
sp=0xffffc90000003f00 bp=0x1234 rflags=0x46
"""
# The same, but before the test: mov %ebx,8(%rbp).  The memory is there.
STORED = VALUES.replace("5485db7402cccc", "54895d0885db7402cccc").replace(
    "8100000f", "81000012").replace("81000013", "81000016").replace("81000015", "81000018").replace(
        "bp=0x1234", "bp=0xffff888000001000").replace(
            "cpu 0\n", "code kernel 0xffff888000001008 00000000\ncpu 0\n")

RSP = 0xffffc90000003f00
REGISTERS = {"rax": 0, "rbx": 1, "rcx": 2, "rsp": 7, "rip": 16}
BEGIN, END = "T05thread:1;replaylog:begin;", "T05thread:1;replaylog:end;"
STEP, BREAK = "T05thread:1;", "T05thread:1;swbreak:;"


class Stub:
    """One connection."""

    def __init__(self, btsrec, dump, *options):
        self.process = subprocess.Popen([btsrec, "gdbserver", "--cpu", "0", *options, dump],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.ask("QStartNoAckMode")
        self.process.stdin.write(b"+")

    def ask(self, packet: str) -> str:
        self.process.stdin.write(f"${packet}#{sum(packet.encode()) & 0xff:02x}".encode())
        self.process.stdin.flush()
        text = b""
        while text[-3:-2] != b"#":
            text += self.process.stdout.read(1)
        return text[:-3].decode().lstrip("+").removeprefix("$")

    def register(self, name: str):
        """None: unavailable."""
        digits = self.ask("g")[16 * REGISTERS[name]:][:16]
        return None if "x" in digits else int.from_bytes(bytes.fromhex(digits), "little")

    def memory(self, va: int, nr_bytes: int):
        """None: unavailable."""
        digits = self.ask(f"m{va:x},{nr_bytes:x}")
        return None if digits.startswith("E") else bytes.fromhex(digits)

    def end(self):
        self.ask("D")
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()


def expect(what: str, found, wanted):
    if found != wanted:
        sys.exit(f"{what}: {found!r} in place of {wanted!r}")


def check_values(stub: Stub):
    """As the listing of insns --values says, from the end to the begin and back."""
    wanted = [(0x13, "rcx", 8), (0x0f, "rbx", None), (0x0d, "rcx", 8), (0x0c, "rsp", RSP + 8),
              (0x0b, "rax", 0), (0x09, "rax", 8), (0x08, "rax", 8), (0x05, "rax", 5),
              (0x00, "rax", None)]
    expect("at the end", stub.register("rip"), 0xffffffff81000015)
    expect("at the end", stub.register("rsp"), RSP)
    for offset, name, value in wanted:
        expect(f"back to {offset:#x}", stub.ask("bs"), STEP)
        expect("rip", stub.register("rip"), 0xffffffff81000000 + offset)
        expect(f"{name} at {offset:#x}", stub.register(name), value)
        if offset == 0x0b:
            expect("pushed", stub.memory(RSP, 8), bytes([8] + 7 * [0]))
            expect("part of it", stub.memory(RSP + 1, 2), bytes(2))
            expect("not pushed", stub.memory(RSP + 8, 8), None)
    expect("before all", stub.ask("bs"), BEGIN)
    expect("before all", stub.register("rip"), 0xffffffff81000000)
    expect("code", stub.memory(0xffffffff81000000, 3), bytes([0xb8, 5, 0]))
    expect("forth", stub.ask("s"), STEP)
    expect("forth", stub.register("rax"), 5)


def check_breakpoints(stub: Stub):
    expect("set", stub.ask("Z0,ffffffff8100000b,1"), "OK")
    expect("a watchpoint", stub.ask("Z2,ffffffff8100000b,1"), "")
    expect("on", stub.ask("c"), BREAK)
    expect("there", stub.register("rip"), 0xffffffff8100000b)
    expect("on", stub.ask("c"), END)
    expect("back", stub.ask("bc"), BREAK)
    expect("forgotten", stub.ask("z0,ffffffff8100000b,1"), "OK")
    expect("back", stub.ask("bc"), BEGIN)
    expect("on", stub.ask("c"), END)
    expect("the freeze", stub.register("rsp"), RSP)


def check_likely(stub: Stub, is_likely: bool):
    """Other CPUs may have stored, too."""
    expect("back", [stub.ask("bs") for _ in range(2)], [STEP, STEP])
    expect("rip", stub.register("rip"), 0xffffffff81000012)
    expect("stored", stub.memory(0xffff888000001008, 4), bytes(4) if is_likely else None)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--btsrec", required=True)
    parser.add_argument("--mkimage", required=True)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        for text, checks in ((VALUES, (check_values, check_breakpoints)),
                             (STORED, (lambda stub: check_likely(stub, False),))):
            dump = pathlib.Path(name) / "dump"
            subprocess.run([args.mkimage, dump], input=text.encode(), check=True)
            stub = Stub(args.btsrec, dump)
            for check in checks:
                check(stub)
            stub.end()
        stub = Stub(args.btsrec, dump, "--likely")
        check_likely(stub, True)
        stub.end()


main()

#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The module for drgn-tools prints the verdict, the path, the origin and the stacks of a dump.

usage: drgn_tools.py --mkimage PROGRAM [--drgn-tools DIR --dump FILE]
Its base class is the one of DIR, a checkout of github.com/oracle-samples/drgn-tools, which runs it
on FILE as corelens does; without, a class with the same members.
Exit status: 0: so it is; 1: not, with a traceback; 77: there is no drgn.
"""

import argparse
import contextlib
import importlib.util
import io
import pathlib
import sys
import tempfile
import types

# It looks for drgn, and ends with 77 if there is none.
import drgn_program

MODULE = pathlib.Path(__file__).resolve().parents[2] / "systemd/foreign/drgn_tools_btsrec.py"
EXPECTED = ("verdict:   use+0xc read through a NULL pointer: address 0x20; called from outer+0xb",
            "signature: v2:", "How it got there:", "use+0x0", "Where its operand came from:",
            "cause+0x0", "stored movq $0x18, 0x40(%rdi)", "CPU 0, 7 \"init\":", "exception")


class StandIn:
    """What corelens calls of its base class."""

    name = None

    def add_args(self, parser):
        """No argument."""


def stand_in():
    corelens = types.ModuleType("drgn_tools.corelens")
    corelens.CorelensModule = StandIn
    sys.modules |= {"drgn_tools": types.ModuleType("drgn_tools"), "drgn_tools.corelens": corelens}


def load():
    """The module, imported as from drgn_tools."""
    spec = importlib.util.spec_from_file_location("drgn_tools.btsrec", MODULE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Btsrec()


def printed(module, prog, *words):
    parser = argparse.ArgumentParser()
    module.add_args(parser)
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        module.run(prog, parser.parse_args(words))
    return text.getvalue()


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mkimage", required=True)
    parser.add_argument("--drgn-tools", metavar="DIR")
    parser.add_argument("--dump", metavar="FILE")
    args = parser.parse_args()
    if args.drgn_tools:
        sys.path.insert(0, args.drgn_tools)
    else:
        stand_in()
    module = load()
    assert module.name == "btsrec", module.name
    if args.dump:
        prog = drgn_program.drgn.Program()
        prog.set_core_dump(args.dump)
        print(printed(module, prog))
        return
    case = drgn_program.golden.Case(pathlib.Path(drgn_program.golden.__file__).parent / "why.in")
    with tempfile.TemporaryDirectory() as name:
        drgn_program.golden.make_folder(case, pathlib.Path(name), args.mkimage)
        prog = drgn_program.program(pathlib.Path(name) / "dump")
        text = printed(module, prog)
        missing = [part for part in EXPECTED if part not in text]
        assert not missing, f"{missing} not in\n{text}"
        assert "not read: " in printed(module, prog, "--cpu", "9"), "a CPU that is not there"


if __name__ == "__main__":
    main()

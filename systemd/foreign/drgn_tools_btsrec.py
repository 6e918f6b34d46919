# SPDX-License-Identifier: GPL-2.0-or-later
"""A module for drgn-tools' corelens: what the branch history of a dump says.

To propose as drgn_tools/btsrec.py: corelens then has it as "corelens VMCORE -M btsrec".  It needs
the Python package btsrec, and reads memory through the drgn program.
"""

import argparse

from drgn import Program

from drgn_tools.corelens import CorelensModule

NEWEST_CALLS = 40


def _verdict(parts) -> None:
    """What stopped the machine, the bug's name, and where the operand came from."""
    for part in parts:
        if part.sentence:
            print(f"verdict:   {part.sentence}")
        if part.signature:
            print(f"signature: {part.signature}{'' if part.complete else ' (incomplete)'}")


def _path(parts) -> None:
    calls = [part.call for part in parts if part.call]
    if calls:
        print("\nHow it got there:")
    for call in calls[-NEWEST_CALLS:]:
        print(f"  {call.cpu:>3} {call.n:>9} {call.how or '':<9} {'  ' * call.level}{call.to}")


def _origin(dump) -> None:
    steps = [step for step in dump.why() if step.ip]
    if steps:
        print("\nWhere its operand came from:")
    for step in steps:
        print(f"  {str(step.ip):<40} {step.what} {step.insn or ''}")


def _stacks(dump, cpus) -> None:
    """Rebuilt from calls and returns: tail calls are in them, and what memory has lost."""
    cpu = None
    for frame in dump.stack(cpus=cpus) if cpus else dump.stack():
        if frame.cpu != cpu:
            cpu = frame.cpu
            task = f'{frame.task.pid} "{frame.task.comm}"' if frame.task else "thread not known"
            print(f"\nCPU {cpu}, {task}:")
        doubt = " (may be otherwise)" if frame.unreliable else ""
        print(f"  {frame.how or '-':<10} {frame.ip}{' (left by a jump)' if frame.gone else ''}{doubt}")


class Btsrec(CorelensModule):
    """Branch history that the recorder btsrec left: verdict, path to the fault, stacks"""

    # Not skip_unless_have_kmods: the recorder is found without debuginfo of its module.
    name = "btsrec"

    def add_args(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--cpu", type=int, action="append", metavar="CPU",
                            help="print only the stack of this CPU")

    def run(self, prog: Program, args: argparse.Namespace) -> None:
        # Not above: corelens imports all of its modules, and btsrec may not be installed.
        try:
            from btsrec import Error
            from btsrec.drgn import history
        except ImportError as error:
            print(f"not read: {error}; install python3-btsrec")
            return
        try:
            dump = history(prog)
            parts = dump.summary()
            _verdict(parts)
            _path(parts)
            _origin(dump)
            _stacks(dump, args.cpu)
        except Error as error:
            print(f"not read: {error}")

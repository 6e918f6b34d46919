# SPDX-License-Identifier: GPL-2.0-or-later
"""How a program in Python begins, prints its help and ends, so that it does as btsrec does."""

import argparse
import os
import signal
import sys


class Parser(argparse.ArgumentParser):
    """Help that cannot be written is an OSError: from Python 3.12 on argparse keeps it to itself."""

    def print_help(self, file=None):
        print(self.format_help(), end="", file=file or sys.stdout, flush=True)


def begin():
    """Before anything else: an interrupt ends the program, and the standard files are there.

    One that is closed would be the first file that is opened, to which output then goes. What
    stands in for it refuses what is wanted of it; messages go nowhere.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    for fd, flags in enumerate((os.O_WRONLY, os.O_RDONLY, os.O_WRONLY)):
        try:
            os.fstat(fd)
        except OSError:
            os.set_inheritable(os.open(os.devnull, flags), True)
    sys.stdin = sys.stdin or open(0, encoding="utf-8", closefd=False)
    sys.stdout = sys.stdout or open(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = sys.stderr or open(2, "w", encoding="utf-8", closefd=False)


def catch_interrupts():
    """From now on an interrupt is a KeyboardInterrupt, unless they are ignored."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def drop_output():
    """What is still buffered is for nobody."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

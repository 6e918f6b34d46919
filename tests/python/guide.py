#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The examples of the guide print what the guide says, of a dump that is made here.

usage: guide.py --mkimage PROGRAM GUIDE
The dump is that of tests/golden/why.in: a bad pointer, and the store that made it. The kernel has
types of what the functions take, too.
Exit status: 0: so they do; 1: not, with what they print.
"""

import argparse
import doctest
import os
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "golden"))
import golden  # noqa: E402

PROTOTYPES = ["prototype cause where=file", "prototype use where=file"]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mkimage", required=True)
    parser.add_argument("guide", type=pathlib.Path)
    args = parser.parse_args()
    guide = args.guide.resolve()
    mkimage = pathlib.Path(args.mkimage).resolve()
    case = golden.Case(pathlib.Path(golden.__file__).parent / "why.in")
    case.image += PROTOTYPES
    with tempfile.TemporaryDirectory() as name:
        golden.make_folder(case, pathlib.Path(name), mkimage)
        os.chdir(name)
        result = doctest.testfile(str(guide), module_relative=False,
                                  optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
        os.chdir("/")
    return 1 if result.failed or not result.attempted else 0


if __name__ == "__main__":
    sys.exit(main())

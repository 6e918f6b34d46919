#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Golden tests: what btsrec answers about described dumps.

A case NAME.in holds, in this order of meaning:

  # why this case exists       the first line, required
  $ COMMAND                    run by sh in an empty folder that holds the dump
                               as "dump"; btsrec and mkimage are in PATH
  @file NAME ... @end          a file in that folder
  anything else                the description of the dump, see mkimage/mkimage.c

NAME.out holds for each command the command, its standard output, its standard
error with "! " in front of each line, and its exit status.  The minor version of abi.h
is not in it: a new one changes no case.

  golden.py test   --btsrec PROGRAM --mkimage PROGRAM CASE.in...
  golden.py rebase --btsrec PROGRAM --mkimage PROGRAM CASE.in...
"""

import argparse
import difflib
import os
import pathlib
import re
import subprocess
import sys
import tempfile

COMMAND_TIMEOUT_S = 600
ABI_H = pathlib.Path(__file__).resolve().parents[2] / "kmod/include/btsrec/abi.h"


class Case:
    """One .in file, taken apart."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        self.commands = []
        self.files = {}
        self.image = []
        lines = self.path.read_text(encoding="utf-8").splitlines()
        if not lines or not lines[0].startswith("# "):
            raise SystemExit(f"{path}: the first line must say why the case exists")
        self._parse(iter(lines))

    def _parse(self, lines):
        for line in lines:
            if line.startswith("$ "):
                self.commands.append(line[2:])
            elif line.startswith("@file "):
                self.files[line[6:]] = self._take_file(lines)
            else:
                self.image.append(line)

    def _take_file(self, lines):
        taken = []
        for line in lines:
            if line == "@end":
                return "".join(part + "\n" for part in taken)
            taken.append(line)
        raise SystemExit(f"{self.path}: @file without @end")

    def describes_dump(self):
        return any(line and not line.startswith("#") for line in self.image)


def without_minor(text):
    """The minor version of the format in abi.h, wherever it is printed, is NOW, or 0 in JSON."""
    minor = re.search(r"#define BTSREC_ABI_MINOR\s+(\d+)", ABI_H.read_text(encoding="utf-8"))[1]
    text = re.sub(rf"(, format 1|format version 2|knows (?:format )?1)\.{minor}\b", r"\1.NOW", text)
    return re.sub(rf'("abi_minor(?:_known)?"):{minor},', r"\1:0,", text)


def make_folder(case, folder, mkimage):
    for name, text in case.files.items():
        (folder / name).write_text(text, encoding="utf-8")
    if case.describes_dump():
        text = "".join(line + "\n" for line in case.image)
        subprocess.run([mkimage, str(folder / "dump")], input=text.encode(), check=True)


def run_command(command, folder, env):
    done = subprocess.run(["sh", "-c", command], cwd=folder, env=env, check=False,
                          capture_output=True, timeout=COMMAND_TIMEOUT_S)
    out = f"$ {command}\n" + done.stdout.decode("utf-8", "backslashreplace")
    if not out.endswith("\n"):
        out += "\n"
    for line in done.stderr.decode("utf-8", "backslashreplace").splitlines():
        out += f"! {line}\n"
    return out + f"exit {done.returncode}\n\n"


def run_case(case, args):
    env = dict(os.environ, LC_ALL="C", TZ="UTC", DEBUGINFOD_URLS="")
    for tool in (args.btsrec, args.mkimage):
        env["PATH"] = str(pathlib.Path(tool).resolve().parent) + ":" + env["PATH"]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        make_folder(case, folder, args.mkimage)
        text = "".join(run_command(command, folder, env) for command in case.commands)
        return without_minor(text)


def test(case, args):
    expected_path = case.path.with_suffix(".out")
    expected = expected_path.read_text(encoding="utf-8") if expected_path.exists() else ""
    actual = run_case(case, args)
    if actual == expected and actual:
        return True
    sys.stdout.writelines(difflib.unified_diff(
        expected.splitlines(True), actual.splitlines(True),
        str(expected_path), "what came out"))
    return False


def rebase(case, args):
    case.path.with_suffix(".out").write_text(run_case(case, args), encoding="utf-8")
    return True


def main():
    parser = argparse.ArgumentParser(description="golden tests of btsrec")
    parser.add_argument("action", choices=("test", "rebase"))
    parser.add_argument("--btsrec", required=True)
    parser.add_argument("--mkimage", required=True)
    parser.add_argument("cases", nargs="+")
    args = parser.parse_args()
    action = test if args.action == "test" else rebase
    results = [action(Case(path), args) for path in args.cases]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())

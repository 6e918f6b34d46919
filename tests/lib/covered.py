#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What llvm-cov export -summary-only says, from standard input, as a table by file."""

import argparse
import json
import os
import sys


def row(name, lines):
    missed = lines["count"] - lines["covered"]
    share = 100 * lines["covered"] / max(1, lines["count"])
    print(f"{name:28}{lines['count']:7}{missed:8}{share:9.1f}%")


def main():
    argparse.ArgumentParser(description=__doc__).parse_args()
    data = json.load(sys.stdin)["data"][0]
    print(f"{'file':28}{'lines':>7}{'missed':>8}{'covered':>10}")
    for entry in sorted(data["files"], key=lambda one: one["filename"]):
        row(os.path.basename(entry["filename"]), entry["summary"]["lines"])
    row("all", data["totals"]["lines"])


if __name__ == "__main__":
    main()

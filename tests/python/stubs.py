#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The type stubs have the names of the Python package, and the package has a text for each.

usage: stubs.py STUBS
Exit status: 0: so it is; 1: not, with the names.
"""

import ast
import pathlib
import sys

import btsrec


def names_of(body):
    """What a module or a class declares."""
    for node in body:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            yield node.name
        elif isinstance(node, ast.AnnAssign):
            yield node.target.id


def is_public(name):
    return not name.startswith("_")


def faults(tree):
    stubs = set(filter(is_public, names_of(tree.body)))
    for name in stubs ^ set(btsrec.__all__):
        yield f"{name}: in the {'stubs' if name in stubs else 'package'} only"
    for node in tree.body:
        if not isinstance(node, ast.ClassDef) or issubclass(getattr(btsrec, node.name), Exception):
            continue
        declared = set(filter(is_public, names_of(node.body)))
        given = getattr(btsrec, node.name)
        has = set(filter(is_public, vars(given))) - set(dir(tuple)) - {"n_fields", "n_sequence_fields",
                                                                      "n_unnamed_fields"}
        for name in declared ^ has:
            yield f"{node.name}.{name}: in the {'stubs' if name in declared else 'package'} only"
    for name in filter(is_public, vars(btsrec.Dump)):
        if not getattr(btsrec.Dump, name).__doc__:
            yield f"Dump.{name} has no description"


def main():
    if sys.argv[1:] in ([], ["-h"], ["--help"]):
        print(__doc__)
        return 0 if sys.argv[1:] else 2
    found = sorted(faults(ast.parse(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))))
    print("\n".join(found))
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The Markdown of the tree: each link leads to a file, and to a heading in it.

usage: check_markdown.py
"""

import pathlib
import re
import sys

TOP = pathlib.Path(__file__).resolve().parent.parent
LINK = re.compile(r"\]\(([^)\s]+)\)")


def documents() -> list[pathlib.Path]:
    return sorted(TOP.glob("*.md")) + sorted((TOP / "docs").rglob("*.md"))


def without_code(text: str) -> str:
    """The text with fenced blocks and code spans emptied; lines keep their numbers."""
    text = re.sub(r"^```.*?^```$", lambda found: "\n" * found[0].count("\n"), text,
                  flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"`[^`\n]*`", "``", text)


def anchors(path: pathlib.Path) -> set[str]:
    """The fragments of a document's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ +(.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def check_links(path: pathlib.Path, text: str):
    for number, line in enumerate(without_code(text).splitlines(), 1):
        for target in LINK.findall(line):
            if "://" in target:
                continue
            name, _, anchor = target.partition("#")
            other = path.parent / name if name else path
            if not other.exists():
                yield number, f"there is no {name}"
            elif anchor and anchor not in anchors(other):
                yield number, f"{other.name} has no heading #{anchor}"


def main() -> int:
    faults = [f"{path.relative_to(TOP)}:{number}: {reason}" for path in documents()
              for number, reason in check_links(path, path.read_text(encoding="utf-8"))]
    print("\n".join(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

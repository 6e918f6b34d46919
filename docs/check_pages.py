#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Check the prose of the manual pages by the rules of check_markdown.py: sentences have fewer than
25 words, and no page has a word that the house does not use."""

import argparse
import pathlib
import re
import subprocess
import sys

from check_markdown import MAX_WORDS, PRIVATE

# As mandoc prints them: one paragraph a line, two blanks after a sentence and after a tag.
FORMAT = ["mandoc", "-T", "ascii", "-O", "width=1000"]
# What is no prose.
SKIPPED = {"SYNOPSIS", "SEE ALSO"}
CODE = re.compile(r"\$ |# |[{\"#]")


def rendered(path: pathlib.Path) -> str:
    text = subprocess.run([*FORMAT, path], check=True, capture_output=True, text=True).stdout
    return re.sub(".\x08", "", text)


def paragraphs(text: str):
    """The lines of prose, without header and footer."""
    section = ""
    for line in text.splitlines()[1:-1]:
        if re.match(r"\S", line):
            section = line.strip()
        elif line.strip() and section not in SKIPPED and not CODE.match(line.strip()):
            yield line.strip()


def check_sentences(text: str):
    for paragraph in paragraphs(text):
        for sentence in re.split(r"  +|(?<=[.:])\)? +(?=[A-Z])", paragraph):
            if len(sentence.split()) > MAX_WORDS:
                yield f"{len(sentence.split())} words: {sentence[:70]}..."


def check_words(text: str):
    for paragraph in paragraphs(text):
        for word in PRIVATE.findall(paragraph):
            yield f"'{word}': print, list, say or name it: {paragraph[:70]}"


# Each check with a page in which it must find exactly one fault.
CHECKS = {
    check_sentences: f"head\nNAME\n   Short.  And {'long ' * 24}now.  Short.\nfoot",
    check_words: "head\nSEE ALSO\n   It tells.\nNAME\n   x    It tells a lot.\nfoot",
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("man", type=pathlib.Path, help="folder of the pages as they are installed")
    options = parser.parse_args()
    faults = [f"{check.__name__} does not find the fault that it is shown"
              for check, fault in CHECKS.items() if len(list(check(fault))) != 1]
    pages = sorted(options.man.glob("*.[1-8]"))
    if not pages:
        faults.append("there are no pages")
    faults += [f"{path.name}: {reason}" for path in pages for check in CHECKS
               for reason in check(rendered(path))]
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

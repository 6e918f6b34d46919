#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Check the Markdown of the tree.

usage: check_markdown.py [FILE...]

 - prose fits 100 columns and its sentences have fewer than 25 words;
 - each link leads to a file, and to a heading in it;
 - no name that the code has given up, and no word that the house does not use.

Each check is first asked about a text with a fault in it: one that finds nothing there is broken.
"""

import pathlib
import re
import sys

TOP = pathlib.Path(__file__).resolve().parent.parent
MAX_COLUMNS = 100
MAX_WORDS = 24
LINK = re.compile(r"\[([^\]]*)\]\(([^)\s]+)\)")
# Names of the code that are gone, and words that say it in nobody's terms.
GONE = re.compile(r"\b(press|press_ahead|press_workers|crew|rings_ahead|unpack_ahead|keptpages|"
                  r"history_marks|worder|backlog|splay|selector|frames_plain|text_lines|"
                  r"name_texts|instants|doubts|sightings|stretches|tee|redact|madesyms|flatfile|"
                  r"flatdump|dumpfile)\b")
PRIVATE = re.compile(r"\b(tells?|told|telling|whoever|whom|of which|behind it)\b", re.IGNORECASE)


# Still as they were: only their links are checked.
UNREAD = {"architecture.md", "roadmap.md"}


def documents() -> list[pathlib.Path]:
    return sorted(TOP.glob("*.md")) + sorted((TOP / "docs").rglob("*.md"))


def without_blocks(text: str) -> str:
    """The text with fenced blocks emptied; lines keep their numbers."""
    return re.sub(r"^ *```.*?^ *```$", lambda found: "\n" * found[0].count("\n"), text,
                  flags=re.MULTILINE | re.DOTALL)


def without_spans(text: str) -> str:
    return re.sub(r"`[^`\n]*`", "`x`", text)


def anchors(path: pathlib.Path) -> set[str]:
    """The fragments of a document's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ +(.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def is_table(line: str) -> bool:
    return line.startswith("|")


def paragraphs(text: str):
    """The number of the first line and the text of each paragraph, list item and heading."""
    begin, lines = 0, []
    for number, line in enumerate(without_blocks(text).splitlines() + [""], 1):
        starts = re.match(r" *([-*]|\d+\.) |#", line)
        if lines and (starts or is_table(line) or not line.strip()):
            yield begin, " ".join(lines)
            lines = []
        if line.strip() and not is_table(line):
            begin = begin if lines else number
            lines.append(re.sub(r"^ *([-*]|\d+\.|#+) +", "", line).strip())


def check_columns(_path: pathlib.Path, text: str):
    for number, line in enumerate(without_blocks(text).splitlines(), 1):
        if len(line) > MAX_COLUMNS and not is_table(line):
            yield number, f"{len(line)} columns"


def check_sentences(_path: pathlib.Path, text: str):
    for number, paragraph in paragraphs(text):
        plain = LINK.sub(r"\1", without_spans(paragraph))
        for sentence in re.split(r"(?<=[.!?])['\")*]* +", plain):
            if len(sentence.split()) > MAX_WORDS:
                yield number, f"{len(sentence.split())} words: {sentence[:60]}..."


def check_links(path: pathlib.Path, text: str):
    for number, line in enumerate(without_spans(without_blocks(text)).splitlines(), 1):
        for _, target in LINK.findall(line):
            if "://" in target:
                continue
            name, _, anchor = target.partition("#")
            other = path.parent / name if name else path
            if not other.exists():
                yield number, f"there is no {name}"
            elif anchor and anchor not in anchors(other):
                yield number, f"{other.name} has no heading #{anchor}"


def check_names(_path: pathlib.Path, text: str):
    for number, line in enumerate(text.splitlines(), 1):
        for word in GONE.findall(line):
            yield number, f"'{word}' is no name of the code any more"


def check_words(_path: pathlib.Path, text: str):
    for number, line in enumerate(without_spans(without_blocks(text)).splitlines(), 1):
        for word in PRIVATE.findall(line):
            yield number, f"'{word}': print, list, say or name it"


# Each check with a text in which it must find exactly one fault.
CHECKS = {
    check_columns: "short\n" + "wide " * 21 + "\n",
    check_sentences: "Short. And " + "long " * 24 + "now.\n",
    check_links: "See [this](check_markdown.py) and [that](no-such-file.md).\n",
    check_names: "The `splay` of it.\n",
    check_words: "It tells, `it tells`.\n",
}


def main() -> int:
    here = pathlib.Path(__file__).resolve()
    faults = [f"{check.__name__} does not find the fault that it is shown"
              for check, fault in CHECKS.items() if len(list(check(here, fault))) != 1]
    paths = [pathlib.Path(name).resolve() for name in sys.argv[1:]] or documents()
    for path in paths:
        text = path.read_text(encoding="utf-8")
        faults += [f"{path.relative_to(TOP)}:{number}: {reason}" for check in CHECKS
                   if check is check_links or path.name not in UNREAD
                   for number, reason in check(path, text)]
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

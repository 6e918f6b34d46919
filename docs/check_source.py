#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Check the words of the C sources: comments, identifiers and printed texts.

usage: check_source.py [FILE...]

 - no name that the code has given up and no word that the house does not use (check_markdown.py),
   neither in a comment or a text nor as a part of an identifier, but for EXCEPTIONS;
 - sentences of comments have fewer than 25 words;
 - lines fit 100 columns, but for a text that is printed, which stays whole;
 - the description of a struct or enum has its name, and describes members that it has.

Each check is first asked about texts with one fault each, and about one that has none: a check
that finds another number is broken.
"""

import argparse
import pathlib
import re
import sys

from check_markdown import GONE, MAX_COLUMNS, MAX_WORDS, PRIVATE, TOP

FOLDERS = ["decoder", "crash-ext", "kmod"]
# Beside those of check_markdown.py: words that may be plain English, or the name of a fuzzer, in a
# document, and are no terms of the field in code.
WORDS = re.compile(r"\b(?:tells?|told|telling|whoever|who|worde[dr]|flat)\b", re.IGNORECASE)
# What has such a word in it and is right, with the reason.
EXCEPTIONS = {
    r"(?i)\b(?:btsrec_)?image_redact\w*": "the name that replaced 'redact' alone",
}
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
STRING = re.compile(r'"(?:\\.|[^"\\\n])*"')
INCLUDE = re.compile(r"^#include [^\n]*", re.MULTILINE)
DESCRIBED = re.compile(r"/\*\*((?:(?!\*/).)*)\*/\n(?:struct|enum) (\w+) \{(.*?)\n\};", re.DOTALL)


def blank(found: re.Match) -> str:
    return re.sub(r"[^\n]", " ", found[0])


def parts(identifier: str) -> list[str]:
    return identifier.lower().split("_")


def without(text: str, *patterns) -> str:
    for pattern in (*EXCEPTIONS, *patterns):
        text = re.sub(pattern, blank, text)
    return text


def words_of(plain: str) -> list[str]:
    """The words and phrases of prose that are refused."""
    return [word for words in (GONE, PRIVATE, WORDS) for word in words.findall(plain)]


def check_prose(text: str):
    """Comments and printed texts, in which a phrase may go on in the next line."""
    texts = without(text, INCLUDE)
    for found in [*COMMENT.finditer(texts), *STRING.finditer(COMMENT.sub(blank, texts))]:
        number = text.count("\n", 0, found.start()) + 1
        for word in sorted(set(words_of(re.sub(r"\n[ \t]*\*?[ \t]*", " ", found[0])))):
            yield number, f"'{word}': name it, print it or list it"


def check_identifiers(text: str):
    code = without(text, COMMENT, STRING, INCLUDE)
    for number, line in enumerate(code.splitlines(), 1):
        for identifier in re.findall(r"\b[A-Za-z_]\w*", line):
            # "_" is a letter to \b.
            if words := words_of(" ".join(parts(identifier))) + GONE.findall(identifier):
                yield number, f"'{identifier}': '{words[0]}' is no name of the code any more"


def sentences(comment: str):
    """Of each paragraph, item and member; a colon or semicolon ends one, as a period does."""
    plain = re.sub(r"^[ \t]*(?:/\*+|\*/|\*|//)|\*/", "", comment, flags=re.MULTILINE)
    for paragraph in re.split(r"\n\s*\n|\n\s*(?=- |@|\d+\. |Return:|\w+\(\) - )"
                              r"|\n \s+\S.*?(?:\t|  )\s*", plain):
        yield from re.split(r"(?<=[.!?:;])['\")]* +", " ".join(paragraph.split()))


def check_sentences(text: str):
    for found in COMMENT.finditer(text):
        number = text.count("\n", 0, found.start()) + 1
        for sentence in sentences(found[0]):
            # An arrow: a picture.
            if len(sentence.split()) > MAX_WORDS and "-->" not in sentence:
                yield number, f"{len(sentence.split())} words: {sentence[:60]}..."


def check_columns(text: str):
    for number, line in enumerate(text.splitlines(), 1):
        nr_columns = len(line.expandtabs(8))
        if nr_columns > MAX_COLUMNS and not STRING.search(line):
            yield number, f"{nr_columns} columns"


def check_descriptions(text: str):
    for found in DESCRIBED.finditer(text):
        description, name, body = found.groups()
        number = text.count("\n", 0, found.start()) + 1
        title = re.match(r"\s*\*?\s*(?:struct|enum) (\w+)", description)
        if title and title[1] != name:
            yield number, f"the description of {title[1]} is that of {name}"
        for members in re.findall(r"\n \* ((?:@\w+(?:,\s+\*?\s*)?)+):", description):
            for member in re.findall(r"@(\w+)", members):
                if not re.search(rf"\b{member}\b", body):
                    yield number, f"{name} has no member {member}"


FINE = """\
#include "flow/told.h"
/** struct image_redact - what is printed; @here: not a member
 * @a, @b: numbers
 */
struct image_redact {
	int a, b;
};
static const char text[] = "a list";
"""
# Each check with texts in each of which it must find exactly one fault; FINE has none for any.
CHECKS = {
    check_prose: ["/* The part of\n * which it is. */\nint tells(void);\n",
                  "static const char text[] = \"a stretch\";\n", "/* A splay, no display. */\n"],
    check_identifiers: ["/* told */ static bool is_splayed(int a);\n", "int press_ahead_nr;\n",
                        "enum why { DOUBT_GAP };\n"],
    check_sentences: ["/*\n * Short. And\n * " + "long " * 24 + "now.\n *\n * Short.\n */\n"],
    check_columns: [f"\t\treturn a{'a' * 78};\n"],
    check_descriptions: [
        "/**\n * struct one - a\n * @a, @b: numbers\n */\nstruct one {\n\tint a;\n};\n",
        "/** struct one - a */\nstruct two {\n\tint a;\n};\n"],
}


def main() -> int:
    parser = argparse.ArgumentParser(description="Check the words of the C sources.")
    parser.add_argument("files", nargs="*", metavar="FILE", type=pathlib.Path)
    options = parser.parse_args()
    faults = [f"{check.__name__} does not find the fault that it is shown"
              for check, texts in CHECKS.items() for fault in texts
              if len(list(check(fault))) != 1]
    faults += [f"{check.__name__} finds a fault where there is none"
               for check in CHECKS if list(check(FINE))]
    files = options.files or [path for folder in FOLDERS
                              for path in sorted((TOP / folder).rglob("*.[ch]"))]
    if not files:
        faults.append("there are no sources")
    for path in files:
        text = path.read_text(encoding="utf-8")
        faults += [f"{path.resolve().relative_to(TOP)}:{number}: {reason}" for check in CHECKS
                   for number, reason in sorted(check(text))]
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

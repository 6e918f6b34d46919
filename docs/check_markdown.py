#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Check the Markdown of the tree.

usage: check_markdown.py [--btsrec PROGRAM --mkimage PROGRAM] [FILE...]

 - prose fits 100 columns and its sentences have fewer than 25 words;
 - each link leads to a file, and to a heading in it;
 - no name that the code has given up, and no word that the house does not use;
 - files of the tree that are named are there;
 - with the two programs: each command line of btsrec runs, on a dump of that name, and each
   command and option in a code span exists.

Each check is first asked about a text with a fault in it: one that finds nothing there is broken.
"""

import argparse
import functools
import pathlib
import re
import subprocess
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parent.parent
LEGEND = TOP / "docs/guide/reading-the-output.md"
MAX_COLUMNS = 100
MAX_WORDS = 24
LINK = re.compile(r"\[([^\]]*)\]\(([^)\s]+)\)")
# Names of the code that are gone, and words that say it in nobody's terms.
GONE = re.compile(r"\b(press|press_ahead|press_workers|crew|rings_ahead|unpack_ahead|keptpages|"
                  r"history_marks|worder|backlog|splay|selector|frames_plain|text_lines|"
                  r"name_texts|instants?|doubt(?:s|ed|ful)?|sight(?:ed|ings?)|stretch(?:es)?|"
                  r"splayed|twins?|findings|tee|redact|madesyms|flatfile|flatdump|dumpfile)\b")
PRIVATE = re.compile(r"\b(tells?|told|telling|whoever|whom|of which|behind it)\b", re.IGNORECASE)


NAMED = re.compile(r"(?<![\w/.$-])(?:tests|docs|kmod|decoder|crash-ext|systemd)/[\w*./-]*[\w*/]")
# What a check cannot run: it is for a machine with the recorder, or does not end.
NOT_RUN = re.compile(r"--live|--help|^btsrec (snapshot|doctor|bench-overhead|verify-hardware|gdbserver)\b")
# What the examples call "dump": two CPUs, a loop that calls, and kallsyms.
IMAGE = """\
root cpus=2 ring=300 tsc_khz=1000000
symbol _stext T 0xffffffff81000000
symbol looper T 0xffffffff81000000
symbol schedule T 0xffffffff81000100
symbol _end B 0xffffffff81001000
code kernel 0xffffffff81000000 e8fb00000075f9c3
code kernel 0xffffffff81000100 c3
cpu 0
arm tsc=1000 now=7/7/0x100000/init
branch 0xffffffff81000000 0xffffffff81000100
branch 0xffffffff81000100 0xffffffff81000005
branch 0xffffffff81000005 0xffffffff81000000
branch 0xffffffff81000000 0xffffffff81000100
switch tsc=1500 prev=7/7/0x100000/init next=9/9/0x100000/sh
freeze reason=panic tsc=2000 stop_ip=0xffffffff81000100
cpu 1
arm tsc=1000 now=8/8/0x100000/sh
branch 0xffffffff81000005 0xffffffff81000000
freeze reason=panic via_nmi=1 tsc=2000 stop_ip=0xffffffff81000000
"""


def documents() -> list[pathlib.Path]:
    return sorted(TOP.glob("*.md")) + sorted((TOP / "docs").rglob("*.md"))


def manual_pages() -> list[pathlib.Path]:
    """They have a test of their own; what is checked of them here is what they name."""
    return sorted(path for path in (TOP / "docs/man").rglob("*")
                  if path.suffix[1:] in {"1", "3", "5", "7", "8", "mdoc"})


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
    plain = without_spans(without_blocks(text))
    for link in LINK.finditer(plain):
        number, target = plain.count("\n", 0, link.start()) + 1, link[2]
        name, _, anchor = target.partition("#")
        other = path.parent / name if name else path
        if "://" in target:
            continue
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


def check_files(_path: pathlib.Path, text: str):
    for number, line in enumerate(text.splitlines(), 1):
        for name in NAMED.findall(line):
            if not any(TOP.glob(name.rstrip("/").replace("NAME", "*"))):
                yield number, f"there is no {name}"


def commands(text: str):
    """The lines of fenced blocks that call btsrec; one goes on while a quote is open."""
    inside, begin, command = False, 0, ""
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            inside = not inside
        elif command:
            command += "\n" + line
        elif inside and re.match(r"(\$ )?btsrec\b(?!-)", line):
            begin, command = number, line.removeprefix("$ ")
        if command and command.count("'") % 2 == 0:
            yield begin, re.sub(r"  +# .*", "", command)
            command = ""


class Programs:
    """The checks that need a build: what is said of the command line holds."""

    def __init__(self, btsrec: str, mkimage: str):
        self.btsrec = pathlib.Path(btsrec).resolve()
        self.mkimage = pathlib.Path(mkimage).resolve()

    @functools.cache
    def help_of(self, command: str) -> str:
        arguments = [command, "--help"] if command else ["--help"]
        return subprocess.run([self.btsrec, *arguments], capture_output=True, text=True,
                              check=False).stdout

    def check_options(self, _path: pathlib.Path, text: str):
        spans = [(number, span) for number, line in enumerate(without_blocks(text).splitlines(), 1)
                 for span in re.findall(r"`(btsrec [a-z-][^`]*)`", line)]
        for number, command in spans + list(commands(text)):
            first, *words = command.split("|")[0].split()[1:]
            if first.startswith("-") or not re.fullmatch(r"[a-z-]+", first) or first in ("dump", "vmcore"):
                first, words = "", [first, *words]
            elif not re.search(rf"^  {first} ", self.help_of(""), re.MULTILINE):
                yield number, f"'{command}': btsrec has no command {first}"
                continue
            for option in (word for word in words if word.startswith("-") and word != "--"):
                if not re.search(rf"(?<!\S){option}\b", self.help_of(first or "summary")) and \
                        option not in self.help_of(""):
                    yield number, f"'{command}': there is no option {option}"

    def check_marks(self, path: pathlib.Path, text: str):
        """The guide's legend has the marks and the meanings of "btsrec help marks"."""
        if path.name not in (LEGEND.name, pathlib.Path(__file__).name):
            return
        printed = re.sub(r"\n {26}", " ", subprocess.run([self.btsrec, "help", "marks"], text=True,
                                                         capture_output=True, check=True).stdout)
        printed = {re.sub(r" +", " ", line.strip()) for line in printed.splitlines()}
        rows = [(number, re.fullmatch(r"\| (.*?) \| (.*) \|", line))
                for number, line in enumerate(text.splitlines(), 1)]
        written = {re.sub(r" +", " ", f"{row[1]} {row[2]}".replace("`", "")): number
                   for number, row in rows
                   if row and row[2] not in ("meaning", "what is missing") and row[1] != "---"}
        for line in sorted(written.keys() - printed):
            yield written[line], f"'btsrec help marks' does not print: {line}"
        headings = {re.sub("`", "", line[3:]) for line in text.splitlines() if line.startswith("## ")}
        for line in sorted(printed - written.keys() - headings - {""}):
            yield 0, f"'btsrec help marks' prints: {line}"

    def check_examples(self, _path: pathlib.Path, text: str):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("dump", "vmcore", "other"):
                subprocess.run([self.mkimage, name], input=IMAGE, text=True, cwd=folder,
                               check=True)
            # Of a module's debug information, in the walkthrough.
            pathlib.Path(folder, "ko").mkdir()
            for number, command in commands(text):
                if NOT_RUN.search(command):
                    continue
                script = f'PATH="{self.btsrec.parent}:$PATH"\n{command}'
                done = subprocess.run(["bash", "-eo", "pipefail", "-c", script], cwd=folder,
                                      capture_output=True, text=True, check=False)
                if done.returncode:
                    yield number, f"'{command}' ends with {done.returncode}: {done.stderr.strip()}"


# Each check with texts in each of which it must find exactly one fault.
CHECKS = {
    check_columns: ["short\n" + "wide " * 21 + "\n"],
    check_sentences: ["Short. And " + "long " * 24 + "now.\n"],
    check_links: ["See [this](check_markdown.py) and [that\none](no-such-file.md).\n"],
    check_names: ["The `splay` of it.\n", "A frame in doubt.\n", "A sighting, no insight.\n"],
    check_words: ["It tells, `it tells`.\n", "A part of which it is.\n"],
    check_files: ["See docs/man/*.1, `tests/all`, `tests/no-such-file`.\n"],
}


def main() -> int:
    parser = argparse.ArgumentParser(description="Check the Markdown of the tree.")
    parser.add_argument("--btsrec", metavar="PROGRAM")
    parser.add_argument("--mkimage", metavar="PROGRAM")
    parser.add_argument("files", nargs="*", metavar="FILE", type=pathlib.Path)
    options = parser.parse_args()
    checks = dict(CHECKS)
    if options.btsrec:
        programs = Programs(options.btsrec, options.mkimage)
        checks[programs.check_options] = ["`btsrec show --fold`, `btsrec show --no-such-option`\n"]
        checks[programs.check_marks] = [LEGEND.read_text(encoding="utf-8") + "| `!!` | Nothing. |\n"]
        checks[programs.check_examples] = ["```\n$ btsrec dump\nbtsrec info nowhere\n```\n"]
    here = pathlib.Path(__file__).resolve()
    faults = [f"{check.__name__} does not find the fault that it is shown"
              for check, texts in checks.items() for fault in texts
              if len(list(check(here, fault))) != 1]
    asked = [(path.resolve(), checks) for path in options.files] or \
        [(path, checks) for path in documents()] + \
        [(path, [check_names, check_files]) for path in manual_pages()]
    for path, its_checks in asked:
        text = path.read_text(encoding="utf-8")
        faults += [f"{path.relative_to(TOP)}:{number}: {reason}" for check in its_checks
                   for number, reason in check(path, text)]
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

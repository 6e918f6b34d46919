#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Names from a dump reach no terminal, page or other program as they are.

usage: escaped.py --btsrec PROGRAM --mkimage PROGRAM [--every N]

An attacker could choose a name in the broken kernel: of a thread, a module, a
symbol, a release, a mark. Its bytes could take a terminal over or end a string.
Every command and format is asked about a dump in which all names are such, with and
without names:

  text, tsv, folded, lcov, messages   printable ASCII only (tsv: and tabs); folded: no name has a
                                      semicolon
  csv                                 the same with CR LF, and each row has as many columns
  jsonl, chrome                       as text, and each line, or the file, is JSON
  html                                the data are JSON with no < in it
  perf                                no name is in the file as it was
  gdb                                 the name of the thread is printable ASCII

Paths of mapped files need a whole kernel: tests/unit/test_user.c.
"""

import argparse
import csv
import json
import pathlib
import re
import subprocess
import sys
import tempfile

# A terminal's commands, invalid UTF-8, text from right to left, HTML, JSON, shell, folded.
ATTACKS = [b"\x1b[31m", b"\x9b2J", b"\xff\xc3(", b"\xe2\x80\xae", b"</script>", b"<img>&lt;",
           b"\"},{\"", b"\\u0000", b"$(id)`", b"a;b 1", b"\x07\x08", b"../../x"]
TIMEOUT_S = 600
PRINTABLE = set(range(0x20, 0x7f)) | {0x0a}


def quoted(raw):
    return '"' + "".join(f"\\x{byte:02x}" for byte in raw) + '"'


def image(attack):
    """A dump in which each name has the attack in it; of symbols what fits into a word."""
    name = quoted(attack)
    word = re.sub(rb"[\s\"=]", b"_", attack).decode("latin-1")
    text = f"""root ring=64 tsc_khz=1000000 release={name} symbol_kva=0xffffffff81000000 symbol_name=_stext{word}
symbol _stext T 0xffffffff81000000
symbol _stext{word} T 0xffffffff81000000
symbol {word}fn T 0xffffffff81000100
symbol _end B 0xffffffff81001000
module name={name} text_kva=0xffffffffc0001000 text_bytes=0x1000
modsym {word}in t 0xffffffffc0001000
code kernel 0xffffffff81000000 e8fb00000075f9e8f4010000ebf2cc
code kernel 0xffffffff81000100 c3
cpu 0
arm tsc=1000 now=7/7/0x100000/{name}
branch 0xffffffff81000000 0xffffffff81000100
branch 0xffffffff81000100 0xffffffff81000005
switch tsc=2000 task=0xffff888000001000 prev=7/7/0x100000/{name} next=8/8/0x101000/{name}
mark tsc=2500 pid=8 tgid=8 text={name}
branch 0xffffffff81000007 0xffffffffc0001000
branch 0xffffffffc0001001 0xffffffff81000100
exec tsc=2600 prev=8/8/0x101000/{name} next=8/8/0x102000/{name}
branch 0xffffffff81000100 0xffffffff81000005
freeze reason=panic tsc=9000 pid=8 tgid=8 comm={name} stop_ip=0xffffffff81000007 ip=0xffffffff81000007
"""
    return text.encode("latin-1")


COMMANDS = [
    ["summary"], ["info"], ["check"], ["prove"], ["show"], ["show", "--types", "--lines"],
    ["show", "--fold"], ["show", "--thread", "8"], ["show", "--symbol", "*"], ["insns"],
    ["insns", "--thread", "8", "--lines"], ["calls"], ["calls", "--thread", "8"],
    ["functions"], ["functions", "--by", "task"], ["stack"], ["stack", "--thread", "8"],
    ["timeline"],
]
FORMATS = ["text", "jsonl", "tsv", "csv"]
MORE = {"tsv": b"\t", "csv": b"\r"}  # what a format has beside printable text


def run(args, btsrec, words, stdin=b""):
    done = subprocess.run([btsrec, *words], input=stdin, capture_output=True, check=False,
                          timeout=TIMEOUT_S, cwd=args.folder)
    if done.returncode < 0:
        raise SystemExit(f"{words}: killed by signal {-done.returncode}")
    return done


def not_printable(data, more=b""):
    """The first piece that is not printable, or None."""
    for at, byte in enumerate(data):
        if byte not in PRINTABLE and byte not in more:
            return data[max(0, at - 20):at + 20]
    return None


def is_json(text):
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def check_views(args, words):
    for form in FORMATS:
        command = [*words, "--format", form, "dump"]
        done = run(args, args.btsrec, command)
        if b"no such output format" in done.stderr or done.returncode == 2:
            continue
        args.nr_answers += bool(done.stdout)
        wrong = not_printable(done.stdout, MORE.get(form, b""))
        wrong = wrong or not_printable(done.stderr)
        if wrong:
            yield f"{' '.join(command)}: prints {wrong}"
        if form == "jsonl":
            for line in done.stdout.splitlines():
                if not is_json(line):
                    yield f"{' '.join(command)}: no JSON: {line[:200]}"
        if form == "csv":
            rows = list(csv.reader(done.stdout.decode("latin-1").split("\r\n")[:-1], strict=True))
            for row in rows:
                if len(row) != len(rows[0]):
                    yield f"{' '.join(command)}: {len(row)} columns, not {len(rows[0])}: {row}"


def check_exports(args, attack):
    for to in ("chrome", "folded", "lcov", "perf"):
        data = run(args, args.btsrec, ["export", "--to", to, "dump", "-"]).stdout
        args.nr_answers += bool(data)
        if to == "perf":
            if not_printable(attack) and attack in data:
                yield f"export --to perf: has {attack}"
            if b"/../../x" in data:
                yield "export --to perf: a module's name leads elsewhere"
            continue
        if not_printable(data):
            yield f"export --to {to}: prints {not_printable(data)}"
        if to == "chrome" and not is_json(data):
            yield "export --to chrome: no JSON"
        if to == "folded":
            for line in data.splitlines():
                if not re.fullmatch(rb".* [0-9]+", line) or b"a;b" in line:
                    yield f"export --to folded: {line}"


def check_report(args):
    page = run(args, args.btsrec, ["report", "dump", "-"]).stdout
    args.nr_answers += bool(page)
    empty = args.template.read_bytes()
    begin, end = empty.split(b"@DATA@")
    if not page.startswith(begin) or not page.endswith(end):
        yield "report: not the page with data in it"
        return
    data = page[len(begin):len(page) - len(end)]
    if not_printable(data) or b"<" in data:
        yield f"report: data has {not_printable(data) or '<'}"
    if not is_json(data):
        yield "report: the data are no JSON"


def check_gdb(args):
    asked = b"$qThreadExtraInfo,1#" + b"%02x" % (sum(b"qThreadExtraInfo,1") & 255)
    answer = run(args, args.btsrec, ["gdbserver", "--cpu", "0", "dump"], asked).stdout
    name = re.search(rb"\$([0-9a-f]+)#", answer)
    if not name:
        yield f"gdbserver: {answer}"
        return
    args.nr_answers += 1
    if not_printable(bytes.fromhex(name[1].decode())):
        yield f"gdbserver: thread {bytes.fromhex(name[1].decode())}"


def check_attack(args, attack):
    subprocess.run([args.mkimage, str(args.folder / "dump")], input=image(attack), check=True)
    for words in COMMANDS:
        for more in ([], ["--no-names"]):
            if words[0] != "check" or not more:
                yield from check_views(args, words + more)
    yield from check_exports(args, attack)
    yield from check_report(args)
    yield from check_gdb(args)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--btsrec", required=True)
    parser.add_argument("--mkimage", required=True)
    parser.add_argument("--every", type=int, default=1, help="only each Nth attack")
    args = parser.parse_args()
    args.template = pathlib.Path(__file__).resolve().parents[2] / "decoder/report/report.html"
    args.nr_answers = 0
    nr_wrong = 0
    with tempfile.TemporaryDirectory() as name:
        args.folder = pathlib.Path(name)
        for attack in ATTACKS[::args.every]:
            for wrong in check_attack(args, attack):
                nr_wrong += 1
                print(f"{attack}: {wrong}")
    print(f"{args.nr_answers} answers, {nr_wrong} wrong")
    return 1 if nr_wrong or not args.nr_answers else 0


if __name__ == "__main__":
    sys.exit(main())

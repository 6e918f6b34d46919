#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Check the crash extension bts.so against the offline tool on one dump.

Every check prints one line, "ok" or "FAIL".  Exit status: 0 all passed, 1 some
failed, 2 usage, 3 crash could not be used.
"""

import argparse
import collections
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

import session

# What is wrong, and how the first line that is printed begins.
BAD_LINES = {
    "show -c 3-1": "bts: show: --cpu takes numbers", "show -c x": "bts: show: --cpu takes numbers",
    "show -c 1,,2": "bts: show: --cpu takes numbers", "show -c ''": "bts: show: --cpu takes numbers",
    "show -c 99999": "bts: show: --cpu takes numbers", "show -n 0": "bts: show: --count takes",
    "show -n x": "bts: show: --count takes", "show -n -1": "bts: show: --count takes",
    "show -n": "bts: show: --count takes", "functions --by x": "bts: functions: --by takes function",
    "show --tipes": "bts: show: there is no option '--tipes'; did you mean '--types'?",
    "clals": "bts: there is no command 'clals'; did you mean 'calls'?",
    "-z": "bts: summary: there is no option '-z'", "show extra": "bts: show: 'extra' is too much",
    "-n 3": "bts: summary takes no -n; ", "stack --symbol x": "bts: stack takes no --symbol; ",
    "calls --format tsv": "bts: calls: --format takes text or jsonl, not 'tsv'",
    "coverage": "bts: coverage: FUNCTION is missing",
    "show --live": "bts: show: no --live here: ", "info --scan all": "bts: info: no --scan here: ",
    "show -j 2": "bts: show: no --threads here: ",
    "show --color never": "bts: show: no --color here: ",
    "show --no-pager": "bts: show: no --no-pager here: ",
}
INCOMPLETE = "bts: the output is incomplete: No space left on device\n"
LIVE_REFUSAL = "bts: the recorder of a running system cannot be read by crash\n"
# A listing that a terminal's buffers could swallow whole proves nothing about Ctrl-C.
MIN_LISTING_BYTES = 256 * 1024
INTERRUPTS = 10
# One session of the decoder that is jumped out of costs 100 KiB and more; none may.
GROWTH_BYTES = 256 << 10


class Checker:
    """Counts and prints verdicts."""

    def __init__(self):
        self.failed = 0

    def that(self, what, passed, detail=""):
        """One verdict, which is returned; detail says what was seen if it failed."""
        self.failed += not passed
        print(f"{'ok  ' if passed else 'FAIL'} {what}{': ' + detail if detail and not passed else ''}",
              flush=True)
        return passed

    def equal(self, what, got, expected):
        """Byte for byte; shows the first line that differs."""
        self.that(what, got == expected and bool(got), first_difference(got, expected))


def first_difference(got, expected):
    """One sentence about where two texts part."""
    if got == expected:
        return "both are empty"
    left, right = got.splitlines(), expected.splitlines()
    for number, (one, other) in enumerate(zip(left, right), 1):
        if one != other:
            return f"line {number}: {one!r} instead of {other!r}"
    return f"{len(left)} lines instead of {len(right)}"


def without_module_symbols(text):
    """Only crash knows the symbols inside modules: leave the module's name alone."""
    text = re.sub(r"[^\s\[\]]+\+0x[0-9a-f]+ \[([^\]\s]+)\]", r"[\1]", text)
    return re.sub(r"\[([^\]\s]+)\]\+0x[0-9a-f]+", r"[\1]", text)


# What btsrec printed on standard error, in the order of the calls.
notices = []


def cli(options, *arguments):
    """Standard output of btsrec; its own failures end the check."""
    done = subprocess.run([options.btsrec, *arguments], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=False)
    if done.returncode not in (0, 1):
        sys.exit(f"{options.btsrec} {' '.join(arguments)}: exit status {done.returncode}: "
                 f"{done.stderr.decode()}")
    notices.extend(done.stderr.decode().splitlines())
    # As the files of the session are read: CSV ends lines with CR LF.
    return done.stdout.decode().replace("\r\n", "\n")


def cli_plain(options, command, *arguments):
    """The same without names, as bts -N prints it."""
    return cli(options, command, "--no-names", *arguments)


# The same words for both tools; {pid} is the thread that ran at the fault.
WORDS = (
    "summary", "summary --format jsonl",
    "info", "info --format jsonl", "info --format tsv",
    "show", "show --format jsonl", "show -f tsv", "show --newest-first", "show -t",
    "show -n 3", "show -c 0 -n 7 -r", "show --cpu 0-1", "show --cpu 1,0 -n 2",
    "show -f csv -n 5", "show --module btsrec -n 20",
    "show --fold", "show --fold -t -n 30 --kernel -f jsonl",
    "show --user --tgid 0,1", "show --kernel --pid 1 --from -10 --to -0.001",
    "show --comm i* --type call,ret -n 30", "show --thread {pid}",
    "show --thread {pid} --fold -n 40", "show --thread {pid} --user --types",
    "show --thread {pid} -n 50 --format jsonl",
    "insns -n 2000", "insns --range ffffffff80000000-ffffffffffffffff -n 40",
    "insns --bytes -n 20", "insns --thread {pid} -n 300",
    "calls", "calls -c 0 -n 50 --format jsonl", "calls --from n:5 --to n:500", "calls --depth 3",
    "calls --thread {pid} --kernel", "calls --type syscall,irq", "calls --pid {pid}",
    "calls --user --comm i*",
    "calls --range ffffffff80000000-ffffffffffffffff --from -0.01 -n 900 --format jsonl",
    "functions --by task", "functions --by cpu -f tsv", "functions --kernel",
    "coverage panic", "coverage --format jsonl panic",
    "last -n 5 *printk*", "last --by task --format jsonl [btsrec]",
    "pairs mutex_lock mutex_unlock", "path ksys_write vfs_write", "path -f jsonl do_syscall_64 *lock*",
    "slow", "slow -n 3 --format jsonl", "around 0:1000", "around --depth 2 -n 50 1:500",
    "locks", "locks -n 5 --format jsonl", "calls --args -n 300", "stack --args --format jsonl",
    "calls --merge --kernel -n 100", "calls --merge --range ffffffff80000000-ffffffffffffffff -f jsonl",
    "timeline", "timeline -n 20", "timeline -n 9 --pid 0,1 --format jsonl",
    "show --comm nobody", "show --pid 4000000 --format jsonl", "calls --comm nobody --kernel",
    "stack", "stack --thread {pid}", "stack -c 1 --format jsonl",
    "why --value rsp", "why --value rax --format jsonl",
    "prove", "prove --format jsonl",
    "check",
)
# Commands with the number of operands that they have after the dump: functions, by their names.
WITH_OPERAND = {"coverage": 1, "last": 1, "pairs": 2, "path": 2, "around": 1}
# Those that are about functions, which need their names.
WITH_NAMES = {*WITH_OPERAND, "locks"}


def words_of(options):
    """WORDS, with --no-names where the command takes it: crash has other names for modules."""
    pid = thread_at_fault(options)
    for line in WORDS:
        command, *rest = line.format(pid=pid).split()
        takes = command not in WITH_NAMES and "--no-names" in cli_help(options, command)
        yield " ".join([command, *(["--no-names"] if takes else []), *rest])


def cli_help(options, *arguments):
    """What btsrec help prints."""
    return cli(options, "help", *arguments)


def commands_of(text):
    """The commands that a help text lists, but for those that answer without a recorder."""
    names = re.findall(r"^  ([a-z-]+) +\S", text, re.M)
    return set(names) - {"help", "version"}


def cli_words(options, line):
    """What btsrec prints for the words; a function is the operand after the dump."""
    command, *arguments = line.split()
    if command in WITH_OPERAND:
        nr = len(arguments) - WITH_OPERAND[command]
        return cli(options, command, *arguments[:nr], options.dump, *arguments[nr:])
    return cli(options, command, *arguments, options.dump)


def thread_at_fault(options):
    """The number of the thread that ran on the CPU with the first fault."""
    for line in cli_plain(options, "summary", "--format", "jsonl", options.dump).splitlines():
        event = json.loads(line)
        if event.get("first_fault") and event.get("pid"):
            return event["pid"]
    sys.exit(f"{options.dump}: no thread ran at the fault")


def script_lines(options):
    """The commands of the scripted session, each with its output in a file."""
    lines = ["set scroll off", f"extend {options.extension} > load",
             f"extend {options.extension} > load2", "help bts > help",
             "bts > default", "bts --no-names > default.plain", "bts help > commands",
             "bts help marks > marks", "bts version > version", "bts info > info",
             "bts show > all", "bts show --symbol sched*,__sched* > filter.symbol",
             "bts show --from later > filter.wrong", "bts coverage panic > coverage",
             "bts show > /dev/full", "bts info > /dev/full", "bts show | head -n 1 > first",
             f"bts calls --thread {thread_at_fault(options)} --symbol * > calls.named",
             "bts show --thread 4000000 > thread.none"]
    lines += [f"bts {words} > words{number}" for number, words in enumerate(words_of(options))]
    lines += [f"bts help {name} > help.{name}"
              for name in sorted(commands_of(cli_help(options)))]
    lines += [f"bts {bad} > bad{number}" for number, bad in enumerate(BAD_LINES)]
    lines += [f"bts {name} x > not.{name}" for name in sorted(commands_of(cli_help(options)))]
    lines += ["bts show -c 31999 > noring", "bts info > afterwards"]
    lines += [f"log > {options.log}"] if options.log else []
    lines += [f"extend -u {options.extension} > unload", "bts info > unloaded",
              f"extend {options.extension} > load3", "bts info > reloaded",
              f"extend -u {options.extension} > unload2", "quit"]
    return lines


def run_script(options, folder):
    """Output of each command by file name, and the session's own output."""
    crash = [*options.crash, "-s", "--no_strip", options.vmlinux, options.dump]
    status, output = session.run_script(crash, script_lines(options), folder)
    files = {}
    for name in os.listdir(folder):
        with open(os.path.join(folder, name), encoding="utf-8", errors="replace") as file:
            files[name] = file.read()
    return status, output, files


def check_notices(check, terminal):
    """What both tools print of filters that match nothing; bts: on the terminal alone."""
    said = [line.removeprefix("btsrec: ") for line in notices if " matches " in line]
    check.that("btsrec has notices of filters", len(said) >= 3, str(notices))
    check.equal("bts has the same notices, on the terminal",
                "\n".join(re.findall(r"^bts: (no \w+ matches .*)$", terminal, re.M)),
                "\n".join(said))


def check_words(check, options, out, terminal):
    """The same words get the same answer from both tools, for each command that bts has."""
    here = commands_of(out["commands"])
    tried = {line.split()[0] for line in WORDS}
    check.that("each command of bts is tried", here == tried, f"{here ^ tried}")
    for number, line in enumerate(words_of(options)):
        check.equal(f"bts {line} = btsrec {line}", out[f"words{number}"], cli_words(options, line))
    check_notices(check, terminal)
    for name in sorted(commands_of(cli_help(options))):
        if name in here:
            check_options(check, options, name, out[f"help.{name}"])
            continue
        of_machine = name in ("doctor", "bench-overhead", "verify-hardware")
        what = "the machine that runs" if of_machine else "the file of a dump"
        for asked in (f"help.{name}", f"not.{name}"):
            check.that(f"bts {name} says where it is", out[asked] ==
                       f"bts: {name} works on {what} only: btsrec {name}\n", out[asked])
    check.equal("bts help marks = btsrec help marks", out["marks"], cli_help(options, "marks"))
    check.equal("bts version = btsrec version", out["version"], cli(options, "version"))


def check_options(check, options, name, text):
    """bts help NAME has the lines of btsrec help NAME, but for what crash does itself."""
    own = {"--system-map", "--vmlinux", "--live", "--root", "--scan", "--threads", "--color",
           "--no-pager"}
    wanted = [line for line in cli_help(options, name).splitlines()[1:]
              if not own & set(re.findall(r"--[a-z-]+", line)[:1])]
    check.that(f"bts help {name} = btsrec help {name}", text.splitlines()[1:] == wanted, text)


def check_views(check, options, out, terminal):
    """The same with names, which crash and btsrec have from different places."""
    dump = options.dump
    check_words(check, options, out, terminal)
    check.equal("bts = btsrec", out["default.plain"], cli_plain(options, "summary", dump))
    check.equal("bts info = btsrec info --vmlinux, but for symbols inside modules",
                without_module_symbols(out["info"]),
                without_module_symbols(cli(options, "info", "--vmlinux", options.vmlinux, dump)))
    named = cli(options, "show", "--vmlinux", options.vmlinux, dump)
    check.equal("bts show = btsrec show --vmlinux, but for symbols inside modules",
                without_module_symbols(out["all"]), without_module_symbols(named))
    check.that("bts show names kernel functions",
               re.search(r"  \S+\+0x[0-9a-f]+ -> \S+\+0x", out["all"]) is not None)
    check.equal("bts coverage panic = btsrec coverage panic", out["coverage"],
                cli(options, "coverage", "--vmlinux", options.vmlinux, dump, "panic"))
    check.that("bts prints the first fault and the other CPUs",
               "first fault: panic on CPU" in out["default"] and "How it got there:" in
               out["default"] and out["default"].count("\nCPU ") == 2, out["default"])
    check_filters(check, out)
    check_user_counts(check, options)


def check_filters(check, out):
    """Filters by name, and what they say."""
    symbols = [line for line in out["filter.symbol"].splitlines() if " branch " in line]
    check.that("bts show --symbol shows branches from or to such functions only",
               symbols and all(re.search(r" (__)?sched", line) for line in symbols))
    check.that("bts show --from refuses what is no time", "is no time" in out["filter.wrong"])
    check.that("bts calls --thread --symbol names functions", "interval" in out["calls.named"],
               out["calls.named"])
    check.that("bts show --thread of a thread that nobody knows: one line",
               out["thread.none"].startswith("bts: ") and out["thread.none"].count("\n") == 1,
               out["thread.none"])


def check_user_counts(check, options):
    """What follows a thread ends with how many user addresses had no symbol, and why."""
    pid = thread_at_fault(options)
    said = {}
    for command in ("show", "insns", "calls"):
        text = cli(options, command, "--thread", str(pid), options.dump)
        said[command] = re.findall(rf"^# thread {pid}: user addresses without symbol: (.*)$",
                                   text, re.M)
        check.that(f"{command} --thread counts user addresses without symbol, once",
                   len(said[command]) == 1, text[-200:])
    lines = cli(options, "show", "--thread", str(pid), "--format", "jsonl", options.dump)
    whys = collections.Counter(re.findall(r'_why":"([^"]*)"', lines))
    counts = {why: int(number) for why, number in
              re.findall(r"([a-z][a-z -]*) (\d+)", "".join(said["show"]))}
    check.that("show --thread: those of its JSON lines", counts == dict(whys),
               f"{counts} and {dict(whys)}")


def check_manners(check, out):
    """What a user of crash expects from any command."""
    for number, (bad, said) in enumerate(BAD_LINES.items()):
        text = out[f"bad{number}"]
        check.that(f"bts {bad}: what is wrong", text.startswith(said), text)
        check.that(f"bts {bad}: where help is", "\nTry 'bts help" in text, text)
    check.that("bts show -c 31999: one line", out["noring"].startswith("bts: ") and
               out["noring"].count("\n") == 1, out["noring"])
    check.equal("the session goes on after errors", out["afterwards"], out["info"])
    for section in ("\nNAME\n  bts - ", "\nSYNOPSIS\n  bts ", "\nDESCRIPTION\n", "\nEXAMPLES\n"):
        check.that(f"help bts has {section.split()[0]}", section in out["help"])
    for name in commands_of(out["commands"]):
        check.that(f"help bts names {name}", re.search(rf"^ +{name} ", out["help"], re.M) is not None)


def check_loading(check, out):
    """extend and extend -u, twice."""
    check.that("extend", "shared object loaded" in out["load"], out["load"])
    check.that("extend again", "already loaded" in out["load2"], out["load2"])
    check.that("extend -u", "shared object unloaded" in out["unload"], out["unload"])
    check.that("no bts after extend -u", out["unloaded"] != out["info"])
    check.equal("extend after extend -u", out["reloaded"], out["info"])
    check.that("extend -u again", "shared object unloaded" in out["unload2"], out["unload2"])


def check_script(check, options):
    """Everything that needs no terminal; returns the size of the whole history."""
    with tempfile.TemporaryDirectory(prefix="crash-ext-") as folder:
        status, output, out = run_script(options, folder)
        if "all" not in out:
            print(output, file=sys.stderr)
            sys.exit(3)
        check.that("crash ends with status 0", status == 0, str(status))
        check_views(check, options, out, output)
        check_manners(check, out)
        check.that("bts on a full disk says so, and nothing if the reader leaves",
                   output.count("incomplete") == output.count(INCOMPLETE) == 2, output)
        check_loading(check, out)
        return len(out["all"])


def check_modes(check, options):
    """Sessions in which crash knows less than usual still have the history."""
    fault = re.search(r"^first fault: CPU (\d+)", cli_plain(options, "info", options.dump), re.M)
    if not check.that("the recorder knows the faulting CPU", fault is not None):
        return
    newest = cli_plain(options, "show", "--cpu", fault.group(1), "-n", "5", options.dump)
    for mode in ("--no_panic", "--minimal"):
        with tempfile.TemporaryDirectory(prefix="crash-ext-") as folder:
            crash = [*options.crash, "-s", mode, options.vmlinux, options.dump]
            session.run_script(crash, [f"extend {options.extension}", f"bts show -c {fault.group(1)} -n 5 --no-names > out", "quit"],
                               folder)
            with open(os.path.join(folder, "out"), encoding="utf-8") as file:
                check.equal(f"crash {mode}: bts shows the CPU of the fault", file.read(), newest)


def check_no_recorder(check, options):
    """On a dump without a recorder every view is one line that says so."""
    views = ("bts", "bts info", "bts check", "bts show", "bts -f jsonl", "bts stack -c 0")
    lines = [f"extend {options.extension}"]
    lines += [f"{view} > out{number}" for number, view in enumerate(views)]
    with tempfile.TemporaryDirectory(prefix="crash-ext-") as folder:
        crash = [*options.crash, "-s", options.vmlinux, options.without]
        session.run_script(crash, [*lines, "quit"], folder)
        for number, view in enumerate(views):
            with open(os.path.join(folder, f"out{number}"), encoding="utf-8") as file:
                text = file.read()
            check.that(f"{view} without a recorder", text.startswith("bts: no ") and
                       text.count("\n") == 1, text)


def check_live(check, options):
    """A running system is refused, with a sentence."""
    with tempfile.TemporaryDirectory(prefix="crash-ext-") as folder:
        crash = [*options.crash, "-s", "--minimal", options.vmlinux, f"live:{options.live}@0"]
        session.run_script(crash, [f"extend {options.extension}", "bts > out", "quit"], folder)
        with open(os.path.join(folder, "out"), encoding="utf-8") as file:
            text = file.read()
    check.that("bts on a running system", text == LIVE_REFUSAL, text)


def interrupt_listing(check, terminal):
    """Ctrl-C while crash waits for a terminal that nobody reads."""
    stopped = 0
    for _ in range(INTERRUPTS):
        terminal.send(b"bts show\n")
        terminal.wait_blocked()
        terminal.send(b"\x03")
        stopped += len(terminal.read_until(session.PROMPT)) < MIN_LISTING_BYTES
    check.that("Ctrl-C ends the listing", stopped == INTERRUPTS,
               f"{stopped} of {INTERRUPTS} times")
    check.that("the session lives after Ctrl-C", terminal.alive())


def interrupt_decoding(check, terminal):
    """Ctrl-C at many moments of a command with output that is not delayed.

    Only once the command is at work: crash's own handler, which rules before and
    after, may hang the session when it meets crash inside the C library.
    """
    for number in range(INTERRUPTS):
        terminal.send(b"bts show > /dev/null\n")
        terminal.wait_busy()
        time.sleep(0.01 * number)
        terminal.send(b"\x03")
        terminal.read_until(session.PROMPT)
        terminal.read_while_busy()
    check.that("the session lives after Ctrl-C at any time", terminal.alive())


def first_page(terminal):
    """What the pager shows before a key; on a busy machine it takes its time."""
    end = time.monotonic() + session.COMMAND_SECONDS
    seen = terminal.read_while_busy()
    while b"# CPU 0" not in seen and time.monotonic() < end:
        seen += terminal.read_while_busy()
    return seen + terminal.read_while_busy()


def quit_pager(check, terminal):
    """Leave the pager in the middle of the history, and interrupt below it."""
    terminal.command("set scroll on")
    for keys in (b"q", b"\x03q"):
        terminal.send(b"bts show\n")
        terminal.wait_blocked()
        first = first_page(terminal)
        check.that("the pager shows the first page", 0 < len(first) < MIN_LISTING_BYTES and
                   b"# CPU 0" in first, repr(first[-200:]))
        terminal.send(keys[:1])
        if len(keys) > 1:
            terminal.read_while_busy()
            terminal.send(keys[1:])
        terminal.read_until(session.PROMPT)
    terminal.command("set scroll off")
    check.that("the session lives after the pager", terminal.alive())


def measure(terminal, ready_seconds):
    """How long crash took to its prompt, and takes to the whole history from there."""
    before = time.monotonic()
    terminal.command("bts show > /dev/null")
    print(f"--   crash to its prompt: {ready_seconds:.2f} s; "
          f"bts show: {time.monotonic() - before:.2f} s")


def check_terminal(check, options):
    """Everything that needs a terminal."""
    crash = [*options.crash, "-s", options.vmlinux, options.dump]
    start = time.monotonic()
    with session.Terminal(crash) as terminal:
        ready = time.monotonic()
        terminal.command(f"extend {options.extension}")
        if options.time:
            measure(terminal, ready - start)
        interrupt_listing(check, terminal)
        grown = GROWTH_BYTES
        # A large page that the kernel makes of small ones counts once; what leaks, each time.
        for _ in range(3):
            before = terminal.resident_bytes()
            interrupt_listing(check, terminal)
            grown = min(grown, terminal.resident_bytes() - before)
        check.that("interrupted commands leave no memory behind", grown < GROWTH_BYTES,
                   f"{grown} bytes")
        interrupt_decoding(check, terminal)
        if shutil.which("less"):
            quit_pager(check, terminal)
        else:
            print("--   the pager: not checked, less is not installed")


def parse_options():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dump", required=True, help="dump of a 2-CPU guest with a recorder")
    parser.add_argument("--vmlinux", required=True, help="its kernel with debug information")
    parser.add_argument("--extension", required=True, help="bts.so")
    parser.add_argument("--btsrec", required=True, help="the offline tool")
    parser.add_argument("--crash", default="crash", help="the crash to run, with arguments")
    parser.add_argument("--without", metavar="DUMP", help="dump of the same kernel without recorder")
    parser.add_argument("--live", metavar="MEMORY", help="the memory of a guest without KASLR")
    parser.add_argument("--log", metavar="FILE", help="leave what crash's log prints there")
    parser.add_argument("--time", action="store_true", help="measure as well")
    options = parser.parse_args()
    for name in ("dump", "vmlinux", "extension", "btsrec", "without", "live", "log"):
        if getattr(options, name):
            setattr(options, name, os.path.abspath(getattr(options, name)))
    options.crash = options.crash.split()
    return options


def main():
    """Run all checks."""
    options = parse_options()
    check = Checker()
    try:
        listing_bytes = check_script(check, options)
        check_modes(check, options)
        if listing_bytes >= 2 * MIN_LISTING_BYTES:
            check_terminal(check, options)
        else:
            print(f"--   Ctrl-C and pager: not checked, {listing_bytes} bytes of history "
                  "are too few")
        if options.without:
            check_no_recorder(check, options)
        if options.live:
            check_live(check, options)
    except (session.SessionError, OSError, subprocess.SubprocessError) as error:
        sys.exit(f"check.py: {error}")
    return 1 if check.failed else 0


if __name__ == "__main__":
    sys.exit(main())

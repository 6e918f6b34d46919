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

USAGE_MARK = 'Enter "help bts" for details.'
BAD_OPTIONS = ("-c 3-1", "-c x", "-c 1,,2", "-c ''", "-n 0", "-n x", "-n -1", "-z", "extra", "-i -k",
               "-i -a", "-k -c 0", "-k -j", "-c 99999", "-d -r", "-d -t", "-p -k", "-p -n 3",
               "-s -n 3", "-s -g", "-s -t", "-f x", "-f cpu -n 3", "-x panic -g", "-L -r", "-L -g",
               "-H 1 -c 0", "-H 1 -r", "-H 1 -m", "-H 1 -f cpu", "-H 1 -x panic",
               "-s -P 1", "-l -m", "-l -s", "-l -f cpu")
BAD_VALUES = ("-c 3-1", "-c x", "-c 1,,2", "-c ''", "-n 0", "-n x", "-n -1", "-c 99999", "-f x")
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


def cli(options, *arguments):
    """Standard output of btsrec; its own failures end the check."""
    done = subprocess.run([options.btsrec, *arguments], stdout=subprocess.PIPE, check=False)
    if done.returncode not in (0, 1):
        sys.exit(f"{options.btsrec} {' '.join(arguments)}: exit status {done.returncode}")
    return done.stdout.decode()


def cli_plain(options, command, *arguments):
    """The same without names, as bts -N prints it."""
    return cli(options, command, "--no-names", *arguments)


# By the name of the output: what bts is asked with -a -N, and the same question to btsrec; {pid}
# is the thread that ran at the fault.
THREADS = {
    "thread": ("-H {pid}", "show --thread {pid}"),
    "thread.fold": ("-H {pid} -L -n 40", "show --thread {pid} --fold -n 40"),
    "thread.user": ("-H {pid} -U -t", "show --thread {pid} --user --types"),
    "thread.jsonl": ("-H {pid} -n 50 -j", "show --thread {pid} -n 50 --format jsonl"),
    "thread.insns": ("-H {pid} -d -n 300", "insns --thread {pid} -n 300"),
    "thread.calls": ("-H {pid} -g -K", "calls --thread {pid} --kernel"),
    "thread.stack": ("-H {pid} -s", "stack --thread {pid}"),
}
TREES = {
    "calls.type": ("-g -B syscall,irq", "calls --type syscall,irq"),
    "calls.who": ("-g -P {pid}", "calls --pid {pid}"),
    "calls.level": ("-g -U -C i*", "calls --user --comm i*"),
    "calls.range": ("-g -A ffffffff80000000-ffffffffffffffff -F -0.01 -n 900 -j",
                    "calls --range ffffffff80000000-ffffffffffffffff --from -0.01 -n 900 "
                    "--format jsonl"),
}


def thread_at_fault(options):
    """The number of the thread that ran on the CPU with the first fault."""
    for line in cli_plain(options, "summary", "--format", "jsonl", options.dump).splitlines():
        event = json.loads(line)
        if event.get("first_fault") and event.get("pid"):
            return event["pid"]
    sys.exit(f"{options.dump}: no thread ran at the fault")


def script_lines(options):
    """The commands of the scripted session, each with its output in a file."""
    pid = thread_at_fault(options)
    lines = ["set scroll off", f"extend {options.extension} > load",
             f"extend {options.extension} > load2", "help bts > help",
             "bts > default", "bts -N > default.plain", "bts -j -N > default.jsonl",
             "bts -i > info", "bts -i -N > info.plain",
             "bts -i -j > info.jsonl", "bts -k > findings",
             "bts -a > all", "bts -a -N > all.plain", "bts -a -j -N > all.jsonl",
             "bts -a -r -N > all.reverse", "bts -c all -n 3 -N > every", "bts -c a -N > every20",
             "bts -c 0 -n 7 -r -N > cpu0", "bts -c 0-1 -a -N > range",
             "bts -c 1,0 -n 2 -N > list", "bts -a -t -N > types", "bts -a -n 2000 -d -N > insns",
             "bts -a -g -N > calls", "bts -c 0 -n 50 -g -j -N > calls.jsonl",
             "bts -p -N > proof", "bts -a -U -G 0,1 -N > filter.user",
             "bts -a -K -P 1 -F -10 -T -0.001 -N > filter.time",
             "bts -a -C i* -B call,ret -n 30 -N > filter.type",
             "bts -a -S sched*,__sched* > filter.symbol",
             "bts -a -d -A ffffffff80000000-ffffffffffffffff -n 40 -N > filter.insns",
             "bts -a -g -F n:5 -T n:500 -N > filter.calls", "bts -F later > filter.wrong",
             "bts -f task -a -N > functions", "bts -x panic -a > coverage",
             "bts -a -L -N > fold", "bts -a -L -t -n 30 -K -j -N > fold.jsonl",
             "bts -a > /dev/full", "bts -i > /dev/full", "bts -a | head -n 1 > first",
             "bts -m -N > timeline", "bts -m -n 9 -P 0,1 -j -N > timeline.jsonl"]
    lines += [f"bts -a {asked.format(pid=pid)} -N > {name}"
              for name, (asked, _) in {**THREADS, **TREES}.items()]
    lines += [f"bts -H {pid} -g -S * > calls.named", "bts -H 4000000 > thread.none"]
    lines += [f"bts {bad} > bad{number}" for number, bad in enumerate(BAD_OPTIONS)]
    lines += ["bts -c 31999 > noring", "bts -i > afterwards"]
    for cpu in (0, 1):
        lines += [f"set -c {cpu} > /dev/null", f"bts -n 5 -N > context{cpu}"]
    lines += ["set -p > panic", "bts -n 5 -N > contextp", "bts -r > defaultr"]
    lines += [f"extend -u {options.extension} > unload", "bts -i > unloaded",
              f"extend {options.extension} > load3", "bts -i > reloaded",
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


def check_views(check, options, out):
    """The same question gets the same answer from both tools."""
    dump = options.dump
    check.equal("bts -i -N = btsrec info", out["info.plain"], cli_plain(options, "info", dump))
    check.equal("bts -i = btsrec info --vmlinux, but for symbols inside modules",
                without_module_symbols(out["info"]),
                without_module_symbols(cli(options, "info", "--vmlinux", options.vmlinux, dump)))
    check.equal("bts -i -j = btsrec info --format jsonl", out["info.jsonl"],
                cli_plain(options, "info", "--format", "jsonl", dump))
    check.equal("bts -k = btsrec check", out["findings"], cli(options, "check", dump))
    check.equal("bts -p -N = btsrec prove", out["proof"], cli_plain(options, "prove", dump))
    check.equal("bts -a -t -N = btsrec show --types", out["types"],
                cli_plain(options, "show", "--types", dump))
    check.equal("bts -a -n 2000 -d -N = btsrec insns -n 2000", out["insns"],
                cli_plain(options, "insns", "-n", "2000", dump))
    check.equal("bts -a -g -N = btsrec calls", out["calls"], cli_plain(options, "calls", dump))
    check.equal("bts -c 0 -n 50 -g -j -N = btsrec calls --format jsonl", out["calls.jsonl"],
                cli_plain(options, "calls", "-c", "0", "-n", "50", "--format", "jsonl", dump))
    check.equal("bts -a -L -N = btsrec show --fold", out["fold"],
                cli_plain(options, "show", "--fold", dump))
    check.that("bts -L folds something", " loop " in out["fold"])
    check.equal("bts -a -L -t -n 30 -K -j -N = btsrec show --fold --types ...", out["fold.jsonl"],
                cli_plain(options, "show", "--fold", "--types", "-n", "30", "--kernel",
                          "--format", "jsonl", dump))
    check_filters(check, options, out)
    check_threads(check, options, out)
    check_user_counts(check, options)
    check.equal("bts -a -N = btsrec show", out["all.plain"], cli_plain(options, "show", dump))
    check.equal("bts -a -j -N = btsrec show --format jsonl", out["all.jsonl"],
                cli_plain(options, "show", "--format", "jsonl", dump))
    check.equal("bts -a -r -N = btsrec show --newest-first", out["all.reverse"],
                cli_plain(options, "show", "--newest-first", dump))
    named = cli(options, "show", "--vmlinux", options.vmlinux, dump)
    check.equal("bts -a = btsrec show --vmlinux, but for symbols inside modules",
                without_module_symbols(out["all"]), without_module_symbols(named))
    check.that("bts -a names kernel functions",
               re.search(r"  \S+\+0x[0-9a-f]+ -> \S+\+0x", out["all"]) is not None)


def check_filters(check, options, out):
    for name, what, arguments in (
            ("user", "show", ["--user", "--tgid", "0,1"]),
            ("time", "show", ["--kernel", "--pid", "1", "--from", "-10", "--to", "-0.001"]),
            ("type", "show", ["--comm", "i*", "--type", "call,ret", "-n", "30"]),
            ("insns", "insns", ["--range", "ffffffff80000000-ffffffffffffffff", "-n", "40"]),
            ("calls", "calls", ["--from", "n:5", "--to", "n:500"])):
        check.equal(f"a filter by {name} in bts = btsrec {what} {' '.join(arguments)}",
                    out[f"filter.{name}"], cli_plain(options, what, *arguments, options.dump))
    check.equal("bts -f task -a -N = btsrec functions --by task", out["functions"],
                cli_plain(options, "functions", "--by", "task", options.dump))
    check.equal("bts -x panic -a = btsrec coverage", out["coverage"],
                cli(options, "coverage", "--vmlinux", options.vmlinux, options.dump, "panic"))
    check.equal("bts -m -N = btsrec timeline -n 20", out["timeline"],
                cli_plain(options, "timeline", "-n", "20", options.dump))
    check.equal("bts -m -n 9 -P 0,1 -j -N = btsrec timeline", out["timeline.jsonl"],
                cli_plain(options, "timeline", "-n", "9", "--pid", "0,1", "--format", "jsonl",
                          options.dump))
    symbols = [line for line in out["filter.symbol"].splitlines() if " branch " in line]
    check.that("bts -S shows branches from or to such functions only",
               symbols and all(re.search(r" (__)?sched", line) for line in symbols))
    check.that("bts -F refuses what is no time", "is no time" in out["filter.wrong"])


def check_threads(check, options, out):
    """One thread over all CPUs, and trees of which a filter chooses lines."""
    pid = thread_at_fault(options)
    for name, (asked, same) in {**THREADS, **TREES}.items():
        command, *arguments = same.format(pid=pid).split()
        check.equal(f"bts -a {asked.format(pid=pid)} -N = btsrec {same.format(pid=pid)}",
                    out[name], cli_plain(options, command, *arguments, options.dump))
    check.that("bts -H tells of stretches", " stretch " in out["thread"])
    check.that("bts -g -B chooses kinds of calls", " syscall " in out["calls.type"] and
               not re.search(r"^ *\d+ +\d+ i?call ", out["calls.type"], re.M))
    check.that("bts -H -g -S names functions", "stretch" in out["calls.named"], out["calls.named"])
    check.that("bts -H of a thread that nobody knows: one line",
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


def check_choices(check, options, out):
    """-c and -n choose what --cpu and -n of the offline tool choose."""
    dump = options.dump
    check.equal("bts -c all -n 3", out["every"], cli_plain(options, "show", "-n", "3", dump))
    check.equal("bts -c a: 20 events", out["every20"],
                cli_plain(options, "show", "-n", "20", dump))
    check.equal("bts -c 0 -n 7 -r", out["cpu0"],
                cli_plain(options, "show", "--cpu", "0", "-n", "7", "--newest-first", dump))
    check.equal("bts -c 0-1 -a", out["range"], cli_plain(options, "show", "--cpu", "0-1", dump))
    check.equal("bts -c 1,0: in order of CPUs", out["list"],
                cli_plain(options, "show", "--cpu", "0,1", "-n", "2", dump))


def check_context(check, options, out):
    """Without -c the CPU is that of crash's context."""
    of_cpu = [cli_plain(options, "show", "--cpu", str(cpu), "-n", "5", options.dump)
              for cpu in (0, 1)]
    check.that("the histories of the two CPUs differ", of_cpu[0] != of_cpu[1])
    for cpu in (0, 1):
        check.equal(f"bts after set -c {cpu}", out[f"context{cpu}"], of_cpu[cpu])
    panic = re.search(r"CPU: (\d+)", out["panic"])
    check.that("crash knows the panicking CPU", panic is not None)
    if panic:
        check.equal("bts after set -p: the panicking CPU", out["contextp"],
                    of_cpu[int(panic.group(1))])
        check.equal("bts -N = btsrec", out["default.plain"],
                    cli_plain(options, "summary", options.dump))
    check.equal("bts -j -N = btsrec --format jsonl", out["default.jsonl"],
                cli_plain(options, "summary", "--format", "jsonl", options.dump))
    check.that("bts tells of the first fault and of the other CPUs",
               "first fault: panic on CPU" in out["default"] and "How it got there:" in
               out["default"] and out["default"].count("\nCPU ") == 2, out["default"])


def check_manners(check, out):
    """What a user of crash expects from any command."""
    for number, bad in enumerate(BAD_OPTIONS):
        text = out[f"bad{number}"]
        if bad in BAD_VALUES:
            said, _, text = text.partition("\n")
            check.that(f"bts {bad}: what is taken", said.startswith(f"bts: {bad[:2]} takes "), said)
        check.that(f"bts {bad}: usage", text.startswith("Usage:\n  bts ") and USAGE_MARK in text, text)
    check.that("bts -c 31999: one line", out["noring"].startswith("bts: ") and
               out["noring"].count("\n") == 1, out["noring"])
    check.equal("the session goes on after errors", out["afterwards"], out["info"])
    for section in ("\nNAME\n  bts - ", "\nSYNOPSIS\n  bts ", "\nDESCRIPTION\n", "\nEXAMPLES\n"):
        check.that(f"help bts has {section.split()[0]}", section in out["help"])
    options = re.findall(r"(?<![\w-])-([a-zA-Z])\b", out["help"].split("DESCRIPTION")[0])
    for option in options:
        check.that(f"help bts describes -{option}",
                   re.search(rf"^ +-{option}\b", out["help"], re.M) is not None)
    check.that("help bts lists options", len(options) >= 8, str(options))


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
        check_views(check, options, out)
        check_choices(check, options, out)
        check_context(check, options, out)
        check_manners(check, out)
        check.that("bts on a full disk says so, and nothing if the reader leaves",
                   output.count("incomplete") == output.count(INCOMPLETE) == 2, output)
        check_loading(check, out)
        return len(out["all"])


def check_modes(check, options):
    """Sessions in which crash knows less than usual still show the CPU of the fault."""
    fault = re.search(r"^first fault: CPU (\d+)", cli_plain(options, "info", options.dump), re.M)
    if not check.that("the recorder knows the faulting CPU", fault is not None):
        return
    newest = cli_plain(options, "show", "--cpu", fault.group(1), "-n", "5", options.dump)
    for mode in ("--no_panic", "--minimal"):
        with tempfile.TemporaryDirectory(prefix="crash-ext-") as folder:
            crash = [*options.crash, "-s", mode, options.vmlinux, options.dump]
            session.run_script(crash, [f"extend {options.extension}", "bts -n 5 -N > out", "quit"],
                               folder)
            with open(os.path.join(folder, "out"), encoding="utf-8") as file:
                check.equal(f"crash {mode}: bts shows the faulting CPU", file.read(), newest)


def check_no_recorder(check, options):
    """On a dump without a recorder every view is one line that says so."""
    views = ("bts", "bts -i", "bts -k", "bts -a", "bts -j", "bts -c 0")
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
        terminal.send(b"bts -a\n")
        terminal.wait_blocked()
        terminal.send(b"\x03")
        stopped += len(terminal.read_until(session.PROMPT)) < MIN_LISTING_BYTES
    check.that("Ctrl-C ends the listing", stopped == INTERRUPTS,
               f"{stopped} of {INTERRUPTS} times")
    check.that("the session lives after Ctrl-C", terminal.alive())


def interrupt_decoding(check, terminal):
    """Ctrl-C at many moments of a command whose output nobody delays.

    Only once the command is at work: crash's own handler, which rules before and
    after, may hang the session when it meets crash inside the C library.
    """
    for number in range(INTERRUPTS):
        terminal.send(b"bts -a > /dev/null\n")
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
        terminal.send(b"bts -a\n")
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


def check_terminal(check, options):
    """Everything that needs a terminal."""
    crash = [*options.crash, "-s", options.vmlinux, options.dump]
    with session.Terminal(crash) as terminal:
        terminal.command(f"extend {options.extension}")
        interrupt_listing(check, terminal)
        before = terminal.resident_bytes()
        interrupt_listing(check, terminal)
        grown = terminal.resident_bytes() - before
        check.that("interrupted commands leave no memory behind", grown < GROWTH_BYTES,
                   f"{grown} bytes")
        interrupt_decoding(check, terminal)
        if shutil.which("less"):
            quit_pager(check, terminal)
        else:
            print("--   the pager: not checked, less is not installed")


def measure(options):
    """How long crash takes to its prompt, and the whole history from there."""
    crash = [*options.crash, "-s", options.vmlinux, options.dump]
    start = time.monotonic()
    with session.Terminal(crash) as terminal:
        ready = time.monotonic()
        terminal.command(f"extend {options.extension}")
        before = time.monotonic()
        terminal.command("bts -a > /dev/null")
        done = time.monotonic()
    print(f"--   crash to its prompt: {ready - start:.2f} s; bts -a: {done - before:.2f} s")


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
    parser.add_argument("--time", action="store_true", help="measure as well")
    options = parser.parse_args()
    for name in ("dump", "vmlinux", "extension", "btsrec", "without", "live"):
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
        if options.time:
            measure(options)
    except (session.SessionError, OSError, subprocess.SubprocessError) as error:
        sys.exit(f"check.py: {error}")
    return 1 if check.failed else 0


if __name__ == "__main__":
    sys.exit(main())

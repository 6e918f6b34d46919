#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A command that a signal ends while it writes a file leaves none, and says which signal it was.

usage: interrupted.py --btsrec PROGRAM --mkimage PROGRAM --preload LIBRARY

A signal that is ignored does nothing, and a limit of sizes is an error. An older file stays what
it was. What SIGKILL leaves of a small file can be read: the collector does. A folder is the same
folder even if its name leads elsewhere when the writing ends. Without --force no file that came
meanwhile is replaced. The socket for gdb goes as such a file does.
"""

import argparse
import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile

IMAGE = """root ring=200
cpu 0
arm tsc=1 now=7/7/0x100000/init
fill 100 0xffffffff81000000 0xffffffff81100000 0x10
freeze reason=panic tsc=90
"""
COMMANDS = (["report"], ["extract"], ["export", "--to", "folded"], ["extract", "--threads", "2"])
ENDING = (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGPIPE,
          signal.SIGXCPU, signal.SIGUSR1)
MAX_BYTES = 8
TIMEOUT_S = 600


def run(args, folder, words, number, action=signal.SIG_DFL):
    """The exit status of a command that gets a signal at the end of its writing."""
    def prepare():
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if number != signal.SIGKILL:
            signal.signal(number, action)
    env = dict(os.environ, LD_PRELOAD=args.preload, SIGNAL_AT_END=str(int(number)))
    done = subprocess.run([args.btsrec, *words, "dump", "out"], cwd=folder, env=env, check=False,
                          capture_output=True, preexec_fn=prepare, timeout=TIMEOUT_S)
    if done.stderr:
        raise SystemExit(f"{words}, {number.name}: {done.stderr.decode()}")
    return done.returncode


def files(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != "dump"}


def removed(args, folder, words, number):
    got = run(args, folder, words, number), files(folder)
    return got == (-number, {})


def older_stays(args, folder, words, number):
    (folder / "out").write_text("older")
    got = run(args, folder, [*words, "--force"], number), files(folder)
    return got == (-number, {"out": b"older"})


def ignored(args, folder, words, number):
    status = run(args, folder, words, number, signal.SIG_IGN)
    return status == 0 and list(files(folder)) == ["out"]


def kept(args, folder, words, number):
    """Of the small file alone it is asked whether it can be read."""
    status = run(args, folder, words, number)
    names = [name for name in files(folder) if name.startswith("out.") and len(name) == 10]
    if status != -number or len(names) != 1:
        return False
    return words[0] != "extract" or subprocess.run(
        [args.btsrec, "check", folder / names[0]], check=False,
        stdout=subprocess.DEVNULL).returncode == 0


def stopped(args, folder, words, meanwhile):
    """The exit status and messages of a command that is to write away/out, and stops at the end
    of its writing for MEANWHILE."""
    (folder / "away").mkdir()
    env = dict(os.environ, LD_PRELOAD=args.preload, SIGNAL_AT_END=str(int(signal.SIGSTOP)))
    with subprocess.Popen([args.btsrec, *words, "dump", "away/out"], cwd=folder, env=env,
                          stderr=subprocess.PIPE, text=True) as process:
        os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WNOWAIT)
        meanwhile(folder)
        process.send_signal(signal.SIGCONT)
        said = process.communicate(timeout=TIMEOUT_S)[1]
    return process.returncode, said


def swap(folder):
    (folder / "victim").mkdir()
    (folder / "victim/out").write_text("precious")
    (folder / "away").rename(folder / "moved")
    (folder / "away").symlink_to("victim")


def stays_in_its_folder(args, folder, words, _):
    status, said = stopped(args, folder, [*words, "--force"], swap)
    return (status, said) == (0, "") and [path.name for path in (folder / "moved").iterdir()] == \
        ["out"] and (folder / "victim/out").read_text() == "precious" and \
        len(list((folder / "victim").iterdir())) == 1


def replaces_nothing_unasked(args, folder, words, _):
    status, said = stopped(args, folder, words,
                           lambda folder: (folder / "away/out").write_text("precious"))
    return (status, said) == (7, "btsrec: away/out: File exists\n") and \
        [(path.name, path.read_text()) for path in (folder / "away").iterdir()] == \
        [("out", "precious")]


def says_why_it_is_too_large(args, folder, words, _):
    """A service has LimitFSIZE=, a shell ulimit -f."""
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (MAX_BYTES, MAX_BYTES))
    done = subprocess.run([args.btsrec, *words, "dump", "out"], cwd=folder, check=False, text=True,
                          capture_output=True, preexec_fn=limit, timeout=TIMEOUT_S)
    return (done.returncode, done.stderr, files(folder)) == (7, "btsrec: out: File too large\n", {})


def leaves_no_socket(args, folder, _, number):
    """gdb could not connect there, and the next server could not listen there."""
    with subprocess.Popen([args.btsrec, "gdbserver", "--cpu", "0", "--socket", "socket", "dump"],
                          cwd=folder, stderr=subprocess.PIPE, text=True,
                          preexec_fn=lambda: signal.signal(number, signal.SIG_DFL)) as process:
        said = process.stderr.readline()
        there = (folder / "socket").is_socket()
        process.send_signal(number)
        status = process.wait(TIMEOUT_S)
    return (said, there, status, (folder / "socket").exists()) == (
        "btsrec: waiting for gdb: target remote socket\n", True, -number, False)


def check(args, what, words, number):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        subprocess.run([args.mkimage, folder / "dump"], input=IMAGE.encode(), check=True)
        good = what(args, folder, words, number)
        if not good:
            print(f"{' '.join(words)}, {number.name}: not {what.__name__}: {sorted(files(folder))}")
        return good


def main():
    parser = argparse.ArgumentParser(description="signals while a file is written")
    parser.add_argument("--btsrec", required=True)
    parser.add_argument("--mkimage", required=True)
    parser.add_argument("--preload", required=True)
    args = parser.parse_args()
    good = [check(args, what, words, number) for words in COMMANDS
            for what in (removed, older_stays, ignored) for number in ENDING]
    good += [check(args, kept, words, signal.SIGKILL) for words in COMMANDS]
    good += [check(args, what, words, signal.SIGSTOP) for words in COMMANDS
             for what in (stays_in_its_folder, replaces_nothing_unasked)]
    good += [check(args, says_why_it_is_too_large, words, signal.SIGXFSZ) for words in COMMANDS]
    good += [check(args, leaves_no_socket, ["gdbserver"], number)
             for number in (signal.SIGINT, signal.SIGTERM)]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())

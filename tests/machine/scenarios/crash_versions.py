# SPDX-License-Identifier: GPL-2.0-or-later
"""The whole of the project with the compiler, crash and libkdumpfile of other Debian releases.

In each release of --suites the sources are built with warnings as errors and ctest is run;
then crash with the extension built against its own defs.h reads the dump of a panicked guest.
"bts show" must equal the model's log, record for record, and print what "btsrec show" prints;
btsrec must print the same for the dump in each format that QEMU writes. Then comes
tests/crash-ext/check.py. A table closes the run.

The other kernels need their debug information, which is a large download: --kernel.
"""

import os
import re
from dataclasses import dataclass

import dump
import guestos
import suiteos
import table
import truth
import workload
from context import SOURCE
from errors import Failure

SUMMARY = "built and run with the crash and libkdumpfile of other Debian releases"

RING_BYTES = 256 << 10
SCRIPT = workload.SHELL + """
start_work
sleep 2
hurry
echo c >/proc/sysrq-trigger
"""
# One that every QEMU writes, for crash.
FORMAT = "kdump-raw-zlib"
CMAKE = ("cmake", "-S", "/mnt/source", "-B", "/mnt/build", "-G", "Ninja",
         "-DCMAKE_BUILD_TYPE=Debug", "-DBTSREC_WERROR=ON", "-DBTSREC_KMOD=OFF")
BTSREC = "/mnt/build/decoder/cli/btsrec"
EXTENSION = "/mnt/build/crash-ext/bts.so"


@dataclass
class Row:
    """One release: what was run there, and the outcome of each part."""

    suite: str
    crash: str = "-"
    libkdumpfile: str = "-"
    compiler: str = "-"
    ctest: str = "-"
    formats: str = "-"
    bts: str = "-"
    check: str = "-"
    problem: str = ""

    HEAD = ("suite", "crash", "libkdumpfile", "gcc", "ctest", "formats", "bts show", "check.py",
            "verdict")

    def cells(self):
        return (self.suite, self.crash, self.libkdumpfile, self.compiler, self.ctest, self.formats,
                self.bts, self.check, self.problem.splitlines()[0] if self.problem else "ok")


def add_options(parser):
    parser.add_argument("--suites", nargs="+", default=suiteos.SUITES, metavar="SUITE",
                        help=f"Debian releases ({' '.join(suiteos.SUITES)})")
    parser.add_argument("--no-ctest", action="store_true", help="leave out ctest")
    parser.add_argument("--keep", action="store_true", help="keep the dumps of runs that pass")


class Guest:
    """The dumps of one panicked guest, and what they must say."""

    def __init__(self, context):
        self.context = context
        self.vmlinux = guestos.debug_vmlinux(context.options.kernel)
        self.paths = {}
        with context.boot(SCRIPT, context.recorder_modules(f"ring_bytes={RING_BYTES}")) as machine:
            machine.expect_panic(context.seconds(120))
            for name in machine.qmp("query-dump-guest-memory-capability")["formats"]:
                self.paths[name] = context.out / f"dump-{name}"
                self.paths[name].unlink(missing_ok=True)
                machine.dump(self.paths[name], name)
            machine.quit()
        self.logs = {cpu: truth.Log(machine.model_dir / f"cpu{cpu}.log")
                     for cpu in range(context.options.cpus)}
        self.events = dump.events(context, self.paths[FORMAT])
        self.text = dump.btsrec(context, "show", self.paths[FORMAT])

    def compare(self, what: str, text: str) -> int:
        """TEXT, a history of all CPUs, must be what the model recorded; how many branches."""
        branches = truth.branches_of_text(text)
        nr_slots = RING_BYTES // truth.RECORD_SLOT_BYTES
        return sum(truth.compare(f"{what}, CPU {cpu}", branches.get(cpu, []), log,
                                 log.in_ring(nr_slots, self.events[cpu]))
                   for cpu, log in self.logs.items())

    def drop(self):
        for path in self.paths.values():
            path.unlink()


class Trial:
    """One release: the steps fill in the cells of its row."""

    def __init__(self, guest: Guest, suite: suiteos.Suite, row: Row):
        self.guest = guest
        self.suite = suite
        self.row = row
        self.context = guest.context
        build = self.context.build / f"machine/.suite-{suite.name}"
        build.mkdir(parents=True, exist_ok=True)
        self.mounts = {"source": SOURCE, "build": build, "data": self.context.out,
                       "vmlinux": guest.vmlinux.parent}
        self.vmlinux = f"/mnt/vmlinux/{guest.vmlinux.name}"

    def _run(self, *words, **more) -> str:
        return self.suite.check(self.mounts, *words, seconds=self.context.seconds(900), **more)

    def build(self):
        self._run(*CMAKE)
        self._run("cmake", "--build", "/mnt/build", "--", f"-j{os.cpu_count()}")

    def ctest(self):
        said = self._run("ctest", "--test-dir", "/mnt/build", "-j", os.cpu_count())
        self.row.ctest = re.search(r"failed out of (\d+)", said).group(1)

    def formats(self):
        """The same history, whatever the format."""
        for name, path in self.guest.paths.items():
            if self._run(BTSREC, "show", f"/mnt/data/{path.name}") != self.guest.text:
                raise Failure(f"{name}: btsrec show does not print what it prints on the host")
        self.row.formats = f"{len(self.guest.paths)} equal"

    def bts(self):
        said = self._run("crash", "-s", self.vmlinux, f"/mnt/data/{self.guest.paths[FORMAT].name}",
                         stdin=f"extend {EXTENSION}\nbts show\nquit\n")
        self.row.bts = f"{self.guest.compare('bts show', said)} equal"

    def check(self):
        said = self._run("python3", "-B", "/mnt/source/tests/crash-ext/check.py",
                         "--dump", f"/mnt/data/{self.guest.paths[FORMAT].name}",
                         "--vmlinux", self.vmlinux, "--extension", EXTENSION, "--btsrec", BTSREC)
        self.row.check = f"{len(re.findall('^ok ', said, re.MULTILINE))} ok"


def _try(guest: Guest, name: str) -> Row:
    row = Row(name)
    try:
        suite = suiteos.get(name)
        row.crash = suite.versions["crash"]
        row.libkdumpfile = suite.versions["libkdumpfile-dev"]
        row.compiler = suite.check({}, "gcc", "-dumpfullversion").strip()
        trial = Trial(guest, suite, row)
        trial.build()
        if not guest.context.options.no_ctest:
            trial.ctest()
        trial.formats()
        trial.bts()
        trial.check()
    except Failure as failure:
        row.problem = str(failure)
        guest.context.say(f"{name}: {failure}")
    return row


def run(context):
    guest = Guest(context)
    rows = []
    for name in context.options.suites:
        rows.append(_try(guest, name))
        context.say(" ".join(rows[-1].cells()))
    print(f"kernel {context.os.release}\n{table.text([Row.HEAD] + [row.cells() for row in rows])}")
    bad = [row.suite for row in rows if row.problem]
    if bad:
        raise Failure(f"not as it should be in {', '.join(bad)}")
    if not context.options.keep:
        guest.drop()

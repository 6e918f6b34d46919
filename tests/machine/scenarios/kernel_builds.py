# SPDX-License-Identifier: GPL-2.0-or-later
"""The recorder's module built for every kernel and flavour, with every check that there is.

Each with W=1 and sparse (C=2), where a warning is an error, by the compiler of that kernel's
release. Nothing is booted. Without --flavours only that of the guests is built. The kernels
"backports" and "sid" are the newest that these suites have today.

A row "without OPTION" is built for headers from which the option was taken out, without sparse.
"""

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import apt
import cache
import chroot
import guestos
import table
from context import SOURCE
from errors import Failure

SUMMARY = "the module builds for every kernel and flavour, W=1 and sparse clean"

FLAVOURS = ("cloud-amd64", "amd64", "rt-amd64")
SUITES = {"6.1": ("bookworm", "bookworm-security"), **guestos.SUITES,
          "backports": ("trixie", "trixie-backports"), "sid": ("sid",)}
del SUITES["7.3"]   # the newest of the backports
COMPILERS = {**guestos.COMPILERS, "backports": "gcc-14", "sid": "gcc-16"}
NEWEST = ("backports", "sid")
TOOLS = ("make", "mawk", "base-files", "bash", "dash", "coreutils", "sed", "grep", "findutils",
         "binutils", "perl", "python3")
# Options that a kernel may lack, each with what depends on it; built for the first kernel.
_FTRACE = ("FUNCTION_TRACER", "DYNAMIC_FTRACE", "DYNAMIC_FTRACE_WITH_REGS", "KPROBES_ON_FTRACE",
           "DYNAMIC_FTRACE_WITH_ARGS", "DYNAMIC_FTRACE_WITH_DIRECT_CALLS", "FTRACE_MCOUNT_RECORD")
_KRETPROBES = ("KRETPROBES", "KRETPROBE_ON_RETHOOK")
_KPROBES = ("KPROBES", "KPROBES_ON_FTRACE", "OPTPROBES", *_KRETPROBES)
WITHOUT = {"FUNCTION_TRACER": _FTRACE, "KPROBES": _KPROBES, "KRETPROBES": _KRETPROBES,
           "both tracers": _FTRACE + _KPROBES, "ZONE_DMA": ("ZONE_DMA",)}
# The headers of 7.2 want a newer sparse than Debian 13 has; it runs with its own libraries.
SPARSE_SUITE = "forky"
SPARSE_PLACE = "opt/sparse"
SPARSE_PACKAGES = ("sparse", "libc6")
SPARSE = (f"/{SPARSE_PLACE}/usr/lib64/ld-linux-x86-64.so.2",
          "--library-path", f"/{SPARSE_PLACE}/usr/lib/x86_64-linux-gnu",
          f"/{SPARSE_PLACE}/usr/bin/sparse")
REPORT = re.compile(r"^.*\b(?:warning|error):.*$", re.MULTILINE | re.IGNORECASE)


@dataclass
class Row:
    """One module: @problem is empty if there was nothing to report."""

    kernel: str
    flavour: str
    release: str = "-"
    compiler: str = "-"
    sparse: str = "-"
    problem: str = ""

    HEAD = ("kernel", "flavour", "release", "gcc", "sparse", "reports")

    def cells(self):
        return (self.kernel, self.flavour, self.release, self.compiler, self.sparse,
                self.problem.splitlines()[0] if self.problem else "none")


def add_options(parser):
    parser.add_argument("--flavours", nargs="+", default=FLAVOURS[:1], choices=FLAVOURS,
                        help=f"of {' '.join(FLAVOURS)} ({FLAVOURS[0]})")
    parser.add_argument("--kernels", nargs="+", default=list(SUITES), metavar="VERSION",
                        help=f"of {' '.join(SUITES)} (all)")


def _unpack_sparse(folder: Path):
    private = folder / ".apt"
    private.mkdir(parents=True)
    source = apt.PrivateRoot(private, (SPARSE_SUITE,))
    for package in SPARSE_PACKAGES:
        apt.unpack(source.download(package, private), folder)
    shutil.rmtree(private)


def _releases(source: apt.PrivateRoot, kernel: str) -> dict[str, str]:
    """The newest release of each flavour."""
    version = "" if kernel in NEWEST else kernel
    return {flavour: guestos.newest(source, version, flavour) for flavour in FLAVOURS}


def _newest_releases(context, kernel: str) -> dict[str, str]:
    """What is the newest today."""
    folder = context.out / f"apt-{kernel}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    return _releases(apt.PrivateRoot(folder, SUITES[kernel]), kernel)


def _unpack_headers(folder: Path, kernel: str):
    private = folder / ".apt"
    private.mkdir()
    source = apt.PrivateRoot(private, SUITES[kernel])
    releases = _releases(source, kernel)
    packages = [f"linux-headers-{release}" for release in releases.values()]
    for deb in source.fetch(COMPILERS[kernel], *TOOLS, *packages):
        apt.unpack(deb, folder)
    shutil.rmtree(private)
    (folder / "releases").write_text("".join(
        f"{flavour} {release}\n" for flavour, release in releases.items()), encoding="ascii")


def _allow_sparse(folder: Path):
    """The headers of 7.2 lack the script that asks whether sparse is fit to use; it is."""
    for scripts in folder.glob("usr/src/linux-headers-*-common*/scripts"):
        script = scripts / "checker-valid.sh"
        if not script.exists():
            script.write_text("#!/bin/sh\necho 1\n", encoding="ascii")
            script.chmod(0o755)


def _headers(context, kernel: str) -> tuple[Path, dict[str, str]]:
    """A folder with the headers of KERNEL, their compiler and sparse; releases by flavour."""
    newest = _newest_releases(context, kernel) if kernel in NEWEST else ""
    def make(folder: Path):
        _unpack_headers(folder, kernel)
        _unpack_sparse(folder / SPARSE_PLACE)
        _allow_sparse(folder)
        chroot.prepare(folder)

    recipe = f"4 {SUITES[kernel]} {COMPILERS[kernel]} {FLAVOURS} {TOOLS} {SPARSE_SUITE} " \
        f"{newest}"
    folder = cache.entry(f"headers-{kernel}", recipe, make)
    lines = (folder / "releases").read_text(encoding="ascii").splitlines()
    return folder, dict(line.split(" ") for line in lines)


def _output(root: Path, mounts: dict, *words) -> tuple[int, str]:
    done = subprocess.run(chroot.command(root, mounts, *words), check=False, text=True,
                          errors="replace", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    return done.returncode, done.stdout


def _module_source(context, release: str) -> Path:
    """A copy of the module's sources, because make writes beside them; nothing is built yet."""
    folder = context.out / release
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(SOURCE / "kmod", folder)
    return folder


def _headers_without(context, headers: Path, options) -> Path:
    """A copy of HEADERS of a kernel that was configured without OPTIONS."""
    folder = context.out / "headers-without"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(headers, folder)
    for name, line in (("include/generated/autoconf.h", "#define CONFIG_{} 1\n"),
                       ("include/config/auto.conf", "CONFIG_{}=y\n")):
        lines = (folder / name).read_text(encoding="ascii").splitlines(keepends=True)
        unwanted = {line.format(option) for option in options}
        if line.format(options[0]) not in lines:
            raise Failure(f"{headers.name} has no {options[0]} to be taken out")
        (folder / name).write_text("".join(one for one in lines if one not in unwanted),
                                   encoding="ascii")
    return folder


def _make(context, row: Row, root: Path, mounts: dict, headers: str, *words) -> str:
    """What make says; also where there was something to report."""
    status, said = _output(
        root, {"module": _module_source(context, row.release), **mounts}, "make", "AWK=mawk",
        f"-j{os.cpu_count()}", "-C", headers, "M=/mnt/module", "W=1", "KCFLAGS=-Werror", *words,
        "modules")
    reports = REPORT.findall(said)
    if status or reports:
        context.say(f"{row.release} {row.flavour}:\n{said}")
        row.problem = f"{len(reports)} reports, make: exit {status}"
    elif not (context.out / row.release / "btsrec.ko").is_file():
        row.problem = "there is no module"
    return said


def _build(context, kernel: str, flavour: str) -> Row:
    row = Row(kernel, flavour)
    root, releases = _headers(context, kernel)
    row.release = releases[flavour]
    row.compiler = _output(root, {}, COMPILERS[kernel], "-dumpfullversion")[1].strip()
    row.sparse = _output(root, {}, *SPARSE, "--version")[1].strip()
    said = _make(context, row, root, {}, f"/usr/src/linux-headers-{row.release}", "C=2",
                 f"CHECK={' '.join(SPARSE)}", "CF=-Wsparse-error")
    if not row.problem and "CHECK" not in said:
        row.problem = "sparse did not run"
    return row


def _build_without(context, kernel: str, name: str) -> Row:
    row = Row(kernel, f"without {name}")
    root, releases = _headers(context, kernel)
    row.release = releases[FLAVOURS[0]]
    row.compiler = _output(root, {}, COMPILERS[kernel], "-dumpfullversion")[1].strip()
    headers = _headers_without(context, root / f"usr/src/linux-headers-{row.release}",
                               WITHOUT[name])
    _make(context, row, root, {"headers": headers}, "/mnt/headers")
    return row


def run(context):
    rows = [_build(context, kernel, flavour) for kernel in context.options.kernels
            for flavour in context.options.flavours]
    rows += [_build_without(context, context.options.kernels[0], name) for name in WITHOUT]
    print(table.text([Row.HEAD] + [row.cells() for row in rows]))
    bad = [row for row in rows if row.problem]
    if bad:
        raise Failure(f"{len(bad)} of {len(rows)} modules: {bad[0].release}: {bad[0].problem}")

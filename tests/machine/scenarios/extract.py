# SPDX-License-Identifier: GPL-2.0-or-later
"""The small file answers like the dump that it was made from, byte for byte.

Every view is compared, with names, instructions and stacks; then the same file without
addresses of user space must not have one, and be the same otherwise. So is the listing of the
dump in each format and at each level in which makedumpfile and QEMU write it. The report is
opened in a browser if there is one, and the exports in programs of others
(tests/report/viewers.py).
"""

import re
import shutil
import subprocess
import time

import dump
import programs
import workload
from context import SOURCE
from errors import Failure

SUMMARY = "the small file answers like the dump, byte for byte"

SCRIPT = workload.SHELL + """
start_work
sleep 2
echo c >/proc/sysrq-trigger
"""

VIEWS = (
    ("summary",), ("info",), ("check",), ("prove",), ("timeline",), ("stack",), ("calls",),
    ("stack", "--format", "jsonl"), ("calls", "--format", "jsonl"), ("show",),
    ("show", "--types", "--format", "jsonl"), ("show", "--types", "--format", "tsv"),
    ("insns", "--bytes"), ("insns", "--bytes", "--cpu", "0"), ("insns", "--bytes", "--cpu", "1"),
)
# Each flag of makedumpfile alone, and all.
LEVELS = (0, 1, 2, 4, 8, 16, 31)
# Besides that of the first dump; Debian builds QEMU without LZO and snappy.
QEMU_FORMATS = ("kdump-zlib",)
# The first Debian with a makedumpfile that packs with zstd; none does with snappy.
ZSTD_SUITES = ("trixie",)
# Of a freeze, any word that is no address of the kernel.
USER_ADDRESS = re.compile(r" (?:branch|fault) .*\b0x0000(?!0{12})[0-9a-f]{12}\b"
                          r"| freeze .* (?:ip|sp|bp)=0x(?!0{16})[0-7][0-9a-f]{15}\b")


def _compare(context, path, small) -> int:
    nr_bytes = 0
    for view in VIEWS:
        # Holes in a history are no reason to differ either.
        whole, kept = (dump.btsrec(context, *view, name, ok=(0, 1)) for name in (path, small))
        if whole != kept:
            lines = zip(whole.splitlines(), kept.splitlines(), strict=False)
            first = next(((a, b) for a, b in lines if a != b), ("", "one is longer"))
            raise Failure(f"btsrec {' '.join(view)} differs: '{first[0]}' and '{first[1]}'")
        nr_bytes += len(whole)
    return nr_bytes


def _compare_without_user(context, path, small):
    whole, kept = (dump.btsrec(context, "show", "--no-names", name, ok=(0, 1)).splitlines()
                   for name in (path, small))
    if found := next(filter(USER_ADDRESS.search, kept), None):
        raise Failure(f"an address of user space is still there: {found}")
    if not any(map(USER_ADDRESS.search, whole)):
        raise Failure("the dump has no address of user space to leave out")
    for was, now in zip(whole, kept, strict=True):
        if was != now and not USER_ADDRESS.search(was):
            raise Failure(f"'{was}' became '{now}'")


def _open_report(context, path):
    browser = shutil.which("chromium")
    if not browser:
        return context.say("there is no chromium: the report is not opened")
    test = SOURCE / "tests/report/browser.sh"
    done = subprocess.run([test, browser, context.btsrec, "none", path], text=True, check=False,
                          capture_output=True, timeout=context.seconds(180))
    if done.returncode:
        raise Failure(f"the report in a browser: {done.stdout}{done.stderr}")
    return context.say("the report in a browser: all right")


def _open_exports(context, path):
    browser, node = shutil.which("chromium"), shutil.which("node")
    if not browser or not node:
        return context.say("there is no chromium or node: the exports are not opened")
    packages = subprocess.run([SOURCE / "tests/lib/npm"], text=True, check=False,
                              capture_output=True, timeout=context.seconds(180))
    if packages.returncode:
        raise Failure(f"the packages of npm: {packages.stdout}{packages.stderr}")
    vmlinux = ["--vmlinux", context.os.vmlinux] if context.os.vmlinux.is_file() else []
    done = subprocess.run([SOURCE / "tests/report/viewers.py", "--btsrec", context.btsrec,
                           "--packages", packages.stdout.strip(), "--chromium", browser,
                           *vmlinux, path], text=True, check=False, capture_output=True,
                          timeout=context.seconds(300))
    if done.returncode:
        raise Failure(f"the exports in programs of others: {done.stdout}{done.stderr}")
    for line in done.stdout.splitlines():
        context.say(line)
    return None


def _makedumpfile(context, *arguments, out=subprocess.DEVNULL, program=("makedumpfile",)):
    done = subprocess.run([*program, *map(str, arguments)], stdout=out, check=False,
                          stderr=subprocess.PIPE, text=True, timeout=context.seconds(120))
    if done.returncode:
        raise Failure(f"makedumpfile {' '.join(map(str, arguments))}: {done.stderr[-1000:]}")


def _written(context, plain):
    """(what, files) of one dump after another; they are removed when the next one is asked for."""
    to = context.out / "dump-as"
    parts = [to.with_name(f"dump-as-{number}") for number in range(3)]
    for level in LEVELS:
        _makedumpfile(context, "-d", level, "-l", plain, to)
        yield f"-d {level} -l", [to]
    for options in (["-c"], ["-E"]):
        _makedumpfile(context, *options, "-d", 31, plain, to)
        yield f"{options[0]} -d 31", [to]
        with open(to, "wb") as out:
            _makedumpfile(context, "-F", *options, "-d", 31, plain, out=out)
        yield f"-F {options[0]} -d 31", [to]
    newer = programs.command("makedumpfile", "usr/bin/makedumpfile", ZSTD_SUITES)
    _makedumpfile(context, "-z", "-d", 31, plain, to, program=newer)
    yield "-z -d 31", [to]
    _makedumpfile(context, "-c", "-d", 31, "--splitblock-size", 32, "--split", plain, *parts)
    yield "--split", parts
    yield "--split, in another order", parts[::-1]


def _compare_formats(context, path, plain, others):
    wanted = dump.btsrec(context, "show", path)
    dump.for_makedumpfile(plain)
    count = 0
    for what, files in [(f"QEMU's {name}", [other]) for name, other in others] + [("elf", [plain])]:
        _same_listing(context, what, files, wanted)
        count += 1
    for what, files in _written(context, plain):
        _same_listing(context, what, files, wanted)
        count += 1
        if "order" in what:
            _tell_missing(context, files[1:])
        if "split" not in what:
            files[0].unlink()
    for file in [plain, *(other for _, other in others), *files]:
        file.unlink()
    context.say(f"the listing is the same from {count} forms of the dump")


def _same_listing(context, what, files, wanted):
    if dump.btsrec(context, "show", *files, ok=(0, 1)) != wanted:
        raise Failure(f"as {what} the dump has another listing")


def _tell_missing(context, files):
    if "files of the split dump are missing" not in dump.btsrec(context, "check", *files,
                                                                ok=(0, 1, 3, 5)):
        raise Failure("nobody says that a file of the split dump is missing")


def run(context):
    path, small, private = (context.out / name for name in ("dump", "small", "private"))
    plain = context.out / "dump-elf"
    others = [(name, context.out / f"dump-{name}") for name in QEMU_FORMATS]
    for name in (path, small, private, *context.out.glob("dump-*")):
        name.unlink(missing_ok=True)
    with context.boot(SCRIPT, context.recorder_modules()) as machine:
        machine.expect_panic(context.seconds(120))
        machine.dump(path)
        machine.dump(plain, "elf")
        for name, other in others:
            machine.dump(other, name)
        machine.quit()
    begin = time.monotonic()
    dump.btsrec(context, "extract", path, small)
    seconds = time.monotonic() - begin
    context.say(f"{path.stat().st_size} bytes of dump became {small.stat().st_size} "
                f"in {seconds:.2f} s")
    nr_bytes = _compare(context, path, small)
    context.say(f"{len(VIEWS)} views are the same, {nr_bytes} bytes")
    dump.btsrec(context, "extract", "--no-user", path, private)
    _compare_without_user(context, path, private)
    _compare_formats(context, path, plain, others)
    _open_report(context, path)
    _open_exports(context, path)

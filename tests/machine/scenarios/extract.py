# SPDX-License-Identifier: GPL-2.0-or-later
"""The small file answers like the dump that it was made from, byte for byte.

Every view is compared, with names, instructions and stacks; then the same file without
addresses of user space must not have one, and be the same otherwise. The report is opened
in a browser if there is one, and the exports in programs of others (tests/report/viewers.py).
"""

import re
import shutil
import subprocess
import time

import dump
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
    ("insns", "--bytes"),
)
USER_ADDRESS = re.compile(r" branch .*\b0x0000(?!0{12})[0-9a-f]{12}\b")


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
    browser, npm = shutil.which("chromium"), shutil.which("npm")
    if not browser or not npm:
        return context.say("there is no chromium or npm: the exports are not opened")
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


def run(context):
    path, small, private = (context.out / name for name in ("dump", "small", "private"))
    for name in (path, small, private):
        name.unlink(missing_ok=True)
    with context.boot(SCRIPT, context.recorder_modules()) as machine:
        machine.expect_panic(context.seconds(120))
        machine.dump(path)
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
    _open_report(context, path)
    _open_exports(context, path)

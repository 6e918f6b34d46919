# SPDX-License-Identifier: GPL-2.0-or-later
"""A real dump, cut and damaged at many places, gives the same whichever way it is read.

The dump is written in the formats of QEMU and makedumpfile. Of each damaged one the events, the
losses and the status are compared: read as it is, flattened, and as the small file made of it.
How many branches are readable is counted from the format alone (dumpform.py). The table is that
of docs/evidence/damaged-dumps.md.
"""

import importlib.util
import json
import os
import re
import shutil
from pathlib import Path

import dump
import dumpform
import programs
import workload
from context import SOURCE
from errors import Failure
from scenarios import extract

SUMMARY = "damaged dumps of all formats: every way shows what is readable"

SCRIPT = workload.SHELL + """
start_work
sleep 1
echo c >/proc/sysrq-trigger
"""
RING = "ring_bytes=256K"
CUTS = (0.4, 0.7, 0.9, 0.97, 0.99, 0.995, 0.998)
INVERTED = (0.35, 0.65, 0.85, 0.95)


def add_options(parser):
    parser.add_argument("--keep", action="store_true", help="keep the dumps")
    parser.add_argument("--from-kept", action="store_true", help="take the dumps of a kept run")


def _differential():
    spec = importlib.util.spec_from_file_location("differential",
                                                  SOURCE / "tests/golden/differential.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _forms(context, zlib, plain):
    """(name, files) of one form after another; each may be damaged in place."""
    to = context.out / "dump-as"
    for name in context.out.glob("dump-as*"):
        name.unlink()
    parts = [to.with_name(f"dump-as-{number}") for number in range(3)]
    yield "ELF (QEMU)", [plain]
    yield "kdump zlib (QEMU)", [zlib]
    for name, options in (("-l -d 0", ["-l", "-d", 0]), ("-l -d 1", ["-l", "-d", 1]),
                          ("-l -d 31", ["-l", "-d", 31]), ("-c -d 31", ["-c", "-d", 31]),
                          ("-d 31", ["-d", 31]), ("-E -d 31", ["-E", "-d", 31])):
        extract._makedumpfile(context, *options, plain, to)
        yield name, [to]
        to.unlink()
    newer = programs.command("makedumpfile", "usr/bin/makedumpfile", extract.ZSTD_SUITES)
    extract._makedumpfile(context, "-z", "-d", 31, plain, to, program=newer)
    yield "-z -d 31", [to]
    for name, options in (("-F -c -d 31", ["-c", "-d", 31]), ("-F -E -d 31", ["-E", "-d", 31])):
        with open(to, "wb") as out:
            extract._makedumpfile(context, "-F", *options, plain, out=out)
        yield name, [to]
    to.unlink()
    extract._makedumpfile(context, "-c", "-d", 31, "--splitblock-size", 32, "--split", plain,
                          *parts)
    yield "--split -c -d 31", parts


def _damage(form, frames, path):
    """Damage the file PATH at one place after another, from the first to the last ring's page.

    Yields (what, how) while it is damaged so: a byte is another, or it ends there.
    """
    inside = [form.place(frame) for frame in frames if frame in form.pages]
    first, last = min(inside)[0], max(offset + nr_bytes for offset, nr_bytes in inside)
    with open(path, "r+b", buffering=0) as file:
        for share in INVERTED:
            wanted = first + int((last - first) * share)
            offset, nr_bytes = min(inside, key=lambda place: abs(place[0] - wanted))
            at = offset + nr_bytes // 2
            byte = os.pread(file.fileno(), 1, at)
            os.pwrite(file.fileno(), bytes([byte[0] ^ 0xff]), at)
            yield f"byte in a ring, {share:.0%}", {"inverted": at}
            os.pwrite(file.fileno(), byte, at)
        for share in sorted(CUTS, reverse=True):
            cut = first + int((last - first) * share)
            file.truncate(cut)
            yield f"cut in the rings, {share:.1%}", {"cut": cut}


def _flattened(context, tools, files):
    flat = [path.with_name(path.name + "-flat") for path in files]
    for path, copy in zip(files, flat):
        dump._run([context.build / "tests/tools/flatten", path, copy], context.seconds(60))
    answer = tools.answer(context.btsrec, *flat)
    for copy in flat:
        copy.unlink()
    return answer


def _answers(context, tools, files, copies, is_flat):
    found = {"itself": tools.answer(context.btsrec, *files)}
    if not is_flat:
        found["flattened"] = _flattened(context, tools, files)
    status = tools.run(context.btsrec, "extract", "--force", *files, copies)[0]
    if status in (0, 1) and copies.exists():
        found["small file"] = tools.answer(context.btsrec, copies)
        copies.unlink()
    return found


def _differences(name, what, found):
    first = found["itself"]
    return [f"{name}, {what}: {kind} as {way}: {str(left)[-300:]!r} {str(right)[-300:]!r}"
            for way, other in found.items()
            for kind, left, right in zip(("status", "events", "losses", "text"), first, other)
            if left != right]


def _check_form(context, tools, rings, name, files):
    """The row of a form, and what differs."""
    frames = {frame for _, of_ring, _ in rings.cpus.values() for frame in of_ring}
    damaged, small = context.out / "damaged", context.out / "damaged-small"
    rows, faults = [], []
    forms = [dumpform.Form(path.read_bytes()) for path in files]
    for number, (path, form) in enumerate(zip(files, forms)):
        if not frames & form.pages.keys():
            continue
        shutil.copyfile(path, damaged)
        others = {frame: dumpform.PAGE for other in forms if other is not form
                  for frame in other.pages}
        for what, how in _damage(form, frames, damaged):
            use = [damaged if i == number else other for i, other in enumerate(files)]
            found = _answers(context, tools, use, small, form.is_flat)
            readable = rings.readable(others | form.left(**how))
            shown = {way: answer[1].count('"kind":"branch"') for way, answer in found.items()}
            faults += _differences(name, what, found)
            rows.append((name, what, readable, shown, found["itself"][0]))
    damaged.unlink(missing_ok=True)
    return rows, faults


def _table(context, rows):
    """By form: damages, branches that are readable, and those that each way shows."""
    context.say("| dump | damages | readable | itself | flattened | small file |")
    names = list(dict.fromkeys(row[0] for row in rows))
    for name in names:
        of_form = [row for row in rows if row[0] == name]
        sums = [sum(row[3].get(way, 0) for row in of_form)
                if any(way in row[3] for row in of_form) else "-"
                for way in ("itself", "flattened", "small file")]
        context.say(f"| {name} | {len(of_form)} | {sum(row[2] for row in of_form)} | "
                    + " | ".join(map(str, sums)) + " |")


def run(context):
    path, plain = context.out / "dump", context.out / "dump-elf"
    if not context.options.from_kept:
        for name in (path, plain):
            name.unlink(missing_ok=True)
        with context.boot(SCRIPT, context.recorder_modules(RING)) as machine:
            machine.expect_panic(context.seconds(120))
            machine.dump(path)
            machine.dump(plain, "elf")
            machine.quit()
        dump.for_makedumpfile(plain)
        path.chmod(0o600)
    tools = _differential()
    branches: dict[int, list[tuple[int, int]]] = {}
    for line in dump.btsrec(context, "show", "--format", "jsonl", plain).splitlines():
        event = json.loads(line)
        if event["kind"] == "branch":
            branches.setdefault(event["cpu"], []).append((int(event["from"], 16),
                                                          int(event["to"], 16)))
    root = re.search(r"root: +0x([0-9a-f]+)", dump.btsrec(context, "info", plain))
    rings = dumpform.Rings(Path(plain).read_bytes(), int(root[1], 16), branches)
    context.say(f"{sum(map(len, branches.values()))} branches are in the rings")
    rows, faults = [], []
    for name, files in _forms(context, path, plain):
        more_rows, more_faults = _check_form(context, tools, rings, name, files)
        rows += more_rows
        faults += more_faults
        context.say(f"{name}: {len(more_rows)} damages, {len(more_faults)} differences")
        for fault in more_faults[:3]:
            context.say(fault)
    for name, what, readable, shown, status in rows:
        if shown["itself"] == readable:
            continue
        line = f"{name}, {what}: {readable} readable, {shown}, status {status}"
        context.say(line)
        # LZO and zstd, as makedumpfile writes them, have no checksum.
        if "byte" not in what or not name.startswith(("-l", "-z")):
            faults.append(line)
    _table(context, rows)
    if not context.options.keep and not context.options.from_kept:
        for name in (path, plain, *context.out.glob("dump-as*")):
            name.unlink(missing_ok=True)
    if faults:
        raise Failure(f"{len(faults)} answers differ, the first: {faults[0]}")

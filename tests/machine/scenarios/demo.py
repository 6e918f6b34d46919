# SPDX-License-Identifier: GPL-2.0-or-later
"""Arm, work, panic, dump; then the history as crash and btsrec show it."""

import dump
import workload

SUMMARY = "a panic and its history in crash and btsrec"

SCRIPT = workload.SHELL + """
cat /dev/btsrec
start_work
sleep 2
echo c >/proc/sysrq-trigger
"""


def add_options(parser):
    parser.add_argument("--lines", type=int, default=12, help="branches to show (12)")


def _show(title: str, text: str):
    print(f"\n{title}")
    print(text.rstrip() + "\n", flush=True)


def run(context):
    lines = str(context.options.lines)
    path = context.out / "dump"
    path.unlink(missing_ok=True)
    with context.boot(SCRIPT, context.recorder_modules()) as machine:
        machine.expect_panic(context.seconds(120))
        context.say("the guest has booted, armed the recorder, worked and panicked")
        machine.dump(path)
        machine.quit()
    context.say(f"its memory is in {path} ({path.stat().st_size >> 20} MiB)")

    system_map = ("--system-map", context.os.system_map)
    _show("$ btsrec dump", dump.btsrec(context, *system_map, path))
    _show("$ btsrec info", dump.btsrec(context, "info", path))
    _show(f"$ btsrec show -n {lines}",
          dump.btsrec(context, "show", "-n", lines, *system_map, path))
    context.say("btsrec is done; crash takes some seconds to start")
    _show(f"crash> bts show -n {lines}", dump.crash(context, path, f"bts show -n {lines}"))
    context.say("crash is done")

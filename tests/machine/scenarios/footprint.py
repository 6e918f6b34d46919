# SPDX-License-Identifier: GPL-2.0-or-later
"""What the recorder costs at each task switch, counted by the model.

Instructions, MSR writes and recorded branches inside the module's text, per switch of
the kernel's own count (/proc/stat) and per annotation, of which an exec or a borrowed mm
adds some; and the records of the ring next to each switch annotation that lead into,
within or out of the module.
"""

import re
import statistics

import dump
import workload
from errors import Failure

SUMMARY = "instructions, MSR writes and own records of the recorder per switch"

SCRIPT = workload.SHELL + """
hurry
read -r _ bytes _ _ _ start <<END
$(grep '^btsrec ' /proc/modules)
END
start=${start%%%% *}
echo "$start $bytes" >/tmp/module
send /tmp/module
(while :; do yes | head -c 200000 | cat >/dev/null; done) &
(while :; do usleep 200; done) &
sleep 1
echo "$start $(printf '0x%%x' $((start + bytes)))" >/sys/kernel/btsctl/range
cat /dev/btsrec /proc/stat >/tmp/before
echo 1 >/sys/kernel/btsctl/report
sleep %d
echo 1 >/sys/kernel/btsctl/report
cat /dev/btsrec /proc/stat >/tmp/after
send /tmp/before
send /tmp/after
echo "0 0" >/sys/kernel/btsctl/range
echo freeze >/dev/btsrec
ask dump
finish 0
"""

REPORT = re.compile(r"cpu=(\d+) REPORT .* insns=(\d+) msr_writes=(\d+) branches=(\d+)")
MAX_MSR_WRITES = 2


def add_options(parser):
    parser.add_argument("--seconds", type=int, default=5, help="of guest time to count (5)")


def _own_records(histories, start: int, end: int) -> list[int]:
    """For each switch annotation: the neighbouring records that touch the module."""
    def own(event):
        return event["kind"] == "branch" and any(
            start <= int(event[side], 16) < end for side in ("from", "to"))

    counts = []
    for events in histories.values():
        for place, event in enumerate(events):
            if event["kind"] != "switch" or place < 20 or place > len(events) - 20:
                continue
            before = after = 0
            while own(events[place - 1 - before]):
                before += 1
            while own(events[place + 1 + after]):
                after += 1
            counts.append(before + after)
    return counts


def _counts(status: bytes) -> tuple:
    """(switches, annotations) since the start, from /proc/stat and /dev/btsrec."""
    text = status.decode()
    return (int(re.search(r"^ctxt (\d+)", text, re.MULTILINE).group(1)),
            sum(map(int, re.findall(r"annotations=(\d+)", text))))


def run(context):
    path = context.out / "dump"
    path.unlink(missing_ok=True)

    def take_dump(machine, _):
        machine.dump(path, resume=True)
        return "dumped"

    modules = [context.guest_module("btsctl"), *context.recorder_modules()]
    with context.boot(SCRIPT % context.options.seconds, modules,
                      answers={"dump": take_dump}) as machine:
        machine.expect_finish(context.seconds(120))
        machine.quit()
    switches, annotations = (after - before for before, after in zip(
        _counts(machine.files["before"]), _counts(machine.files["after"]), strict=True))
    start, nr_bytes = (int(word, 0) for word in machine.files["module"].split())
    reports = REPORT.findall((machine.model_dir / "msr.log").read_text())
    cpus = context.options.cpus
    if len(reports) != 2 * cpus or switches < 100:
        raise Failure(f"{len(reports)} reports, {switches} switches: nothing to tell from")
    insns, msr_writes, branches = (sum(int(report[column]) for report in reports[cpus:])
                                   for column in (1, 2, 3))
    context.say(f"{switches} switches, {annotations} annotations on {cpus} CPUs")
    for name, count in (("switch", switches), ("annotation", annotations)):
        context.say(f"in the recorder, per {name}: {insns / count:.1f} instructions, "
                    f"{msr_writes / count:.2f} MSR writes, {branches / count:.2f} branches "
                    "recorded")
    own = _own_records(dump.events(context, path), start, start + nr_bytes)
    if not own:
        raise Failure("no switch in the histories")
    context.say(f"own records next to a switch annotation, of {len(own)}: least {min(own)}, "
                f"median {statistics.median(own)}, most {max(own)}")
    # The two ways of counting do not begin and end at the same instant.
    if msr_writes > MAX_MSR_WRITES * 1.05 * annotations:
        raise Failure(f"more than {MAX_MSR_WRITES} MSR writes per annotation")

# SPDX-License-Identifier: GPL-2.0-or-later
"""Every value that "btsrec insns --values" prints is the one that the register held.

So is every argument of "calls --args" and "stack --args". The model logs all general registers
before each instruction. A value that is read is the one before its instruction, a value that is
written is the one before the next. Certain ones must all be right, and so must all registers of
each freeze. What is known, and how much of what is likely is wrong, is counted by the distance from
the end. tests/tools/comparevalues.c compares; a long run is one with --ring-bytes 16M.
"""

import json
import subprocess
from collections import Counter

import crashes
import dump
import registers
import workload
from errors import Failure

SUMMARY = "the printed values of registers are those that the registers held"

SCRIPT = workload.SHELL + """
crash() {
    echo $1 >/sys/module/btscrash/parameters/crash
}
%s
start_work
hurry
sleep 1
%s
"""

DISTANCES = (100, 1_000, 10_000, 100_000, 1 << 62)


def add_options(parser):
    parser.add_argument("--ring-bytes", default="1M", metavar="SIZE", help="ring (1M)")
    parser.add_argument("--insns", type=int, default=2_000_000,
                        help="instructions of each CPU to log, of 144 bytes; 8000000 are enough for "
                        "rings of 16M (2000000)")
    parser.add_argument("--wanted", type=int, default=100_000, help="values to compare (100000)")
    parser.add_argument("--crash", default="null", choices=crashes.KINDS, metavar="KIND",
                        help="how the guest crashes (null)")
    parser.add_argument("--keep", action="store_true", help="keep dump and logs")
    parser.add_argument("--again", action="store_true",
                        help="no machine: compare what --keep has kept once more")


def _all(count, what: str) -> int:
    return sum(count[f"{what} {at}"] for at in DISTANCES)


def _summed(count) -> str:
    """Each distance is without the nearer ones."""
    rates = []
    for at in DISTANCES:
        certain, likely = count[f"certain {at}"], count[f"likely {at}"]
        listed = count[f"unknown {at}"] + certain + likely
        if not listed:
            continue
        wrong = count[f"wrong likely {at}"] / max(1, certain + likely)
        rates.append(f"{f'to {at}' if at < 1 << 60 else 'farther'}: {certain / listed:.1%} certain"
                     f", {likely / listed:.1%} likely ({wrong:.2%} wrong) of {listed}")
    certain, likely = _all(count, "certain"), _all(count, "likely")
    return f"{certain} certain values of {_all(count, 'unknown') + certain + likely} compared, " \
           f"wrong: {_all(count, 'wrong certain')}; {likely} likely, " \
           f"wrong: {_all(count, 'wrong likely')}; not aligned {count['not aligned']}; " \
           f"by distance {'; '.join(rates)}"


def run(context):
    options, kind = context.options, crashes.KINDS[context.options.crash]
    path = context.out / "dump"
    if options.again:
        compare(context, path, context.out / "boot" / "model")
        return
    path.unlink(missing_ok=True)
    modules = [*context.recorder_modules(f"ring_bytes={options.ring_bytes}"),
               context.guest_module("btscrash")]
    with context.boot(SCRIPT % (kind.setup, kind.trigger), modules,
                      plugin_args={"reglog": options.insns, "entrylog": 4096},
                      append=f"nopti {kind.append}".strip()) as machine:
        machine.dump_at_panic(context.seconds(400), path)
    compare(context, path, machine.model_dir)
    if not options.keep:
        path.unlink()
        for file in machine.model_dir.glob("cpu*.*"):
            file.unlink()


def _compare(context, path, model_dir) -> Counter:
    """What comparevalues counts."""
    views = (["show"], ["insns", "--values"], ["calls", "--args"], ["stack", "--args"])
    with subprocess.Popen([context.built("comparevalues"), model_dir, str(context.options.cpus)],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as compares:
        for view in views:
            done = subprocess.run([context.btsrec, *view, "--format", "jsonl", path], check=False,
                                  stdout=compares.stdin, timeout=context.seconds(1200))
            if done.returncode:
                raise Failure(f"btsrec {' '.join(view)}: exit {done.returncode}")
        counted, _ = compares.communicate()
    if compares.returncode:
        raise Failure(f"comparevalues: exit {compares.returncode}")
    return Counter(json.loads(counted))


def _part(counted: Counter, of: str) -> Counter:
    return Counter({key.removeprefix(f"{of}: "): number for key, number in counted.items()
                    if key.startswith(f"{of}: ")})


def compare(context, path, model_dir):
    events, faults = dump.stops(context, path)
    nr_sets = registers.check(context, path, model_dir, events, faults)
    context.say(f"{nr_sets} sets of registers at a freeze are those that there were")
    counted, total = _compare(context, path, model_dir), Counter()
    for cpu in range(context.options.cpus):
        count = _part(counted, str(cpu))
        context.say(f"CPU {cpu}: {_summed(count)}")
        total += count
    context.say(f"in all: {_summed(total)}")
    args = _part(counted, "args")
    context.say(f"arguments of calls: {dict(args)}")
    if _all(total, "wrong certain") or args["wrong certain"] or total["not aligned"]:
        raise Failure("not all values are those that the registers held")
    if _all(total, "certain") < context.options.wanted:
        raise Failure("too few values to tell from")

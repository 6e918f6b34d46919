# SPDX-License-Identifier: GPL-2.0-or-later
"""Every value that "btsrec insns --values" prints is the one that the register held.

So is every argument of "calls --args" and "stack --args". The model logs all general registers before each instruction. A value that is read is the one
before its instruction, a value that is written is the one before the next. Certain ones must all
be right, and so must all registers of each freeze. What is known, and how much of what is likely is
wrong, is counted by the distance from the end.
"""

import json
from bisect import bisect_right
from collections import Counter

import crashes
import dump
import registers
import truth
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

MAX_PRINTED = 20
DISTANCES = (100, 1_000, 10_000, 100_000, 1 << 62)


def _parts() -> dict[str, tuple[int, int, int]]:
    """(number, lowest bit, bits) of each name of a general register or a part of one."""
    parts = {}
    for number, name in enumerate("ax cx dx bx sp bp si di".split()):
        low = name[0] + "l" if number < 4 else name + "l"
        parts |= {"r" + name: (number, 0, 64), "e" + name: (number, 0, 32),
                  name: (number, 0, 16), low: (number, 0, 8)}
        if number < 4:
            parts[name[0] + "h"] = (number, 8, 8)
    for number in range(8, 16):
        for suffix, bits in (("", 64), ("d", 32), ("w", 16), ("b", 8)):
            parts[f"r{number}{suffix}"] = (number, 0, bits)
    return parts


PARTS = _parts()


def add_options(parser):
    parser.add_argument("--ring-bytes", default="1M", metavar="SIZE", help="ring (1M)")
    parser.add_argument("--insns", type=int, default=2_000_000,
                        help="instructions of each CPU to log (2000000)")
    parser.add_argument("--wanted", type=int, default=100_000, help="values to compare (100000)")
    parser.add_argument("--crash", default="null", choices=crashes.KINDS, metavar="KIND",
                        help="how the guest crashes (null)")
    parser.add_argument("--keep", action="store_true", help="keep dump and logs")
    parser.add_argument("--again", action="store_true",
                        help="no machine: compare what --keep has kept once more")


def _groups(log) -> dict[int, list[int]]:
    """Places in LOG by the number of records before them; the last of those begun anew."""
    groups: dict[int, list[int]] = {}
    for place, entry in enumerate(log):
        group = groups.setdefault(entry[1], [])
        if group and log[group[-1]][0] == entry[0]:
            group.pop()
        group.append(place)
    return groups


def _matches(operand, value) -> bool:
    _, shift, bits = PARTS[operand["reg"]]
    return value >> shift & ((1 << bits) - 1) == int(operand["value"], 16)


def _check(item, log, place, count, distance):
    for when, name in ((0, "reads"), (1, "writes")):
        for operand in item.get(name, []):
            kind = operand["class"]
            count[f"all {distance}"] += 1
            if kind == "unknown" or place + when >= len(log):
                continue
            value = log[place + when][2 + PARTS[operand["reg"]][0]]
            count[f"{kind} {distance}"] += 1
            if _matches(operand, value):
                continue
            count[f"wrong {kind}"] += 1
            count[f"wrong {kind} {distance}"] += 1
            if count[f"wrong {kind}"] < MAX_PRINTED:
                print(f"CPU {item['cpu']} event {item['n']} {item['ip']} {item['insn']}: "
                      f"{name} {operand}, true 0x{value:x}", flush=True)


def _compare(items, branches, total, log) -> Counter:
    """ITEMS: of the instructions of one CPU; BRANCHES: numbers of its events that are records."""
    groups, count = _groups(log), Counter()
    by_event: dict[int, list] = {}
    for item in items:
        by_event.setdefault(item["n"], []).append(item)
    left = len(items)
    for n, listed in by_event.items():
        number = total - len(branches) + bisect_right(branches, n - 1)
        ran = groups.get(number, [])
        if n == branches[0]:
            ran = ran[-len(listed):]
        if [log[place][0] for place in ran[:len(listed)]] != \
                [int(item["ip"], 16) for item in listed]:
            count["not aligned"] += len(listed)
            left -= len(listed)
            continue
        for item, place in zip(listed, ran):
            _check(item, log, place, count, next(at for at in DISTANCES if left <= at))
            left -= 1
    return count


def _entered_with(log, groups, branches, total, n, entered):
    """What the registers held behind the branch of event N; None: something else ran next."""
    ran = groups.get(total - len(branches) + bisect_right(branches, n))
    return log[ran[0]] if ran and log[ran[0]][0] == entered else None


def _check_args(item, held, count):
    for arg in item.get("args", []):
        kind = arg["class"]
        count[kind] += 1
        if kind == "unknown":
            continue
        mask = (1 << 8 * arg["bytes"]) - 1
        if held[2 + PARTS[arg["reg"]][0]] & mask == int(arg["value"], 16):
            continue
        count[f"wrong {kind}"] += 1
        print(f"CPU {item['cpu']} event {item['n']}: {arg}, true {held}", flush=True)


def _compare_args(context, path, logs) -> Counter:
    """LOGS: by CPU, for _entered_with(), without its last two."""
    total = Counter()
    for view, n_key, ip_key in (("calls", "n", "to"), ("stack", "entered_n", "entered")):
        count = Counter()
        for line in dump.btsrec(context, view, "--args", "--format", "jsonl", path).splitlines():
            item = json.loads(line)
            if "args" not in item:
                count[item.get("no_args", "no call")] += 1
                continue
            held = _entered_with(*logs[item["cpu"]], item[n_key], int(item[ip_key], 16))
            if held is None:
                count["not compared"] += len(item["args"])
            else:
                _check_args(item, held, count)
        context.say(f"{view}: arguments: {dict(count)}")
        total += count
    return total


def _summed(count) -> str:
    """Each distance is without the nearer ones."""
    rates = []
    for at in DISTANCES:
        listed = count[f"all {at}"]
        if not listed:
            continue
        certain, likely = count[f"certain {at}"], count[f"likely {at}"]
        wrong = count[f"wrong likely {at}"] / max(1, certain + likely)
        rates.append(f"{f'to {at}' if at < 1 << 60 else 'farther'}: {certain / listed:.1%} certain"
                     f", {likely / listed:.1%} likely ({wrong:.2%} wrong) of {listed}")
    certain, likely = (sum(count[f"{kind} {at}"] for at in DISTANCES)
                       for kind in ("certain", "likely"))
    listed = sum(count[f"all {at}"] for at in DISTANCES)
    return f"{certain} certain values of {listed} compared, wrong: {count['wrong certain']}; " \
           f"{likely} likely, wrong: {count['wrong likely']}; not aligned " \
           f"{count['not aligned']}; by distance {'; '.join(rates)}"


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
                      plugin_args={"reglog": options.insns, "entrylog": 4096}, append="nopti") as machine:
        machine.dump_at_panic(context.seconds(400), path)
    compare(context, path, machine.model_dir)
    if not options.keep:
        path.unlink()
        for file in machine.model_dir.glob("cpu*.*"):
            file.unlink()


def compare(context, path, model_dir):
    events, faults = dump.history(context, path)
    nr_sets = registers.check(context, path, model_dir, events, faults)
    context.say(f"{nr_sets} sets of registers at a freeze are those that there were")
    items: dict[int, list] = {}
    for line in dump.btsrec(context, "insns", "--values", "--format", "jsonl", path).splitlines():
        item = json.loads(line)
        if item["kind"] == "insn":
            items.setdefault(item["cpu"], []).append(item)
    total, logs = Counter(), {}
    for cpu in range(context.options.cpus):
        nr_records = truth.Log(model_dir / f"cpu{cpu}.log").total
        log = registers.logged(model_dir / f"cpu{cpu}.regs", registers.INSNS_MAGIC)
        branches = [event["n"] for event in events[cpu] if event["kind"] == "branch"]
        logs[cpu] = (log, _groups(log), branches, nr_records)
        count = _compare(items[cpu], branches, nr_records, log)
        context.say(f"CPU {cpu}: {_summed(count)}")
        total += count
    context.say(f"in all: {_summed(total)}")
    args = _compare_args(context, path, logs)
    if total["wrong certain"] or args["wrong certain"] or total["not aligned"]:
        raise Failure("not all values are those that the registers held")
    if sum(total[f"certain {at}"] for at in DISTANCES) < context.options.wanted:
        raise Failure("too few values to tell from")

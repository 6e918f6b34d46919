# SPDX-License-Identifier: GPL-2.0-or-later
"""btsrec verify-hardware finds the emulated processor as expected, and each other one otherwise.

Each experiment that can be made is as expected, but for "predicted": the model makes that bit up.
The page has the answers of the lines. Nothing in them is an address. The recorder is as it was,
armed or not, and a recorder that leaves branches out is refused.

Then the model is another processor, one after the other (model/mutate.h): each mutation makes the
experiments differ that are about it. Each experiment is wrong at one mutation at least. The table
is printed.
"""

import json
import re
from pathlib import Path

import programs
from errors import Failure

SUMMARY = "verify-hardware finds the emulated processor as expected, and each mutation of it"

NOT_SHOWN = {"predicted"}
MADE = {"jump", "indirect-jump", "conditional", "call-return", "string", "syscall", "breakpoint",
        "invalid-opcode", "divide-error", "page-fault", "far-transfer", "sequence", "flags",
        "predicted", "interrupt", "idle", "block-step", "freeze", "cost"}
# Times mean nothing here.
NO_MUTATION = {"cost"}
ADDRESS = re.compile(r"\b(0x)?(ffff[0-9a-f]{12}|[57][0-9a-f]{11})\b")

SCRIPT = """
refuse() {
	insmod /modules/btsrec.ko pti=map "$1" || fail "does not load with $1"
	btsrec verify-hardware 2>/tmp/refused && fail "asks a recorder with $1"
	[ $? = 3 ] && grep -q "$2" /tmp/refused || fail "$1: it says: $(cat /tmp/refused)"
	rmmod btsrec
}
refuse mode=kernel 'must say "mode: all"'
refuse max_rate=1000000 'must say "max_rate: 0"'
refuse ring_bytes=64K 'rings are too small'

insmod /modules/btsrec.ko pti=map ring_bytes=4M || fail "the recorder does not load"
btsrec verify-hardware --format jsonl >/tmp/lines
echo $? >/tmp/status
send /tmp/status
send /tmp/lines
grep -q '^state: armed' /dev/btsrec || fail "not armed as before: $(cat /dev/btsrec)"
echo disarm >/dev/btsrec
btsrec verify-hardware --cpu 1 >/tmp/page || fail "disarmed, it ends with $?"
send /tmp/page
grep -q '^state: disarmed' /dev/btsrec || fail "not disarmed as before: $(cat /dev/btsrec)"
btsrec verify-hardware --cpu 7 2>/tmp/refused && fail "asks a CPU that is not there"
grep -q 'CPU 7 does not record' /tmp/refused || fail "of CPU 7 it says: $(cat /tmp/refused)"
echo arm >/dev/btsrec
nmi=$(sed -n 's/ T asm_exc_nmi$//p' /proc/kallsyms)
echo "0x$nmi" >/sys/kernel/btsctl/mutate || fail "no entry for NMIs: $nmi"
for number in %s; do
	echo $number >/sys/kernel/btsctl/mutate
	btsrec verify-hardware --format jsonl >/tmp/mutation-$number
	echo 0 >/sys/kernel/btsctl/mutate
	send /tmp/mutation-$number
done
finish 0
"""


# By its mutation, what differs; more may.
EXPECTED = {
    "DROP": {"sequence"}, "DOUBLE": {"sequence"}, "JUMP_NEXT": {"jump"},
    "INDIRECT": {"indirect-jump"}, "UNTAKEN": {"conditional"}, "RET": {"call-return"},
    "STRING": {"string"}, "SYSCALL": {"syscall"}, "SYSRET": {"syscall"},
    "INT3_NEXT": {"breakpoint"},
    "FAULT_NEXT": {"invalid-opcode", "divide-error", "page-fault"}, "FAR": {"far-transfer"},
    "INTERRUPT": {"interrupt"}, "INTERRUPT_FROM": {"interrupt"}, "TRAP": {"block-step"},
    "FLAGS": {"flags"}, "PREDICTED": {"predicted"}, "PREDICTOR": set(), "IDLE": {"idle"},
    "LATE": {"freeze"},
}


def mutations() -> list[tuple[str, str]]:
    """Names and meanings, as the model has them, from number 1 on."""
    text = (Path(__file__).parent.parent / "model/mutate.h").read_text()
    return re.findall(r"^\tMUTATION_(\w+),\s+/\* (.+) \*/$", text, re.MULTILINE)


def answers(text: str) -> dict[str, dict]:
    """The experiments of these lines, by their names."""
    return {line["name"]: line for line in map(json.loads, text.splitlines())
            if line["kind"] == "experiment"}


def _check_lines(text: str, status: int) -> dict[str, str]:
    if ADDRESS.search(text):
        raise Failure(f"an address is in its output: {ADDRESS.search(text)[0]}")
    verdicts = {name: answer["verdict"] for name, answer in answers(text).items()}
    made = {name: verdict for name, verdict in verdicts.items() if verdict != "not possible here"}
    wrong = {name: answers(text)[name] for name, verdict in made.items()
             if verdict != ("not shown" if name in NOT_SHOWN else "as expected")}
    if wrong or set(made) != MADE or status:
        raise Failure(f"status {status}, experiments {set(made)}; not as expected: {wrong}")
    result = json.loads(text.splitlines()[-1])
    counted = {"as_expected": "as expected", "differs": "differs", "not_shown": "not shown",
               "not_possible": "not possible here"}
    for member, verdict in counted.items():
        if result[member] != list(verdicts.values()).count(verdict):
            raise Failure(f"it counts {result}, of {verdicts}")
    return verdicts


def add_options(parser):
    parser.add_argument("--mutations", metavar="LIST", help="only these: DROP,RET,...")


def _chosen(context) -> dict[int, tuple[str, str]]:
    """The mutations that are wanted, by their numbers."""
    every = dict(enumerate(mutations(), 1))
    if not context.options.mutations:
        return every
    wanted = context.options.mutations.split(",")
    chosen = {number: each for number, each in every.items() if each[0] in wanted}
    if len(chosen) != len(wanted):
        raise Failure(f"there are the mutations {[name for name, _ in every.values()]}")
    return chosen


def _check_mutations(context, files):
    caught = set()
    chosen = _chosen(context)
    for number, (name, meaning) in chosen.items():
        found = answers(files[f"mutation-{number}"].decode())
        wrong = {other for other, answer in found.items() if answer["verdict"] == "differs"}
        context.say(f"{name.lower()} ({meaning}): {', '.join(sorted(wrong)) or 'none'}")
        if not EXPECTED[name] <= wrong or (not EXPECTED[name] and wrong):
            raise Failure(f"{meaning}: expected {EXPECTED[name]}, it found {wrong}: {found}")
        caught |= EXPECTED[name]
        if name == "PREDICTOR" and found["predicted"]["verdict"] != "as expected":
            raise Failure(f"{meaning}: {found['predicted']}")
    if len(chosen) == len(mutations()) and (missing := MADE - caught - NO_MUTATION):
        raise Failure(f"no mutation is about {missing}")


def run(context):
    script = SCRIPT % " ".join(map(str, _chosen(context)))
    files = [("modules/btsrec.ko", context.recorder.read_bytes()),
             *programs.of_host(context.btsrec, "bin/btsrec")]
    with context.boot(script, [context.guest_module("btsctl")], files=files, append="nopti",
                      cpus=2, plugin_args={"mutations": 1}) as machine:
        machine.expect_finish(context.seconds(900))
        machine.quit()
    verdicts = _check_lines(machine.files["lines"].decode(), int(machine.files["status"]))
    page = machine.files["page"].decode()
    shown = dict(re.findall(r"^([a-z-]+): ([a-z ]+)$", page, re.MULTILINE))
    if {name: shown.get(name) for name in verdicts} != verdicts or ADDRESS.search(page):
        raise Failure(f"the page is not that of the lines: {page}")
    made = [verdict for verdict in verdicts.values() if verdict != "not possible here"]
    context.say(f"{made.count('as expected')} of {len(made)} experiments are as expected")
    _check_mutations(context, machine.files)

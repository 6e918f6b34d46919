# SPDX-License-Identifier: GPL-2.0-or-later
"""btsrec verify-hardware finds the emulated processor as it expects a processor to be.

Each experiment that can be made is as expected, but for "predicted": the model makes that bit up.
The page has the answers of the lines. Nothing in them is an address. The recorder is as it was,
armed or not, and a recorder that leaves branches out is refused.
"""

import json
import re

import programs
from errors import Failure

SUMMARY = "verify-hardware finds the emulated processor as expected"

NOT_SHOWN = {"predicted"}
MIN_EXPERIMENTS = 17
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

insmod /modules/btsrec.ko pti=map || fail "the recorder does not load"
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
finish 0
"""


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
    if wrong or len(made) < MIN_EXPERIMENTS or status:
        raise Failure(f"status {status}, {len(made)} experiments; not as expected: {wrong}")
    result = json.loads(text.splitlines()[-1])
    counted = {"as_expected": "as expected", "differs": "differs", "not_shown": "not shown",
               "not_possible": "not possible here"}
    for member, verdict in counted.items():
        if result[member] != list(verdicts.values()).count(verdict):
            raise Failure(f"it counts {result}, of {verdicts}")
    return verdicts


def run(context):
    files = [("modules/btsrec.ko", context.recorder.read_bytes()),
             *programs.of_host(context.btsrec, "bin/btsrec")]
    with context.boot(SCRIPT, files=files, append="nopti", cpus=2) as machine:
        machine.expect_finish(context.seconds(180))
        machine.quit()
    verdicts = _check_lines(machine.files["lines"].decode(), int(machine.files["status"]))
    page = machine.files["page"].decode()
    shown = dict(re.findall(r"^([a-z-]+): ([a-z ]+)$", page, re.MULTILINE))
    if {name: shown.get(name) for name in verdicts} != verdicts or ADDRESS.search(page):
        raise Failure(f"the page is not that of the lines: {page}")
    made = [verdict for verdict in verdicts.values() if verdict != "not possible here"]
    context.say(f"{made.count('as expected')} of {len(made)} experiments are as expected")

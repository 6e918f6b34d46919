# SPDX-License-Identifier: GPL-2.0-or-later
"""Is what "btsrec why" says of the newest events equal to what it says of all, or weaker?"""

import json

import dump
from errors import Failure

# The summary looks at 2048.
COUNTS = (64, 512, 2048)

CLASSES = ("certain", "likely", "unknown")
# Where less is known, the way back may end so.
ENDS = ("older", "joined", "loaded", "stored", "written", "maybe")


def _steps(context, path, *options: str) -> list[dict]:
    text = dump.btsrec(context, "why", "--format", "jsonl", *options, path)
    return [row for row in map(json.loads, text.splitlines()) if row["kind"] == "origin"]


def _is_stronger(part: dict, whole: dict, key: str) -> bool:
    return CLASSES.index(part[key]) < CLASSES.index(whole[key])


def _differs(part: dict, whole: dict) -> str:
    """In what step PART says anything else than WHOLE, or more; "": in nothing."""
    for key in ("what", "n", "ip", "reg"):
        if part.get(key) != whole.get(key):
            return key
    for key in ("value", "memory", "address"):
        if key in part and part[key] != whole.get(key):
            return key
    for key in ("class", "value_class"):
        if _is_stronger(part, whole, key):
            return key
    return ""


def _compare(part: list[dict], whole: list[dict]) -> tuple[str, bool]:
    """(what differs, is that said to be certain)"""
    if len(part) == 1 and "end" in part[0]:
        return "", False
    for i, step in enumerate(part):
        is_last = i + 1 == len(part)
        if is_last and step["what"] in ENDS and step["class"] == "unknown":
            return "", False
        key = "length" if i >= len(whole) else _differs(step, whole[i])
        if key and is_last and step["what"] in ENDS and "end" in step and \
                step["end"] != "a constant that this instruction stored":
            return "", False
        if key:
            return f"step {i}, {key}: {step} for {whole[i:i + 1]}", step["class"] == "certain"
    return "", False


def compare(context, path) -> int:
    """How many answers of the newest events are likely and others; a Failure if one is certain."""
    whole = _steps(context, path)
    differing = 0
    for count in COUNTS:
        what, is_certain = _compare(_steps(context, path, "-n", str(count)), whole)
        if is_certain:
            raise Failure(f"{path}: of {count} events certain, but not so of all: {what}")
        if what:
            context.say(f"{path.name}: of {count} events: {what}")
        differing += bool(what)
    return differing

# SPDX-License-Identifier: GPL-2.0-or-later
"""What is known at a place, as variables: registers, arguments, and the place itself."""

from . import history

# As a debugger lists them.
REGISTERS = ("rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", "rsp", "r8", "r9", "r10", "r11",
             "r12", "r13", "r14", "r15")
UNAVAILABLE = "unavailable"


def variable(name, value, **more):
    return {"name": name, "value": value, "variablesReference": 0} | more


def _unavailable(name, why):
    return variable(name, f"<{UNAVAILABLE}: {why}>",
                    presentationHint={"attributes": ["readOnly", "failedEvaluation"]})


def _known(name, value, certainty):
    shown = value if certainty == "certain" else f"{value} ({certainty})"
    return variable(name, shown, memoryReference=value,
                    presentationHint={"attributes": ["readOnly"]})


def _saved(dump, past):
    """All registers, where the freeze or the fault has them, and why there are none else.

    Both are those of an instruction that something hit: an NMI, or what stopped the kernel.
    """
    place = past.place
    if place.kind != history.STOP and not place.is_fault and past.index != past.newest_entry():
        return {}, "this instruction does not read it"
    for line in dump.ask("info", "--registers"):
        if line["kind"] != "cpu" or line["cpu"] != past.cpu:
            continue
        found = line.get("registers", {})
        for saved in (found.get("entry", {}) if place.is_fault else {}, found.get("stop", {})):
            if saved and int(saved["ip"], 16) == place.ip:
                return saved, ""
        return {}, line.get("no_registers", "what the dump has is of another instruction")
    return {}, "the dump has no registers of this CPU"


def registers(dump, past):
    """rip and those that are known before the place's instruction."""
    place = past.place
    read = {entry["reg"]: entry for entry in past.reads(past.index)}
    saved, why = _saved(dump, past)
    found = [_known("rip", f"{place.ip:#018x}", "certain")]
    for name in REGISTERS:
        if name in saved:
            found.append(_known(name, saved[name], "certain"))
        elif "value" in read.get(name, {}):
            found.append(_known(name, read[name]["value"], read[name].get("class", "likely")))
        elif name in read:
            found.append(_unavailable(name, "the history does not show it"))
        else:
            found.append(_unavailable(name, why))
    # Parts of registers, as eax.
    return found + [_known(name, entry["value"], entry.get("class", "likely"))
                    for name, entry in read.items()
                    if name not in REGISTERS and "value" in entry]


def arguments(frame):
    """With what a function was entered."""
    if "no_args" in frame:
        return [_unavailable("(arguments)", frame["no_args"])]
    found = []
    for number, arg in enumerate(frame.get("args", [])):
        name = arg.get("name", f"(argument {number + 1})")
        if "value" not in arg:
            made = _unavailable(name, arg.get("why", "not known"))
        else:
            made = _known(name, arg["value"], arg.get("class", "likely"))
            if "text" in arg:
                made["value"] += f" \"{arg['text']}\""
        found.append(made | {"type": arg.get("type", "")})
    return found or [variable("(arguments)", "none")]


def position(past):
    """Where a history stands."""
    place = past.place
    found = [variable("event", str(place.n)), variable("instruction", place.text),
             variable("place", f"{past.index + 1} of {len(past.places)}")]
    if place.task:
        found.append(variable("thread", f"{place.task[0]} \"{place.task[1]}\""))
    return found + [variable("before it", note) for note in place.notes]

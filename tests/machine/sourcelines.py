# SPDX-License-Identifier: GPL-2.0-or-later
"""The source lines of a history, compared with those that binutils and gdb find."""

import json
import re
import subprocess

import dump
from errors import Failure, Skip

KERNEL_IMAGE = range(0xFFFFFFFF80000000, 0xFFFFFFFFC0000000)


def _run(command, text="") -> str:
    try:
        return subprocess.run([str(word) for word in command], input=text, check=True,
                              capture_output=True, text=True).stdout
    except FileNotFoundError as error:
        raise Skip(f"{command[0]} is not installed") from error


def _printed(context, path, vmlinux) -> dict[int, str]:
    """Kernel address to "file:line" of all branches; "" is none."""
    found = {}
    text = dump.btsrec(context, "show", "--lines", "--format", "jsonl", "--vmlinux", vmlinux,
                       path)
    for line in text.splitlines():
        event = json.loads(line)
        if event["kind"] != "branch":
            continue
        for end in ("from", "to"):
            address = int(event[end], 16)
            if address in KERNEL_IMAGE:
                place = f"{event[f'{end}_file']}:{event[f'{end}_line']}" \
                    if f"{end}_line" in event else ""
                if found.setdefault(address, place) != place:
                    raise Failure(f"0x{address:x} is both {found[address]} and {place}")
    return found


def _calls_agree(context, path, vmlinux, command, printed) -> int:
    """The text, in which loops are folded, and the JSON have the same lines: the branches'."""
    text = dump.btsrec(context, *command, "--vmlinux", vmlinux, path)
    events = map(json.loads, dump.btsrec(context, *command, "--format", "jsonl", "--vmlinux",
                                         vmlinux, path).splitlines())
    found = [(int(event["from"], 16), f"{event['from_file']}:{event['from_line']}")
             for event in events if "from_line" in event]
    in_text = re.findall(r"  at (\S+:\d+)$", text, re.M)
    if {place for _, place in found} != set(in_text):
        raise Failure(f"{command[0]} has {len(in_text)} lines as text, {len(found)} as JSON, "
                      "and not the same ones")
    wrong = [f"  {at:#x}: {place}, but a branch from there has {printed.get(at)}"
             for at, place in found if at in KERNEL_IMAGE and printed.get(at) != place]
    if wrong or not found:
        raise Failure(f"{len(wrong)} of {len(found)} calls differ\n" + "\n".join(wrong[:20]))
    return len(found)


def of_addr2line(vmlinux, addresses) -> dict[int, str]:
    """Address to "file:line", as binutils say it."""
    text = _run(["addr2line", "-a", "-e", vmlinux], "".join(f"{at:#x}\n" for at in addresses))
    lines = text.splitlines()
    return {int(at, 16): re.sub(r" \(discriminator \d+\)", "", place)
            for at, place in zip(lines[::2], lines[1::2])}


def _inlined_of_addr2line(vmlinux, at: int) -> list[tuple[str, str]]:
    """(function, "file:line"), the innermost first; the last one is the function itself."""
    lines = _run(["addr2line", "-i", "-f", "-e", vmlinux, f"{at:#x}"]).splitlines()
    return [(name, re.sub(r" \(discriminator \d+\)", "", place))
            for name, place in zip(lines[::2], lines[1::2])]


def _call_sites(frames) -> list[tuple[int, dict]]:
    """The code that each frame is in: a call, where the frame goes on behind it."""
    found, was_call = [], False
    for frame in frames:
        was_call = was_call if frame["frame"] else False
        found.append((int(frame["ip"], 16) - was_call, frame))
        was_call = frame.get("how") in ("call", "icall", "syscall")
    return found


def _stacks_agree(context, path, vmlinux, shift: int) -> int:
    """What was inlined at each frame of a stack is what addr2line says."""
    text = dump.btsrec(context, "stack", "--lines", "--format", "jsonl", "--vmlinux", vmlinux, path)
    frames = [row for row in map(json.loads, text.splitlines()) if row["kind"] == "frame"]
    compared = 0
    for at, frame in _call_sites(frames):
        if at not in KERNEL_IMAGE or "line" not in frame:
            continue
        inlined = frame.get("inlined", [])
        names = [one["function"] for one in inlined]
        places = [f"{frame['file']}:{frame['line']}"] + \
            [f"{one['from_file']}:{one['from_line']}" for one in inlined]
        theirs = _inlined_of_addr2line(vmlinux, at - shift)
        if names != [name for name, _ in theirs[:-1]] or len(places) != len(theirs) or \
                not all(same(ours, place) for ours, (_, place) in zip(places, theirs)):
            raise Failure(f"{at - shift:#x} is {list(zip(names, places))}, "
                          f"but addr2line says {theirs}")
        compared += len(inlined)
    if not compared:
        raise Failure("no function is inlined in any frame: nothing to compare")
    return compared


def _of_gdb(vmlinux, addresses) -> dict[int, str]:
    """The files alone: gdb prints the line of the last statement that begins before."""
    commands = [word for at in addresses
                for word in ("-ex", f"echo @{at:#x} \\n", "-ex", f"info line *{at:#x}")]
    found = {}
    for at, text in re.findall(r"^@(0x[0-9a-f]+) \n(.*)$",
                               _run(["gdb", "-nx", "-batch", *commands, vmlinux]), re.M):
        place = re.match(r'Line \d+ of "(.*?)"', text)
        found[int(at, 16)] = place.group(1) if place else "??"
    return found


def same(printed: str, place: str) -> bool:
    """The tools put the folder of the compilation before a file or not."""
    if not printed:
        return place.endswith((":0", ":?"))
    return place == printed or place.endswith(f"/{printed}") or printed.endswith(f"/{place}")


def compare(context, path, vmlinux, shift: int):
    """Every different address of the kernel's image has the line that addr2line says.

    Of a function that is out of line in a file which includes it, binutils 2.40 names that
    file with the line of the header: where it differs, the file has to be gdb's.
    """
    printed = _printed(context, path, vmlinux)
    theirs = of_addr2line(vmlinux, [at - shift for at in sorted(printed)])
    differ = {at: place for at, place in printed.items() if not same(place, theirs[at - shift])}
    files = _of_gdb(vmlinux, [at - shift for at in sorted(differ)])
    wrong = [f"  0x{at - shift:x}: {place or 'none'}, but addr2line says {theirs[at - shift]} "
             f"and gdb {files.get(at - shift)}"
             for at, place in sorted(differ.items())
             if not same(place, f"{files.get(at - shift)}:{theirs[at - shift].split(':')[-1]}")]
    if wrong:
        raise Failure(f"{len(wrong)} of {len(printed)} lines differ\n" + "\n".join(wrong[:20]))
    lines = sum(1 for place in printed.values() if place)
    if lines < len(printed) // 2 or not lines:
        raise Failure(f"{lines} of {len(printed)} addresses have lines: nothing to compare")
    calls = sum(_calls_agree(context, path, vmlinux, command, printed) for command in
                (["summary"], ["calls", "--lines", "--count", "40"]))
    inlined = _stacks_agree(context, path, vmlinux, shift)
    context.say(f"source lines: {inlined} inlined calls of stacks as addr2line has them")
    context.say(f"source lines: {calls} calls have them as text and as JSON")
    context.say(f"source lines: {len(printed)} different addresses, {lines} with lines; "
                f"{len(printed) - len(differ)} as addr2line has them, in {len(differ)} "
                "others the file is gdb's, and the number addr2line's")

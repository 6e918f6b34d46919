# SPDX-License-Identifier: GPL-2.0-or-later
"""Stock gdb, connected to "btsrec gdbserver", prints the same history as btsrec.

The user part of one process: the instructions of "record instruction-history" are those
of "btsrec insns", in the same order, and the calls of "record function-call-history /c"
are those of "btsrec calls". A whole CPU: the same instructions, where gdb has a gap for
user code of other processes; and each straight run begins in a function that btsrec
calls by the same name as gdb, which takes it from vmlinux. Where they differ, gdb has the
function of the debug information around a label or without the compiler's suffix (a
".isra.0"), or another name of the same address: then gdb's name is true, too. Going back
step by step from the end meets the newest instructions in reverse.

The CPU that panicked, by System.map's address of panic(): there gdb prints what RDI points to, and
the words at the stack pointer. Before that console output has paused the recorder. On the way back
from the end each register has the value that "btsrec insns --values" prints, and is not available
where that does not know it.
"""

import json
import re
import subprocess

import dump
import walker
from errors import Failure, Skip

SUMMARY = "gdb's instruction and call history of a dump are those of btsrec"

KERNEL_KVA = 1 << 63
NR_STEPS = 20
INSN = re.compile(r"^\d+\t(?:=>|\s)*0x([0-9a-f]+)(?: <([^>+]+)\+(\d+)>)?:")
GAP = re.compile(r"^\d*\t?\s*\[decode error")
CALL = re.compile(r"^\d+\t( *)(\S+)")
MIN_USER_INSNS = 5_000
MIN_CALLS = 500
PANIC_CPU = 1
MIN_VALUE_STEPS = 100
MAX_VALUE_STEPS = 5_000
MIN_VALUES = 20
GENERAL = "rax rcx rdx rbx rsp rbp rsi rdi r8 r9 r10 r11 r12 r13 r14 r15".split()


def add_options(parser):
    parser.add_argument("--ring-bytes", default="128K", metavar="SIZE", help="ring (128K)")
    parser.add_argument("--keep", action="store_true", help="keep the dump")
    parser.add_argument("--again", action="store_true",
                        help="no machine: compare what --keep has kept once more")


def _gdb(context, path, program, server: list, commands: list[str],
         record=("record btrace bts",)) -> list[str]:
    """What gdb prints for each of COMMANDS, after "record btrace bts"."""
    words = " ".join(str(word) for word in [context.btsrec, "gdbserver", *server, path])
    setup = ["set pagination off", "set confirm off", "set width 0", "set print symbol on",
             "set remotetimeout 120", "set record instruction-history-size unlimited",
             "set record function-call-history-size unlimited", *program,
             f"target remote | {words}", *record]
    marked = [line for command in commands for line in ("echo @@@@\\n", command)]
    arguments = [word for line in setup + marked for word in ("-ex", line)]
    try:
        done = subprocess.run(["gdb", "-nx", "-batch", *arguments], capture_output=True,
                              text=True, timeout=context.seconds(300), check=False)
    except FileNotFoundError as error:
        raise Skip("gdb is not installed") from error
    parts = done.stdout.split("@@@@\n")
    if done.returncode or len(parts) != len(commands) + 1:
        raise Failure(f"gdb: exit {done.returncode}\n{done.stderr[-2000:]}{done.stdout[-500:]}")
    return parts[1:]


def _gdb_insns(text: str) -> list:
    """(address, function, offset) of each instruction; None for a gap."""
    found = []
    for line in text.splitlines():
        insn = INSN.match(line)
        if insn:
            found.append((int(insn[1], 16), insn[2], int(insn[3] or 0)))
        elif GAP.match(line) and found and found[-1] is not None:
            found.append(None)
    return found


def _ours(context, path, *options) -> list[dict]:
    text = dump.btsrec(context, "insns", "--raw-names", "--format", "jsonl", "--cpu",
                       str(walker.CPU), *options, path)
    return [json.loads(line) for line in text.splitlines()]


def _same(what: str, gdbs: list, ours: list):
    for place, (one, other) in enumerate(zip(gdbs, ours)):
        if one != other:
            raise Failure(f"{what} {place}: gdb has {one}, btsrec {other}; before: "
                          f"{gdbs[max(0, place - 3):place]}")
    if len(gdbs) != len(ours):
        raise Failure(f"{what}: gdb has {len(gdbs)}, btsrec {len(ours)}")


def _find_walker(items: list[dict]) -> dict:
    for item in items:
        if item["kind"] == "code" and item.get("comm") == "walker":
            return item
    raise Failure("the history of CPU 0 has no instruction of walker")


def _user_insns(items: list[dict], pid: int) -> list[int]:
    found, mine = [], False
    for item in items:
        if item["kind"] == "code":
            mine = item.get("pid") == pid
        elif item["kind"] == "insn" and mine and int(item["ip"], 16) < KERNEL_KVA:
            found.append(int(item["ip"], 16))
    return found


def _functions(program) -> dict[str, int]:
    """Addresses by name: one address may have several."""
    text = subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout
    rows = (line.split() for line in text.splitlines())
    return {row[2]: int(row[0], 16) for row in rows if len(row) == 3 and row[1] in "tTwWi"}


def _our_calls(context, path, pid: int, newest: int) -> list[int]:
    """Where the calls lead. gdb does not list one that did not run before the end."""
    text = dump.btsrec(context, "show", "--types", "--user", "--pid", str(pid), "--format",
                       "jsonl", "--cpu", str(walker.CPU), path)
    calls = [event for event in map(json.loads, text.splitlines())
             if event["kind"] == "branch" and event.get("type") in ("call", "icall")]
    if calls and int(calls[-1]["from"], 16) == newest:
        calls.pop()
    return [int(event["to"], 16) for event in calls]


def _gdb_calls(text: str, functions: dict[str, int]) -> list:
    """Each segment that lies one level deeper than the one before it."""
    found, before = [], None
    for line in text.splitlines():
        call = CALL.match(line)
        if not call:
            continue
        if before is not None and len(call[1]) > before:
            found.append(functions.get(call[2], call[2]))
        before = len(call[1])
    return found


def _check_user(context, path, program, items):
    pid = _find_walker(items)["pid"]
    server = ["--cpu", walker.CPU, "--pid", pid, "--user"]
    steps = ["reverse-stepi", "printf \"pc=%lx\\n\", $pc"] * NR_STEPS
    insns, calls, *stepped = _gdb(context, path, [f"file {program}"], server,
                                  ["record instruction-history",
                                   "record function-call-history /c", *steps])
    ours = _user_insns(items, pid)
    gdbs = [insn and insn[0] for insn in _gdb_insns(insns)]
    if len(ours) < MIN_USER_INSNS:
        raise Failure(f"only {len(ours)} instructions of walker: too few to judge")
    _same("instruction", gdbs, ours)
    mine = _our_calls(context, path, pid, ours[-1])
    if len(mine) < MIN_CALLS:
        raise Failure(f"only {len(mine)} calls of walker: too few to judge")
    _same("call", _gdb_calls(calls, _functions(program)), mine)
    backwards = [int(re.search("pc=([0-9a-f]+)", text)[1], 16) for text in stepped[1::2]]
    _same("step back", backwards, ours[:-NR_STEPS - 1:-1])
    context.say(f"user: {len(ours)} instructions, {len(mine)} calls and {NR_STEPS} steps back "
                "are the same in gdb")


def _whole_cpu(items: list[dict], pid: int) -> tuple[list, dict[int, str]]:
    """Addresses as gdb should have them, None for a gap; and names where runs begin."""
    found, names, owner, begins = [], {}, None, None
    for item in items:
        if item["kind"] == "code":
            owner, begins = item.get("pid"), item.get("ip_sym")
        elif item["kind"] == "insn":
            address = int(item["ip"], 16)
            if address >= KERNEL_KVA or owner == pid:
                if begins and address >= KERNEL_KVA and "[" not in begins:
                    names[len(found)] = begins.rsplit("+", 1)[0]
                found.append(address)
            elif found and found[-1] is not None:
                found.append(None)
            begins = None
        elif item["kind"] in ("break", "gap") and found and found[-1] is not None:
            found.append(None)
    return found, names


def _system_map(context) -> dict[str, int]:
    rows = (line.split() for line in context.os.system_map.read_text().splitlines())
    return {row[2]: int(row[0], 16) for row in rows}


def _shift(table: dict[str, int], items) -> int:
    """What KASLR has added: the distance of any name from its value in System.map."""
    for item in items:
        name, _, offset = item.get("ip_sym", "").rpartition("+0x")
        if item["kind"] == "code" and name in table and "]" not in offset:
            return int(item["ip"], 16) - int(offset, 16) - table[name]
    raise Failure("no straight run of the kernel begins at a name of System.map")


def _compare_names(table, shift, gdbs, names) -> int:
    """How many names differ; each that does must be true as well."""
    others = 0
    for place, ours in names.items():
        address, name, offset = gdbs[place]
        if name == ours:
            continue
        others += 1
        if name != ours.split(".")[0] and table.get(name) != address - offset - shift:
            raise Failure(f"0x{address:x} is {ours}, in gdb {name}+{offset}")
    return others


def _check_cpu(context, path, items):
    pid = _find_walker(items)["pid"]
    table = _system_map(context)
    shift = _shift(table, items)
    (insns,) = _gdb(context, path, [f"symbol-file {context.os.vmlinux} -o {shift:#x}"],
                    ["--cpu", walker.CPU], ["record instruction-history"])
    gdbs = _gdb_insns(insns)
    ours, names = _whole_cpu(items, pid)
    _same("instruction", [insn and insn[0] for insn in gdbs], ours)
    others = _compare_names(table, shift, gdbs, names)
    context.say(f"whole CPU: {sum(insn is not None for insn in gdbs)} instructions are the "
                f"same in gdb; of {len(names)} names of functions {others} are aliases in gdb")


def _registers(text: str) -> dict[str, int | None]:
    """Of "info registers"; None: not available."""
    rows = (line.split() for line in text.splitlines())
    return {row[0]: None if row[1] == "<unavailable>" else int(row[1], 16) for row in rows
            if len(row) > 1 and row[0] in (*GENERAL, "rip")}


def _known(item: dict) -> dict[str, int | None]:
    """The general registers that an instruction reads; None: the value is not certain."""
    return {operand["reg"]: int(operand["value"], 16) if operand["class"] == "certain" else None
            for operand in item.get("reads", []) if operand["reg"] in GENERAL}


def _newest_values(context, path) -> list[dict]:
    """Instructions from the end back: so many that enough registers are known.

    What an interrupt ran right before the panic has hardly any.
    """
    text = dump.btsrec(context, "insns", "--values", "--format", "jsonl", "--cpu", str(PANIC_CPU),
                       "-n", str(MAX_VALUE_STEPS), path)
    insns = [item for item in map(json.loads, text.splitlines()) if item["kind"] == "insn"]
    found, known = [], 0
    for item in insns[:-MAX_VALUE_STEPS - 1:-1]:
        found.append(item)
        known += sum(value is not None for value in _known(item).values())
        if known >= MIN_VALUES and len(found) >= MIN_VALUE_STEPS:
            return found
    raise Failure(f"only {known} registers are known in {len(found)} instructions")


def _check_steps(context, path):
    """Back from the end, with all registers at each step."""
    ours = _newest_values(context, path)
    steps = ["reverse-stepi", "info registers"] * len(ours)
    stepped = _gdb(context, path, [], ["--cpu", PANIC_CPU], steps, record=())
    known = 0
    for item, text in zip(ours, stepped[1::2], strict=True):
        registers = _registers(text)
        if registers["rip"] != int(item["ip"], 16):
            raise Failure(f"a step back leads to 0x{registers['rip']:x}, not to {item['ip']}")
        for reg, value in _known(item).items():
            if registers[reg] != value:
                raise Failure(f"at {item['ip']} {reg} is {value}, in gdb {registers[reg]}")
            known += value is not None
    context.say(f"CPU {PANIC_CPU}: {len(ours)} steps back, {known} registers that are known are "
                "the same in gdb")


def _check_pointer(context, path, items):
    """At the beginning of panic(): its format, and where it returns to.

    gdb asks for what a pointer leads to as a whole, so all of it must be known: constant data is.
    """
    table = _system_map(context)
    shift = _shift(table, items)
    at = table["panic"] + shift
    _, _, registers, words, text = _gdb(
        context, path, [f"symbol-file {context.os.vmlinux} -o {shift:#x}"],
        ["--cpu", PANIC_CPU],
        [f"break *{at:#x}", "reverse-continue", "info registers", "x/4gx $rsp",
         "print *(char (*)[5]) $rdi"], record=())
    if _registers(registers)["rip"] != at:
        raise Failure(f"gdb did not come back to panic: {registers}")
    returns = re.search(r":\s+0x([0-9a-f]+)", words)
    if not returns or not 0 < int(returns[1], 16) - shift - table["sysrq_handle_crash"] < 256:
        raise Failure(f"the word at the stack pointer is not where panic returns to: {words}")
    if '"sysrq"' not in text:
        raise Failure(f"gdb does not print what the argument points to: {text}")
    context.say("at a function it came back to, gdb prints what its argument points to, and the "
                "words of the stack")


def run(context):
    path, program = context.out / "dump", context.out / "walker"
    if not context.options.again:
        path, program = walker.make_dump(context, context.options.ring_bytes)
    items = _ours(context, path)
    _check_user(context, path, program, items)
    _check_cpu(context, path, items)
    _check_steps(context, path)
    _check_pointer(context, path, items)
    if not context.options.keep and not context.options.again:
        path.unlink()

# SPDX-License-Identifier: GPL-2.0-or-later
"""The score of the first page: every kind of crash, several boots, several kernels.

One machine has all crashes of a boot; after each it is what it was before. A cell is one crash:

reason     the verdict's rule and function are those of the kind
function   the page names the function that did it, of the CPU that failed
path       each caller is in a call trace that the kernel itself printed, in this order
thread     CPU and thread are those that the kernel names, and the owner of the lock
signature  there is one, it has the function that did it, and all boots have the same

"other" counts kernels with another signature than most. Two kernels may call by other ways.
"""

import json
from collections import Counter
from dataclasses import dataclass, field

import crashes
import guestos
import page
import table
import vm
from chosen import chosen
from errors import Failure

SUMMARY = "what the first page says of every kind of crash, as a score"

WANTED_PERCENT = 95
CHECKS = ("reason", "function", "path", "thread", "signature")

# These are about the recorder, not about the page, or change the kernel's code.
LEFT_OUT = ("annotating", "pausing", "arming", "held", "rearmed", "warn-uart", "printed-bug")
# Since v6.12 only a debugger writes to the code of init, if Debian configures it so.
WRITES_CODE = "proc_mem.force_override=always"
# What every processor of these years has: user memory is none of the kernel's.
KEEPS_APART = ",+smap,+smep"
KINDS = {name: kind for name, kind in crashes.KINDS.items() if name not in LEFT_OUT}


@dataclass
class Cell:
    """One crash.

    @faults: by check, why it is not right.
    """

    kind: str
    release: str
    text: str = ""
    signature: str = ""
    functions: list = field(default_factory=list)
    faults: dict = field(default_factory=dict)


def add_options(parser):
    parser.add_argument("--kinds", default="all", metavar="LIST",
                        help='"all", or some by comma: ' + ", ".join(KINDS))
    parser.add_argument("--kernels", nargs="+", default=["6.1"], choices=guestos.KERNELS)
    parser.add_argument("--boots", type=int, default=2, help="of each kernel (2)")
    parser.add_argument("--pti", action="store_true", help="with page-table isolation")
    parser.add_argument("--keep", action="store_true", help="keep the dumps")


def _script(kinds) -> str:
    cases = {}
    for name in kinds:
        kind = KINDS[name]
        trigger = kind.trigger.replace("ask monitor", f"ask monitor {name}")
        cases[name] = f"{kind.setup}\n{kind.prepare}\n{trigger}"
    return crashes.asked("", cases)


def _monitor(machine, name: str) -> str:
    command = KINDS[name.strip()].monitor
    return machine.qmp("human-monitor-command", **{"command-line": command}).strip() or "done"


def _cell(context, name: str, path, console: str) -> Cell:
    found = page.Page.of(context, path)
    kind = KINDS[name]
    signature = found.row("signature")
    faults = {"reason": page.verdict_fault(found, kind),
              "function": page.guilty_fault(found, kind) or page.elsewhere_fault(found, kind),
              "path": page.path_fault(found, kind, console),
              "thread": page.thread_fault(found, kind, console) or
              page.lock_fault(found, kind, console),
              "signature": page.signature_fault(found, kind)}
    return Cell(name, context.os.release, found.row("verdict").get("text", ""),
                signature.get("signature", ""), signature.get("functions", []),
                {check: fault for check, fault in faults.items() if fault})


def _boot(context, kinds, number: int) -> list[Cell]:
    """The cells of one boot."""
    modules = [*context.recorder_modules(), context.guest_module("btscrash"),
               context.guest_module("btsmisuse")]
    append = f"{vm.TIME_LEAPS} {WRITES_CODE}"
    if context.options.pti:
        append = append.replace("nopti", "pti=on")
    cells = []
    ends = {name: KINDS[name].end for name in kinds}
    with context.boot(_script(kinds), modules, name=f"boot-{context.os.release}-{number}",
                      answers={"monitor": _monitor}, append=append,
                      cpu=vm.CPU + KEEPS_APART) as machine:
        seen = 0
        for name in machine.each_end("kind", kinds, context.seconds(240), ends):
            path = context.out / f"dump-{context.os.release}-{number}-{name}"
            path.unlink(missing_ok=True)
            machine.dump(path)
            console = machine.console()
            said = console[seen:]
            seen = len(console)
            cells.append(_cell(context, name, path, said))
            _say(context, cells[-1], KINDS[name], said)
            if not context.options.keep:
                path.unlink()
        machine.quit()
    return cells


def _say(context, cell: Cell, kind, console: str):
    if kind.console not in console:
        cell.faults["reason"] = f'the kernel did not say "{kind.console}"'
    context.say(f"{cell.kind} {cell.release}: {cell.text or 'no verdict'} | {cell.signature}")
    for check, fault in cell.faults.items():
        context.say(f"  {check}: {fault}")


def _compare_boots(cells):
    """Signatures of one kind and kernel are the same."""
    first = {}
    for cell in cells:
        other = first.setdefault((cell.kind, cell.release), cell)
        if cell.signature != other.signature and "signature" not in cell.faults:
            cell.faults["signature"] = f"{cell.functions}, in another boot {other.functions}"


def _others(cells) -> dict[str, int]:
    """By kind: kernels whose signature is not the one of most."""
    by_kind = {}
    for cell in cells:
        by_kind.setdefault(cell.kind, {})[cell.release] = cell.signature
    return {kind: len(found) - Counter(found.values()).most_common(1)[0][1]
            for kind, found in by_kind.items()}


def _rows(cells):
    releases = list(dict.fromkeys(cell.release for cell in cells))
    others = _others(cells)
    yield ["kind", *releases, "other"]
    for name in dict.fromkeys(cell.kind for cell in cells):
        row = [name]
        for release in releases:
            of = [cell for cell in cells if (cell.kind, cell.release) == (name, release)]
            bad = sorted({check for cell in of for check in cell.faults})
            row.append(", ".join(bad) if bad else str(len(of)) if of else "-")
        yield [*row, str(others[name] or "")]


def run(context):
    names = chosen(context.options.kinds, KINDS)
    cells = []
    for kernel in context.options.kernels:
        there = context.with_kernel(kernel)
        kinds = [name for name in names if kernel in KINDS[name].kernels]
        for number in range(context.options.boots):
            cells += _boot(there, kinds, number)
    _compare_boots(cells)
    text = table.text(list(_rows(cells)))
    (context.out / "table").write_text(text + "\n", encoding="utf-8")
    (context.out / "cells").write_text("".join(json.dumps(vars(cell)) + "\n" for cell in cells),
                                       encoding="utf-8")
    print(text)
    right = sum(check not in cell.faults for cell in cells for check in CHECKS)
    percent = 100 * right / (len(cells) * len(CHECKS))
    wrong = [cell for cell in cells if "reason" in cell.faults and cell.text]
    context.say(f"{len(cells)} crashes, {percent:.1f} % of {len(cells) * len(CHECKS)} checks "
                f"right, {len(wrong)} wrong verdicts")
    if wrong:
        raise Failure("wrong: " + "; ".join(f"{cell.kind} {cell.release}: {cell.text}"
                                            for cell in wrong))
    if percent < WANTED_PERCENT:
        raise Failure(f"{percent:.1f} % are right, {WANTED_PERCENT} are wanted")

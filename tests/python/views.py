#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What the Python package gives is what btsrec prints as JSON Lines of the same dump.

usage: views.py --btsrec PROGRAM --mkimage PROGRAM VIEW

Each value becomes the line that the command prints of it, with all its members, but for those of
which the library gives no value (NOT_VALUES).
Exit status: 0: the same lines; 1: they differ and are printed.
"""

import argparse
import difflib
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import btsrec

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "golden"))
import golden  # noqa: E402

# The name of a system call and why there is no name; of instructions what entered, and the place.
NOT_VALUES = {"syscall", "from_why", "to_why", "ip_why", "min_from_freeze_ns", "max_from_freeze_ns"}
NOT_INSNS = {"insn": {"target_sym"}, "entry": {"type", "vector"}, "break": {"verdict", "at"}}


def address(number):
    return f"0x{number:016x}"


def word(member):
    return member.name.lower().replace("_", "-")


def symbol(name):
    """What JSON calls NAME_sym; NAME_why is the reason if there is none."""
    return str(name) if name.name else None


def side(value):
    return {"cr3": address(value.cr3), "pid": value.pid, "tgid": value.tgid, "comm": value.comm}


def thread(task):
    return {} if task is None else {"pid": task.pid, "tgid": task.tgid, "comm": task.comm}


def reason(number):
    return word(btsrec.Reason(number)).replace("-", " ")


def switch(event):
    return {"prev": side(event.sw.prev), "next": side(event.sw.next),
            "task": address(event.sw.next_task_kva), "tsc": event.sw.tsc,
            **({"what": "mm" if event.mm_only else "task"}
               if event.kind == btsrec.EventKind.SWITCH else {})}


def resume(value):
    return {"reason": reason(value.reason), "stop_tsc": value.stop_tsc, "now": side(value.now),
            "task": address(value.task_kva), "tsc": value.tsc}


def freeze(value):
    registers = {key: address(getattr(value, key)) for key in
                 ("ip", "sp", "bp", "cs", "rflags", "cr3", "stop_ip", "debugctl")}
    paused = {"paused": reason(value.pause_reason), "paused_tsc": value.pause_tsc} \
        if value.pause_reason else {}
    return {"reason": reason(value.reason), "via_nmi": bool(value.via_nmi), "pid": value.pid,
            "tgid": value.tgid, "comm": value.comm, "task": address(value.task_kva),
            "tsc": value.tsc, **registers, **paused}


def gap(value):
    slots = {"slots": value.nr_slots, "first_slot": value.slot} if value.nr_slots else {}
    return {"gap": word(value.kind), **slots, **(resume(value.resume) if value.resume else {})}


def event_members(event):
    if event.branch:
        return {"from": address(event.branch.from_), "to": address(event.branch.to),
                "predicted": bool(event.branch.flags & btsrec.BRANCH_PREDICTED)}
    if event.sw:
        return switch(event)
    if event.resume:
        return resume(event.resume)
    if event.freeze:
        return freeze(event.freeze)
    if event.gap:
        return gap(event.gap)
    if event.time:
        return {"tsc": event.time.tsc, "realtime_ns": event.time.realtime_ns,
                "boottime_ns": event.time.boottime_ns}
    return {"tsc": event.mark.tsc, "pid": event.mark.pid, "tgid": event.mark.tgid,
            "text": event.mark.text}


def event(value):
    return {"cpu": value.cpu, "n": value.n, "kind": word(value.kind), **event_members(value)}


def shown(value):
    return {**event(value.event), "type": value.type}


def log_line(value, from_freeze_ns=None):
    text = re.sub(r"\\(?:x(..)|(.))", lambda found: found[2] or chr(int(found[1], 16)),
                  value.text)
    return {"kind": "log", "seq": value.seq, "ts_ns": value.ts_nsec, "tsc": value.tsc,
            "from_freeze_ns": from_freeze_ns, "cpu" if value.by_cpu else "pid": value.caller,
            "text": text}


def moment(value):
    if value.log:
        return log_line(value.log, value.from_freeze_ns)
    line = event(value.event)
    if "tsc" not in line:
        line["after_tsc"] = value.tsc or None
    return {**line, "branches": value.nr_branches, "from_freeze_ns": value.from_freeze_ns}


def function(value):
    return {"kind": "function", "cpu": value.cpu, **thread(value.task), "function": value.name,
            "start": address(value.start_kva) if value.start_kva else None,
            "branches": value.nr_branches, "calls": value.nr_calls, "share_ppm": value.share_ppm}


def call(value):
    kind = btsrec.CallKind
    line = {"cpu": value.cpu, "n": value.n, "kind": word(value.kind)}
    if value.kind == kind.BREAK:
        return line
    line["level"] = value.level
    if value.kind == kind.THREAD:
        return {**line, **thread(value.task), "ip": address(value.from_va),
                "ip_sym": symbol(value.from_)}
    line |= {"from": address(value.from_va), "to": address(value.to_va),
             "from_sym": symbol(value.from_), "to_sym": symbol(value.to)}
    if value.kind in (kind.ENTER, kind.CYCLE):
        line |= {"branches": value.nr_branches, "last_n": value.last_n if value.ended else None}
        if value.ended and value.last_cpu != value.cpu:
            line["last_cpu"] = value.last_cpu
    if value.kind == kind.ENTER:
        line |= {"type": value.how, "vector": value.vector if value.vector >= 0 else None,
                 "complete": value.complete, "min_ns": value.min_ns, "max_ns": value.max_ns}
    if value.kind == kind.CYCLE:
        line["rounds"] = value.nr_rounds
    return line


def insn(value):
    kinds = {btsrec.InsnKind.EXECUTED: "insn", btsrec.InsnKind.ENTRY: "entry",
             btsrec.InsnKind.BREAK: "break"}
    line = {"kind": kinds[value.kind], "cpu": value.cpu, "n": value.n}
    place = address(value.ip_va)
    if value.kind == btsrec.InsnKind.EXECUTED:
        return {**line, "ip": place, "insn": value.text,
                "target": address(value.to_va) if value.to_va else None}
    if value.kind == btsrec.InsnKind.ENTRY:
        return {**line, "from": place, "to": address(value.to_va)}
    return {**line, "from": place, "to": address(value.to_va), "cause": value.why}


def executed(value):
    return {"kind": "executed", "ip": address(value.ip_va), "count": value.nr_times,
            "insn": value.text}


def frame(value):
    entered = {"entered_n": value.entered_n, "entered": address(value.entered_va)} \
        if value.entered else {}
    if value.entered and value.entered_cpu != value.cpu:
        entered["entered_cpu"] = value.entered_cpu
    return {"cpu": value.cpu, "n": value.n, "kind": "frame", "frame": value.number,
            "ip": address(value.ip_va), "ip_sym": symbol(value.ip), "how": value.how,
            "vector": value.vector if value.vector >= 0 else None, **entered,
            "gone": value.gone, "unreliable": value.unreliable,
            "in_memory": value.in_memory if value.looked else None}


def origin(value):
    line = {"cpu": value.cpu, "n": value.n, "kind": "candidate" if value.is_candidate else "origin",
            **thread(value.task), "insn": value.insn, "class": value.certainty, "end": value.end,
            "address": value.address_va}
    if value.ip:
        line |= {"ip": value.ip_va, "ip_sym": symbol(value.ip)}
    if not value.is_candidate:
        known = value.value_certainty != "unknown"
        line |= {"what": value.what, "reg": value.reg, "memory": value.memory_va,
                 "value": value.value if known else None, "value_class": value.value_certainty}
    return {key: address(item) if key in ("ip", "address", "memory", "value") and
            item is not None else item for key, item in line.items()}


def bound(value):
    return value if value != 2**64 - 1 else None


def found(value):
    if value.kind == btsrec.FoundKind.SEARCH:
        return {"kind": "search", "question": "last", "lines": value.nr_lines,
                "gaps": value.nr_gaps,
                "forgotten_cpu": value.cpu if value.has_forgotten else None,
                "forgotten_tsc": bound(value.max_tsc) if value.has_forgotten else None}
    return {"cpu": value.cpu, "n": value.n, "kind": "found", "question": "last",
            **thread(value.task), "branches": value.nr_branches, "to": address(value.to_va),
            "to_sym": symbol(value.to), "entered": value.entered, "open": value.open,
            "lost": value.lost, "after_fault": value.after_fault,
            "min_tsc": value.min_tsc or None, "max_tsc": bound(value.max_tsc),
            "last_n": bound(value.last_n),
            **({"from": address(value.from_va), "from_sym": symbol(value.from_)}
               if value.entered else {})}


def ring(value):
    page = value.page
    frozen = {"ip": address(page.freeze.ip), "pid": page.freeze.pid, "tgid": page.freeze.tgid,
              "comm": page.freeze.comm} if page.frozen else {}
    return {"cpu": page.cpu, "kind": "cpu", "ring_bytes": page.ring_bytes,
            "annotations": page.annot_end, "annotations_skipped": page.nr_annot_skipped, **frozen,
            "state": value.state, "reason": value.reason,
            "slots": value.nr_slots, "valid_slots": value.nr_valid_slots,
            "events": value.nr_events, "wrapped": value.wrapped,
            "loss": {word(loss.kind): loss.nr_slots for loss in value.losses}}


def proof(value):
    def first(pair):
        return None if pair is None else {
            key: item for key, item in {
                "n": pair.n, "cause": pair.cause, "start": address(pair.start_va),
                "at": address(pair.fault_va), "likely": pair.likely,
                **({"stop": address(pair.from_va)} if pair.is_stop else
                   {"from": address(pair.from_va), "to": address(pair.to_va)})}.items() if item is not None}

    return {"cpu": value.cpu, "kind": "proof", "kernel_proven": value.nr_kernel_proven,
            "user_proven": value.nr_user_proven, "unknown": value.nr_unknown,
            "patched": value.nr_patched, "broken": value.nr_broken,
            "filtered": value.nr_filtered, "instructions": value.nr_insns,
            "file_pages": value.nr_file_pages, "stop_proven": value.stop_proven,
            "first_unknown": first(value.unknown), "first_patched": first(value.patched),
            "first_broken": first(value.broken)}


def compared(value):
    kind = btsrec.ComparedKind
    if value.kind in (kind.A, kind.B):
        return {"kind": "diff"}
    if value.kind == kind.SAME:
        return {"kind": "same", "a_n": value.a_n, "b_n": value.b_n, "function": value.function}
    return {"kind": "only", "side": "a" if value.kind == kind.ONLY_A else "b",
            "n": value.a_n if value.kind == kind.ONLY_A else value.b_n,
            "function": value.function}


def digest(value):
    kind = btsrec.DigestKind
    if value.kind == kind.VERDICT:
        return {"cpu": value.cpu, "kind": "verdict", "verdict": value.verdict,
                "text": value.sentence, "access": value.access, "ip_sym": symbol(value.ip),
                "ip": address(value.ip_va) if value.ip_va else None,
                "address": None if value.address_va is None else address(value.address_va)}
    if value.kind == kind.OPERAND:
        held = None if value.address_va is None else address(value.address_va)
        return {**origin(value.origin), "kind": "operand", "text": value.sentence,
                "operand": value.operand, "operand_value": held}
    if value.kind == kind.FAULT:
        return {"cpu": value.cpu, "kind": "signature", "reason": value.reason,
                "signature": value.signature, "why": value.no_signature,
                "complete": value.complete if value.signature else None,
                "functions": list(value.functions) or None}
    if value.kind in (kind.FRAME, kind.MEMORY):
        return {"cpu": value.cpu, "kind": word(value.kind), "type": value.how,
                "vector": value.vector if value.vector >= 0 else None, "ip": address(value.ip_va),
                "ip_sym": symbol(value.ip)}
    if value.kind == kind.CPU:
        page = value.page
        return {"cpu": value.cpu, "kind": "doing", "reason": value.reason,
                "first_fault": value.first_fault, "branches": value.nr_branches,
                "state": btsrec.CpuState(page.state).name.lower(),
                **({"via_nmi": bool(page.freeze.via_nmi), "pid": page.freeze.pid,
                    "tgid": page.freeze.tgid, "comm": page.freeze.comm} if page.frozen else {})}
    if value.kind == kind.SWITCH:
        return event(value.event)
    if value.kind == kind.LOG:
        return log_line(value.log)
    return call(value.call)


NAMED = {"events", "show", "timeline"}
# View: golden cases, command line, options of the method, kinds of lines, and what makes a line.
VIEWS = {
    "events": ("stack events", ["show"], {}, None, event),
    "show": ("insns", ["show", "--types", "--type", "call,jmp"],
             {"types": True, "filter_types": "call,jmp"},
             ("branch",), shown),
    "timeline": ("functions events kernel-log", ["timeline"], {}, None, moment),
    "functions": ("functions", ["functions", "--by", "task"], {"by": btsrec.By.TASK},
                  ("function",), function),
    "calls": ("calls calls-spin", ["calls"], {}, ("enter", "return", "astray", "resume", "thread",
                                                  "lost", "cycle"), call),
    "insns": ("insns", ["insns"], {}, ("insn", "entry", "break"), insn),
    "coverage": ("coverage", ["coverage"], {"function": "looper"}, ("executed",), executed),
    "stack": ("stack", ["stack"], {}, ("frame",), frame),
    "search": ("last", ["last"], {"question": btsrec.Question.LAST, "what": "helper"}, None, found),
    "why": ("why", ["why"], {}, None, origin),
    "info": ("full gap-not-in-dump stopped", ["info"], {}, ("cpu",), ring),
    "check": ("check-annotations check-counters cpu-missing", ["check"], {}, None, None),
    "prove": ("prove-faults prove-missing patched", ["prove"], {}, None, proof),
    "summary": ("summary kernel-log verdict-null", ["summary"], {}, None, digest),
    "diff": ("diff", ["diff"], {}, ("same", "only"), compared),
}


def given(view, folder, system_map):
    """A line for each value that the package gives, of all CPUs."""
    _, _, options, _, make = VIEWS[view]
    with btsrec.open(folder / "dump", system_map=system_map, dump_names=view == "check") as dump:
        if view == "events":
            values = [value for cpu in dump.cpus for value in dump.events(cpu)]
        elif view == "diff":
            with btsrec.open(folder / "other", system_map=system_map, dump_names=False) as other:
                values = dump.diff(other)
        else:
            values = getattr(dump, view)(**options)
        lines = [(make or checked)(value) for value in values]
        return [named(dump, line) for line in lines] if view in NAMED else lines


def named(dump, line):
    """With the names of the addresses, which are no part of an event."""
    for key in ("from", "to", "ip"):
        found = dump.resolve(int(line[key], 16)) if key in line else None
        if found:
            line[f"{key}_sym"] = f"{found.name}+{found.offset_bytes:#x}"
    return line


def lines_of(args, folder, names, form):
    """What the command prints."""
    command = VIEWS[args.view][1]
    more = {"coverage": ["looper"], "diff": ["other"], "search": ["helper"]}.get(args.view, [])
    done = subprocess.run([args.btsrec, *command, *names, *form, "dump", *more], cwd=folder,
                          stdout=subprocess.PIPE, check=False)
    return done.stdout.decode().splitlines()


def parts(view, line):
    """A line of JSON, and the values that it has in it."""
    if view == "insns":
        line = {key: line[key] for key in line.keys() - NOT_INSNS.get(line["kind"], set())}
    if view == "summary" and line["kind"] == "log":
        line.pop("from_freeze_ns", None)
    stacks = {"frame": line.pop("stack", []), "memory": line.pop("memory_stack", [])} \
        if line.get("kind") == "doing" else {}
    yield line
    for kind, stack in stacks.items():
        for part in stack:
            yield {"cpu": line["cpu"], "kind": kind, **part}


def checked(value):
    """A line of check, which is text only."""
    about = f"CPU {value.cpu}: " if value.cpu is not None else ""
    return f"{'fault' if value.fault else 'note '} {about}{value.text}"


def reduced(line):
    keys = {key for key, item in line.items() if item is not None} - NOT_VALUES
    return {key: line[key] for key in sorted(keys)}


def is_same(args, case_name):
    _, _, _, kinds, make = VIEWS[args.view]
    case = golden.Case(pathlib.Path(golden.__file__).parent / f"{case_name}.in")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        golden.make_folder(case, folder, args.mkimage)
        if (folder / "other.in").exists():
            subprocess.run([args.mkimage, "other"], cwd=folder, check=True,
                           input=(folder / "other.in").read_bytes())
        is_text = make is None
        has_map = (folder / "map").exists() and not is_text
        names = (["--system-map", "map"] if has_map else []) + ([] if is_text else ["--no-names"])
        lines = lines_of(args, folder, names, [] if is_text else ["--format", "jsonl"])
        values = given(args.view, folder, str(folder / "map") if has_map else None)
    if is_text:
        want = [line for line in lines if "checked, " not in line]
        got = values
    else:
        def is_wanted(line):
            if line["kind"] == "log":
                return "seq" in line
            return line["kind"] in kinds if kinds else line["kind"] != "fault"

        want = [reduced(part) for line in filter(is_wanted, map(json.loads, lines))
                for part in parts(args.view, line)]
        got = [reduced(line) for line in values if is_wanted(line)]
    if not want:
        raise SystemExit(f"{args.view} prints nothing of {case_name} to compare with")
    want, got = ([line if is_text else json.dumps(line, sort_keys=True) for line in lines]
                 for lines in (want, got))
    for line in difflib.unified_diff(want, got, "btsrec", "Python", lineterm=""):
        print(line)
    return want == got


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--btsrec", required=True)
    parser.add_argument("--mkimage", required=True)
    parser.add_argument("view", choices=VIEWS)
    args = parser.parse_args()
    sys.exit(not all([is_same(args, name) for name in VIEWS[args.view][0].split()]))


if __name__ == "__main__":
    main()

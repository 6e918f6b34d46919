# SPDX-License-Identifier: GPL-2.0-or-later
"""The first page of a dump, beside what the kind of crash and the kernel's own log say."""

import json
import re
from dataclasses import dataclass

import dump
from crashes import Kind

# What is left of them where the thread's stack may have been used again.
WEAKER = {"null-pointer": "page-fault", "non-canonical-address": "general-protection"}
TRACE = re.compile(r"Call Trace:\n(.*?)"
                   r"(?=\n(?:Modules linked in|Kernel Offset|Call Trace|CPU: |---\[)|\Z)",
                   re.DOTALL)
FRAME = re.compile(r"(\? )?\b([\w.]+)\+0x[0-9a-f]+/0x[0-9a-f]+")
# What a stack that is whole begins with.
FIRST_FRAME = re.compile(r"entry_|ret_from_fork|asm_|end_repeat_nmi|secondary_startup")
KERNEL_HALF = "0xffff800000000000"
STAMP = re.compile(r"^\[[ 0-9.]+\](?:\[[ TC0-9]+\])? ?", re.MULTILINE)
WHO = re.compile(r"CPU: (\d+) (?:UID: \d+ )?PID: (\d+) Comm: (.*?) (?:Not tainted|Tainted|Kdump)")
OWNER = re.compile(r"INFO: task .*:(\d+) is blocked on an? .* owned by task (?:.*):(\d+)\.")
BLOCKED = re.compile(r"INFO: task (.*):(\d+) blocked")


@dataclass
class Page:
    """The summary of a dump, as text and as rows of JSON Lines."""

    text: str
    rows: list

    @classmethod
    def of(cls, context, path) -> "Page":
        lines = dump.btsrec(context, "summary", "--format", "jsonl", path, ok=(0, 1)).splitlines()
        return cls(dump.btsrec(context, "summary", path, ok=(0, 1)), list(map(json.loads, lines)))

    def row(self, kind: str) -> dict:
        return next((row for row in self.rows if row["kind"] == kind), {})

    def of_failed(self) -> str:
        """What it says of the CPU that failed, which is the first."""
        return self.text.split("\nCPU ")[1]

    def paths(self) -> list[list[str]]:
        """The kernel functions that called there, the innermost first: of the history, and of the
        stack in memory."""
        return [[_function(frame["ip_sym"]) for frame in frames
                 if frame["type"] in ("call", "icall") and frame["ip"] >= KERNEL_HALF
                 and "ip_sym" in frame]
                for frames in (self.row("doing").get("stack", []),
                               self.row("verdict").get("memory_stack", []))]

    def names(self) -> bool:
        return "no names; --system-map" not in self.text


def _function(place: str) -> str:
    """Without what gcc adds to a part of a function: .cold; that lies before it, or behind."""
    return re.split(r"[+-]0x|\.", place)[0]


def verdict_fault(page: Page, kind: Kind) -> str:
    """Why the verdict is not the one of KIND; empty if it is, or KIND has none."""
    found = page.row("verdict")
    if not kind.verdict:
        return ""
    if not found:
        return "the summary has no verdict"
    for wanted in kind.verdict.split(" or "):
        rule, *function = wanted.split()
        rules = [rule, WEAKER.get(rule)] if kind.survives else [rule]
        if found["verdict"] in rules and \
                (not function or _function(found.get("ip_sym", "")) == function[0]):
            return says_fault(found, kind)
    return f"the verdict is not {kind.verdict}: {found}"


def says_fault(found: dict, kind: Kind) -> str:
    """Why the sentence of the verdict is not that of KIND."""
    if re.search(kind.says, found["text"]):
        return ""
    return f"the verdict does not say {kind.says}: {found['text']}"


def guilty_fault(page: Page, kind: Kind) -> str:
    """Why the page does not name the function that did it, of the CPU that failed."""
    if kind.guilty and not re.search(rf"\b{kind.guilty}\b", page.of_failed()):
        return f"the first page does not name {kind.guilty}:\n{page.of_failed()}"
    return ""


def elsewhere_fault(page: Page, kind: Kind) -> str:
    """Why the page does not name what another CPU does, or had run of the module."""
    if kind.doing and not re.search(kind.doing, page.text):
        return f"no other CPU is {kind.doing}: {page.text}"
    found = page.text.partition("\nWhat other CPUs had run of ")[2]
    if not kind.elsewhere or "all that has a time is newer than the fault" in page.text or \
            re.search(kind.elsewhere, found):
        return ""
    return f"other CPUs: {found or page.text}"


def _traces(console: str) -> list[list[str]]:
    """The call traces that the kernel printed; without the words of a stack that it doubts, unless
    it doubts all."""
    found = []
    for trace in TRACE.findall(STAMP.sub("", console)):
        frames = [(_function(name), not doubt) for doubt, name in FRAME.findall(trace)]
        sure = [name for name, is_sure in frames if is_sure]
        found.append(sure or [name for name, _ in frames])
    return list(filter(None, found))


def _is_within(callers: list[str], trace: list[str]) -> bool:
    """Are CALLERS among the frames of TRACE, in this order? The kernel may have lost its way."""
    frames = iter(trace)
    missing = next((caller for caller in callers if caller not in frames), None)
    return missing is None or (missing not in trace and callers[0] in trace
                               and not any(map(FIRST_FRAME.match, trace)))


def lock_fault(page: Page, kind: Kind, console: str) -> str:
    """Why the lines on locks are not those of KIND, or not what the kernel says (since v6.16)."""
    lines = "\n".join(re.findall("^locks: .*", page.text, re.MULTILINE))
    if not re.search(kind.locks, lines, re.MULTILINE):
        return f"the locks are not {kind.locks}: {lines}"
    owners = {row["pid"]: row.get("owner_pid") for row in page.rows if row["kind"] == "lock"}
    for pid, owner in OWNER.findall(console):
        if owners.get(int(pid), int(owner)) != int(owner):
            return f"the owner is {owners[int(pid)]}, the kernel says {owner}"
    return ""


def path_fault(page: Page, kind: Kind, console: str) -> str:
    """Why the callers on the page are none that a trace of the kernel has.

    Of CPUs that panic together the kernel lets one print, which need not be the first.
    """
    traces = _traces(console)
    for callers in page.paths():
        if callers and traces and not kind.together and \
                not any(_is_within(callers, trace) for trace in traces):
            return f"callers {callers}, but the kernel's traces are {traces}"
    return ""


def thread_fault(page: Page, kind: Kind, console: str) -> str:
    """Why the thread or CPU is not one that the kernel names: of hung tasks there may be several."""
    blocked = [pid for _, pid in BLOCKED.findall(console)]
    if blocked:
        text = page.row("verdict").get("text", "")
        return "" if any(text.startswith(f"thread {pid} ") for pid in blocked) else \
            f"tasks {blocked} hung, not: {text}"
    said = {(int(cpu), int(pid)) for cpu, pid, _ in WHO.findall(console)}
    doing = page.row("doing")
    found = doing.get("cpu"), doing.get("pid")
    if not said or kind.together or found in said:
        return ""
    return f"CPU and thread {found}, the kernel says {said}"


def signature_fault(page: Page, kind: Kind) -> str:
    """Why there is no signature with the function that did it, or with the one that the verdict
    names: one that left by a jump is in no stack."""
    functions = [_function(one.split(" ")[0]) for one in page.row("signature").get("functions", [])]
    if kind.verdict == "machine-check":
        return f"it interrupted what is not its cause: {functions}" if functions else ""
    if not functions:
        return "no signature"
    if kind.guilty and not {kind.guilty, *kind.verdict.split()} & set(functions):
        return f"the signature has no {kind.guilty}: {functions}"
    return ""

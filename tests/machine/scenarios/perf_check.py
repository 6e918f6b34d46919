# SPDX-License-Identifier: GPL-2.0-or-later
"""The model against software that this project did not write.

The guest kernel's own intel_bts driver programs the modelled BTS, and perf decodes what
it stored: "perf record --per-thread -e intel_bts//u", then "perf script". Both what perf
stored (its raw dump, with the "predicted" bit) and what perf decoded must equal the
model's log, record for record. perf decodes all but the newest record of each buffer
that it read out (tools/perf/util/intel-bts.c stops while more than one record is left):
exactly those are missing in the second comparison, nothing else.

The model cannot raise the interrupt for a full buffer; the kernel drains at each context switch
instead, and a full buffer stops recording, in the guest and in the log alike. So the workload is a
program that sleeps often.
"""

import re

import programs
import truth
import vm
from errors import Failure

SUMMARY = "perf and the kernel's own BTS driver see what the model logged"

# perf and the program share CPU 0, so that one log holds the whole trace.
SHELL = """
[ -d /sys/bus/event_source/devices/intel_bts ] || fail "the kernel has no intel_bts"
cd /tmp
feed() {
	until pidof wc >/dev/null; do usleep 50000; done
	for i in 1 2 3 4 5 6 7 8; do
		usleep 300000
		head -c 1500 /bin/busybox
	done
}
trace() {
	feed | taskset 1 perf record --per-thread -m ,256 -e intel_bts//u -o perf.data wc
}
send_trace() {
	perf script --itrace=b -F ip,addr -i perf.data >decoded 2>script.errors ||
		fail "perf script"
	perf script -D -i perf.data >raw 2>raw.errors || fail "perf script -D"
	send raw
	send decoded
}
"""
SCRIPT = SHELL + """
trace || fail "perf record"
send_trace
"""

DECODED = re.compile(r"^\s*([0-9a-f]+) =>\s+([0-9a-f]+)\s*$")
RAW = re.compile(r"^\.\s+[0-9a-f]{8}:\s+(?:[0-9a-f]{2} ){24}"
                 r"([0-9a-f]+) -> ([0-9a-f]+) (pred|miss)$")
BUFFER = re.compile(r"PERF_RECORD_AUXTRACE size:")

# Fewer would not show the loss of the newest record at more than one place.
MIN_BUFFERS = 3
MIN_RECORDS = 10_000


def _raw_buffers(text: str) -> list[list[truth.Branch]]:
    """What each read-out of perf held. All-zero records are the driver's padding."""
    buffers = []
    for line in text.splitlines():
        if BUFFER.search(line):
            buffers.append([])
        found = RAW.match(line)
        if found:
            branch = truth.Branch(int(found[1], 16), int(found[2], 16), found[3] == "pred")
            buffers[-1].append(branch)
    return buffers


def _is_padding(branch: truth.Branch) -> bool:
    return not branch.source and not branch.target


def _decoded(text: str) -> list[tuple[int, int]]:
    pairs = []
    for line in filter(str.strip, text.splitlines()):
        found = DECODED.match(line)
        if found:
            pairs.append((int(found[1], 16), int(found[2], 16)))
        elif "Lost trace data" not in line:
            raise Failure(f"perf script says: {line.strip()}")
    return pairs


def _same(what: str, found: list, expected: list, show=str):
    for place, (one, other) in enumerate(zip(found, expected)):
        if one != other:
            raise Failure(f"{what}: record {place} is {show(one)}, not {show(other)}")
    if len(found) != len(expected):
        raise Failure(f"{what}: {len(found)} records, not {len(expected)}")


def _show_pair(pair) -> str:
    return f"0x{pair[0]:x} -> 0x{pair[1]:x}"


def compare(context, machine):
    """What perf has recorded equals the whole of the model's log so far."""
    logs = [truth.Log(machine.model_dir / f"cpu{cpu}.log") for cpu in range(context.options.cpus)]
    if any(log.total for log in logs[1:]):
        raise Failure("branches were recorded on a CPU where the program did not run")
    expected = [logs[0].branch(age) for age in reversed(range(logs[0].retained()))]
    buffers = [buffer for buffer in _raw_buffers(machine.files["raw"].decode()) if buffer]
    if len(buffers) < MIN_BUFFERS or len(expected) < MIN_RECORDS:
        raise Failure(f"{len(buffers)} buffers and {len(expected)} records: too few to judge")
    stored = [branch for buffer in buffers for branch in buffer if not _is_padding(branch)]
    _same("what the driver stored", stored, expected)
    kept = [(branch.source, branch.target) for buffer in buffers for branch in buffer[:-1]
            if not _is_padding(branch)]
    _same("what perf decoded", _decoded(machine.files["decoded"].decode()), kept, _show_pair)
    context.say(f"{len(stored)} records in {len(buffers)} buffers: the driver's equal the log; "
                f"perf decoded {len(kept)}, all but the newest of each buffer")


def boot(context, script: str, *modules, files=(), plugin_more=None, **more):
    """A machine with performance monitoring, so that perf's driver is alive, and perf."""
    return context.boot(script, modules, files=[*programs.files("linux-perf", "usr/bin/perf"),
                                                *files],
                        plugin_args={"perfmon": 1, **(plugin_more or {})}, cpu=vm.CPU + ",level=13",
                        memory_mib=max(context.options.memory, 768), **more)


def run(context):
    machine = boot(context, SCRIPT)
    with machine:
        machine.expect_finish(context.seconds(180))
        machine.quit()
        compare(context, machine)

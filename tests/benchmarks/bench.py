# SPDX-License-Identifier: GPL-2.0-or-later
"""What the benchmarks stand on: a release build, inputs that are made once, ways to measure."""

import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(SOURCE / "tests/machine"))

import dump as dumps  # noqa: E402
import perfdata  # noqa: E402
import scale  # noqa: E402

MACHINE_BUILD = SOURCE / "build/dev"
NR_FUNCTIONS = 50000
KERNEL_BASE = 0xffffffff81000000
USER_BASE = 0x400000
MAX_RING = 5_000_000
LARGE_RING, LARGEST_RING = "16M", "64M"
RECORD_BYTES = 24
LARGEST_RING_RECORDS = (64 << 20) // RECORD_BYTES
# By an NMI, as all CPUs but one are where a machine panics.
STOPPED = "freeze reason=panic via_nmi=1 tsc=90\n"
# Longer where more has to be recorded until the rings are full.
GUEST = """
(while :; do seq 1 300 | sort -n | md5sum >/dev/null; done) &
(while :; do cat /proc/self/maps /proc/interrupts | wc -l >/dev/null; done) &
(while :; do usleep 700; done) &
(while :; do ls -l /sys/kernel /dev >/dev/null; usleep 3000; done) &
sleep %d
echo c >/proc/sysrq-trigger
"""
GUEST_SECONDS = {"1M": 2, "16M": 2, "64M": 8}

# A program that computes, and needs neither memory nor the system.
COMPUTING = (sys.executable, "-I", "-S", "-c", "for i in range(8_000_000): pass")


def from_disk(path: Path):
    """Have the cache hold PATH as it has a dump after the reboot: in the large pieces in which a
    file is read, not in the pages in which it was written."""
    with open(path, "rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        while file.read(1 << 20):
            pass


def call(*command, stdin=None, **more):
    done = subprocess.run([str(word) for word in command], stdin=stdin or subprocess.DEVNULL,
                          check=False, **more)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}: exit {done.returncode}")
    return done


class _PrivateMemory:
    """The most memory of its own that a process has had, looked at 50 times a second."""

    def __enter__(self):
        self.most_kib = 0
        self._pid = 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        self._thread.join()

    def watch(self, pid: int):
        self._pid = pid

    def _run(self):
        while not self._stop.wait(0.02):
            try:
                text = Path(f"/proc/{self._pid}/status").read_text() if self._pid else ""
            except (FileNotFoundError, ProcessLookupError):
                continue
            found = re.search(r"RssAnon:\s*(\d+) kB", text)
            self.most_kib = max(self.most_kib, int(found[1]) if found else 0)


def _peak_kib(usage):
    """A process begins with the peak of the one that started it, which is this script: of one
    that has not had more nothing is known."""
    own_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return usage.ru_maxrss if usage.ru_maxrss > own_kib else None


def _median_kib(peaks):
    return None if None in peaks else statistics.median(peaks)


def mib(kib) -> str:
    """Of a process that ended before anybody looked nothing is known, either."""
    return f"{kib / 1024:.0f} MiB" if kib else "-"


class Bench:
    """Where things are, and what was measured."""

    def __init__(self, options):
        self.options = options
        self.out = Path(options.build).resolve()
        self.out.mkdir(parents=True, exist_ok=True)
        self.rows = []
        self.good = (0, 1)
        # In memory, for a disk would set the pace: of each command that runs at a time.
        self.outputs, self.output_bytes = [], 0
        self.walk = self.out / "walk"
        self._build()

    def _build(self):
        """A release build of the decoder: what a package has."""
        call("cmake", "-S", SOURCE, "-B", self.out / "decoder", "-DCMAKE_BUILD_TYPE=Release",
             "-DBTSREC_KMOD=OFF", "-DBTSREC_CRASH_EXT=OFF", stdout=subprocess.DEVNULL)
        call("cmake", "--build", self.out / "decoder", "-j2", "--target", "btsrec-cli", "mkimage",
             stdout=subprocess.DEVNULL)
        self.btsrec = self.out / "decoder/decoder/cli/btsrec"
        self.mkimage = next(path for path in (self.out / "decoder").rglob("mkimage")
                            if path.is_file() and os.access(path, os.X_OK))
        call("gcc", "-O2", "-o", self.walk, SOURCE / "tests/benchmarks/walk.c")

    # --- inputs ---

    def crash_dump(self, ring_bytes="1M") -> Path:
        """A panic of the emulated machine with such rings as "makedumpfile -d 31" leaves it."""
        path, whole = self.out / f"dump-31-{ring_bytes}", self.out / "dump-whole"
        if self.options.dump and ring_bytes == "1M":
            return Path(self.options.dump)
        if not path.exists():
            self._make_crash_dump(path, whole, ring_bytes)
        from_disk(path)
        return path

    def _recorder(self) -> Path:
        """The module for the guest. In build/dev it is made, with the emulated CPU; another
        folder has both."""
        build = Path(self.options.machine_build).resolve()
        if build == MACHINE_BUILD:
            call("bash", "-c", ". tests/lib/setup.sh && build_preset dev btsrec_kmod btsmodel",
                 cwd=SOURCE, stdout=subprocess.DEVNULL)
        return build / "kmod/module/btsrec.ko"

    def _make_crash_dump(self, path: Path, whole: Path, ring_bytes: str):
        script = self.out / "guest.sh"
        script.write_text(GUEST % GUEST_SECONDS[ring_bytes])
        recorder = self._recorder()
        call(SOURCE / "tests/machine/run", "script", script, "--build",
             self.options.machine_build, "--modules",
             f"qemu_fw_cfg,{recorder} ring_bytes={ring_bytes}", "--dump", whole,
             "--format", "elf", "--slow", "4", stdout=subprocess.DEVNULL)
        dumps.for_makedumpfile(whole)
        call("makedumpfile", "-c", "-d", "31", whole, path, stdout=subprocess.DEVNULL,
             stderr=subprocess.DEVNULL)
        whole.unlink()

    def synthetic(self, nr_records: int, peers=True) -> dict[str, Path]:
        """The same walk as a dump for btsrec and, for PEERS, as a perf.data of the kernel's
        intel_bts."""
        paths = {name: self.out / f"{name}-{nr_records}"
                 for name in ("image", "perf") if peers or name == "image"}
        paths["map"], paths["elf"] = self.out / "map", self.out / "program"
        if not all(path.exists() for path in paths.values()):
            self._make_synthetic(paths, nr_records, peers)
        for name in ("image", "perf"):
            if name in paths:
                from_disk(paths[name])
        return paths

    def _make_synthetic(self, paths: dict[str, Path], nr_records: int, peers: bool):
        paths["map"].write_bytes(self._walk("map", KERNEL_BASE))
        if not paths["image"].exists():
            self._make_image(paths["image"], nr_records)
        if not peers:
            return
        call("gcc", "-nostdlib", "-static", "-no-pie", f"-Wl,-Ttext={USER_BASE:#x}",
             "-Wl,--build-id=none", "-x", "assembler", "-o", paths["elf"], "-",
             stdin=self._pipe("asm"))
        records = self.out / "records"
        with open(records, "wb") as file:
            call(self.walk, "records", NR_FUNCTIONS, hex(USER_BASE), nr_records, stdout=file)
        perfdata.write(paths["perf"], paths["elf"], USER_BASE, records)
        records.unlink()

    def _walk(self, what, base) -> bytes:
        return call(self.walk, what, NR_FUNCTIONS, hex(base), stdout=subprocess.PIPE).stdout

    def _pipe(self, what):
        path = self.out / what
        path.write_bytes(self._walk(what, 0))
        return open(path, "rb")

    def _make_image(self, path: Path, nr_records: int, nr_listed=0, more=""):
        """NR_LISTED: how many CPUs the root says there are; MORE: statements for each."""
        records, text = self.out / "records", self.out / "text"
        with open(records, "wb") as file:
            call(self.walk, "records", NR_FUNCTIONS, hex(KERNEL_BASE), nr_records, stdout=file)
        nr_cpus = -(-nr_records // MAX_RING)
        each = nr_records // nr_cpus
        with open(text, "wb") as file:
            file.write(f"root cpus={nr_listed or nr_cpus} ring={each}\n".encode())
            file.write(self._walk("code", KERNEL_BASE))
            for cpu in range(nr_cpus):
                file.write(f"cpu {cpu}\nrecords {records} {cpu * each} {each}\n{more}".encode())
        with open(text, "rb") as file:
            call(self.mkimage, path, stdin=file)
        records.unlink()
        text.unlink()

    def large(self, name: str, nr_cpus: int, more=STOPPED, own_rings=False) -> Path:
        """A dump of NR_CPUS CPUs with rings of 64 MiB; MORE: statements for each."""
        path, template = self.out / name, self.out / "template"
        if not path.exists():
            self._make_image(template, LARGEST_RING_RECORDS, nr_cpus, more)
            scale.write(path, template, nr_cpus, own_rings)
            template.unlink()
        return path

    # --- measuring ---

    def timed(self, command, on_start=None, keep=True, **more) -> tuple[float, int | None]:
        """Seconds of processor time, and peak memory in KiB, if it is known, of COMMAND, which
        has to print something. What it prints is thrown away unless KEEP."""
        output = self.output() if keep else None
        process = subprocess.Popen([str(word) for word in command],
                                   stdout=output or subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL,
                                   **{"stdin": subprocess.DEVNULL, **more})
        if on_start:
            on_start(process.pid)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        # The place is the same for all that have inherited the file.
        self.output_bytes = os.lseek(output.fileno(), 0, os.SEEK_CUR) if output else 0
        if process.returncode not in self.good or (keep and not self.output_bytes):
            raise SystemExit(f"{command}: exit {process.returncode}, "
                             f"{self.output_bytes} bytes of output")
        return usage.ru_utime + usage.ru_stime, _peak_kib(usage)

    def lines(self):
        """What the last command that was timed has printed."""
        nr_bytes = 0
        with open(f"/proc/self/fd/{self.outputs[0].fileno()}", "rb") as text:
            while nr_bytes < self.output_bytes:
                line = text.readline()
                nr_bytes += len(line)
                yield line

    def alone(self, row: str, commands, count=1, runs=None, keep=True, **more) -> float:
        """A row without a peer: the median seconds of one of COMMANDS, with its memory, which is
        that of the process alone: pages of the file are the system's."""
        seconds, kib = [], []
        for _ in range(runs or self.options.runs):
            with _PrivateMemory() as memory:
                seconds.append(self.timed(commands, on_start=memory.watch, keep=keep)[0])
            kib.append(memory.most_kib)
        entry = {"row": row, "btsrec_s": round(statistics.median(seconds), 4),
                 "btsrec_kib": statistics.median(kib), "btsrec_count": count,
                 "runs": len(seconds), **more}
        self.rows.append(entry)
        print(f"{row}: {entry['btsrec_s']} s, memory {mib(entry['btsrec_kib'])}", flush=True)
        return entry["btsrec_s"]

    def output(self, i=0):
        """Where to print, over what was printed there before: what it costs to provide memory for
        a new file depends on what the machine, or the host of a virtual one, was doing."""
        while len(self.outputs) <= i:
            self.outputs.append(tempfile.TemporaryFile(dir="/dev/shm"))
        self.outputs[i].seek(0)
        return self.outputs[i]

    def elapsed_at_once(self, *commands, keep=True) -> float:
        """How long until all processes are done. What they print is thrown away unless KEEP."""
        files = [self.output(i) if keep else subprocess.DEVNULL for i in range(len(commands))]
        begin = time.monotonic()
        processes = [subprocess.Popen([str(word) for word in command], stdout=file,
                                      stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                     for command, file in zip(commands, files)]
        for process in processes:
            if process.wait() not in self.good:
                raise SystemExit(f"{process.args[0]} ended with {process.returncode}")
        return time.monotonic() - begin

    def owner_share(self, command) -> float:
        """Which part of the processor time of COMMAND is its first thread's."""
        data = self.out / "perf.data"
        call("perf", "record", "-q", "-F", "999", "-e", "cpu-clock", "-o", data, *command,
             stdout=self.output(), stderr=subprocess.DEVNULL)
        samples = call("perf", "script", "-i", data, "-F", "pid,tid", stdout=subprocess.PIPE,
                       stderr=subprocess.DEVNULL).stdout.decode().split()
        data.unlink()
        own = sum(1 for sample in samples if len(set(sample.split("/"))) == 1)
        return own / max(len(samples), 1)

    def expect(self, text: bytes):
        """A peer that did not do its work would be fast."""
        if text not in os.pread(self.outputs[0].fileno(), min(self.output_bytes, 1 << 20), 0):
            raise SystemExit(f"what should be compared with has not printed {text.decode()}")

    def pair(self, row: str, unit: str, ours, theirs, count=(1, 1), goal="", peer=""):
        """OURS and THEIRS are functions that return (seconds, KiB); COUNT is their work."""
        ours(), theirs()
        pairs = [(ours(), theirs()) for _ in range(self.options.runs)]
        mine, other = ([pair[side] for pair in pairs] for side in (0, 1))
        ratio = statistics.median((b[0] / count[1]) / (a[0] / count[0]) for a, b in pairs)
        entry = {"row": row, "unit": unit, "peer": peer, "goal": goal, "runs": len(pairs),
                 "ratio": round(ratio, 2),
                 "btsrec_s": round(statistics.median(a[0] for a in mine), 4),
                 "peer_s": round(statistics.median(b[0] for b in other), 4),
                 "btsrec_kib": _median_kib([a[1] for a in mine]),
                 "peer_kib": _median_kib([b[1] for b in other]),
                 "btsrec_count": count[0], "peer_count": count[1]}
        self.rows.append(entry)
        print(f"{row}: {entry['btsrec_s']} s, {peer}: {entry['peer_s']} s, ratio {ratio:.1f}",
              flush=True)
        return entry


# --- Rows ---

# SPDX-License-Identifier: GPL-2.0-or-later
"""One run of the emulated machine: QEMU as a child process, watched until its end.

Everything that a run leaves is in its folder: console.log, qemu.log, what the guest
sent, the dumps, and the model's logs in model/.
"""

import base64
import ctypes
import gzip
import json
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import tarfile
import termios
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import hosttsc
import toolbox
from errors import Failure
from timelimit import TimeLimit

# The CPU of shared documentation: an Intel model with DS; the plugin models its BTS.
CPU = ("qemu64,+ds,+ds-cpl,+dtes64,-hypervisor,vendor=GenuineIntel,family=6,model=85,"
       "x-force-features=on")
PANIC_END = "---[ end Kernel panic"
# Of the time that a guest may take, so much until its first word: ten times what it needs.
BEGIN_SHARE = 0.3
# What QEMU itself takes a moment for.
QMP_SECONDS = 600
# A warning begins with its CPU, from 6.18 on with the source file, lockdep's with a sentence.
COMPLAINT = re.compile(r"(WARNING: (CPU: |[a-z])|BUG: |Oops: |general protection fault|"
                       r"INFO: trying to register non-static key|"
                       r"turning off the locking correctness).*")
TAIL_LINES = 40
PR_SET_PDEATHSIG = 1
# For each_end(): the time is another one all at once. That is no lockup, and no bad TSC, for which
# the kernel would change its code.
TIME_LEAPS = "nopti nowatchdog rcupdate.rcu_cpu_stall_suppress=1 tsc=reliable"
# More than a guest's memory; the file has only what is used.
STATE_BYTES = 4 << 30


@dataclass
class Config:
    """What to boot. The kernel command line gets @append after the fixed part."""

    kernel: Path
    initrd: bytes
    out: Path
    cpus: int = 2
    memory_mib: int = 512
    append: str = "nopti"
    cpu: str = CPU
    plugin: Path | None = None
    plugin_args: dict = field(default_factory=dict)
    interactive: bool = False
    kaslr: bool = True
    disk_mib: int = 0  # an empty disk; the guest's tar on it is read by disk_file()
    reboot: bool = False  # a reset of the guest restarts it instead of ending QEMU
    disk: Path | None = None  # a raw image; the guest's /dev/vda
    memory_file: Path | None = None  # is the guest's memory, and outlives this machine
    clock: str = ""  # what the machine's real-time clock begins with, an ISO date; else now
    icount: bool = False  # of busy CPUs the clock counts the instructions, 1 ns each

    def command_line(self) -> str:
        fixed = "console=ttyS0 rdinit=/init panic=0"
        tsc_khz = None if self.icount else hosttsc.khz()
        return " ".join(filter(None, [fixed, "" if self.kaslr else "nokaslr",
                                      f"tsc_early_khz={tsc_khz}" if tsc_khz else "",
                                      "quiet",
                                      self.append]))


class Machine:
    """A running guest; a context manager, so that nothing outlives the run.

    Answers to the guest's questions ("ask WORD") are given by @answers, functions by
    word that take the machine and the rest of the line and return one line.
    """

    def __init__(self, config: Config, answers=None):
        self.config = config
        self.answers = answers or {}
        self.files: dict[str, bytes] = {}
        self.finish_status: int | None = None
        self.guest_failure = ""
        self.panicked = False
        self._process = None
        self._qmp = None
        self._qmp_data = b""
        self._serial = None
        self._serial_data = b""
        self._incoming = None
        self._console_seen = 0
        self._attempts = 0

    # --- life ---

    def __enter__(self):
        self.config.out.mkdir(parents=True, exist_ok=True)
        self.model_dir.mkdir(exist_ok=True)
        try:
            self._start()
        except BaseException:
            self.kill()
            raise
        return self

    def __exit__(self, *_):
        self.kill()

    @property
    def console_log(self) -> Path:
        return self.config.out / "console.log"

    @property
    def disk(self) -> Path:
        return self.config.out / "disk"

    @property
    def model_dir(self) -> Path:
        return self.config.out / "model"

    def console(self) -> str:
        try:
            return self.console_log.read_bytes().decode(errors="replace").replace("\r", "")
        except FileNotFoundError:
            return ""

    def _start(self):
        config = self.config
        self._attempts += 1
        initrd = config.out / "initrd"
        initrd.write_bytes(config.initrd)
        self._qmp, qmp_far = socket.socketpair()
        self._serial, serial_far = socket.socketpair()
        command = toolbox.command(toolbox.get()) + [
            *self._q35(), *self._accelerator(), "-cpu", config.cpu,
            "-smp", str(config.cpus), "-m", str(config.memory_mib), "-nodefaults", "-display",
            "none", "-device", "vmcoreinfo", "-kernel", str(config.kernel),
            "-initrd", str(initrd), "-append", config.command_line(),
            "-chardev", f"socket,id=qmp,fd={qmp_far.fileno()}", "-mon", "chardev=qmp,mode=control",
            "-chardev", self._console_chardev(), "-serial", "chardev:console",
            "-chardev", f"socket,id=channel,fd={serial_far.fileno()}",
            "-serial", "chardev:channel"]
        if config.disk_mib:
            command += self._disk()
        if not config.reboot:
            command += ["-no-reboot"]
        if config.disk:
            command += ["-drive", f"file={config.disk},format=raw,if=none,id=disk",
                        "-device", "virtio-blk-pci,drive=disk"]
        if config.clock:
            command += ["-rtc", f"base={config.clock}"]
        if config.plugin:
            arguments = {"outdir": self.model_dir, **config.plugin_args}
            command += ["-plugin", ",".join([str(config.plugin)] + [
                f"{key}={value}" for key, value in arguments.items()])]
        # A session of its own keeps Ctrl-C for the driver; QEMU dies with the driver anyway.
        libc = ctypes.CDLL(None)
        with open(config.out / "qemu.log", "wb") as log:
            self._process = subprocess.Popen(
                command, stdin=None if config.interactive else subprocess.DEVNULL,
                stdout=None if config.interactive else log, stderr=log,
                pass_fds=[qmp_far.fileno(), serial_far.fileno()],
                start_new_session=not config.interactive,
                preexec_fn=lambda: libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL))
        qmp_far.close()
        serial_far.close()
        self._serial.setblocking(False)
        self._qmp_read(time.monotonic() + QMP_SECONDS)
        self.qmp("qmp_capabilities")

    def _q35(self) -> list[str]:
        if not self.config.memory_file:
            return ["-machine", "q35"]
        return ["-machine", "q35,memory-backend=ram", "-object",
                f"memory-backend-file,id=ram,size={self.config.memory_mib}M,"
                f"mem-path={self.config.memory_file},share=on"]

    def _accelerator(self) -> list[str]:
        if self.config.icount:
            return ["-accel", "tcg,thread=single", "-icount", "shift=0"]
        return ["-accel", "tcg,thread=multi"]

    def _disk(self) -> list[str]:
        """NVMe, for which the kernel needs no module: /dev/nvme0n1."""
        with open(self.disk, "wb") as file:
            file.truncate(self.config.disk_mib << 20)
        return ["-drive", f"file={self.disk},format=raw,if=none,id=disk,cache=unsafe",
                "-device", "nvme,drive=disk,serial=1"]

    def disk_file(self, name: str, path: Path) -> Path:
        """The file NAME of the tar that the guest wrote to its disk, as PATH."""
        try:
            with tarfile.open(self.disk, "r:") as archive, open(path, "wb") as out:
                shutil.copyfileobj(archive.extractfile(name), out)
        except (tarfile.TarError, KeyError) as error:
            raise self.failure(f"the guest's disk has no {name}: {error}") from error
        return path

    def _console_chardev(self) -> str:
        log = str(self.console_log)
        if self.config.interactive:
            return f"stdio,id=console,signal=off,logfile={log}"
        return f"file,id=console,path={log}"

    def kill(self):
        """End QEMU at once, if it still runs. Safe to call again."""
        if self._process and self._process.poll() is None:
            self._process.kill()
            self._process.wait(30)
        for sock in (self._qmp, self._serial):
            if sock:
                sock.close()
        for name in ("initrd", "state.qcow2"):
            (self.config.out / name).unlink(missing_ok=True)

    def quit(self, seconds=QMP_SECONDS):
        """End QEMU in order, so that the model writes its summary."""
        if self._process.poll() is None:
            self.qmp("quit")
            self._wait_exit(seconds)
        self.check_violations()

    def _wait_exit(self, seconds):
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired as error:
            raise self.failure(f"QEMU did not end within {seconds} s") from error

    def _has_begun(self) -> bool:
        """Did kernel or guest say anything, or is this the second attempt?"""
        return self._attempts > 1 or self.config.interactive or bool(self._serial_data) or \
            bool(self.files) or self.console_log.stat().st_size > 0

    def _start_again(self, seconds: float):
        """Nothing of ours has run in a guest that never said a word: rarely QEMU stops there."""
        print(f"{self.config.out.name}: not a word of the kernel within {seconds:.0f} s; "
              "started once more", flush=True)
        self.kill()
        self._qmp_data = b""
        self._start()

    # --- QMP ---

    def _qmp_read(self, deadline) -> dict:
        while b"\n" not in self._qmp_data:
            ready, _, _ = select.select([self._qmp], [], [], max(0, deadline - time.monotonic()))
            data = self._qmp.recv(65536) if ready else b""
            if not data:
                raise self.failure("QEMU ended" if ready else "QEMU does not answer")
            self._qmp_data += data
        line, self._qmp_data = self._qmp_data.split(b"\n", 1)
        return json.loads(line)

    def qmp(self, command: str, seconds=QMP_SECONDS, **arguments):
        """One QMP command; its return value. Events are passed over."""
        request = {"execute": command, **({"arguments": arguments} if arguments else {})}
        self._qmp.sendall(json.dumps(request).encode() + b"\n")
        deadline = time.monotonic() + seconds
        while True:
            reply = self._qmp_read(deadline)
            if "error" in reply:
                raise self.failure(f"QMP {command}: {reply['error'].get('desc')}")
            if "return" in reply:
                return reply["return"]

    def dump(self, path: Path, dump_format="kdump-raw-zlib", resume=False) -> Path:
        """Stop the guest and write all of its memory to PATH."""
        self.qmp("stop")
        self.qmp("dump-guest-memory", paging=False, protocol=f"file:{path}",
                 format=dump_format)
        if resume:
            self.qmp("cont")
        return path

    # --- one boot, many ends ---

    def each_end(self, question: str, answers, seconds: float, ends=None):
        """The guest asks QUESTION, and panics or finishes by the answer: for each of ANSWERS.

        @ends: by answer what the kernel says last, where that is not its own last line.

        Yields an answer when the guest has come to that end. The next one is given to the guest
        as it was when it asked. The model does not go back. Its MSRs are those of the panic, which
        the recorder mends at the next switch, with a gap; so the guest waits for one. And QEMU
        keeps what it has translated: kernel code must not change after the question. Boot with
        TIME_LEAPS.
        """
        self.answers[question] = lambda *_: self._keep_state() or answers[0]
        for number, answer in enumerate(answers):
            if number:
                self._go_back()
                self._serial.sendall(f"{answer}\n".encode())
            self.run(seconds, (ends or {}).get(answer, PANIC_END))
            yield answer

    def _keep_state(self):
        """QEMU keeps what the machine is in a disk that the guest does not see."""
        path = self.config.out / "state.qcow2"
        path.touch()
        for name, options in (
                ("state-file", {"driver": "file", "filename": str(path)}),
                ("state", {"driver": "qcow2", "file": "state-file"})):
            size = 0 if name == "state-file" else STATE_BYTES
            self._job("blockdev-create", options={**options, "size": size})
            self.qmp("blockdev-add", **{"node-name": name, **options})
        self.qmp("stop")
        self._job("snapshot-save", tag="kept", vmstate="state", devices=["state"])
        self.qmp("cont")

    def _go_back(self):
        self.qmp("stop")
        self._job("snapshot-load", tag="kept", vmstate="state", devices=["state"])
        self.panicked, self.finish_status, self._serial_data = False, None, b""
        self.qmp("cont")

    def _job(self, command: str, **arguments):
        """A QMP command that QEMU does in the background, to its end."""
        self.qmp(command, **{"job-id": command}, **arguments)
        deadline = time.monotonic() + QMP_SECONDS
        while time.monotonic() < deadline:
            job = next(job for job in self.qmp("query-jobs") if job["id"] == command)
            if job["status"] == "concluded":
                self.qmp("job-dismiss", id=command)
                if "error" in job:
                    raise self.failure(f"QEMU's {command}: {job['error']}")
                return
            time.sleep(0.02)
        raise self.failure(f"QEMU's {command} does not end")

    # --- watching ---

    def run(self, seconds: float, panic_end=PANIC_END):
        """Watch the guest until it is finished, panics, fails or SECONDS have passed.

        @panic_end: what the kernel says last, if it does not come to its own last line.
        """
        limit = TimeLimit(self._process.pid, seconds)
        begin_limit = TimeLimit(self._process.pid, seconds * BEGIN_SHARE)
        while self.finish_status is None:
            if begin_limit.is_over() and not self._has_begun():
                self._start_again(seconds * BEGIN_SHARE)
                return self.run(seconds, panic_end)
            if self._process.poll() is not None:
                if self.config.interactive:
                    return
                raise self.failure(f"QEMU ended (exit {self._process.returncode}) before the "
                                   "guest's script did")
            self._pump(0.1)
            self.check_violations()
            if panic_end in self._new_console(len(panic_end)):
                self.panicked = True
                return
            if limit.is_over():
                raise self.failure(f"the guest did not finish within {seconds:.0f} s")
        if self.guest_failure:
            raise self.failure(self.guest_failure)

    def run_to_exit(self, seconds: float):
        """Watch the guest until it ends QEMU itself, by a reset or by switching off."""
        limit = TimeLimit(self._process.pid, seconds)
        while self._process.poll() is None:
            self._pump(0.1)
            self.check_violations()
            if self.guest_failure:
                raise self.failure(self.guest_failure)
            if limit.is_over():
                raise self.failure(f"the guest did not end within {seconds:.0f} s")
        while self._serial and select.select([self._serial], [], [], 0)[0]:
            before = len(self._serial_data)
            self._pump(0)
            if len(self._serial_data) == before:
                break
        self.check_violations()

    def expect_panic(self, seconds: float):
        """As run(), but only a panic is success."""
        self.run(seconds)
        self.check_complaints()
        if not self.panicked:
            raise self.failure(f"the guest ended (status {self.finish_status}) without a panic")

    def dump_at_panic(self, seconds: float, path: Path):
        """As run(), then a dump in PATH, and QEMU's end. Only a panic is success, whatever the
        kernel has complained of before."""
        self.run(seconds)
        if not self.panicked:
            raise self.failure("the guest did not panic")
        self.dump(path)
        self.quit()

    def expect_finish(self, seconds: float, due: str | None = None):
        """As run(), but only the script's success is success.

        @due: what is found in the complaints that the scenario itself has provoked
        """
        self.run(seconds)
        if self.panicked:
            raise self.failure("the guest panicked")
        self.check_complaints(due)
        if self.finish_status:
            raise self.failure(f"the guest's script failed with status {self.finish_status}")

    def violations(self) -> str:
        """What the model objects to: one line per rule broken."""
        try:
            return (self.model_dir / "violations.log").read_text().strip()
        except FileNotFoundError:
            return ""

    def check_violations(self):
        text = self.violations()
        if text:
            raise self.failure("this would have failed on a real machine:\n  "
                               + "\n  ".join(text.splitlines()[:5]))

    def check_complaints(self, due: str | None = None):
        """No scenario that expects an end expects a kernel that objects on the way."""
        for found in COMPLAINT.finditer(self.console()):
            if not (due and re.search(due, found.group(0))):
                raise self.failure(f"the guest's kernel complains: {found.group(0)}")

    def _new_console(self, overlap_bytes: int) -> str:
        """The end of the console log, with enough of what was seen to match across reads."""
        try:
            with open(self.console_log, "rb") as file:
                file.seek(max(0, self._console_seen - overlap_bytes))
                data = file.read()
                self._console_seen = file.tell()
                return data.decode(errors="replace")
        except FileNotFoundError:
            return ""

    def _pump(self, seconds: float):
        """Take what the guest says on the channel."""
        ready, _, _ = select.select([self._serial], [], [], seconds)
        if not ready:
            return
        data = self._serial.recv(1 << 20)
        if not data:
            time.sleep(seconds)
        self._serial_data += data.replace(b"\r", b"")
        *lines, self._serial_data = self._serial_data.split(b"\n")
        for line in lines:
            self._line(line.decode(errors="replace"))

    def _line(self, line: str):
        if self._incoming and not line.startswith("@"):
            self._incoming[1].append(line)
            return
        verb, _, rest = line.partition(" ")
        if verb == "@file":
            self._incoming = (rest, [])
        elif verb == "@end":
            name, lines = self._incoming
            self.files[name] = gzip.decompress(base64.b64decode("".join(lines)))
            self._incoming = None
        elif verb == "@ask":
            word, _, argument = rest.partition(" ")
            if word not in self.answers:
                raise self.failure(f"the guest asks for {word!r}, which this run does not know")
            answer = self.answers[word](self, argument)
            self._serial.sendall(f"{answer}\n".encode())
        elif verb == "@fail":
            self.guest_failure = rest
        elif verb == "@finish":
            self.finish_status = int(rest)

    # --- reporting ---

    def failure(self, reason: str) -> Failure:
        """A Failure that shows the end of the console and says where the rest is."""
        tail = "\n".join("  | " + line for line in self.console().splitlines()[-TAIL_LINES:])
        try:
            errors = (self.config.out / "qemu.log").read_text(errors="replace").splitlines()
        except FileNotFoundError:
            errors = []
        errors = [line for line in errors if "TCG doesn't support" not in line]
        said = "".join(f"\n  QEMU: {line}" for line in errors[-8:])
        return Failure(f"{reason}{said}\n  end of {self.console_log}:\n{tail}")


def dumps_to(path: Path):
    """The answer to "ask dump": the memory is in PATH, and the guest goes on."""
    path.unlink(missing_ok=True)

    def answer(machine, _):
        machine.dump(path, resume=True)
        return "dumped"
    return answer


@contextmanager
def terminal_kept():
    """Undo what QEMU's console does to the terminal, also when QEMU is killed."""
    if not sys.stdin.isatty():
        yield
        return
    saved = termios.tcgetattr(sys.stdin)
    try:
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, saved)

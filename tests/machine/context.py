# SPDX-License-Identifier: GPL-2.0-or-later
"""What every scenario gets: where things are, how to boot, how to say a result."""

import copy
import fcntl
import os
import shutil
import subprocess
import time
from pathlib import Path

import guestos
import initramfs
import vm
from errors import Failure

SOURCE = Path(__file__).resolve().parents[2]


def default_build() -> Path:
    return Path(os.environ.get("BTSREC_BUILD") or SOURCE / "build/dev")


class Context:
    """One scenario's run. Options are the parsed command line."""

    def __init__(self, name: str, options):
        self.name = name
        self.options = options
        self.build = Path(options.build).resolve()
        self.out, self._lock = self._claim(Path(options.out) if options.out
                                           else self.build / "machine" / name)
        self.os = guestos.of_folder(Path(options.kernel_dir).resolve()) if options.kernel_dir \
            else guestos.get(options.kernel)
        self._started = time.monotonic()
        self._made = set()

    @staticmethod
    def _claim(wanted: Path):
        """A folder for this run alone: WANTED, or WANTED.2 … if other runs use those."""
        for number in range(1, 100):
            path = wanted if number == 1 else wanted.with_name(f"{wanted.name}.{number}")
            path.mkdir(parents=True, exist_ok=True)
            lock = open(path / ".lock", "w", encoding="ascii")
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return path.resolve(), lock
            except BlockingIOError:
                lock.close()
        raise Failure(f"{wanted} and 98 more are all in use")

    def with_kernel(self, kernel: str) -> "Context":
        """The same run, with guests of another kernel, unless --kernel-dir says which."""
        other = copy.copy(self)
        if not self.options.kernel_dir:
            other.os = guestos.get(kernel)
        return other

    # --- what was built ---

    def built(self, name: str) -> Path:
        """The file NAME somewhere in the build folder, but where scenarios have theirs."""
        theirs = self.build / "machine"
        for folder, folders, files in os.walk(self.build):
            folders[:] = sorted(one for one in folders if Path(folder, one) != theirs)
            if name in files:
                return Path(folder, name)
        raise Failure(f"no {name} in {self.build}: 'tests/all build' makes it, "
                      "or name the folder with --build")

    def _given(self, option: str, name: str) -> Path:
        value = getattr(self.options, option, None)
        if not value:
            return self.built(name)
        path = Path(value).resolve()
        if not path.is_file():
            raise Failure(f"--{option.replace('_', '-')}: no file {path}")
        return path

    @property
    def recorder(self) -> Path:
        """The build's for the host's kernel; for others it is built here."""
        if not self.os.is_hosts and not self.options.recorder:
            return self._modules("recorder", ("kmod",)) / "btsrec.ko"
        return self._given("recorder", "btsrec.ko")

    @property
    def plugin(self) -> Path:
        return self._given("plugin", "libbtsmodel.so")

    @property
    def btsrec(self) -> Path:
        return self._given("btsrec", "btsrec")

    @property
    def crash_extension(self) -> Path:
        return self._given("extension", "bts.so")

    def guest_module(self, name: str) -> Path:
        """A module of tests/machine/guest, built for the guest's kernel.

        With it all others, if many scenarios have that kernel.
        """
        words = () if self.os.is_hosts else (f"GUEST_MODULE={name}.o",)
        return self._modules("guest-modules", ("tests/machine/guest", "kmod/include"),
                             *words) / f"{name}.ko"

    def guest_program(self, source: str, *flags) -> bytes:
        """A user program of tests/machine/guest, built with the host's compiler."""
        path = self.out / Path(source).stem
        done = subprocess.run(["gcc", "-O2", "-Wall", "-static", *flags, "-o", path,
                               SOURCE / "tests/machine/guest" / source],
                              text=True, capture_output=True, check=False)
        if done.returncode:
            raise Failure(f"{source} does not build:\n{done.stderr}")
        return path.read_bytes()

    def _modules(self, name: str, sources: tuple, *words: str) -> Path:
        """The folder in which the modules of all SOURCES are built for the guest's kernel.

        @words: for make. A run makes the same once.
        """
        folder = self.build / f"machine/.{name}-{self.os.release}"
        if (folder, words) in self._made:
            return folder
        folder.mkdir(parents=True, exist_ok=True)
        with open(folder / ".lock", "w", encoding="ascii") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            for source in sources:
                self._copy_changed(SOURCE / source, folder)
            self.os.make_modules(folder, *words)
        self._made.add((folder, words))
        return folder

    @staticmethod
    def _copy_changed(source: Path, folder: Path):
        for path in source.rglob("*"):
            copied = folder / path.relative_to(source)
            if path.is_file() and not (copied.exists()
                                       and copied.read_bytes() == path.read_bytes()):
                copied.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, copied)

    # --- booting ---

    def boot(self, script: str, modules=(), name="boot", files=(), answers=None,
             plugin_args=None, **config) -> vm.Machine:
        """A machine, not yet started; its guest runs SCRIPT.

        @modules: paths or (path, parameters), loaded in this order.
        """
        out = self.out / name
        shutil.rmtree(out, ignore_errors=True)
        pairs = [module if isinstance(module, tuple) else (module, "") for module in modules]
        initrd = initramfs.build(self.os.busybox, script, pairs, files,
                                 config.get("interactive", False))
        if "plugin" not in config:
            config["plugin"] = self.plugin
        config.setdefault("cpus", self.options.cpus)
        config.setdefault("memory_mib", self.options.memory)
        return vm.Machine(vm.Config(kernel=self.os.vmlinuz, initrd=initrd, out=out,
                                    plugin_args=plugin_args or {}, **config), answers)

    def recorder_modules(self, parameters="") -> list:
        """What puts the recorder, which arms under isolation, too, and VMCOREINFO into a guest."""
        return [self.os.module("qemu_fw_cfg"), (self.recorder, f"pti=map {parameters}")]

    def seconds(self, wanted: float) -> float:
        """A time limit, extended by --slow on a busy host."""
        return wanted * self.options.slow

    # --- results ---

    def say(self, text: str):
        print(f"[{time.monotonic() - self._started:6.1f} s] {text}", flush=True)

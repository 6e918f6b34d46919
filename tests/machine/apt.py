# SPDX-License-Identifier: GPL-2.0-or-later
"""Packages without installing them: download through the host's apt, unpack into a folder.

Nothing here needs root or changes the host. Mirror, proxies, credentials and keyring
are those of the host's own apt configuration.
"""

import os
import re
import subprocess
from pathlib import Path

from errors import Failure

# apt gives up by itself where nothing comes; a slow line is no reason to.
DOWNLOAD_SECONDS = 7200


def run(command, seconds=DOWNLOAD_SECONDS, cwd=None, stdin=subprocess.DEVNULL) -> str:
    """Run an apt or dpkg command; its output, or a Failure with the end of it."""
    try:
        done = subprocess.run(command, cwd=cwd, timeout=seconds, text=True, check=False,
                              stdin=stdin, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, env={**os.environ, "LC_ALL": "C.UTF-8"})
    except FileNotFoundError as error:
        raise Failure(f"{command[0]} is missing: the machine is made from Debian packages") \
            from error
    except subprocess.TimeoutExpired as error:
        raise Failure(f"{' '.join(command[:3])} …: no end after {seconds} s") from error
    if done.returncode:
        tail = "\n".join((done.stdout + done.stderr).strip().splitlines()[-12:])
        raise Failure(f"{' '.join(map(str, command))}: exit {done.returncode}\n{tail}")
    return done.stdout


def _archive(wanted: str) -> str:
    """The address of Debian's archive with the label WANTED in the host's apt, or ""."""
    listing = run(["apt-get", "indextargets", "--format",
                   "$(ORIGIN)|$(LABEL)|$(COMPONENT)|$(REPO_URI)", "Created-By: Packages"])
    for line in listing.splitlines():
        origin, label, component, uri = line.split("|", 3)
        if (origin, label, component) == ("Debian", wanted, "main"):
            return uri.rstrip("/")
    return ""


def mirror() -> str:
    """The archive that the host takes Debian itself from (not its security updates)."""
    found = os.environ.get("BTSREC_MIRROR") or _archive("Debian")
    if not found:
        raise Failure("apt knows no Debian archive: run 'apt-get update' on Debian, or set "
                      "BTSREC_MIRROR to the address of one")
    return found


def security_mirror() -> str:
    """That of Debian's security updates; mirrors have it beside the other one."""
    return os.environ.get("BTSREC_SECURITY_MIRROR") or _archive("Debian-Security") or \
        f"{mirror()}-security"


class PrivateRoot:
    """An apt of its own in a folder, for another release than the host's.

    @suites: suite names; packages are preferred from the last one.
    It knows of no installed package, so a download brings everything down to libc.
    """

    KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"

    def __init__(self, folder: Path, suites):
        self.folder = folder
        self.suites = suites
        for sub in ("state/lists/partial", "cache/archives/partial"):
            (folder / sub).mkdir(parents=True)
        (folder / "status").touch()
        (folder / "sources.list").write_text("".join(
            f"deb [signed-by={self.KEYRING}] {self._uri(suite)} {suite} main\n"
            for suite in suites))
        self._run("apt-get", "update")

    @staticmethod
    def _uri(suite: str) -> str:
        return security_mirror() if suite.endswith("-security") else mirror()

    def _run(self, program: str, *arguments, cwd=None) -> str:
        folder = self.folder
        settings = {
            "Dir::Etc::sourcelist": folder / "sources.list", "Dir::Etc::sourceparts": "/dev/null",
            "Dir::Etc::preferences": "/dev/null", "Dir::Etc::preferencesparts": "/dev/null",
            "Dir::State": folder / "state", "Dir::State::status": folder / "status",
            "Dir::Cache": folder / "cache", "APT::Architecture": "amd64",
            "APT::Architectures": "amd64", "Acquire::Languages": "none",
            "Acquire::Retries": "3", "APT::Sandbox::User": "root",
        }
        options = [f"-o{key}={value}" for key, value in settings.items()]
        return run([program, *options, "-q", *arguments], cwd=cwd)

    def names(self, prefix: str) -> list[str]:
        """All packages with names that begin with PREFIX."""
        return self._run("apt-cache", "pkgnames", prefix).split()

    def fetch(self, *packages: str) -> list[Path]:
        """PACKAGES and all that they depend on, as files."""
        self._run("apt-get", "-y", "install", "--download-only", "--no-install-recommends",
                  "-t", self.suites[-1], *packages)
        return sorted((self.folder / "cache/archives").glob("*.deb"))

    def download(self, package: str, folder: Path) -> Path:
        """The .deb of PACKAGE alone, in FOLDER."""
        before = set(folder.glob("*.deb"))
        self._run("apt-get", "download", package, cwd=folder)
        return (set(folder.glob("*.deb")) - before).pop()


def candidate(package: str, field: str) -> str:
    """FIELD of the version of PACKAGE that the host would install."""
    text = run(["apt-cache", "show", "--no-all-versions", package])
    found = re.search(rf"^{field}: (.*)$", text, re.MULTILINE)
    if not found:
        raise Failure(f"{package}: no {field} in apt's package lists; run 'apt-get update'")
    return found.group(1)


def download(package: str, folder: Path, version: str = "") -> Path:
    """The .deb of PACKAGE, in FOLDER, from the host's own sources."""
    name = f"{package}={version}" if version else package
    before = set(folder.glob("*.deb"))
    run(["apt-get", "-oAPT::Sandbox::User=root", "-oAcquire::Retries=3", "-q", "download", name],
        cwd=folder)
    return (set(folder.glob("*.deb")) - before).pop()


def unpack(deb: Path, folder: Path):
    run(["dpkg-deb", "-x", str(deb), str(folder)])


def unpack_members(deb: Path, folder: Path, members):
    """Only MEMBERS of DEB, reading no further than the last of them."""
    _tar(deb, folder, "--occurrence=1", *members)


def unpack_without(deb: Path, folder: Path, pattern: str):
    """DEB without the files with names that match PATTERN."""
    _tar(deb, folder, f"--exclude={pattern}")


def _tar(deb: Path, folder: Path, *arguments):
    with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", str(deb)], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL) as source:
        run(["tar", "-x", "-C", str(folder), "--no-same-owner", *arguments], stdin=source.stdout)
        source.stdout.close()

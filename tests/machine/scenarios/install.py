# SPDX-License-Identifier: GPL-2.0-or-later
"""The packages: built, judged by lintian and rpmlint, and taken through their whole life.

They are built as a user builds them.  In a minimal Debian without a network they are
installed, upgraded to a next version, removed and purged (tests/packages/lifecycle.sh).
Nothing is booted; "unattended" does.
"""

import shutil
import subprocess
from pathlib import Path

import debian
from context import SOURCE
from errors import Failure

SUMMARY = "the packages, from building to purging"

PACKAGES = ("btsrec", "btsrec-dkms", "crash-bts", "libbtsrec-dev", "python3-btsrec")
DUMP = """root ring=200
cpu 0
arm tsc=1 now=7/7/0x100000/init
fill 100 0xffffffff81000000 0xffffffff81100000 0x10
freeze reason=panic tsc=90
"""
# Of the next version everything is the same but for the number, wherever it stands.
NEXT = r"""
set -e
deb=$1 work=$2
dpkg-deb -R "$deb" "$work"
cd "$work"
sed -i 's/^Version: 0\.1\.0/Version: 0.2.0/; s/= 0\.1\.0/= 0.2.0/' DEBIAN/control
for script in DEBIAN/postinst DEBIAN/prerm; do
	[ ! -e "$script" ] || sed -i 's/0\.1\.0/0.2.0/' "$script"
done
if [ -d usr/src/btsrec-0.1.0 ]; then
	sed -i 's/0\.1\.0/0.2.0/' usr/src/btsrec-0.1.0/dkms.conf usr/src/btsrec-0.1.0/btsrec_main.c
	mv usr/src/btsrec-0.1.0 usr/src/btsrec-0.2.0
	find usr -type f -exec md5sum {} + >DEBIAN/md5sums
fi
"""


def _run(*words, cwd=SOURCE, stdin=None, seconds=900) -> str:
    done = subprocess.run([str(word) for word in words], cwd=cwd, text=True, errors="replace",
                          input=stdin, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          timeout=seconds, check=False)
    if done.returncode:
        raise Failure(f"{' '.join(map(str, words))}: exit {done.returncode}\n{done.stdout[-4000:]}")
    return done.stdout


def build() -> Path:
    """Debian's packages, by the documented command; their folder."""
    folder = SOURCE / "build/release/packages"
    shutil.rmtree(folder, ignore_errors=True)
    _run("cmake", "--preset", "release")
    _run("cmake", "--build", "build/release", "--target", "packages")
    return folder


def _lint(context, folder: Path):
    # The tag is about uploads to Debian, which these packages are not made for.
    said = _run("lintian", "--allow-root", "--tag-display-limit", "0", "--fail-on",
                "error,warning", "--suppress-tags", "initial-upload-closes-no-bugs",
                *sorted(folder.glob("*.deb")))
    if said.strip():
        raise Failure(f"lintian: {said}")
    context.say(f"lintian has nothing to say about {', '.join(PACKAGES)}")


def _rpm(context):
    _run("cmake", "--preset", "rpm")
    _run("cmake", "--build", "build/rpm")
    folder = SOURCE / "build/rpm/packages"
    shutil.rmtree(folder, ignore_errors=True)
    _run("cpack", "-G", "RPM", cwd=SOURCE / "build/rpm")
    rpms = sorted(folder.glob("*.rpm"))
    _run("rpmlint", "-c", SOURCE / "tests/packages/rpmlint.toml", *rpms)
    for rpm in rpms:
        outside = [name for name in _run("rpm", "-qlp", rpm).splitlines()
                   if not name.startswith(("/usr/", "/etc/btsrec"))]
        if outside:
            raise Failure(f"{rpm.name} has {outside}")
    settings = _run("rpm", "-qp", "--configfiles", *rpms).split()
    if settings != ["/etc/btsrec.conf"]:
        raise Failure(f"the RPMs call {settings} settings")
    context.say(f"{len(rpms)} RPMs: rpmlint and rpm -qp agree")


def next_version(debs: list[Path], folder: Path):
    """DEBS once more, in FOLDER, with the number of a next version."""
    folder.mkdir()
    for deb in debs:
        if not deb.name.startswith(("btsrec_", "btsrec-dkms_", "libbtsrec-dev_",
                                    "python3-btsrec_")):
            continue
        work = folder / "work"
        _run("sh", "-c", NEXT, "sh", deb, work)
        _run("dpkg-deb", "--root-owner-group", "-b", work,
             folder / deb.name.replace("0.1.0", "0.2.0"))
        shutil.rmtree(work)


def add_options(parser):
    parser.add_argument("--no-rpm", action="store_true", help="without the RPMs, a third build")


def run(context):
    folder = build()
    context.say("built")
    _lint(context, folder)
    if not context.options.no_rpm:
        _rpm(context)
    mnt = context.out / "mnt"
    shutil.rmtree(mnt, ignore_errors=True)
    mnt.mkdir()
    debs = [Path(shutil.copy(deb, mnt)) for deb in sorted(folder.glob("*.deb"))]
    next_version(debs, mnt / "next")
    shutil.copy(SOURCE / "tests/packages/lifecycle.sh", mnt)
    _run(context.built("mkimage"), mnt / "vmcore", stdin=DUMP)
    said = debian.get("bookworm").changed(mnt, "/mnt/lifecycle.sh", "/mnt",
                                          seconds=context.seconds(600))
    context.say(said.strip().splitlines()[-1])

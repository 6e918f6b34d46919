# SPDX-License-Identifier: GPL-2.0-or-later
"""Plugin of sos: what btsrec says of this machine, and the texts of the newest reports.

Not the histories: history.bts has branches of users' programs. It stays where it is.
"""

import glob
import os

from sos.report.plugins import DebianPlugin, Plugin, RedHatPlugin, UbuntuPlugin

REPORTS = "/var/lib/btsrec/reports"
# Texts of a report that say what happened, and what is missing in it.
TEXTS = ("summary.txt", "info.txt", "unresolved.txt", "stacks.txt", "check.txt", "prove.txt")
NEWEST_REPORTS = 5


# Not IndependentPlugin: on Debian sos 4.0 takes no such plugin.
class Btsrec(Plugin, RedHatPlugin, DebianPlugin, UbuntuPlugin):
    """Branch flight recorder"""

    short_desc = "Branch flight recorder"
    plugin_name = "btsrec"
    profiles = ("kernel", "debug")
    packages = ("btsrec",)
    files = ("/etc/btsrec.conf",)

    def setup(self):
        self.add_copy_spec(["/etc/btsrec.conf", "/sys/module/btsrec/parameters"])
        self.add_cmd_output(["btsrec doctor", "btsrec doctor --format jsonl",
                             "systemctl status btsrec.service btsrec-collect.service"])
        self.add_journal(identifier="btsrec")
        # sos 4.0 has no path_join().
        top = os.path.join(self.sysroot or "/", REPORTS.lstrip("/"))
        # Names begin with a number that counts up.
        for report in sorted(glob.glob(f"{top}/[0-9]*-*"))[-NEWEST_REPORTS:]:
            name = f"{REPORTS}/{os.path.basename(report)}"
            self.add_copy_spec([f"{name}/{text}" for text in TEXTS])

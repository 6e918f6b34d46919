# SPDX-License-Identifier: GPL-2.0-or-later
"""Statistics over the tables of many crashes: what btsrec-fleet(1) runs."""

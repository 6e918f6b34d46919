# SPDX-License-Identifier: GPL-2.0-or-later
"""Editors step through a dump, back and forth, over the Debug Adapter Protocol.

What is known comes from the commands of btsrec as JSON lines, and memory from btsrec gdbserver.
"""

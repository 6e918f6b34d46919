# SPDX-License-Identifier: GPL-2.0-or-later
"""The scenarios: one module each, with SUMMARY, run(context) and maybe add_options(parser)."""

# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables for a terminal."""


def text(rows) -> str:
    """ROWS of strings, each column as wide as its widest cell."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip()
                     for row in rows)

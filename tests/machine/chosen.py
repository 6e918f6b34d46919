# SPDX-License-Identifier: GPL-2.0-or-later
"""Lists of words as options take them."""

from errors import Failure


def chosen(text: str, known) -> list[str]:
    """Those of KNOWN that TEXT names: "all", or some by comma."""
    names = list(known) if text == "all" else text.split(",")
    unknown = [name for name in names if name not in known]
    if unknown:
        raise Failure(f"unknown: {', '.join(unknown)}; there are {', '.join(known)}")
    return names

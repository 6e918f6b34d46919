# SPDX-License-Identifier: GPL-2.0-or-later
"""Arguments of requests.  One that is wrong is refused with what it should be."""

from .asked import Refused


def _is_text(value):
    """Half a surrogate pair, which JSON allows, and NUL are in no word of a command line."""
    return isinstance(value, str) and not any(
        char == "\0" or "\ud800" <= char <= "\udfff" for char in value)


def text(args, name, default=None):
    value = args.get(name, default)
    if value is not None and not _is_text(value):
        raise Refused(f"\"{name}\" must be a text without NUL and halves of surrogate pairs")
    return value


def number(args, name, default, low, high):
    value = args.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise Refused(f"\"{name}\" must be a number from {low} to {high}, not {value!r}")
    return value


def address(args, name, offset):
    """An address in a text, and a number of bytes behind it."""
    try:
        found = int(text(args, name) or "", 0)
    except ValueError as error:
        raise Refused(f"\"{name}\" must be an address as 0x..., not {args.get(name)!r}") from error
    return (found + number(args, offset, 0, -(1 << 63), 1 << 63)) & ((1 << 64) - 1)


def objects(args, name):
    found = args.get(name) or []
    if not isinstance(found, list) or not all(isinstance(entry, dict) for entry in found):
        raise Refused(f"\"{name}\" must be a list of objects")
    return found


def files(args):
    found = args.get("dump")
    found = [found] if isinstance(found, str) else found
    if not isinstance(found, list) or not found or \
            not all(name and _is_text(name) for name in found):
        raise Refused("\"dump\" must be the path of a dump, or a list of the files of a split one")
    return found

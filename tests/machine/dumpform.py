# SPDX-License-Identifier: GPL-2.0-or-later
"""Where the pages of memory are in the files of a dump, by format, and where the rings are.

Written from the formats' own headers (elf.h, makedumpfile's diskdump_mod.h and IMPLEMENTATION)
and from abi.h, not from the decoder, whose answers are compared with this.
"""

import bisect
import struct

PAGE = 4096
RECORD = 24
POISON = 0xb7505a5ab7505a5a
FLAT = b"makedumpfile"


def _number(data, at, form="<Q"):
    return struct.unpack_from(form, data, at)[0]


def _elf(data):
    """{page frame number: (offset, length)} of an ELF dump."""
    pages = {}
    program, size, count = _number(data, 32), _number(data, 54, "<H"), _number(data, 56, "<H")
    for i in range(count):
        kind, _, offset, _, pa, nr_bytes = struct.unpack_from("<IIQQQQ", data, program + i * size)
        if kind == 1:
            for page in range(nr_bytes // PAGE):
                pages[pa // PAGE + page] = (offset + page * PAGE, PAGE)
    return pages


def _kdump(data):
    """The same of makedumpfile's compressed format; of a split file its own pages."""
    sub_blocks, bitmap_blocks = struct.unpack_from("<iI", data, 432)
    split, = struct.unpack_from("<i", data, PAGE + 12)
    first, end = struct.unpack_from("<QQ", data, PAGE + 80) if split else (0, 1 << 62)
    bitmap = (1 + sub_blocks) * PAGE + bitmap_blocks * PAGE // 2
    descriptor = (1 + sub_blocks + bitmap_blocks) * PAGE
    pages = {}
    for byte in range(bitmap_blocks * PAGE // 2):
        bits = data[bitmap + byte]
        for bit in range(8) if bits else ():
            frame = byte * 8 + bit
            if bits >> bit & 1 and first <= frame < end:
                offset, nr_bytes = struct.unpack_from("<QI", data, descriptor)
                pages[frame] = (offset, nr_bytes)
                descriptor += RECORD
    return pages


def unflatten(data):
    """(the file that was flattened, where its bytes are: sorted (offset, length, place))."""
    pieces, at, size = [], PAGE, 0
    while True:
        offset, nr_bytes = struct.unpack_from(">qq", data, at)
        if nr_bytes < 0:
            break
        pieces.append((offset, nr_bytes, at + 16))
        size = max(size, offset + nr_bytes)
        at += 16 + nr_bytes
    plain = bytearray(size)
    for offset, nr_bytes, place in pieces:
        plain[offset:offset + nr_bytes] = data[place:place + nr_bytes]
    return bytes(plain), sorted(pieces)


class Form:
    """One file of a dump: which of its bytes each page of memory needs."""

    def __init__(self, data: bytes):
        pieces = None
        if data.startswith(FLAT):
            data, pieces = unflatten(data)
        self.pages = _elf(data) if data.startswith(b"\x7fELF") else _kdump(data)
        if pieces:
            self.pages = {frame: self._in_pieces(pieces, *place)
                          for frame, place in self.pages.items()}

    @staticmethod
    def _in_pieces(pieces, offset, nr_bytes):
        """A page of a flattened file from its first to its last byte there."""
        piece = pieces[bisect.bisect_right(pieces, (offset, 1 << 62)) - 1]
        last = pieces[bisect.bisect_right(pieces, (offset + nr_bytes - 1, 1 << 62)) - 1]
        begin = piece[2] + offset - piece[0]
        return begin, last[2] + offset + nr_bytes - last[0] - begin

    def left(self, cut=None, inverted=None):
        """The page frames that are whole if the file ends at CUT, or a byte is another."""
        return {frame for frame, (offset, nr_bytes) in self.pages.items()
                if (cut is None or offset + nr_bytes <= cut) and
                (inverted is None or not offset <= inverted < offset + nr_bytes)}


class Rings:
    """The rings in an ELF dump, and in which of their slots branches are."""

    def __init__(self, data: bytes, root_pa: int, branches: dict[int, list[tuple[int, int]]]):
        pages = _elf(data)
        self._page = lambda pa: data[pages[pa // PAGE][0]:pages[pa // PAGE][0] + PAGE]
        root = self._page(root_pa)
        self.cpus = {}
        for cpu in range(_number(root, 48, "<I")):
            page_pa = _number(self._page(_number(root, 304 + cpu // 512 * 8)), cpu % 512 * 8)
            if page_pa and cpu in branches:
                self.cpus[cpu] = self._cpu(self._page(page_pa), branches[cpu])

    def _cpu(self, page, branches):
        """The page frames of the ring, and the slots of BRANCHES."""
        ring_bytes, (nr_pages, nr_lists) = _number(page, 56), struct.unpack_from("<II", page, 80)
        frames = []
        for i in range(nr_lists):
            count = min(512, nr_pages - 512 * i)
            frames += struct.unpack_from(f"<{count}Q", self._page(_number(page, 88 + 8 * i)))
        ring = b"".join(map(self._page, frames))[:ring_bytes]
        slots = [struct.unpack_from("<QQ", ring, at)
                 for at in range(0, ring_bytes - RECORD + 1, RECORD)]
        return [frame // PAGE for frame in frames], self._slots_of(slots, branches)

    @staticmethod
    def _slots_of(slots, branches):
        """Which slots BRANCHES are in: both are in one order, from a slot that is not known."""
        starts = [i for i, slot in enumerate(slots) if slot == branches[0]]
        for start in starts:
            found, at = [], start
            for branch in branches:
                while at < start + len(slots) and slots[at % len(slots)] != branch:
                    at += 1
                if at == start + len(slots):
                    break
                found.append(at % len(slots))
                at += 1
            if len(found) == len(branches):
                return found
        raise ValueError("the branches are not in the ring in their order")

    def readable(self, left) -> int:
        """How many branches are in the pages that are LEFT."""
        nr = 0
        for frames, slots in self.cpus.values():
            there = [frame in left for frame in frames]
            nr += sum(there[slot * RECORD // PAGE] and there[(slot * RECORD + RECORD - 1) // PAGE]
                      for slot in slots)
        return nr

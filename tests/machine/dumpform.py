# SPDX-License-Identifier: GPL-2.0-or-later
"""Where the pages of memory are in the files of a dump, by format, and where the rings are.

Written from the formats' own headers (elf.h, makedumpfile's diskdump_mod.h and IMPLEMENTATION)
and from abi.h, not from the decoder, whose answers are compared with this.
"""

import bisect
import struct

PAGE = 4096
RECORD = 24
DESCRIPTOR = 24
FLAT = b"makedumpfile"
COMPRESSED = 0x1 | 0x2 | 0x4 | 0x20  # zlib, lzo, snappy, zstd


def _number(data, at, form="<Q"):
    return struct.unpack_from(form, data, at)[0]


def _elf(data):
    """(bytes of the headers, {page frame number: (offset, length, its descriptor, raw)})."""
    pages = {}
    program, size, count = _number(data, 32), _number(data, 54, "<H"), _number(data, 56, "<H")
    for i in range(count):
        kind, _, offset, _, pa, nr_bytes = struct.unpack_from("<IIQQQQ", data, program + i * size)
        if kind == 1:
            for page in range(nr_bytes // PAGE):
                pages[pa // PAGE + page] = (offset + page * PAGE, PAGE, None, True)
    return program + size * count, pages


def _kdump(data):
    """The same of makedumpfile's compressed format; of a split file its own pages."""
    sub_blocks, bitmap_blocks = struct.unpack_from("<iI", data, 432)
    split, = struct.unpack_from("<i", data, PAGE + 12)
    first, end = struct.unpack_from("<QQ", data, PAGE + 80) if split else (0, 1 << 62)
    bitmap = (1 + sub_blocks) * PAGE + bitmap_blocks * PAGE // 2
    descriptor = headers = (1 + sub_blocks + bitmap_blocks) * PAGE
    pages = {}
    for byte in range(bitmap_blocks * PAGE // 2):
        bits = data[bitmap + byte]
        for bit in range(8) if bits else ():
            frame = byte * 8 + bit
            if bits >> bit & 1 and first <= frame < end:
                offset, nr_bytes, flags = struct.unpack_from("<QII", data, descriptor)
                pages[frame] = (offset, nr_bytes, descriptor, not flags & COMPRESSED)
                descriptor += DESCRIPTOR
    return headers, pages


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
        self.is_flat = data.startswith(FLAT)
        self._pieces = None
        if self.is_flat:
            data, self._pieces = unflatten(data)
        self._headers, self.pages = _elf(data) if data.startswith(b"\x7fELF") else _kdump(data)

    def place(self, frame):
        """Offset and length in the file of the first piece of a page."""
        offset, nr_bytes = self.pages[frame][:2]
        return next(self._ranges(offset, nr_bytes))

    def _ranges(self, offset, nr_bytes):
        """The bytes of the plain file in this one, (offset, length) after each other."""
        if not self._pieces:
            yield offset, nr_bytes
            return
        while nr_bytes:
            behind = bisect.bisect_right(self._pieces, (offset, 1 << 62))
            nr = nr_bytes
            if behind < len(self._pieces):
                nr = min(nr, self._pieces[behind][0] - offset)
            # Headers are written more than once, and the last time counts; a hole is zeros.
            there = [piece for piece in self._pieces[max(0, behind - 64):behind]
                     if offset < piece[0] + piece[1]]
            at, length, place = max(there, key=lambda piece: piece[2], default=(offset, nr, 0))
            nr = min(nr, at + length - offset)
            yield place + offset - at, nr
            offset += nr
            nr_bytes -= nr

    def _valid(self, offset, nr_bytes, cut, inverted):
        """How many leading bytes of these are there, and right."""
        valid = 0
        for at, nr in self._ranges(offset, nr_bytes):
            there = max(0, min(nr, cut - at))
            if at <= inverted < at + there:
                return valid + inverted - at
            valid += there
            if there < nr:
                break
        return valid

    def left(self, cut=1 << 62, inverted=-1):
        """{page frame: its valid bytes} if the file ends at CUT, or the byte INVERTED is another.

        Of a page that is packed all is needed.  A changed byte of another page is not known.
        """
        found = {}
        if self._valid(0, self._headers, cut, -1) < self._headers:
            return found
        for frame, (offset, nr_bytes, descriptor, raw) in self.pages.items():
            if descriptor and self._valid(descriptor, DESCRIPTOR, cut, -1) < DESCRIPTOR:
                continue
            valid = self._valid(offset, nr_bytes, cut, -1 if raw else inverted)
            if raw or valid == nr_bytes:
                found[frame] = valid if raw else PAGE
        return found


class Rings:
    """The rings in an ELF dump, and in which of their slots branches are."""

    def __init__(self, data: bytes, root_pa: int, branches: dict[int, list[tuple[int, int]]]):
        pages = _elf(data)[1]
        self._page = lambda pa: data[pages[pa // PAGE][0]:pages[pa // PAGE][0] + PAGE]
        root = self._page(root_pa)
        self.cpus = {}
        for cpu in range(_number(root, 48, "<I")):
            directory_pa = _number(root, 304 + cpu // 512 * 8)
            page_pa = _number(self._page(directory_pa), cpu % 512 * 8)
            if page_pa and cpu in branches:
                self.cpus[cpu] = self._cpu([root_pa, directory_pa, page_pa], branches[cpu])

    def _cpu(self, leads_pa, branches):
        """(page frames that lead to the ring, those of the ring, the slots of BRANCHES)."""
        page = self._page(leads_pa[-1])
        ring_bytes, (nr_pages, nr_lists) = _number(page, 56), struct.unpack_from("<II", page, 80)
        lists_pa = struct.unpack_from(f"<{nr_lists}Q", page, 88)
        ring_pa = []
        for i, list_pa in enumerate(lists_pa):
            ring_pa += struct.unpack_from(f"<{min(512, nr_pages - 512 * i)}Q", self._page(list_pa))
        ring = b"".join(map(self._page, ring_pa))[:ring_bytes]
        slots = [struct.unpack_from("<QQ", ring, at)
                 for at in range(0, ring_bytes - RECORD + 1, RECORD)]
        return ([pa // PAGE for pa in (*leads_pa, *lists_pa)], [pa // PAGE for pa in ring_pa],
                self._slots_of(slots, branches))

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
        """How many branches are in the bytes that are LEFT, in rings to which a way is left."""
        nr = 0
        for leads, frames, slots in self.cpus.values():
            if any(left.get(frame) != PAGE for frame in leads):
                continue
            valid = [left.get(frame, 0) for frame in frames]
            for slot in slots:
                at, last = slot * RECORD, slot * RECORD + RECORD - 1
                nr += valid[last // PAGE] > last % PAGE and \
                    (at // PAGE == last // PAGE or valid[at // PAGE] == PAGE)
        return nr

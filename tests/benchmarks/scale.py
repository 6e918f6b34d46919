# SPDX-License-Identifier: GPL-2.0-or-later
"""A dump of a machine that nobody has: 512 CPUs with rings of 64 MiB in 2 TiB of memory.

One CPU of a dump that mkimage made is multiplied. Every CPU has pages of its own at addresses
of its own; but the rings of all lie at the same place of the file. So do the pages of all memory
that is empty, as a hole. So the file takes less than 300 MiB of a disk.
"""

import struct
import zlib
from array import array
from pathlib import Path

PAGE = 4096
NR_CPUS = 512
STRIDE = 4 << 30
RING_AT = 1 << 30  # of each stride; in front of it the CPU's other pages
MAX_META = 1 << 20

# struct btsrec_cpu (kmod/include/btsrec/abi.h): byte offsets.
CPU_CRC, CPU_CONSTANT_BYTES = 12, 40
CPU_NUMBER, CPU_SELF_PA, CPU_RING_KVA, CPU_DS_PA, CPU_NR_RING_PAGES, CPU_LIST_PA = (
    8, 16, 48, 72, 80, 88)
CPU_FREEZE_INDEX = 1184
ROOT_DIR_PA = 0x2000  # mkimage's second page
RING_KVA_STRIDE = 0x10000000

HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
SEGMENT = struct.Struct("<IIQQQQQQ")
PT_LOAD, PT_NOTE = 1, 4


def _word(data, offset: int, form="<Q") -> int:
    return struct.unpack_from(form, data, offset)[0]


class Template:
    """mkimage's dump of one CPU."""

    def __init__(self, path: Path):
        self.file = path.open("rb")
        header = HEADER.unpack(self.file.read(HEADER.size))
        self.file.seek(header[5])
        segments = [SEGMENT.unpack(self.file.read(SEGMENT.size)) for _ in range(header[10])]
        self.loads = [(load[4], load[2], load[5]) for load in segments if load[0] == PT_LOAD]
        note = next(load for load in segments if load[0] == PT_NOTE)
        self.note = self._at(note[2], note[5])
        self.cpu_pa = _word(self.page(ROOT_DIR_PA), 0)
        self.cpu = self.page(self.cpu_pa)
        self.ds = self.page(_word(self.cpu, CPU_DS_PA))
        self.nr_pages = _word(self.cpu, CPU_NR_RING_PAGES, "<I")
        nr_lists = _word(self.cpu, CPU_NR_RING_PAGES + 4, "<I")
        lists = [_word(self.cpu, CPU_LIST_PA + 8 * i) for i in range(nr_lists)]
        self.ring = array("Q", b"".join(map(self.page, lists)))[:self.nr_pages]
        self.own = {self.cpu_pa, _word(self.cpu, CPU_DS_PA), *lists, *self.ring}

    def _at(self, offset: int, nr_bytes: int) -> bytes:
        self.file.seek(offset)
        return self.file.read(nr_bytes)

    def page(self, pa: int) -> bytes:
        for load_pa, offset, nr_bytes in self.loads:
            if load_pa <= pa < load_pa + nr_bytes:
                return self._at(offset + pa - load_pa, PAGE)
        raise ValueError(f"no page at {pa:#x}")

    def shared(self):
        """(address, content) of the pages that are not this CPU's, in order."""
        for load_pa, offset, nr_bytes in sorted(self.loads):
            for at in range(0, nr_bytes, PAGE):
                if load_pa + at not in self.own:
                    yield load_pa + at, self._at(offset + at, PAGE)


def _patched_cpu(template: Template, number: int, meta_pa: int, nr_lists: int) -> bytes:
    page = bytearray(template.cpu)
    ring_kva = _word(page, CPU_RING_KVA) + number * RING_KVA_STRIDE
    struct.pack_into("<Q", page, CPU_FREEZE_INDEX, _word(page, CPU_FREEZE_INDEX) +
                     number * RING_KVA_STRIDE)
    struct.pack_into("<I", page, CPU_NUMBER, number)
    struct.pack_into("<Q", page, CPU_SELF_PA, meta_pa)
    struct.pack_into("<Q", page, CPU_RING_KVA, ring_kva)
    struct.pack_into("<Q", page, CPU_DS_PA, meta_pa + PAGE)
    for i in range(nr_lists):
        struct.pack_into("<Q", page, CPU_LIST_PA + 8 * i, meta_pa + (2 + i) * PAGE)
    struct.pack_into("<I", page, CPU_CRC, 0)
    constant = bytes(page[:_word(page, CPU_CONSTANT_BYTES, "<I")])
    struct.pack_into("<I", page, CPU_CRC, zlib.crc32(constant))
    return bytes(page)


def _meta(template: Template, number: int, meta_pa: int, ring_pa: int) -> bytes:
    """A CPU's page, its DS area and its lists of ring pages."""
    lists = array("Q", range(ring_pa, ring_pa + template.nr_pages * PAGE, PAGE)).tobytes()
    lists += bytes(-len(lists) % PAGE)
    ds = bytearray(template.ds)
    for word in range(0, 32, 8):
        struct.pack_into("<Q", ds, word, _word(ds, word) + number * RING_KVA_STRIDE)
    return _patched_cpu(template, number, meta_pa, len(lists) // PAGE) + bytes(ds) + lists


class _Writer:
    """Segments by physical address, and the file after them."""

    def __init__(self, path: Path, nr_segments: int):
        self.file = path.open("wb")
        self.at = -(-(HEADER.size + nr_segments * SEGMENT.size) // PAGE) * PAGE
        self.segments = []

    def place(self, content: bytes) -> int:
        at = self.at
        self.file.seek(at)
        self.file.write(content)
        self.at = at + -(-len(content) // PAGE) * PAGE
        return at

    def load(self, pa: int, offset: int, nr_bytes: int):
        if nr_bytes:
            self.segments.append((PT_LOAD, 0, offset, 0, pa, nr_bytes, nr_bytes, 0))

    def finish(self, hole_bytes: int):
        self.file.truncate(self.at + hole_bytes)
        self.file.seek(0)
        ident = b"\x7fELF\x02\x01\x01" + bytes(9)
        self.file.write(HEADER.pack(ident, 4, 62, 1, 0, HEADER.size, 0, 0, HEADER.size,
                                    SEGMENT.size, len(self.segments), 0, 0, 0))
        for segment in self.segments:
            self.file.write(SEGMENT.pack(*segment))
        self.file.close()


def _place_shared(writer: _Writer, template: Template) -> list[tuple[int, int, int]]:
    """(address, offset in the file, bytes) of each run of pages."""
    runs = []
    for pa, content in template.shared():
        if pa == ROOT_DIR_PA:
            content = array("Q", (n * STRIDE + RING_AT - MAX_META
                                  for n in range(NR_CPUS))).tobytes()
        at = writer.place(content)
        if runs and runs[-1][0] + runs[-1][2] == pa and runs[-1][1] + runs[-1][2] == at:
            runs[-1] = (*runs[-1][:2], runs[-1][2] + PAGE)
        else:
            runs.append((pa, at, PAGE))
    return runs


def write(path: Path, template_path: Path, nr_cpus: int = NR_CPUS, own_rings: bool = False):
    """The dump PATH. The template's root must say that there are NR_CPUS CPUs. OWN_RINGS: each
    has its records at a place of its own in the file, too."""
    template = Template(template_path)
    writer = _Writer(path, 4 * nr_cpus + 64)
    note_at = writer.place(template.note)
    writer.segments.append((PT_NOTE, 0, note_at, 0, 0, len(template.note), 0, 0))
    ring = b"".join(map(template.page, template.ring))
    ring_at = [writer.place(ring)]
    ring_at += [writer.place(ring) if own_rings else ring_at[0] for _ in range(nr_cpus - 1)]
    runs = _place_shared(writer, template)
    metas = [(writer.place(content), len(content)) for content in (
        _meta(template, n, n * STRIDE + RING_AT - MAX_META, n * STRIDE + RING_AT)
        for n in range(nr_cpus))]
    hole_at, at_pa = writer.at, 0
    for number, (meta_at, meta_bytes) in enumerate(metas):
        meta_pa, ring_pa = (number * STRIDE + RING_AT - MAX_META, number * STRIDE + RING_AT)
        for pa, offset, nr_bytes in [*(runs if not number else []), (meta_pa, meta_at, meta_bytes),
                                     (ring_pa, ring_at[number], template.nr_pages * PAGE)]:
            writer.load(at_pa, hole_at, pa - at_pa)
            writer.load(pa, offset, nr_bytes)
            at_pa = pa + nr_bytes
        writer.load(at_pa, hole_at, (number + 1) * STRIDE - at_pa)
        at_pa = (number + 1) * STRIDE
    writer.finish(STRIDE)

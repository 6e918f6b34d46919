// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/elf_unpack.h"

#include <errno.h>
#include <gelf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "base/bounds.h"
#include "base/cleanup.h"
#include "base/readat.h"

/* Debug information of a kernel has less than 2 GiB; the file in memory is of this length. */
#define UNPACKED_MAX_BYTES	BOUND(4ULL << 30, 1ULL << 20)

/* ELFCOMPRESS_ZSTD of binutils 2.39; Debian 12's elf.h lacks it. */
#define COMPRESS_ZSTD	2

#define CHUNK_BYTES	(128U << 10)

#define ZSTD_MAGIC	 "(\xb5/\xfd"
#define ZSTD_MAGIC_BYTES 4

/** struct unpacking - one file under way; @at: where the next byte is written to @out */
struct unpacking {
	int in;
	int out;
	uint64_t at;
	ZSTD_DCtx *zstd;
	uint8_t packed[CHUNK_BYTES];
	uint8_t plain[CHUNK_BYTES];
};

static bool put(struct unpacking *unpacking, const void *bytes, size_t nr_bytes)
{
	if (unpacking->at + nr_bytes > UNPACKED_MAX_BYTES ||
	    pwrite(unpacking->out, bytes, nr_bytes, (off_t)unpacking->at) != (ssize_t)nr_bytes)
		return false;
	unpacking->at += nr_bytes;
	return true;
}

/* What one chunk of packed bytes gives; @ret_left: 0 at the end of a frame. */
static bool unpack_chunk(struct unpacking *unpacking, size_t nr_bytes, size_t *ret_left)
{
	ZSTD_inBuffer in = { unpacking->packed, nr_bytes, 0 };
	ZSTD_outBuffer out;

	do {
		out = (ZSTD_outBuffer){ unpacking->plain, sizeof(unpacking->plain), 0 };
		*ret_left = ZSTD_decompressStream(unpacking->zstd, &out, &in);
		if (ZSTD_isError(*ret_left) || !put(unpacking, unpacking->plain, out.pos))
			return false;
	} while (in.pos < in.size || out.pos == out.size);
	return true;
}

/* The frames in @nr_bytes at @offset; false: they are damaged or not whole. */
static bool unpack_range(struct unpacking *unpacking, uint64_t offset, uint64_t nr_bytes)
{
	size_t left = 1;

	ZSTD_DCtx_reset(unpacking->zstd, ZSTD_reset_session_only);
	while (nr_bytes) {
		size_t nr = min_u64(nr_bytes, sizeof(unpacking->packed));

		if (!read_at(unpacking->in, offset, unpacking->packed, nr) ||
		    !unpack_chunk(unpacking, nr, &left))
			return false;
		offset += nr;
		nr_bytes -= nr;
	}
	return !left;
}

static bool copy_all(struct unpacking *unpacking, uint64_t nr_bytes)
{
	while (unpacking->at < nr_bytes) {
		size_t nr = min_u64(nr_bytes - unpacking->at, sizeof(unpacking->plain));

		if (!read_at(unpacking->in, unpacking->at, unpacking->plain, nr) ||
		    !put(unpacking, unpacking->plain, nr))
			return false;
	}
	return true;
}

/* --- Sections ----------------------------------------------------------- */

static bool is_zstd(int fd, const Elf64_Shdr *section, Elf64_Chdr *ret)
{
	return section->sh_flags & SHF_COMPRESSED && section->sh_type != SHT_NOBITS &&
	       section->sh_size > sizeof(*ret) &&
	       read_at(fd, section->sh_offset, ret, sizeof(*ret)) && ret->ch_type == COMPRESS_ZSTD;
}

/* What is unpacked goes to the end of the file, where @section then points. */
static bool unpack_section(struct unpacking *unpacking, Elf64_Shdr *section,
			   const Elf64_Chdr *packed)
{
	const uint64_t align = packed->ch_addralign ? packed->ch_addralign : 1;
	uint64_t begin;

	if (align & (align - 1) || align > 4096)
		return false;
	begin = (unpacking->at + align - 1) & ~(align - 1);
	unpacking->at = begin;
	if (!unpack_range(unpacking, section->sh_offset + sizeof(*packed),
			  section->sh_size - sizeof(*packed)) ||
	    unpacking->at - begin != packed->ch_size)
		return false;
	section->sh_offset = begin;
	section->sh_size = packed->ch_size;
	section->sh_addralign = align;
	section->sh_flags &= ~(uint64_t)SHF_COMPRESSED;
	return true;
}

static bool unpack_sections(struct unpacking *unpacking, Elf64_Shdr *sections, size_t nr,
			    uint64_t file_bytes)
{
	Elf64_Chdr packed;
	bool any = false;

	for (size_t i = 0; i < nr; i++)
		if (is_zstd(unpacking->in, &sections[i], &packed)) {
			if (!any && !copy_all(unpacking, file_bytes))
				return false;
			any = true;
			if (!unpack_section(unpacking, &sections[i], &packed))
				return false;
		}
	return any;
}

static bool unpack_elf(struct unpacking *unpacking, uint64_t file_bytes)
{
	_cleanup_free_ Elf64_Shdr *sections = NULL;
	size_t nr_bytes;
	Elf64_Ehdr elf;

	if (!read_at(unpacking->in, 0, &elf, sizeof(elf)) || memcmp(elf.e_ident, ELFMAG, SELFMAG) ||
	    elf.e_ident[EI_CLASS] != ELFCLASS64 || elf.e_ident[EI_DATA] != ELFDATA2LSB ||
	    elf.e_shentsize != sizeof(*sections) || !elf.e_shnum)
		return false;
	nr_bytes = elf.e_shnum * sizeof(*sections);
	sections = malloc(nr_bytes);
	if (!sections || !read_at(unpacking->in, elf.e_shoff, sections, nr_bytes) ||
	    !unpack_sections(unpacking, sections, elf.e_shnum, file_bytes))
		return false;
	return pwrite(unpacking->out, sections, nr_bytes, (off_t)elf.e_shoff) == (ssize_t)nr_bytes;
}

/* --- Files -------------------------------------------------------------- */

/* The descriptor that is of use, without the other. */
static int keep(bool unpacked, int in, int out)
{
	const int kept = unpacked ? out : in, other = unpacked ? in : out;

	if (other >= 0)
		close(other);
	return kept;
}

static int unpack_with(int fd, bool whole, uint64_t file_bytes)
{
	_cleanup_free_ struct unpacking *unpacking = malloc(sizeof(*unpacking));
	bool unpacked = false;

	if (!unpacking)
		return fd;
	unpacking->in = fd;
	unpacking->out = memfd_create("unpacked", MFD_CLOEXEC);
	unpacking->at = 0;
	unpacking->zstd = ZSTD_createDCtx();
	if (unpacking->out >= 0 && unpacking->zstd)
		unpacked = whole ? unpack_range(unpacking, 0, file_bytes) :
				   unpack_elf(unpacking, file_bytes);
	ZSTD_freeDCtx(unpacking->zstd);
	return keep(unpacked, fd, unpacking->out);
}

static uint64_t length_of(int fd)
{
	struct stat file;

	return fstat(fd, &file) ? 0 : (uint64_t)file.st_size;
}

int elf_unpack(int fd)
{
	uint8_t magic[ZSTD_MAGIC_BYTES];
	int saved = errno;

	if (fd < 0)
		return fd;
	if (read_at(fd, 0, magic, sizeof(magic)) && !memcmp(magic, ZSTD_MAGIC, sizeof(magic)))
		fd = unpack_with(fd, true, length_of(fd));
	fd = unpack_with(fd, false, length_of(fd));
	errno = saved;
	return fd;
}

bool elf_file_is_packed(int fd)
{
	static const char *const magics[] = { "\x1f\x8b\x08", "BZh", "\3757zXZ", ZSTD_MAGIC };
	char begin[8];

	if (!read_at(fd, 0, begin, sizeof(begin)))
		return false;
	for (size_t i = 0; i < sizeof(magics) / sizeof(magics[0]); i++)
		if (!memcmp(begin, magics[i], strlen(magics[i])))
			return true;
	return false;
}

bool elf_is_packed(Elf *elf)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	GElf_Chdr packed;

	while ((section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, &header) && header.sh_flags & SHF_COMPRESSED &&
		    (!gelf_getchdr(section, &packed) || packed.ch_type != ELFCOMPRESS_ZLIB))
			return true;
	return false;
}

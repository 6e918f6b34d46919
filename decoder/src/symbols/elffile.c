// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/elffile.h"

#include <elfutils/libdwelf.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "symbols/elf_unpack.h"

/* --- Life --------------------------------------------------------------- */

void elffile_none(struct elffile *file)
{
	memset(file, 0, sizeof(*file));
	file->fd = -1;
}

static void find_build_id(struct elffile *file)
{
	const void *build_id;
	ssize_t nr_bytes = dwelf_elf_gnu_build_id(file->elf, &build_id);

	if (nr_bytes <= 0)
		return;
	file->build_id = build_id;
	file->build_id_bytes = (size_t)nr_bytes;
}

enum btsrec_status elffile_init(struct elffile *file, struct msg *msg, int fd)
{
	elffile_none(file);
	file->fd = fd;
	if (elf_version(EV_CURRENT) == EV_NONE)
		return msg_set(msg, BTSREC_ERR_IO, "libelf: %s", elf_errmsg(-1));
	/* Undoes gzip, bzip2 and xz of a whole file. */
	file->elf = dwelf_elf_begin(fd);
	if (!file->elf || elf_kind(file->elf) != ELF_K_ELF)
		return msg_set(msg, BTSREC_ERR_CORRUPT, "not an ELF file");
	find_build_id(file);
	return BTSREC_OK;
}

enum btsrec_status elffile_init_packed(struct elffile *file, struct msg *msg, int fd)
{
	return elffile_init(file, msg, elf_unpack(fd));
}

/* The table of sections is at the end of a file, and what is there is not. */
static bool drop_sections(void *bytes, size_t nr_bytes)
{
	Elf64_Ehdr *header64 = bytes;
	Elf32_Ehdr *header32 = bytes;

	if (nr_bytes < sizeof(*header64) || memcmp(header64->e_ident, ELFMAG, SELFMAG))
		return false;
	if (header64->e_ident[EI_CLASS] == ELFCLASS64) {
		header64->e_shoff = 0;
		header64->e_shnum = 0;
		header64->e_shstrndx = SHN_UNDEF;
		return true;
	}
	header32->e_shoff = 0;
	header32->e_shnum = 0;
	header32->e_shstrndx = SHN_UNDEF;
	return true;
}

bool elffile_init_memory(struct elffile *file, void *bytes, size_t nr_bytes)
{
	elffile_none(file);
	if (elf_version(EV_CURRENT) == EV_NONE || !drop_sections(bytes, nr_bytes))
		return false;
	file->elf = elf_memory(bytes, nr_bytes);
	if (!file->elf || elf_kind(file->elf) != ELF_K_ELF)
		return false;
	find_build_id(file);
	return true;
}

void elffile_fini(struct elffile *file)
{
	if (file->elf)
		elf_end(file->elf);
	if (file->fd >= 0)
		close(file->fd);
	elffile_none(file);
}

/* The section of that name, with its content; NULL: there is none. */
static Elf_Data *named_section(Elf *elf, const char *wanted)
{
	size_t names;
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	if (elf_getshdrstrndx(elf, &names))
		return NULL;
	while ((section = elf_nextscn(elf, section))) {
		const char *name = gelf_getshdr(section, &header) ?
				   elf_strptr(elf, names, header.sh_name) : NULL;

		if (name && !strcmp(name, wanted))
			return elf_rawdata(section, NULL);
	}
	return NULL;
}

bool elffile_init_minidebug(struct elffile *file, const struct elffile *of)
{
	const Elf_Data *data = named_section(of->elf, ".gnu_debugdata");
	struct msg msg;
	int fd;

	elffile_none(file);
	if (!data || !data->d_buf || !data->d_size)
		return false;
	fd = memfd_create("minidebug", MFD_CLOEXEC);
	if (fd < 0)
		return false;
	if (write(fd, data->d_buf, data->d_size) == (ssize_t)data->d_size)
		return !elffile_init(file, &msg, fd);
	close(fd);
	return false;
}

uint16_t elffile_machine(const struct elffile *file)
{
	GElf_Ehdr header;

	return gelf_getehdr(file->elf, &header) ? header.e_machine : EM_NONE;
}

bool elffile_same(const struct elffile *a, const struct elffile *b)
{
	return a->build_id && b->build_id && a->build_id_bytes == b->build_id_bytes &&
	       !memcmp(a->build_id, b->build_id, a->build_id_bytes);
}

/* --- Segments ----------------------------------------------------------- */

size_t elffile_segments(const struct elffile *file, struct elffile_segment *ret, size_t max)
{
	size_t nr_headers = 0, nr = 0, i;
	GElf_Phdr header;

	if (elf_getphdrnum(file->elf, &nr_headers))
		return 0;
	for (i = 0; i < nr_headers && nr < max; i++) {
		if (!gelf_getphdr(file->elf, (int)i, &header))
			break;
		if (header.p_type == PT_LOAD)
			ret[nr++] = (struct elffile_segment){ header.p_offset, header.p_filesz,
							      header.p_vaddr };
	}
	return nr;
}

/* --- Symbols ------------------------------------------------------------ */

/* What nm calls a data symbol in a section of these flags. */
static char section_letter(uint64_t flags)
{
	if (flags & SHF_EXECINSTR)
		return 't';
	return flags & SHF_WRITE ? 'd' : 'r';
}

static bool is_of_image(const GElf_Sym *symbol)
{
	unsigned int type = GELF_ST_TYPE(symbol->st_info);

	return symbol->st_shndx != SHN_UNDEF && symbol->st_shndx < SHN_LORESERVE &&
	       (type <= STT_FUNC || type == STT_GNU_IFUNC);
}

/* The section that @symbol is in. */
static bool section_of(Elf *elf, const GElf_Sym *symbol, GElf_Shdr *ret)
{
	Elf_Scn *section = is_of_image(symbol) ? elf_getscn(elf, symbol->st_shndx) : NULL;

	return section && gelf_getshdr(section, ret);
}

/* The letter that System.map has for @symbol, which is in @section. */
static char symbol_letter(const GElf_Sym *symbol, const GElf_Shdr *section)
{
	char letter = section_letter(section->sh_flags);

	if (GELF_ST_BIND(symbol->st_info) == STB_WEAK)
		return GELF_ST_TYPE(symbol->st_info) == STT_OBJECT ? 'V' : 'W';
	if (GELF_ST_BIND(symbol->st_info) == STB_GLOBAL)
		return (char)(letter - 'a' + 'A');
	return letter;
}

static bool add_symbol(struct symbol_list *list, Elf *elf, const GElf_Sym *symbol, const char *name)
{
	uint64_t offset_bytes, room_bytes = 0;
	GElf_Shdr section;

	if (!section_of(elf, symbol, &section))
		return true;
	offset_bytes = symbol->st_value - section.sh_addr;
	if (offset_bytes < section.sh_size)
		room_bytes = section.sh_size - offset_bytes;
	return symbol_list_add_sized(list, symbol->st_value, symbol->st_size, room_bytes,
				     symbol_letter(symbol, &section), name, strlen(name));
}

static Elf_Scn *find_section(Elf *elf, uint32_t type, GElf_Shdr *ret)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, ret) && ret->sh_type == type)
			return section;
	return NULL;
}

bool elffile_is_cut(const struct elffile *file)
{
	Elf_Scn *section = NULL;
	size_t nr_bytes = 0;
	GElf_Shdr of_section;
	GElf_Ehdr header;

	if (!elf_rawfile(file->elf, &nr_bytes) || !gelf_getehdr(file->elf, &header))
		return false;
	/* At most so many sections have their number here; more are only more to miss. */
	if (header.e_shoff >= nr_bytes ||
	    (uint64_t)header.e_shnum * header.e_shentsize > nr_bytes - header.e_shoff)
		return header.e_shoff;
	while ((section = elf_nextscn(file->elf, section)))
		if (gelf_getshdr(section, &of_section) && of_section.sh_type != SHT_NOBITS &&
		    (of_section.sh_offset > nr_bytes ||
		     of_section.sh_size > nr_bytes - of_section.sh_offset))
			return true;
	return false;
}

enum btsrec_status elffile_symbols(const struct elffile *file, uint32_t type,
				   bool (*wanted)(const char *name), struct symbol_list *list)
{
	GElf_Shdr header;
	Elf_Scn *section = find_section(file->elf, type, &header);
	Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
	size_t nr_symbols = 0, i;
	GElf_Sym symbol;

	if (data && header.sh_entsize)
		nr_symbols = data->d_size / header.sh_entsize;
	if (!nr_symbols)
		return BTSREC_ERR_NO_SYMBOL;
	for (i = 0; i < nr_symbols && gelf_getsym(data, (int)i, &symbol); i++) {
		const char *name = elf_strptr(file->elf, header.sh_link, symbol.st_name);

		if (!name || (wanted && !wanted(name)))
			continue;
		if (!add_symbol(list, file->elf, &symbol, name))
			return BTSREC_ERR_NOMEM;
	}
	return BTSREC_OK;
}

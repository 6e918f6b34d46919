// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/dwarf_file.h"

#include <dwarf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <elfutils/libdwfl.h>

#include "base/cleanup.h"
#include "base/readat.h"
#include "symbols/elf_unpack.h"
#include "symbols/filestore.h"
#include "base/grow.h"
#include "base/sorted.h"

/* Any place will do, away from 0, which stands for "no address". */
#define LAYOUT_BASE	0x10000

/** struct unit_range - addresses of one unit of compilation; @offset: of its DIE */
struct unit_range {
	Dwarf_Addr begin;
	Dwarf_Addr end;
	Dwarf_Off offset;
};

/**
 * struct dwarf_file - an opened file
 * @debug_path: what @callbacks points to.
 * @elf_bias: what addresses of the file are above those of its program headers.
 * @dwarf, @bias: what they are above those of @dwarf.
 * @ranges: of all units, @nr_ranges by address, read when they are first needed.
 */
struct dwarf_file {
	Dwfl_Callbacks callbacks;
	char *debug_path;
	Dwfl *dwfl;
	Dwfl_Module *module;
	GElf_Addr elf_bias;
	Dwarf *dwarf;
	Dwarf_Addr bias;
	bool ranges_tried;
	struct unit_range *ranges;
	size_t nr_ranges;
	size_t nr_room;
};

const char *dwarf_fault_str(enum dwarf_fault fault)
{
	switch (fault) {
	case DWARF_OK:		return "fine";
	case DWARF_NO_MEMORY:	return "out of memory";
	case DWARF_NO_FILE:	return "no file with debug information found";
	case DWARF_NO_ELF:	return "not an ELF file";
	case DWARF_OTHER_BUILD:	return "its build-id is not that in the dump";
	case DWARF_PACKED:
		return "its debug information is compressed in a way that cannot be undone here";
	case DWARF_NO_LINES:	return "it has no debug information";
	}
	return "unknown";
}

/* --- Life --------------------------------------------------------------- */

static int find_no_elf(Dwfl_Module *module, void **userdata, const char *name, Dwarf_Addr base,
		       char **ret_path, Elf **ret_elf)
{
	(void)module;
	(void)userdata;
	(void)name;
	(void)base;
	(void)ret_path;
	(void)ret_elf;
	return -1;
}

/* As elfutils finds it, and without what elfutils may not be able to undo. */
static int find_debuginfo(Dwfl_Module *module, void **userdata, const char *name, Dwarf_Addr base,
			  const char *path, const char *link, GElf_Word crc, char **ret_path)
{
	return elf_unpack(dwfl_standard_find_debuginfo(module, userdata, name, base, path, link,
						       crc, ret_path));
}

static struct dwarf_file *file_new(char *debug_path)
{
	struct dwarf_file *file = calloc(1, sizeof(*file));

	if (!file)
		return NULL;
	file->debug_path = debug_path;
	file->callbacks.find_elf = find_no_elf;
	file->callbacks.find_debuginfo = find_debuginfo;
	file->callbacks.section_address = dwfl_offline_section_address;
	file->callbacks.debuginfo_path = &file->debug_path;
	file->dwfl = dwfl_begin(&file->callbacks);
	if (file->dwfl)
		return file;
	free(file);
	return NULL;
}

void dwarf_file_close(struct dwarf_file *file)
{
	if (!file)
		return;
	dwfl_end(file->dwfl);
	free(file->ranges);
	free(file);
}

/* --- Opening ------------------------------------------------------------ */

static bool same_build(Dwfl_Module *module, const struct dwarf_build_id *id)
{
	const unsigned char *bytes;
	GElf_Addr address;
	int nr_bytes;

	if (!id->nr_bytes)
		return true;
	nr_bytes = dwfl_module_build_id(module, &bytes, &address);
	return nr_bytes > 0 && (size_t)nr_bytes == id->nr_bytes &&
	       !memcmp(bytes, id->bytes, id->nr_bytes);
}

static enum dwarf_fault report(struct dwarf_file *file, const char *path, int fd,
			       const struct dwarf_build_id *id)
{
	Elf *elf;

	dwfl_report_begin(file->dwfl);
	file->module = dwfl_report_elf(file->dwfl, path, path, fd, LAYOUT_BASE, false);
	dwfl_report_end(file->dwfl, NULL, NULL);
	if (!file->module) {
		close(fd);
		return DWARF_NO_ELF;
	}
	/* The build-id is looked for in a file that has been opened. */
	elf = dwfl_module_getelf(file->module, &file->elf_bias);
	if (!elf)
		return DWARF_NO_ELF;
	if (!same_build(file->module, id))
		return DWARF_OTHER_BUILD;
	file->dwarf = dwfl_module_getdwarf(file->module, &file->bias);
	if (file->dwarf)
		return DWARF_OK;
	return elf_is_packed(elf) ? DWARF_PACKED : DWARF_NO_LINES;
}

/* The file takes over @fd. */
static enum dwarf_fault open_fd(const char *path, int fd, const struct dwarf_build_id *id,
				char *debug_path, struct dwarf_file **ret)
{
	struct dwarf_file *file = file_new(debug_path);
	enum dwarf_fault fault;

	fd = elf_unpack(fd);
	if (!file) {
		close(fd);
		return DWARF_NO_MEMORY;
	}
	errno = 0;
	fault = report(file, path, fd, id);
	/* The library goes on without what it had no memory for. */
	if (errno == ENOMEM)
		fault = DWARF_NO_MEMORY;
	if (fault)
		dwarf_file_close(file);
	else
		*ret = file;
	return fault;
}

enum dwarf_fault dwarf_file_open(const char *path, const struct dwarf_build_id *id,
				 char *debug_path, struct dwarf_file **ret)
{
	int fd = open_regular(path);

	if (fd < 0)
		return errno == ENODEV || errno == EISDIR ? DWARF_NO_ELF : DWARF_NO_FILE;
	return open_fd(path, fd, id, debug_path, ret);
}

enum dwarf_fault dwarf_file_open_fd(int fd, const struct dwarf_build_id *id, char *debug_path,
				    struct dwarf_file **ret)
{
	return open_fd("", fd, id, debug_path, ret);
}

uint64_t dwarf_file_bias(const struct dwarf_file *file)
{
	return file->elf_bias;
}

/*
 * Not by libdwfl: it closes descriptor 0 with the file that it has found for a build-id alone
 * (0.188).  That is the standard input of the program that we are in.
 */
enum dwarf_fault dwarf_file_find(const struct dwarf_build_id *id, char *debug_path,
				 struct dwarf_file **ret)
{
	struct filestore_debug search = { debug_path, id->bytes, id->nr_bytes, false };
	enum dwarf_fault fault = DWARF_NO_FILE;
	int fd;

	/* One that is called so may yet be of another build. */
	while (fault != DWARF_OK && fault != DWARF_NO_MEMORY &&
	       (fd = filestore_next_debug(&search)) >= 0)
		fault = open_fd("", fd, id, debug_path, ret);
	return fault;
}

/* --- Symbols ------------------------------------------------------------ */

/* The section that @index is of @elf, if there is code in it. */
static bool code_section(Elf *elf, GElf_Word index, GElf_Shdr *ret)
{
	Elf_Scn *section = index ? elf_getscn(elf, index) : NULL;

	return section && gelf_getshdr(section, ret) && ret->sh_flags & SHF_EXECINSTR;
}

void dwarf_file_symbols(struct dwarf_file *file, dwarf_symbol_fn fn, void *arg)
{
	int nr_symbols = dwfl_module_getsymtab(file->module), i;

	for (i = 1; i < nr_symbols; i++) {
		GElf_Addr address, bias;
		GElf_Shdr section;
		GElf_Word index;
		const char *name;
		GElf_Sym symbol;
		Elf *elf;

		name = dwfl_module_getsym_info(file->module, i, &symbol, &address, &index, &elf,
					       &bias);
		if (!name || !*name || GELF_ST_TYPE(symbol.st_info) > STT_FUNC ||
		    !code_section(elf, index, &section))
			continue;
		if (!fn(arg, name, address, index, section.sh_addr + bias,
			section.sh_addr + bias + section.sh_size))
			return;
	}
}

/* --- Units -------------------------------------------------------------- */

static bool add_range(struct dwarf_file *file, const struct unit_range *range)
{
	if (!grow_from(&file->ranges, sizeof(*file->ranges), file->nr_ranges, &file->nr_room, 256))
		return false;
	file->ranges[file->nr_ranges++] = *range;
	return true;
}

static bool add_unit(struct dwarf_file *file, Dwarf_Die *unit)
{
	struct unit_range range = { .offset = dwarf_dieoffset(unit) };
	Dwarf_Addr base;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(unit, at, &base, &range.begin, &range.end)) > 0)
		if (range.begin < range.end && !add_range(file, &range))
			return false;
	return true;
}

static int compare_ranges(const void *left, const void *right)
{
	const struct unit_range *a = left, *b = right;

	return (a->begin > b->begin) - (a->begin < b->begin);
}

static void read_ranges(struct dwarf_file *file)
{
	Dwarf_CU *unit = NULL;
	Dwarf_Die die;

	while (!dwarf_get_units(file->dwarf, unit, &unit, NULL, NULL, &die, NULL))
		if (!add_unit(file, &die))
			break;
	if (file->nr_ranges)
		qsort(file->ranges, file->nr_ranges, sizeof(*file->ranges), compare_ranges);
}

/*
 * The unit that has @address, by the ranges that the units themselves state.  libdw 0.188
 * goes by .debug_aranges alone, which clang does not write unless it is asked.
 */
static bool find_unit(struct dwarf_file *file, Dwarf_Addr address, Dwarf_Die *ret)
{
	size_t nr;

	if (!file->ranges_tried)
		read_ranges(file);
	file->ranges_tried = true;
	nr = sorted_up_to(file->ranges, file->nr_ranges, begin, address);
	return nr && address < file->ranges[nr - 1].end &&
	       dwarf_offdie(file->dwarf, file->ranges[nr - 1].offset, ret);
}

/* --- Lines -------------------------------------------------------------- */

static bool line_of_unit(struct dwarf_file *file, uint64_t address, const char **ret_file,
			 int *ret_line)
{
	Dwarf_Line *line;
	Dwarf_Die unit;

	if (!find_unit(file, address - file->bias, &unit))
		return false;
	line = dwarf_getsrc_die(&unit, address - file->bias);
	*ret_file = line ? dwarf_linesrc(line, NULL, NULL) : NULL;
	return *ret_file && !dwarf_lineno(line, ret_line);
}

bool dwarf_file_line(struct dwarf_file *file, uint64_t address, const char **ret_file,
		     unsigned int *ret_line)
{
	Dwfl_Line *line = dwfl_module_getsrc(file->module, address);
	const char *name;
	int number = 0;

	name = line ? dwfl_lineinfo(line, NULL, &number, NULL, NULL, NULL) : NULL;
	if ((!name && !line_of_unit(file, address, &name, &number)) || number <= 0)
		return false;
	*ret_file = name;
	*ret_line = (unsigned int)number;
	return true;
}

/* --- Inlined calls ------------------------------------------------------ */

static bool number_of(Dwarf_Die *die, unsigned int name, Dwarf_Word *ret)
{
	Dwarf_Attribute attribute;

	return !dwarf_formudata(dwarf_attr(die, name, &attribute), ret);
}

/* Where the call @die is written; false: the compiler did not note it. */
static bool read_inlined(Dwarf_Die *unit, Dwarf_Die *die, struct dwarf_inlined *ret)
{
	Dwarf_Word file, line;
	Dwarf_Files *files;
	size_t nr_files;

	if (!number_of(die, DW_AT_call_file, &file) || !number_of(die, DW_AT_call_line, &line) ||
	    dwarf_getsrcfiles(unit, &files, &nr_files) || file >= nr_files || line > INT_MAX)
		return false;
	ret->function = dwarf_diename(die);
	ret->file = dwarf_filesrc(files, file, NULL, NULL);
	ret->line = (unsigned int)line;
	return ret->function && ret->file && line;
}

/*
 * What the code at @address is in, the innermost first; free() frees it.  Behind an inlined
 * function dwarf_getscopes() goes on where that is defined, not where it is called.
 */
static int scopes_at(Dwarf_Die *unit, Dwarf_Addr address, Dwarf_Die **ret)
{
	_cleanup_free_ Dwarf_Die *innermost = NULL;

	return dwarf_getscopes(unit, address, &innermost) > 0 ?
		       dwarf_getscopes_die(&innermost[0], ret) :
		       0;
}

size_t dwarf_file_inlined(struct dwarf_file *file, uint64_t address, struct dwarf_inlined *ret,
			  size_t max)
{
	_cleanup_free_ Dwarf_Die *scopes = NULL;
	Dwarf_Die unit;
	size_t nr = 0;
	int nr_scopes;

	if (!find_unit(file, address - file->bias, &unit))
		return 0;
	nr_scopes = scopes_at(&unit, address - file->bias, &scopes);
	for (int i = 0; i < nr_scopes && nr < max; i++) {
		if (dwarf_tag(&scopes[i]) == DW_TAG_inlined_subroutine &&
		    !read_inlined(&unit, &scopes[i], &ret[nr++]))
			return 0;
	}
	return nr;
}

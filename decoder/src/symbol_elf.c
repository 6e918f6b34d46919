// SPDX-License-Identifier: GPL-2.0-or-later
/* Kernel names from the symbol table of an ELF vmlinux. */
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <string.h>
#include <unistd.h>

#include "session.h"
#include "symbol.h"

/**
 * struct vmlinux - an ELF file while it is read
 * @symtab: the section of type SHT_SYMTAB, NULL: none.
 * @build_id: borrowed from @elf.
 */
struct vmlinux {
	int fd;
	Elf *elf;
	Elf_Scn *symtab;
	GElf_Shdr symtab_header;
	const uint8_t *build_id;
	size_t build_id_bytes;
};

static void vmlinux_fini(struct vmlinux *vmlinux)
{
	if (vmlinux->elf)
		elf_end(vmlinux->elf);
	if (vmlinux->fd >= 0)
		close(vmlinux->fd);
}

static enum btsrec_status vmlinux_init(struct vmlinux *vmlinux, struct msg *msg, const char *path)
{
	memset(vmlinux, 0, sizeof(*vmlinux));
	vmlinux->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (vmlinux->fd < 0)
		return msg_set(msg, BTSREC_ERR_IO, "%s", strerror(errno));
	if (elf_version(EV_CURRENT) == EV_NONE)
		return msg_set(msg, BTSREC_ERR_IO, "libelf: %s", elf_errmsg(-1));
	vmlinux->elf = elf_begin(vmlinux->fd, ELF_C_READ_MMAP, NULL);
	if (!vmlinux->elf || elf_kind(vmlinux->elf) != ELF_K_ELF ||
	    gelf_getclass(vmlinux->elf) != ELFCLASS64)
		return msg_set(msg, BTSREC_ERR_CORRUPT, "not a 64-bit ELF file");
	return BTSREC_OK;
}

/* The GNU build-id among the notes of one section, if it is there. */
static void vmlinux_note(struct vmlinux *vmlinux, Elf_Scn *section)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t at = 0, name_at, desc_at;
	GElf_Nhdr note;

	while (data && (at = gelf_getnote(data, at, &note, &name_at, &desc_at)) > 0) {
		const char *bytes = data->d_buf;

		if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != sizeof("GNU") ||
		    memcmp(bytes + name_at, "GNU", sizeof("GNU")))
			continue;
		vmlinux->build_id = (const uint8_t *)bytes + desc_at;
		vmlinux->build_id_bytes = note.n_descsz;
		return;
	}
}

static void vmlinux_sections(struct vmlinux *vmlinux)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(vmlinux->elf, section))) {
		if (!gelf_getshdr(section, &header))
			continue;
		if (header.sh_type == SHT_NOTE && !vmlinux->build_id)
			vmlinux_note(vmlinux, section);
		if (header.sh_type == SHT_SYMTAB) {
			vmlinux->symtab = section;
			vmlinux->symtab_header = header;
		}
	}
}

/* The root may know no build-id, and so may the file: then nothing is refused. */
static enum btsrec_status vmlinux_check_build_id(const struct vmlinux *vmlinux, struct msg *msg,
						 const struct btsrec_root *root)
{
	size_t nr_bytes = root->build_id_bytes;

	if (!nr_bytes || nr_bytes > sizeof(root->build_id) || !vmlinux->build_id)
		return BTSREC_OK;
	if (vmlinux->build_id_bytes == nr_bytes &&
	    !memcmp(vmlinux->build_id, root->build_id, nr_bytes))
		return BTSREC_OK;
	return msg_set(msg, BTSREC_ERR_MISMATCH,
		       "symbols of another kernel: the build-id differs from the dump's");
}

/* What nm calls a data symbol in a section of these flags. */
static char section_letter(uint64_t flags)
{
	if (flags & SHF_EXECINSTR)
		return 't';
	return flags & SHF_WRITE ? 'd' : 'r';
}

/* The letter that System.map has for @symbol, so that both files rank alike. */
static char symbol_letter(Elf *elf, const GElf_Sym *symbol)
{
	Elf_Scn *section;
	GElf_Shdr header;
	char letter;

	if (symbol->st_shndx == SHN_UNDEF || symbol->st_shndx >= SHN_LORESERVE)
		return 'a';
	if (GELF_ST_TYPE(symbol->st_info) > STT_FUNC)
		return 'a';
	section = elf_getscn(elf, symbol->st_shndx);
	if (!section || !gelf_getshdr(section, &header))
		return 'a';
	letter = section_letter(header.sh_flags);
	if (GELF_ST_BIND(symbol->st_info) == STB_WEAK)
		return GELF_ST_TYPE(symbol->st_info) == STT_OBJECT ? 'V' : 'W';
	if (GELF_ST_BIND(symbol->st_info) == STB_GLOBAL)
		return (char)(letter - 'a' + 'A');
	return letter;
}

/*
 * scripts/mksysmap leaves these out of System.map: labels of the assembler,
 * mapping symbols and what modpost generates.
 */
static bool is_kernel_name(const char *name)
{
	return strncmp(name, ".L", 2) && *name != '$' && strncmp(name, "__ksymtab_", 10) &&
	       strncmp(name, "__kstrtab_", 10) && strncmp(name, "__kstrtabns_", 12) &&
	       strncmp(name, "__kcrctab_", 10) && strncmp(name, "__crc_", 6);
}

static enum btsrec_status vmlinux_symbols(const struct vmlinux *vmlinux, struct msg *msg,
					  struct symbol_list *list)
{
	Elf_Data *data = vmlinux->symtab ? elf_getdata(vmlinux->symtab, NULL) : NULL;
	size_t nr_symbols = 0, i;
	GElf_Sym symbol;

	if (data && vmlinux->symtab_header.sh_entsize)
		nr_symbols = data->d_size / vmlinux->symtab_header.sh_entsize;
	if (!nr_symbols)
		return msg_set(msg, BTSREC_ERR_CORRUPT, "no symbol table (stripped?)");
	for (i = 0; i < nr_symbols && gelf_getsym(data, (int)i, &symbol); i++) {
		const char *name = elf_strptr(vmlinux->elf, vmlinux->symtab_header.sh_link,
					      symbol.st_name);

		if (!name || !is_kernel_name(name))
			continue;
		if (!symbol_list_add(list, symbol.st_value, symbol_letter(vmlinux->elf, &symbol),
				     name, strlen(name)))
			return msg_set(msg, BTSREC_ERR_NOMEM, "out of memory");
	}
	return BTSREC_OK;
}

static enum btsrec_status vmlinux_read(struct vmlinux *vmlinux, struct btsrec *rec,
				       struct symbol_list *list)
{
	enum btsrec_status status;

	vmlinux_sections(vmlinux);
	status = vmlinux_check_build_id(vmlinux, &rec->msg, btsrec_root(rec));
	if (status)
		return status;
	return vmlinux_symbols(vmlinux, &rec->msg, list);
}

enum btsrec_status btsrec_add_vmlinux(struct btsrec *rec, const char *path)
{
	struct symbol_list list = { 0 };
	struct vmlinux vmlinux;
	enum btsrec_status status;

	if (!btsrec_root(rec))
		return msg_set(&rec->msg, BTSREC_ERR_INVAL, "no recorder located yet");
	status = vmlinux_init(&vmlinux, &rec->msg, path);
	if (!status)
		status = vmlinux_read(&vmlinux, rec, &list);
	if (status)
		msg_prepend(&rec->msg, status, "%s", path);
	else
		status = symbol_file_finish(rec, &list, path);
	symbol_list_fini(&list);
	vmlinux_fini(&vmlinux);
	return status;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Kernel names from the symbol table of an ELF vmlinux. */
#include <string.h>

#include "base/readat.h"
#include "symbols/elf_unpack.h"
#include "symbols/elffile.h"
#include "recorder/session.h"
#include "symbols/symbol.h"

static enum btsrec_status vmlinux_init(struct elffile *vmlinux, struct msg *msg, const char *path)
{
	int fd = open_regular(path);
	enum btsrec_status status;

	elffile_none(vmlinux);
	if (fd < 0)
		return msg_set(msg, BTSREC_ERR_IO, "%s", open_regular_error());
	status = elffile_init_packed(vmlinux, msg, fd);
	if (status && status != BTSREC_ERR_IO && elf_file_is_packed(vmlinux->fd))
		return msg_set(msg, BTSREC_ERR_CORRUPT,
			       "what is packed in it is cut off or damaged, or is not an ELF file");
	if (status != BTSREC_ERR_IO && (status || gelf_getclass(vmlinux->elf) != ELFCLASS64))
		return msg_set(msg, BTSREC_ERR_CORRUPT, "not a 64-bit ELF file");
	return status;
}

/* The root may know no build-id, and so may the file: then nothing is refused. */
static enum btsrec_status vmlinux_check_build_id(const struct elffile *vmlinux, struct msg *msg,
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

static enum btsrec_status vmlinux_read(struct elffile *vmlinux, struct btsrec *rec,
				       struct symbol_list *list)
{
	enum btsrec_status status;

	status = vmlinux_check_build_id(vmlinux, &rec->msg, btsrec_root(rec));
	if (status)
		return status;
	status = elffile_symbols(vmlinux, SHT_SYMTAB, is_kernel_name, list);
	if (status == BTSREC_ERR_NO_SYMBOL && elffile_is_cut(vmlinux))
		return msg_set(&rec->msg, BTSREC_ERR_CORRUPT,
			       "no symbol table: the end of the file is missing");
	if (status == BTSREC_ERR_NO_SYMBOL)
		return msg_set(&rec->msg, BTSREC_ERR_CORRUPT, "no symbol table (stripped?)");
	return status ? msg_set(&rec->msg, status, "out of memory") : BTSREC_OK;
}

enum btsrec_status btsrec_add_vmlinux(struct btsrec *rec, const char *path)
{
	struct symbol_list list = { 0 };
	struct elffile vmlinux;
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
	elffile_fini(&vmlinux);
	return status;
}

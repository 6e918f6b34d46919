// SPDX-License-Identifier: GPL-2.0-or-later
/* The fields of the recorder's structures, by name. */
#include "mkimage.h"

#include <string.h>

#define FIELD(type, name) \
	{ #name, offsetof(struct type, name), sizeof(((struct type *)0)->name) }

const struct field root_fields[] = {
	FIELD(btsrec_root, magic), FIELD(btsrec_root, version_major),
	FIELD(btsrec_root, version_minor), FIELD(btsrec_root, self_pa),
	FIELD(btsrec_root, constant_bytes), FIELD(btsrec_root, root_bytes),
	FIELD(btsrec_root, cpu_bytes), FIELD(btsrec_root, record_bytes),
	FIELD(btsrec_root, page_bytes), FIELD(btsrec_root, flags),
	FIELD(btsrec_root, nr_cpu_ids), FIELD(btsrec_root, nr_cpu_dir_pages),
	FIELD(btsrec_root, mode), FIELD(btsrec_root, tsc_khz), FIELD(btsrec_root, generation),
	FIELD(btsrec_root, poison), FIELD(btsrec_root, ring_bytes),
	FIELD(btsrec_root, anchor_tsc), FIELD(btsrec_root, anchor_realtime_ns),
	FIELD(btsrec_root, anchor_boottime_ns), FIELD(btsrec_root, symbol_kva),
	FIELD(btsrec_root, symbol_name), FIELD(btsrec_root, release),
	FIELD(btsrec_root, phys_base), FIELD(btsrec_root, build_id_bytes), FIELD(btsrec_root, errata),
	FIELD(btsrec_root, nr_module_pages), FIELD(btsrec_root, nr_exec_pages),
	FIELD(btsrec_root, cpu_dir_pa[0]), FIELD(btsrec_root, cpu_dir_pa[1]),
	FIELD(btsrec_root, module_pa[0]), FIELD(btsrec_root, module_pa[1]),
	FIELD(btsrec_root, exec_pa[0]), FIELD(btsrec_root, fred_config),
	FIELD(btsrec_root, state),
	FIELD(btsrec_root, nr_arms), FIELD(btsrec_root, nr_modules),
	FIELD(btsrec_root, nr_modules_lost), FIELD(btsrec_root, freeze_tsc),
	FIELD(btsrec_root, freeze_cpu), FIELD(btsrec_root, freeze_reason),
	FIELD(btsrec_root, freeze_trigger), FIELD(btsrec_root, nr_late_triggers),
	FIELD(btsrec_root, cpus_left_out[0]), FIELD(btsrec_root, cpus_left_out[1]),
	FIELD(btsrec_root, copy_pa), FIELD(btsrec_root, nr_copies),
	FIELD(btsrec_root, nr_missed_triggers),
	{ 0 }
};

const struct field cpu_fields[] = {
	FIELD(btsrec_cpu, magic), FIELD(btsrec_cpu, cpu), FIELD(btsrec_cpu, self_pa),
	FIELD(btsrec_cpu, root_pa), FIELD(btsrec_cpu, generation),
	FIELD(btsrec_cpu, constant_bytes), FIELD(btsrec_cpu, ring_kva),
	FIELD(btsrec_cpu, ring_bytes), FIELD(btsrec_cpu, ds_kva), FIELD(btsrec_cpu, ds_pa),
	FIELD(btsrec_cpu, nr_ring_pages), FIELD(btsrec_cpu, nr_list_pages),
	FIELD(btsrec_cpu, list_pa[0]), FIELD(btsrec_cpu, source),
	FIELD(btsrec_cpu, nr_last_branches),
	FIELD(btsrec_cpu, state), FIELD(btsrec_cpu, stop_reason),
	FIELD(btsrec_cpu, stop_index_kva), FIELD(btsrec_cpu, annot_begin),
	FIELD(btsrec_cpu, annot_end), FIELD(btsrec_cpu, nr_annot_skipped),
	FIELD(btsrec_cpu, survived),
	FIELD(btsrec_cpu, nr_foreign_stops), FIELD(btsrec_cpu, context_seq),
	FIELD(btsrec_cpu, frozen), FIELD(btsrec_cpu, recorded_bytes),
	FIELD(btsrec_cpu, recorded_tsc), FIELD(btsrec_cpu, since_tsc),
	FIELD(btsrec_cpu, kernel_only),
	{ 0 }
};

const struct field freeze_fields[] = {
	FIELD(btsrec_freeze, reason), FIELD(btsrec_freeze, via_nmi), FIELD(btsrec_freeze, tsc),
	FIELD(btsrec_freeze, index_kva), FIELD(btsrec_freeze, stop_ip), FIELD(btsrec_freeze, ip),
	FIELD(btsrec_freeze, sp), FIELD(btsrec_freeze, bp), FIELD(btsrec_freeze, rflags),
	FIELD(btsrec_freeze, cs), FIELD(btsrec_freeze, cr3), FIELD(btsrec_freeze, debugctl),
	FIELD(btsrec_freeze, task_kva), FIELD(btsrec_freeze, pid), FIELD(btsrec_freeze, tgid),
	FIELD(btsrec_freeze, comm), FIELD(btsrec_freeze, pause_tsc),
	FIELD(btsrec_freeze, pause_reason), FIELD(btsrec_freeze, subject_pid),
	{ 0 }
};

const struct field registers_fields[] = {
	FIELD(btsrec_registers, flags), FIELD(btsrec_registers, vector),
	FIELD(btsrec_registers, error_code), FIELD(btsrec_registers, address),
	FIELD(btsrec_registers, fs_base), FIELD(btsrec_registers, gs_base),
	FIELD(btsrec_registers, kernel_gs_base), FIELD(btsrec_registers, cr2),
	{ 0 }
};

#define REG(name, number) { name, offsetof(struct btsrec_general, reg[number]), 8 }

const struct field general_fields[] = {
	FIELD(btsrec_general, ip), FIELD(btsrec_general, rflags), FIELD(btsrec_general, cs),
	FIELD(btsrec_general, ss),
	REG("rax", 0), REG("rcx", 1), REG("rdx", 2), REG("rbx", 3),
	REG("rsp", 4), REG("rbp", 5), REG("rsi", 6), REG("rdi", 7),
	REG("r8", 8), REG("r9", 9), REG("r10", 10), REG("r11", 11),
	REG("r12", 12), REG("r13", 13), REG("r14", 14), REG("r15", 15),
	{ 0 }
};

const struct field module_fields[] = {
	FIELD(btsrec_module, text_kva), FIELD(btsrec_module, text_bytes),
	FIELD(btsrec_module, module_kva), FIELD(btsrec_module, state), FIELD(btsrec_module, name),
	FIELD(btsrec_module, kallsyms_kva),
	{ 0 }
};

void add_change(struct change *changes, size_t *nr, void *at, size_t nr_bytes,
		       uint64_t value)
{
	if (*nr == MAX_CHANGES)
		die("too many changes");
	changes[(*nr)++] = (struct change){ at, nr_bytes, value };
}

void apply_changes(const struct change *changes, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++)
		memcpy(changes[i].at, &changes[i].value, changes[i].nr_bytes);
}

/* Numbers are set at the end, over what follows from the other statements. */
static void set_field(void *base, const struct field *field, const struct word *word)
{
	uint8_t *at = (uint8_t *)base + field->offset;

	if (field->nr_bytes > 8 || strstr(field->name, "name") || !strcmp(field->name, "comm")) {
		if (word->value_bytes > field->nr_bytes)
			die("%s: too long", field->name);
		memset(at, 0, field->nr_bytes);
		memcpy(at, word->value, word->value_bytes);
		return;
	}
	add_change(image.before_crc, &image.nr_before_crc, at, field->nr_bytes,
		   number_of(word->value));
}

/* Words that are fields of @base; @skip: keys with a meaning of their own. */
void set_fields(void *base, const struct field *fields, struct statement *statement,
		       const char *skip)
{
	size_t i;

	for (i = 1; i < statement->nr_words; i++) {
		const struct word *word = &statement->words[i];
		const struct field *field = fields;

		if (!word->value || strstr(skip, word->text))
			continue;
		while (field->name && strcmp(field->name, word->text))
			field++;
		if (!field->name)
			die("there is no field '%s'", word->text);
		set_field(base, field, word);
	}
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One check, one reason, in the order in which a field may be trusted: what the
 * page is, its version, its checksum, then its numbers.
 */
#include "recorder/validate.h"

#include <inttypes.h>
#include <zlib.h>

#include "source/image.h"

#define PA "0x%" PRIx64
#define KVA "0x%016" PRIx64

static uint64_t div_round_up(uint64_t n, uint64_t d)
{
	return n / d + (n % d != 0);
}

/* CRC-32 over the constant part with the checksum's own field taken as zero. */
static uint32_t constant_crc(const void *page, size_t constant_bytes, size_t crc_offset)
{
	static const uint8_t zero[4];
	const uint8_t *bytes = page;
	uLong crc = crc32(0, bytes, crc_offset);

	crc = crc32(crc, zero, sizeof(zero));
	bytes += crc_offset + sizeof(zero);
	return crc32(crc, bytes, constant_bytes - crc_offset - sizeof(zero));
}

/*
 * Upper half of the address space in the widest mode, bits 63:56 all ones.  The
 * end is included, so that the range cannot wrap.
 */
static bool kernel_range(uint64_t kva, uint64_t bytes)
{
	return kva >= 0xff00000000000000ULL && bytes <= UINT64_MAX - kva;
}

static enum btsrec_status validate_root_layout(const struct btsrec_root *root, struct msg *why)
{
	/* What the first version had; the rest of the page is zero. */
	const size_t least_bytes = offsetof(struct btsrec_root, freeze_trigger);

	if (root->root_bytes < least_bytes || root->root_bytes > BTSREC_PAGE_BYTES)
		return msg_set(why, BTSREC_ERR_CORRUPT, "root of %u bytes", root->root_bytes);
	if (root->cpu_bytes < BTSREC_CPU_MIN_BYTES || root->cpu_bytes > BTSREC_PAGE_BYTES)
		return msg_set(why, BTSREC_ERR_CORRUPT, "CPU pages of %u bytes", root->cpu_bytes);
	if (root->record_bytes != BTSREC_RECORD_BYTES)
		return msg_set(why, BTSREC_ERR_CORRUPT, "records of %u bytes", root->record_bytes);
	if (root->page_bytes != BTSREC_PAGE_BYTES)
		return msg_set(why, BTSREC_ERR_CORRUPT, "pages of %u bytes", root->page_bytes);
	if (root->poison != BTSREC_POISON)
		return msg_set(why, BTSREC_ERR_CORRUPT, "poison is " KVA, (uint64_t)root->poison);
	if (root->build_id_bytes > BTSREC_BUILD_ID_BYTES)
		return msg_set(why, BTSREC_ERR_CORRUPT, "build-id of %u bytes",
			       root->build_id_bytes);
	return BTSREC_OK;
}

static enum btsrec_status validate_ring_bytes(uint64_t ring_bytes, struct msg *why)
{
	if (!ring_bytes || ring_bytes % BTSREC_RECORD_BYTES)
		return msg_set(why, BTSREC_ERR_CORRUPT,
			       "rings of %" PRIu64 " bytes: no whole records", ring_bytes);
	if (ring_bytes > (uint64_t)BTSREC_MAX_LIST_PAGES * BTSREC_PAS_PER_PAGE * BTSREC_PAGE_BYTES)
		return msg_set(why, BTSREC_ERR_CORRUPT, "rings of %" PRIu64 " bytes: too large",
			       ring_bytes);
	return BTSREC_OK;
}

static enum btsrec_status validate_root_counts(const struct btsrec_root *root, struct msg *why)
{
	if (!root->nr_cpu_ids ||
	    root->nr_cpu_ids > BTSREC_MAX_CPU_DIR_PAGES * BTSREC_PAS_PER_PAGE)
		return msg_set(why, BTSREC_ERR_CORRUPT, "%u CPU numbers", root->nr_cpu_ids);
	if (root->nr_cpu_dir_pages != div_round_up(root->nr_cpu_ids, BTSREC_PAS_PER_PAGE))
		return msg_set(why, BTSREC_ERR_CORRUPT, "%u CPU directory pages for %u CPU numbers",
			       root->nr_cpu_dir_pages, root->nr_cpu_ids);
	if (validate_ring_bytes(root->ring_bytes, why) != BTSREC_OK)
		return BTSREC_ERR_CORRUPT;
	if (root->nr_module_pages > sizeof(root->module_pa) / sizeof(root->module_pa[0]))
		return msg_set(why, BTSREC_ERR_CORRUPT, "%u module map pages",
			       root->nr_module_pages);
	if (root->nr_exec_pages > sizeof(root->exec_pa) / sizeof(root->exec_pa[0]))
		return msg_set(why, BTSREC_ERR_CORRUPT, "%u exec ring pages", root->nr_exec_pages);
	return BTSREC_OK;
}

static enum btsrec_status validate_pas(const __u64 *pas, uint32_t nr, const char *what,
				       struct msg *why)
{
	for (uint32_t i = 0; i < nr; i++) {
		if (!image_pa_ok(pas[i]))
			return msg_set(why, BTSREC_ERR_CORRUPT, "%s page %u is at " PA, what, i,
				       (uint64_t)pas[i]);
	}
	return BTSREC_OK;
}

static enum btsrec_status validate_root_pas(const struct btsrec_root *root, struct msg *why)
{
	enum btsrec_status status;

	status = validate_pas(root->cpu_dir_pa, root->nr_cpu_dir_pages, "CPU directory", why);
	if (status == BTSREC_OK)
		status = validate_pas(root->module_pa, root->nr_module_pages, "module map", why);
	if (status == BTSREC_OK)
		status = validate_pas(root->exec_pa, root->nr_exec_pages, "exec ring", why);
	return status;
}

enum btsrec_status validate_root(const struct btsrec_root *root, uint64_t pa, struct msg *why)
{
	enum btsrec_status status;

	if (root->magic != BTSREC_ROOT_MAGIC)
		return msg_set(why, BTSREC_ERR_BAD_ROOT, "no root magic");
	if (root->self_pa != pa)
		return msg_set(why, BTSREC_ERR_BAD_ROOT, "copy of a root that belongs at " PA,
			       (uint64_t)root->self_pa);
	if (root->version_major != BTSREC_ABI_MAJOR)
		return msg_set(why, BTSREC_ERR_VERSION,
			       "format version %u.%u, this decoder reads %u.x",
			       root->version_major, root->version_minor, BTSREC_ABI_MAJOR);
	if (root->constant_bytes != BTSREC_ROOT_LIVE_OFFSET)
		return msg_set(why, BTSREC_ERR_BAD_ROOT, "constant part of %u bytes",
			       root->constant_bytes);
	if (root->crc32 != constant_crc(root, BTSREC_ROOT_LIVE_OFFSET,
					offsetof(struct btsrec_root, crc32)))
		return msg_set(why, BTSREC_ERR_BAD_ROOT, "checksum of the root does not match");
	status = validate_root_layout(root, why);
	if (status == BTSREC_OK)
		status = validate_root_counts(root, why);
	if (status == BTSREC_OK)
		status = validate_root_pas(root, why);
	return status;
}

static enum btsrec_status validate_cpu_identity(const struct btsrec_cpu *cpu,
						const struct btsrec_root *root, uint32_t nr,
						uint64_t pa, struct msg *why)
{
	if (cpu->magic != BTSREC_CPU_MAGIC)
		return msg_set(why, BTSREC_ERR_CORRUPT, "no CPU page magic");
	if (cpu->self_pa != pa)
		return msg_set(why, BTSREC_ERR_CORRUPT, "copy of a CPU page that belongs at " PA,
			       (uint64_t)cpu->self_pa);
	if (cpu->constant_bytes != BTSREC_CPU_LIVE_OFFSET)
		return msg_set(why, BTSREC_ERR_CORRUPT, "constant part of %u bytes",
			       cpu->constant_bytes);
	if (cpu->crc32 != constant_crc(cpu, BTSREC_CPU_LIVE_OFFSET,
				       offsetof(struct btsrec_cpu, crc32)))
		return msg_set(why, BTSREC_ERR_CORRUPT, "checksum of the CPU page does not match");
	if (cpu->cpu != nr)
		return msg_set(why, BTSREC_ERR_CORRUPT, "page of CPU %u", cpu->cpu);
	if (cpu->root_pa != root->self_pa)
		return msg_set(why, BTSREC_ERR_CORRUPT, "belongs to the root at " PA,
			       (uint64_t)cpu->root_pa);
	if (cpu->generation != root->generation)
		return msg_set(why, BTSREC_ERR_CORRUPT,
			       "generation %" PRIu64 ", the root's is %" PRIu64,
			       (uint64_t)cpu->generation, (uint64_t)root->generation);
	return BTSREC_OK;
}

/* Does each CPU have a size of its own?  Before 1.9 all had the same. */
static bool has_sizes(const struct btsrec_root *root)
{
	return root->version_minor >= 9;
}

static enum btsrec_status validate_cpu_ring(const struct btsrec_cpu *cpu,
					    const struct btsrec_root *root, struct msg *why)
{
	if (!has_sizes(root) && cpu->ring_bytes != root->ring_bytes)
		return msg_set(why, BTSREC_ERR_CORRUPT,
			       "ring of %" PRIu64 " bytes, the root says %" PRIu64,
			       (uint64_t)cpu->ring_bytes, (uint64_t)root->ring_bytes);
	if (validate_ring_bytes(cpu->ring_bytes, why) != BTSREC_OK)
		return BTSREC_ERR_CORRUPT;
	if (cpu->ring_kva % BTSREC_PAGE_BYTES || !kernel_range(cpu->ring_kva, cpu->ring_bytes))
		return msg_set(why, BTSREC_ERR_CORRUPT, "ring is mapped at " KVA,
			       (uint64_t)cpu->ring_kva);
	if (cpu->nr_ring_pages != div_round_up(cpu->ring_bytes, BTSREC_PAGE_BYTES))
		return msg_set(why, BTSREC_ERR_CORRUPT, "%u pages for a ring of %" PRIu64 " bytes",
			       cpu->nr_ring_pages, (uint64_t)cpu->ring_bytes);
	if (cpu->nr_list_pages != div_round_up(cpu->nr_ring_pages, BTSREC_PAS_PER_PAGE))
		return msg_set(why, BTSREC_ERR_CORRUPT, "%u list pages for %u ring pages",
			       cpu->nr_list_pages, cpu->nr_ring_pages);
	return validate_pas(cpu->list_pa, cpu->nr_list_pages, "list", why);
}

/* The index is read as 8 bytes at +8; physical contiguity ends with the page. */
static bool ds_in_page(uint64_t pa)
{
	return pa % 8 == 0 && pa % BTSREC_PAGE_BYTES <= BTSREC_PAGE_BYTES - 16;
}

static enum btsrec_status validate_cpu_ds(const struct btsrec_cpu *cpu, struct msg *why)
{
	if (!cpu->ds_pa || cpu->ds_pa >= IMAGE_MAX_PA || !ds_in_page(cpu->ds_pa))
		return msg_set(why, BTSREC_ERR_CORRUPT, "DS area is at " PA, (uint64_t)cpu->ds_pa);
	if (!kernel_range(cpu->ds_kva, BTSREC_PAGE_BYTES))
		return msg_set(why, BTSREC_ERR_CORRUPT, "DS area is mapped at " KVA,
			       (uint64_t)cpu->ds_kva);
	if (cpu->ds_kva % BTSREC_PAGE_BYTES != cpu->ds_pa % BTSREC_PAGE_BYTES)
		return msg_set(why, BTSREC_ERR_CORRUPT,
			       "DS area at " PA " cannot be mapped at " KVA,
			       (uint64_t)cpu->ds_pa, (uint64_t)cpu->ds_kva);
	return BTSREC_OK;
}

enum btsrec_status validate_cpu(const struct btsrec_cpu *cpu, const struct btsrec_root *root,
				uint32_t nr, uint64_t pa, struct msg *why)
{
	enum btsrec_status status;

	status = validate_cpu_identity(cpu, root, nr, pa, why);
	if (status == BTSREC_OK)
		status = validate_cpu_ring(cpu, root, why);
	if (status == BTSREC_OK)
		status = validate_cpu_ds(cpu, why);
	return status;
}

enum btsrec_status validate_module(const struct btsrec_module *module, struct msg *why)
{
	if (module->state != BTSREC_MODULE_LIVE && module->state != BTSREC_MODULE_GONE)
		return msg_set(why, BTSREC_ERR_CORRUPT, "state %u", module->state);
	if (!kernel_range(module->text_kva, module->text_bytes))
		return msg_set(why, BTSREC_ERR_CORRUPT, "text of %" PRIu64 " bytes at " KVA,
			       (uint64_t)module->text_bytes, (uint64_t)module->text_kva);
	if (module->build_id_bytes > BTSREC_BUILD_ID_BYTES)
		return msg_set(why, BTSREC_ERR_CORRUPT, "build-id of %u bytes",
			       module->build_id_bytes);
	if (!module->name[0])
		return msg_set(why, BTSREC_ERR_CORRUPT, "no name");
	return BTSREC_OK;
}

void validate_cpu_live(const struct btsrec_cpu *cpu, struct diags *diags)
{
	uint64_t pa = cpu->self_pa;

	if (cpu->state > BTSREC_CPU_FROZEN)
		diags_add(diags, BTSREC_ERR_CORRUPT, cpu->cpu, pa, "state %u is unknown",
			  cpu->state);
	if (cpu->state == BTSREC_CPU_FROZEN && !cpu->frozen)
		diags_add(diags, BTSREC_ERR_CORRUPT, cpu->cpu, pa,
			  "frozen, but the freeze snapshot is not whole");
	if (cpu->annot_begin - cpu->annot_end > 1)
		diags_add(diags, BTSREC_ERR_CORRUPT, cpu->cpu, pa,
			  "%" PRIu64 " annotations begun, %" PRIu64 " ended",
			  (uint64_t)cpu->annot_begin, (uint64_t)cpu->annot_end);
	if (cpu->annot_begin - cpu->annot_end == 1)
		diags_add(diags, BTSREC_OK, cpu->cpu, pa, "stopped while writing an annotation");
	if (cpu->context_seq % 2)
		diags_add(diags, BTSREC_OK, cpu->cpu, pa,
			  "stopped while writing the current context");
	if (cpu->state == BTSREC_CPU_ARMED && !cpu->frozen)
		diags_add(diags, BTSREC_OK, cpu->cpu, pa, "was still recording");
}

void validate_root_live(const struct btsrec_root *root, struct diags *diags)
{
	uint64_t nr_slots = root->nr_module_pages * BTSREC_MODULES_PER_PAGE;

	if (root->state < BTSREC_ROOT_LOADED || root->state > BTSREC_ROOT_FROZEN)
		diags_add(diags, BTSREC_ERR_CORRUPT, DIAG_NO_CPU, root->self_pa,
			  "state %u of the root is unknown", root->state);
	if (root->nr_modules > nr_slots)
		diags_add(diags, BTSREC_ERR_CORRUPT, DIAG_NO_CPU, root->self_pa,
			  "%u modules in a map of %" PRIu64, root->nr_modules, nr_slots);
	if (root->nr_modules_lost)
		diags_add(diags, BTSREC_OK, DIAG_NO_CPU, root->self_pa,
			  "%u modules found no place in the module map", root->nr_modules_lost);
}

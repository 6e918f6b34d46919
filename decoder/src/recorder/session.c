// SPDX-License-Identifier: GPL-2.0-or-later
#include "recorder/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/options.h"
#include "source/image.h"

#ifndef BTSREC_VERSION
#error "the build gives BTSREC_VERSION"
#endif

const char *btsrec_version(void)
{
	return BTSREC_VERSION;
}

/* --- Session ------------------------------------------------------------ */

void session_part_free(struct session_part *part)
{
	if (part->free)
		part->free(part->data);
	memset(part, 0, sizeof(*part));
}

/** struct per_cpu - pointers of @nr_cpus CPUs, each for @free_one */
struct per_cpu {
	unsigned int nr_cpus;
	void (*free_one)(void *data);
	void *of_cpu[];
};

static void per_cpu_free(void *data)
{
	struct per_cpu *all = data;

	for (unsigned int cpu = 0; cpu < all->nr_cpus; cpu++)
		all->free_one(all->of_cpu[cpu]);
	free(all);
}

void **session_per_cpu(struct btsrec *rec, struct session_part *part, unsigned int cpu,
		       void (*free_one)(void *data))
{
	unsigned int nr_cpus = btsrec_nr_cpu_ids(rec);
	struct per_cpu *all = part->data;

	if (!all && nr_cpus) {
		all = calloc(1, sizeof(*all) + nr_cpus * sizeof(all->of_cpu[0]));
		if (!all)
			return NULL;
		all->nr_cpus = nr_cpus;
		all->free_one = free_one;
		*part = (struct session_part){ .data = all, .free = per_cpu_free };
	}
	return all && cpu < all->nr_cpus ? &all->of_cpu[cpu] : NULL;
}

void *session_kept(const struct session_part *part, unsigned int cpu)
{
	const struct per_cpu *all = part->data;

	return all && cpu < all->nr_cpus ? all->of_cpu[cpu] : NULL;
}

struct btsrec *session_new(session_settle_fn settle)
{
	struct btsrec *rec = calloc(1, sizeof(*rec));

	if (!rec)
		return NULL;
	pthread_mutex_init(&rec->reading, NULL);
	rec->settle = settle;
	return rec;
}

void btsrec_free(struct btsrec *rec)
{
	if (!rec)
		return;
	session_part_free(&rec->spaces);
	session_part_free(&rec->checkpoints);
	session_part_free(&rec->lines);
	session_part_free(&rec->code);
	session_part_free(&rec->symbols);
	diags_fini(&rec->diags);
	session_part_free(&rec->source);
	if (!rec->clone_of) {
		located_free(rec->located);
		free(rec->sysroot);
		free(rec->debuginfo);
	}
	pthread_mutex_destroy(&rec->reading);
	free(rec);
}

/* What the source refuses is noted in @rec, which has the image. */
struct btsrec *session_clone(struct btsrec *rec)
{
	struct btsrec *clone = session_new(rec->settle);

	if (!clone)
		return NULL;
	clone->clone_of = rec;
	clone->has_image = true;
	clone->image = rec->image;
	clone->is_file = rec->is_file;
	memcpy(clone->notice, rec->notice, sizeof(clone->notice));
	clone->incomplete = rec->incomplete;
	clone->located = rec->located;
	clone->no_dump_names = rec->no_dump_names;
	clone->raw_names = rec->raw_names;
	clone->no_user = rec->no_user;
	clone->no_paths = rec->no_paths;
	clone->is_kept = rec->is_kept;
	clone->no_log = rec->no_log;
	clone->log_left_out = rec->log_left_out;
	clone->full_cpus = rec->full_cpus;
	clone->nr_full_cpus = rec->nr_full_cpus;
	clone->sysroot = rec->sysroot;
	clone->debuginfo = rec->debuginfo;
	return clone;
}

const char *btsrec_errmsg(const struct btsrec *rec)
{
	return rec->msg.text;
}

/* --- Trouble ------------------------------------------------------------ */

static bool is_trouble(enum btsrec_status status)
{
	return status == BTSREC_ERR_IO || status == BTSREC_ERR_NOMEM ||
	       status == BTSREC_ERR_CORRUPT;
}

/* By any thread: while the source unpacks the page of one, the others go on. */
static bool read_whole_page(const struct btsrec *rec, uint64_t pa, void *buf, size_t len_bytes)
{
	return rec->given.read_pages && len_bytes == BTSREC_PAGE_BYTES && image_pa_ok(pa) &&
	       rec->given.read_pages(rec->given.arg, &pa, 1, buf);
}

/* What is damaged is not there for those that read, and said at the end. */
static enum btsrec_status watched_read_pa(void *arg, uint64_t pa, void *buf, size_t len_bytes,
					  size_t *ret_bytes)
{
	struct btsrec *rec = arg;
	enum btsrec_status status;

	if (read_whole_page(rec, pa, buf, len_bytes)) {
		*ret_bytes = len_bytes;
		return BTSREC_OK;
	}
	pthread_mutex_lock(&rec->reading);
	status = rec->given.read_pa(rec->given.arg, pa, buf, len_bytes, ret_bytes);
	/* Which refusal is first depends on threads; which is lowest does not. */
	if (is_trouble(status) && (!rec->trouble || pa + *ret_bytes < rec->trouble_pa)) {
		rec->trouble = status;
		rec->trouble_pa = pa + *ret_bytes;
	}
	pthread_mutex_unlock(&rec->reading);
	return status == BTSREC_ERR_CORRUPT ? BTSREC_ERR_NODATA : status;
}

/*
 * For image_read_pages(), from several threads at once; of what cannot be read, read_pa() is
 * asked next.
 */
static bool watched_read_pages(void *arg, const uint64_t *page_pa, size_t nr, void *buf)
{
	struct btsrec *rec = arg;

	return rec->given.read_pages(rec->given.arg, page_pa, nr, buf);
}

/* For a full scan, by one thread, when nothing else is read. */
static uint64_t watched_next_pa(void *arg, uint64_t pa)
{
	struct btsrec *rec = arg;

	return rec->given.next_pa(rec->given.arg, pa);
}

/* __START_KERNEL_map of arch/x86; the image with all that it has is smaller than the other. */
#define IMAGE_KVA	0xffffffff80000000ULL
#define IMAGE_MAX_BYTES	(64ULL << 20)

static bool is_ring_of(const struct located_cpu *cpu, uint64_t page_pa)
{
	for (uint64_t i = 0; cpu && i < cpu->page.nr_ring_pages; i++)
		if (cpu->ring_pa[i] == page_pa)
			return true;
	return false;
}

struct session_memory session_memory(const struct btsrec *rec, uint64_t pa)
{
	const struct located *located = rec->located;
	uint64_t page_pa = pa & ~(uint64_t)(BTSREC_PAGE_BYTES - 1), symbol_pa;
	struct session_memory ret = { "memory" };

	if (!located)
		return ret;
	for (unsigned int i = 0; i < located->nr_cpus; i++) {
		if (!is_ring_of(located->cpus[i], page_pa))
			continue;
		snprintf(ret.text, sizeof(ret.text), "the ring of CPU %u", i);
		return ret;
	}
	symbol_pa = located->root.symbol_kva - IMAGE_KVA + located->root.phys_base;
	if (pa + IMAGE_MAX_BYTES - symbol_pa < 2 * IMAGE_MAX_BYTES)
		snprintf(ret.text, sizeof(ret.text), "the kernel's image, its code and its names");
	return ret;
}

enum btsrec_status session_probe(struct btsrec *rec, uint64_t pa)
{
	enum btsrec_status status;
	size_t ignored;
	uint8_t byte;

	pthread_mutex_lock(&rec->reading);
	status = rec->given.read_pa(rec->given.arg, pa, &byte, sizeof(byte), &ignored);
	pthread_mutex_unlock(&rec->reading);
	return status;
}

enum btsrec_status session_end(struct btsrec *rec, enum btsrec_status status)
{
	if (status == BTSREC_ERR_STOPPED)
		return status;
	if (rec->nomem || rec->trouble == BTSREC_ERR_NOMEM)
		return msg_set(&rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	if (rec->trouble == BTSREC_ERR_CORRUPT)
		return msg_set(&rec->msg, rec->trouble,
			       "the file is damaged where it has %s, at 0x%llx",
			       session_memory(rec, rec->trouble_pa).text,
			       (unsigned long long)rec->trouble_pa);
	if (rec->trouble)
		return msg_set(&rec->msg, rec->trouble, "the memory at 0x%llx cannot be read",
			       (unsigned long long)rec->trouble_pa);
	return status;
}

/* --- Source ------------------------------------------------------------- */

enum btsrec_status session_open(struct btsrec *rec, const struct btsrec_image *image,
				struct session_part source)
{
	if (!image->read_pa)
		return msg_set(&rec->msg, BTSREC_ERR_INVAL, "the image has no read_pa");
	if (rec->has_image)
		return msg_set(&rec->msg, BTSREC_ERR_INVAL, "the session has a source already");
	rec->given = *image;
	rec->image = *image;
	rec->image.read_pa = watched_read_pa;
	rec->image.read_pages = image->read_pages ? watched_read_pages : NULL;
	rec->image.next_pa = image->next_pa ? watched_next_pa : NULL;
	rec->image.arg = rec;
	rec->source = source;
	rec->has_image = true;
	return BTSREC_OK;
}

void btsrec_set_threads(struct btsrec *rec, unsigned int nr_threads)
{
	rec->nr_threads = nr_threads;
}

enum btsrec_status btsrec_open_image(struct btsrec *rec, const struct btsrec_image *given)
{
	struct btsrec_image image;
	enum btsrec_status status = options_read(&rec->msg, given, &image, sizeof(image));

	return status ? status : session_open(rec, &image, (struct session_part){ 0 });
}

enum btsrec_status btsrec_locate(struct btsrec *rec, uint64_t root_pa, enum btsrec_scan scan)
{
	struct located *located;
	enum btsrec_status status;

	if (!rec->has_image)
		return msg_set(&rec->msg, BTSREC_ERR_INVAL, "the session has no source");
	if (rec->located)
		return msg_set(&rec->msg, BTSREC_ERR_INVAL,
			       "the recorder has been located already");
	diags_fini(&rec->diags);
	rec->trouble = BTSREC_OK;
	rec->nomem = false;
	status = locate(&rec->image, root_pa, scan, &rec->diags, &rec->msg, &located);
	rec->nomem |= rec->diags.nomem;
	if (status == BTSREC_ERR_NO_ROOT && rec->incomplete && !rec->image.vmcoreinfo)
		status = msg_set(&rec->msg, BTSREC_ERR_NODATA, "no recorder in what is there of "
				 "this dump, and no VMCOREINFO says that there was none");
	if (status == BTSREC_OK)
		rec->located = located;
	else if (*rec->notice)
		msg_prepend(&rec->msg, status, "%s", rec->notice);
	/* What is there shows less than there is; the view says so. */
	return status ? session_end(rec, status) : BTSREC_OK;
}

const struct btsrec_root *btsrec_root(const struct btsrec *rec)
{
	return rec->located ? &rec->located->root : NULL;
}

unsigned int btsrec_nr_cpu_ids(const struct btsrec *rec)
{
	return rec->located ? rec->located->nr_cpus : 0;
}

const struct located_cpu *session_cpu(const struct btsrec *rec, unsigned int cpu)
{
	return cpu < btsrec_nr_cpu_ids(rec) ? rec->located->cpus[cpu] : NULL;
}

/* Is @cpu, or the list of CPUs, damaged? */
static bool is_damaged(const struct btsrec *rec, unsigned int cpu)
{
	for (size_t i = 0; i < rec->diags.nr; i++) {
		const struct diag *diag = &rec->diags.list[i];

		if (diag->status && (diag->cpu == cpu || diag->cpu == DIAG_NO_CPU))
			return true;
	}
	return rec->diags.nr_dropped;
}

static bool is_shown(const struct btsrec *rec, unsigned int cpu)
{
	return session_cpu(rec, cpu);
}

bool session_left_out(const struct btsrec *rec, unsigned int cpu)
{
	return cpu < btsrec_nr_cpu_ids(rec) && cpu < 64 * BTSREC_LEFT_OUT_WORDS &&
	       btsrec_root(rec)->cpus_left_out[cpu / 64] >> cpu % 64 & 1;
}

/* The CPUs of one kind, as "0-3,8"; "..." for those beyond the room. */
static void list_cpus(const struct btsrec *rec,
		      bool (*is_one)(const struct btsrec *rec, unsigned int cpu), char *ret,
		      size_t ret_bytes)
{
	unsigned int nr_cpus = btsrec_nr_cpu_ids(rec), first, end;
	size_t at = 0;

	*ret = '\0';
	for (first = 0; first < nr_cpus; first = end + 1) {
		for (end = first; is_one(rec, end); end++)
			;
		if (end == first)
			continue;
		if (at + sizeof("4294967295-4294967295,...") > ret_bytes) {
			snprintf(ret + at, ret_bytes - at, ",...");
			return;
		}
		at += (size_t)snprintf(ret + at, ret_bytes - at, at ? ",%u" : "%u", first);
		if (end - first > 1)
			at += (size_t)snprintf(ret + at, ret_bytes - at, "-%u", end - 1);
	}
}

void session_list_left_out(const struct btsrec *rec, char *ret, size_t ret_bytes)
{
	list_cpus(rec, session_left_out, ret, ret_bytes);
}

enum btsrec_status session_no_cpu(struct btsrec *rec, unsigned int cpu)
{
	char cpus[128];

	if (session_left_out(rec, cpu))
		return msg_set(&rec->msg, BTSREC_ERR_NO_CPU,
			       "CPU %u is left out: cpus= did not name it", cpu);
	list_cpus(rec, is_shown, cpus, sizeof(cpus));
	if (!*cpus || is_damaged(rec, cpu))
		return msg_set(&rec->msg, BTSREC_ERR_NO_CPU, "CPU %u has no usable ring", cpu);
	return msg_set(&rec->msg, BTSREC_ERR_NO_CPU, "the recorder has no CPU %u, only %s", cpu,
		       cpus);
}

const struct btsrec_cpu *btsrec_cpu(const struct btsrec *rec, unsigned int cpu)
{
	const struct located_cpu *lc = session_cpu(rec, cpu);

	return lc ? &lc->page : NULL;
}

bool session_is_newer(const struct btsrec *rec)
{
	return rec->located && rec->located->root.version_minor > BTSREC_ABI_MINOR;
}

uint32_t session_last_branches(const struct btsrec *rec)
{
	uint32_t most = 0;

	for (unsigned int i = 0; i < btsrec_nr_cpu_ids(rec); i++) {
		const struct btsrec_cpu *cpu = btsrec_cpu(rec, i);

		if (cpu && cpu->source == BTSREC_SOURCE_LBR && cpu->nr_last_branches > most)
			most = cpu->nr_last_branches;
	}
	return most;
}

const struct btsrec_cpu *session_failed_cpu(const struct btsrec *rec)
{
	const struct btsrec_root *root = btsrec_root(rec);
	const struct btsrec_cpu *cpu = root && root->freeze_reason ?
				       btsrec_cpu(rec, root->freeze_cpu) : NULL;

	return cpu && cpu->state == BTSREC_CPU_FROZEN ? cpu : NULL;
}

const struct btsrec_module *btsrec_module_at(const struct btsrec *rec, uint64_t kva)
{
	return rec->located ? located_module_at(rec->located, kva) : NULL;
}

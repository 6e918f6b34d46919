// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The histories as a perf.data.  Each branch is a sample of the kind that the kernel's BTS driver
 * made before it had a decoder of its own.  "perf script" prints it as "from => to".  It has a
 * branch stack of one entry, which "perf report -b" counts.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/bounds.h"
#include "base/options.h"
#include "flow/clock.h"
#include "kernel/kread.h"
#include "export/perf_file.h"
#include "render/render.h"
#include "flow/event_filter.h"
#include "symbols/symbol.h"
#include "symbols/user.h"
#include "recorder/cpus.h"

static const char kernel_path[] = "[kernel.kallsyms]";

/* A page that was pushed out of the table is asked about again, its mapping written again. */
#define NR_MAPPED_PAGES 4096

/** struct mapped_page - a page of a process with a mapping that perf knows; @page_va 0: none */
struct mapped_page {
	uint64_t page_va;
	uint64_t cr3;
	uint32_t tgid;
};

/* A power of two. */
#define NR_TYPED BOUND(1U << 14, 1U << 2)

/** struct typed - a branch that was judged not long ago; @type: of perf, + 1; 0: none was */
struct typed {
	uint64_t from;
	uint64_t to;
	uint64_t cr3;
	uint64_t type;
};

/**
 * struct export - one btsrec_export_perf() under way
 * @counting: nothing is written, only @nr_bytes.
 * @tsc: of the last annotation; before the first one, of that.  @time_ns: the same for perf.
 * @side: the thread at the event before; NULL: unknown.
 * @user: NULL: nothing knows of user addresses, or there is no time.  Without one perf cannot order
 *	samples and the start of a program.
 * @mapped_pages: since the beginning of the history of @cpu.
 */
struct export {
	struct btsrec *rec;
	const struct btsrec_export *opts;
	struct clock clock;
	struct event_filter event_filter;
	bool counting;
	uint64_t nr_bytes;
	uint64_t tsc;
	uint64_t time_ns;
	unsigned int cpu;
	const struct btsrec_side *side;
	struct user *user;
	struct mapped_page mapped_pages[NR_MAPPED_PAGES];
	struct typed typed[NR_TYPED];
	struct out out;
};

static void put(struct export *export, const void *record, size_t nr_bytes)
{
	export->nr_bytes += nr_bytes;
	if (!export->counting)
		out_bytes(&export->out, record, nr_bytes);
}

/* Time since boot, as perf's own clock counts about; 0 without a known frequency. */
static uint64_t make_time_ns(const struct export *export)
{
	const struct clock *clock = &export->clock;
	uint64_t before_ns;

	if (!clock->tsc_khz)
		return 0;
	if (export->tsc < clock->anchor_tsc) {
		before_ns = clock_ns(clock, clock->anchor_tsc - export->tsc);
		return before_ns < clock->anchor_boottime_ns ?
		       clock->anchor_boottime_ns - before_ns : 0;
	}
	return clock->anchor_boottime_ns + clock_ns(clock, export->tsc - clock->anchor_tsc);
}

static void set_time(struct export *export, uint64_t tsc)
{
	export->tsc = tsc;
	export->time_ns = make_time_ns(export);
}

/* --- Records ------------------------------------------------------------ */

static struct trailer trailer_of(const struct export *export)
{
	return (struct trailer){
		.pid = export->side ? export->side->tgid : UNKNOWN_PID,
		.tid = export->side ? export->side->pid : UNKNOWN_PID,
		.time_ns = export->time_ns,
		.cpu = export->cpu,
	};
}

/*
 * perf prints names as they are, to a terminal, and opens files by them: what is not
 * printable ASCII, and any slash but a comm's, becomes a '?'.  @ret has room for @max_bytes
 * and a zero.
 */
static void put_plain(char *ret, const char *name, size_t max_bytes, bool slashes)
{
	size_t i;

	for (i = 0; i < max_bytes && name[i]; i++) {
		ret[i] = name[i];
		if (name[i] < ' ' || name[i] > '~' || (name[i] == '/' && !slashes))
			ret[i] = '?';
	}
	ret[i] = '\0';
}

static void put_comm(struct export *export)
{
	struct comm_record record = {
		.header = { PERF_RECORD_COMM, PERF_RECORD_MISC_USER, sizeof(record) },
		.pid = export->side->tgid,
		.tid = export->side->pid,
		.trailer = trailer_of(export),
	};

	put_plain(record.comm, export->side->comm, sizeof(record.comm) - 1, true);
	put(export, &record, sizeof(record));
}

static uint64_t perf_type(const struct branch *branch)
{
	switch (branch->type) {
	case BRANCH_CALL:	return PERF_BR_CALL;
	case BRANCH_CALL_IND:	return PERF_BR_IND_CALL;
	case BRANCH_RET:	return PERF_BR_RET;
	case BRANCH_JUMP:	return PERF_BR_UNCOND;
	case BRANCH_JUMP_IND:	return PERF_BR_IND;
	case BRANCH_COND:	return PERF_BR_COND;
	case BRANCH_SYSCALL:	return PERF_BR_SYSCALL;
	case BRANCH_SYSRET:	return PERF_BR_SYSRET;
	case BRANCH_IRET:	return PERF_BR_ERET;
	case BRANCH_IRQ:	return PERF_BR_IRQ;
	default:		return PERF_BR_UNKNOWN;
	}
}

/* The same branch is of the same type as long as its code is the same. */
static uint64_t branch_type(struct export *export, const struct btsrec_event *event)
{
	const struct btsrec_record *record = &event->branch;
	uint64_t cr3 = export->side ? export->side->cr3 : 0;
	uint64_t sum = (record->from ^ record->to << 20 ^ cr3) * 0x9e3779b97f4a7c15ULL;
	struct typed *typed = &export->typed[(sum >> 32) % NR_TYPED];
	struct branch branch;

	if (!typed->type || typed->from != record->from || typed->to != record->to ||
	    typed->cr3 != cr3) {
		branch = trace_type(&export->event_filter.types, event);
		*typed = (struct typed){ record->from, record->to, cr3, perf_type(&branch) + 1 };
	}
	return typed->type - 1;
}

/* The bit-field at the end of struct perf_branch_entry. */
static uint64_t branch_flags(struct export *export, const struct btsrec_event *event)
{
	bool predicted = event->branch.flags & BTSREC_FLAG_PREDICTED;

	return (predicted ? 2 : 1) | branch_type(export, event) << 20;
}

static void put_branch(struct export *export, const struct btsrec_event *event)
{
	struct trailer trailer = trailer_of(export);
	struct branch_sample sample = {
		.header = { PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, sizeof(sample) },
		.ip = event->branch.from,
		.pid = trailer.pid,
		.tid = trailer.tid,
		.time_ns = trailer.time_ns,
		.addr = event->branch.to,
		.cpu = trailer.cpu,
		.nr_branches = 1,
		.from = event->branch.from,
		.to = event->branch.to,
	};

	if (code_is_kernel(event->branch.from))
		sample.header.misc = PERF_RECORD_MISC_KERNEL;
	if (!export->counting)
		sample.flags = branch_flags(export, event);
	put(export, &sample, sizeof(sample));
}

static void put_mapping(struct export *export, const struct user_mapping *mapping)
{
	static const char zeros[sizeof(uint64_t)];
	const size_t path_bytes = strlen(mapping->path);
	const size_t fill_bytes = sizeof(zeros) - path_bytes % sizeof(zeros);
	const struct trailer trailer = trailer_of(export);
	struct mmap2_record record = {
		.header = { PERF_RECORD_MMAP2,
			    PERF_RECORD_MISC_USER | PERF_RECORD_MISC_MMAP_BUILD_ID, 0 },
		.pid = trailer.pid,
		.tid = trailer.tid,
		.addr = mapping->start,
		.nr_bytes = mapping->end - mapping->start,
		.offset = mapping->offset_bytes,
		.build_id_bytes = (uint8_t)mapping->build_id_bytes,
		.prot = PROT_READ | PROT_EXEC,
		.flags = MAP_PRIVATE,
	};

	if (path_bytes >= USER_PATH_BYTES)
		return;
	record.header.size = (uint16_t)(sizeof(record) + path_bytes + fill_bytes + sizeof(trailer));
	memcpy(record.build_id, mapping->build_id, mapping->build_id_bytes);
	put(export, &record, sizeof(record));
	put(export, mapping->path, path_bytes);
	put(export, zeros, fill_bytes);
	put(export, &trailer, sizeof(trailer));
}

/*
 * Before the first sample at a user address, not before everything: a process may have run
 * another program earlier.  What perf already has in the place it replaces.  Of user addresses.
 */
static void print_mapping(struct export *export, uint64_t va)
{
	const struct btsrec_side *side = export->side;
	const uint64_t page_va = va & ~(uint64_t)(BTSREC_PAGE_BYTES - 1);
	struct mapped_page *mapped =
		&export->mapped_pages[((page_va ^ (side ? side->cr3 : 0)) / BTSREC_PAGE_BYTES) %
				 NR_MAPPED_PAGES];
	struct user_mapping mapping;

	if (!export->user || !side ||
	    (mapped->page_va == page_va && mapped->cr3 == side->cr3 &&
	     mapped->tgid == side->tgid))
		return;
	*mapped = (struct mapped_page){ page_va, side->cr3, side->tgid };
	if (user_mapping(export->user, side->cr3, va, &mapping))
		put_mapping(export, &mapping);
}

/* How many branches a pause lost is not known: perf prints 0 lost ones. */
static void put_lost(struct export *export, const struct btsrec_gap *gap)
{
	const struct lost_record record = {
		.header = { PERF_RECORD_LOST, 0, sizeof(record) },
		.nr_lost = gap->nr_slots,
		.trailer = trailer_of(export),
	};

	put(export, &record, sizeof(record));
}

/* What is mapped has time 0, which perf takes to be before everything else. */
static void put_mmap(struct export *export, const struct mmap_record *what)
{
	struct mmap_record record = *what;

	record.header = (struct perf_event_header){ PERF_RECORD_MMAP, PERF_RECORD_MISC_KERNEL,
						    sizeof(record) };
	record.pid = KERNEL_PID;
	record.trailer = (struct trailer){ .pid = KERNEL_PID, .tid = KERNEL_PID };
	put(export, &record, sizeof(record));
}

/*
 * The name says which symbol is at @offset: so perf learns how far the kernel has moved
 * from where the file says it is.
 */
static void put_kernel(struct export *export)
{
	const struct btsrec_root *root = btsrec_root(export->rec);
	struct mmap_record record = {
		.addr = KREAD_IMAGE_KVA,
		.nr_bytes = KREAD_IMAGE_BYTES,
		.offset = root->symbol_kva,
	};
	char symbol[sizeof(root->symbol_name) + 1];

	put_plain(symbol, root->symbol_name, sizeof(root->symbol_name), false);
	snprintf(record.path, sizeof(record.path), "%s%s", kernel_path, symbol);
	put_mmap(export, &record);
}

/*
 * No dump has the path of a module's file; but only for what has a path does perf look for a file
 * with its build-id.
 */
static void module_path(const struct btsrec_module *module, char path[PATH_BYTES])
{
	char name[sizeof(module->name) + 1];

	put_plain(name, module->name, sizeof(module->name), false);
	snprintf(path, PATH_BYTES, "/%s.ko", name);
}

static void put_modules(struct export *export)
{
	const struct located *located = export->rec->located;

	for (size_t i = 0; i < located->nr_modules; i++) {
		const struct btsrec_module *module = &located->modules[i];
		struct mmap_record record = {
			.addr = module->text_kva,
			.nr_bytes = module->text_bytes,
		};

		module_path(module, record.path);
		if (module->state == BTSREC_MODULE_LIVE)
			put_mmap(export, &record);
	}
}

/* --- Histories ---------------------------------------------------------- */

static bool find_tsc(void *arg, const struct btsrec_event *event)
{
	struct export *export = arg;
	uint64_t tsc;

	if (!clock_event(event, &tsc))
		return true;
	set_time(export, tsc);
	return false;
}

static bool put_event(void *arg, const struct btsrec_event *event)
{
	struct export *export = arg;
	const struct btsrec_side *side = aspace_at(&export->event_filter.spaces, event->n);
	uint64_t tsc;

	if (clock_event(event, &tsc))
		set_time(export, tsc);
	if (side != export->side) {
		export->side = side;
		if (side)
			put_comm(export);
	}
	if (event_filter_wants(&export->event_filter, event) &&
	    event->kind == BTSREC_EVENT_BRANCH) {
		if (!code_is_kernel(event->branch.from))
			print_mapping(export, event->branch.from);
		if (!code_is_kernel(event->branch.to))
			print_mapping(export, event->branch.to);
		put_branch(export, event);
	}
	if (event->kind == BTSREC_EVENT_GAP && event->gap.kind != BTSREC_GAP_OVERWRITTEN)
		put_lost(export, &event->gap);
	return !export->out.stopped;
}

static enum btsrec_status put_cpu(void *arg, unsigned int cpu)
{
	struct export *export = arg;
	enum btsrec_status status = btsrec_other_events(export->rec, cpu, find_tsc, export,
							NULL);

	export->cpu = cpu;
	export->side = NULL;
	memset(export->mapped_pages, 0, sizeof(export->mapped_pages));
	if (!status || status == BTSREC_ERR_STOPPED)
		status = event_filter_init(&export->event_filter, export->rec, cpu,
					   export->opts->filter, 0);
	if (!status)
		status = event_filter_add_types(&export->event_filter, cpu);
	if (!status)
		status = btsrec_events(export->rec, cpu, put_event, export);
	event_filter_fini(&export->event_filter);
	return status;
}

static enum btsrec_status put_data(struct export *export)
{
	export->side = NULL;
	export->cpu = 0;
	set_time(export, export->clock.anchor_tsc);
	put_kernel(export);
	put_modules(export);
	return cpus_for_each(export->rec, export->opts->cpus, export->opts->nr_cpus, put_cpu,
			     export);
}

/* --- Build-ids ---------------------------------------------------------- */

/*
 * By these perf knows that the names of the running kernel are not those of the dump, and
 * finds the files that are.
 */
static void put_build_id(struct export *export, const char *path, const uint8_t *build_id,
			 size_t nr_bytes)
{
	struct build_id_record record = {
		.header = { .misc = PERF_RECORD_MISC_KERNEL | MISC_BUILD_ID_SIZE,
			    .size = sizeof(record) },
		.pid = KERNEL_PID,
		.nr_bytes = (uint8_t)nr_bytes,
	};

	if (!nr_bytes || nr_bytes > sizeof(record.build_id))
		return;
	memcpy(record.build_id, build_id, nr_bytes);
	snprintf(record.path, sizeof(record.path), "%s", path);
	put(export, &record, sizeof(record));
}

static void put_build_ids(struct export *export)
{
	const struct btsrec_root *root = btsrec_root(export->rec);
	const struct located *located = export->rec->located;
	char path[PATH_BYTES];

	put_build_id(export, kernel_path, root->build_id, root->build_id_bytes);
	for (size_t i = 0; i < located->nr_modules; i++) {
		const struct btsrec_module *module = &located->modules[i];

		module_path(module, path);
		if (module->state == BTSREC_MODULE_LIVE)
			put_build_id(export, path, module->build_id, module->build_id_bytes);
	}
}

/* --- The file ----------------------------------------------------------- */

/* A text of a header: its length with the NULs at its end, and the text. */
static void put_text(struct export *export, const char *text)
{
	struct text_feature feature = { .nr_bytes = sizeof(feature.text) };

	put_plain(feature.text, text, sizeof(feature.text) - 1, false);
	put(export, &feature, sizeof(feature));
}

/*
 * "perf data convert" and "perf report --header" read each of these without asking whether it
 * is there (v6.1).  What no dump says has a text that says so.
 */
static void put_unknown(struct export *export)
{
	put_text(export, "unknown");
}

static void put_release(struct export *export)
{
	const struct btsrec_root *root = btsrec_root(export->rec);
	char release[sizeof(root->release) + 1];

	snprintf(release, sizeof(release), "%.*s", (int)sizeof(root->release), root->release);
	put_text(export, *release ? release : "unknown");
}

static void put_version(struct export *export)
{
	char version[TEXT_BYTES];

	snprintf(version, sizeof(version), "btsrec %s", btsrec_version());
	put_text(export, version);
}

static void put_arch(struct export *export)
{
	put_text(export, "x86_64");
}

static uint32_t nr_found_cpus(const struct located *located)
{
	uint32_t nr = 0;

	for (unsigned int cpu = 0; cpu < located->nr_cpus; cpu++)
		nr += !!located->cpus[cpu];
	return nr;
}

/* Those that the kernel could have, and those that a history is there of. */
static void put_nr_cpus(struct export *export)
{
	const struct cpus_feature feature = {
		.nr_available = btsrec_root(export->rec)->nr_cpu_ids,
		.nr_online = nr_found_cpus(export->rec->located),
	};

	put(export, &feature, sizeof(feature));
}

/* Vendor, family, model and stepping: "perf annotate" refuses a text that is not so made. */
static void put_cpuid(struct export *export)
{
	put_text(export, "unknown,0,0,0");
}

static void put_nothing(struct export *export)
{
	(void)export;
}

/** struct feature - @bit: of file_header.features, ascending: the order of the sections */
static const struct feature {
	unsigned int bit;
	void (*put)(struct export *export);
} features[] = {
	{ FEATURE_BUILD_ID,	put_build_ids },
	{ FEATURE_HOSTNAME,	put_unknown },
	{ FEATURE_OSRELEASE,	put_release },
	{ FEATURE_VERSION,	put_version },
	{ FEATURE_ARCH,		put_arch },
	{ FEATURE_NRCPUS,	put_nr_cpus },
	{ FEATURE_CPUDESC,	put_unknown },
	{ FEATURE_CPUID,	put_cpuid },
	/* Of the branch stack there is to say only that it is there. */
	{ FEATURE_BRANCH_STACK,	put_nothing },
};

#define NR_FEATURES	(sizeof(features) / sizeof(*features))

static uint64_t feature_bits(void)
{
	uint64_t bits = 0;

	for (size_t i = 0; i < NR_FEATURES; i++)
		bits |= 1ULL << features[i].bit;
	return bits;
}

static void put_head(struct export *export, uint64_t data_bytes)
{
	const uint64_t data_at = HEADER_BYTES + ATTR_BYTES + 2 * sizeof(uint64_t);
	struct file_header header = {
		.magic = { 'P', 'E', 'R', 'F', 'I', 'L', 'E', '2' },
		.header_bytes = HEADER_BYTES,
		.attr_bytes = ATTR_BYTES + 2 * sizeof(uint64_t),
		.attrs = { HEADER_BYTES, ATTR_BYTES + 2 * sizeof(uint64_t) },
		.data = { data_at, data_bytes },
		.features = { feature_bits() },
	};
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.size = ATTR_BYTES,
		.config = PERF_COUNT_HW_BRANCH_INSTRUCTIONS,
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			       PERF_SAMPLE_ADDR | PERF_SAMPLE_CPU | PERF_SAMPLE_BRANCH_STACK,
		.branch_sample_type = PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_TYPE_SAVE,
		.sample_id_all = 1,
	};
	const uint64_t no_ids[2] = { 0 };

	put(export, &header, sizeof(header));
	put(export, &attr, ATTR_BYTES);
	put(export, no_ids, sizeof(no_ids));
}

/* Where each feature is, then what it says. */
static void put_features(struct export *export)
{
	uint64_t at = export->nr_bytes + NR_FEATURES * 2 * sizeof(uint64_t);
	uint64_t sections[NR_FEATURES * 2];
	const uint64_t nr_bytes = export->nr_bytes;

	export->counting = true;
	for (size_t i = 0; i < NR_FEATURES; i++) {
		export->nr_bytes = 0;
		features[i].put(export);
		sections[2 * i] = at;
		sections[2 * i + 1] = export->nr_bytes;
		at += export->nr_bytes;
	}
	export->counting = false;
	export->nr_bytes = nr_bytes;
	put(export, sections, sizeof(sections));
	for (size_t i = 0; i < NR_FEATURES; i++)
		features[i].put(export);
}

/* Sizes are in front of what they measure: everything is made twice, and counted first. */
static enum btsrec_status write_file(struct export *export)
{
	enum btsrec_status status;
	uint64_t data_bytes;

	export->counting = true;
	status = put_data(export);
	if (status)
		return status;
	data_bytes = export->nr_bytes;
	export->counting = false;
	export->nr_bytes = 0;
	put_head(export, data_bytes);
	status = put_data(export);
	put_features(export);
	return status ? status : out_flush(&export->out);
}

static enum btsrec_status export_perf(struct btsrec *rec, const struct btsrec_export *opts,
				      const struct btsrec_sink *sink)
{
	enum btsrec_status status = cpus_check(rec, opts->cpus, opts->nr_cpus);
	const struct btsrec_root *root = btsrec_root(rec);
	struct export *export;

	if (!status)
		status = event_filter_check(rec, opts->filter);
	if (status)
		return status;
	export = calloc(1, sizeof(*export));
	if (!export)
		return msg_set(&rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	export->rec = rec;
	export->opts = opts;
	export->clock = clock_of(root, btsrec_cpu(rec, root->freeze_cpu));
	export->user = export->clock.tsc_khz ? symbols_user_names(rec) : NULL;
	out_init(&export->out, sink);
	status = write_file(export);
	free(export);
	return cpus_end(rec, opts->cpus, status);
}

enum btsrec_status btsrec_export_perf(struct btsrec *rec, const struct btsrec_export *given,
				      const struct btsrec_sink *sink)
{
	struct btsrec_filter filter;
	struct btsrec_export opts;
	enum btsrec_status status = options_read(&rec->msg, given, &opts, sizeof(opts));

	if (!status)
		status = options_filter(&rec->msg, &opts.filter, &filter);
	return status ? status : export_perf(rec, &opts, sink);
}

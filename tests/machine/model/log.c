// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log.h"
#include "vcpu.h"

#define PATH_BYTES	512

static const char *outdir_path;
static uint64_t capacity;
static FILE *violations_file;
static FILE *msr_file;
static FILE *extents_file;

static FILE *open_text(const char *name)
{
	char path[PATH_BYTES];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", outdir_path, name);
	file = fopen(path, "w");
	if (!file)
		fprintf(stderr, "btsmodel: %s: %s\n", path, strerror(errno));
	return file;
}

/**
 * log_open() - open the files that all vCPUs share
 * @outdir: folder, made if it is missing; must outlive the plugin
 * @records: capacity of each cpuN.log
 */
bool log_open(const char *outdir, uint64_t records)
{
	outdir_path = outdir;
	capacity = records;
	if (mkdir(outdir, 0777) && errno != EEXIST) {
		fprintf(stderr, "btsmodel: %s: %s\n", outdir, strerror(errno));
		return false;
	}
	violations_file = open_text("violations.log");
	msr_file = open_text("msr.log");
	extents_file = open_text("extents.log");
	return violations_file && msr_file && extents_file;
}

/**
 * log_map_cpu() - map a file of one vCPU, sparse, so that it is right at any time
 * @cpu: N
 * @suffix: of the file's name cpuN.SUFFIX
 * @nr_bytes: its length
 *
 * Ends QEMU on error.
 */
void *log_map_cpu(unsigned int cpu, const char *suffix, uint64_t nr_bytes)
{
	char path[PATH_BYTES];
	void *log = MAP_FAILED;
	int fd;

	snprintf(path, sizeof(path), "%s/cpu%u.%s", outdir_path, cpu, suffix);
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd >= 0 && !ftruncate(fd, (off_t)nr_bytes))
		log = mmap(NULL, nr_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (log == MAP_FAILED) {
		fprintf(stderr, "btsmodel: %s: %s\n", path, strerror(errno));
		exit(1);
	}
	close(fd);
	return log;
}

/** log_open_cpu() - the log of a vCPU's branches; ends QEMU on error */
struct model_log_header *log_open_cpu(unsigned int cpu)
{
	struct model_log_header *log = log_map_cpu(cpu, "log", MODEL_LOG_HEADER_BYTES +
						   capacity * sizeof(struct model_log_record));

	log->magic = MODEL_LOG_MAGIC;
	log->version = MODEL_LOG_VERSION;
	log->cpu = cpu;
	log->capacity = capacity;
	return log;
}

/** log_record() - append; only the vCPU's own thread, readers see the total last */
void log_record(struct model_log_header *log, const struct model_log_record *record)
{
	struct model_log_record *ring = (void *)((char *)log + MODEL_LOG_HEADER_BYTES);

	ring[log->total % log->capacity] = *record;
	__atomic_store_n(&log->total, log->total + 1, __ATOMIC_RELEASE);
}

/** log_violation() - one line of violations.log, on disk when this returns */
void log_violation(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vfprintf(violations_file, format, args);
	va_end(args);
	fflush(violations_file);
}

/** log_msr() - one line of msr.log; unflushed lines reach the disk later, or at exit */
void log_msr(bool flush, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vfprintf(msr_file, format, args);
	va_end(args);
	if (flush)
		fflush(msr_file);
}

/** log_extent() - one line of extents.log: a call of a watched function has come to its end */
void log_extent(unsigned int cpu, const struct extent *extent, const struct extent_counts *cost)
{
	fprintf(extents_file, "cpu=%u entry=0x%llx insns=%llu msr_writes=%llu stores=%llu"
		" records=%llu disturbed=%d\n", cpu, (unsigned long long)extent->entry,
		(unsigned long long)cost->nr_insns, (unsigned long long)cost->nr_msr_writes,
		(unsigned long long)cost->nr_stores, (unsigned long long)cost->nr_records,
		extent->disturbed);
}

static void summarise_cpu(FILE *file, const struct vcpu *cpu, bool first)
{
	fprintf(file, "%s\n    {\"cpu\": %u, \"records\": %llu, \"full\": %llu, \"refused\": %llu,"
		" \"debugctl\": \"0x%llx\", \"ds_area\": \"0x%llx\", \"violations\": {",
		first ? "" : ",", cpu->index, (unsigned long long)cpu->log->total,
		(unsigned long long)cpu->nr_full, (unsigned long long)cpu->nr_stores_refused,
		(unsigned long long)cpu->debugctl, (unsigned long long)cpu->ds_area);
	for (unsigned int rule = 0; rule < NR_RULES; rule++)
		fprintf(file, "%s\"%s\": %llu", rule ? ", " : "", rule_name(rule),
			(unsigned long long)cpu->nr_broken[rule]);
	fprintf(file, "}}");
}

/** log_summary() - write summary.json and what msr.log still holds back; at exit */
void log_summary(void)
{
	FILE *file = open_text("summary.json");
	bool first = true;

	fflush(msr_file);
	fflush(extents_file);
	if (!file)
		return;
	fprintf(file, "{\n  \"cpus\": [");
	for (unsigned int i = 0; i < MAX_VCPUS; i++) {
		const struct vcpu *cpu = vcpu_find(i);

		if (!cpu)
			continue;
		summarise_cpu(file, cpu, first);
		first = false;
	}
	fprintf(file, "\n  ]\n}\n");
	fclose(file);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * perfevents: opens perf events, as perf would, and lets them run for a while.
 *
 *   perfevents KIND CPU MS
 *
 * CPU -1: of this thread, on every CPU.  Exit code: 0, or the errno of perf_event_open().
 * intel_bts events have an AUX buffer, so they record.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGES	8

static uint32_t bts_type(void)
{
	FILE *file = fopen("/sys/bus/event_source/devices/intel_bts/type", "r");
	unsigned int type = 0;

	if (!file || fscanf(file, "%u", &type) != 1)
		fprintf(stderr, "perfevents: no intel_bts\n");
	if (file)
		fclose(file);
	return type;
}

static int describe(const char *kind, struct perf_event_attr *attr)
{
	attr->size = sizeof(*attr);
	attr->type = PERF_TYPE_HARDWARE;
	attr->config = PERF_COUNT_HW_CPU_CYCLES;
	attr->exclude_guest = 1;
	if (!strcmp(kind, "count"))
		return 0;
	attr->sample_period = 100000;
	attr->sample_type = PERF_SAMPLE_IP;
	if (!strcmp(kind, "sample"))
		return 0;
	attr->exclude_kernel = 1;
	if (!strcmp(kind, "lbr")) {
		attr->sample_type |= PERF_SAMPLE_BRANCH_STACK;
		attr->branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_ANY;
		return 0;
	}
	if (!strcmp(kind, "bts-samples")) {	/* one sample for each branch */
		attr->config = PERF_COUNT_HW_BRANCH_INSTRUCTIONS;
		attr->sample_period = 1;
		return 0;
	}
	attr->type = bts_type();
	attr->config = 0;
	return strcmp(kind, "intel_bts");
}

static int map(int fd, int with_aux)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct perf_event_mmap_page *header;

	header = mmap(NULL, (1 + PAGES) * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (header == MAP_FAILED)
		return errno;
	if (!with_aux)
		return 0;
	header->aux_offset = (1 + PAGES) * page;
	header->aux_size = PAGES * page;
	if (mmap(NULL, header->aux_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		 (off_t)header->aux_offset) == MAP_FAILED)
		return errno;
	return 0;
}

int main(int argc, char **argv)
{
	struct perf_event_attr attr = { .disabled = 1 };
	int fd, cpu, error;

	if (argc != 4 || describe(argv[1], &attr))
		return 255;
	cpu = atoi(argv[2]);
	fd = (int)syscall(SYS_perf_event_open, &attr, cpu < 0 ? 0 : -1, cpu, -1, 0UL);
	if (fd < 0)
		return errno;
	error = attr.sample_period || cpu < 0 ? map(fd, !strcmp(argv[1], "intel_bts")) : 0;
	if (error || ioctl(fd, PERF_EVENT_IOC_ENABLE, 0))
		return error ? error : errno;
	usleep((useconds_t)atoi(argv[3]) * 1000);
	return 0;
}

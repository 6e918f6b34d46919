// SPDX-License-Identifier: GPL-2.0-only
/*
 * Snapshots of the last branch record by the kernel's own driver: perf switches it on on CPU 0, and
 * a BPF program at each fork asks for it (bpf_get_branch_snapshot()).
 *
 *   lbrsnap N
 *
 * Prints N snapshots, each with a line "snapshot" and one "FROM TO PREDICTED" for each entry,
 * newest first.  Exit code: 0, or 1 after a message.
 */
#define _GNU_SOURCE
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define NR_ENTRIES	32
#define SNAPSHOT	176	/* BPF_FUNC_get_branch_snapshot; headers may be older */

struct snapshot {
	int64_t nr_bytes;
	struct perf_branch_entry entries[NR_ENTRIES];
};

static int bpf(enum bpf_cmd command, union bpf_attr *attr)
{
	int fd = (int)syscall(SYS_bpf, command, attr, sizeof(*attr));

	if (fd < 0) {
		perror("lbrsnap: bpf");
		exit(1);
	}
	return fd;
}

static int make_map(void)
{
	union bpf_attr attr = { .map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4,
				.value_size = sizeof(struct snapshot), .max_entries = 1 };

	return bpf(BPF_MAP_CREATE, &attr);
}

/* value->nr_bytes = bpf_get_branch_snapshot(value->entries, their size, 0); return 0; */
static void attach(int map)
{
	const struct bpf_insn insns[] = {
		{ .code = BPF_LD | BPF_DW | BPF_IMM, .dst_reg = BPF_REG_6,
		  .src_reg = BPF_PSEUDO_MAP_VALUE, .imm = map },
		{ 0 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = BPF_REG_1, .src_reg = BPF_REG_6 },
		{ .code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = BPF_REG_1, .imm = 8 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_2,
		  .imm = NR_ENTRIES * sizeof(struct perf_branch_entry) },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_3, .imm = 0 },
		{ .code = BPF_JMP | BPF_CALL, .imm = SNAPSHOT },
		{ .code = BPF_STX | BPF_MEM | BPF_DW, .dst_reg = BPF_REG_6, .src_reg = BPF_REG_0 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr = { .prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT,
				.insns = (uintptr_t)insns,
				.insn_cnt = sizeof(insns) / sizeof(insns[0]),
				.license = (uintptr_t)"GPL" };
	int program = bpf(BPF_PROG_LOAD, &attr);

	memset(&attr, 0, sizeof(attr));
	attr.raw_tracepoint.name = (uintptr_t)"sched_process_fork";
	attr.raw_tracepoint.prog_fd = (uint32_t)program;
	bpf(BPF_RAW_TRACEPOINT_OPEN, &attr);
}

static void switch_on(void)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.sample_period = 100000,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_BRANCH_STACK,
		.branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_KERNEL |
				      PERF_SAMPLE_BRANCH_ANY,
	};

	if (syscall(SYS_perf_event_open, &attr, -1, 0, -1, 0UL) < 0) {
		perror("lbrsnap: perf_event_open");
		exit(1);
	}
}

static void take(int map)
{
	struct snapshot snapshot = { 0 };
	uint32_t key = 0;
	union bpf_attr attr = { .map_fd = (uint32_t)map, .key = (uintptr_t)&key,
				.value = (uintptr_t)&snapshot };
	pid_t child = fork();

	if (!child)
		_exit(0);
	bpf(BPF_MAP_LOOKUP_ELEM, &attr);
	waitpid(child, NULL, 0);
	puts("snapshot");
	for (unsigned int i = 0; i < NR_ENTRIES; i++) {
		const struct perf_branch_entry *entry = &snapshot.entries[i];

		if ((int64_t)((i + 1) * sizeof(*entry)) <= snapshot.nr_bytes)
			printf("%llx %llx %u\n", (unsigned long long)entry->from,
			       (unsigned long long)entry->to, (unsigned int)entry->predicted);
	}
}

int main(int argc, char **argv)
{
	int map = make_map(), nr = argc > 1 ? atoi(argv[1]) : 1;
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(0, &cpus);
	sched_setaffinity(0, sizeof(cpus), &cpus);
	switch_on();
	attach(map);
	while (nr-- > 0)
		take(map);
	return 0;
}

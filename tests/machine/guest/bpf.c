// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs a BPF program for as long as it lives: a socket filter with a loop of branches,
 * through which a datagram goes each time.
 */
#include <linux/bpf.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SO_ATTACH_BPF
#define SO_ATTACH_BPF 50
#endif

/* r0 = 100; while (--r0 != 1) {} — then as many bytes pass as there were: all. */
static const struct bpf_insn program[] = {
	{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 100 },
	{ .code = BPF_ALU64 | BPF_SUB | BPF_K, .dst_reg = BPF_REG_0, .imm = 1 },
	{ .code = BPF_JMP | BPF_JNE | BPF_K, .dst_reg = BPF_REG_0, .off = -2, .imm = 1 },
	{ .code = BPF_JMP | BPF_EXIT },
};

static int load(void)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_SOCKET_FILTER;
	attr.insns = (uintptr_t)program;
	attr.insn_cnt = sizeof(program) / sizeof(program[0]);
	attr.license = (uintptr_t)"GPL";
	strcpy(attr.prog_name, "btsrec_filter");
	return (int)syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
}

int main(void)
{
	int ends[2], fd = load();
	char byte = 0;

	if (fd < 0 || socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) ||
	    setsockopt(ends[1], SOL_SOCKET, SO_ATTACH_BPF, &fd, sizeof(fd))) {
		perror("bpf");
		return 1;
	}
	printf("bpf: running\n");
	fflush(stdout);
	while (send(ends[0], &byte, 1, 0) == 1 && recv(ends[1], &byte, 1, 0) == 1)
		continue;
	perror("bpf: send or recv");
	return 1;
}

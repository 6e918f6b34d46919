// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs a BPF program for as long as it lives: a socket filter with a loop of branches,
 * through which a datagram goes each time.  "bpf once": one that prints, for one datagram.
 */
#include <linux/bpf.h>
#include <stdbool.h>
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

/* bpf_trace_printk("gone", 5); r0 = 1.  5.10 takes no NUL in front of the last byte. */
static const struct bpf_insn printing[] = {
	{ .code = BPF_ST | BPF_MEM | BPF_W, .dst_reg = BPF_REG_10, .off = -8, .imm = 0x656e6f67 },
	{ .code = BPF_ST | BPF_MEM | BPF_W, .dst_reg = BPF_REG_10, .off = -4, .imm = 0 },
	{ .code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = BPF_REG_1, .src_reg = BPF_REG_10 },
	{ .code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = BPF_REG_1, .imm = -8 },
	{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_2, .imm = 5 },
	{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_trace_printk },
	{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 1 },
	{ .code = BPF_JMP | BPF_EXIT },
};

static int load(const struct bpf_insn *insns, size_t nr_insns)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_SOCKET_FILTER;
	attr.insns = (uintptr_t)insns;
	attr.insn_cnt = (uint32_t)nr_insns;
	attr.license = (uintptr_t)"GPL";
	strcpy(attr.prog_name, "btsrec_filter");
	return (int)syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
}

int main(int argc, char **argv)
{
	bool once = argc > 1 && !strcmp(argv[1], "once");
	int ends[2], fd = once ? load(printing, sizeof(printing) / sizeof(printing[0])) :
				 load(program, sizeof(program) / sizeof(program[0]));
	char byte = 0;

	if (fd < 0 || socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) ||
	    setsockopt(ends[1], SOL_SOCKET, SO_ATTACH_BPF, &fd, sizeof(fd))) {
		perror("bpf");
		return 1;
	}
	if (once)
		return send(ends[0], &byte, 1, 0) != 1;
	printf("bpf: running\n");
	fflush(stdout);
	while (send(ends[0], &byte, 1, 0) == 1 && recv(ends[1], &byte, 1, 0) == 1)
		continue;
	perror("bpf: send or recv");
	return 1;
}

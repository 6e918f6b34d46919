// SPDX-License-Identifier: GPL-2.0-only
/*
 * usage: bpfhook KIND FUNCTION...
 * Hooks each FUNCTION of the kernel's image with a BPF program that does nothing, for as long as
 * it lives.  KIND: fentry, fexit or fmod_ret.  Says "bpfhook: KIND" when all are in place.
 */
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/btf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* r0 = 0: the function goes on, or nothing is modified. */
static const struct bpf_insn program[] = {
	{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0 },
	{ .code = BPF_JMP | BPF_EXIT },
};

static struct btf_header *types;

static struct btf_header *read_types(void)
{
	size_t nr = 0, room = 32 << 20;
	char *data = malloc(room);
	ssize_t got = 0;
	int fd = open("/sys/kernel/btf/vmlinux", O_RDONLY);

	while (data && fd >= 0 && nr < room && (got = read(fd, data + nr, room - nr)) > 0)
		nr += (size_t)got;
	close(fd);
	return got || nr < sizeof(*types) ? NULL : (struct btf_header *)data;
}

/* How many bytes follow a struct btf_type. */
static size_t tail_bytes(const struct btf_type *type)
{
	size_t nr = BTF_INFO_VLEN(type->info);

	switch (BTF_INFO_KIND(type->info)) {
	case BTF_KIND_INT: case BTF_KIND_VAR: case BTF_KIND_DECL_TAG:
		return 4;
	case BTF_KIND_ARRAY: case BTF_KIND_STRUCT: case BTF_KIND_UNION:
	case BTF_KIND_DATASEC: case BTF_KIND_ENUM64:
		return (BTF_INFO_KIND(type->info) == BTF_KIND_ARRAY ? 1 : nr) * 12;
	case BTF_KIND_ENUM: case BTF_KIND_FUNC_PROTO:
		return nr * 8;
	default:
		return 0;
	}
}

static uint32_t id_of(const char *name)
{
	const char *at = (const char *)types + types->hdr_len + types->type_off;
	const char *end = at + types->type_len;
	const char *names = (const char *)types + types->hdr_len + types->str_off;

	for (uint32_t id = 1; at < end; id++) {
		const struct btf_type *type = (const void *)at;

		if (BTF_INFO_KIND(type->info) == BTF_KIND_FUNC &&
		    !strcmp(names + type->name_off, name))
			return id;
		at += sizeof(*type) + tail_bytes(type);
	}
	return 0;
}

/* 0: hooked; what is open stays open. */
static int hook(uint32_t kind, const char *function)
{
	union bpf_attr attr;
	static char said[65536];
	int fd;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_TRACING;
	attr.expected_attach_type = kind;
	attr.attach_btf_id = id_of(function);
	attr.insns = (uintptr_t)program;
	attr.insn_cnt = sizeof(program) / sizeof(program[0]);
	attr.license = (uintptr_t)"GPL";
	attr.log_buf = (uintptr_t)said;
	attr.log_size = sizeof(said);
	attr.log_level = 1;
	fd = attr.attach_btf_id ? (int)syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr)) : -1;
	if (fd >= 0) {
		memset(&attr, 0, sizeof(attr));
		attr.raw_tracepoint.prog_fd = (uint32_t)fd;
		fd = (int)syscall(SYS_bpf, BPF_RAW_TRACEPOINT_OPEN, &attr, sizeof(attr));
	}
	if (fd < 0) {
		perror(function);
		fputs(said, stderr);
	}
	return fd < 0;
}

int main(int argc, char **argv)
{
	const char *name = argc > 2 ? argv[1] : "";
	uint32_t kind = !strcmp(name, "fentry") ? BPF_TRACE_FENTRY :
			!strcmp(name, "fexit") ? BPF_TRACE_FEXIT :
			!strcmp(name, "fmod_ret") ? BPF_MODIFY_RETURN : 0;

	types = kind ? read_types() : NULL;
	if (!types) {
		fprintf(stderr, "bpfhook: no such kind, no function, or no types of the kernel\n");
		return 1;
	}
	for (int i = 2; i < argc; i++)
		if (hook(kind, argv[i]))
			return 1;
	printf("bpfhook: %s\n", name);
	fflush(stdout);
	for (;;)
		pause();
}

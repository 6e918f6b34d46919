// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A program of many functions and a walk through it, for the benchmarks:
 *
 *	walk asm NR_FUNCTIONS			its source, for the assembler
 *	walk map NR_FUNCTIONS BASE		its symbols as a System.map
 *	walk code NR_FUNCTIONS BASE		its bytes as statements of mkimage
 *	walk records NR_FUNCTIONS BASE COUNT	COUNT branches of one way through it,
 *						as BTS records
 *
 * Everything goes to standard output.  Function i lies at BASE + 64 i:
 *
 *	test %eax,%eax; jne 1f; call f_j; 1: ret
 *
 * and after the last one main: call *%rax; jmp main.  Which way a jne goes, and where
 * main calls, is pseudo-random and the same at every run.  A call of main goes at most
 * MAX_DEPTH levels deep.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FUNCTION_BYTES	64
#define MAX_DEPTH	24

/* Of the function: where its branches are. */
#define JNE	2
#define CALL	4
#define RET	9

static uint64_t nr_functions, base;

static uint64_t callee(uint64_t i)
{
	return (i * 2654435761u + 12345) % nr_functions;
}

static uint64_t address(uint64_t i)
{
	return base + i * FUNCTION_BYTES;
}

static uint32_t next_random(void)
{
	static uint64_t state = 88172645463325252u;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)(state >> 32);
}

static void put_asm(void)
{
	printf("\t.text\n");
	for (uint64_t i = 0; i < nr_functions; i++)
		printf("\t.p2align 6,0x90\n\t.globl f_%llu\n\t.type f_%llu,@function\nf_%llu:\n"
		       "\ttestl %%eax,%%eax\n\tjne 1f\n\tcall f_%llu\n1:\tret\n"
		       "\t.size f_%llu,.-f_%llu\n", (unsigned long long)i, (unsigned long long)i,
		       (unsigned long long)i, (unsigned long long)callee(i),
		       (unsigned long long)i, (unsigned long long)i);
	printf("\t.p2align 6,0x90\n\t.globl _start\n\t.type _start,@function\n_start:\n"
	       "\tcall *%%rax\n\tjmp _start\n\t.size _start,.-_start\n");
}

static void put_map(void)
{
	printf("%016llx T _stext\n", (unsigned long long)base);
	for (uint64_t i = 0; i < nr_functions; i++)
		printf("%016llx T f_%llu\n", (unsigned long long)address(i), (unsigned long long)i);
	printf("%016llx T _start\n%016llx T _end\n", (unsigned long long)address(nr_functions),
	       (unsigned long long)address(nr_functions + 1));
}

static void put_code(void)
{
	for (uint64_t i = 0; i < nr_functions; i++) {
		uint64_t distance = address(callee(i)) - (address(i) + RET);

		printf("code kernel 0x%llx 85c07505e8%02x%02x%02x%02xc3\n",
		       (unsigned long long)address(i), (unsigned int)distance & 0xff,
		       (unsigned int)(distance >> 8) & 0xff, (unsigned int)(distance >> 16) & 0xff,
		       (unsigned int)(distance >> 24) & 0xff);
	}
	printf("code kernel 0x%llx ffd0ebfc\n", (unsigned long long)address(nr_functions));
}

static void put_record(uint64_t from, uint64_t to)
{
	uint64_t record[3] = { from, to, next_random() % 16 ? 0x10 : 0 };

	fwrite(record, sizeof(record), 1, stdout);
}

static void put_records(uint64_t nr_left)
{
	uint64_t start = address(nr_functions), stack[MAX_DEPTH], at = nr_functions;
	unsigned int depth = 0;
	uint64_t i = 0;

	while (nr_left--) {
		if (at == nr_functions) {		/* call *%rax */
			i = next_random() % nr_functions;
			put_record(start, address(i));
			at = i;
		} else if (at == UINT64_MAX) {		/* jmp _start */
			put_record(start + 2, start);
			at = nr_functions;
		} else if (at != UINT64_MAX - 1 && depth < MAX_DEPTH && next_random() % 8) {
			stack[depth++] = i;
			put_record(address(i) + CALL, address(callee(i)));
			at = i = callee(i);
		} else if (at != UINT64_MAX - 1) {	/* jne */
			put_record(address(i) + JNE, address(i) + RET);
			at = UINT64_MAX - 1;
		} else if (depth) {			/* ret */
			put_record(address(i) + RET, address(stack[depth - 1]) + RET);
			i = stack[--depth];
		} else {
			put_record(address(i) + RET, start + 2);
			at = UINT64_MAX;
		}
	}
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[1] : "";

	nr_functions = argc > 2 ? strtoull(argv[2], NULL, 0) : 0;
	base = argc > 3 ? strtoull(argv[3], NULL, 0) : 0;
	if (!strcmp(what, "asm"))
		put_asm();
	else if (!strcmp(what, "map"))
		put_map();
	else if (!strcmp(what, "code"))
		put_code();
	else if (!strcmp(what, "records") && argc > 4)
		put_records(strtoull(argv[4], NULL, 0));
	else
		return 2;
	return fflush(stdout) || ferror(stdout);
}

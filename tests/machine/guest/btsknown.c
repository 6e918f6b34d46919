// SPDX-License-Identifier: GPL-2.0-only
/*
 * btsknown: runs instructions with known branches and compares what BTS stored.
 *
 * All between the WRMSR that switches BTS on and the one that switches it off is
 * assembly, with interrupts off: the ring must hold exactly the branches listed in
 * check(), from the first one to the last.  Loading fails (-EIO) if it does not.
 */
#include <linux/irqflags.h>
#include <linux/mm.h>
#include <linux/module.h>

#include "guest.h"

#define LOOPS		1000
#define RING_RECORDS	4096
#define BTS_ON		(DEBUGCTLMSR_TR | DEBUGCTLMSR_BTS)

struct ds {
	u64 base;
	u64 index;
	u64 absolute_maximum;
	u64 interrupt_threshold;
};

struct record {
	u64 from;
	u64 to;
	u64 flags;
};

/* Labels of the assembly; "_to" where a branch leads. */
extern char btsknown_loop[], btsknown_loop_jump[];
extern char btsknown_call_next[], btsknown_call_next_to[];
extern char btsknown_jump_next[], btsknown_jump_next_to[];
extern char btsknown_forward[], btsknown_forward_to[];
extern char btsknown_indirect[], btsknown_indirect_to[];
extern char btsknown_call[], btsknown_call_to[], btsknown_ret[], btsknown_ret_to[];

void btsknown_run(u64 old_debugctl, u64 new_debugctl, u64 *scratch);

asm(".pushsection .text\n"
    ".globl btsknown_run\n"
    ".type btsknown_run, @function\n"
    "btsknown_run:\n"
    "	endbr64\n"
    "	push	%rbx\n"
    "	mov	%rdi, %r8\n"
    "	mov	%rdx, %rdi\n"
    "	mov	%rsi, %rax\n"
    "	mov	%rsi, %rdx\n"
    "	shr	$32, %rdx\n"
    "	mov	$0x1d9, %ecx\n"
    "	wrmsr\n"
    "	mov	$" __stringify(LOOPS) ", %ecx\n"
    "btsknown_loop:\n"
    "	dec	%ecx\n"
    "btsknown_loop_jump:\n"
    "	jnz	btsknown_loop\n"
    /* Not taken, and an instruction that repeats itself: nothing to record. */
    "	jnz	btsknown_loop\n"
    "	mov	$100, %ecx\n"
    "	xor	%eax, %eax\n"
    "	rep stosb\n"
    /* Taken, although they lead to the next instruction. */
    "btsknown_call_next:\n"
    "	call	btsknown_call_next_to\n"
    "btsknown_call_next_to:\n"
    "	pop	%rbx\n"
    "btsknown_jump_next:\n"
    "	jmp	btsknown_jump_next_to\n"
    "btsknown_jump_next_to:\n"
    "	test	%eax, %eax\n"
    "btsknown_forward:\n"
    "	jz	btsknown_forward_to\n"
    "	ud2\n"
    "btsknown_forward_to:\n"
    "	lea	btsknown_indirect_to(%rip), %rbx\n"
    "btsknown_indirect:\n"
    "	jmp	*%rbx\n"
    "	ud2\n"
    "btsknown_call_to:\n"
    "	cpuid\n"
    "btsknown_ret:\n"
    "	ret\n"
    "btsknown_indirect_to:\n"
    "	mov	$0, %eax\n"
    "btsknown_call:\n"
    "	call	btsknown_call_to\n"
    "btsknown_ret_to:\n"
    "	mov	%r8, %rax\n"
    "	mov	%r8, %rdx\n"
    "	shr	$32, %rdx\n"
    "	mov	$0x1d9, %ecx\n"
    "	wrmsr\n"
    "	pop	%rbx\n"
    "	ret\n"
    "	int3\n"
    ".size btsknown_run, . - btsknown_run\n"
    ".popsection\n");

static struct ds ds __aligned(64);
static struct record ring[RING_RECORDS];
static u64 scratch[16];

static int differs(size_t i, const char *from, const char *to)
{
	if (ring[i].from == (u64)from && ring[i].to == (u64)to)
		return 0;
	pr_err("btsknown: record %zu is %llx -> %llx, not %px -> %px\n", i, ring[i].from,
	       ring[i].to, from, to);
	return -EIO;
}

static int check(size_t nr_records)
{
	static const struct {
		const char *from, *to;
	} last[] = {
		{ btsknown_call_next, btsknown_call_next_to },
		{ btsknown_jump_next, btsknown_jump_next_to },
		{ btsknown_forward, btsknown_forward_to },
		{ btsknown_indirect, btsknown_indirect_to },
		{ btsknown_call, btsknown_call_to },
		{ btsknown_ret, btsknown_ret_to },
	};
	size_t i;
	int err = 0;

	if (nr_records != LOOPS - 1 + ARRAY_SIZE(last)) {
		pr_err("btsknown: %zu records\n", nr_records);
		return -EIO;
	}
	for (i = 0; !err && i < LOOPS - 1; i++)
		err = differs(i, btsknown_loop_jump, btsknown_loop);
	for (i = 0; !err && i < ARRAY_SIZE(last); i++)
		err = differs(LOOPS - 1 + i, last[i].from, last[i].to);
	return err;
}

static int __init btsknown_init(void)
{
	u64 debugctl, old_ds_area;
	unsigned long flags;
	size_t nr_records;
	int err;

	ds.base = ds.index = (u64)ring;
	ds.absolute_maximum = (u64)(ring + RING_RECORDS);
	ds.interrupt_threshold = (u64)(ring + RING_RECORDS + 1);
	local_irq_save(flags);
	debugctl = native_read_msr(MSR_IA32_DEBUGCTLMSR);
	old_ds_area = native_read_msr(MSR_IA32_DS_AREA);
	native_wrmsrl(MSR_IA32_DS_AREA, (u64)&ds);
	btsknown_run(debugctl, debugctl | BTS_ON, scratch);
	native_wrmsrl(MSR_IA32_DS_AREA, old_ds_area);
	local_irq_restore(flags);
	nr_records = (ds.index - ds.base) / sizeof(struct record);
	err = check(nr_records);
	if (!err)
		pr_info("btsknown: %zu records as expected\n", nr_records);
	return err;
}

static void __exit btsknown_exit(void)
{
}

module_init(btsknown_init);
module_exit(btsknown_exit);
MODULE_DESCRIPTION("Known branches for the emulated Branch Trace Store");
MODULE_LICENSE("GPL");

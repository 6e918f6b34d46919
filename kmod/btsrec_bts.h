/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The hardware: IA32_DEBUGCTL, IA32_DS_AREA and the BTS fields of the DS save
 * area (Intel SDM vol. 3B, "Branch Trace Store" and "DS Save Area").  No other
 * file touches them.
 *
 * States of a CPU, all changes with interrupts off on that CPU:
 *
 *   released --claim--> claimed --start--> live <--pause/resume--> paused
 *      ^                   |                |                        |
 *      +------release------+<--stop/freeze--+<--------freeze---------+
 *
 * An NMI may freeze between any two instructions.  It finds live or paused,
 * takes "live" to 0 and points the fields at the scratch page; the interrupted
 * code then sees live == 0 and leaves BTS off.
 */
#ifndef BTSREC_BTS_H
#define BTSREC_BTS_H

#include <linux/bits.h>
#include <linux/compiler.h>
#include <asm/asm.h>
#include <asm/msr.h>

#include "btsrec.h"

/* Both are needed to record: TR makes branch messages, BTS stores them. */
#define BTS_ON		((u64)(DEBUGCTLMSR_TR | DEBUGCTLMSR_BTS))
#define BTS_OFF_BITS	((u64)(DEBUGCTLMSR_BTS_OFF_OS | DEBUGCTLMSR_BTS_OFF_USR))

/* What a self-test makes: see bts_run_known_branches(). */
#define BTS_KNOWN_BRANCHES	3

/*
 * What switches recording: DEBUGCTL, or what this processor has in its place for the last branch
 * record; see lbr_use().  "debugctl" is its value.  @btsrec_record_bits are needed to record,
 * @btsrec_filter_bits leave out what the mode does not want.
 */
extern u32 btsrec_control_msr;
extern u64 btsrec_record_bits;
extern u64 btsrec_filter_bits;

/* CR3 bits 12..51: without PCID (0..11) and the LAM bits (61, 62). */
#define CR3_BASE_MASK	GENMASK_ULL(51, 12)

struct debug_store *bts_debug_store(unsigned int cpu);
int bts_check(enum btsrec_mode mode, bool map_with_pti);
int bts_claim(struct btsrec_pcpu *pc, unsigned int cpu, enum btsrec_mode mode);
void bts_release(struct btsrec_pcpu *pc);
void bts_point_at(struct btsrec_pcpu *pc, u64 base_kva, u64 index_kva, u64 end_kva);
void bts_point_at_scratch(struct btsrec_pcpu *pc);
bool bts_area_is_ours(const struct btsrec_pcpu *pc);
bool bts_is_unused(const struct btsrec_pcpu *pc);
void bts_switch_off(void);
bool bts_exists(void);
void bts_run_known_branches(u64 on, u64 off, struct btsrec_record *expected);
bool bts_find_branches(const struct btsrec_record *ring, size_t nr,
		       const struct btsrec_record *expected);
void bts_keep_off(const struct btsrec_pcpu *pc);

/* RDMSR without a call: a call would be a branch in the history.  @msr is on every processor. */
static __always_inline u64 bts_read_msr(u32 msr)
{
	u32 low, high;

	asm volatile("rdmsr" : "=a" (low), "=d" (high) : "c" (msr));
	return (u64)high << 32 | low;
}

/* Recording, with that value of the register. */
static __always_inline bool bts_is_on(u64 debugctl)
{
	return (debugctl & btsrec_record_bits) == btsrec_record_bits;
}

static __always_inline u64 bts_read_debugctl(void)
{
	return bts_read_msr(btsrec_control_msr);
}

/*
 * WRMSR without a call.  Returns the address of the instruction after it: where the
 * code stood when a stop took effect.  A #GP (switching on while Processor Trace
 * runs) leaves the register as it was; the next pause sees it.
 */
static __always_inline u64 bts_write_debugctl(u64 value)
{
	u64 ip;

	asm volatile("1:	wrmsr\n"
		     "2:	lea 2b(%%rip), %[ip]\n"
		     _ASM_EXTABLE(1b, 2b)
		     : [ip] "=r" (ip)
		     : "c" (btsrec_control_msr), "a" ((u32)value), "d" ((u32)(value >> 32))
		     : "memory");
	return ip;
}

/*
 * bts_write_debugctl() of a pause: the address is in @stop_ip before the write, for
 * an NMI that comes between the two.
 */
static __always_inline void bts_stop(u64 *stop_ip, u64 value)
{
	u64 ip;

	asm volatile("	lea 2f(%%rip), %[ip]\n"
		     "	mov %[ip], %[stop_ip]\n"
		     "1:	wrmsr\n"
		     "2:\n"
		     _ASM_EXTABLE(1b, 2b)
		     : [ip] "=&r" (ip), [stop_ip] "=m" (*stop_ip)
		     : "c" (btsrec_control_msr), "a" ((u32)value), "d" ((u32)(value >> 32))
		     : "memory");
}

static __always_inline u64 bts_index(const struct btsrec_pcpu *pc)
{
	return READ_ONCE(pc->ds->bts_index);
}

static __always_inline void bts_set_index(struct btsrec_pcpu *pc, u64 index_kva)
{
	WRITE_ONCE(pc->ds->bts_index, index_kva);
}

/* The fields still describe our ring (not somebody else's, not the scratch page). */
static __always_inline bool bts_fields_are_ours(const struct btsrec_pcpu *pc)
{
	return READ_ONCE(pc->ds->bts_buffer_base) == pc->base_kva;
}

/* They describe our ring or our scratch page. */
static __always_inline bool bts_fields_are_held(const struct btsrec_pcpu *pc)
{
	return pc->held && (bts_fields_are_ours(pc) ||
			    READ_ONCE(pc->ds->bts_buffer_base) == pc->scratch_kva);
}

/* Where the ring ends.  If somebody took the fields, the best we know. */
static __always_inline u64 bts_last_index(const struct btsrec_pcpu *pc)
{
	return bts_fields_are_ours(pc) ? bts_index(pc) : pc->last_index_kva;
}

static __always_inline u64 bts_cr3(void)
{
	u64 cr3;

	asm volatile("mov %%cr3, %0" : "=r" (cr3) : : "memory");
	return cr3;
}

static __always_inline u64 bts_cr2(void)
{
	u64 cr2;

	asm volatile("mov %%cr2, %0" : "=r" (cr2) : : "memory");
	return cr2;
}

#endif /* BTSREC_BTS_H */

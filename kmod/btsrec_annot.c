// SPDX-License-Identifier: GPL-2.0-only
#include <linux/irqflags.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/timekeeping.h>
#include <asm/msr.h>

#include "btsrec_annot.h"
#include "btsrec_lbr.h"
#include "btsrec_limit.h"

DEFINE_PER_CPU(struct btsrec_pcpu, btsrec_pcpu);

/* The tag of part 0. */
static u64 first_tag(enum btsrec_annot_kind kind, u32 nr_parts, u64 seq)
{
	return BTSREC_TAG << BTSREC_TAG_SHIFT | (u64)kind << BTSREC_TAG_KIND_SHIFT |
	       (u64)nr_parts << BTSREC_TAG_NR_PARTS_SHIFT | (u32)seq;
}

/* Returns the slot after the last part. */
static u64 put_parts(struct btsrec_pcpu *pc, u64 index_kva, enum btsrec_annot_kind kind,
		     const u64 *words, u32 nr_parts, u64 seq)
{
	u64 tag = first_tag(kind, nr_parts, seq);
	const u64 *end = words + 2 * nr_parts;

	for (; words < end; words += 2) {
		struct btsrec_record *slot;

		if (index_kva >= pc->end_kva)
			index_kva = pc->base_kva;
		slot = (struct btsrec_record *)index_kva;
		WRITE_ONCE(slot->from, tag);
		WRITE_ONCE(slot->to, words[0]);
		WRITE_ONCE(slot->flags, words[1]);
		tag += 1ULL << BTSREC_TAG_PART_SHIFT;
		index_kva += BTSREC_RECORD_BYTES;
	}
	return index_kva >= pc->end_kva ? pc->base_kva : index_kva;
}

/* What has been recorded since the newest annotation, but for whole rounds of the ring. */
static __always_inline u64 recorded_since(const struct btsrec_pcpu *pc, u64 index_kva)
{
	u64 bytes = index_kva - pc->last_index_kva;

	if (unlikely(index_kva < pc->last_index_kva))
		bytes += pc->end_kva - pc->base_kva;
	return bytes;
}

/**
 * btsrec_recorded_bytes() - what this CPU has recorded, as btsrec_cpu.recorded_bytes
 * @pc: this CPU's, paused; an annotation must follow
 *
 * If the newest annotation has been overwritten the ring has come round; how often is not known.
 */
u64 btsrec_recorded_bytes(const struct btsrec_pcpu *pc)
{
	u64 newest_kva = (pc->last_index_kva == pc->base_kva ? pc->end_kva : pc->last_index_kva) -
			 BTSREC_RECORD_BYTES;

	if (((struct btsrec_record *)newest_kva)->from >> BTSREC_TAG_SHIFT != BTSREC_TAG)
		pc->page->recorded_bytes += pc->end_kva - pc->base_kva;
	return pc->page->recorded_bytes + recorded_since(pc, bts_index(pc));
}

/**
 * btsrec_recorded_until() - it does not record any more
 * @pc: this CPU's
 * @tsc: since when
 */
void btsrec_recorded_until(struct btsrec_pcpu *pc, u64 tsc)
{
	struct btsrec_cpu *page = pc->page;

	if (page->since_tsc)
		WRITE_ONCE(page->recorded_tsc, page->recorded_tsc + tsc - page->since_tsc);
	WRITE_ONCE(page->since_tsc, 0);
}

/**
 * btsrec_annot_put() - write one annotation at the ring's index
 * @pc: this CPU's, paused
 * @kind: enum btsrec_annot_kind
 * @payload: the payload structure of @kind
 * @payload_bytes: its size; a multiple of BTSREC_PART_BYTES
 *
 * A freeze may come by NMI at any point.  The index is read before @live, so a
 * live CPU means an index in the ring.  If the freeze came before the index
 * moved, the annotation does not count: its parts lie after the frozen index
 * and annot_begin stays ahead of annot_end to say so.
 */
void btsrec_annot_put(struct btsrec_pcpu *pc, enum btsrec_annot_kind kind, const void *payload,
		      size_t payload_bytes)
{
	u64 next_kva, index_kva = bts_index(pc);
	struct btsrec_cpu *page = pc->page;
	u64 seq = page->annot_end;

	WRITE_ONCE(page->annot_begin, seq + 1);
	barrier();	/* begun: from here on btsrec_annot_lbr() writes nothing, in an NMI */
	if (!READ_ONCE(pc->live)) {
		WRITE_ONCE(page->annot_begin, page->annot_end);
		page->nr_annot_skipped++;
		return;
	}
	page->recorded_bytes += recorded_since(pc, index_kva);
	barrier();	/* the parts come after "begun": an NMI is the reader */
	if (btsrec_uses_lbr)
		lbr_mark(pc);
	pc->annot_tsc = *(const u64 *)payload;
	next_kva = put_parts(pc, index_kva, kind, payload, payload_bytes / BTSREC_PART_BYTES, seq);
	barrier();	/* the index moves over whole parts only */
	bts_set_index(pc, next_kva);
	pc->last_index_kva = next_kva;
	barrier();	/* and "ended" comes last */
	if (!READ_ONCE(pc->live) && page->freeze.index_kva != next_kva) {
		bts_point_at_scratch(pc);
		return;
	}
	WRITE_ONCE(page->annot_end, seq + 1);
}

/* Publishes the task that runs now; the reader of an odd context_seq does not trust it. */
static void set_context(struct btsrec_pcpu *pc, const struct btsrec_switch *change)
{
	struct btsrec_cpu *page = pc->page;
	u64 seq = page->context_seq | 1;

	WRITE_ONCE(page->context_seq, seq);
	smp_wmb();	/* odd before the first field */
	page->context = *change;
	smp_wmb();	/* even after the last field */
	WRITE_ONCE(page->context_seq, seq + 1);
	pc->last_cr3 = change->next.cr3;
}

/**
 * btsrec_annot_switch() - annotate another thread, address space or program
 * @pc: this CPU's, paused
 * @kind: SWITCH, MM or EXEC
 * @change: both sides; becomes the CPU's current context
 */
void btsrec_annot_switch(struct btsrec_pcpu *pc, enum btsrec_annot_kind kind,
			 const struct btsrec_switch *change)
{
	btsrec_annot_put(pc, kind, change, sizeof(*change));
	if (READ_ONCE(pc->live))
		set_context(pc, change);
}

/**
 * btsrec_annot_lost() - annotate that something has not been recorded
 * @pc: this CPU's, paused
 * @kind: ARM or GAP
 * @reason: why
 * @stop_tsc: since when; 0: unknown, or nothing is missing
 * @task: the thread that runs from now on; becomes the CPU's current context
 * @cr3: its page-table base, already masked
 */
void btsrec_annot_lost(struct btsrec_pcpu *pc, enum btsrec_annot_kind kind,
		       enum btsrec_reason reason, u64 stop_tsc, const struct task_struct *task,
		       u64 cr3)
{
	struct btsrec_resume begin = {
		.tsc = rdtsc_ordered(),
		.stop_tsc = stop_tsc,
		.reason = reason,
		.task_kva = (u64)task,
	};
	struct btsrec_switch context = {
		.tsc = begin.tsc,
		.next_task_kva = begin.task_kva,
	};

	btsrec_side_fill(&begin.now, task, cr3);
	context.next = begin.now;
	btsrec_annot_put(pc, kind, &begin, sizeof(begin));
	set_context(pc, &context);
}

/**
 * btsrec_annot_resume() - annotate that recording begins or goes on, with the task that runs now
 * @pc: this CPU's, paused
 * @kind: ARM or GAP
 * @reason: why it had stopped
 * @stop_tsc: when; 0: unknown, or there was no stop
 */
void btsrec_annot_resume(struct btsrec_pcpu *pc, enum btsrec_annot_kind kind,
			 enum btsrec_reason reason, u64 stop_tsc)
{
	btsrec_annot_lost(pc, kind, reason, stop_tsc, current, bts_cr3() & CR3_BASE_MASK);
}

/**
 * btsrec_annot_nmi_over() - annotate that recording goes on after the NMI handlers
 * @pc: this CPU's, paused by btsrec_nmi_pause()
 * @stop_tsc: when
 *
 * In an NMI that came between the annotation of a switch and the switch, current is not the task
 * that has been annotated: the context has that, and stays as it is.
 */
void btsrec_annot_nmi_over(struct btsrec_pcpu *pc, u64 stop_tsc)
{
	struct btsrec_resume over = {
		.tsc = rdtsc_ordered(),
		.stop_tsc = stop_tsc,
		.reason = BTSREC_REASON_NMI,
		.task_kva = pc->page->context.next_task_kva,
		.now = pc->page->context.next,
	};

	btsrec_annot_put(pc, BTSREC_ANNOT_GAP, &over, sizeof(over));
}

/**
 * btsrec_annot_lbr() - copy the last branch record into the ring, after a GAP
 * @pc: this CPU's, just frozen, LBR off; its fields are ours
 *
 * In any context.  A writer of an annotation that an NMI interrupted goes on after it, at the
 * index: then there is no room, and no branch that is newer.  The GAP has the time of the
 * annotation before it: none of the branches is older.
 */
void btsrec_annot_lbr(struct btsrec_pcpu *pc)
{
	struct btsrec_cpu *page = pc->page;
	struct btsrec_resume gap = {
		.tsc = pc->annot_tsc,
		.reason = BTSREC_REASON_LBR,
		.task_kva = page->context.next_task_kva,
		.now = page->context.next,
	};
	const struct btsrec_record *copies;
	u64 index_kva = bts_index(pc);
	unsigned int i, nr, room = (pc->end_kva - pc->base_kva) / BTSREC_RECORD_BYTES -
				   sizeof(gap) / BTSREC_PART_BYTES;

	copies = lbr_copy(pc, &nr);
	if (!nr || page->annot_begin != page->annot_end)
		return;
	if (nr > room) {
		copies += nr - room;
		nr = room;
	}
	WRITE_ONCE(page->annot_begin, page->annot_end + 1);
	index_kva = put_parts(pc, index_kva, BTSREC_ANNOT_GAP, (const u64 *)&gap,
			      sizeof(gap) / BTSREC_PART_BYTES, page->annot_end);
	for (i = 0; i < nr; i++) {
		*(struct btsrec_record *)index_kva = copies[i];
		index_kva += BTSREC_RECORD_BYTES;
		if (index_kva >= pc->end_kva)
			index_kva = pc->base_kva;
	}
	WRITE_ONCE(page->annot_end, page->annot_begin);
	page->recorded_bytes += nr * BTSREC_RECORD_BYTES;
	pc->last_index_kva = index_kva;
	bts_set_index(pc, index_kva);
}

/**
 * btsrec_annot_forget_torn() - make the ring clean after a torn annotation
 * @pc: this CPU's, stopped, index at the place of the stop
 *
 * A freeze may have left parts of an unfinished annotation after the index.
 * In a ring that has not wrapped yet they would look like history older than
 * the first record, so they become poison again; its number is reused.
 */
void btsrec_annot_forget_torn(struct btsrec_pcpu *pc)
{
	struct btsrec_cpu *page = pc->page;
	u64 *slot, index_kva = bts_index(pc);
	u64 behind_kva = index_kva + BTSREC_MAX_PARTS * BTSREC_RECORD_BYTES;

	if (page->annot_begin == page->annot_end)
		return;
	page->annot_begin = page->annot_end;
	if (behind_kva >= pc->end_kva || *(u64 *)behind_kva != BTSREC_POISON)
		return;
	for (slot = (u64 *)index_kva; slot < (u64 *)behind_kva; slot++)
		*slot = BTSREC_POISON;
}

/**
 * btsrec_side_fill() - describe one side of a switch
 * @side: what to fill
 * @task: the thread
 * @cr3: its page-table base, already masked
 */
void btsrec_side_fill(struct btsrec_side *side, const struct task_struct *task, u64 cr3)
{
	BUILD_BUG_ON(sizeof(side->comm) != sizeof(task->comm));
	side->cr3 = cr3;
	side->pid = task->pid;
	side->tgid = task->tgid;
	memcpy(side->comm, task->comm, sizeof(side->comm));
}

/**
 * btsrec_pause_idle() - btsrec_pause() on a CPU that does not record
 * @pc: this CPU's, not live
 */
void btsrec_pause_idle(struct btsrec_pcpu *pc)
{
	if (READ_ONCE(pc->yielded))
		btsrec_yield_ends(pc);
	else
		bts_keep_off(pc);
}

/**
 * btsrec_pause_foreign() - the slow half of btsrec_pause()
 * @pc: this CPU's, live
 * @debugctl: in: the register; out: what btsrec_resume() shall write
 *
 * BTS is not as we left it.  If the area is somebody else's, nothing is
 * touched.  If only the bits were taken away, or have come back, recording goes
 * on and a GAP says that branches are missing.  Either is counted once, unless
 * it was our own pause at what then was no crash.  While the rings are being copied,
 * nothing happens.  Nor if an NMI has frozen this CPU since btsrec_pause() looked.  Where a limit
 * keeps BTS off, it stays so; see btsrec_resume().
 *
 * Return: as btsrec_pause().
 */
bool btsrec_pause_foreign(struct btsrec_pcpu *pc, u64 *debugctl)
{
	enum btsrec_reason suspect = pc->suspect;

	if (pc->hold_tsc || !READ_ONCE(pc->live))
		return false;
	if (btsrec_limit_keeps_off(pc) && !(*debugctl & btsrec_record_bits) && bts_area_is_ours(pc))
		return true;
	pc->suspect = BTSREC_REASON_NONE;
	if (!suspect && !pc->foreign) {
		pc->foreign = true;
		pc->page->nr_foreign_stops++;
	}
	if (!bts_area_is_ours(pc)) {
		pc->page->nr_annot_skipped++;
		return false;
	}
	pc->off_reason = BTSREC_REASON_NONE;
	bts_stop(&pc->stop_ip, *debugctl & ~btsrec_record_bits);
	*debugctl = (*debugctl & ~(btsrec_record_bits | btsrec_filter_bits)) | pc->on_bits;
	btsrec_annot_resume(pc, BTSREC_ANNOT_GAP,
			    suspect ?: BTSREC_REASON_FOREIGN, suspect ? pc->stop_tsc : 0);
	pc->foreign = false;
	return true;
}

/**
 * btsrec_pause_ends() - may a CPU that was paused for some time record again?
 * @pc: this CPU's, live
 * @debugctl: out: the register, without BTS
 *
 * If BTS is on again, a VM exit or another NMI handler brought it back: it is
 * switched off once more, so that the gap is annotated all the same.  An area that
 * moved is another's: the next annotation sees it.
 *
 * Return: as btsrec_pause().
 */
bool btsrec_pause_ends(struct btsrec_pcpu *pc, u64 *debugctl)
{
	if (!bts_area_is_ours(pc))
		return false;
	*debugctl = bts_read_debugctl();
	if (*debugctl & btsrec_record_bits) {
		*debugctl &= ~btsrec_record_bits;
		bts_stop(&pc->stop_ip, *debugctl);
	}
	return true;
}

/**
 * btsrec_mark() - write a text into the ring of the CPU it runs on
 * @text: the text; cut to what a MARK holds
 *
 * Return: 0; -ENXIO: this CPU does not record.
 */
int btsrec_mark(const char *text)
{
	struct btsrec_mark mark = { .pid = current->pid, .tgid = current->tgid };
	struct btsrec_pcpu *pc;
	unsigned long flags;
	u64 debugctl;
	int err = -ENXIO;

	memcpy(mark.text, text, strnlen(text, sizeof(mark.text)));
	local_irq_save(flags);
	pc = this_cpu_ptr(&btsrec_pcpu);
	if (btsrec_pause(pc, &debugctl)) {
		mark.tsc = rdtsc_ordered();
		btsrec_annot_put(pc, BTSREC_ANNOT_MARK, &mark, sizeof(mark));
		btsrec_resume(pc, debugctl);
		err = 0;
	}
	local_irq_restore(flags);
	return err;
}

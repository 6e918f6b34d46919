// SPDX-License-Identifier: GPL-2.0-or-later
#include "codefix.h"
#include "flow/proof.h"

#define NR_EVENTS 64

static struct btsrec_event events[NR_EVENTS];
static size_t nr_events;
static struct proof proof;
static struct proof_step steps[NR_EVENTS];
static bool has_step[NR_EVENTS];

/*
 * TEXT+0x000	nop; call 0x100
 * TEXT+0x006	test; jnz 0x10
 * TEXT+0x010	nop; hlt; nop; jmp 0x000
 * TEXT+0x100	nop; nop; ret
 * TEXT+0x200	call *%rax; nop; jmp 0x000
 * TEXT+0x300	nop; sysretq
 * TIMER	nop; iretq
 * MODULE	nop; jz; wrmsr; lea; call; jmp; nops; wrmsr; nop; ret
 * USER		nop; syscall; nop; jmp USER
 */
static void setup(void)
{
	cf_setup();
	cf_put(TEXT, "\x90\xe8\xfa\x00\x00\x00\x85\xc0\x75\x06\xcc\xcc\xcc\xcc\xcc\xcc");
	cf_put(TEXT + 0x10, "\x90\xf4\x90\xeb\xeb");
	cf_put(TEXT + 0x100, "\x90\x90\xc3");
	cf_put(TEXT + 0x200, "\xff\xd0\x90\xe9\xf8\xfd\xff\xff");
	cf_put(TEXT + 0x300, "\x90\x48\x0f\x07");
	cf_put(TIMER, "\x90\x48\xcf");
	cf_put(MODULE, "\x90\x74\x10\x0f\x30\x48\x8d\x05\x00\x00\x00\x00"
	       "\xe8\x00\x10\x00\x00\xeb\x0d\x90\x90\x90\x90\x90\x90\x90"
	       "\x90\x90\x90\x90\x90\x90\x0f\x30\x90\xc3");
	cf_put(USER, "\x90\x0f\x05\x90\xeb\xfa");
	cf_start();
	nr_events = 0;
}

static struct btsrec_module recorder = {
	.text_kva = MODULE, .text_bytes = 0x1000, .state = BTSREC_MODULE_LIVE, .name = "btsrec",
};
static const struct located with_recorder = { .modules = &recorder, .nr_modules = 1 };
static const struct located no_modules;

static struct btsrec_event *add(enum btsrec_event_kind kind)
{
	struct btsrec_event *event = &events[nr_events];

	memset(event, 0, sizeof(*event));
	event->kind = kind;
	event->n = nr_events++;
	return event;
}

static void branch(uint64_t from, uint64_t to)
{
	struct btsrec_event *event = add(BTSREC_EVENT_BRANCH);

	event->branch.from = from;
	event->branch.to = to;
}

static void freeze(uint64_t stop_ip)
{
	add(BTSREC_EVENT_FREEZE)->freeze.stop_ip = stop_ip;
}

/* Ten branches and a stop: call, return, condition, interrupt, loop, system call. */
static void add_history(void)
{
	branch(TEXT + 1, TEXT + 0x100);
	branch(TEXT + 0x102, TEXT + 6);
	branch(TEXT + 8, TEXT + 0x10);
	branch(TEXT + 0x12, TIMER);
	branch(TIMER + 1, TEXT + 0x12);
	branch(TEXT + 0x13, TEXT);
	branch(TEXT + 1, TEXT + 0x100);
	branch(TEXT + 0x102, TEXT + 0x300);
	branch(TEXT + 0x301, USER);
	branch(USER + 1, TEXT + 6);
	freeze(TEXT + 8);
}

static void prove(bool filtered)
{
	proof_init(&proof, cf_code, &with_recorder, filtered);
	for (size_t i = 0; i < nr_events; i++)
		has_step[i] = proof_feed(&proof, &events[i], USER_PGD, &steps[i]);
}

static uint64_t tally(enum proof_kind kind)
{
	return proof.kernel.nr[kind] + proof.user.nr[kind];
}

static void ck_broken(size_t i, enum code_fault fault)
{
	ck_assert_msg(steps[i].kind == PROOF_BROKEN, "step %zu is %s", i,
		      proof_kind_str(steps[i].kind));
	ck_assert_msg(steps[i].fault == fault, "step %zu: %s", i, code_fault_str(steps[i].fault));
	ck_assert_uint_eq(steps[i].nr_insns, steps[i].nr_ranges);
}

START_TEST(all_proven)
{
	setup();
	add_history();
	prove(false);
	ck_assert_uint_eq(tally(PROOF_START), 1);
	ck_assert_uint_eq(tally(PROOF_PROVEN), 10);
	ck_assert_uint_eq(proof.user.nr[PROOF_PROVEN], 1);
	ck_assert_int_eq(steps[3].branch.type, BRANCH_IRQ);
	ck_assert_int_eq(steps[3].branch.vector, 236);
	ck_assert_int_eq(steps[8].branch.type, BRANCH_SYSRET);
	ck_assert_uint_eq(steps[0].length_bytes, 5);
	ck_assert_uint_eq(steps[1].length_bytes, 1);
	ck_assert_uint_eq(steps[8].length_bytes, 3);
	/* call; nop nop ret; test jnz; nop hlt; nop iret; nop jmp; nop call; nop nop ret;
	 * nop sysret; nop syscall; test */
	ck_assert_uint_eq(proof.nr_insns, 1 + 3 + 2 + 2 + 2 + 2 + 2 + 3 + 2 + 2 + 1);
	/* The branch at the start ran, but what led to it is not known. */
	ck_assert_uint_eq(steps[0].ranges[0].start, TEXT + 1);
	ck_assert_uint_eq(steps[0].ranges[0].stop, TEXT + 6);
	/* The interrupted instruction did not run before the interrupt. */
	ck_assert_uint_eq(steps[3].ranges[0].stop, TEXT + 0x12);
	ck_assert_uint_eq(steps[10].ranges[0].start, TEXT + 6);
	ck_assert_uint_eq(steps[10].ranges[0].stop, TEXT + 8);
	cf_finish();
}
END_TEST

START_TEST(nothing_ran_before_an_interrupt)
{
	setup();
	branch(TIMER + 1, TEXT + 0x12);
	branch(TEXT + 0x12, PAGE_FAULT);
	prove(false);
	ck_assert_int_eq(steps[1].kind, PROOF_PROVEN);
	ck_assert_uint_eq(steps[1].nr_ranges, 0);
	cf_finish();
}
END_TEST

/*
 * Each bit of each address.  What cannot be seen: an interrupt at another instruction of the same
 * run.  A return, indirect branch or interrupt with a new target that leads straight to the next
 * branch as well, here over NOPs and zeros.
 */
/* An INT that can only have been one is no instruction that is known to have run. */
START_TEST(a_system_call_of_unreadable_code)
{
	static const uint16_t dpl_3 = 0xee00;

	setup();
	cf_put_gate(0x80, TEXT + 0x200);
	cf_put_bytes(IDT + 16 * 0x80 + 4, &dpl_3, sizeof(dpl_3));
	cf_start();
	branch(TEXT + 0x301, USER + 0x100000);
	branch(USER + 0x100000, TEXT + 0x200);
	prove(false);
	ck_assert_int_eq(steps[1].branch.type, BRANCH_INT);
	ck_assert_int_eq(steps[1].branch.vector, 0x80);
	ck_assert_int_eq(steps[1].kind, PROOF_UNKNOWN);
	ck_assert_uint_eq(steps[1].nr_ranges, 0);
	ck_assert_uint_eq(steps[1].nr_insns, 0);
}
END_TEST

START_TEST(flipped_bits)
{
	unsigned int nr_seen = 0, nr_missed = 0;

	setup();
	for (size_t i = 0; i < 10; i++) {
		for (unsigned int bit = 0; bit < 96; bit++) {
			__u64 *word;

			nr_events = 0;
			add_history();
			word = bit < 48 ? &events[i].branch.from : &events[i].branch.to;
			*word ^= 1ULL << bit % 48;
			prove(false);
			if (tally(PROOF_BROKEN) || tally(PROOF_UNKNOWN) ||
			    steps[i].branch.type == BRANCH_NONE ||
			    steps[i].branch.type == BRANCH_UNKNOWN)
				nr_seen++;
			else
				nr_missed++;
		}
	}
	ck_assert_uint_eq(nr_seen + nr_missed, 960);
	ck_assert_uint_eq(nr_missed, 9);
	cf_finish();
}
END_TEST

START_TEST(dropped_and_swapped_records)
{
	for (size_t i = 1; i < 9; i++) {
		setup();
		add_history();
		memmove(&events[i], &events[i + 1], (nr_events - i - 1) * sizeof(events[0]));
		nr_events--;
		prove(false);
		ck_assert_msg(tally(PROOF_BROKEN), "record %zu dropped", i);
		nr_events = 0;
		add_history();
		events[NR_EVENTS - 1] = events[i];
		events[i] = events[i + 1];
		events[i + 1] = events[NR_EVENTS - 1];
		prove(false);
		ck_assert_msg(tally(PROOF_BROKEN), "records %zu and %zu swapped", i, i + 1);
	}
	cf_finish();
}
END_TEST

START_TEST(kinds_of_breaks)
{
	setup();
	branch(TEXT + 0x102, TEXT);
	branch(TEXT + 8, TEXT + 0x10);		/* 1: passes the call */
	branch(TEXT + 0x13, TEXT);
	branch(TEXT + 1, TEXT + 0x100);
	branch(TEXT + 0x102, TEXT + 6);
	branch(TEXT + 7, TEXT + 0x100);		/* 5: inside the test */
	branch(TEXT + 1, TEXT + 0x100);		/* 6: backwards */
	branch(TEXT + 0x101, TEXT + 6);		/* 7: no branch */
	branch(TEXT + 8, TEXT + 0x11);		/* 8: leads elsewhere */
	branch(TEXT + 0x13, TEXT);		/* 9: fine again */
	freeze(TEXT + 6);			/* 10: the call is in the way */
	prove(false);
	ck_broken(1, CODE_LEAVES);
	ck_broken(5, CODE_INSIDE);
	ck_broken(6, CODE_BACKWARD);
	ck_broken(7, CODE_NO_BRANCH);
	ck_broken(8, CODE_OTHER_TARGET);
	ck_assert_int_eq(steps[9].kind, PROOF_PROVEN);
	ck_assert_int_eq(steps[10].kind, PROOF_BROKEN);
	ck_assert_int_eq(steps[10].fault, CODE_LEAVES);
	cf_finish();
}
END_TEST

START_TEST(text_changed)
{
	setup();
	cf_put(TEXT + 0x100, "\xcc");
	cf_start();
	add_history();
	prove(false);
	ck_broken(1, CODE_LEAVES);
	ck_broken(7, CODE_LEAVES);
	ck_assert_uint_eq(steps[1].fault_va, TEXT + 0x100);
	ck_assert_uint_eq(tally(PROOF_BROKEN), 2);
	cf_finish();
}
END_TEST

/* Of a jump and a call that were taken out, and of a call that leads past the recorder now. */
static bool is_made(void *arg, uint64_t cr3, uint64_t va)
{
	(void)arg;
	return cr3 == USER_PGD && va - USER < 0x800;
}

/* What a JIT has made anew since it ran; code of files stays. */
START_TEST(user_code_made_anew)
{
	setup();
	cf_put(USER, "\x90\x90\x90\x90");
	cf_put(USER + 0x800, "\x90\x90\x90\x90");
	cf_made = is_made;
	cf_start();
	cf_made = NULL;
	branch(USER + 0x10, USER);
	branch(USER + 1, USER + 0x800);
	branch(USER + 0x801, USER);
	prove(false);
	ck_assert_int_eq(steps[1].kind, PROOF_PATCHED);
	ck_broken(2, CODE_NO_BRANCH);
	cf_finish();
}
END_TEST

START_TEST(text_patched)
{
	setup();
	cf_put(TEXT + 0x80, "\x90\x66\x90\x0f\x1f\x44\x00\x00\xe8\x73\x00\x00\x00");
	cf_start();
	branch(TEXT + 0x81, TEXT + 0x83);
	branch(TEXT + 0x83, TEXT + 0x88);
	branch(TEXT + 0x88, MODULE);
	branch(MODULE + 1, TEXT + 0x88);
	branch(TEXT + 0x88, TEXT + 0x200);	/* 4: into no module */
	branch(TEXT + 0x200, TEXT + 0x80);
	branch(TEXT + 0x80, TEXT + 0x83);	/* 6: a NOP of one byte */
	prove(false);
	for (size_t i = 1; i < 3; i++)
		ck_assert_int_eq(steps[i].kind, PROOF_PATCHED);
	ck_broken(4, CODE_OTHER_TARGET);
	ck_broken(6, CODE_NO_BRANCH);
	ck_assert_uint_eq(tally(PROOF_PATCHED), 2);
	ck_assert_uint_eq(steps[1].nr_ranges, 0);
	cf_finish();
}
END_TEST

/* Static keys and static calls, and a page in which the kernel makes code. */
static enum code_text text_of(void *arg, uint64_t va)
{
	(void)arg;
	if (va == TEXT + 0x80 || va == TEXT + 0x85 || va == TEXT + 0x8a)
		return CODE_TEXT_SITE;
	if (va - (TEXT + 0x180) < 0x80)
		return CODE_TEXT_MAYBE;
	return va - (MODULE + 0x800) < 0x100 ? CODE_TEXT_ANEW : CODE_TEXT_STAYS;
}

/* jmp, call and "xor %eax,%eax" of sites; a jump that is none; a jump to what was made; int3. */
static void setup_changed(void)
{
	setup();
	cf_put(TEXT + 0x80, "\xe9\x7b\x00\x00\x00\xe8\x76\x00\x00\x00\x66\x66\x48\x31\xc0"
	       "\xc3");
	cf_put(TEXT + 0xa0, "\x90\xeb\x00\xc3");
	cf_put(TEXT + 0xb0, "\x90\xe9\x4a\x17\x00\x3f\xc3");
	cf_put(TEXT + 0xc0, "\x90\xcc\xc3\xcc\xc3");
	cf_put(TEXT + 0x180, "\x90\xeb\x00\xc3");
	cf_put(TEXT + 0x190, "\x90\xe8\x00\x00\x00\x00\xc3");
	cf_put(MODULE + 0x800, "\x90\x90\x90\x90");
	cf_text = text_of;
	cf_start();
	cf_text = NULL;
}

START_TEST(text_changed_both_ways)
{
	setup_changed();
	branch(TEXT + 0x13, TEXT + 0x80);
	branch(TEXT + 0x8f, TEXT + 0xa0);	/* 1: NOPs then, jmp and call now */
	branch(TEXT + 0xa3, TEXT + 0x8a);	/* 2: over a jump that no table has */
	branch(TEXT + 0x8a, TEXT + 0xb0);	/* 3: a call then, returns 0 now */
	branch(TEXT + 0xb6, TEXT + 0xc0);	/* 4: over a jump out of the kernel's image */
	branch(TEXT + 0xc2, TEXT + 0xa0);	/* 5: over a probe */
	branch(TEXT + 0xa0, MODULE + 0x800);	/* 6: an optimised probe, gone */
	branch(MODULE + 0x801, TEXT + 0x80);	/* 7: in code that is gone */
	branch(TEXT + 0x80, TEXT + 0xc3);	/* 8: the jump led elsewhere */
	branch(TEXT + 0xc4, TEXT + 0x80);	/* 9: from INT3 on: padding */
	prove(false);
	for (size_t i = 1; i < 9; i++)
		if (i != 2)
			ck_assert_msg(steps[i].kind == PROOF_PATCHED, "step %zu is %s: %s", i,
				      proof_kind_str(steps[i].kind),
				      code_fault_str(steps[i].fault));
	ck_broken(2, CODE_LEAVES);
	ck_broken(9, CODE_LEAVES);
	cf_finish();
}
END_TEST

/* Where the dump lacks the tables a jump may have been a NOP; a call may not. */
START_TEST(text_changed_maybe)
{
	setup_changed();
	branch(TEXT + 0x13, TEXT + 0x180);
	branch(TEXT + 0x183, TEXT + 0x190);
	branch(TEXT + 0x196, TEXT + 0x80);
	freeze(TEXT + 0x8a);		/* over a jump that is in a table */
	prove(false);
	ck_assert_int_eq(steps[1].kind, PROOF_UNKNOWN);
	ck_assert_int_eq(steps[1].fault, CODE_NO_SITES);
	ck_broken(2, CODE_LEAVES);
	ck_assert_int_eq(steps[3].kind, PROOF_PATCHED);
	cf_finish();
}
END_TEST

/* VMRESUME, behind which BTS was off until KVM had switched it on again. */
START_TEST(a_guest_ran)
{
	setup();
	cf_put(TEXT + 0x80, "\x90\x0f\x01\xc3\x76\x02\xeb\xfe");
	cf_start();
	branch(TEXT + 0x13, TEXT + 0x80);
	branch(TEXT + 8, TEXT + 0x10);		/* before it */
	branch(TEXT + 0x13, TEXT + 0x80);
	branch(TEXT + 0x84, TEXT + 0x88);	/* it failed, and the code goes on */
	branch(TEXT + 0x13, TEXT + 0x81);
	branch(TEXT + 0x13, TEXT);		/* after a jump that nobody has seen */
	prove(false);
	for (size_t i = 1; i < 6; i += 4) {
		ck_assert_int_eq(steps[i].kind, PROOF_UNKNOWN);
		ck_assert_int_eq(steps[i].fault, CODE_GUEST);
		ck_assert_uint_eq(steps[i].fault_va, TEXT + 0x81);
		ck_assert(proof_fails(&steps[i]));
	}
	ck_assert_int_eq(steps[3].kind, PROOF_PROVEN);
	cf_finish();
}
END_TEST

START_TEST(excluded_pages)
{
	setup();
	mem_cut(&cf_mem, cf_map(USER_PGD, USER), 0);
	cf_start();
	add_history();
	prove(false);
	ck_assert_uint_eq(tally(PROOF_BROKEN), 0);
	ck_assert_uint_eq(proof.user.nr[PROOF_UNKNOWN], 1);
	ck_assert_int_eq(steps[9].fault, CODE_NOT_IN_DUMP);
	ck_assert_uint_eq(steps[9].nr_ranges, 0);
	ck_assert_uint_eq(proof.kernel.nr[PROOF_PROVEN], 9);
	/* A page of zeros instead: 00 00 is an instruction, and nothing ends. */
	setup();
	memset(mem_page(&cf_mem, cf_map(KERNEL_PGD, TEXT)), 0, 4096);
	cf_start();
	add_history();
	prove(false);
	/* What needs no branch of the kernel: the interrupt, the user's part, the stop. */
	ck_assert_uint_eq(tally(PROOF_PROVEN), 3);
	ck_assert_uint_eq(tally(PROOF_BROKEN), 7);
	cf_finish();
}
END_TEST

/* --- Annotations -------------------------------------------------------- */

static void add_switch(void)
{
	branch(TEXT + 0x200, MODULE);
	add(BTSREC_EVENT_SWITCH);
	branch(MODULE + 0x23, TEXT + 0x202);
	branch(TEXT + 0x203, TEXT);
}

START_TEST(paused_for_an_annotation)
{
	setup();
	add_switch();
	prove(false);
	ck_assert(!has_step[1]);
	ck_assert_int_eq(steps[2].kind, PROOF_PROVEN);
	ck_assert_uint_eq(steps[2].nr_ranges, 2);
	ck_assert_uint_eq(steps[2].ranges[0].start, MODULE);
	ck_assert_uint_eq(steps[2].ranges[0].stop, MODULE + 5);
	ck_assert_uint_eq(steps[2].ranges[1].start, MODULE + 0x22);
	ck_assert_uint_eq(steps[2].ranges[1].stop, MODULE + 0x24);
	ck_assert_uint_eq(steps[2].nr_insns, 5);
	ck_assert_int_eq(steps[3].kind, PROOF_PROVEN);
	cf_finish();
}
END_TEST

START_TEST(no_annotation_no_pause)
{
	setup();
	add_switch();
	events[1].kind = BTSREC_EVENT_BRANCH;
	events[1].branch = events[2].branch;
	events[2] = events[3];
	nr_events = 3;
	prove(false);
	ck_broken(1, CODE_LEAVES);
	cf_finish();
}
END_TEST

START_TEST(annotation_elsewhere)
{
	setup();
	/* Neither in nor out of the recorder. */
	branch(TEXT + 1, TEXT + 0x100);
	add(BTSREC_EVENT_SWITCH);
	branch(TEXT + 0x102, TEXT + 6);
	prove(false);
	ck_broken(2, CODE_NO_PAUSE);
	ck_assert_uint_eq(steps[2].fault_va, TEXT + 0x100);
	/* In, but no way out. */
	nr_events = 0;
	add_switch();
	events[2].branch.from = MODULE + 0x21;
	prove(false);
	ck_broken(2, CODE_NO_PAUSE);
	ck_assert_uint_eq(steps[2].fault_va, MODULE + 0x21);
	/* The recorder's text is not known. */
	nr_events = 0;
	add_switch();
	proof_init(&proof, cf_code, &no_modules, false);
	for (size_t i = 0; i < nr_events; i++)
		proof_feed(&proof, &events[i], USER_PGD, &steps[i]);
	ck_assert_int_eq(steps[2].kind, PROOF_UNKNOWN);
	ck_assert_int_eq(steps[2].fault, CODE_NO_RECORDER);
	cf_finish();
}
END_TEST

START_TEST(stopped_while_paused)
{
	setup();
	branch(TEXT + 0x200, MODULE);
	freeze(MODULE + 5);
	prove(false);
	ck_assert_int_eq(steps[1].kind, PROOF_PROVEN);
	ck_assert_uint_eq(steps[1].nr_insns, 3);
	nr_events = 0;
	branch(TEXT + 0x200, MODULE);
	add(BTSREC_EVENT_SWITCH);
	freeze(MODULE + 5);
	prove(false);
	ck_assert_int_eq(steps[2].kind, PROOF_PROVEN);
	nr_events = 0;
	branch(TEXT + 0x200, MODULE);
	add(BTSREC_EVENT_SWITCH);
	freeze(TEXT + 8);
	prove(false);
	ck_assert_int_eq(steps[2].fault, CODE_NO_PAUSE);
	cf_finish();
}
END_TEST

/* --- Breaks in the history ---------------------------------------------- */

START_TEST(gaps_begin_anew)
{
	setup();
	branch(TEXT + 1, TEXT + 0x100);
	add(BTSREC_EVENT_GAP);
	branch(TEXT + 8, TEXT + 0x10);
	add(BTSREC_EVENT_ARM);
	branch(TEXT + 0x13, TEXT);
	add(BTSREC_EVENT_GAP);
	freeze(TEXT + 8);
	prove(false);
	ck_assert_uint_eq(tally(PROOF_START), 3);
	ck_assert_uint_eq(tally(PROOF_BROKEN), 0);
	ck_assert(!has_step[6]);
	cf_finish();
}
END_TEST

/* The recorder's own pause is in its code at both ends, as that for an annotation is. */
START_TEST(own_pauses_do_not)
{
	setup();
	add_switch();
	events[1].kind = BTSREC_EVENT_GAP;
	events[1].gap = (struct btsrec_gap){
		.kind = BTSREC_GAP_PAUSED,
		.has_resume = true,
		.resume.reason = BTSREC_REASON_OOPS,
	};
	prove(false);
	ck_assert_int_eq(steps[2].kind, PROOF_PROVEN);
	ck_assert_uint_eq(steps[2].nr_ranges, 2);
	events[1].gap.resume.reason = BTSREC_REASON_NMI;
	prove(false);
	ck_assert_int_eq(steps[2].kind, PROOF_PROVEN);
	events[1].gap.resume.reason = BTSREC_REASON_CPU_OFFLINE;
	prove(false);
	ck_assert_int_eq(steps[2].kind, PROOF_START);
	cf_finish();
}
END_TEST

START_TEST(one_level_only)
{
	setup();
	branch(TEXT + 1, TEXT + 0x100);
	branch(TEXT + 0x102, TEXT + 0x300);
	branch(USER + 1, TEXT + 6);
	branch(TEXT + 8, TEXT + 0x10);
	prove(true);
	ck_assert_uint_eq(tally(PROOF_FILTERED), 1);
	ck_assert_int_eq(steps[2].kind, PROOF_FILTERED);
	ck_assert_uint_eq(steps[2].nr_insns, 1);
	ck_assert_uint_eq(tally(PROOF_PROVEN), 2);
	prove(false);
	ck_broken(2, CODE_BACKWARD);
	/* Of user code alone: the stop is in the kernel. */
	nr_events = 0;
	branch(USER + 5, USER);
	freeze(TEXT + 8);
	prove(true);
	ck_assert_int_eq(steps[1].kind, PROOF_FILTERED);
	ck_assert_uint_eq(steps[1].nr_ranges, 0);
	prove(false);
	ck_broken(1, CODE_TOO_LONG);
	/* Somebody else had switched BTS off. */
	events[1].freeze.stop_ip = 0;
	prove(false);
	ck_assert(!has_step[1]);
	cf_finish();
}
END_TEST

START_TEST(labels)
{
	for (int kind = PROOF_PROVEN; kind <= PROOF_BROKEN; kind++)
		ck_assert_str_ne(proof_kind_str((enum proof_kind)kind), "");
	ck_assert_str_eq(proof_kind_str((enum proof_kind)99), "unknown");
}
END_TEST

BTSREC_CK_MAIN("proof", all_proven, nothing_ran_before_an_interrupt,
	       a_system_call_of_unreadable_code, flipped_bits, dropped_and_swapped_records,
	       kinds_of_breaks, text_changed, text_patched, text_changed_both_ways, text_changed_maybe, user_code_made_anew,
	       a_guest_ran, excluded_pages,
	       paused_for_an_annotation, no_annotation_no_pause, annotation_elsewhere,
	       stopped_while_paused, gaps_begin_anew, own_pauses_do_not, one_level_only, labels)

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What is likely: the passes once more over the newest steps, with all of memory.
 *
 * Forwards a word is what was stored there; backwards it is what the dump has, up to the last
 * store or cut.  A store to an unknown address is taken to be elsewhere, and no other CPU to store
 * between a store and a load.  Where two sources disagree, what is certain, or was known first,
 * stays; the memory that was wrong is left out, and all begins anew.
 */
#include "flow/reg_values_impl.h"

#include <stdlib.h>
#include <string.h>

#include "base/bounds.h"
#include "flow/reg_values_changed.h"
#include "flow/reg_values_memory.h"

/* What is farther from the end is seldom right; see docs/evidence/kernels-and-crashes.md. */
#define MAX_LIKELY_STEPS	BOUND(1U << 15, 4096)
/* Each begins anew, because more words are known that others write. */
#define MAX_TRIES	16
/* A repeated store of more is taken for one to an unknown address. */
#define MAX_STRING_BYTES	65536
/* A store whose length is not known is likely not longer. */
#define PAGE_BYTES	4096

/* Which stores to unknown addresses may be there. */
enum part_of_memory {
	MEMORY_IMAGE,	/* the kernel and its modules: none */
	MEMORY_STACK,	/* pushes */
	MEMORY_OTHER,
	NR_MEMORY,
};

/**
 * struct way - what a pass knows of memory at its step
 * @memory: by enum part_of_memory.
 * @has_dump: of each, nothing else has run since.
 * @nr_handlers: the step is in handlers of so many interrupts or exceptions that have returned.
 */
struct way {
	struct memory memory[NR_MEMORY];
	bool has_dump[NR_MEMORY];
	unsigned int nr_handlers;
};

/**
 * struct likely - the passes
 * @ways: forwards, behind the step, and backwards, in front of it.
 * @is_backward: which of them is under way.
 * @loaded, @stored: what is known of them in the step.
 * @changed: words that others write.
 * @stacks: where each stack begins that something was pushed on.
 * @asked: in front of this step both ways were gone to; 0: they were not.
 */
struct likely {
	struct reg_values *values;
	struct way ways[2];
	bool is_backward;
	struct known loaded;
	struct known stored;
	struct changed changed;
	struct memory stacks;
	uint32_t asked;
};

/* --- Memory ------------------------------------------------------------- */

/* Documentation/arch/x86/x86_64/mm.rst: from here on, the kernel and its modules. */
#define IMAGE_VA	0xffffffff80000000ULL

/* Stacks are aligned to their size; those of interrupts and exceptions are smaller. */
#define STACK_BYTES	(1U << 14)

static enum part_of_memory part_of(struct likely *pass, uint64_t address)
{
	if (address >= IMAGE_VA)
		return MEMORY_IMAGE;
	return memory_has(&pass->stacks, address & -(uint64_t)STACK_BYTES, 1) ? MEMORY_STACK :
									       MEMORY_OTHER;
}

static struct way *way_of(struct likely *pass)
{
	return &pass->ways[pass->is_backward];
}

static struct memory *memory_at(struct likely *pass, uint64_t address)
{
	return &way_of(pass)->memory[part_of(pass, address)];
}

static void forget(struct likely *pass, enum part_of_memory part)
{
	memory_forget(&way_of(pass)->memory[part]);
	way_of(pass)->has_dump[part] = false;
}

/*
 * Elsewhere than other words of the stack it is not.  What RBP holds is known where RSP is, if it
 * is made of that; else it is any register.
 */
static bool is_to_stack(const struct sem_insn *insn, const struct sem_state *state)
{
	return reg_values_pushes(insn) || reg_values_is_interrupt(insn) || insn->base == SEM_RSP ||
	       (insn->base == SEM_RBP && state->before[SEM_RSP]->mask != UINT64_MAX);
}

/*
 * Going back, what nobody has stored to since is as in the dump.  After the end of the history
 * others go on: what it has stored to is stored to again, and so are clocks and counts that the
 * handler of an interrupt reads.
 */
static struct known look(struct likely *pass, uint64_t address, unsigned int nr_bytes)
{
	const struct reg_values *values = pass->values;
	struct memory *memory = memory_at(pass, address);
	const struct way *way = way_of(pass);
	uint64_t value;

	if (changed_has(&pass->changed, address, nr_bytes))
		return known_none();
	if (way->has_dump[part_of(pass, address)] && !way->nr_handlers &&
	    !memory_has(memory, address, nr_bytes) &&
	    !changed_is_written(&pass->changed, address, nr_bytes) &&
	    values->memory.read(values->memory.arg, false, address, nr_bytes, &value))
		memory_set(memory, address, nr_bytes, known_all(value));
	return memory_get(memory, address, nr_bytes);
}

/* Nothing is likely of @nr_bytes bytes, or all are zero. */
static void store_many(struct likely *pass, uint64_t address, uint64_t nr_bytes, bool is_zero)
{
	for (uint64_t at = 0; at < nr_bytes; at += WORD_BYTES)
		memory_set(memory_at(pass, address + at), address + at,
			   nr_bytes - at < WORD_BYTES ? (unsigned int)(nr_bytes - at) : WORD_BYTES,
			   is_zero ? known_all(0) : known_none());
}

/*
 * A repeated store of one value, or of many: where, and whether all of it is zero.  How far one
 * goes is not always known: likely not beyond a page.
 */
static void store_string(struct likely *pass, const struct sem_insn *insn,
			 const struct sem_state *state)
{
	const struct known *to = state->before[SEM_RDI], *rcx = state->before[SEM_RCX];
	const struct known *rax = state->before[SEM_RAX], *flags = state->before[SEM_FLAGS];
	bool is_whole = !insn->repeats || rcx->mask == UINT64_MAX;
	uint64_t max = insn->repeats ? rcx->value | ~rcx->mask : 1, nr_bytes;
	bool is_zero = is_whole && insn->cc != BEGUN && !(insn->reads & 1U << SEM_RSI) &&
		       rax->mask == UINT64_MAX && !rax->value && !pass->is_backward;

	if (to->mask != UINT64_MAX || (is_whole && max > MAX_STRING_BYTES))
		return;
	if (__builtin_mul_overflow(max, insn->operand_bytes, &nr_bytes) ||
	    (!is_whole && nr_bytes > PAGE_BYTES))
		nr_bytes = PAGE_BYTES;
	store_many(pass, flags->value & SEM_DF ? to->value + insn->operand_bytes - nr_bytes :
						 to->value, nr_bytes, is_zero);
}

static void store(struct likely *pass, const struct sem_insn *insn, struct sem_state *state,
		  struct known stored)
{
	unsigned int nr_bytes = reg_values_pushes(insn) ? WORD_BYTES : insn->store_bytes;
	struct known address = reg_values_place(pass->values, insn, state, true);

	if (insn->op == SEM_STRING || (insn->cc == BEGUN && insn->repeats)) {
		store_string(pass, insn, state);
		return;
	}
	if (address.mask != UINT64_MAX && is_to_stack(insn, state))
		forget(pass, MEMORY_STACK);
	else if (reg_values_pushes(insn))
		memory_set(&pass->stacks, address.value & -(uint64_t)STACK_BYTES, 1, known_none());
	if (address.mask != UINT64_MAX)
		return;
	if (nr_bytes > 512) {
		store_many(pass, address.value, PAGE_BYTES, false);
		return;
	}
	pass->changed.stores[pass->values->step - pass->changed.first] = address.value;
	if (!is_to_stack(insn, state))
		changed_written(&pass->changed, address.value);
	for (unsigned int at = 0; at < nr_bytes; at += WORD_BYTES)
		memory_set(memory_at(pass, address.value), address.value + at,
			   nr_bytes - at < WORD_BYTES ? nr_bytes - at : WORD_BYTES,
			   at || pass->is_backward ? known_none() : stored);
}

/* --- One step ----------------------------------------------------------- */

static bool loads(const struct sem_insn *insn)
{
	if (insn->op == SEM_POP || insn->op == SEM_RET || insn->op == SEM_LEAVE)
		return true;
	return insn->load_bytes && insn->load_bytes <= WORD_BYTES && insn->op != SEM_STRING &&
	       insn->op != SEM_IRET;
}

static unsigned int nr_loaded(const struct sem_insn *insn)
{
	return insn->load_bytes && insn->load_bytes <= WORD_BYTES ? insn->load_bytes : WORD_BYTES;
}

/* What the step made known of the word that it loaded, memory held before it. */
static void learn(struct likely *pass, const struct sem_insn *insn, uint64_t address,
		  struct known was, struct known now)
{
	if (now.mask & ~was.mask)
		memory_set(memory_at(pass, address), address, nr_loaded(insn), now);
}

static uint32_t address_regs(const struct sem_insn *insn)
{
	return (insn->base == SEM_NO_REG ? 0 : 1U << insn->base) |
	       (insn->index == SEM_NO_REG ? 0 : 1U << insn->index);
}

/* Was it done, or did an exception come into it? */
static bool is_done(const struct reg_values *values, const struct sem_insn *insn)
{
	return insn->cc != BEGUN && values->step + 1 < values->nr_steps &&
	       values->steps[values->step + 1] != STEP_CUT &&
	       !reg_values_is_interrupt(reg_values_insn_at(values, values->step + 1));
}

/*
 * What was loaded from or stored to was there.  The kernel maps nothing in the first page, nor for
 * users: mmap_min_addr.  An address is one number of 57 bits, with its sign: SDM vol. 1, 3.3.7.1.
 * Instructions that are not in the table may only hint at memory.
 */
static bool is_nowhere(struct likely *pass, const struct sem_insn *insn,
		       const struct sem_state *state)
{
	bool is_shown = insn->operands[0].kind == SEM_MEMORY ||
			insn->operands[1].kind == SEM_MEMORY;
	struct known address;

	if (!is_shown || insn->op == SEM_OTHER || insn->op == SEM_LEA || insn->segment ||
	    !is_done(pass->values, insn))
		return false;
	address = sem_address(insn, state);
	return address.mask == UINT64_MAX &&
	       (address.value < PAGE_BYTES || (address.value + (1ULL << 56)) >> 57);
}

/* Going back, what the step stores is what memory holds afterwards. */
static void find_stored(struct likely *pass, const struct sem_insn *insn, struct sem_state *state)
{
	struct known address = reg_values_place(pass->values, insn, state, true);

	if (address.mask == UINT64_MAX && reg_values_pushes(insn))
		(void)known_merge(state->store, look(pass, address.value, WORD_BYTES),
				  &state->contradiction);
	else if (address.mask == UINT64_MAX && insn->store_bytes <= WORD_BYTES)
		pass->stored = look(pass, address.value, insn->store_bytes);
	store(pass, insn, state, pass->stored);
}

/* Where the step loads from, if that is known. */
static struct known find_loaded(struct likely *pass, const struct sem_insn *insn,
				struct sem_state *state)
{
	struct known address = known_none(), constant;

	if (loads(insn))
		address = reg_values_place(pass->values, insn, state, false);
	if (address.mask == UINT64_MAX) {
		pass->loaded = look(pass, address.value, nr_loaded(insn));
		pass->changed.loads[pass->values->step - pass->changed.first] = address.value;
	} else if (reg_values_constant(pass->values, insn, state, &constant)) {
		pass->loaded = constant;
	}
	return address;
}

static void step(struct likely *pass, const struct sem_insn *insn, struct sem_state *state)
{
	bool is_store = insn->store_bytes || reg_values_pushes(insn);
	bool nowhere = is_nowhere(pass, insn, state);
	struct known was, address = known_none();

	pass->loaded = pass->stored = known_none();
	if (pass->is_backward && is_store)
		find_stored(pass, insn, state);
	if (!state->store && is_store)
		state->store = &pass->stored;
	if (!nowhere)
		address = find_loaded(pass, insn, state);
	was = pass->loaded;
	state->load = &pass->loaded;
	reg_values_apply(insn, state);
	if (address.mask == UINT64_MAX)
		learn(pass, insn, address.value, was, pass->loaded);
	if (state->contradiction)
		changed_blame(&pass->changed, pass->values, pass->values->step, 0);
	if (nowhere)
		changed_blame(&pass->changed, pass->values, pass->values->step,
			      address_regs(insn));
	if (!pass->is_backward && is_store)
		store(pass, insn, state, *state->store);
}

/* Forwards: behind the handler of an interrupt registers are as they were. */
static void follow_interrupts(struct likely *pass, const struct sem_insn *insn,
			      struct sem_state *state)
{
	struct reg_values *values = pass->values;
	uint32_t refuted;

	if (reg_values_is_interrupt(insn)) {
		reg_values_interrupt_begins(values, insn);
	} else if (insn->op == SEM_IRET) {
		refuted = reg_values_interrupt_ends(values, insn, state);
		if (refuted)
			changed_blame(&pass->changed, values, values->step, refuted);
	}
}

/* Others than the thread may have stored, or the recorder. */
static void cut(struct likely *pass)
{
	for (unsigned int part = 0; part < NR_MEMORY; part++)
		forget(pass, part);
}

/* The recorder has stored to its own memory, or others have run. */
static void pause(struct likely *pass)
{
	forget(pass, MEMORY_IMAGE);
	forget(pass, MEMORY_OTHER);
}

/* --- Passes ------------------------------------------------------------- */

/* Up to the step @end. */
static void pass_forward(struct likely *pass, size_t end)
{
	struct reg_values *values = pass->values;
	struct sem_state state;

	pass->is_backward = false;
	cut(pass);
	values->nr_open = 0;
	values->step = values->likely_step;
	values->next = values->likely_version;
	values->part = values->likely_part;
	/* There each register has a new version. */
	for (unsigned int reg = 0; reg < SEM_NR_REGS; reg++)
		values->at[reg] = values->likely_version + reg;
	reg_values_start(values, values->at, &state);
	while (values->step < end) {
		const struct sem_insn *insn = reg_values_insn_at(values, values->step);
		uint32_t writes = insn->writes;

		if (values->part + 1 < values->nr_parts &&
		    values->parts[values->part + 1].first_step == values->step)
			values->part++;
		reg_values_meet(values, insn, values->next, &state);
		if (values->steps[values->step] == STEP_CUT) {
			cut(pass);
			values->nr_open = 0;
		} else if (reg_values_is_pause(insn)) {
			pause(pass);
		} else if (insn->op != SEM_CUT) {
			step(pass, insn, &state);
			follow_interrupts(pass, insn, &state);
		}
		FOR_EACH_REG(reg, writes)
			state.before[reg] = state.behind[reg];
		reg_values_step_over(values, insn);
	}
}

/* Going back, a handler begins with its end. */
static void count_handlers(struct likely *pass, const struct sem_insn *insn)
{
	struct way *way = way_of(pass);

	if (insn->op == SEM_IRET)
		way->nr_handlers++;
	else if (reg_values_is_interrupt(insn) && way->nr_handlers)
		way->nr_handlers--;
}

/* Down to the step @first. */
static void pass_backward(struct likely *pass, size_t first)
{
	struct reg_values *values = pass->values;
	struct way *way = &pass->ways[true];
	uint32_t before[SEM_NR_REGS];
	struct sem_state state;

	pass->is_backward = true;
	cut(pass);
	for (unsigned int part = 0; part < NR_MEMORY; part++)
		way->has_dump[part] = values->memory.read;
	way->nr_handlers = 0;
	memcpy(before, values->current, sizeof(before));
	reg_values_start(values, before, &state);
	values->next = (uint32_t)values->nr_versions;
	values->part = values->nr_parts - 1;
	for (values->step = values->nr_steps; values->step-- > first;) {
		const struct sem_insn *insn = reg_values_insn_at(values, values->step);
		uint32_t writes = insn->writes;

		reg_values_step_back(values, insn, before);
		count_handlers(pass, insn);
		reg_values_meet_back(values, insn, before, &state);
		if (values->steps[values->step] == STEP_CUT)
			cut(pass);
		else if (reg_values_is_pause(insn))
			pause(pass);
		else if (insn->op != SEM_CUT)
			step(pass, insn, &state);
		FOR_EACH_REG(reg, writes)
			state.behind[reg] = state.before[reg];
		if (values->step == values->parts[values->part].first_step && values->part)
			values->part--;
	}
}

/* From the first step of a part on. */
static void choose(struct reg_values *values)
{
	size_t wanted = values->nr_steps > MAX_LIKELY_STEPS ? values->nr_steps - MAX_LIKELY_STEPS :
							      0;
	size_t part = values->nr_parts - 1;

	while (part && values->parts[part].first_step > wanted)
		part--;
	values->likely_part = (uint32_t)part;
	values->likely_step = values->parts[part].first_step;
	values->likely_version = values->parts[part].first_version;
}

/* Memory lacks something: then nothing is likely. */
static bool is_lost(const struct likely *pass, bool *nomem)
{
	const struct memory *list[] = { &pass->changed.words, &pass->changed.written,
					&pass->stacks };
	bool lost = false;

	for (unsigned int i = 0; i < 3 + 2 * NR_MEMORY; i++) {
		const struct memory *memory = i < 3 ? list[i] :
			&pass->ways[i % 2].memory[(i - 3) / 2];

		*nomem |= memory->nomem;
		lost |= memory->nomem || memory->full;
	}
	return lost;
}

static size_t nr_likely(const struct reg_values *values)
{
	return values->nr_versions - values->likely_version;
}

static uint64_t nr_likely_bits(const struct reg_values *values)
{
	uint64_t bits = 0;

	for (size_t i = 0; i < nr_likely(values); i++)
		bits += (uint64_t)__builtin_popcountll(values->likely[i].mask);
	return bits;
}

/*
 * From what is certain on, until no more becomes known.  The last pass, forwards, finds what the
 * one before it has made wrong.
 *
 * Return: false: that has used words that others write, which are now known.
 */
static bool run_passes(struct likely *pass, unsigned int max_passes)
{
	struct reg_values *values = pass->values;
	size_t nr_changed = changed_nr(&pass->changed);
	uint64_t nr_before = UINT64_MAX, nr;
	bool nomem = false;

	for (size_t i = 0; i < nr_likely(values); i++)
		values->likely[i] = values->versions[values->likely_version + i].known;
	changed_begin(&pass->changed);
	pass_forward(pass, values->nr_steps);
	nr = nr_likely_bits(values);
	for (unsigned int i = 0; i < max_passes && nr != nr_before; i++) {
		pass_backward(pass, values->likely_step);
		pass_forward(pass, values->nr_steps);
		changed_find_polls(&pass->changed, values);
		if (changed_nr(&pass->changed) != nr_changed || is_lost(pass, &nomem))
			return is_lost(pass, &nomem);
		nr_before = nr;
		nr = nr_likely_bits(values);
	}
	return true;
}

void likely_free(struct likely *pass)
{
	if (!pass)
		return;
	for (unsigned int i = 0; i < 2 * NR_MEMORY; i++)
		memory_fini(&pass->ways[i % 2].memory[i / 2]);
	memory_fini(&pass->stacks);
	changed_fini(&pass->changed);
	free(pass);
}

/* Nothing is likely. */
static void drop(struct reg_values *values)
{
	free(values->likely);
	values->likely = NULL;
	likely_free(values->pass);
	values->pass = NULL;
}

bool reg_values_likely(struct reg_values *values, const struct reg_values_memory *memory,
		       unsigned int max_passes)
{
	bool nomem = false, is_done = false;
	struct likely *pass;

	values->memory = *memory;
	choose(values);
	values->likely = malloc(nr_likely(values) * sizeof(values->likely[0]));
	values->pass = pass = calloc(1, sizeof(*pass));
	if (!values->likely || !pass || !changed_init(&pass->changed, values)) {
		drop(values);
		return false;
	}
	pass->values = values;
	memory_forget(&pass->stacks);
	values->is_likely = true;
	for (unsigned int i = 0; i < MAX_TRIES && !is_done; i++)
		is_done = run_passes(pass, max_passes);
	values->is_likely = false;
	reg_values_begin(values);
	if (is_lost(pass, &nomem) || !is_done)
		drop(values);
	return !nomem;
}

/* --- Memory in front of one step ------------------------------------------ */

static void go_to(struct likely *pass, uint32_t place)
{
	struct reg_values *values = pass->values;

	if (pass->asked == place)
		return;
	values->is_likely = true;
	pass_backward(pass, place);
	pass_forward(pass, place);
	values->is_likely = false;
	reg_values_begin(values);
	pass->asked = place;
}

struct known likely_memory(struct reg_values *values, uint32_t place, uint64_t address,
			   unsigned int nr_bytes)
{
	bool nomem = false, contradiction = false;
	struct likely *pass = values->pass;
	struct known before, behind;

	if (!pass || place <= values->likely_step)
		return known_none();
	go_to(pass, place);
	pass->is_backward = false;
	before = look(pass, address, nr_bytes);
	pass->is_backward = true;
	behind = look(pass, address, nr_bytes);
	(void)known_merge(&before, behind, &contradiction);
	return contradiction || is_lost(pass, &nomem) ? known_none() : before;
}

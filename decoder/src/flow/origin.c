// SPDX-License-Identifier: GPL-2.0-or-later
#include "flow/origin_impl.h"

#include "code/code.h"

/* --- Values ------------------------------------------------------------- */

/* What is known of a register before or behind a step. */
struct known origin_known(const struct reg_values_at *at, unsigned int reg, bool behind,
			  enum origin_class *ret)
{
	const struct reg_values_tier *certain = &at->certain, *likely = &at->likely;
	struct known known = behind ? certain->behind[reg] : certain->before[reg];

	*ret = ORIGIN_CERTAIN;
	if (known.mask == UINT64_MAX)
		return known;
	known = behind ? likely->behind[reg] : likely->before[reg];
	*ret = known.mask == UINT64_MAX ? ORIGIN_LIKELY : ORIGIN_UNKNOWN;
	return known;
}

struct known origin_address(const struct reg_values *values, const struct reg_values_step *step,
			    bool is_store, enum origin_class *ret)
{
	struct known known = reg_values_address(values, step->insn, &step->at.certain, is_store);

	*ret = ORIGIN_CERTAIN;
	if (known.mask == UINT64_MAX)
		return known;
	known = reg_values_address(values, step->insn, &step->at.likely, is_store);
	*ret = known.mask == UINT64_MAX ? ORIGIN_LIKELY : ORIGIN_UNKNOWN;
	return known;
}

/* --- The chain ---------------------------------------------------------- */

struct origin_hop *origin_add(struct search *search, enum origin_kind kind,
			      const struct reg_values_step *step)
{
	struct origin *origin = search->origin;
	struct origin_hop *hop;

	/* Of all rounds of a loop the newest and the oldest one are kept. */
	if (kind == ORIGIN_COMPUTED && origin_is_counted(origin, step->insn))
		origin->nr--;
	hop = &origin->hops[origin->nr];
	*hop = (struct origin_hop){ .kind = kind, .place = step->place, .insn = step->insn,
				    .target = search->target, .class = search->class,
				    .value_class = ORIGIN_UNKNOWN };
	search->done = kind >= ORIGIN_CONSTANT;
	if (++origin->nr < ORIGIN_MAX_HOPS)
		return hop;
	hop->kind = ORIGIN_TOO_LONG;
	search->done = true;
	return hop;
}

/* With the value that the register has then. */
struct origin_hop *origin_add_reg(struct search *search, enum origin_kind kind,
				  const struct reg_values_step *step)
{
	struct origin_hop *hop = origin_add(search, kind, step);

	hop->value = origin_known(&step->at, hop->target.reg, true, &hop->value_class).value;
	return hop;
}

void origin_follow(struct search *search, uint8_t reg)
{
	search->target = (struct origin_target){ .reg = reg, .nr_bytes = WORD_BYTES };
}

void origin_set_number(const struct search *search, const struct reg_values_step *step,
		       bool is_store, struct origin_target *ret)
{
	struct value_number number;

	ret->has_number = search->question->numbers &&
			  value_numbers_address(search->question->numbers, step, is_store,
						&number) && number.root;
	if (!ret->has_number)
		return;
	ret->root = number.root;
	ret->offset = number.offset;
}

/* --- The way back ------------------------------------------------------- */

/* Is memory, unlike registers, followed across it? */
static bool goes_on(const struct search *search, enum reg_values_why why)
{
	return search->target.reg == SEM_NO_REG &&
	       (why == REG_VALUES_USER || why == REG_VALUES_PAUSE);
}

static void pass_cut(struct search *search, const struct reg_values_step *step)
{
	struct origin_hop *hop;

	/* A pause leaves some registers alone. */
	if (search->target.reg != SEM_NO_REG && !(step->insn->writes >> search->target.reg & 1))
		return;
	search->unsure = true;
	if (goes_on(search, step->why))
		return;
	/* What no known store has made, an unknown one may have. */
	if (search->target.reg == SEM_NO_REG)
		search->class = origin_worse(search->class, ORIGIN_LIKELY);
	if (step->why == REG_VALUES_WINDOW)
		search->class = ORIGIN_UNKNOWN;
	hop = origin_add(search, ORIGIN_OLDER, step);
	hop->insn = NULL;
	hop->why = step->why;
}

/* What is asked for is as it was behind the first step. */
static void begin(struct search *search, const struct reg_values_step *step)
{
	struct origin_hop *hop = origin_add(search, ORIGIN_ASKED, step);

	search->begun = true;
	hop->place = search->question->place;
	hop->insn = NULL;
	if (search->target.reg != SEM_NO_REG)
		hop->value = origin_known(&step->at, search->target.reg, true,
					  &hop->value_class).value;
}

/* Registers behind the handler of an interrupt are those in front of it: it is passed by. */
static bool pass_handler(struct search *search, const struct reg_values_step *step)
{
	bool is_certain;
	uint32_t place;

	if (search->target.reg == SEM_NO_REG ||
	    !reg_values_interrupted(search->values, step->place, &place, &is_certain))
		return false;
	search->resume = place;
	if (!is_certain)
		search->class = origin_worse(search->class, ORIGIN_LIKELY);
	return true;
}

static bool go_back(void *arg, struct reg_values_step *step)
{
	struct search *search = arg;
	bool is_memory = search->target.reg == SEM_NO_REG;
	bool is_written = is_memory ? origin_stores(step->insn) :
				      step->insn->writes >> search->target.reg & 1;

	if (step->place >= search->resume)
		return true;
	if (!search->begun || is_written)
		reg_values_look(search->values, step);
	if (!search->begun)
		begin(search, step);
	search->resume = UINT32_MAX;
	if (pass_handler(search, step))
		return true;
	if (step->cut)
		pass_cut(search, step);
	else if (is_written && is_memory)
		origin_stored(search, step);
	else if (is_written)
		origin_written(search, step);
	return !search->done;
}

static bool is_constant(const struct origin *origin)
{
	enum origin_kind last = origin->hops[origin->nr - 1].kind;

	return last == ORIGIN_CONSTANT || last == ORIGIN_STORED;
}

/*
 * Another CPU may store to a stack by a pointer that is older than the frames there.  Then what is
 * known of the fault refutes what follows from a constant, and nothing is certain.  Without such
 * values from end to end a chain that goes through memory is likely.
 */
static void settle_memory(struct origin *origin)
{
	size_t nr_known = 0, i;

	for (i = 0; i < origin->nr; i++)
		nr_known += origin->hops[i].value_class == ORIGIN_CERTAIN;
	if (!origin->nr || (nr_known == origin->nr && is_constant(origin)))
		return;
	for (i = 0; i < origin->nr && origin->hops[i].kind != ORIGIN_LOADED; i++)
		;
	for (i++; i < origin->nr; i++)
		origin->hops[i].class = origin_worse(origin->hops[i].class, ORIGIN_LIKELY);
}

void origin_find(struct reg_values *values, const struct origin_question *question,
		 struct origin *ret)
{
	struct search search = { .values = values, .question = question, .origin = ret,
				 .target = question->target, .class = question->class,
				 .sought = question->place,
				 .resume = UINT32_MAX };

	ret->nr = 0;
	if (!question->place)
		return;
	reg_values_back(values, question->place - 1, go_back, &search);
	origin_add_suspect(&search);
	settle_memory(ret);
}

/*
 * The register that says which entry @load is: the index of a table at a fixed address, or the
 * address of one that cannot be written.  SEM_NO_REG: it is from no table.
 */
static uint8_t table_register(const struct origin_question *question,
			      const struct origin_hop *load)
{
	const struct sem_insn *insn = load->insn;

	if (insn->base == SEM_NO_REG)
		return insn->index;
	return insn->op == SEM_MOV && insn->index == SEM_NO_REG && load->has_address &&
	       question->access &&
	       question->access(question->arg, load->address) == WALK_ACCESS_READ ?
		       insn->base : SEM_NO_REG;
}

/* The load that the chain ends with; NULL: it ends otherwise. */
static struct origin_hop *older_load(struct origin *origin)
{
	struct origin_hop *older, *load;

	if (origin->nr < 2)
		return NULL;
	older = &origin->hops[origin->nr - 1];
	load = older - 1;
	if (older->kind != ORIGIN_OLDER || older->target.reg != SEM_NO_REG ||
	    older->why == REG_VALUES_WINDOW || load->kind != ORIGIN_LOADED || !load->insn)
		return NULL;
	return load;
}

void origin_find_index(struct reg_values *values, const struct origin_question *question,
		       struct origin *origin)
{
	struct origin_question next = *question;
	struct origin_hop *load = older_load(origin);
	uint8_t reg = load ? table_register(question, load) : SEM_NO_REG;
	struct origin index;

	if (reg == SEM_NO_REG)
		return;
	next.place = load->place;
	next.target = (struct origin_target){ .reg = reg, .nr_bytes = WORD_BYTES };
	origin_find(values, &next, &index);
	/* Nothing more is known of the index either. */
	if (index.nr < 2 || index.hops[1].kind == ORIGIN_OLDER)
		return;
	index.hops[0].kind = ORIGIN_INDEXED;
	index.hops[0].insn = load->insn;
	origin->nr--;
	for (size_t i = 0; i < index.nr && origin->nr < ORIGIN_MAX_HOPS; i++) {
		struct origin_hop *hop = &origin->hops[origin->nr++];

		*hop = index.hops[i];
		hop->class = origin_worse(hop->class, ORIGIN_LIKELY);
	}
}

/** struct store_search - the newest store to @target, of @value if that is known */
struct store_search {
	struct reg_values *values;
	const struct origin_target *target;
	struct known value;
	int64_t disp;
	struct origin_hop *ret;
	bool has_similar;
	bool found;
};

/* What a MOV stores; none: not known, or no MOV. */
static struct known moved(const struct reg_values_step *step)
{
	const struct sem_operand *from = &step->insn->operands[1];
	enum origin_class class;

	if (step->insn->op != SEM_MOV || from->shift)
		return known_none();
	return from->kind == SEM_IMMEDIATE ? known_all(from->value) :
	       from->kind == SEM_REGISTER ? origin_known(&step->at, from->reg, false, &class) :
					    known_none();
}

/* All of the memory, and another value than was loaded. */
static bool stores_other(const struct store_search *search, const struct reg_values_step *step,
			 uint64_t address)
{
	uint64_t bits = known_bits(search->target->nr_bytes * 8U);
	struct known stored = moved(step);

	return address == search->target->address &&
	       step->insn->store_bytes >= search->target->nr_bytes &&
	       (search->value.mask & stored.mask & bits & (search->value.value ^ stored.value));
}

/* So near the base there is something in every structure, and each list has a pointer there. */
#define MIN_DISP 0x10

static bool is_rare(uint64_t value)
{
	return value > ORIGIN_MAX_COMMON && !code_is_kernel(value);
}

/* The value that was loaded, to the same member of a structure that lies somewhere. */
static bool is_similar(const struct store_search *search, const struct reg_values_step *step)
{
	const struct sem_insn *insn = step->insn;
	uint64_t bits = known_bits(search->target->nr_bytes * 8U);
	struct known stored = moved(step);

	return search->value.value && (search->value.mask & stored.mask & bits) == bits &&
	       !((search->value.value ^ stored.value) & bits) &&
	       (search->disp >= MIN_DISP || is_rare(search->value.value)) &&
	       insn->store_bytes == search->target->nr_bytes && insn->disp == search->disp &&
	       insn->base != SEM_NO_REG && insn->base != SEM_RSP && insn->index == SEM_NO_REG &&
	       !insn->segment;
}

static bool look_for_store(void *arg, struct reg_values_step *step)
{
	struct store_search *search = arg;
	struct origin_hop hop = { .kind = ORIGIN_STORED, .place = step->place, .insn = step->insn,
		.target = *search->target, .value_class = ORIGIN_UNKNOWN, .class = ORIGIN_UNKNOWN };
	enum origin_class class;
	uint64_t address, nr_bytes;

	if (step->cut || !origin_stores(step->insn))
		return true;
	reg_values_look(search->values, step);
	nr_bytes = origin_nr_stored(search->values, step, &address, &class);
	if (!nr_bytes && !search->has_similar && is_similar(search, step)) {
		*search->ret = hop;
		search->has_similar = true;
	}
	if (!nr_bytes || !search->target->has_address ||
	    !origin_overlaps(search->target, address, nr_bytes) ||
	    stores_other(search, step, address))
		return true;
	hop.has_address = true;
	hop.address = search->target->address;
	hop.class = ORIGIN_LIKELY;
	*search->ret = hop;
	search->found = true;
	return false;
}

bool origin_store(struct reg_values *values, const struct origin_target *target,
		  struct known value, int64_t disp, struct origin_hop *ret)
{
	struct store_search search = { .values = values, .target = target, .value = value,
				       .disp = disp, .ret = ret };

	reg_values_back(values, UINT32_MAX, look_for_store, &search);
	return search.found || search.has_similar;
}

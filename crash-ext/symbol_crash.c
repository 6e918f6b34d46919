// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * crash answers with the first or the last of several symbols at one address,
 * depending on whether the address is exact.  A history shows both cases of one
 * function in neighbouring columns.  So the choice is made here, by the rule of the
 * decoder's own symbol tables (decoder/src/symbols/symbol.c).  Then the offline
 * tool and crash print the same name.
 */
#include "symbol_crash.h"

#include <crash/defs.h>

#define RANK_UNUSABLE	UINT_MAX

/** struct span - sorted symbols of the kernel or of one module; crash's */
struct span {
	const struct syment *begin;
	const struct syment *end;	/* one after the last */
	const struct load_module *module;	/* NULL: the kernel */
};

/* Is @sp one of a table of @lm's?  Then that is the span. */
static bool take_span(const struct load_module *lm, const struct syment *begin,
		      const struct syment *last, const struct syment *sp, struct span *ret)
{
	if (!begin || sp < begin || sp > last)
		return false;
	*ret = (struct span){ begin, last + 1, lm };
	return true;
}

/*
 * crash 8.0.4 and newer have a table for each kind of module memory, but only of kernels
 * that have such kinds (6.4 and newer).
 */
static bool module_span(const struct load_module *lm, const struct syment *sp, struct span *ret)
{
#ifdef MOD_MEM_NUM_TYPES
	int type;

	for (type = 0; MODULE_MEMORY() && type < MOD_MEM_NUM_TYPES; type++)
		if (take_span(lm, lm->symtable[type], lm->symend[type], sp, ret))
			return true;
#endif
	return take_span(lm, lm->mod_symtable, lm->mod_symend, sp, ret) ||
	       take_span(lm, lm->mod_init_symtable, lm->mod_init_symend, sp, ret);
}

/* The table that holds @sp, which is the symbol at or below @va. */
static bool span_of(uint64_t va, const struct syment *sp, struct span *ret)
{
	struct load_module *lm;

	if (sp >= st->symtable && sp < st->symend) {
		*ret = (struct span){ st->symtable, st->symend, NULL };
		return true;
	}
	return module_symbol(va, NULL, &lm, NULL, 0) && module_span(lm, sp, ret);
}

/*
 * Functions before data, global before local.  The letters are those of nm; for
 * modules crash has none, but marks of its own among the names.
 */
static unsigned int symbol_rank(const struct span *span, const struct syment *sp)
{
	const char *letters = "TWtwDRBVdrbv", *at;

	if (span->module)
		return STRNEQ(sp->name, "_MODULE_") ? RANK_UNUSABLE : 0;
	at = sp->type ? strchr(letters, sp->type) : NULL;
	if (!at)
		return RANK_UNUSABLE;
	if (at < letters + 4)
		return at < letters + 2 ? 0 : 1;
	return at < letters + 8 ? 2 : 3;
}

/* Both at one address: is @a the name to print? */
static bool symbol_before(const struct span *span, const struct syment *a,
			  const struct syment *b)
{
	unsigned int rank_a = symbol_rank(span, a), rank_b = symbol_rank(span, b);
	size_t nr_a = strspn(a->name, "_"), nr_b = strspn(b->name, "_");

	if (rank_a != rank_b)
		return rank_a < rank_b;
	if (nr_a != nr_b)
		return nr_a < nr_b;
	return strcmp(a->name, b->name) < 0;
}

/* The nearest usable symbol at or below @sp. */
static const struct syment *choose(const struct span *span, const struct syment *sp)
{
	const struct syment *best = NULL;

	while (sp + 1 < span->end && sp[1].value == sp->value)
		sp++;
	for (; sp >= span->begin; sp--) {
		if (best && best->value != sp->value)
			break;
		if (symbol_rank(span, sp) == RANK_UNUSABLE)
			continue;
		if (!best || symbol_before(span, sp, best))
			best = sp;
	}
	return best;
}

static void copy_name(char *ret, size_t ret_bytes, const char *name)
{
	size_t len_bytes = strnlen(name, ret_bytes - 1);

	memcpy(ret, name, len_bytes);
	ret[len_bytes] = '\0';
}

static enum btsrec_status resolve(void *arg, uint64_t va, struct btsrec_symbol *ret)
{
	const struct syment *sp;
	struct span span;
	ulong offset;

	(void)arg;
	/* x86-64: kernel addresses are the upper half.  crash has per-CPU offsets as symbols. */
	if (!(va >> 63))
		return BTSREC_ERR_NO_SYMBOL;
	sp = value_search(va, &offset);
	if (!sp || !span_of(va, sp, &span))
		return BTSREC_ERR_NO_SYMBOL;
	sp = choose(&span, sp);
	if (!sp)
		return BTSREC_ERR_NO_SYMBOL;
	copy_name(ret->name, sizeof(ret->name), sp->name);
	copy_name(ret->module, sizeof(ret->module), span.module ? span.module->mod_name : "");
	ret->offset_bytes = va - sp->value;
	return BTSREC_OK;
}

static enum btsrec_status find(void *arg, uint64_t near_va, const char *name, uint64_t *ret_va)
{
	const struct syment *found = NULL, *sp;
	struct span span;
	ulong offset;

	(void)arg;
	sp = value_search(near_va, &offset);
	if (!sp || !span_of(near_va, sp, &span))
		return BTSREC_ERR_NO_SYMBOL;
	for (sp = span.begin; sp < span.end; sp++) {
		if (!STREQ(sp->name, name) || symbol_rank(&span, sp) == RANK_UNUSABLE)
			continue;
		if (found)
			return BTSREC_ERR_NO_SYMBOL;
		found = sp;
	}
	if (!found)
		return BTSREC_ERR_NO_SYMBOL;
	*ret_va = found->value;
	return BTSREC_OK;
}

const struct btsrec_resolver symbol_crash_resolver = {.resolve = resolve, .find = find};

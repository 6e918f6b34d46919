// SPDX-License-Identifier: GPL-2.0-or-later
/* What all functions of <btsrec/values.h> promise; that values are those of views is for examples. */
#include <string.h>
#include <unistd.h>

#include <btsrec/decoder.h>

#include "historyfix.h"

/** struct receiver - takes @nr_taken values, and no more than @nr_wanted */
struct receiver {
	size_t nr_wanted;
	size_t nr_taken;
};

static bool receive(void *arg, size_t size, size_t want_size)
{
	struct receiver *receiver = arg;

	ck_assert_uint_eq(size, want_size);
	return ++receiver->nr_taken < receiver->nr_wanted;
}

/** union opts - the options of any view, which begin alike */
union opts {
	size_t size;
	struct btsrec_calls calls;
	struct btsrec_coverage coverage;
	struct btsrec_diff diff;
	struct btsrec_functions functions;
	struct btsrec_insns insns;
	struct btsrec_search search;
	struct btsrec_show show;
	struct btsrec_stack stack;
	struct btsrec_timeline timeline;
	struct btsrec_why why;
	char room[512];
};

#define DEFINE_RECEIVE(view, value_type)						\
static bool receive_##view(void *arg, const struct value_type *value)			\
{											\
	return receive(arg, value->size, sizeof(*value));				\
}

/* A view with options of its own. */
#define DEFINE_EACH(view, value_type, ...)						\
DEFINE_RECEIVE(view, value_type)							\
static enum btsrec_status each_##view(const union opts *opts, struct receiver *receiver) \
{											\
	return btsrec_##view##_each(__VA_ARGS__, opts ? &opts->view : NULL,		\
				    receive_##view, receiver);				\
}											\
static void set_format_##view(union opts *opts)						\
{											\
	opts->view.format = BTSREC_FORMAT_JSONL;					\
}

/* A view without options. */
#define DEFINE_EACH_OF_ALL(view, value_type)						\
DEFINE_RECEIVE(view, value_type)							\
static enum btsrec_status each_##view(const union opts *opts, struct receiver *receiver) \
{											\
	(void)opts;									\
	return btsrec_##view##_each(rec, receive_##view, receiver);			\
}

DEFINE_EACH(calls, btsrec_call, rec)
DEFINE_EACH(coverage, btsrec_executed, rec)
DEFINE_EACH(diff, btsrec_compared, rec, rec)
DEFINE_EACH(functions, btsrec_function, rec)
DEFINE_EACH(insns, btsrec_insn, rec)
DEFINE_EACH(search, btsrec_found, rec)
DEFINE_EACH(show, btsrec_shown, rec)
DEFINE_EACH(stack, btsrec_frame, rec)
DEFINE_EACH(timeline, btsrec_moment, rec)
DEFINE_EACH(why, btsrec_origin, rec)
DEFINE_EACH_OF_ALL(check, btsrec_diag)
DEFINE_EACH_OF_ALL(info, btsrec_ring)
DEFINE_EACH_OF_ALL(prove, btsrec_proof)
DEFINE_EACH_OF_ALL(summary, btsrec_digest)

static void name_function(union opts *opts)
{
	opts->coverage.size = sizeof(opts->coverage);
	opts->coverage.function = "main_loop";
}

static void ask_for_all(union opts *opts)
{
	opts->search.size = sizeof(opts->search);
	opts->search.question = BTSREC_MERGED;
}

#define VIEW(view, need) \
	{ #view, sizeof(struct btsrec_##view), each_##view, set_format_##view, need }
#define VIEW_OF_ALL(view) { #view, 0, each_##view, NULL, NULL }

/* @size: of its options, 0: it has none; @need: sets what it cannot do without, NULL: nothing. */
static const struct {
	const char *name;
	size_t size;
	enum btsrec_status (*each)(const union opts *opts, struct receiver *receiver);
	void (*set_format)(union opts *opts);
	void (*need)(union opts *opts);
} views[] = {
	VIEW(calls, NULL), VIEW(coverage, name_function), VIEW(diff, NULL),
	VIEW(functions, NULL), VIEW(insns, NULL), VIEW(search, ask_for_all), VIEW(show, NULL), VIEW(stack, NULL),
	VIEW(timeline, NULL), VIEW(why, NULL), VIEW_OF_ALL(check), VIEW_OF_ALL(info),
	VIEW_OF_ALL(prove), VIEW_OF_ALL(summary),
};

#define NR_VIEWS (sizeof(views) / sizeof(views[0]))

/* The kernel's page tables, for one page of code at TEXT. */
#define PGD_PA	0x10000ULL
#define TEXT	0xffffffff81000000ULL
#define HELPER	(TEXT + 0x100)

static void put_code(void)
{
	static const uint8_t call_and_jump[] = { 0xe8, 0xfb, 0, 0, 0, 0xeb, 0xf9 };
	uint64_t pa = PGD_PA;
	uint8_t *code;

	fixture_root(fix)->kernel_pgd_pa = PGD_PA;
	fixture_root(fix)->symbol_kva = TEXT;
	strcpy(fixture_root(fix)->symbol_name, "_stext");
	for (unsigned int level = 4; level; level--, pa += 0x1000)
		((uint64_t *)mem_page(&fix->mem, pa))[TEXT >> (12 + 9 * (level - 1)) & 511] =
			(pa + 0x1000) | 0x63;
	code = mem_page(&fix->mem, pa);
	memset(code, 0xcc, 4096);
	memcpy(code, call_and_jump, sizeof(call_and_jump));
	code[0x100] = 0xc3;
}

/* Rounds of a loop that calls a function. */
static void put_rounds(unsigned int cpu, uint64_t slot, unsigned int nr_rounds)
{
	static const struct btsrec_record round[] = {
		{ .from = TEXT, .to = HELPER },
		{ .from = HELPER, .to = TEXT + 5 },
		{ .from = TEXT + 5, .to = TEXT },
	};

	for (unsigned int i = 0; i < 3 * nr_rounds; i++)
		fixture_put(fix, cpu, slot + i, round[i % 3]);
}

static void add_names(void)
{
	static const char map[] = "ffffffff81000000 T _stext\nffffffff81000000 T main_loop\n"
				  "ffffffff81000100 T helper\nffffffff81001000 T _end\n";
	char path[] = "/tmp/test_values.XXXXXX";
	int fd = mkstemp(path);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, map, sizeof(map) - 1), sizeof(map) - 1);
	close(fd);
	btsrec_ck_ok(btsrec_add_system_map(rec, path));
	unlink(path);
}

/* A first fault of CPU 1, which a CPU without code went before, and annotations out of order. */
static void begin(void)
{
	setup(33);
	put_code();
	fixture_root(fix)->freeze_reason = BTSREC_REASON_PANIC;
	fixture_root(fix)->freeze_cpu = 1;
	fixture_branches(fix, 0, 0, 8, 0);
	put_rounds(1, 0, 3);
	fixture_annotation(fix, 1, 9, BTSREC_ANNOT_TIME, 2, 8);
	fixture_freeze(fix, 1, 11);
	fixture_seal(fix);
	open_and_locate();
	add_names();
}

/* NULL: the options that it has if none are given. */
static const union opts *least_opts(size_t i, union opts *ret)
{
	if (!views[i].need)
		return NULL;
	memset(ret, 0, sizeof(*ret));
	views[i].need(ret);
	return ret;
}

static size_t nr_values(size_t i, const union opts *opts)
{
	struct receiver receiver = { .nr_wanted = SIZE_MAX };

	btsrec_ck_ok(views[i].each(opts, &receiver));
	if (!receiver.nr_taken)
		ck_abort_msg("%s has no values", views[i].name);
	return receiver.nr_taken;
}

START_TEST(stopped_by_the_receiver)
{
	begin();
	for (size_t i = 0; i < NR_VIEWS; i++) {
		union opts room;
		const union opts *opts = least_opts(i, &room);
		size_t nr = nr_values(i, opts);

		for (size_t nr_wanted = 1; nr_wanted <= nr; nr_wanted++) {
			struct receiver receiver = { .nr_wanted = nr_wanted };

			btsrec_ck_status(views[i].each(opts, &receiver), BTSREC_ERR_STOPPED);
			if (receiver.nr_taken != nr_wanted)
				ck_abort_msg("%s goes on", views[i].name);
		}
	}
	teardown();
}
END_TEST

/* Of an older program, of this one, of a newer one that asks for nothing new. */
START_TEST(options_of_any_size)
{
	begin();
	for (size_t i = 0; i < NR_VIEWS; i++) {
		union opts opts;
		size_t nr = nr_values(i, least_opts(i, &opts));

		if (!views[i].size)
			continue;
		if (!views[i].need) {
			memset(&opts, 0, sizeof(opts));
			opts.size = sizeof(size_t);
			ck_assert_uint_eq(nr_values(i, &opts), nr);
		}
		opts.size = views[i].size;
		ck_assert_uint_eq(nr_values(i, &opts), nr);
		opts.size = sizeof(opts);
		ck_assert_uint_eq(nr_values(i, &opts), nr);
	}
	teardown();
}
END_TEST

START_TEST(what_is_refused)
{
	begin();
	for (size_t i = 0; i < NR_VIEWS; i++) {
		struct receiver receiver = { .nr_wanted = SIZE_MAX };
		union opts opts;

		if (!views[i].size)
			continue;
		memset(&opts, 0, sizeof(opts));
		opts.size = views[i].size;
		views[i].set_format(&opts);
		btsrec_ck_fails(views[i].each(&opts, &receiver), BTSREC_ERR_INVAL,
				btsrec_errmsg(rec), "values have no format");
		memset(&opts, 0, sizeof(opts));
		opts.size = sizeof(opts);
		opts.room[sizeof(opts) - 1] = 1;
		btsrec_ck_status(views[i].each(&opts, &receiver), BTSREC_ERR_TOO_NEW);
		ck_assert_uint_eq(receiver.nr_taken, 0);
	}
	teardown();
}
END_TEST

BTSREC_CK_MAIN("values", stopped_by_the_receiver, options_of_any_size, what_is_refused)

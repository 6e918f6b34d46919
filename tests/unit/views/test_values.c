// SPDX-License-Identifier: GPL-2.0-or-later
/* What all functions of <btsrec/values.h> promise; that values are those of views is for examples. */
#include <string.h>

#include <btsrec/values.h>

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
	struct btsrec_functions functions;
	struct btsrec_insns insns;
	struct btsrec_show show;
	struct btsrec_stack stack;
	struct btsrec_timeline timeline;
	char room[512];
};

#define DEFINE_EACH(view, value_type)							\
static bool receive_##view(void *arg, const struct value_type *value)			\
{											\
	return receive(arg, value->size, sizeof(*value));				\
}											\
static enum btsrec_status each_##view(const union opts *opts, struct receiver *receiver) \
{											\
	return btsrec_##view##_each(rec, opts ? &opts->view : NULL, receive_##view,	\
				    receiver);						\
}											\
static void set_format_##view(union opts *opts)						\
{											\
	opts->view.format = BTSREC_FORMAT_JSONL;					\
}

DEFINE_EACH(calls, btsrec_call)
DEFINE_EACH(functions, btsrec_function)
DEFINE_EACH(insns, btsrec_insn)
DEFINE_EACH(show, btsrec_shown)
DEFINE_EACH(stack, btsrec_frame)
DEFINE_EACH(timeline, btsrec_moment)

#define VIEW(view) { #view, sizeof(struct btsrec_##view), each_##view, set_format_##view }

static const struct {
	const char *name;
	size_t size;
	enum btsrec_status (*each)(const union opts *opts, struct receiver *receiver);
	void (*set_format)(union opts *opts);
} views[] = { VIEW(calls), VIEW(functions), VIEW(insns), VIEW(show),
	     VIEW(stack), VIEW(timeline) };

#define NR_VIEWS (sizeof(views) / sizeof(views[0]))

static void begin(void)
{
	setup(33);
	fixture_branches(fix, 1, 0, 8, 0);
	fixture_annotation(fix, 1, 8, BTSREC_ANNOT_TIME, 2, 8);
	fixture_freeze(fix, 1, 10);
	open_and_locate();
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
		size_t nr = nr_values(i, NULL);

		for (size_t nr_wanted = 1; nr_wanted <= nr; nr_wanted++) {
			struct receiver receiver = { .nr_wanted = nr_wanted };

			btsrec_ck_status(views[i].each(NULL, &receiver), BTSREC_ERR_STOPPED);
			ck_assert_uint_eq(receiver.nr_taken, nr_wanted);
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
		size_t nr = nr_values(i, NULL);
		union opts opts;

		memset(&opts, 0, sizeof(opts));
		opts.size = sizeof(size_t);
		ck_assert_uint_eq(nr_values(i, &opts), nr);
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

static bool receive_summary(void *arg, const struct btsrec_digest *value)
{
	return receive(arg, value->size, sizeof(*value));
}

START_TEST(summary_stopped_by_the_receiver)
{
	struct receiver all = { .nr_wanted = SIZE_MAX };

	begin();
	btsrec_ck_ok(btsrec_summary_each(rec, receive_summary, &all));
	ck_assert_uint_gt(all.nr_taken, 1);
	for (size_t nr_wanted = 1; nr_wanted <= all.nr_taken; nr_wanted++) {
		struct receiver receiver = { .nr_wanted = nr_wanted };

		btsrec_ck_status(btsrec_summary_each(rec, receive_summary, &receiver),
				 BTSREC_ERR_STOPPED);
		ck_assert_uint_eq(receiver.nr_taken, nr_wanted);
	}
	teardown();
}
END_TEST

BTSREC_CK_MAIN("values", stopped_by_the_receiver, options_of_any_size, what_is_refused,
	       summary_stopped_by_the_receiver)

// SPDX-License-Identifier: GPL-2.0-or-later
#include "export/extract/extract_watch.h"

#include "base/pool.h"
#include "recorder/session.h"
#include "export/extract/image_record.h"
#include "views/values.h"
#include "views/view_show.h"

/* --- Looks -------------------------------------------------------------- */

/* What is wrong with the recorder is no reason not to keep the rest. */
static bool ends_extract(enum btsrec_status status)
{
	return status == BTSREC_ERR_NOMEM || status == BTSREC_ERR_IO;
}

static enum btsrec_status look_at_info(struct btsrec *rec)
{
	return btsrec_info(rec, NULL, &values_sink);
}

static enum btsrec_status look_at_check(struct btsrec *rec)
{
	uint64_t nr_faults;

	return btsrec_check(rec, &values_sink, &nr_faults);
}

static enum btsrec_status look_at_show(struct btsrec *rec)
{
	return show_to_nobody(rec, &values_sink);
}

static enum btsrec_status look_at_prove(struct btsrec *rec)
{
	uint64_t nr_faults;

	return btsrec_prove(rec, BTSREC_FORMAT_TEXT, &values_sink, &nr_faults);
}

/* The lines of the kernel's log, beside events that others have read. */
static enum btsrec_status look_at_timeline(struct btsrec *rec)
{
	return rec->no_log ? BTSREC_OK : btsrec_timeline(rec, NULL, &values_sink);
}

/* Memory of stacks holds data.  The summary reads that of threads which did not run, too. */
static enum btsrec_status look_at_stacks(struct btsrec *rec)
{
	enum btsrec_status status = BTSREC_OK;

	if (rec->no_user || rec->no_paths)
		return BTSREC_OK;
	status = btsrec_stack(rec, NULL, &values_sink);
	return ends_extract(status) ? status :
				       btsrec_summary(rec, BTSREC_FORMAT_TEXT, &values_sink);
}

/*
 * Between them they read all that any view reads: the recorder's structures, the
 * rings, names, page tables, the code of everything that ran, and stacks.  The last
 * NR_SHARED take about as long as the others together.
 */
static enum btsrec_status (*const looks[])(struct btsrec *rec) = {
	look_at_info,
	look_at_check,
	look_at_show,
	look_at_prove,
	look_at_timeline,
	look_at_stacks,
};

#define NR_LOOKS	(sizeof(looks) / sizeof(looks[0]))
#define NR_SHARED	1

/* Those from @first on, up to @end. */
static enum btsrec_status look_at(struct btsrec *watched, size_t first, size_t end)
{
	enum btsrec_status status = BTSREC_OK;

	for (size_t i = first; !status && i < end; i++) {
		enum btsrec_status looked = looks[i](watched);

		if (ends_extract(looked))
			status = looked;
	}
	return status;
}

/* --- Watchers ----------------------------------------------------------- */

/**
 * struct watcher - some looks, of one thread
 * @source: the session's image; it remembers its refusals apart from those that others meet.
 * @below: @source without what @image_redact leaves out.
 * @watched: reads @below through @image_record.
 * @root_pa: of the recorder to be kept.
 * @first_look, @end_look: those up to the latter are its.
 */
struct watcher {
	struct btsrec *source;
	struct image_redact image_redact;
	struct btsrec_image below;
	struct image_record image_record;
	struct btsrec *watched;
	uint64_t root_pa;
	size_t first_look;
	size_t end_look;
	enum btsrec_status status;
};

/* Leaves what watcher_init() takes. */
static void watcher_fini(struct watcher *watcher)
{
	btsrec_free(watcher->watched);
	image_record_fini(&watcher->image_record);
	btsrec_free(watcher->source);
	*watcher = (struct watcher){ 0 };
}

/* False: out of memory. */
static bool watcher_init(struct watcher *watcher, const struct btsrec *rec,
			 const struct image_redact *image_redact)
{
	watcher->source = btsrec_new();
	watcher->watched = btsrec_new();
	if (!watcher->source || !watcher->watched ||
	    session_open(watcher->source, &rec->image, (struct session_part){ 0 })) {
		watcher_fini(watcher);
		return false;
	}
	watcher->image_redact = *image_redact;
	watcher->image_redact.below = &watcher->source->image;
	watcher->below = image_redact_image(&watcher->image_redact);
	watcher->image_record.below = &watcher->below;
	watcher->root_pa = rec->located->root.self_pa;
	watcher->end_look = NR_LOOKS;
	/* What a process mapped, and from where, is to be left out, too. */
	watcher->watched->no_log = image_redact->no_log;
	watcher->watched->no_user = image_redact->no_user;
	watcher->watched->no_paths = image_redact->no_paths;
	watcher->watched->is_kept = true;
	return true;
}

static enum btsrec_status locate_watched(struct watcher *watcher)
{
	struct btsrec_image image =
		image_over(&watcher->below, image_record_read_pa, &watcher->image_record);
	struct btsrec *watched = watcher->watched;
	enum btsrec_status status;

	image.root_pa_hint = watcher->root_pa;
	status = session_open(watched, &image, (struct session_part){ 0 });
	/* As a reader of the small file is going to. */
	if (!status)
		status = btsrec_locate(watched, 0, BTSREC_SCAN_NONE);
	if (!status && btsrec_root(watched)->self_pa != watcher->root_pa)
		status = msg_set(&watched->msg, BTSREC_ERR_INVAL,
				 "VMCOREINFO names another recorder than the one to be kept");
	return status;
}

static void watch(struct watcher *watcher)
{
	watcher->status = locate_watched(watcher);
	if (!watcher->status)
		watcher->status = look_at(watcher->watched, watcher->first_look,
					  watcher->end_look);
}

/* --- One or two --------------------------------------------------------- */

static bool may_share(const struct btsrec *rec)
{
	return rec->nr_threads > 1 && rec->image.read_pages;
}

static enum btsrec_status watch_task(void *arg, unsigned int worker, size_t task,
				     const struct pool_text *text)
{
	struct watcher *const *watchers = arg;

	(void)worker;
	(void)text;
	watch(watchers[task]);
	return BTSREC_OK;
}

static void watch_both(struct watcher *first, struct watcher *second)
{
	struct watcher *const watchers[] = { first, second };
	const struct pool_work both = {
		.nr_tasks = 2,
		.nr_workers = 2,
		.run = watch_task,
		.arg = (void *)watchers,
	};
	unsigned int worker;

	first->end_look = NR_LOOKS - NR_SHARED;
	second->first_look = NR_LOOKS - NR_SHARED;
	if (pool_run(&both, NULL, &worker)) {
		watch(first);
		watch(second);
	}
	if (first->status || second->status != BTSREC_ERR_NOMEM)
		return;
	/* There may be memory for one at a time. */
	first->status = look_at(first->watched, second->first_look, NR_LOOKS);
	watcher_fini(second);
}

/* Of the two the one that a single thread would have met first. */
static enum btsrec_status outcome(struct btsrec *rec, bool had_trouble,
				  const struct watcher *first, const struct watcher *second)
{
	const struct watcher *watcher = first;

	if (second->watched && !first->status && !first->source->trouble)
		watcher = second;
	/* What is damaged is noted by @rec, and not there for those that read it. */
	if (!had_trouble && rec->trouble != BTSREC_ERR_CORRUPT) {
		rec->trouble = watcher->source->trouble;
		rec->trouble_pa = watcher->source->trouble_pa;
	}
	if (watcher->status)
		msg_set(&rec->msg, watcher->status, "%s", btsrec_errmsg(watcher->watched));
	return watcher->status;
}

static enum btsrec_status take_pages(struct btsrec *rec, struct watcher *first,
				     const struct watcher *second, struct pageset *ret)
{
	*ret = first->image_record.pages;
	first->image_record.pages = (struct pageset){0};
	if (pageset_merge(ret, &second->image_record.pages))
		return msg_set(&rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	return BTSREC_OK;
}

enum btsrec_status extract_watch(struct btsrec *rec, const struct image_redact *image_redact,
				 struct pageset *ret)
{
	struct watcher first = { 0 }, second = { 0 };
	bool had_trouble = rec->trouble;
	enum btsrec_status status;

	if (!watcher_init(&first, rec, image_redact))
		return msg_set(&rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	if (may_share(rec) && watcher_init(&second, rec, image_redact))
		watch_both(&first, &second);
	else
		watch(&first);
	status = outcome(rec, had_trouble, &first, &second);
	if (!status)
		status = take_pages(rec, &first, &second, ret);
	watcher_fini(&second);
	watcher_fini(&first);
	return status;
}

// SPDX-License-Identifier: GPL-2.0-or-later
#include "export/extract/extract_write.h"

#include <stdlib.h>
#include <string.h>

#include <zstd.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "base/pool.h"
#include "base/readat.h"

#define RAW_BYTES (EXTRACT_FRAME_PAGES * BTSREC_PAGE_BYTES)

/*
 * On the emulated machine's dumps level 3 packs to a seventh, level 9 to an eighth
 * in five times the time.
 */
#define ZSTD_LEVEL 3

/** enum frame_state - of one that is full */
enum frame_state {
	FRAME_WAITING,
	FRAME_IN_WORK,
	FRAME_DONE,
	FRAME_LEFT,	/* to the owner: a helper had no memory for it */
	FRAME_FAILED,	/* nor had the owner */
};

/**
 * struct frame - pages on their way into the file
 * @head, @table, @raw: head.nr_pages entries and head.raw_bytes bytes.
 * @packed: head.packed_bytes of it, if it is done.
 */
struct frame {
	enum frame_state state;
	struct extract_frame head;
	struct extract_page table[EXTRACT_FRAME_PAGES];
	uint8_t raw[RAW_BYTES];
	uint8_t packed[ZSTD_COMPRESSBOUND(RAW_BYTES)];
};

/** struct packer - a thread that packs, with what is its own */
struct packer {
	struct extract_writer *writer;
	ZSTD_CCtx *zstd;
	pthread_t thread;
};

/**
 * struct extract_writer - frames under way and the sums for the end
 * @zstd: of the owner.
 * @nr_wanted: threads that are to be started when the first frame is full.
 * @frames: @nr_frames of them, in turn; number @nr_written up to @nr_filled are full, and
 *	those from @nr_begun on wait.  Only the owner changes anything but @nr_begun.
 * @lock: of these numbers, the frames' states, and @ended.
 * @work: signalled when a frame waits, or at the end; @done: when one is done.
 * @cuts: @nr_cuts of them, for the end; a dump that was cut off has one.
 * @status: BTSREC_OK, or why nothing more is written.
 */
struct extract_writer {
	const struct btsrec_sink *sink;
	ZSTD_CCtx *zstd;
	unsigned int nr_wanted;
	unsigned int nr_helpers;
	struct packer helpers[EXTRACT_MAX_THREADS - 1];
	pthread_mutex_t lock;
	pthread_cond_t work;
	pthread_cond_t done;
	bool ended;
	uint64_t nr_written;
	uint64_t nr_begun;
	uint64_t nr_filled;
	size_t nr_frames;
	struct frame *frames[1 + (EXTRACT_MAX_THREADS - 1) * EXTRACT_FRAMES_EACH];
	struct extract_end end;
	struct extract_cut *cuts;
	size_t nr_cuts;
	size_t room_cuts;
	enum btsrec_status status;
};

static struct frame *frame_at(const struct extract_writer *writer, uint64_t number)
{
	return writer->frames[number % writer->nr_frames];
}

/* --- Packing ------------------------------------------------------------ */

static ZSTD_CCtx *zstd_new(void)
{
	ZSTD_CCtx *zstd = ZSTD_createCCtx();

	if (!zstd)
		return NULL;
	ZSTD_CCtx_setParameter(zstd, ZSTD_c_compressionLevel, ZSTD_LEVEL);
	ZSTD_CCtx_setParameter(zstd, ZSTD_c_checksumFlag, 1);
	return zstd;
}

/* False: out of memory. */
static bool pack(ZSTD_CCtx *zstd, struct frame *frame)
{
	struct extract_frame *head = &frame->head;
	size_t packed_bytes = ZSTD_compress2(zstd, frame->packed, sizeof(frame->packed),
					     frame->raw, head->raw_bytes);

	if (ZSTD_isError(packed_bytes))
		return false;
	head->magic = EXTRACT_FRAME_MAGIC;
	head->packed_bytes = packed_bytes;
	head->crc32 = extract_sum(extract_sum(0, head, sizeof(*head)), frame->table,
				  head->nr_pages * sizeof(*frame->table));
	return true;
}

/* The oldest frame that waits, which is @failed without memory for it; locked. */
static enum frame_state pack_once(struct extract_writer *writer, ZSTD_CCtx *zstd,
				  enum frame_state failed)
{
	struct frame *frame = frame_at(writer, writer->nr_begun++);
	enum frame_state state;

	frame->state = FRAME_IN_WORK;
	pthread_mutex_unlock(&writer->lock);
	state = pack(zstd, frame) ? FRAME_DONE : failed;
	pthread_mutex_lock(&writer->lock);
	frame->state = state;
	pthread_cond_signal(&writer->done);
	return state;
}

/* A thread without memory for it helps no more. */
static void *help(void *arg)
{
	struct packer *packer = arg;
	struct extract_writer *writer = packer->writer;
	enum frame_state last = FRAME_DONE;

	pthread_mutex_lock(&writer->lock);
	while (last == FRAME_DONE && !writer->ended) {
		if (writer->nr_begun < writer->nr_filled)
			last = pack_once(writer, packer->zstd, FRAME_LEFT);
		else
			pthread_cond_wait(&writer->work, &writer->lock);
	}
	pthread_mutex_unlock(&writer->lock);
	return NULL;
}

/* --- Help --------------------------------------------------------------- */

/* That another thread can keep busy: without any it would be of no use. */
static bool add_frames(struct extract_writer *writer)
{
	size_t nr_before = writer->nr_frames;

	for (unsigned int i = 0; i < EXTRACT_FRAMES_EACH; i++) {
		struct frame *frame = calloc(1, sizeof(*frame));

		if (frame)
			writer->frames[writer->nr_frames++] = frame;
	}
	return writer->nr_frames > nr_before;
}

static bool start_helper(struct extract_writer *writer, struct packer *packer)
{
	packer->writer = writer;
	packer->zstd = add_frames(writer) ? zstd_new() : NULL;
	if (packer->zstd && pool_thread(&packer->thread, help, packer))
		return true;
	ZSTD_freeCCtx(packer->zstd);
	return false;
}

/* As long as no frame is on its way: from then on their number is that of places in turn. */
static void get_help(struct extract_writer *writer)
{
	while (writer->nr_helpers < writer->nr_wanted &&
	       start_helper(writer, &writer->helpers[writer->nr_helpers]))
		writer->nr_helpers++;
	writer->nr_wanted = 0;
}

/* --- Life --------------------------------------------------------------- */

static void dismiss(struct extract_writer *writer)
{
	pthread_mutex_lock(&writer->lock);
	writer->ended = true;
	pthread_cond_broadcast(&writer->work);
	pthread_mutex_unlock(&writer->lock);
	for (unsigned int i = 0; i < writer->nr_helpers; i++) {
		pthread_join(writer->helpers[i].thread, NULL);
		ZSTD_freeCCtx(writer->helpers[i].zstd);
	}
}

void extract_writer_free(struct extract_writer *writer)
{
	if (!writer)
		return;
	dismiss(writer);
	for (size_t i = 0; i < writer->nr_frames; i++)
		free(writer->frames[i]);
	free(writer->cuts);
	ZSTD_freeCCtx(writer->zstd);
	pthread_cond_destroy(&writer->work);
	pthread_cond_destroy(&writer->done);
	pthread_mutex_destroy(&writer->lock);
	free(writer);
}

static void cleanup_writer(struct extract_writer **writer)
{
	extract_writer_free(*writer);
}

struct extract_writer *extract_writer_new(const struct btsrec_sink *sink, unsigned int nr_threads)
{
	__attribute__((cleanup(cleanup_writer))) struct extract_writer *writer =
		calloc(1, sizeof(*writer));

	if (!writer)
		return NULL;
	writer->sink = sink;
	if (nr_threads > 1)
		writer->nr_wanted = (unsigned int)min_u64(nr_threads, EXTRACT_MAX_THREADS) - 1;
	pthread_mutex_init(&writer->lock, NULL);
	pthread_cond_init(&writer->work, NULL);
	pthread_cond_init(&writer->done, NULL);
	writer->zstd = zstd_new();
	writer->frames[0] = calloc(1, sizeof(*writer->frames[0]));
	writer->nr_frames = 1;
	return writer->zstd && writer->frames[0] ? take_ptr(writer) : NULL;
}

/* --- Writing ------------------------------------------------------------ */

static enum btsrec_status put(struct extract_writer *writer, const void *bytes, size_t nr_bytes)
{
	return writer->sink->write(writer->sink->arg, bytes, nr_bytes) ? BTSREC_OK :
									 BTSREC_ERR_STOPPED;
}

enum btsrec_status extract_begin(struct extract_writer *writer,
				 const struct extract_header *header, const char *vmcoreinfo)
{
	struct extract_header head = *header;
	enum btsrec_status status;

	memcpy(head.magic, EXTRACT_MAGIC, sizeof(head.magic));
	head.major = EXTRACT_MAJOR;
	head.minor = EXTRACT_MINOR;
	head.header_bytes = sizeof(head);
	head.vmcoreinfo_bytes =
		vmcoreinfo ? (uint32_t)strnlen(vmcoreinfo, EXTRACT_MAX_VMCOREINFO) : 0;
	head.crc32 = 0;
	head.crc32 =
		extract_sum(extract_sum(0, &head, sizeof(head)), vmcoreinfo, head.vmcoreinfo_bytes);
	status = put(writer, &head, sizeof(head));
	if (!status && head.vmcoreinfo_bytes)
		status = put(writer, vmcoreinfo, head.vmcoreinfo_bytes);
	return status;
}

static enum btsrec_status put_frame(struct extract_writer *writer, const struct frame *frame)
{
	const struct extract_frame *head = &frame->head;
	enum btsrec_status status = put(writer, head, sizeof(*head));

	if (!status)
		status = put(writer, frame->table, head->nr_pages * sizeof(*frame->table));
	if (!status)
		status = put(writer, frame->packed, head->packed_bytes);
	writer->end.nr_frames++;
	writer->end.nr_pages += head->nr_pages;
	writer->end.frames_crc32 =
		extract_sum(writer->end.frames_crc32, &head->crc32, sizeof(head->crc32));
	return status;
}

/* Until it is done; meanwhile others are packed, or this one. */
static void finish(struct extract_writer *writer, const struct frame *frame)
{
	pthread_mutex_lock(&writer->lock);
	while (frame->state == FRAME_WAITING || frame->state == FRAME_IN_WORK) {
		if (writer->nr_begun < writer->nr_filled)
			(void)pack_once(writer, writer->zstd, FRAME_FAILED);
		else
			pthread_cond_wait(&writer->done, &writer->lock);
	}
	pthread_mutex_unlock(&writer->lock);
}

static enum btsrec_status write_oldest(struct extract_writer *writer)
{
	struct frame *frame = frame_at(writer, writer->nr_written);

	finish(writer, frame);
	if (frame->state == FRAME_LEFT && pack(writer->zstd, frame))
		frame->state = FRAME_DONE;
	writer->status = frame->state == FRAME_DONE ? put_frame(writer, frame) : BTSREC_ERR_NOMEM;
	memset(&frame->head, 0, sizeof(frame->head));
	writer->nr_written++;
	return writer->status;
}

/* The frame that is being filled is full; on return there is another one. */
static enum btsrec_status hand_over(struct extract_writer *writer)
{
	if (writer->nr_wanted)
		get_help(writer);
	pthread_mutex_lock(&writer->lock);
	frame_at(writer, writer->nr_filled++)->state = FRAME_WAITING;
	pthread_cond_signal(&writer->work);
	pthread_mutex_unlock(&writer->lock);
	if (writer->nr_filled - writer->nr_written < writer->nr_frames)
		return BTSREC_OK;
	return write_oldest(writer);
}

uint8_t *extract_room(struct extract_writer *writer, size_t *ret_nr_pages)
{
	struct frame *frame = frame_at(writer, writer->nr_filled);

	*ret_nr_pages = EXTRACT_FRAME_PAGES - frame->head.nr_pages;
	return frame->raw + frame->head.raw_bytes;
}

enum btsrec_status extract_add(struct extract_writer *writer, const struct extract_page *page)
{
	struct frame *frame = frame_at(writer, writer->nr_filled);
	struct extract_frame *head = &frame->head;

	frame->table[head->nr_pages++] = *page;
	head->raw_bytes += (uint32_t)__builtin_popcountll(page->lines) * EXTRACT_LINE_BYTES;
	return head->nr_pages < EXTRACT_FRAME_PAGES ? BTSREC_OK : hand_over(writer);
}

enum btsrec_status extract_add_cut(struct extract_writer *writer, uint64_t pa,
				   const uint8_t *bytes, uint32_t nr_bytes)
{
	struct extract_cut cut = { .pa = pa, .nr_bytes = nr_bytes };

	if (!grow_from(&writer->cuts, sizeof(cut), writer->nr_cuts, &writer->room_cuts, 8))
		return BTSREC_ERR_NOMEM;
	memcpy(cut.bytes, bytes, nr_bytes);
	cut.crc32 = extract_sum(0, &cut, sizeof(cut));
	writer->cuts[writer->nr_cuts++] = cut;
	return BTSREC_OK;
}

enum btsrec_status extract_settle(struct extract_writer *writer)
{
	while (!writer->status && writer->nr_written < writer->nr_filled)
		(void)write_oldest(writer);
	return writer->status;
}

enum btsrec_status extract_end(struct extract_writer *writer)
{
	const size_t cut_bytes = writer->nr_cuts * sizeof(*writer->cuts);
	struct extract_frame last = { .magic = EXTRACT_END_MAGIC, .packed_bytes = cut_bytes };
	enum btsrec_status status = BTSREC_OK;

	/* Nobody needs to start for a single frame. */
	writer->nr_wanted = 0;
	if (frame_at(writer, writer->nr_filled)->head.nr_pages)
		status = hand_over(writer);
	if (!status)
		status = extract_settle(writer);
	last.crc32 = extract_sum(0, &last, sizeof(last));
	writer->end.crc32 = extract_sum(0, &writer->end, offsetof(struct extract_end, crc32));
	if (!status)
		status = put(writer, &last, sizeof(last));
	if (!status)
		status = put(writer, &writer->end, sizeof(writer->end));
	if (!status && cut_bytes)
		status = put(writer, writer->cuts, cut_bytes);
	return status;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The running kernel: memory through /proc/kcore, the recorder through its device.
 *
 * A ring comes round faster than it can be read, so the recorder holds while the
 * pages that it writes are copied; afterwards only those copies are asked.  All
 * other memory is read when it is wanted, and nothing of it is kept: a decoder
 * sees the code and the tasks of now.
 *
 * With on_trigger=copy the recorder may have made a copy, with a root of its own.  Until that has
 * been taken it is what is read, and nothing is held for it.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "source/mkdump.h"
#include "source/image.h"
#include "recorder/live.h"
#include "base/pageset.h"
#include "recorder/session.h"

#define DEVICE		"/dev/btsrec"
#define STATE_BYTES	4096
#define MAX_TRIES	3

/**
 * struct live - an open source
 * @device_fd: the hold ends with it at the latest.
 * @pages: bits of a page: the address of its copy.
 * @keep: pages that are read are copied.
 * @vmcoreinfo: the kernel's, which names @root_pa.
 */
struct live {
	int device_fd;
	int core_fd;
	struct mkdump_file index;
	struct mkdump *core;
	struct pageset pages;
	bool keep;
	uint64_t root_pa;
	bool is_copy;
	char *vmcoreinfo;
};

static uint8_t *copy_of(const struct pageset_page *page)
{
	return (uint8_t *)(uintptr_t)page->bits;
}

static void forget_copies(struct live *live)
{
	for (size_t i = 0; i < live->pages.nr_slots; i++)
		free(copy_of(&live->pages.slots[i]));
	pageset_fini(&live->pages);
}

static void live_free(void *data)
{
	struct live *live = data;

	if (!live)
		return;
	forget_copies(live);
	free(live->vmcoreinfo);
	mkdump_free(live->core);
	mkdump_file_fini(&live->index);
	if (live->core_fd >= 0)
		close(live->core_fd);
	if (live->device_fd >= 0)
		close(live->device_fd);
	free(live);
}

static void cleanup_live(struct live **live)
{
	live_free(*live);
}

#define _cleanup_live_ __attribute__((cleanup(cleanup_live)))

/* --- Reading ------------------------------------------------------------ */

static enum btsrec_status keep_page(struct live *live, uint64_t page_pa)
{
	_cleanup_free_ uint8_t *copy = malloc(BTSREC_PAGE_BYTES);
	enum btsrec_status status;
	struct pageset_page *page;
	size_t nr_bytes;

	if (!copy)
		return BTSREC_ERR_NOMEM;
	status = mkdump_read_pa(live->core, page_pa, copy, BTSREC_PAGE_BYTES, &nr_bytes);
	if (status)
		return status;
	page = pageset_get(&live->pages, page_pa);
	if (!page)
		return BTSREC_ERR_NOMEM;
	page->bits = (uint64_t)(uintptr_t)take_ptr(copy);
	return BTSREC_OK;
}

/* Within one page. */
static enum btsrec_status read_in_page(struct live *live, uint64_t pa, void *buf,
				       size_t len_bytes, size_t *ret_bytes)
{
	uint64_t offset = pa % BTSREC_PAGE_BYTES, page_pa = pa - offset;
	const struct pageset_page *page = pageset_find(&live->pages, page_pa);
	enum btsrec_status status;

	*ret_bytes = 0;
	if (!page && live->keep && page_pa) {
		status = keep_page(live, page_pa);
		if (status)
			return status;
		page = pageset_find(&live->pages, page_pa);
	}
	if (!page)
		return mkdump_read_pa(live->core, pa, buf, len_bytes, ret_bytes);
	memcpy(buf, copy_of(page) + offset, len_bytes);
	*ret_bytes = len_bytes;
	return BTSREC_OK;
}

static enum btsrec_status live_read_pa(void *arg, uint64_t pa, void *buf, size_t len_bytes,
				       size_t *ret_bytes)
{
	enum btsrec_status status = BTSREC_OK;
	size_t nr_done = 0, nr_bytes;

	while (nr_done < len_bytes && !status) {
		size_t here_bytes = BTSREC_PAGE_BYTES - (pa + nr_done) % BTSREC_PAGE_BYTES;

		if (here_bytes > len_bytes - nr_done)
			here_bytes = len_bytes - nr_done;
		status = read_in_page(arg, pa + nr_done, (uint8_t *)buf + nr_done, here_bytes,
				      &nr_bytes);
		nr_done += nr_bytes;
	}
	*ret_bytes = nr_done;
	return status;
}

/* --- Opening ------------------------------------------------------------ */

/* Which root is to be read: that of a copy comes and goes. */
static enum btsrec_status read_state(struct live *live, struct msg *msg)
{
	char state[STATE_BYTES] = "";
	const char *root, *copy;
	uint64_t copy_pa;

	if (lseek(live->device_fd, 0, SEEK_SET) < 0 ||
	    read(live->device_fd, state, sizeof(state) - 1) < 0)
		return msg_set(msg, BTSREC_ERR_IO, DEVICE ": %s", strerror(errno));
	root = strstr(state, "root_pa: ");
	if (!root)
		return msg_set(msg, BTSREC_ERR_IO, DEVICE " does not say where its root is");
	copy = strstr(state, "copy_pa: ");
	copy_pa = copy ? strtoull(copy + strlen("copy_pa: "), NULL, 16) : 0;
	live->is_copy = copy_pa;
	live->root_pa = copy_pa ? copy_pa : strtoull(root + strlen("root_pa: "), NULL, 16);
	return BTSREC_OK;
}

static enum btsrec_status open_device(struct live *live, struct msg *msg)
{
	live->device_fd = open(DEVICE, O_RDWR | O_CLOEXEC);
	if (live->device_fd < 0 && errno == ENOENT)
		return msg_set(msg, BTSREC_ERR_IO,
			       "no " DEVICE ": the recorder is not loaded on this machine");
	if (live->device_fd < 0)
		return msg_set(msg, BTSREC_ERR_IO, DEVICE ": %s%s", strerror(errno),
			       errno == EACCES || errno == EPERM ? "; be root" : "");
	return BTSREC_OK;
}

static enum btsrec_status open_core(struct live *live, struct msg *msg)
{
	enum btsrec_status status;

	live->core_fd = open(LIVE_CORE, O_RDONLY | O_CLOEXEC);
	if (live->core_fd < 0 && errno == EPERM)
		return msg_set(msg, BTSREC_ERR_IO, LIVE_CORE ": %s; a locked-down kernel (see "
			       "/sys/kernel/security/lockdown) shows its memory to nobody: "
			       "read a dump instead", strerror(errno));
	if (live->core_fd < 0)
		return msg_set(msg, BTSREC_ERR_IO, LIVE_CORE ": %s", strerror(errno));
	if (!mkdump_file_init_plain(&live->index, live->core_fd, INT64_MAX))
		return msg_set(msg, BTSREC_ERR_NOMEM, "out of memory");
	status = mkdump_new(&live->index, msg, &live->core);
	return status ? msg_prepend(msg, status, LIVE_CORE) : BTSREC_OK;
}

static enum btsrec_status command(struct live *live, const char *text, struct msg *msg)
{
	if (write(live->device_fd, text, strlen(text)) >= 0)
		return BTSREC_OK;
	if (errno == EBUSY)
		return msg_set(msg, BTSREC_ERR_IO,
			       "somebody else is copying the rings just now; try again");
	if (errno == EINVAL)
		return msg_set(msg, BTSREC_ERR_IO,
			       "the recorder that is loaded does not know \"%s\": it is older "
			       "than this program", text);
	return msg_set(msg, BTSREC_ERR_IO, DEVICE ", %s: %s", text, strerror(errno));
}

static enum btsrec_status copy_page(const struct btsrec_image *image, uint64_t pa)
{
	uint8_t byte;
	enum btsrec_status status = pa ? image_read(image, pa, &byte, sizeof(byte)) : BTSREC_OK;

	/* The decoder reports what is not there. */
	return status == BTSREC_ERR_NODATA ? BTSREC_OK : status;
}

static enum btsrec_status copy_cpu(const struct btsrec_image *image,
				   const struct located_cpu *lc)
{
	enum btsrec_status status = copy_page(image, lc->page.ds_pa);

	for (uint32_t i = 0; i < lc->page.nr_ring_pages && !status; i++)
		status = copy_page(image, lc->ring_pa[i]);
	return status;
}

static enum btsrec_status copy_all(const struct btsrec_image *image,
				   const struct located *located)
{
	enum btsrec_status status = BTSREC_OK;

	for (unsigned int cpu = 0; cpu < located->nr_cpus && !status; cpu++)
		if (located->cpus[cpu])
			status = copy_cpu(image, located->cpus[cpu]);
	for (uint32_t i = 0; i < located->root.nr_exec_pages && !status; i++)
		status = copy_page(image, located->root.exec_pa[i]);
	return status;
}

/* Has the copy been taken, and perhaps another one made? Either changes the page of its root. */
static bool was_taken(struct live *live)
{
	uint8_t then[BTSREC_PAGE_BYTES], now[BTSREC_PAGE_BYTES];
	size_t nr_bytes;

	return live_read_pa(live, live->root_pa, then, sizeof(then), &nr_bytes) ||
	       mkdump_read_pa(live->core, live->root_pa, now, sizeof(now), &nr_bytes) ||
	       memcmp(then, now, sizeof(now));
}

/* Did a CPU record while it was being copied? Such as one that has come online meanwhile. */
static bool was_moved(struct live *live, const struct located *located)
{
	if (live->is_copy)
		return was_taken(live);
	for (unsigned int cpu = 0; cpu < located->nr_cpus; cpu++) {
		const struct located_cpu *lc = located->cpus[cpu];
		uint64_t then_kva, now_kva;
		size_t nr_bytes;

		if (!lc)
			continue;
		/* SDM vol. 3B, "DS Save Area", DTES64: BTS index is the second word. */
		if (!live_read_pa(live, lc->page.ds_pa + 8, &then_kva, sizeof(then_kva),
				  &nr_bytes) &&
		    !mkdump_read_pa(live->core, lc->page.ds_pa + 8, &now_kva, sizeof(now_kva),
				    &nr_bytes) &&
		    then_kva != now_kva)
			return true;
	}
	return false;
}

/* While the recorder holds: all that it writes. */
static enum btsrec_status copy_recorder(struct live *live, const struct btsrec_image *image,
					struct msg *msg, bool *ret_moved)
{
	struct diags diags = {0};
	struct located *located = NULL;
	enum btsrec_status status;

	live->keep = true;
	status = locate(image, live->root_pa, BTSREC_SCAN_NONE, &diags, msg, &located);
	if (!status) {
		status = copy_all(image, located);
		if (status)
			msg_set(msg, status, "copying the rings: %s", btsrec_status_str(status));
	}
	live->keep = false;
	*ret_moved = status ? live->is_copy && was_taken(live) : was_moved(live, located);
	if (*ret_moved)
		status = BTSREC_OK;
	located_free(located);
	diags_fini(&diags);
	return status;
}

static enum btsrec_status hold_and_copy(struct live *live, const struct btsrec_image *image,
					struct msg *msg)
{
	enum btsrec_status status = BTSREC_OK;
	bool moved = true;

	for (unsigned int i = 0; i < MAX_TRIES && moved && !status; i++) {
		struct msg ignored = { 0 };

		forget_copies(live);
		status = read_state(live, msg);
		if (!status && !live->is_copy)
			status = command(live, "hold", msg);
		if (!status)
			status = copy_recorder(live, image, msg, &moved);
		command(live, "release", &ignored);
	}
	if (!status && moved)
		return msg_set(msg, BTSREC_ERR_IO, "a CPU went on recording each time that its "
			       "ring was copied; is one going offline and online?");
	return status;
}

/* As the kernel has it, but for the line of the root. */
static enum btsrec_status make_vmcoreinfo(struct live *live, struct msg *msg)
{
	const char *text = mkdump_vmcoreinfo(live->core);
	const char *line = text ? strstr(text, BTSREC_VMCOREINFO_KEY) : NULL;
	const char *rest = line ? strchr(line, '\n') : NULL;

	if (!rest)
		return BTSREC_OK;
	if (asprintf(&live->vmcoreinfo, "%.*s" BTSREC_VMCOREINFO_KEY "0x%" PRIx64 "%s",
		     (int)(line - text), text, live->root_pa, rest) >= 0)
		return BTSREC_OK;
	live->vmcoreinfo = NULL;
	return msg_set(msg, BTSREC_ERR_NOMEM, "out of memory");
}

enum btsrec_status btsrec_open_live(struct btsrec *rec)
{
	_cleanup_live_ struct live *live = calloc(1, sizeof(*live));
	struct btsrec_image image = { .read_pa = live_read_pa, .arg = live };
	enum btsrec_status status;

	if (!live)
		return msg_set(&rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	live->device_fd = live->core_fd = -1;
	status = open_device(live, &rec->msg);
	if (!status)
		status = open_core(live, &rec->msg);
	if (!status)
		status = hold_and_copy(live, &image, &rec->msg);
	if (!status)
		status = make_vmcoreinfo(live, &rec->msg);
	if (status)
		return status;
	image.root_pa_hint = live->root_pa;
	image.vmcoreinfo = live->vmcoreinfo ? live->vmcoreinfo : mkdump_vmcoreinfo(live->core);
	image.max_pa = mkdump_max_pa(live->core);
	status = session_open(rec, &image, (struct session_part){ live, live_free });
	if (status)
		return status;
	snprintf(rec->notice, sizeof(rec->notice), "read from %s: code, tasks and mappings are those of now",
		 live->is_copy ? "the copy in the running kernel" : "the running kernel");
	(void)take_ptr(live);
	return BTSREC_OK;
}

// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/user.h"

#include <stdlib.h>
#include <string.h>

#include "base/bounds.h"
#include "base/cleanup.h"
#include "kernel/dpath.h"
#include "base/escape.h"
#include "recorder/execs.h"
#include "symbols/mapped.h"
#include "kernel/tasks.h"
#include "kernel/vma.h"

#define NR_PLACES	BOUND(4096, 64)

/* VMAs of one file in one process: text, data and the like. */
#define MAX_VMAS_BACK	16

/* The vDSO has two or three pages. */
#define VDSO_MAX_BYTES	(1u << 20)

/*
 * Descriptors that may stay open for code.  The usual limit of a process is 1024, and each
 * worker of a view has a session of its own.
 */
#define MAX_OPEN_FILES	96

#define DELETED		" (deleted)"

/**
 * struct user_file - a mapped file, known by its place in the tree of names
 * @dentry_kva: or the address of the image of a vDSO.
 * @name: escaped, for symbol_name.module.
 */
struct user_file {
	struct user_file *next;
	uint64_t mnt_kva;
	uint64_t dentry_kva;
	struct mapped mapped;
	char name[ESCAPED_MAX_BYTES * DPATH_MAX_BYTES + sizeof(DELETED)];
};

/**
 * struct user_place - what is mapped at one page
 * @why: SYMBOL_NAMED: see @file; SYMBOL_NOT_A_FILE: see @label; else nothing is known.
 * @start, @end: of the VMA.
 * @offset_bytes: of the page, in the file or from the start of the VMA.
 * @mode: of code there.
 */
struct user_place {
	bool used;
	uint64_t cr3;
	uint64_t va;
	enum symbol_why why;
	const struct user_file *file;
	const char *label;
	uint64_t start;
	uint64_t end;
	uint64_t offset_bytes;
	enum code_mode mode;
};

struct user {
	struct user_source source;
	bool tried;
	const char *missing;
	struct layout layout;
	struct tasks tasks;
	struct execs execs;
	struct user_file *files;
	unsigned int nr_open;
	struct user_place places[NR_PLACES];
};

struct user *user_new(const struct user_source *source)
{
	struct user *user = calloc(1, sizeof(*user));

	if (user)
		user->source = *source;
	return user;
}

void user_free(struct user *user)
{
	struct user_file *file, *next;

	if (!user)
		return;
	for (file = user->files; file; file = next) {
		next = file->next;
		mapped_fini(&file->mapped);
		free(file);
	}
	tasks_fini(&user->tasks);
	free(user);
}

/* --- What the kernel says ----------------------------------------------- */

static const char *read_layout(struct user *user)
{
	const struct user_source *source = &user->source;
	const char *missing;
	const struct types *types = layout_types(source->btf, &missing);

	if (!types)
		return missing;
	if (!source->init_task_kva)
		return "kallsyms does not say where the first task is";
	missing = layout_init(types, &user->layout);
	return missing ? "the kernel's BTF lacks a member that is needed" : NULL;
}

const char *user_missing(struct user *user)
{
	if (user->tried)
		return user->missing;
	user->tried = true;
	user->missing = read_layout(user);
	if (!user->missing && tasks_read(user->source.kread, &user->layout,
					 user->source.init_task_kva, &user->tasks)) {
		kread_nomem(user->source.kread);
		user->missing = "out of memory";
	}
	execs_read(user->source.kread->image, user->source.root, &user->execs);
	return user->missing;
}

static const struct tasks_space *space_by_cr3(const struct user *user, uint64_t cr3)
{
	for (size_t i = 0; i < user->tasks.nr; i++)
		if (user->tasks.spaces[i].pgd_pa == cr3)
			return &user->tasks.spaces[i];
	return NULL;
}

bool user_space_lost(struct user *user, const struct btsrec_side *side, uint64_t end_tsc)
{
	if (user_missing(user) || !space_by_cr3(user, side->cr3))
		return false;
	return !tasks_find(&user->tasks, side->cr3, side->tgid) ||
	       execs_replaced(&user->execs, side->tgid, side->cr3, end_tsc);
}

bool user_thread(struct user *user, uint32_t pid, struct tasks_thread *ret)
{
	const struct user_source *source = &user->source;

	return !user_missing(user) &&
	       tasks_thread(source->kread, &user->layout, layout_types(source->btf, NULL),
			    source->init_task_kva, pid, ret);
}

enum tasks_found user_thread_at(struct user *user, uint64_t task_kva, struct tasks_thread *ret)
{
	const struct user_source *source = &user->source;

	if (user_missing(user))
		return TASKS_UNKNOWN;
	return tasks_thread_at(source->kread, &user->layout, layout_types(source->btf, NULL),
			       source->init_task_kva, task_kva, ret);
}

void user_sleepers(struct user *user, bool (*visit)(void *arg, const struct tasks_thread *thread),
		   void *arg)
{
	const struct user_source *source = &user->source;

	if (!user_missing(user))
		tasks_sleepers(source->kread, &user->layout, layout_types(source->btf, NULL),
			       source->init_task_kva, visit, arg);
}

/* --- Files -------------------------------------------------------------- */

static bool same_file(const struct user *user, const struct vma *a, const struct vma *b)
{
	uint64_t dentry_a, dentry_b;

	return b->file_kva &&
	       layout_read(&user->layout, user->source.kread, a->file_kva, FILE_DENTRY,
			   &dentry_a) &&
	       layout_read(&user->layout, user->source.kread, b->file_kva, FILE_DENTRY,
			   &dentry_b) &&
	       dentry_a == dentry_b;
}

/*
 * A page of @first, the beginning of a file, of a process that has it at the same place: a
 * parent, a child.  All that have it in their page tables have the same page.
 */
static bool find_head_elsewhere(const struct user *user, const struct vma *first, uint64_t *ret_pa)
{
	const struct kread *kernel = user->source.kread;
	struct vma other;

	for (size_t i = 0; i < user->tasks.nr; i++) {
		const struct tasks_space *space = &user->tasks.spaces[i];

		if (walk_pa(kernel->walk, space->pgd_pa, first->start, ret_pa) == WALK_OK &&
		    !vma_find(kernel, &user->layout, space->mm_kva, first->start, &other) &&
		    other.start == first->start && !other.offset_bytes &&
		    same_file(user, first, &other))
			return true;
	}
	return false;
}

/*
 * The beginning of the file of @vma, if this process has it mapped, and it or another one
 * has it in memory: a process that was forked has not, until it reads it.
 */
static void read_head(const struct user *user, uint64_t cr3, uint64_t mm_kva,
		      const struct vma *vma, struct mapped_facts *facts)
{
	const struct kread *kernel = user->source.kread;
	struct vma first = *vma, before;
	enum walk_result result;
	uint64_t pa;

	for (unsigned int i = 0; first.offset_bytes && i < MAX_VMAS_BACK; i++) {
		if (vma_find(kernel, &user->layout, mm_kva, first.start - 1, &before) ||
		    !same_file(user, vma, &before))
			return;
		first = before;
	}
	if (first.offset_bytes)
		return;
	result = walk_pa(kernel->walk, cr3, first.start, &pa);
	if (result != WALK_OK && find_head_elsewhere(user, &first, &pa))
		result = WALK_OK;
	if (result == WALK_OK)
		image_read_some(kernel->image, pa, facts->head, sizeof(facts->head),
				&facts->head_bytes);
	facts->head_lost = result != WALK_NOT_PRESENT && !facts->head_bytes;
}

static bool read_inode(const struct user *user, const struct vma *vma, struct mapped_facts *facts)
{
	const struct kread *kernel = user->source.kread;
	uint64_t inode_kva, mtime_s;

	if (!layout_read(&user->layout, kernel, vma->file_kva, FILE_INODE, &inode_kva) ||
	    !layout_read(&user->layout, kernel, inode_kva, INODE_SIZE, &facts->size_bytes) ||
	    !layout_read(&user->layout, kernel, inode_kva, INODE_MTIME_SEC, &mtime_s))
		return false;
	facts->mtime_s = (int64_t)mtime_s;
	return true;
}

static struct user_file *file_new(struct user *user, uint64_t mnt_kva, uint64_t dentry_kva)
{
	struct user_file *file = calloc(1, sizeof(*file));

	if (!file) {
		kread_nomem(user->source.kread);
		return NULL;
	}
	file->mnt_kva = mnt_kva;
	file->dentry_kva = dentry_kva;
	file->mapped.fd = -1;
	file->next = user->files;
	user->files = file;
	return file;
}

static const struct user_file *file_known(const struct user *user, uint64_t mnt_kva,
					  uint64_t dentry_kva)
{
	const struct user_file *file = user->files;

	while (file && (file->mnt_kva != mnt_kva || file->dentry_kva != dentry_kva))
		file = file->next;
	return file;
}

static void limit_open(struct user *user, struct mapped *mapped)
{
	if (mapped->fd < 0 || user->nr_open++ < MAX_OPEN_FILES)
		return;
	mapped_drop_file(mapped);
}

/* As file_of_vma() would read if it had not asked by another process before. */
static void read_again(const struct user *user, uint64_t cr3, uint64_t mm_kva,
		       const struct vma *vma)
{
	struct mapped_facts facts = { 0 };

	if (read_inode(user, vma, &facts))
		read_head(user, cr3, mm_kva, vma, &facts);
}

static const struct user_file *file_of_vma(struct user *user, uint64_t cr3, uint64_t mm_kva,
					   const struct vma *vma)
{
	const struct kread *kernel = user->source.kread;
	struct mapped_facts facts = { 0 };
	const struct user_file *known;
	uint64_t mnt_kva, dentry_kva;
	struct user_file *file;
	struct dpath path;
	size_t nr_bytes;

	if (!layout_read(&user->layout, kernel, vma->file_kva, FILE_MNT, &mnt_kva) ||
	    !layout_read(&user->layout, kernel, vma->file_kva, FILE_DENTRY, &dentry_kva))
		return NULL;
	known = file_known(user, mnt_kva, dentry_kva);
	if (known) {
		if (user->source.is_kept)
			read_again(user, cr3, mm_kva, vma);
		return known;
	}
	if (!dpath_read(kernel, &user->layout, vma->file_kva, &path) ||
	    !read_inode(user, vma, &facts))
		return NULL;
	file = file_new(user, mnt_kva, dentry_kva);
	if (!file)
		return NULL;
	nr_bytes = escaped_copy(file->name, path.text, sizeof(path.text));
	if (path.deleted)
		memcpy(file->name + nr_bytes, DELETED, sizeof(DELETED));
	facts.path = path.deleted ? NULL : path.text;
	read_head(user, cr3, mm_kva, vma, &facts);
	mapped_init(&file->mapped, &facts, user->source.sysroot, user->source.debuginfo);
	if (file->mapped.nomem)
		kread_nomem(kernel);
	limit_open(user, &file->mapped);
	return file;
}

/* The image that the kernel maps: all processes of one kind share it. */
static const struct user_file *file_of_vdso(struct user *user, uint64_t mm_kva)
{
	const struct kread *kernel = user->source.kread;
	uint64_t image_kva, data_kva, nr_bytes;
	_cleanup_free_ void *bytes = NULL;
	const struct user_file *known;
	struct user_file *file;

	if (!layout_read(&user->layout, kernel, mm_kva, MM_VDSO_IMAGE, &image_kva) ||
	    !layout_read(&user->layout, kernel, image_kva, VDSO_DATA, &data_kva) ||
	    !layout_read(&user->layout, kernel, image_kva, VDSO_SIZE, &nr_bytes) ||
	    nr_bytes > VDSO_MAX_BYTES)
		return NULL;
	known = file_known(user, 0, image_kva);
	if (known)
		return known;
	bytes = malloc(nr_bytes + 1);
	if (!bytes)
		kread_nomem(kernel);
	if (!bytes || !kread(kernel, data_kva, bytes, nr_bytes))
		return NULL;
	file = file_new(user, 0, image_kva);
	if (!file)
		return NULL;
	strcpy(file->name, "vdso");
	mapped_init_image(&file->mapped, bytes, nr_bytes);
	if (file->mapped.nomem)
		kread_nomem(kernel);
	return file;
}

/* --- Places ------------------------------------------------------------- */

static const char *label_of(enum vma_kind kind)
{
	switch (kind) {
	case VMA_OF_HEAP:
		return "heap";
	case VMA_OF_STACK:
		return "stack";
	case VMA_OF_FILE:
	case VMA_OF_VDSO:
	case VMA_ANONYMOUS:
		break;
	}
	return "anon";
}

static enum code_mode mode_of_file(const struct user_file *file)
{
	uint16_t machine = file ? file->mapped.machine : EM_NONE;

	if (machine == EM_386)
		return CODE_MODE_32;
	return machine == EM_X86_64 ? CODE_MODE_64 : CODE_MODE_UNKNOWN;
}

static enum code_mode mode_of(struct user *user, uint64_t mm_kva, const struct user_place *place)
{
	enum code_mode mode = mode_of_file(place->file), process;

	if (mode != CODE_MODE_UNKNOWN)
		return mode;
	process = mode_of_file(file_of_vdso(user, mm_kva));
	if (process == CODE_MODE_32 || (place->file && place->file->mapped.headless))
		return process;
	return CODE_MODE_UNKNOWN;
}

static void fill_from_vma(struct user *user, uint64_t mm_kva, const struct vma *vma,
			  struct user_place *place)
{
	place->start = vma->start;
	place->end = vma->end;
	place->offset_bytes = place->va - vma->start;
	if (vma->file_kva) {
		place->file = file_of_vma(user, place->cr3, mm_kva, vma);
		place->offset_bytes += vma->offset_bytes;
	} else if (vma->kind == VMA_OF_VDSO) {
		place->file = file_of_vdso(user, mm_kva);
	} else {
		place->label = label_of(vma->kind);
		place->why = SYMBOL_NOT_A_FILE;
		return;
	}
	place->why = place->file ? SYMBOL_NAMED : SYMBOL_EXCLUDED;
}

static void fill_place(struct user *user, struct user_place *place)
{
	const struct tasks_space *space = space_by_cr3(user, place->cr3);
	struct vma vma;

	if (user->source.no_files) {
		place->why = SYMBOL_EXCLUDED;
		return;
	}
	if (!space) {
		place->why = user->tasks.complete ? SYMBOL_MM_GONE : SYMBOL_EXCLUDED;
		return;
	}
	switch (vma_find(user->source.kread, &user->layout, space->mm_kva, place->va, &vma)) {
	case VMA_OK:
		fill_from_vma(user, space->mm_kva, &vma, place);
		place->mode = mode_of(user, space->mm_kva, place);
		break;
	case VMA_NONE:
		place->why = SYMBOL_NOT_MAPPED;
		break;
	case VMA_NOT_IN_DUMP:
		place->why = SYMBOL_EXCLUDED;
		break;
	}
}

static const struct user_place *place_at(struct user *user, uint64_t cr3, uint64_t va)
{
	uint64_t page_va = va & ~(uint64_t)(BTSREC_PAGE_BYTES - 1);
	struct user_place *place = &user->places[((page_va ^ cr3) / BTSREC_PAGE_BYTES) %
						 NR_PLACES];

	if (place->used && place->cr3 == cr3 && place->va == page_va)
		return place;
	*place = (struct user_place){ .used = true, .cr3 = cr3, .va = page_va };
	fill_place(user, place);
	return place;
}

/* --- Questions ---------------------------------------------------------- */

static enum symbol_why why_of_mapped(enum mapped_why why)
{
	switch (why) {
	case MAPPED_EXCLUDED:
		return SYMBOL_EXCLUDED;
	case MAPPED_UNPROVEN:
		return SYMBOL_UNPROVEN;
	case MAPPED_NOT_FOUND:
		return SYMBOL_NO_FILE;
	case MAPPED_DIFFERS:
		return SYMBOL_OTHER_FILE;
	case MAPPED_OK:
	case MAPPED_STRIPPED:
		break;
	}
	return SYMBOL_NO_SYMBOL;
}

enum symbol_why user_find(struct user *user, uint64_t cr3, uint64_t va, bool raw,
			  struct symbol_name *ret)
{
	const struct user_place *place;

	if (user_missing(user))
		return SYMBOL_UNKNOWN;
	if (!cr3)
		return SYMBOL_MM_GONE;
	place = place_at(user, cr3, va);
	ret->name_bytes = 0;
	ret->offset_bytes = place->offset_bytes + va % BTSREC_PAGE_BYTES;
	ret->module = place->file ? place->file->name : place->label;
	if (!place->file)
		return place->why;
	if (mapped_find(&place->file->mapped, ret->offset_bytes, raw, &ret->name,
			&ret->name_bytes, &ret->offset_bytes))
		return SYMBOL_NAMED;
	return why_of_mapped(place->file->mapped.why);
}

size_t user_code(struct user *user, uint64_t cr3, uint64_t va, void *buf, size_t len_bytes)
{
	const struct user_place *place;

	if (user_missing(user) || !cr3)
		return 0;
	place = place_at(user, cr3, va);
	if (!place->file || va % BTSREC_PAGE_BYTES + len_bytes > BTSREC_PAGE_BYTES)
		return 0;
	return mapped_read(&place->file->mapped, place->offset_bytes + va % BTSREC_PAGE_BYTES,
			   buf, len_bytes);
}

bool user_is_made(struct user *user, uint64_t cr3, uint64_t va)
{
	return !user_missing(user) && cr3 && place_at(user, cr3, va)->why == SYMBOL_NOT_A_FILE;
}

enum code_mode user_mode(struct user *user, uint64_t cr3, uint64_t va)
{
	return user_missing(user) || !cr3 ? CODE_MODE_UNKNOWN : place_at(user, cr3, va)->mode;
}

bool user_mapping(struct user *user, uint64_t cr3, uint64_t va, struct user_mapping *ret)
{
	const struct user_place *place;

	if (user_missing(user) || !cr3)
		return false;
	place = place_at(user, cr3, va);
	if (!place->file || !place->file->mapped.build_id_bytes)
		return false;
	*ret = (struct user_mapping){
		.start = place->start,
		.end = place->end,
		.offset_bytes = place->offset_bytes - (place->va - place->start),
		.path = place->file->name,
		.build_id = place->file->mapped.build_id,
		.build_id_bytes = place->file->mapped.build_id_bytes,
	};
	return true;
}

bool user_linked(struct user *user, uint64_t cr3, uint64_t va, struct user_linked *ret)
{
	const struct user_place *place;
	const struct mapped *mapped;

	if (user_missing(user) || !cr3)
		return false;
	place = place_at(user, cr3, va);
	if (!place->file)
		return false;
	mapped = &place->file->mapped;
	*ret = (struct user_linked){
		.file = place->file,
		.name = place->file->name,
		.fd = mapped->fd,
		.build_id = mapped->build_id,
		.build_id_bytes = mapped->build_id_bytes,
	};
	if (!mapped->nr_segments)
		ret->why = why_of_mapped(mapped->why);
	ret->placed = mapped_linked(mapped, place->offset_bytes + va % BTSREC_PAGE_BYTES,
				    &ret->address);
	return true;
}

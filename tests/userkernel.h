/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The smallest kernel that a user address can be resolved in: plain memory from physical
 * address 0 on, all of it in the kernel's image, with one process.  Its structs are those
 * of Linux, less all that nobody reads.  For the unit tests and for the fuzzer.
 */
#ifndef BTSREC_TESTS_USERKERNEL_H
#define BTSREC_TESTS_USERKERNEL_H

#include <bpf/btf.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../decoder/src/kernel/kread.h"
#include "../decoder/src/kernel/layout.h"

#define UK_KVA(pa)	(KREAD_IMAGE_KVA + (pa))
#define UK_BYTES	(96u << 10)

/* Where things are; a node of a maple tree is at a multiple of 256. */
enum {
	UK_PGD_PA	= 0x1000,
	UK_PUD_PA	= 0x2000,
	UK_PMD_PA	= 0x3000,
	UK_PT_PA	= 0x4000,
	UK_HEAD_PA	= 0x5000,	/* the first page of the program */
	UK_INIT_PA	= 0x6000,	/* tasks */
	UK_TASK_PA	= 0x6100,
	UK_SIGNAL_PA	= 0x6800,
	UK_MM_PA	= 0x7000,
	UK_VMA_PA	= 0x8000,	/* number i of enum uk_mapping at + i * 0x100 */
	UK_ROOT_PA	= 0x9000,	/* nodes: arange_64, range_64, leaves */
	UK_RANGE_PA	= 0x9100,
	UK_LEAF0_PA	= 0x9200,
	UK_LEAF1_PA	= 0x9300,
	UK_FILE_PA	= 0xa000,
	UK_INODE_PA	= 0xa100,
	UK_MOUNT_PA	= 0xa200,	/* of /usr; the root's follows */
	UK_ROOTMOUNT_PA	= 0xa300,
	UK_DENTRY_PA	= 0xa400,	/* the program, its folder, the mount's root */
	UK_NAMES_PA	= 0xb000,
	UK_VDSO_PA	= 0xc000,
	UK_VDSO_ELF_PA	= 0xd000,
	UK_EXECS_PA	= 0xe000,
	UK_BTF_PA	= 0x10000,
};

#define UK_TEXT		0x0000000000400000ULL
#define UK_DATA		0x0000000000402000ULL
#define UK_HEAP		0x0000000000500000ULL
#define UK_ANON		0x00007f0000000000ULL
#define UK_VDSO		0x00007f0000010000ULL
#define UK_STACK	0x00007ffff0000000ULL
#define UK_STACK_TOP	0x00007ffff0021000ULL
#define UK_TGID		4242u
#define UK_PATH		"/usr/bin/prog"
#define UK_BUILD_ID	"\x12\x34\x56\x78\x9a\xbc\xde\xf0"
#define UK_SIZE_BYTES	12345u
#define UK_MTIME_S	1700000000

enum uk_mapping { UK_OF_TEXT, UK_OF_DATA, UK_OF_HEAP, UK_OF_ANON, UK_OF_VDSO, UK_OF_STACK };

struct uk_list { uint64_t next, prev; };
struct uk_thread_info { uint64_t flags; uint32_t cpu; };
struct uk_thread { uint64_t es, sp; };
struct uk_sched_info { uint64_t run_delay, last_arrival; };
struct uk_task {
	struct uk_thread_info thread_info;
	uint32_t __state;
	uint64_t stack;
	struct uk_list tasks;
	uint64_t mm;
	int32_t pid, tgid;
	uint64_t signal;
	struct uk_list thread_node;
	char comm[BTSREC_COMM_BYTES];
	struct uk_thread thread;
	struct uk_sched_info sched_info;
};
struct uk_mutex { uint64_t owner, wait_lock; struct uk_list wait_list; };
struct uk_waiter { struct uk_list list; uint64_t task; };
struct uk_signal { uint64_t count; struct uk_list thread_head; uint32_t group_exit_code; };
struct uk_maple { uint64_t ma_lock, ma_root; };
struct uk_context { uint64_t vdso_image, vdso; };
struct uk_mm {
	uint64_t count;
	struct uk_maple mm_mt;
	uint64_t pgd, start_brk, brk, start_stack;
	struct uk_context context;
};
struct uk_vdso { uint64_t data, size; };
struct uk_vma { uint64_t vm_start, vm_end, vm_mm, vm_pgoff, vm_file; };
struct uk_meta { uint8_t end, gap; };
struct uk_range {
	uint64_t parent, pivot[15];
	union {
		uint64_t slot[16];
		struct { uint64_t pad[15]; struct uk_meta meta; };
	};
};
struct uk_arange { uint64_t parent, pivot[9], slot[10], gap[10]; struct uk_meta meta; };
struct uk_path { uint64_t mnt, dentry; };
struct uk_file { uint64_t f_count; struct uk_path f_path; uint64_t f_inode; };
struct uk_hash { uint64_t next, pprev; };
struct uk_qstr { uint32_t hash, len; uint64_t name; };
struct uk_dentry { struct uk_hash d_hash; uint64_t d_parent; struct uk_qstr d_name; };
struct uk_vfsmount { uint64_t mnt_root; };
struct uk_mount {
	uint64_t hash, mnt_parent, mnt_mountpoint;
	struct uk_vfsmount mnt;
};
struct uk_inode { uint64_t i_ino, i_size, i_mtime_sec; };

#define UK_AT(type, member)	{ offsetof(struct type, member),		\
				  sizeof(((struct type *)0)->member) }

/* What layout_init() has to find. */
static const struct layout uk_layout = { .at = {
	[TASK_TASKS] = UK_AT(uk_task, tasks.next), [TASK_MM] = UK_AT(uk_task, mm),
	[TASK_PID] = UK_AT(uk_task, pid), [TASK_TGID] = UK_AT(uk_task, tgid),
	[TASK_SIGNAL] = UK_AT(uk_task, signal),
	[TASK_THREAD_NODE] = UK_AT(uk_task, thread_node.next),
	[SIGNAL_THREAD_HEAD] = UK_AT(uk_signal, thread_head.next),
	[MM_MA_ROOT] = UK_AT(uk_mm, mm_mt.ma_root), [MM_PGD] = UK_AT(uk_mm, pgd),
	[MM_START_BRK] = UK_AT(uk_mm, start_brk), [MM_BRK] = UK_AT(uk_mm, brk),
	[MM_START_STACK] = UK_AT(uk_mm, start_stack),
	[MM_VDSO] = UK_AT(uk_mm, context.vdso),
	[MM_VDSO_IMAGE] = UK_AT(uk_mm, context.vdso_image),
	[VDSO_DATA] = UK_AT(uk_vdso, data), [VDSO_SIZE] = UK_AT(uk_vdso, size),
	[VMA_START] = UK_AT(uk_vma, vm_start), [VMA_END] = UK_AT(uk_vma, vm_end),
	[VMA_MM] = UK_AT(uk_vma, vm_mm), [VMA_PGOFF] = UK_AT(uk_vma, vm_pgoff),
	[VMA_FILE] = UK_AT(uk_vma, vm_file),
	[RANGE_PIVOT] = UK_AT(uk_range, pivot), [RANGE_SLOT] = UK_AT(uk_range, slot),
	[RANGE_END] = UK_AT(uk_range, meta.end),
	[ARANGE_PIVOT] = UK_AT(uk_arange, pivot), [ARANGE_SLOT] = UK_AT(uk_arange, slot),
	[ARANGE_END] = UK_AT(uk_arange, meta.end),
	[FILE_MNT] = UK_AT(uk_file, f_path.mnt), [FILE_DENTRY] = UK_AT(uk_file, f_path.dentry),
	[FILE_INODE] = UK_AT(uk_file, f_inode),
	[DENTRY_PARENT] = UK_AT(uk_dentry, d_parent),
	[DENTRY_NAME_LEN] = UK_AT(uk_dentry, d_name.len),
	[DENTRY_NAME] = UK_AT(uk_dentry, d_name.name),
	[DENTRY_HASH_PPREV] = UK_AT(uk_dentry, d_hash.pprev),
	[VFSMOUNT_ROOT] = UK_AT(uk_vfsmount, mnt_root), [MOUNT_MNT] = UK_AT(uk_mount, mnt),
	[MOUNT_PARENT] = UK_AT(uk_mount, mnt_parent),
	[MOUNT_MOUNTPOINT] = UK_AT(uk_mount, mnt_mountpoint),
	[INODE_SIZE] = UK_AT(uk_inode, i_size), [INODE_MTIME_SEC] = UK_AT(uk_inode, i_mtime_sec),
} };

/**
 * struct uk - the memory
 * @bytes: aligned as the structs in it want.
 * @hole_pa: this page is not in the dump; 0: all are.
 * @btf_bytes: of the BTF at UK_BTF_PA.
 */
struct uk {
	_Alignas(256) uint8_t bytes[UK_BYTES];
	uint64_t hole_pa;
	size_t btf_bytes;
	struct btsrec_image image;
	struct walk walk;
	struct kread kread;
};

static inline void *uk_at(struct uk *uk, uint64_t pa)
{
	return uk->bytes + pa;
}

static inline enum btsrec_status uk_read(void *arg, uint64_t pa, void *buf, size_t len_bytes,
					 size_t *ret_bytes)
{
	const struct uk *uk = arg;
	uint64_t end = pa < UK_BYTES ? UK_BYTES : pa;
	uint64_t hole_pa = uk->hole_pa & ~(BTSREC_PAGE_BYTES - 1ULL);
	size_t nr = len_bytes;

	if (uk->hole_pa && pa < hole_pa + BTSREC_PAGE_BYTES)
		end = pa < hole_pa ? hole_pa : pa;
	if (nr > end - pa)
		nr = end - pa;
	if (nr)
		memcpy(buf, uk->bytes + pa, nr);
	*ret_bytes = nr;
	return nr == len_bytes ? BTSREC_OK : BTSREC_ERR_NODATA;
}

/* --- Tasks -------------------------------------------------------------- */

static inline void uk_link(struct uk *uk, uint64_t from_kva, uint64_t to_kva)
{
	memcpy(uk_at(uk, from_kva - KREAD_IMAGE_KVA), &to_kva, sizeof(to_kva));
}

static inline uint64_t uk_tasks_kva(uint64_t task_pa)
{
	return UK_KVA(task_pa) + offsetof(struct uk_task, tasks);
}

static inline void uk_put_tasks(struct uk *uk)
{
	struct uk_task *task = uk_at(uk, UK_TASK_PA);
	struct uk_signal *signal = uk_at(uk, UK_SIGNAL_PA);

	uk_link(uk, uk_tasks_kva(UK_INIT_PA), uk_tasks_kva(UK_TASK_PA));
	uk_link(uk, uk_tasks_kva(UK_TASK_PA), uk_tasks_kva(UK_INIT_PA));
	task->mm = UK_KVA(UK_MM_PA);
	task->pid = UK_TGID;
	task->tgid = UK_TGID;
	memcpy(task->comm, "prog", sizeof("prog"));
	task->signal = UK_KVA(UK_SIGNAL_PA);
	task->thread_node.next = UK_KVA(UK_SIGNAL_PA) + offsetof(struct uk_signal, thread_head);
	signal->thread_head.next = UK_KVA(UK_TASK_PA) + offsetof(struct uk_task, thread_node);
}

/* --- Mappings ----------------------------------------------------------- */

static inline uint64_t uk_vma_pa(enum uk_mapping mapping)
{
	return UK_VMA_PA + 0x100 * (uint64_t)mapping;
}

static inline void uk_put_vma(struct uk *uk, enum uk_mapping mapping, uint64_t start,
			      uint64_t end, uint64_t pgoff, uint64_t file_kva)
{
	*(struct uk_vma *)uk_at(uk, uk_vma_pa(mapping)) = (struct uk_vma){
		start, end, UK_KVA(UK_MM_PA), pgoff, file_kva,
	};
}

/* How a slot, or the mm, points to the node at @pa. */
static inline uint64_t uk_node(uint64_t pa, unsigned int type)
{
	return UK_KVA(pa) | type << 3 | 4 | 2;
}

static inline uint64_t uk_leaf_entry(enum uk_mapping mapping)
{
	return UK_KVA(uk_vma_pa(mapping));
}

static inline void uk_put_tree(struct uk *uk)
{
	struct uk_arange *root = uk_at(uk, UK_ROOT_PA);
	struct uk_range *range = uk_at(uk, UK_RANGE_PA), *leaf0 = uk_at(uk, UK_LEAF0_PA);
	struct uk_range *leaf1 = uk_at(uk, UK_LEAF1_PA);

	*root = (struct uk_arange){
		.parent = UK_KVA(UK_MM_PA) | 1, .pivot = { UK_STACK_TOP - 1 },
		.slot = { uk_node(UK_RANGE_PA, 2) }, .meta = { .end = 1 },
	};
	*range = (struct uk_range){
		.parent = UK_KVA(UK_ROOT_PA) | 6, .pivot = { UK_HEAP + 0x20fff },
		.slot = { uk_node(UK_LEAF0_PA, 1), uk_node(UK_LEAF1_PA, 1) },
	};
	range->meta.end = 1;
	*leaf0 = (struct uk_range){
		.parent = UK_KVA(UK_RANGE_PA) | 6,
		.pivot = { UK_TEXT - 1, UK_DATA - 1, UK_DATA + 0xfff, UK_HEAP - 1 },
		.slot = { 0, uk_leaf_entry(UK_OF_TEXT), uk_leaf_entry(UK_OF_DATA), 0,
			  uk_leaf_entry(UK_OF_HEAP) },
	};
	leaf0->meta.end = 4;
	*leaf1 = (struct uk_range){
		.parent = UK_KVA(UK_RANGE_PA) | 14,
		.pivot = { UK_ANON - 1, UK_ANON + 0xfff, UK_VDSO - 1, UK_VDSO + 0xfff,
			   UK_STACK - 1 },
		.slot = { 0, uk_leaf_entry(UK_OF_ANON), 0, uk_leaf_entry(UK_OF_VDSO), 0,
			  uk_leaf_entry(UK_OF_STACK) },
	};
	leaf1->meta.end = 5;
}

static inline void uk_put_mm(struct uk *uk)
{
	*(struct uk_mm *)uk_at(uk, UK_MM_PA) = (struct uk_mm){
		.mm_mt.ma_root = uk_node(UK_ROOT_PA, 3), .pgd = UK_KVA(UK_PGD_PA),
		.start_brk = UK_HEAP + 0x100, .brk = UK_HEAP + 0x20000,
		.start_stack = UK_STACK_TOP - 0x800,
		.context = { .vdso_image = UK_KVA(UK_VDSO_PA), .vdso = UK_VDSO },
	};
	uk_put_vma(uk, UK_OF_TEXT, UK_TEXT, UK_DATA, 0, UK_KVA(UK_FILE_PA));
	uk_put_vma(uk, UK_OF_DATA, UK_DATA, UK_DATA + 0x1000, 2, UK_KVA(UK_FILE_PA));
	uk_put_vma(uk, UK_OF_HEAP, UK_HEAP, UK_HEAP + 0x21000, 0, 0);
	uk_put_vma(uk, UK_OF_ANON, UK_ANON, UK_ANON + 0x1000, 0, 0);
	uk_put_vma(uk, UK_OF_VDSO, UK_VDSO, UK_VDSO + 0x1000, 0, 0);
	uk_put_vma(uk, UK_OF_STACK, UK_STACK, UK_STACK_TOP, 0, 0);
	uk_put_tree(uk);
}

static inline void uk_put_tables(struct uk *uk)
{
	*(uint64_t *)uk_at(uk, UK_PGD_PA) = UK_PUD_PA | 7;
	*(uint64_t *)uk_at(uk, UK_PUD_PA) = UK_PMD_PA | 7;
	((uint64_t *)uk_at(uk, UK_PMD_PA))[UK_TEXT >> 21] = UK_PT_PA | 7;
	*(uint64_t *)uk_at(uk, UK_PT_PA) = UK_HEAD_PA | 5;
}

/* --- Files -------------------------------------------------------------- */

/* A name at UK_NAMES_PA + @i * 256 for the dentry at UK_DENTRY_PA + @i * 64. */
static inline uint64_t uk_put_dentry(struct uk *uk, unsigned int i, const char *name,
				     uint64_t parent_kva)
{
	uint64_t pa = UK_DENTRY_PA + 64 * i, name_pa = UK_NAMES_PA + 256 * i;
	struct uk_dentry *dentry = uk_at(uk, pa);

	dentry->d_hash.pprev = UK_KVA(UK_NAMES_PA);
	dentry->d_parent = parent_kva;
	dentry->d_name.len = (uint32_t)strlen(name);
	dentry->d_name.name = UK_KVA(name_pa);
	memcpy(uk_at(uk, name_pa), name, strlen(name));
	return UK_KVA(pa);
}

static inline void uk_put_mount(struct uk *uk, uint64_t pa, uint64_t parent_kva,
				uint64_t place_kva, uint64_t root_kva)
{
	*(struct uk_mount *)uk_at(uk, pa) = (struct uk_mount){
		.mnt_parent = parent_kva, .mnt_mountpoint = place_kva, .mnt = { root_kva },
	};
}

/* UK_PATH: /usr is a mount, of a file system that has "bin/prog". */
static inline void uk_put_path(struct uk *uk)
{
	uint64_t root_kva = uk_put_dentry(uk, 4, "/", UK_KVA(UK_DENTRY_PA + 64 * 4));
	uint64_t place_kva = uk_put_dentry(uk, 3, "usr", root_kva);
	uint64_t top_kva = uk_put_dentry(uk, 2, "/", UK_KVA(UK_DENTRY_PA + 64 * 2));
	uint64_t bin_kva = uk_put_dentry(uk, 1, "bin", top_kva);

	uk_put_mount(uk, UK_MOUNT_PA, UK_KVA(UK_ROOTMOUNT_PA), place_kva, top_kva);
	uk_put_mount(uk, UK_ROOTMOUNT_PA, UK_KVA(UK_ROOTMOUNT_PA), 0, root_kva);
	*(struct uk_file *)uk_at(uk, UK_FILE_PA) = (struct uk_file){
		.f_path = { UK_KVA(UK_MOUNT_PA) + offsetof(struct uk_mount, mnt),
			    uk_put_dentry(uk, 0, "prog", bin_kva) },
		.f_inode = UK_KVA(UK_INODE_PA),
	};
	*(struct uk_inode *)uk_at(uk, UK_INODE_PA) = (struct uk_inode){
		.i_size = UK_SIZE_BYTES, .i_mtime_sec = UK_MTIME_S,
	};
}

/**
 * struct uk_elf - an ELF file of one page: a build-id, one segment, one function "work"
 *	at offset 0x800, 0x100 bytes long
 */
struct uk_elf {
	Elf64_Ehdr header;
	Elf64_Phdr segments[2];
	struct { Elf64_Nhdr header; char name[4]; char build_id[8]; } note;
	Elf64_Shdr sections[5];
	Elf64_Sym symbols[2];
	char names[16];
};

static inline void uk_put_elf(void *page, uint32_t symbols_type)
{
	struct uk_elf elf = {
		.header = { .e_ident = ELFMAG "\2\1\1", .e_type = ET_DYN, .e_machine = EM_X86_64,
			    .e_version = 1, .e_phoff = offsetof(struct uk_elf, segments),
			    .e_shoff = offsetof(struct uk_elf, sections),
			    .e_ehsize = sizeof(Elf64_Ehdr), .e_phentsize = sizeof(Elf64_Phdr),
			    .e_phnum = 2, .e_shentsize = sizeof(Elf64_Shdr), .e_shnum = 5 },
		.segments = { { .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_vaddr = 0x10000,
				.p_filesz = 4096, .p_memsz = 4096, .p_align = 4096 },
			      { .p_type = PT_NOTE, .p_offset = offsetof(struct uk_elf, note),
				.p_filesz = 24, .p_memsz = 24, .p_align = 4 } },
		.note = { { 4, 8, NT_GNU_BUILD_ID }, "GNU", "" },
		.sections = { { .sh_type = SHT_NULL },
			      { .sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
				.sh_addr = 0x10800, .sh_offset = 0x800, .sh_size = 0x800 },
			      { .sh_type = symbols_type, .sh_link = 3,
				.sh_offset = offsetof(struct uk_elf, symbols),
				.sh_size = 2 * sizeof(Elf64_Sym),
				.sh_entsize = sizeof(Elf64_Sym), .sh_addralign = 8 },
			      { .sh_type = SHT_STRTAB, .sh_size = 16,
				.sh_offset = offsetof(struct uk_elf, names) },
			      { .sh_type = SHT_NOTE, .sh_flags = SHF_ALLOC, .sh_size = 24,
				.sh_offset = offsetof(struct uk_elf, note),
				.sh_addralign = 4 } },
		.symbols = { { 0 }, { .st_name = 1, .st_shndx = 1, .st_value = 0x10800,
				      .st_size = 0x100,
				      .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC) } },
		.names = "\0work",
	};

	memcpy(elf.note.build_id, UK_BUILD_ID, sizeof(elf.note.build_id));
	memset(page, 0, BTSREC_PAGE_BYTES);
	memcpy(page, &elf, sizeof(elf));
}

static inline void uk_put_files(struct uk *uk)
{
	struct uk_vdso *vdso = uk_at(uk, UK_VDSO_PA);

	uk_put_path(uk);
	uk_put_elf(uk_at(uk, UK_HEAD_PA), SHT_SYMTAB);
	uk_put_elf(uk_at(uk, UK_VDSO_ELF_PA), SHT_DYNSYM);
	*vdso = (struct uk_vdso){ UK_KVA(UK_VDSO_ELF_PA), BTSREC_PAGE_BYTES };
}

/* --- BTF ---------------------------------------------------------------- */

/* A struct of one or two members; more: btf__add_field(). */
static inline int uk_btf_struct(struct btf *btf, const char *name, size_t nr_bytes)
{
	return btf__add_struct(btf, name, (uint32_t)nr_bytes);
}

#define UK_STRUCT(btf, name, type)	uk_btf_struct(btf, name, sizeof(struct type))
#define UK_FIELD(btf, type, member, id)						\
	btf__add_field(btf, #member, id, 8 * (uint32_t)offsetof(struct type, member), 0)

struct uk_ids { int u8, u32, u64, list; };

static inline void uk_btf_tasks(struct btf *btf, const struct uk_ids *ids)
{
	int comm = btf__add_array(btf, ids->u32, ids->u8, BTSREC_COMM_BYTES), info, thread, sched;

	info = UK_STRUCT(btf, "thread_info", uk_thread_info);
	UK_FIELD(btf, uk_thread_info, cpu, ids->u32);
	thread = UK_STRUCT(btf, "thread_struct", uk_thread);
	UK_FIELD(btf, uk_thread, sp, ids->u64);
	sched = UK_STRUCT(btf, "sched_info", uk_sched_info);
	UK_FIELD(btf, uk_sched_info, last_arrival, ids->u64);
	UK_STRUCT(btf, "signal_struct", uk_signal);
	UK_FIELD(btf, uk_signal, thread_head, ids->list);
	UK_FIELD(btf, uk_signal, group_exit_code, ids->u32);
	UK_STRUCT(btf, "task_struct", uk_task);
	UK_FIELD(btf, uk_task, tasks, ids->list);
	UK_FIELD(btf, uk_task, mm, ids->u64);
	UK_FIELD(btf, uk_task, pid, ids->u32);
	UK_FIELD(btf, uk_task, tgid, ids->u32);
	UK_FIELD(btf, uk_task, signal, ids->u64);
	UK_FIELD(btf, uk_task, thread_node, ids->list);
	UK_FIELD(btf, uk_task, thread_info, info);
	UK_FIELD(btf, uk_task, stack, ids->u64);
	UK_FIELD(btf, uk_task, comm, comm);
	UK_FIELD(btf, uk_task, thread, thread);
	UK_FIELD(btf, uk_task, __state, ids->u32);
	UK_FIELD(btf, uk_task, sched_info, sched);
	UK_STRUCT(btf, "mutex", uk_mutex);
	UK_FIELD(btf, uk_mutex, owner, ids->u64);
	UK_FIELD(btf, uk_mutex, wait_list, ids->list);
	UK_STRUCT(btf, "mutex_waiter", uk_waiter);
	UK_FIELD(btf, uk_waiter, list, ids->list);
	UK_FIELD(btf, uk_waiter, task, ids->u64);
}

/* As in the kernel, what mm_struct has is in a struct without a name. */
static inline void uk_btf_mm(struct btf *btf, const struct uk_ids *ids)
{
	int tree = UK_STRUCT(btf, "maple_tree", uk_maple), context, inner;

	UK_FIELD(btf, uk_maple, ma_root, ids->u64);
	context = UK_STRUCT(btf, "", uk_context);
	UK_FIELD(btf, uk_context, vdso_image, ids->u64);
	UK_FIELD(btf, uk_context, vdso, ids->u64);
	context = btf__add_typedef(btf, "mm_context_t", context);
	inner = UK_STRUCT(btf, "", uk_mm);
	UK_FIELD(btf, uk_mm, mm_mt, tree);
	UK_FIELD(btf, uk_mm, pgd, ids->u64);
	UK_FIELD(btf, uk_mm, start_brk, ids->u64);
	UK_FIELD(btf, uk_mm, brk, ids->u64);
	UK_FIELD(btf, uk_mm, start_stack, ids->u64);
	UK_FIELD(btf, uk_mm, context, context);
	UK_STRUCT(btf, "mm_struct", uk_mm);
	btf__add_field(btf, "", inner, 0, 0);
	UK_STRUCT(btf, "vdso_image", uk_vdso);
	UK_FIELD(btf, uk_vdso, data, ids->u64);
	UK_FIELD(btf, uk_vdso, size, ids->u64);
	UK_STRUCT(btf, "vm_area_struct", uk_vma);
	UK_FIELD(btf, uk_vma, vm_start, ids->u64);
	UK_FIELD(btf, uk_vma, vm_end, ids->u64);
	UK_FIELD(btf, uk_vma, vm_mm, ids->u64);
	UK_FIELD(btf, uk_vma, vm_pgoff, ids->u64);
	UK_FIELD(btf, uk_vma, vm_file, ids->u64);
}

static inline void uk_btf_nodes(struct btf *btf, const struct uk_ids *ids)
{
	int meta = UK_STRUCT(btf, "maple_metadata", uk_meta), arrays[4];
	static const uint32_t nr[] = { 15, 16, 9, 10 };

	UK_FIELD(btf, uk_meta, end, ids->u8);
	for (unsigned int i = 0; i < 4; i++)
		arrays[i] = btf__add_array(btf, ids->u32, ids->u64, nr[i]);
	UK_STRUCT(btf, "maple_range_64", uk_range);
	UK_FIELD(btf, uk_range, pivot, arrays[0]);
	UK_FIELD(btf, uk_range, slot, arrays[1]);
	UK_FIELD(btf, uk_range, meta, meta);
	UK_STRUCT(btf, "maple_arange_64", uk_arange);
	UK_FIELD(btf, uk_arange, pivot, arrays[2]);
	UK_FIELD(btf, uk_arange, slot, arrays[3]);
	UK_FIELD(btf, uk_arange, meta, meta);
}

static inline void uk_btf_names(struct btf *btf, const struct uk_ids *ids)
{
	int hash = UK_STRUCT(btf, "hlist_bl_node", uk_hash), name, path, mnt;

	UK_FIELD(btf, uk_hash, pprev, ids->u64);
	name = UK_STRUCT(btf, "qstr", uk_qstr);
	UK_FIELD(btf, uk_qstr, len, ids->u32);
	UK_FIELD(btf, uk_qstr, name, ids->u64);
	path = UK_STRUCT(btf, "path", uk_path);
	UK_FIELD(btf, uk_path, mnt, ids->u64);
	UK_FIELD(btf, uk_path, dentry, ids->u64);
	mnt = UK_STRUCT(btf, "vfsmount", uk_vfsmount);
	UK_FIELD(btf, uk_vfsmount, mnt_root, ids->u64);
	UK_STRUCT(btf, "dentry", uk_dentry);
	UK_FIELD(btf, uk_dentry, d_hash, hash);
	UK_FIELD(btf, uk_dentry, d_parent, ids->u64);
	UK_FIELD(btf, uk_dentry, d_name, name);
	UK_STRUCT(btf, "file", uk_file);
	UK_FIELD(btf, uk_file, f_path, path);
	UK_FIELD(btf, uk_file, f_inode, ids->u64);
	UK_STRUCT(btf, "mount", uk_mount);
	UK_FIELD(btf, uk_mount, mnt_parent, ids->u64);
	UK_FIELD(btf, uk_mount, mnt_mountpoint, ids->u64);
	UK_FIELD(btf, uk_mount, mnt, mnt);
	UK_STRUCT(btf, "inode", uk_inode);
	UK_FIELD(btf, uk_inode, i_size, ids->u64);
}

/* Writes the BTF to @ret, of @max_bytes; @mtime: what the kernel calls i_mtime_sec. */
static inline size_t uk_btf(void *ret, size_t max_bytes, const char *mtime)
{
	struct btf *btf = btf__new_empty();
	struct uk_ids ids = { .u8 = btf__add_int(btf, "u8", 1, 0),
			      .u32 = btf__add_int(btf, "u32", 4, 0),
			      .u64 = btf__add_int(btf, "u64", 8, 0) };
	const void *bytes;
	uint32_t nr_bytes;

	ids.list = UK_STRUCT(btf, "list_head", uk_list);
	UK_FIELD(btf, uk_list, next, ids.u64);
	uk_btf_tasks(btf, &ids);
	uk_btf_mm(btf, &ids);
	uk_btf_nodes(btf, &ids);
	uk_btf_names(btf, &ids);
	btf__add_field(btf, mtime, ids.u64, 8 * offsetof(struct uk_inode, i_mtime_sec), 0);
	bytes = btf__raw_data(btf, &nr_bytes);
	if (!bytes || nr_bytes > max_bytes)
		abort();
	memcpy(ret, bytes, nr_bytes);
	btf__free(btf);
	return nr_bytes;
}

/* --- All of it ---------------------------------------------------------- */

static inline void uk_init(struct uk *uk)
{
	memset(uk, 0, sizeof(*uk));
	uk_put_tasks(uk);
	uk_put_mm(uk);
	uk_put_tables(uk);
	uk_put_files(uk);
	uk->btf_bytes = uk_btf(uk_at(uk, UK_BTF_PA), UK_BYTES - UK_BTF_PA, "i_mtime_sec");
	uk->image = (struct btsrec_image){ .read_pa = uk_read, .max_pa = UK_BYTES, .arg = uk };
	walk_init(&uk->walk, &uk->image, false);
	uk->kread = (struct kread){ .image = &uk->image, .walk = &uk->walk };
}

#endif /* BTSREC_TESTS_USERKERNEL_H */

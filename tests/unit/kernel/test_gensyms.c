// SPDX-License-Identifier: GPL-2.0-or-later
#include "btffix.h"
#include "check_btsrec.h"
#include "failing_alloc.h"
#include "kernel/gensyms.h"
#include "userkernel.h"

/* Lists and their nodes, in pages of the small kernel that nobody else looks at here. */
#define BPF_PA		UK_NAMES_PA
#define FTRACE_PA	(UK_NAMES_PA + 0x10)
#define CACHE_PA	(UK_NAMES_PA + 0x20)
#define NODE_PA(i)	(UK_NAMES_PA + 0x100 + 0x100 * (i))
#define CODE		0xffffffffc0400000ULL

struct bpf_ksym { uint64_t start, end; char name[16]; struct uk_list lnode; };
struct ftrace_ops { uint64_t func; struct uk_list list; uint64_t trampoline, trampoline_size; };
struct insn_cache { uint64_t mutex; struct uk_list pages; };
struct insn_page { struct uk_list list; uint64_t insns; };

static struct uk uk;
static struct types *types;
static struct gensyms syms;
static struct gensyms_source source;

static struct types *make_types(void)
{
	struct btf *btf = btf__new_empty();
	int u64 = btf__add_int(btf, "long", 8, 0), byte = btf__add_int(btf, "char", 1, 0);
	int name = btf__add_array(btf, u64, byte, 16), list = uk_btf_struct(btf, "list_head", 16);

	btf__add_field(btf, "next", u64, 0, 0);
	btf__add_field(btf, "prev", u64, 64, 0);
	UK_STRUCT(btf, "bpf_ksym", bpf_ksym);
	UK_FIELD(btf, bpf_ksym, start, u64);
	UK_FIELD(btf, bpf_ksym, end, u64);
	UK_FIELD(btf, bpf_ksym, name, name);
	UK_FIELD(btf, bpf_ksym, lnode, list);
	UK_STRUCT(btf, "ftrace_ops", ftrace_ops);
	UK_FIELD(btf, ftrace_ops, func, u64);
	UK_FIELD(btf, ftrace_ops, list, list);
	UK_FIELD(btf, ftrace_ops, trampoline, u64);
	UK_FIELD(btf, ftrace_ops, trampoline_size, u64);
	UK_STRUCT(btf, "kprobe_insn_cache", insn_cache);
	UK_FIELD(btf, insn_cache, pages, list);
	UK_STRUCT(btf, "kprobe_insn_page", insn_page);
	UK_FIELD(btf, insn_page, list, list);
	UK_FIELD(btf, insn_page, insns, u64);
	return types_of(btf);
}

static void link_node(uint64_t head_pa, uint64_t node_pa)
{
	*(uint64_t *)uk_at(&uk, node_pa) = *(uint64_t *)uk_at(&uk, head_pa);
	*(uint64_t *)uk_at(&uk, head_pa) = UK_KVA(node_pa);
}

static void put_bpf(unsigned int i, const char *name, uint64_t start, uint64_t end)
{
	struct bpf_ksym *ksym = uk_at(&uk, NODE_PA(i));

	ksym->start = start;
	ksym->end = end;
	memcpy(ksym->name, name, strnlen(name, sizeof(ksym->name)));
	link_node(BPF_PA, NODE_PA(i) + offsetof(struct bpf_ksym, lnode));
}

/* Two programs, a trampoline and a page of kprobes. */
static void setup(void)
{
	uint64_t pages_pa = CACHE_PA + offsetof(struct insn_cache, pages);
	struct ftrace_ops *ops;

	uk_init(&uk);
	memset(uk_at(&uk, UK_NAMES_PA), 0, BTSREC_PAGE_BYTES);
	*(uint64_t *)uk_at(&uk, BPF_PA) = UK_KVA(BPF_PA);
	*(uint64_t *)uk_at(&uk, FTRACE_PA) = UK_KVA(FTRACE_PA);
	*(uint64_t *)uk_at(&uk, pages_pa) = UK_KVA(pages_pa);
	put_bpf(0, "bpf_prog_b", CODE + 0x2000, CODE + 0x2100);
	put_bpf(1, "bpf_prog_a", CODE + 0x1000, CODE + 0x1080);
	ops = uk_at(&uk, NODE_PA(2));
	ops->trampoline = CODE + 0x4000;
	ops->trampoline_size = 0x123;
	link_node(FTRACE_PA, NODE_PA(2) + offsetof(struct ftrace_ops, list));
	((struct insn_page *)uk_at(&uk, NODE_PA(3)))->insns = CODE;
	link_node(pages_pa, NODE_PA(3) + offsetof(struct insn_page, list));
	types = make_types();
	source = (struct gensyms_source){
		.kread = &uk.kread,
		.types = types,
		.bpf_kallsyms_kva = UK_KVA(BPF_PA),
		.ftrace_ops_trampoline_list_kva = UK_KVA(FTRACE_PA),
		.kprobe_insn_slots_kva = UK_KVA(CACHE_PA),
	};
}

static void teardown(void)
{
	gensyms_fini(&syms);
	types_free(types);
}

/* @name: NULL: none. */
static void expect(uint64_t va, const char *name, const char *module)
{
	const struct gensym *sym = gensyms_find(&syms, va);

	if (!name) {
		ck_assert_ptr_null(sym);
		return;
	}
	ck_assert_ptr_nonnull(sym);
	ck_assert_str_eq(sym->name, name);
	ck_assert_str_eq(sym->module, module);
}

START_TEST(each_kind)
{
	setup();
	gensyms_read(&source, &syms);
	ck_assert_uint_eq(syms.nr, 4);
	expect(CODE - 1, NULL, NULL);
	expect(CODE, "kprobe_insn_page", "__builtin__kprobes");
	expect(CODE + 0xfff, "kprobe_insn_page", "__builtin__kprobes");
	expect(CODE + 0x1000, "bpf_prog_a", "bpf");
	expect(CODE + 0x107f, "bpf_prog_a", "bpf");
	expect(CODE + 0x1080, NULL, NULL);
	expect(CODE + 0x2000, "bpf_prog_b", "bpf");
	expect(CODE + 0x4122, "ftrace_trampoline", "__builtin__ftrace");
	expect(CODE + 0x4123, NULL, NULL);
	expect(UINT64_MAX, NULL, NULL);
	teardown();
}
END_TEST

/* A name without an end and with odd bytes; code of no size; nothing there; a loop. */
START_TEST(hostile_lists)
{
	setup();
	put_bpf(4, "0123456789\"\n\xff" "abc", CODE + 0x5000, CODE + 0x5001);
	put_bpf(5, "empty", CODE + 0x6000, CODE + 0x6000);
	put_bpf(6, "", CODE + 0x7000, CODE + 0x7001);
	gensyms_read(&source, &syms);
	ck_assert_uint_eq(syms.nr, 5);
	expect(CODE + 0x5000, "0123456789\\\"\\x0a\\xffabc", "bpf");
	expect(CODE + 0x6000, NULL, NULL);
	expect(CODE + 0x7000, NULL, NULL);
	gensyms_fini(&syms);

	*(uint64_t *)uk_at(&uk, NODE_PA(0) + offsetof(struct bpf_ksym, lnode)) =
		UK_KVA(NODE_PA(1) + offsetof(struct bpf_ksym, lnode));
	gensyms_read(&source, &syms);
	ck_assert_uint_ge(syms.nr, GENSYMS_MAX / 8);
	ck_assert_uint_le(syms.nr, GENSYMS_MAX + 2);
	gensyms_fini(&syms);

	*(uint64_t *)uk_at(&uk, BPF_PA) = 0x1234;
	gensyms_read(&source, &syms);
	ck_assert_uint_eq(syms.nr, 2);
	teardown();
}
END_TEST

START_TEST(nothing_known)
{
	setup();
	source.bpf_kallsyms_kva = 0;
	source.ftrace_ops_trampoline_list_kva = 0;
	source.kprobe_insn_slots_kva = 0;
	gensyms_read(&source, &syms);
	ck_assert_uint_eq(syms.nr, 0);
	expect(CODE, NULL, NULL);
	gensyms_fini(&syms);
	types_free(types);

	/* A kernel without these structs, or with others of these names. */
	setup();
	types_free(types);
	types = types_new(uk_at(&uk, UK_BTF_PA), uk.btf_bytes);
	source.types = types;
	gensyms_read(&source, &syms);
	ck_assert_uint_eq(syms.nr, 0);
	teardown();
}
END_TEST

START_TEST(out_of_memory)
{
	setup();
	failing_alloc_arm(1);
	gensyms_read(&source, &syms);
	ck_assert(failing_alloc_disarm());
	ck_assert_uint_lt(syms.nr, 4);
	teardown();
}
END_TEST

BTSREC_CK_MAIN("gensyms", each_kind, hostile_lists, nothing_known, out_of_memory)

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * User addresses in a kernel that lies: the input is a list of changes to a small one
 * (userkernel.h).  Its tasks, tree of mappings, names, BTF and vDSO are all in order before.  No
 * file of this machine is looked at.
 */
#include "../../decoder/src/symbols/user.h"
#include "../userkernel.h"
#include "fuzz_image.h"

/**
 * struct change - one change
 * @at: which byte, modulo what there is.
 * @kind: CHANGE_*
 */
struct change {
	uint32_t at;
	uint8_t kind;
	uint8_t pad[3];
	uint64_t value;
};

enum { CHANGE_BYTE, CHANGE_WORD, CHANGE_POINTER, CHANGE_NODE, CHANGE_HOLE, NR_CHANGES };

static void put_word(struct uk *uk, uint64_t at, uint64_t value)
{
	at &= ~7ULL;
	memcpy(uk->bytes + at, &value, sizeof(value));
}

static void apply(struct uk *uk, const struct change *change)
{
	uint64_t at = change->at % UK_BYTES, pa = change->value % UK_BYTES;

	switch (change->kind % NR_CHANGES) {
	case CHANGE_BYTE:
		uk->bytes[at] = (uint8_t)change->value;
		break;
	case CHANGE_WORD:
		put_word(uk, at, change->value);
		break;
	case CHANGE_POINTER:
		put_word(uk, at, UK_KVA(pa & ~7ULL));
		break;
	case CHANGE_NODE:
		put_word(uk, at, uk_node(pa & ~255ULL, 1 + change->value % 3));
		break;
	case CHANGE_HOLE:
		uk->hole_pa = at & ~4095ULL;
		break;
	}
}

static void ask(struct user *user)
{
	static const uint64_t vas[] = {
		0, UK_TEXT, UK_TEXT + 0x812, UK_DATA + 0xfff, UK_HEAP, UK_ANON, UK_VDSO,
		UK_VDSO + 0x812, UK_STACK, UK_STACK_TOP, UINT64_MAX,
	};
	const struct btsrec_side side = { .cr3 = UK_PGD_PA, .tgid = UK_TGID };
	struct symbol_name symbol = { 0 };
	uint8_t code[16];

	(void)user_missing(user);
	(void)user_space_lost(user, &side, 99);
	for (size_t i = 0; i < sizeof(vas) / sizeof(vas[0]); i++) {
		if (user_find(user, UK_PGD_PA, vas[i], i % 2, &symbol) == SYMBOL_NAMED)
			(void)memchr(symbol.name, '\n', symbol.name_bytes);
		(void)user_code(user, UK_PGD_PA, vas[i], code, sizeof(code));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t nr_bytes)
{
	static const struct btsrec_root root = { .nr_exec_pages = 1, .exec_pa = { UK_EXECS_PA } };
	static struct uk pristine, uk;
	struct layout_btf btf = { .kernel = &uk.kread, .begin_kva = UK_KVA(UK_BTF_PA) };
	struct user_source source = {
		.kread = &uk.kread, .root = &root, .btf = &btf,
		.init_task_kva = UK_KVA(UK_INIT_PA), .sysroot = "/nonexistent",
		.debuginfo = "/nonexistent",
	};
	struct change change;
	struct user *user;

	if (!pristine.btf_bytes)
		uk_init(&pristine);
	memcpy(uk.bytes, pristine.bytes, sizeof(uk.bytes));
	uk.hole_pa = 0;
	uk.image = (struct btsrec_image){ .read_pa = uk_read, .max_pa = UK_BYTES, .arg = &uk };
	uk.kread = (struct kread){ .image = &uk.image, .walk = &uk.walk };
	walk_init(&uk.walk, &uk.image, false);
	for (size_t i = 0; i + sizeof(change) <= nr_bytes; i += sizeof(change)) {
		memcpy(&change, bytes + i, sizeof(change));
		apply(&uk, &change);
	}
	btf.end_kva = btf.begin_kva + pristine.btf_bytes;
	user = user_new(&source);
	if (user)
		ask(user);
	user_free(user);
	layout_btf_fini(&btf);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/kmodule.h"

#define MODULE_STATE_COMING	1

/* Of any module that there is. */
#define MAX_BYTES		(16ULL << 20)

bool kmodule_member(const struct kread *kernel, const struct types *types, uint64_t kva,
		    const char *path, uint64_t *ret)
{
	struct types_field field;

	*ret = 0;
	return types_field(types, "module", path, &field) && field.size_bytes <= sizeof(*ret) &&
	       kread(kernel, kva + field.offset_bytes, ret, field.size_bytes);
}

bool kmodule_is_coming(const struct kread *kernel, uint64_t kva)
{
	uint32_t state;

	return kread(kernel, kva, &state, sizeof(state)) && state == MODULE_STATE_COMING;
}

bool kmodule_init(const struct kread *kernel, const struct types *types, uint64_t kva,
		  struct kmodule_init *ret)
{
	uint64_t nr_bytes;

	/* enum mod_mem_type: MOD_INIT_TEXT is 4. */
	if (!(kmodule_member(kernel, types, kva, "mem[4].base", &ret->begin_kva) &&
	      kmodule_member(kernel, types, kva, "mem[4].size", &nr_bytes)) &&
	    !(kmodule_member(kernel, types, kva, "init_layout.base", &ret->begin_kva) &&
	      kmodule_member(kernel, types, kva, "init_layout.text_size", &nr_bytes)))
		return false;
	if (!ret->begin_kva || !nr_bytes || nr_bytes > MAX_BYTES)
		return false;
	ret->end_kva = ret->begin_kva + nr_bytes;
	return ret->end_kva > ret->begin_kva &&
	       kmodule_member(kernel, types, kva, "kallsyms", &ret->kallsyms_kva);
}

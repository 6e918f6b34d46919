// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "qemu_api.h"
#include "vcpu.h"

#define CR4_LA57	(1ULL << 12)

static const char *const reg_names[NR_REGS] = {
	[REG_RAX] = "rax", [REG_RBX] = "rbx", [REG_RCX] = "rcx", [REG_RDX] = "rdx",
	[REG_RSI] = "rsi", [REG_RDI] = "rdi", [REG_RSP] = "rsp",
	[REG_RIP] = "rip", [REG_CS] = "cs", [REG_CR0] = "cr0",
	[REG_CR3] = "cr3", [REG_CR4] = "cr4", [REG_RBP] = "rbp",
	[REG_R8] = "r8", [REG_R9] = "r9", [REG_R10] = "r10", [REG_R11] = "r11",
	[REG_R12] = "r12", [REG_R13] = "r13", [REG_R14] = "r14", [REG_R15] = "r15",
};

static struct vcpu *vcpus[MAX_VCPUS];
static struct qemu_plugin_register *reg_handles[NR_REGS];
static __thread GByteArray *scratch;

static GByteArray *scratch_empty(void)
{
	if (!scratch)
		scratch = g_byte_array_new();
	return g_byte_array_set_size(scratch, 0);
}

/* The handles are the same for every vCPU of one model. */
static void find_registers(void)
{
	GArray *list = qemu_plugin_get_registers();
	unsigned int stride = g_array_get_element_size(list);

	for (unsigned int i = 0; i < list->len; i++) {
		const struct qemu_plugin_reg_descriptor *desc = (void *)(list->data + i * stride);

		for (unsigned int reg = 0; reg < NR_REGS; reg++)
			if (!strcmp(desc->name, reg_names[reg]))
				reg_handles[reg] = desc->handle;
	}
	g_array_free(list, 1);
	for (unsigned int reg = 0; reg < NR_REGS; reg++) {
		if (!reg_handles[reg]) {
			fprintf(stderr, "btsmodel: QEMU names no register %s\n", reg_names[reg]);
			exit(1);
		}
	}
}

static bool read_pte(void *arg, uint64_t pa, uint64_t *value_ret)
{
	(void)arg;
	return vcpu_read_pa(pa, value_ret, sizeof(*value_ret));
}

/**
 * vcpu_init() - first call for a vCPU, in its thread
 * @index: QEMU's number of it, which is the guest kernel's CPU number too
 */
void vcpu_init(unsigned int index)
{
	struct vcpu *cpu;

	if (index >= MAX_VCPUS || vcpus[index])
		return;
	find_registers();
	cpu = calloc(1, sizeof(*cpu));
	if (!cpu)
		abort();
	cpu->index = index;
	cpu->space.read = read_pte;
	cpu->log = log_open_cpu(index);
	vcpu_reset(cpu);
	__atomic_store_n(&vcpus[index], cpu, __ATOMIC_RELEASE);
}

/** vcpu_find() - state of a vCPU, or NULL if there is no such vCPU (yet) */
struct vcpu *vcpu_find(unsigned int index)
{
	return index < MAX_VCPUS ? __atomic_load_n(&vcpus[index], __ATOMIC_ACQUIRE) : NULL;
}

/** vcpu_get() - state of a vCPU that has called the plugin already */
struct vcpu *vcpu_get(unsigned int index)
{
	return vcpus[index];
}

/** vcpu_reset() - RESET clears IA32_DEBUGCTL and IA32_DS_AREA (SDM vol. 3A table 10-1) */
void vcpu_reset(struct vcpu *cpu)
{
	__atomic_store_n(&cpu->debugctl, 0, __ATOMIC_RELAXED);
	cpu->ds_area = 0;
	cpu->space_stale = true;
	cpu->ring_judged = false;
	cpu->in_kernel = false;
	memset(&cpu->perfmon, 0, sizeof(cpu->perfmon));
	cpu->lbr = (struct lbr){ .kind = cpu->lbr.kind };
}

/** vcpu_bts_on() - whether branches of a vCPU go to its BTS buffer; any thread */
bool vcpu_bts_on(const struct vcpu *cpu)
{
	uint64_t wanted = DEBUGCTL_TR | DEBUGCTL_BTS;

	return (__atomic_load_n(&cpu->debugctl, __ATOMIC_RELAXED) & wanted) == wanted;
}

/** vcpu_records() - whether branches of the calling vCPU go to its BTS buffer or its LBR */
bool vcpu_records(const struct vcpu *cpu)
{
	return vcpu_bts_on(cpu) || lbr_is_on(&cpu->lbr, cpu->debugctl & DEBUGCTL_LBR);
}

/** vcpu_reg() - a register of the calling vCPU, zero-extended */
uint64_t vcpu_reg(enum vcpu_reg reg)
{
	GByteArray *buf = scratch_empty();
	uint64_t value = 0;

	if (qemu_plugin_read_register(reg_handles[reg], buf))
		memcpy(&value, buf->data, buf->len < sizeof(value) ? buf->len : sizeof(value));
	return value;
}

/** vcpu_general_reg() - by its number in an encoding: RAX, RCX, RDX, RBX, RSP, RBP ... R15 */
uint64_t vcpu_general_reg(unsigned int number)
{
	static const enum vcpu_reg regs[] = {
		REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
		REG_R8, REG_R9, REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15,
	};

	return vcpu_reg(regs[number]);
}

/** vcpu_set_reg() - write a 64-bit register of the calling vCPU */
void vcpu_set_reg(enum vcpu_reg reg, uint64_t value)
{
	GByteArray *buf = g_byte_array_set_size(scratch_empty(), sizeof(value));

	memcpy(buf->data, &value, sizeof(value));
	qemu_plugin_write_register(reg_handles[reg], buf);
}

/** vcpu_cpl() - current privilege level: the RPL of CS outside real mode */
unsigned int vcpu_cpl(void)
{
	return vcpu_reg(REG_CS) & 3;
}

/** vcpu_read_pa() - read physical memory of the guest */
bool vcpu_read_pa(uint64_t pa, void *dest, unsigned int nr_bytes)
{
	GByteArray *buf = scratch_empty();

	if (qemu_plugin_read_memory_hwaddr(pa, buf, nr_bytes) != QEMU_PLUGIN_HWADDR_OK)
		return false;
	memcpy(dest, buf->data, nr_bytes);
	return true;
}

/** vcpu_write_pa() - write physical memory of the guest */
bool vcpu_write_pa(uint64_t pa, const void *src, unsigned int nr_bytes)
{
	GByteArray *buf = g_byte_array_set_size(scratch_empty(), nr_bytes);

	memcpy(buf->data, src, nr_bytes);
	return qemu_plugin_write_memory_hwaddr(pa, buf) == QEMU_PLUGIN_HWADDR_OK;
}

/** vcpu_read_code() - read guest memory for a message; returns the bytes that were read */
unsigned int vcpu_read_code(uint64_t addr, uint8_t *dest, unsigned int nr_bytes)
{
	for (; nr_bytes; nr_bytes--) {
		GByteArray *buf = scratch_empty();

		if (qemu_plugin_read_memory_vaddr(addr, buf, nr_bytes)) {
			memcpy(dest, buf->data, nr_bytes);
			break;
		}
	}
	return nr_bytes;
}

/**
 * vcpu_translate_store() - translate through the page tables that are current now
 *
 * See walk_store() for @cache and the result.  The walk is ours and not QEMU's debug translation.
 * That one does not distinguish writable from read-only, nor a failing walk from a stale TLB.
 */
bool vcpu_translate_store(struct vcpu *cpu, uint64_t addr, struct walk_cache *cache,
			  uint64_t *pa_ret)
{
	if (cpu->space_stale) {
		cpu->space.cr3 = vcpu_reg(REG_CR3);
		cpu->space.la57 = vcpu_reg(REG_CR4) & CR4_LA57;
		cpu->ds_walk.valid = false;
		cpu->ring_walk.valid = false;
		cpu->space_stale = false;
	}
	return walk_store(&cpu->space, addr, cache, pa_ret);
}

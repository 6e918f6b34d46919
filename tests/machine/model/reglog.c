// SPDX-License-Identifier: GPL-2.0-or-later
#include "reglog.h"
#include "log.h"
#include "vcpu.h"

static uint64_t capacity;	/* 0: no such log */
static struct model_regs_header *logs[MAX_VCPUS];

/** reglog_init() - keep the registers of the newest @wanted instructions of each vCPU; 0: none */
void reglog_init(uint64_t wanted)
{
	capacity = wanted;
}

/** reglog_open_cpu() - make the log of a vCPU, if there is to be one */
void reglog_open_cpu(unsigned int cpu)
{
	struct model_regs_header *log;

	if (!capacity || logs[cpu])
		return;
	log = log_map_cpu(cpu, "regs", MODEL_LOG_HEADER_BYTES +
			  capacity * sizeof(struct model_regs));
	log->magic = MODEL_REGS_MAGIC;
	log->version = MODEL_REGS_VERSION;
	log->cpu = cpu;
	log->capacity = capacity;
	logs[cpu] = log;
}

/* The address is not that of the register interface, which is stale inside a block. */
static void on_insn(unsigned int index, void *udata)
{
	struct vcpu *cpu = vcpu_get(index);
	struct model_regs_header *log = logs[index];
	struct model_regs *regs;

	if (!log || !vcpu_bts_on(cpu))
		return;
	regs = (struct model_regs *)((char *)log + MODEL_LOG_HEADER_BYTES) +
	       log->total % log->capacity;
	regs->ip = cpu->block_rip + (uint64_t)(uintptr_t)udata;
	regs->nr_records = cpu->log->total;
	for (unsigned int reg = 0; reg < MODEL_NR_REGS; reg++)
		regs->reg[reg] = vcpu_general_reg(reg);
	__atomic_store_n(&log->total, log->total + 1, __ATOMIC_RELEASE);
}

/** reglog_watch() - as insnlog_watch(), with the registers before the instruction */
void reglog_watch(struct qemu_plugin_insn *insn, uint64_t offset, qemu_plugin_u64 active)
{
	if (capacity)
		qemu_plugin_register_vcpu_insn_exec_cond_cb(insn, on_insn, QEMU_PLUGIN_CB_R_REGS,
							    QEMU_PLUGIN_COND_NE, active, 0,
							    (void *)(uintptr_t)offset);
}

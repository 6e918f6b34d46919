// SPDX-License-Identifier: GPL-2.0-or-later
#include <stddef.h>

#include "insnlog.h"
#include "log.h"
#include "vcpu.h"

static uint64_t capacity;	/* 0: no such log */
static struct model_insns_header *logs[MAX_VCPUS];

/** insnlog_init() - keep the newest @wanted instructions of each vCPU; 0: none */
void insnlog_init(uint64_t wanted)
{
	capacity = wanted;
}

/** insnlog_open_cpu() - make the log of a vCPU, if there is to be one */
void insnlog_open_cpu(unsigned int cpu)
{
	struct model_insns_header *log;

	if (!capacity || logs[cpu])
		return;
	log = log_map_cpu(cpu, "insns", MODEL_LOG_HEADER_BYTES +
			  capacity * sizeof(struct model_insn));
	log->magic = MODEL_INSNS_MAGIC;
	log->version = MODEL_INSNS_VERSION;
	log->cpu = cpu;
	log->capacity = capacity;
	logs[cpu] = log;
}

/* The block's start was noted when it was entered, so no register is read here. */
static void on_insn(unsigned int index, void *udata)
{
	struct vcpu *cpu = vcpu_get(index);
	struct model_insns_header *log = logs[index];
	struct model_insn *ring;

	if (!log || !vcpu_records(cpu))
		return;
	ring = (void *)((char *)log + MODEL_LOG_HEADER_BYTES);
	ring[log->total % log->capacity] = (struct model_insn){
		.ip = cpu->block_rip + (uint64_t)(uintptr_t)udata,
		.nr_records = cpu->log->total,
	};
	__atomic_store_n(&log->total, log->total + 1, __ATOMIC_RELEASE);
}

/**
 * insnlog_watch() - log an instruction that is being translated whenever it is begun
 * @insn: QEMU's handle
 * @offset: from the start of its block
 * @active: not zero when blocks call the model
 *
 * To be called before anything else watches the instruction: a WRMSR that switches BTS
 * off still ran with BTS on.
 */
void insnlog_watch(struct qemu_plugin_insn *insn, uint64_t offset, qemu_plugin_u64 active)
{
	if (capacity)
		qemu_plugin_register_vcpu_insn_exec_cond_cb(insn, on_insn, QEMU_PLUGIN_CB_NO_REGS,
							    QEMU_PLUGIN_COND_NE, active, 0,
							    (void *)(uintptr_t)offset);
}

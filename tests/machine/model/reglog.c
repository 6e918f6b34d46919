// SPDX-License-Identifier: GPL-2.0-or-later
#include "reglog.h"
#include "log.h"
#include "vcpu.h"

/** struct regs_log - one kind of log; @capacity 0: there is none */
struct regs_log {
	const char *suffix;
	uint64_t magic;
	uint32_t version;
	uint64_t capacity;
	struct model_regs_header *of[MAX_VCPUS];
};

static struct regs_log insns = { "regs", MODEL_REGS_MAGIC, MODEL_REGS_VERSION, 0, { 0 } };
static struct regs_log entries = { "entries", MODEL_ENTRIES_MAGIC, MODEL_ENTRIES_VERSION, 0,
				   { 0 } };

/** reglog_init() - keep the registers of the newest @wanted instructions of each vCPU; 0: none */
void reglog_init(uint64_t wanted)
{
	insns.capacity = wanted;
}

/** reglog_init_entries() - the same of what interrupts and exceptions have interrupted */
void reglog_init_entries(uint64_t wanted)
{
	entries.capacity = wanted;
}

/** reglog_wants_entries() - is reglog_entry() to be called? */
bool reglog_wants_entries(void)
{
	return entries.capacity;
}

static void open_log(struct regs_log *which, unsigned int cpu)
{
	struct model_regs_header *log;

	if (!which->capacity || which->of[cpu])
		return;
	log = log_map_cpu(cpu, which->suffix, MODEL_LOG_HEADER_BYTES +
			  which->capacity * sizeof(struct model_regs));
	log->magic = which->magic;
	log->version = which->version;
	log->cpu = cpu;
	log->capacity = which->capacity;
	which->of[cpu] = log;
}

/** reglog_open_cpu() - make the logs of a vCPU that there are to be */
void reglog_open_cpu(unsigned int cpu)
{
	open_log(&insns, cpu);
	open_log(&entries, cpu);
}

/* The registers are those of now. */
static struct model_regs *put(struct model_regs_header *log, const struct vcpu *cpu, uint64_t ip)
{
	struct model_regs *regs = (struct model_regs *)((char *)log + MODEL_LOG_HEADER_BYTES) +
				  log->total % log->capacity;

	regs->ip = ip;
	regs->nr_records = cpu->log->total;
	for (unsigned int reg = 0; reg < MODEL_NR_REGS; reg++)
		regs->reg[reg] = vcpu_general_reg(reg);
	return regs;
}

static void added(struct model_regs_header *log)
{
	__atomic_store_n(&log->total, log->total + 1, __ATOMIC_RELEASE);
}

/** reglog_entry() - a handler is about to run; @ip and @sp are of the interrupted code */
void reglog_entry(const struct vcpu *cpu, uint64_t ip, uint64_t sp)
{
	struct model_regs_header *log = entries.of[cpu->index];

	if (!log)
		return;
	put(log, cpu, ip)->reg[MODEL_REG_SP] = sp;
	added(log);
}

/* The address is not that of the register interface, which is stale inside a block. */
static void on_insn(unsigned int index, void *udata)
{
	struct vcpu *cpu = vcpu_get(index);
	struct model_regs_header *log = insns.of[index];

	if (!log || !vcpu_records(cpu))
		return;
	put(log, cpu, cpu->block_rip + (uint64_t)(uintptr_t)udata);
	added(log);
}

/** reglog_watch() - as insnlog_watch(), with the registers before the instruction */
void reglog_watch(struct qemu_plugin_insn *insn, uint64_t offset, qemu_plugin_u64 active)
{
	if (insns.capacity)
		qemu_plugin_register_vcpu_insn_exec_cond_cb(insn, on_insn, QEMU_PLUGIN_CB_R_REGS,
							    QEMU_PLUGIN_COND_NE, active, 0,
							    (void *)(uintptr_t)offset);
}

// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>
#include <string.h>

#include "control.h"
#include "log.h"
#include "msr.h"
#include "mutate.h"
#include "vcpu.h"

static void line(const struct vcpu *cpu, const char *what, uint64_t value)
{
	log_msr(true, "cpu=%u %s value=0x%llx records=%llu\n", cpu->index, what,
		(unsigned long long)value, (unsigned long long)cpu->log->total);
}

/* Where each CPU is at this moment; the caller first. */
static void mark(const struct vcpu *caller, uint64_t value)
{
	const struct vcpu *cpu;
	unsigned int i;

	line(caller, "MARK", value);
	for (i = 0; (cpu = vcpu_find(i)); i++) {
		if (cpu != caller)
			line(cpu, "AT_MARK", value);
	}
}

static void report(struct vcpu *cpu)
{
	struct footprint *footprint = &cpu->footprint;

	log_msr(true, "cpu=%u REPORT start=0x%llx end=0x%llx insns=%llu msr_writes=%llu"
		" branches=%llu records=%llu\n", cpu->index,
		(unsigned long long)footprint->start, (unsigned long long)footprint->end,
		(unsigned long long)footprint->nr_insns,
		(unsigned long long)footprint->nr_msr_writes,
		(unsigned long long)footprint->nr_records, (unsigned long long)cpu->log->total);
	footprint->nr_insns = 0;
	footprint->nr_msr_writes = 0;
	footprint->nr_records = 0;
}

static void watch_extent(struct vcpu *cpu, uint64_t entry)
{
	if (!entry)
		extents_clear(&cpu->extents);
	else if (!extents_add(&cpu->extents, entry))
		fprintf(stderr, "btsmodel: no more than %u functions are watched\n", MAX_EXTENTS);
	model_update_active(cpu);
}

/**
 * control_write() - the guest wrote a control MSR
 * @cpu: the calling vCPU; ranges and counters are its own
 * @ip: the WRMSR
 * @msr: number
 * @value: edx:eax
 *
 * Return: false if @msr is no control MSR.
 */
bool control_write(struct vcpu *cpu, uint64_t ip, uint32_t msr, uint64_t value)
{
	switch (msr) {
	case CONTROL_MARK:
		mark(cpu, value);
		return true;
	case CONTROL_RANGE_START:
		line(cpu, "RANGE_START", value);
		cpu->footprint.start = value;
		return true;
	case CONTROL_RANGE_END:
		line(cpu, "RANGE_END", value);
		cpu->footprint.end = value;
		model_update_active(cpu);
		return true;
	case CONTROL_REPORT:
		report(cpu);
		return true;
	case CONTROL_MUST_BE_OFF:
		line(cpu, "MUST_BE_OFF", value);
		rules_must_be_off(cpu, ip, 1);
		return true;
	case CONTROL_MAY_BE_ON:
		line(cpu, "MAY_BE_ON", value);
		rules_must_be_off(cpu, ip, 0);
		return true;
	case CONTROL_EXTENT:
		line(cpu, "EXTENT", value);
		watch_extent(cpu, value);
		return true;
	case CONTROL_MUTATE:
		line(cpu, "MUTATE", value);
		mutate_set(value);
		return true;
	}
	return false;
}

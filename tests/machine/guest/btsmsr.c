// SPDX-License-Identifier: GPL-2.0-only
/*
 * btsmsr: what the recorder must leave as it was, and a rude neighbour.
 *
 *   cat /sys/module/btsmsr/parameters/state	DEBUGCTL, IA32_DS_AREA and the BTS fields of
 *						the debug_store, a line for each CPU online
 *   echo CPU >/sys/module/btsmsr/parameters/off	switches BTS off there, unasked
 *   echo CPU >/sys/module/btsmsr/parameters/on	switches it on, as KVM does at a VM exit with
 *						what it found at the entry
 *   echo 1 >/sys/module/btsmsr/parameters/crash panics with BTS on on every CPU; none switches
 *   threads before
 */
#include <linux/atomic.h>
#include <linux/cpumask.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/smp.h>
#include <linux/sysfs.h>
#include <asm/cpu_entry_area.h>
#include <asm/intel_ds.h>
#include <asm/processor.h>

#include "guest.h"

struct state {
	u64 debugctl;
	u64 ds_area;
	u64 bts[4];	/* base, index, maximum, threshold */
};

static void read_state(void *arg)
{
	struct state *state = arg;

	state->debugctl = native_read_msr(MSR_IA32_DEBUGCTLMSR);
	state->ds_area = native_read_msr(MSR_IA32_DS_AREA);
	memcpy(state->bts, &get_cpu_entry_area(smp_processor_id())->cpu_debug_store,
	       sizeof(state->bts));
}

static int state_get(char *buffer, const struct kernel_param *param)
{
	unsigned int cpu;
	int bytes = 0;

	for_each_online_cpu(cpu) {
		struct state state;

		smp_call_function_single(cpu, read_state, &state, 1);
		bytes += sysfs_emit_at(buffer, bytes,
				       "cpu=%u debugctl=%llx ds_area=%llx bts=%llx,%llx,%llx,%llx\n",
				       cpu, state.debugctl, state.ds_area,
				       state.bts[0], state.bts[1], state.bts[2], state.bts[3]);
	}
	return bytes;
}

static const struct kernel_param_ops state_ops = { .get = state_get };

module_param_cb(state, &state_ops, NULL, 0444);
MODULE_PARM_DESC(state, "DEBUGCTL, IA32_DS_AREA and the BTS fields of each CPU");

#define BTS_BITS ((u64)(DEBUGCTLMSR_TR | DEBUGCTLMSR_BTS))

static void switch_off(void *unused)
{
	native_wrmsrl(MSR_IA32_DEBUGCTLMSR, native_read_msr(MSR_IA32_DEBUGCTLMSR) & ~BTS_BITS);
}

static void switch_on(void *unused)
{
	native_wrmsrl(MSR_IA32_DEBUGCTLMSR, native_read_msr(MSR_IA32_DEBUGCTLMSR) | BTS_BITS);
}

static int call_on(const char *value, smp_call_func_t function)
{
	unsigned int cpu;
	int err = kstrtouint(value, 0, &cpu);

	return err ?: smp_call_function_single(cpu, function, NULL, 1);
}

static int off_set(const char *value, const struct kernel_param *param)
{
	return call_on(value, switch_off);
}

static const struct kernel_param_ops off_ops = { .set = off_set };

module_param_cb(off, &off_ops, NULL, 0200);
MODULE_PARM_DESC(off, "switch BTS off on this CPU");

static int on_set(const char *value, const struct kernel_param *param)
{
	return call_on(value, switch_on);
}

static const struct kernel_param_ops on_ops = { .set = on_set };

module_param_cb(on, &on_ops, NULL, 0200);
MODULE_PARM_DESC(on, "switch BTS on on this CPU");

static atomic_t nr_on;

static void stay_on(void *unused)
{
	switch_on(NULL);
	atomic_inc(&nr_on);
	for (;;)
		cpu_relax();
}

static int crash_set(const char *value, const struct kernel_param *param)
{
	int nr_others = num_online_cpus() - 1;

	smp_call_function(stay_on, NULL, 0);
	while (atomic_read(&nr_on) < nr_others)
		cpu_relax();
	local_irq_disable();
	switch_on(NULL);
	panic("BTS is on");
}

static const struct kernel_param_ops crash_ops = { .set = crash_set };

module_param_cb(crash, &crash_ops, NULL, 0200);
MODULE_PARM_DESC(crash, "panic with BTS on on every CPU");

MODULE_DESCRIPTION("State of Branch Trace Store, and a way to switch it off and on");
MODULE_LICENSE("GPL");

// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: /dev/btsrec
 *
 * A write is one command, with or without a newline: "arm", "disarm",
 * "freeze", "mark TEXT", "hold", "release", "freeze_on LIST", "cpus LIST",
 * "ring_bytes LIST", "tasks LIST", "max_rate NUMBER", "on_trigger WORD", "taken",
 * "freeze TEXT" and "wait".
 * "freeze TEXT" is a request as that of a module, and there only if freeze_on= has "request".
 * "wait" sleeps until a freeze that freeze_on= names, or its copy.  "taken" gives the copy
 * back.  A read gives the state as
 * "key: value" lines.  A hold ends with the file that it was written to.  Opening
 * it takes CAP_SYS_ADMIN: the state holds kernel addresses.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/capability.h>
#include <linux/cpu.h>
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <asm/msr.h>
#include <asm/tsc.h>

#include <btsrec/freeze.h>

#include "btsrec_lbr.h"
#include "btsrec_limit.h"
#include "btsrec_trigger.h"

#define COMMAND_BYTES	(BTSREC_MAX_LIST_BYTES + 16)

/* One command, or one look at the state, at a time. */
DEFINE_MUTEX(btsrec_command_mutex);

static const char *const root_states[] = {
	[BTSREC_ROOT_LOADED] = "loaded",
	[BTSREC_ROOT_ARMED] = "armed",
	[BTSREC_ROOT_DISARMED] = "disarmed",
	[BTSREC_ROOT_FROZEN] = "frozen",
};

static const char *const cpu_states[] = {
	[BTSREC_CPU_NEVER] = "never",
	[BTSREC_CPU_ARMED] = "armed",
	[BTSREC_CPU_STOPPED] = "stopped",
	[BTSREC_CPU_FROZEN] = "frozen",
};

static const char *const modes[] = {
	[BTSREC_MODE_ALL] = "all",
	[BTSREC_MODE_KERNEL] = "kernel",
	[BTSREC_MODE_USER] = "user",
};

/* An order of reads in which a change between them makes it less. */
static u64 recorded_ms(const struct btsrec_cpu *page)
{
	u64 since_tsc = READ_ONCE(page->since_tsc), ticks = READ_ONCE(page->recorded_tsc);
	u64 end_tsc = READ_ONCE(page->state) == BTSREC_CPU_FROZEN ? page->freeze.tsc : rdtsc();

	if (since_tsc && end_tsc > since_tsc)
		ticks += end_tsc - since_tsc;
	return tsc_khz ? ticks / tsc_khz : 0;
}

static void show_cpu(struct seq_file *m, unsigned int cpu, const struct btsrec_cpu *page)
{
	u32 state = READ_ONCE(page->state);

	seq_printf(m, "cpu%u: %s annotations=%llu skipped=%llu foreign_stops=%llu", cpu,
		   cpu_states[state], READ_ONCE(page->annot_end), page->nr_annot_skipped,
		   page->nr_foreign_stops);
	seq_printf(m, " records=%llu recorded_ms=%llu ring_bytes=%llu",
		   READ_ONCE(page->recorded_bytes) / BTSREC_RECORD_BYTES, recorded_ms(page),
		   page->ring_bytes);
	if (state == BTSREC_CPU_STOPPED)
		seq_printf(m, " reason=%u", page->stop_reason);
	if (state == BTSREC_CPU_FROZEN)
		seq_printf(m, " reason=%u", page->freeze.reason);
	seq_putc(m, '\n');
}

static int dev_show(struct seq_file *m, void *unused)
{
	const struct btsrec_root *root = btsrec_root_page;
	unsigned int cpu;

	mutex_lock(&btsrec_command_mutex);
	seq_printf(m, "state: %s\n", root_states[READ_ONCE(root->state)]);
	seq_printf(m, "mode: %s\n", modes[root->mode]);
	seq_printf(m, "source: %s\n", btsrec_uses_lbr ? "lbr" : "bts");
	seq_printf(m, "last_branches: %u\n", btsrec_uses_lbr ? lbr_nr_entries() : 0);
	seq_printf(m, "root_pa: 0x%llx\n", root->self_pa);
	seq_printf(m, "ring_bytes: %llu\n", btsrec_size_of_others());
	btsrec_sizes_show(m);
	seq_printf(m, "generation: %llu\n", root->generation);
	seq_printf(m, "arms: %u\n", root->nr_arms);
	seq_printf(m, "modules: %u\n", root->nr_modules);
	seq_printf(m, "modules_lost: %u\n", root->nr_modules_lost);
	seq_printf(m, "execs: %llu\n", READ_ONCE(root->nr_execs));
	seq_printf(m, "freeze_reason: %u\n", READ_ONCE(root->freeze_reason));
	seq_printf(m, "freeze_trigger: %*pE\n",
		   (int)strnlen(root->freeze_trigger, sizeof(root->freeze_trigger)),
		   root->freeze_trigger);
	seq_printf(m, "late_triggers: %llu\n", READ_ONCE(root->nr_late_triggers));
	seq_printf(m, "freeze_on: %s\n", btsrec_triggers_list());
	btsrec_copy_show(m);
	btsrec_cpus_show(m);
	btsrec_limits_show(m);
	seq_printf(m, "held: %u\n", btsrec_is_held());
	btsrec_hook_show_missing(m);
	cpus_read_lock();	/* one that comes up may get a page and lose it again */
	for_each_possible_cpu(cpu) {
		const struct btsrec_cpu *page = per_cpu(btsrec_pcpu, cpu).page;

		if (page)
			show_cpu(m, cpu, page);
	}
	cpus_read_unlock();
	mutex_unlock(&btsrec_command_mutex);
	return 0;
}

/* What is changed by a word of its own, each by what changes the parameter of that name. */
static const struct {
	const char *verb;
	int (*set)(const char *value, const char *effect);
} settings[] = {
	{ "freeze_on", btsrec_set_freeze_on },
	{ "cpus", btsrec_set_cpus },
	{ "ring_bytes", btsrec_set_ring_bytes },
	{ "tasks", btsrec_set_tasks },
	{ "max_rate", btsrec_set_max_rate },
	{ "on_trigger", btsrec_set_on_trigger },
};

static int run_command(const struct file *file, char *text)
{
	char *argument = text;
	const char *verb = strsep(&argument, " ");
	size_t i;

	if (!strcmp(verb, "mark"))
		return argument && *argument ? btsrec_mark(argument) : -EINVAL;
	for (i = 0; i < ARRAY_SIZE(settings); i++) {
		if (!strcmp(verb, settings[i].verb))
			return argument ? settings[i].set(argument, "Not changed") : -EINVAL;
	}
	if (!strcmp(verb, "freeze") && argument && *argument)
		return btsrec_freeze_request(argument);
	if (argument)
		return -EINVAL;
	if (!strcmp(verb, "arm"))
		return btsrec_arm();
	if (!strcmp(verb, "disarm")) {
		btsrec_disarm();
		return 0;
	}
	if (!strcmp(verb, "taken"))
		return btsrec_copy_taken();
	if (!strcmp(verb, "hold"))
		return btsrec_hold(file);
	if (!strcmp(verb, "release")) {
		btsrec_release(file);
		return 0;
	}
	if (strcmp(verb, "freeze"))
		return -EINVAL;
	if (!btsrec_is_armed())
		return -ENXIO;
	btsrec_freeze_now();
	return 0;
}

static ssize_t dev_write(struct file *file, const char __user *buf, size_t bytes, loff_t *pos)
{
	char text[COMMAND_BYTES], *command;
	int err;

	if (bytes >= sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, buf, bytes))
		return -EFAULT;
	text[bytes] = '\0';
	command = strim(text);
	if (!strcmp(command, "wait"))
		return btsrec_trigger_wait() ?: bytes;
	mutex_lock(&btsrec_command_mutex);
	err = run_command(file, command);
	mutex_unlock(&btsrec_command_mutex);
	return err ?: bytes;
}

static int dev_open(struct inode *inode, struct file *file)
{
	if (!capable(CAP_SYS_ADMIN))
		return -EPERM;
	file->private_data = NULL;	/* misc_open() left the device there */
	return single_open(file, dev_show, NULL);
}

static int dev_release(struct inode *inode, struct file *file)
{
	mutex_lock(&btsrec_command_mutex);
	btsrec_release(file);
	mutex_unlock(&btsrec_command_mutex);
	return single_release(inode, file);
}

static const struct file_operations dev_fops = {
	.owner = THIS_MODULE,
	.open = dev_open,
	.read = seq_read,
	.write = dev_write,
	.llseek = seq_lseek,
	.release = dev_release,
};

static struct miscdevice dev = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = KBUILD_MODNAME,
	.fops = &dev_fops,
	.mode = 0600,
};

/**
 * btsrec_dev_register() - make /dev/btsrec
 *
 * Return: 0, or what misc_register() says, after a printed sentence.
 */
int btsrec_dev_register(void)
{
	int err = misc_register(&dev);

	if (err)
		pr_err("Not loaded: cannot make /dev/" KBUILD_MODNAME " (error %d); %s.\n",
		       err, btsrec_remedy(err, "try again"));
	return err;
}

/**
 * btsrec_dev_unregister() - take it away
 */
void btsrec_dev_unregister(void)
{
	misc_deregister(&dev);
}

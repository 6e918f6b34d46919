// SPDX-License-Identifier: GPL-2.0-only
/*
 * btsctl: the guest's hand on the BTS model of the emulated machine.
 *
 * Writes to /sys/kernel/btsctl/ become WRMSRs to the model's control MSRs, which
 * no processor has and which QEMU ignores (../model/control.h):
 *
 *   mark    NUMBER	a line in msr.log
 *   range   START END	count instructions, MSR writes and records of [START, END) on
 *			each CPU; "0 0" stops
 *   report  (anything)	each CPU's counters into msr.log, then zero
 *   extent  START	a line in extents.log for each call of the function at START, which must
 *			not switch stacks; 0: no more, of none
 *   mutate  NUMBER	be another processor (enum mutation); 0: the model as it is.  An address
 *			of the kernel says where it handles NMIs
 *   off     1 | 0	BTS must be off on all CPUs from now on | need not be
 */
#include <linux/cpumask.h>
#include <linux/kobject.h>
#include <linux/module.h>
#include <linux/smp.h>
#include <linux/sysfs.h>

#include "guest.h"

#define CONTROL_RANGE_START	0x42545301
#define CONTROL_RANGE_END	0x42545302
#define CONTROL_REPORT		0x42545303
#define CONTROL_MUST_BE_OFF	0x42545304
#define CONTROL_MAY_BE_ON	0x42545305
#define CONTROL_EXTENT		0x42545306
#define CONTROL_MUTATE		0x42545307

struct watched_range {
	u64 start;
	u64 end;
};

static void write_range(void *arg)
{
	const struct watched_range *range = arg;

	native_wrmsrl(CONTROL_RANGE_START, range->start);
	native_wrmsrl(CONTROL_RANGE_END, range->end);
}

static void write_report(void *arg)
{
	native_wrmsrl(CONTROL_REPORT, 0);
}

static ssize_t mark_store(struct kobject *kobj, struct kobj_attribute *attr, const char *buf,
			  size_t count)
{
	u64 value;
	int err = kstrtou64(buf, 0, &value);

	if (err)
		return err;
	native_wrmsrl(CONTROL_MARK, value);
	return count;
}

static ssize_t range_store(struct kobject *kobj, struct kobj_attribute *attr, const char *buf,
			   size_t count)
{
	struct watched_range range;

	if (sscanf(buf, "%lli %lli", &range.start, &range.end) != 2)
		return -EINVAL;
	on_each_cpu(write_range, &range, 1);
	return count;
}

static ssize_t report_store(struct kobject *kobj, struct kobj_attribute *attr, const char *buf,
			    size_t count)
{
	on_each_cpu(write_report, NULL, 1);
	return count;
}

static void write_extent(void *arg)
{
	native_wrmsrl(CONTROL_EXTENT, *(u64 *)arg);
}

static ssize_t extent_store(struct kobject *kobj, struct kobj_attribute *attr, const char *buf,
			    size_t count)
{
	u64 start;
	int err = kstrtou64(buf, 0, &start);

	if (err)
		return err;
	on_each_cpu(write_extent, &start, 1);
	return count;
}

static ssize_t mutate_store(struct kobject *kobj, struct kobj_attribute *attr, const char *buf,
			    size_t count)
{
	u64 number;
	int err = kstrtou64(buf, 0, &number);

	if (err)
		return err;
	native_wrmsrl(CONTROL_MUTATE, number);
	return count;
}

static ssize_t off_store(struct kobject *kobj, struct kobj_attribute *attr, const char *buf,
			 size_t count)
{
	bool must_be_off;
	int err = kstrtobool(buf, &must_be_off);

	if (err)
		return err;
	native_wrmsrl(must_be_off ? CONTROL_MUST_BE_OFF : CONTROL_MAY_BE_ON, 0);
	return count;
}

static struct kobj_attribute mark_attr = __ATTR_WO(mark);
static struct kobj_attribute range_attr = __ATTR_WO(range);
static struct kobj_attribute report_attr = __ATTR_WO(report);
static struct kobj_attribute extent_attr = __ATTR_WO(extent);
static struct kobj_attribute mutate_attr = __ATTR_WO(mutate);
static struct kobj_attribute off_attr = __ATTR_WO(off);

static struct attribute *btsctl_attrs[] = {
	&mark_attr.attr,
	&range_attr.attr,
	&report_attr.attr,
	&extent_attr.attr,
	&mutate_attr.attr,
	&off_attr.attr,
	NULL,
};
ATTRIBUTE_GROUPS(btsctl);

static struct kobject *btsctl_kobj;

static int __init btsctl_init(void)
{
	int err;

	btsctl_kobj = kobject_create_and_add("btsctl", kernel_kobj);
	if (!btsctl_kobj)
		return -ENOMEM;
	err = sysfs_create_groups(btsctl_kobj, btsctl_groups);
	if (err)
		kobject_put(btsctl_kobj);
	return err;
}

static void __exit btsctl_exit(void)
{
	kobject_put(btsctl_kobj);
}

module_init(btsctl_init);
module_exit(btsctl_exit);
MODULE_DESCRIPTION("Control channel to the emulated Branch Trace Store");
MODULE_LICENSE("GPL");

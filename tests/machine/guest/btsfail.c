// SPDX-License-Identifier: GPL-2.0-only
/*
 * btsfail: makes one call of the recorder into the kernel fail, and counts what the
 * recorder holds.
 *
 *   echo N >/sys/module/btsfail/parameters/nth		the Nth such call fails; 0: none
 *   cat /sys/module/btsfail/parameters/failed		its name, or "none"
 *   cat /sys/module/btsfail/parameters/held		what is allocated or registered, "none" if
 *							nothing is
 *
 *   echo N >/sys/module/btsfail/parameters/init_nth	on a kernel with fault injection: of the
 *							allocations of the module's init the Nth
 *							fails, see failnth.c
 *
 * The count begins when btsrec is loaded and when "nth" is written.  A call is one of the
 * recorder's own, made with a return address in its text; it fails without being made, which
 * optimised kprobes cannot do: debug.kprobes-optimization must be 0.
 */
#include <linux/atomic.h>
#include <linux/err.h>
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/string.h>
#include <linux/sysfs.h>
#include <linux/xarray.h>

#include "guest.h"

#define TARGET		"btsrec"
#define MAX_ACTIVE	64
#define FAIL_INT	((unsigned long)-ENOMEM)
#define FAIL_NULL	0UL

/* How a function names pages. */
enum by { BY_ANYTHING, BY_PAGE, BY_ADDRESS };

/**
 * struct call - a function that gives something to the recorder, or takes it back
 * @name: the function
 * @kind: what it gives or takes; of each kind as much must be taken as was given
 * @takes: it takes back what its first argument is, unless that is 0
 * @failure: what it returns when it gives nothing
 * @by: for pages, what it returns or takes
 * @fail: made to fail
 * @ret: counts
 */
struct call {
	const char *name;
	unsigned int kind;
	bool takes;
	unsigned long failure;
	enum by by;
	struct kprobe fail;
	struct kretprobe ret;
};

enum { PAGES, KVMALLOC, VMAP, PERF, NMI, FTRACE, TRACEPOINT, CPUHP, MISC, KPROBE, KRETPROBE,
       NOTIFIER, NR_KINDS };

static const char *const kind_names[NR_KINDS] = {
	"pages", "kvmalloc", "vmap", "perf-events", "nmi-handlers", "ftrace-ops", "tracepoint-probes",
	"cpuhp-states", "misc-devices", "kprobes", "kretprobes", "notifiers",
};

#define GIVES(function, kind, failure) { #function, kind, false, failure }
#define TAKES(function, kind) { #function, kind, true, 0 }
#define GIVES_PAGE(function, by) { #function, PAGES, false, FAIL_NULL, by }
#define TAKES_PAGE(function, by) { #function, PAGES, true, 0, by }

/* The kernels have different ones of them; what one does not have is left out. */
static struct call calls[] = {
	GIVES_PAGE(__alloc_pages, BY_PAGE),
	GIVES_PAGE(__alloc_pages_noprof, BY_PAGE),
	GIVES_PAGE(alloc_pages_noprof, BY_PAGE),
	GIVES_PAGE(get_zeroed_page, BY_ADDRESS),
	GIVES_PAGE(get_zeroed_page_noprof, BY_ADDRESS),
	TAKES_PAGE(free_pages, BY_ADDRESS),
	TAKES_PAGE(__free_pages, BY_PAGE),
	TAKES_PAGE(___free_pages, BY_PAGE),
	GIVES(kvmalloc_node, KVMALLOC, FAIL_NULL),
	GIVES(__kvmalloc_node_noprof, KVMALLOC, FAIL_NULL),
	TAKES(kvfree, KVMALLOC),
	GIVES(vmap, VMAP, FAIL_NULL),
	TAKES(vunmap, VMAP),
	GIVES(perf_event_create_kernel_counter, PERF, FAIL_INT),
	TAKES(perf_event_release_kernel, PERF),
	GIVES(__register_nmi_handler, NMI, FAIL_INT),
	TAKES(unregister_nmi_handler, NMI),
	GIVES(register_ftrace_function, FTRACE, FAIL_INT),
	TAKES(unregister_ftrace_function, FTRACE),
	GIVES(tracepoint_probe_register, TRACEPOINT, FAIL_INT),
	TAKES(tracepoint_probe_unregister, TRACEPOINT),
	GIVES(__cpuhp_setup_state, CPUHP, FAIL_INT),
	TAKES(__cpuhp_remove_state, CPUHP),
	GIVES(misc_register, MISC, FAIL_INT),
	TAKES(misc_deregister, MISC),
	GIVES(register_kprobe, KPROBE, FAIL_INT),
	TAKES(unregister_kprobe, KPROBE),
	GIVES(register_kretprobe, KRETPROBE, FAIL_INT),
	TAKES(unregister_kretprobe, KRETPROBE),
	GIVES(register_module_notifier, NOTIFIER, FAIL_INT),
	TAKES(unregister_module_notifier, NOTIFIER),
	GIVES(register_reboot_notifier, NOTIFIER, FAIL_INT),
	TAKES(unregister_reboot_notifier, NOTIFIER),
	GIVES(register_die_notifier, NOTIFIER, FAIL_INT),
	TAKES(unregister_die_notifier, NOTIFIER),
	GIVES(atomic_notifier_chain_register, NOTIFIER, FAIL_INT),
	TAKES(atomic_notifier_chain_unregister, NOTIFIER),
};

static const struct module *target;	/* NULL: not loaded */
static atomic_t nr_calls;
static int nth;
static const char *failed = "none";
static atomic_t held[NR_KINDS];

/*
 * Page frames, as the last one of all is freed by a jump at the end of the module's exit
 * function, which leaves no return address.
 */
static DEFINE_XARRAY(held_pages);

/* Where a function goes that shall not run: its caller's return address is on the stack. */
void btsfail_just_return(void);
asm(".pushsection .text\n"
    ".type btsfail_just_return, @function\n"
    "btsfail_just_return:\n"
    "	" ASM_RET
    ".size btsfail_just_return, . - btsfail_just_return\n"
    ".popsection\n");

static bool is_targets(const struct pt_regs *regs)
{
	const struct module *mod = READ_ONCE(target);

	return mod && within_module(*(unsigned long *)regs->sp, mod);
}

static int on_call(struct kprobe *probe, struct pt_regs *regs)
{
	const struct call *call = container_of(probe, struct call, fail);

	if (!is_targets(regs) || atomic_inc_return(&nr_calls) != nth)
		return 0;
	failed = call->name;
	regs->ax = call->failure;
	regs->ip = (unsigned long)btsfail_just_return;
	return 1;
}

static unsigned long frame(const struct call *call, unsigned long page)
{
	return page_to_pfn(call->by == BY_PAGE ? (struct page *)page : virt_to_page(page));
}

/* An allocation of ours is none that a thread may have asked to fail. */
static void keep_page(const struct call *call, unsigned long page)
{
#ifdef CONFIG_FAULT_INJECTION
	unsigned int fail_nth = current->fail_nth;

	current->fail_nth = 0;
#endif
	xa_store(&held_pages, frame(call, page), xa_mk_value(1), GFP_ATOMIC);
#ifdef CONFIG_FAULT_INJECTION
	current->fail_nth = fail_nth;
#endif
}

static void take_page(const struct call *call, unsigned long page)
{
	if (page && xa_erase(&held_pages, frame(call, page)))
		atomic_dec(&held[PAGES]);
}

/* NULL is nothing; 0 is the type of an NMI handler. */
static bool takes_at_entry(const struct call *call, unsigned long what)
{
	return call->takes && call->kind != PAGES && call->kind != NOTIFIER &&
		(what || call->kind == NMI);
}

/*
 * Returns 0 to be called at the return, too: also where nothing is to be done there, because
 * then what the function itself calls at its end is not taken for the recorder's call.
 */
static int on_entry(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	const struct call *call = container_of(get_kretprobe(instance), struct call, ret);

	if (call->takes && call->kind == PAGES && READ_ONCE(target))
		take_page(call, regs->di);
	if (!is_targets(regs))
		return 1;
	if (takes_at_entry(call, regs->di))
		atomic_dec(&held[call->kind]);
	return 0;
}

static bool is_failure(const struct call *call, unsigned long value)
{
	/* An int, or an error pointer; a dynamic cpuhp state is positive. */
	return call->failure ? (int)value < 0 && IS_ERR_VALUE((long)(int)value) : !value;
}

static int on_return(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	const struct call *call = container_of(get_kretprobe(instance), struct call, ret);

	/* Notifiers that were not registered are unregistered, too, which fails. */
	if (call->takes && call->kind == NOTIFIER && !(int)regs_return_value(regs))
		atomic_dec(&held[NOTIFIER]);
	if (call->takes || is_failure(call, regs_return_value(regs)))
		return 0;
	atomic_inc(&held[call->kind]);
	if (call->kind == PAGES)
		keep_page(call, regs_return_value(regs));
	return 0;
}

static int nth_set(const char *value, const struct kernel_param *param)
{
	failed = "none";
	atomic_set(&nr_calls, 0);
	return kstrtoint(value, 0, &nth);
}

static const struct kernel_param_ops nth_ops = { .set = nth_set };

module_param_cb(nth, &nth_ops, NULL, 0200);
MODULE_PARM_DESC(nth, "which call of the recorder fails; 0: none");

static int failed_get(char *buffer, const struct kernel_param *param)
{
	return sysfs_emit(buffer, "%s\n", failed);
}

static const struct kernel_param_ops failed_ops = { .get = failed_get };

module_param_cb(failed, &failed_ops, NULL, 0444);
MODULE_PARM_DESC(failed, "the function that failed");

static int held_get(char *buffer, const struct kernel_param *param)
{
	unsigned int kind;
	int bytes = 0;

	for (kind = 0; kind < NR_KINDS; kind++) {
		int count = atomic_read(&held[kind]);

		if (count)
			bytes += sysfs_emit_at(buffer, bytes, "%s=%d ", kind_names[kind], count);
	}
	return bytes + sysfs_emit_at(buffer, bytes, bytes ? "\n" : "none\n");
}

static const struct kernel_param_ops held_ops = { .get = held_get };

module_param_cb(held, &held_ops, NULL, 0444);
MODULE_PARM_DESC(held, "what the recorder holds");

static unsigned int init_nth;

module_param(init_nth, uint, 0600);
MODULE_PARM_DESC(init_nth, "which allocation of the recorder's init fails; 0: none");

static int on_init(struct kprobe *probe, struct pt_regs *regs)
{
#ifdef CONFIG_FAULT_INJECTION
	if (init_nth && READ_ONCE(target))
		current->fail_nth = init_nth;
#endif
	return 0;
}

static struct kprobe init_probe = { .symbol_name = "do_one_initcall", .pre_handler = on_init };

static int on_module(struct notifier_block *nb, unsigned long state, void *data)
{
	const struct module *mod = data;

	if (strcmp(mod->name, TARGET))
		return NOTIFY_DONE;
	if (state == MODULE_STATE_COMING)
		atomic_set(&nr_calls, 0);
	if (state == MODULE_STATE_COMING || state == MODULE_STATE_GOING)
		WRITE_ONCE(target, state == MODULE_STATE_COMING ? mod : NULL);
	return NOTIFY_DONE;
}

static struct notifier_block module_notifier = { .notifier_call = on_module };

/* The one that counts first: of two probes the newer runs first, and may skip the older. */
static void watch(struct call *call)
{
	call->ret.kp.symbol_name = call->name;
	call->ret.entry_handler = on_entry;
	call->ret.handler = on_return;
	call->ret.maxactive = MAX_ACTIVE;
	if (register_kretprobe(&call->ret)) {
		pr_info("btsfail: no %s()\n", call->name);
		call->ret.kp.addr = NULL;
		return;
	}
	if (call->takes)
		return;
	call->fail.symbol_name = call->name;
	call->fail.pre_handler = on_call;
	if (register_kprobe(&call->fail)) {
		pr_info("btsfail: %s() cannot fail\n", call->name);
		call->fail.addr = NULL;
	}
}

static int __init btsfail_init(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(calls); i++)
		watch(&calls[i]);
	/* Without it no allocation of the init fails, which failnth.c prints. */
	if (register_kprobe(&init_probe))
		init_probe.addr = NULL;
	return register_module_notifier(&module_notifier);
}

static void __exit btsfail_exit(void)
{
	size_t i;

	unregister_module_notifier(&module_notifier);
	if (init_probe.addr)
		unregister_kprobe(&init_probe);
	for (i = 0; i < ARRAY_SIZE(calls); i++) {
		if (calls[i].fail.addr)
			unregister_kprobe(&calls[i].fail);
		if (calls[i].ret.kp.addr)
			unregister_kretprobe(&calls[i].ret);
	}
}

module_init(btsfail_init);
module_exit(btsfail_exit);
MODULE_DESCRIPTION("Calls of the recorder that fail, and a count of what it holds");
MODULE_LICENSE("GPL");

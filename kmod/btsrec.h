/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the parts of the module share: the state of one CPU, and each part's
 * interface in the order of bring-up.
 */
#ifndef BTSREC_H
#define BTSREC_H

#include <linux/errno.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/types.h>
#include <asm/intel_ds.h>

#include <btsrec/abi.h>

struct btsrec_hook;
struct file;
struct pt_regs;
struct seq_file;
struct tracepoint;

#define BTSREC_NR_MODULE_PAGES	16
#define BTSREC_NR_EXEC_PAGES	8
#define BTSREC_MIN_RECORDS	32
#define BTSREC_MAX_LIST_BYTES	256	/* of a list as a parameter, or in a command */
#define BTSREC_MAX_RING_BYTES	(BTSREC_MAX_LIST_PAGES * BTSREC_PAS_PER_PAGE * 4096ULL)

/** enum btsrec_rate_level - what is recorded, as far as max_rate= is concerned */
enum btsrec_rate_level { BTSREC_RATE_ALL, BTSREC_RATE_KERNEL, BTSREC_RATE_OFF };

/**
 * struct btsrec_pcpu - a CPU's recorder, private to the module
 * @live: 1 while this CPU records or is paused to record again.  The one that ends
 *	the recording takes it to 0 with one exchange.  So a stop and a freeze that
 *	interrupts it never both do the work.  Only this CPU writes it.
 * @held: the BTS fields of the DS area are ours (they may point to @scratch)
 * @area_written: IA32_DS_AREA was zero and is ours too
 * @yielded: perf has it now; what is recorded goes on when perf is done
 * @foreign: other code stopped BTS or moved its area; a GAP is due
 * @suspect: why it has paused at what may become a crash; NONE: it has not
 * @suspect_regs: the registers of that exception: which one it is; NULL: a report
 * @entry_flags: BTSREC_REGISTERS_ENTRY and what else @page has of the exception or NMI at which
 *	it has paused; 0: nothing
 * @frozen_tsc: when an NMI found the current freeze; 1: it began here; 0: neither
 * @ds: the kernel's debug store of this CPU, in the cpu_entry_area
 * @page: what the dump reader sees; NULL: this CPU has no ring
 * @base_kva: first byte of the ring
 * @end_kva: first byte after the ring
 * @on_bits: DEBUGCTL bits that record in the chosen mode
 * @last_cr3: page-table base in the newest annotation
 * @last_index_kva: index after the newest annotation
 * @stop_tsc: when it stopped in order, or paused as @suspect
 * @off_reason: why it does not record although live, see btsrec_limit.h; NONE: it records
 * @off_tsc: since when; @gap_tsc: of the newest GAP for it
 * @user_off_tsc: since when it leaves out user branches although @on_bits has them; 0: it does not
 * @rate_level: how much of what runs max_rate= lets it record
 * @credit: what it may record still of @credit_rate a second, see btsrec_limit.c; @credit_tsc and
 *	@credit_bytes: when that was counted, and what there was
 * @nmi_stop_tsc: when btsrec_nmi_pause() paused; 0: it did not
 * @nmi_stop_ip: code address after the write that stopped BTS then
 * @hold_tsc: when btsrec_hold() paused; 0: it did not
 * @stop_ip: code address after the write of another pause, set before it; 0: there is none
 * @saved_fields: the four BTS fields before us
 * @saved_off_bits: DEBUGCTL.BTS_OFF_* before us
 * @saved_select: MSR_LBR_SELECT before us
 * @annot_tsc: time of the newest annotation
 * @scratch: page of the self-test, and target of stray records after a freeze
 * @scratch_kva: where the hardware sees it
 * @pages: the ring's page frames, page->nr_ring_pages of them
 */
struct btsrec_pcpu {
	u32 live;
	bool held;
	bool area_written;
	bool yielded;
	bool foreign;
	enum btsrec_reason suspect;
	const struct pt_regs *suspect_regs;
	u32 entry_flags;
	struct debug_store *ds;
	struct btsrec_cpu *page;
	u64 base_kva;
	u64 end_kva;
	u64 on_bits;
	u64 last_cr3;
	u64 last_index_kva;
	u64 stop_tsc;
	u64 frozen_tsc;
	enum btsrec_reason off_reason;
	u64 off_tsc;
	u64 gap_tsc;
	u64 user_off_tsc;
	enum btsrec_rate_level rate_level;
	s64 credit;
	u64 credit_rate;
	u64 credit_tsc;
	u64 credit_bytes;
	u64 nmi_stop_tsc;
	u64 nmi_stop_ip;
	u64 hold_tsc;
	u64 stop_ip;
	u64 saved_fields[4];
	u64 saved_off_bits;
	u64 saved_select;
	u64 annot_tsc;
	struct btsrec_record *scratch;
	u64 scratch_kva;
	struct page **pages;
};

DECLARE_PER_CPU(struct btsrec_pcpu, btsrec_pcpu);

/**
 * btsrec_remedy() - what to do about an error, as the end of a sentence
 * @otherwise: if it is not for lack of memory
 */
static inline const char *btsrec_remedy(long err, const char *otherwise)
{
	return err == -ENOMEM ? "free some memory and try again" : otherwise;
}

/* btsrec_record.c */
int btsrec_start_this_cpu(void);
void btsrec_stop_this_cpu(enum btsrec_reason reason);
bool btsrec_can_record_on(const struct btsrec_pcpu *pc);
void btsrec_record_on(void *unused);
void btsrec_stop_for_reboot(void);
void btsrec_yield_ends(struct btsrec_pcpu *pc);
void btsrec_yield_ends_init(void);
void btsrec_yield_ends_sync(void);

/* btsrec_main.c */
int btsrec_arm(void);
void btsrec_disarm(void);
bool btsrec_is_armed(void);
int btsrec_set_freeze_on(const char *list, const char *effect);
int btsrec_set_cpus(const char *list, const char *effect);
int btsrec_set_ring_bytes(const char *list, const char *effect);
void btsrec_survived_oops(void);
void btsrec_copy_frozen(void);

/* btsrec_errata.c */
u32 btsrec_errata(enum btsrec_mode mode);
void btsrec_errata_warn(u32 bits);

/* btsrec_rings.c */
extern struct btsrec_root *btsrec_root_page;
extern u64 btsrec_root_pa;
int btsrec_root_new(enum btsrec_mode mode);
void btsrec_root_free(void);
void btsrec_root_forget(void);
void btsrec_root_say_place(void);
int btsrec_ring_new(unsigned int cpu);
struct btsrec_module *btsrec_module_slot(u32 slot);
struct btsrec_exec *btsrec_exec_slot(u64 number);
u64 *btsrec_dir_entry(const struct btsrec_root *root, unsigned int cpu);
u32 btsrec_constant_crc(const void *page, size_t constant_bytes);
void *btsrec_page_new(int node);
void btsrec_page_free_pa(u64 pa);
int btsrec_pages_new(u64 *pas, u32 nr);
void btsrec_pages_free(const u64 *pas, u32 nr);
int btsrec_root_pages_new(struct btsrec_root *root);
void btsrec_root_pages_free(struct btsrec_root *root);

/* btsrec_copy.c */
int btsrec_copy_init(void);
void btsrec_copy_sync(void);
void btsrec_copy_exit(void);
int btsrec_set_on_trigger(const char *word, const char *effect);
bool btsrec_copies(void);
int btsrec_copy_ring_new(unsigned int cpu);
struct btsrec_cpu *btsrec_copy_ring_build(const struct btsrec_cpu *live);
void btsrec_copy_ring_put(unsigned int cpu, struct btsrec_cpu *page);
void btsrec_copy_free(void);
void btsrec_copy_hide(void);
void btsrec_copy_make(void);
void btsrec_copy_over(void);
void btsrec_copy_queue(void);
bool btsrec_copy_waits(void);
int btsrec_copy_taken(void);
void btsrec_copy_show(struct seq_file *m);

/* btsrec_sizes.c */
const char *btsrec_sizes_check(const char *list);
void btsrec_sizes_set(const char *list);
u64 btsrec_size_of(unsigned int cpu);
u64 btsrec_size_of_others(void);
void btsrec_sizes_show(struct seq_file *m);

/* btsrec_cpus.c */
const char *btsrec_cpus_parse(const char *list);
void btsrec_cpus_publish(void);
bool btsrec_cpu_is_chosen(unsigned int cpu);
void btsrec_cpus_show(struct seq_file *m);

/* btsrec_map.c */
int btsrec_map(struct btsrec_pcpu *pc);
void btsrec_unmap(struct btsrec_pcpu *pc);
void btsrec_map_free(void);

/* btsrec_facts.c */
void btsrec_facts_fill(struct btsrec_root *root);

/* btsrec_vmcoreinfo.c */
size_t btsrec_vmcoreinfo_get(const char *key, char *ret, size_t ret_bytes);
int btsrec_vmcoreinfo_put_root(void);
void btsrec_vmcoreinfo_remove_root(void);

/* btsrec_annot.c */
int btsrec_mark(const char *text);

/* btsrec_modmap.c */
int btsrec_modmap_register(void);
void btsrec_modmap_copy(const u64 *pas);
void btsrec_modmap_unregister(void);

/* btsrec_hook_ftrace.c or btsrec_hook_kprobe.c */
int btsrec_hook_register(struct btsrec_hook *hook, const char *function);
void btsrec_hook_unregister(struct btsrec_hook *hook);
void btsrec_hook_exit(struct btsrec_hook *hook);
void btsrec_hook_say_kind(void);

/* btsrec_hook.c */
const char *btsrec_hook_remedy(int err);
void btsrec_hook_missing(const char *name, int err, const char *effect);
void btsrec_hook_unsupported(const char *option, const char *effect);
void btsrec_hook_forget_missing(void);
void btsrec_hook_forget_effect(const char *effect);
void btsrec_hook_show_missing(struct seq_file *m);

/* btsrec_perf.c */
int btsrec_perf_hold(void);
void btsrec_perf_release(void);
void btsrec_perf_exit(void);
int btsrec_perf_hold_cpu(unsigned int cpu);
void btsrec_perf_release_cpu(unsigned int cpu);

/* btsrec_probes.c */
struct tracepoint *btsrec_find_tracepoint(const char *name);
int btsrec_probes_register(void);
void btsrec_probes_unregister(void);

/* btsrec_freeze.c */
int btsrec_freeze_register(bool freeze_on_fault);
void btsrec_freeze_unregister(void);
void btsrec_freeze_exit(void);
void btsrec_freeze_now(void);
bool btsrec_freeze_for(const struct pt_regs *regs, enum btsrec_reason reason, const char *trigger);
bool btsrec_freeze_missed(void);
void btsrec_freezers_sync(void);
bool btsrec_thaw(void);
bool btsrec_is_frozen(void);

/* btsrec_registers.c */
void btsrec_registers_enter(struct btsrec_pcpu *pc, const struct pt_regs *regs, u32 vector,
			    u64 error_code, u64 address);
void btsrec_registers_freeze(struct btsrec_pcpu *pc, const struct pt_regs *regs);

/* btsrec_nmi.c */
void btsrec_nmi_pause(const struct pt_regs *regs);
int btsrec_nmi_register(void);
void btsrec_nmi_unregister(void);

/* btsrec_console.c */
void btsrec_console_set(unsigned int nr_records);
void btsrec_console_register(void);
void btsrec_console_unregister(void);
void btsrec_console_print(void);

/* btsrec_hold.c */
int btsrec_hold(const struct file *file);
void btsrec_release(const struct file *file);
bool btsrec_is_held(void);

/* btsrec_dev.c */
extern struct mutex btsrec_command_mutex;
int btsrec_dev_register(void);
void btsrec_dev_unregister(void);

#endif /* BTSREC_H */

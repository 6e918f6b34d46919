/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * btsrec in-memory ABI: what the recorder leaves in memory and what every
 * decoder reads out of a dump.  docs/reference/abi.md is the format page; this header is
 * the only place where the layout is written as code.
 *
 * Sections: Versions - Constants - Root - CPU - Ring - Annotations - Module map
 * - Exec ring - VMCOREINFO.
 *
 * Conventions.  Little-endian, naturally aligned, no pointers, no bitfields.
 * _pa is a physical address, _kva a kernel virtual address, _bytes a size in
 * bytes, nr_ a count.  Each structure has a constant part, written once before its
 * CRC, and a live part after it.  "Writer" below says what changes a live field:
 * init (process context), hot (the switch path, interrupts off), panic (any
 * context, NMI included).
 */
#ifndef BTSREC_ABI_H
#define BTSREC_ABI_H

#include <linux/types.h>

/* --- Versions ----------------------------------------------------------- */

/*
 * A decoder refuses another major and accepts any minor: a newer minor only
 * adds fields in reserved space or at the end, or adds annotation kinds.
 */
#define BTSREC_ABI_MAJOR	1
#define BTSREC_ABI_MINOR	10

/* --- Constants ---------------------------------------------------------- */

#define BTSREC_PAGE_BYTES	4096

/* "BTSRROOT" and "BTSR-CPU" read as little-endian integers. */
#define BTSREC_ROOT_MAGIC	0x544f4f5252535442ULL
#define BTSREC_CPU_MAGIC	0x5550432d52535442ULL

/* Intel SDM vol. 3B, "BTS Buffer" with DTES64: from, to, flags; 8 bytes each. */
#define BTSREC_RECORD_BYTES	24
/* SDM: bit 4 of the flags, "branch was predicted". */
#define BTSREC_FLAG_PREDICTED	(1ULL << 4)

/*
 * Every 8-byte word of a ring before arming.  Non-canonical in 48 and in 57
 * bits, so no branch looks like it; not zero, so makedumpfile keeps the page.
 */
#define BTSREC_POISON		0xb7505a5ab7505a5aULL

#define BTSREC_MAX_CPU_DIR_PAGES	64	/* x 512 = 32,768 CPUs */
#define BTSREC_ROOT_LIVE_OFFSET		2048	/* constant_bytes of the root */
#define BTSREC_CPU_LIVE_OFFSET		1024	/* constant_bytes of a CPU page */
#define BTSREC_CPU_MIN_BYTES		1304	/* cpu_bytes of 1.0 to 1.3 */
#define BTSREC_MAX_LIST_PAGES		64	/* x 512 x 4 KiB = 128 MiB ring */
#define BTSREC_PAS_PER_PAGE		(BTSREC_PAGE_BYTES / 8)

#define BTSREC_COMM_BYTES	16	/* TASK_COMM_LEN */
#define BTSREC_RELEASE_BYTES	80
#define BTSREC_BUILD_ID_BYTES	32
#define BTSREC_SYMBOL_BYTES	32
#define BTSREC_MODULE_NAME_BYTES 56	/* MODULE_NAME_LEN on 64 bit */
#define BTSREC_TRIGGER_BYTES	64
#define BTSREC_LEFT_OUT_WORDS	128	/* x 64 = 8,192 CPUs, the most that x86 can have */

/* What BTS records (btsrec_root.mode). */
enum btsrec_mode {
	BTSREC_MODE_ALL = 0,
	BTSREC_MODE_KERNEL = 1,		/* DEBUGCTL.BTS_OFF_USR set */
	BTSREC_MODE_USER = 2,		/* DEBUGCTL.BTS_OFF_OS set */
};

/* Why a CPU stopped for good (btsrec_freeze.reason), or why it has a gap. */
enum btsrec_reason {
	BTSREC_REASON_NONE = 0,
	BTSREC_REASON_PANIC = 1,
	BTSREC_REASON_OOPS = 2,
	BTSREC_REASON_HARD_LOCKUP = 3,
	BTSREC_REASON_SOFT_LOCKUP = 4,
	BTSREC_REASON_HUNG_TASK = 5,
	BTSREC_REASON_MCE = 6,
	BTSREC_REASON_NMI = 7,
	BTSREC_REASON_MANUAL = 8,	/* "freeze" written to the device */
	BTSREC_REASON_CRASH_SHUTDOWN = 9, /* machine_crash_shutdown guard */
	BTSREC_REASON_REBOOT = 10,
	BTSREC_REASON_CPU_OFFLINE = 11,
	BTSREC_REASON_DISARM = 12,
	BTSREC_REASON_FOREIGN = 13,	/* somebody else switched BTS off */
	BTSREC_REASON_SUSPEND = 14,
	BTSREC_REASON_SNAPSHOT = 15,	/* the rings were being copied; since 1.1 */
	BTSREC_REASON_RCU_STALL = 16,	/* since 1.1 */
	BTSREC_REASON_CONSOLE = 17,	/* a console's driver wrote; since 1.2 */
	/* what freeze_on= names; since 1.4 */
	BTSREC_REASON_WARN = 18,	/* a WARN() */
	BTSREC_REASON_TRACEPOINT = 19,
	BTSREC_REASON_FUNCTION = 20,	/* a function of the kernel was called */
	BTSREC_REASON_REQUEST = 21,	/* by a module, or "freeze TEXT" written to the device */
	BTSREC_REASON_LEFT_OUT = 22,	/* cpus= does not name this CPU; since 1.6 */
	BTSREC_REASON_FILTERED = 23,	/* tasks= does not choose what ran; since 1.6 */
	BTSREC_REASON_RATE = 24,	/* more records than max_rate= allows; since 1.6 */
	BTSREC_REASON_RATE_USER = 25,	/* likewise: user branches are left out; since 1.6 */
	/* what came before is older than the last branch record; since 1.7 */
	BTSREC_REASON_LBR = 26,
};

/* What recorded the branches (btsrec_cpu.source). */
enum btsrec_source {
	BTSREC_SOURCE_BTS = 0,		/* Branch Trace Store, into the ring */
	BTSREC_SOURCE_LBR = 1,		/* last branch record: copied into the ring at a freeze */
	BTSREC_SOURCE_PT = 2,		/* reserved: Processor Trace; nobody writes it */
};

/* --- Root --------------------------------------------------------------- */

/* btsrec_root.flags (constant) */
#define BTSREC_ROOT_F_PTI	(1U << 0)	/* page-table isolation is on */
#define BTSREC_ROOT_F_LA57	(1U << 1)	/* 5-level paging */

/*
 * btsrec_root.errata (constant): errata of BTS that this processor has, by Intel's id;
 * one that depends on the mode is set only in that mode.  docs/develop/hardware.md has them.
 */
#define BTSREC_ERRATUM_AAJ122	(1U << 0)
#define BTSREC_ERRATUM_BU10	(1U << 1)
#define BTSREC_ERRATUM_AR62	(1U << 2)

enum btsrec_root_state {
	BTSREC_ROOT_LOADED = 1,		/* never armed */
	BTSREC_ROOT_ARMED = 2,
	BTSREC_ROOT_DISARMED = 3,	/* was armed; rings keep their content */
	BTSREC_ROOT_FROZEN = 4,		/* first fault seen; see freeze_* */
};

/**
 * struct btsrec_root - the page from which everything is found
 *
 * One page-aligned page from ZONE_DMA (the first 16 MiB).  It proves itself:
 * @self_pa must equal the address it was read from and @crc32 must match.
 * @crc32 is the CRC-32 of zlib and IEEE 802.3 over the first @constant_bytes
 * bytes with the crc32 field itself taken as zero.
 */
struct btsrec_root {
	/* constant part */
	__u64 magic;			/* BTSREC_ROOT_MAGIC */
	__u16 version_major;
	__u16 version_minor;
	__u32 crc32;
	__u64 self_pa;
	__u32 constant_bytes;		/* offset of the live part */
	__u32 root_bytes;		/* sizeof(struct btsrec_root) */
	__u32 cpu_bytes;		/* sizeof(struct btsrec_cpu) */
	__u32 record_bytes;		/* BTSREC_RECORD_BYTES */
	__u32 page_bytes;		/* BTSREC_PAGE_BYTES */
	__u32 flags;			/* BTSREC_ROOT_F_* */
	__u32 nr_cpu_ids;		/* entries in the CPU directory */
	__u32 nr_cpu_dir_pages;
	__u32 mode;			/* enum btsrec_mode */
	__u32 tsc_khz;			/* at load; 0: unknown */
	__u64 generation;		/* realtime ns at load: differs between reloads */
	__u64 poison;			/* BTSREC_POISON */
	/* of each CPU; multiple of record_bytes.  Since 1.9: of CPUs that ring_bytes= did not name
	 * at load; what counts is that of the CPU page */
	__u64 ring_bytes;
	/* one point in time in three clocks, taken at load */
	__u64 anchor_tsc;
	__u64 anchor_realtime_ns;
	__u64 anchor_boottime_ns;
	/* where the kernel is: run-time address of one exported symbol */
	__u64 symbol_kva;
	__u64 page_offset_kva;		/* start of the direct map */
	__u64 phys_base;		/* what __pa() of kernel text adds */
	__u64 kernel_pgd_pa;		/* a kernel page table (init_mm's view) */
	char symbol_name[BTSREC_SYMBOL_BYTES];
	char release[BTSREC_RELEASE_BYTES];	/* utsname()->release */
	__u8 build_id[BTSREC_BUILD_ID_BYTES];	/* vmlinux; zero-filled tail */
	__u32 build_id_bytes;		/* 0: unknown */
	__u32 nr_module_pages;
	__u32 nr_exec_pages;
	__u32 errata;			/* BTSREC_ERRATUM_* of the processor; since 1.1 */
	__u64 cpu_dir_pa[BTSREC_MAX_CPU_DIR_PAGES];	/* of __u64 CPU-page pa; 0: no such CPU */
	__u64 module_pa[16];		/* pages of struct btsrec_module */
	__u64 exec_pa[8];		/* pages of struct btsrec_exec */
	/* IA32_FRED_CONFIG: all events enter there; 0: by the IDT.  Since 1.10 */
	__u64 fred_config;
	__u64 reserved1[129];
	/* live part, at BTSREC_ROOT_LIVE_OFFSET */
	__u32 state;			/* enum btsrec_root_state; init, panic */
	__u32 nr_arms;			/* times armed; init */
	__u32 nr_modules;		/* slots in use; init (module notifier) */
	__u32 nr_modules_lost;		/* modules that found no slot; init */
	__u64 nr_execs;			/* execs seen; slot = n % capacity; hot */
	/* first fault; written by the CPU that won, freeze_reason last */
	__u64 freeze_tsc;
	__u32 freeze_cpu;
	__u32 freeze_reason;		/* enum btsrec_reason; 0: not frozen */
	/* which tracepoint or function, or the text of a request; NUL-padded; since 1.4 */
	char freeze_trigger[BTSREC_TRIGGER_BYTES];
	/* what freeze_on= names, reached since another freeze, which stays; any; since 1.5 */
	__u64 nr_late_triggers;
	/* bit N % 64 of word N / 64: cpus= leaves out CPU N; init; since 1.6 */
	__u64 cpus_left_out[BTSREC_LEFT_OUT_WORDS];
	/* on_trigger=copy; all since 1.8 */
	__u64 copy_pa;			/* root of a copy that has not been taken; 0: none; init */
	__u64 nr_copies;		/* made since the load; init */
	/* what freeze_on= names, reached while a copy had not been taken, since the load; any */
	__u64 nr_missed_triggers;
};

/* --- CPU ---------------------------------------------------------------- */

/* btsrec_cpu.state */
enum btsrec_cpu_state {
	BTSREC_CPU_NEVER = 0,		/* never armed */
	BTSREC_CPU_ARMED = 1,
	BTSREC_CPU_STOPPED = 2,		/* stopped in order: see stop_reason */
	BTSREC_CPU_FROZEN = 3,		/* see freeze */
};

/** struct btsrec_side - one side of a switch */
struct btsrec_side {
	__u64 cr3;			/* page-table base: PCID, PTI and LAM bits masked */
	__u32 pid;			/* thread id (task->pid) */
	__u32 tgid;
	char comm[BTSREC_COMM_BYTES];	/* NUL-padded, maybe unterminated */
};

/** struct btsrec_switch - payload of SWITCH, MM and EXEC annotations */
struct btsrec_switch {
	__u64 tsc;
	__u64 next_task_kva;		/* struct task_struct of @next */
	struct btsrec_side prev;
	struct btsrec_side next;
};

/** struct btsrec_freeze - hot register snapshot of a CPU at its freeze */
struct btsrec_freeze {
	__u32 reason;			/* enum btsrec_reason */
	__u32 via_nmi;			/* 1: stopped by our NMI, 0: at the fault */
	__u64 tsc;
	__u64 index_kva;		/* bts_index: next slot to be written */
	__u64 stop_ip;			/* instruction after the write that stopped BTS;
					 * the newest branch leads straight to it;
					 * 0: somebody else had switched BTS off */
	__u64 ip;			/* the interrupted or reporting code */
	__u64 sp;
	__u64 bp;
	__u64 rflags;
	__u64 cs;
	__u64 cr3;			/* raw register */
	__u64 debugctl;			/* raw, before the freeze */
	__u64 task_kva;
	__u32 pid;
	__u32 tgid;
	char comm[BTSREC_COMM_BYTES];
	/* the pause that the freeze found open: the history ends there; since 1.2 */
	__u64 pause_tsc;		/* since when; 0: none, or not known */
	__u32 pause_reason;		/* enum btsrec_reason of the GAP that it would have become;
					 * 0: none, or an annotation was being written */
	__u32 subject_pid;		/* of a hung task, at the fault: the thread that hung,
					 * the last one that was reported; since 1.3 */
};

/* btsrec_registers.flags: what of it is there */
#define BTSREC_REGISTERS_STOP	(1U << 0)	/* stop */
#define BTSREC_REGISTERS_SYSTEM	(1U << 1)	/* from fs_base on */
#define BTSREC_REGISTERS_ENTRY	(1U << 2)	/* entry, and its vector */
#define BTSREC_REGISTERS_ERROR	(1U << 3)	/* error_code of that */
#define BTSREC_REGISTERS_ADDRESS (1U << 4)	/* address of that, which is a page fault */

/**
 * struct btsrec_general - the registers of the code at @ip
 *
 * @reg by their numbers in an encoding (SDM vol. 2A, "REX Prefixes"): RAX, RCX, RDX, RBX, RSP, RBP,
 * RSI, RDI, R8 to R15.
 */
struct btsrec_general {
	__u64 reg[16];
	__u64 ip;
	__u64 rflags;
	__u64 cs;
	__u64 ss;
};

/**
 * struct btsrec_registers - of a CPU at its freeze
 *
 * @stop is what our NMI interrupted, or the beginning of the function that reported the fault, or
 * of a #GP the instruction: ip, sp, bp, rflags and cs are those of struct btsrec_freeze.
 *
 * @entry is what an exception or NMI interrupted, in whose handler the history ends.  The recorder
 * had paused there when the freeze came: freeze.pause_reason is OOPS or NMI.
 */
struct btsrec_registers {
	__u32 flags;			/* BTSREC_REGISTERS_* */
	__u32 vector;			/* of the exception, or 2: an NMI */
	__u64 error_code;
	__u64 address;			/* whose access faulted */
	struct btsrec_general stop;
	struct btsrec_general entry;
	/* in the freezing handler: gs_base is the kernel's, kernel_gs_base the user's */
	__u64 fs_base;
	__u64 gs_base;
	__u64 kernel_gs_base;
	__u64 cr2;
};

/**
 * struct btsrec_cpu - one page per possible CPU that has a ring
 *
 * @crc32 as in the root, over the first @constant_bytes.  The ring is the
 * @ring_bytes bytes at @ring_kva; its page i is at physical address
 * list page [i / 512] entry [i % 512].
 */
struct btsrec_cpu {
	/* constant part */
	__u64 magic;			/* BTSREC_CPU_MAGIC */
	__u32 cpu;
	__u32 crc32;
	__u64 self_pa;
	__u64 root_pa;
	__u64 generation;		/* the root's */
	__u32 constant_bytes;
	__u32 flags;			/* 0 */
	__u64 ring_kva;			/* bts_buffer_base */
	__u64 ring_bytes;		/* bts_absolute_maximum - bts_buffer_base */
	__u64 ds_kva;			/* struct debug_store: bts_buffer_base at +0, */
	__u64 ds_pa;			/* bts_index at +8 (SDM "DS save area", DTES64); of LBR
					 * a page of ours that is laid out like it */
	__u32 nr_ring_pages;
	__u32 nr_list_pages;
	__u64 list_pa[BTSREC_MAX_LIST_PAGES];
	__u32 source;			/* enum btsrec_source; since 1.7 */
	__u32 nr_last_branches;		/* of LBR: how many the processor keeps; since 1.7 */
	__u64 reserved0[52];
	/* live part, at BTSREC_CPU_LIVE_OFFSET */
	__u32 state;			/* enum btsrec_cpu_state; published last */
	__u32 stop_reason;		/* enum btsrec_reason of a STOPPED CPU */
	__u64 stop_index_kva;		/* bts_index of a STOPPED CPU */
	__u64 annot_begin;		/* annotations begun; hot */
	__u64 annot_end;		/* annotations complete in the ring; hot */
	__u64 nr_annot_skipped;		/* wanted but not written; hot */
	__u64 nr_foreign_stops;		/* BTS found off by another's hand; hot */
	__u64 context_seq;		/* odd while @context is being written; hot */
	struct btsrec_switch context;	/* newest switch again: the task that runs now; hot */
	__u32 frozen;			/* 1 once @freeze is whole; written last; panic */
	__u32 survived;			/* 1: the oops of @freeze killed its task, and the system
					 * went on; panic; since 1.3.  Or @freeze is for what
					 * freeze_on= names, after which it goes on; since 1.4 */
	struct btsrec_freeze freeze;
	struct btsrec_registers registers;	/* at @freeze; panic; since 1.4 */
	/* what branches took before the newest annotation, at least: a ring that came round several
	 * times since the one before counts as one that did so once; hot; since 1.6 */
	__u64 recorded_bytes;
	/* ticks of the TSC in which it recorded, before since_tsc; init, hot; since 1.6 */
	__u64 recorded_tsc;
	__u64 since_tsc;		/* it records since then; 0: it does not; since 1.6 */
	__u32 kernel_only;		/* 1: at times user branches were left out, between GAPs of
					 * RATE_USER; hot; since 1.6 */
	__u32 reserved;
};

/* --- Ring --------------------------------------------------------------- */

/** struct btsrec_record - one slot of a ring, written by hardware or by us */
struct btsrec_record {
	__u64 from;
	__u64 to;
	__u64 flags;
};

/*
 * Reading a ring: index = freeze.index_kva if frozen, stop_index_kva if
 * stopped, else the live bts_index in the DS area; off = index - ring_kva.
 * off == ring_bytes is the same place as 0.  If the slot at off is poison the
 * ring has not wrapped: history is [0, off).  Else it is [off, end) then
 * [0, off), oldest first.
 *
 * If annot_begin != annot_end, the CPU was stopped inside the annotation
 * writer: up to BTSREC_MAX_PARTS slots from off on (modulo the ring) may hold
 * parts with sequence annot_end, over what was there before.  The tag of a part
 * is stored before its payload: a slot without one is untouched.
 */

/* --- Annotations -------------------------------------------------------- */

/*
 * An annotation is 1..BTSREC_MAX_PARTS consecutive slots (modulo the ring),
 * written while BTS is off on that CPU.  Part i carries payload bytes
 * [16 i, 16 i + 16) in to and flags; from is a tag:
 *
 *  63      48 47    40 39  36 35    32 31              0
 * +----------+--------+------+--------+-----------------+
 * |  0xb75a  |  kind  | part |nr_parts| sequence (low)  |
 * +----------+--------+------+--------+-----------------+
 *
 * The sequence counts the CPU's annotations from 0: annotation s has been
 * written when annot_begin > s and is whole when annot_end > s.
 */
#define BTSREC_TAG		0xb75aULL
#define BTSREC_TAG_SHIFT	48
#define BTSREC_TAG_KIND_SHIFT	40
#define BTSREC_TAG_PART_SHIFT	36
#define BTSREC_TAG_NR_PARTS_SHIFT 32
#define BTSREC_PART_BYTES	16
#define BTSREC_MAX_PARTS	5

/* Every payload begins with the time stamp counter, "tsc". */
enum btsrec_annot_kind {
	/* struct btsrec_switch: at sched_switch; another thread runs next */
	BTSREC_ANNOT_SWITCH = 1,
	/* struct btsrec_switch: CR3 changed without a switch: exec, borrowed mm, text patching */
	BTSREC_ANNOT_MM = 2,
	/* struct btsrec_switch: the thread runs a new program */
	BTSREC_ANNOT_EXEC = 3,
	/* struct btsrec_resume: recording begins, or begins again by hand */
	BTSREC_ANNOT_ARM = 4,
	/* struct btsrec_resume: recording goes on after a stop with a reason */
	BTSREC_ANNOT_GAP = 5,
	/* struct btsrec_mark: a text written by user space */
	BTSREC_ANNOT_MARK = 6,
	/* struct btsrec_time: one point in time in three clocks */
	BTSREC_ANNOT_TIME = 7,
};

/** struct btsrec_resume - payload of ARM and GAP */
struct btsrec_resume {
	__u64 tsc;			/* of the resumption */
	__u64 stop_tsc;			/* of the stop before it; 0: unknown or none */
	__u32 reason;			/* enum btsrec_reason of the stop */
	__u32 reserved;
	__u64 task_kva;
	struct btsrec_side now;
};

/** struct btsrec_mark - payload of MARK */
struct btsrec_mark {
	__u64 tsc;
	__u32 pid;			/* the writer */
	__u32 tgid;
	char text[48];			/* NUL-padded, maybe unterminated */
};

/** struct btsrec_time - payload of TIME: one point in time in three clocks */
struct btsrec_time {
	__u64 tsc;
	__u64 realtime_ns;
	__u64 boottime_ns;
	__u64 reserved;
};

/* --- Module map --------------------------------------------------------- */

#define BTSREC_MODULE_LIVE	1U	/* loaded now */
#define BTSREC_MODULE_GONE	2U	/* was unloaded; slot may be reused */

/** struct btsrec_module - one slot of the module map; 0 state: never used */
struct btsrec_module {
	__u64 text_kva;			/* executable part, after relocation */
	__u64 text_bytes;
	__u64 module_kva;		/* struct module */
	__u64 kallsyms_kva;		/* its struct mod_kallsyms; 0: none */
	__u32 state;			/* BTSREC_MODULE_*; published last */
	__u32 build_id_bytes;
	__u8 build_id[BTSREC_BUILD_ID_BYTES];
	char name[BTSREC_MODULE_NAME_BYTES];
};

#define BTSREC_MODULES_PER_PAGE	(BTSREC_PAGE_BYTES / 128)

/* --- Exec ring ---------------------------------------------------------- */

/** struct btsrec_exec - one slot of the global ring of exec'd paths */
struct btsrec_exec {
	__u64 tsc;
	__u64 seq;			/* number of this exec + 1; 0: never used; written last */
	__u64 cr3;
	__u32 pid;
	__u32 tgid;
	char path[224];			/* bprm->filename, cut, NUL-terminated */
};

#define BTSREC_EXECS_PER_PAGE	(BTSREC_PAGE_BYTES / 256)

/* --- VMCOREINFO --------------------------------------------------------- */

/* A line of the VMCOREINFO note: this prefix, 0x, the root's pa in hex. */
#define BTSREC_VMCOREINFO_KEY	"NUMBER(BTSREC_ROOT)="

/* --- Layout proof ------------------------------------------------------- */

#ifdef __cplusplus
#define BTSREC_ASSERT(c, m)	static_assert(c, m)
#else
#define BTSREC_ASSERT(c, m)	_Static_assert(c, m)
#endif
#define BTSREC_OFF(t, f, o) \
	BTSREC_ASSERT(__builtin_offsetof(struct t, f) == (o), #t "." #f " moved")
#define BTSREC_SIZE(t, s) \
	BTSREC_ASSERT(sizeof(struct t) == (s), "size of " #t " changed")

BTSREC_SIZE(btsrec_root, 3208);
BTSREC_OFF(btsrec_root, magic, 0);
BTSREC_OFF(btsrec_root, version_major, 8);
BTSREC_OFF(btsrec_root, version_minor, 10);
BTSREC_OFF(btsrec_root, crc32, 12);
BTSREC_OFF(btsrec_root, self_pa, 16);
BTSREC_OFF(btsrec_root, constant_bytes, 24);
BTSREC_OFF(btsrec_root, root_bytes, 28);
BTSREC_OFF(btsrec_root, cpu_bytes, 32);
BTSREC_OFF(btsrec_root, record_bytes, 36);
BTSREC_OFF(btsrec_root, page_bytes, 40);
BTSREC_OFF(btsrec_root, flags, 44);
BTSREC_OFF(btsrec_root, nr_cpu_ids, 48);
BTSREC_OFF(btsrec_root, nr_cpu_dir_pages, 52);
BTSREC_OFF(btsrec_root, mode, 56);
BTSREC_OFF(btsrec_root, tsc_khz, 60);
BTSREC_OFF(btsrec_root, generation, 64);
BTSREC_OFF(btsrec_root, poison, 72);
BTSREC_OFF(btsrec_root, ring_bytes, 80);
BTSREC_OFF(btsrec_root, anchor_tsc, 88);
BTSREC_OFF(btsrec_root, anchor_realtime_ns, 96);
BTSREC_OFF(btsrec_root, anchor_boottime_ns, 104);
BTSREC_OFF(btsrec_root, symbol_kva, 112);
BTSREC_OFF(btsrec_root, page_offset_kva, 120);
BTSREC_OFF(btsrec_root, phys_base, 128);
BTSREC_OFF(btsrec_root, kernel_pgd_pa, 136);
BTSREC_OFF(btsrec_root, symbol_name, 144);
BTSREC_OFF(btsrec_root, release, 176);
BTSREC_OFF(btsrec_root, build_id, 256);
BTSREC_OFF(btsrec_root, build_id_bytes, 288);
BTSREC_OFF(btsrec_root, nr_module_pages, 292);
BTSREC_OFF(btsrec_root, nr_exec_pages, 296);
BTSREC_OFF(btsrec_root, errata, 300);
BTSREC_OFF(btsrec_root, cpu_dir_pa, 304);
BTSREC_OFF(btsrec_root, module_pa, 816);
BTSREC_OFF(btsrec_root, exec_pa, 944);
BTSREC_OFF(btsrec_root, fred_config, 1008);
BTSREC_OFF(btsrec_root, reserved1, 1016);
BTSREC_OFF(btsrec_root, state, BTSREC_ROOT_LIVE_OFFSET);
BTSREC_OFF(btsrec_root, nr_arms, 2052);
BTSREC_OFF(btsrec_root, nr_modules, 2056);
BTSREC_OFF(btsrec_root, nr_modules_lost, 2060);
BTSREC_OFF(btsrec_root, nr_execs, 2064);
BTSREC_OFF(btsrec_root, freeze_tsc, 2072);
BTSREC_OFF(btsrec_root, freeze_cpu, 2080);
BTSREC_OFF(btsrec_root, freeze_reason, 2084);
BTSREC_OFF(btsrec_root, freeze_trigger, 2088);
BTSREC_OFF(btsrec_root, nr_late_triggers, 2152);
BTSREC_OFF(btsrec_root, cpus_left_out, 2160);
BTSREC_OFF(btsrec_root, copy_pa, 3184);
BTSREC_OFF(btsrec_root, nr_copies, 3192);
BTSREC_OFF(btsrec_root, nr_missed_triggers, 3200);

BTSREC_SIZE(btsrec_side, 32);
BTSREC_OFF(btsrec_side, cr3, 0);
BTSREC_OFF(btsrec_side, pid, 8);
BTSREC_OFF(btsrec_side, tgid, 12);
BTSREC_OFF(btsrec_side, comm, 16);

BTSREC_SIZE(btsrec_switch, 80);
BTSREC_OFF(btsrec_switch, tsc, 0);
BTSREC_OFF(btsrec_switch, next_task_kva, 8);
BTSREC_OFF(btsrec_switch, prev, 16);
BTSREC_OFF(btsrec_switch, next, 48);

BTSREC_SIZE(btsrec_freeze, 136);
BTSREC_OFF(btsrec_freeze, reason, 0);
BTSREC_OFF(btsrec_freeze, via_nmi, 4);
BTSREC_OFF(btsrec_freeze, tsc, 8);
BTSREC_OFF(btsrec_freeze, index_kva, 16);
BTSREC_OFF(btsrec_freeze, stop_ip, 24);
BTSREC_OFF(btsrec_freeze, ip, 32);
BTSREC_OFF(btsrec_freeze, sp, 40);
BTSREC_OFF(btsrec_freeze, bp, 48);
BTSREC_OFF(btsrec_freeze, rflags, 56);
BTSREC_OFF(btsrec_freeze, cs, 64);
BTSREC_OFF(btsrec_freeze, cr3, 72);
BTSREC_OFF(btsrec_freeze, debugctl, 80);
BTSREC_OFF(btsrec_freeze, task_kva, 88);
BTSREC_OFF(btsrec_freeze, pid, 96);
BTSREC_OFF(btsrec_freeze, tgid, 100);
BTSREC_OFF(btsrec_freeze, comm, 104);
BTSREC_OFF(btsrec_freeze, pause_tsc, 120);
BTSREC_OFF(btsrec_freeze, pause_reason, 128);
BTSREC_OFF(btsrec_freeze, subject_pid, 132);

BTSREC_SIZE(btsrec_general, 160);
BTSREC_OFF(btsrec_general, reg, 0);
BTSREC_OFF(btsrec_general, ip, 128);
BTSREC_OFF(btsrec_general, rflags, 136);
BTSREC_OFF(btsrec_general, cs, 144);
BTSREC_OFF(btsrec_general, ss, 152);

BTSREC_SIZE(btsrec_registers, 376);
BTSREC_OFF(btsrec_registers, flags, 0);
BTSREC_OFF(btsrec_registers, vector, 4);
BTSREC_OFF(btsrec_registers, error_code, 8);
BTSREC_OFF(btsrec_registers, address, 16);
BTSREC_OFF(btsrec_registers, stop, 24);
BTSREC_OFF(btsrec_registers, entry, 184);
BTSREC_OFF(btsrec_registers, fs_base, 344);
BTSREC_OFF(btsrec_registers, gs_base, 352);
BTSREC_OFF(btsrec_registers, kernel_gs_base, 360);
BTSREC_OFF(btsrec_registers, cr2, 368);

BTSREC_SIZE(btsrec_cpu, BTSREC_CPU_MIN_BYTES + 408);
BTSREC_OFF(btsrec_cpu, magic, 0);
BTSREC_OFF(btsrec_cpu, cpu, 8);
BTSREC_OFF(btsrec_cpu, crc32, 12);
BTSREC_OFF(btsrec_cpu, self_pa, 16);
BTSREC_OFF(btsrec_cpu, root_pa, 24);
BTSREC_OFF(btsrec_cpu, generation, 32);
BTSREC_OFF(btsrec_cpu, constant_bytes, 40);
BTSREC_OFF(btsrec_cpu, flags, 44);
BTSREC_OFF(btsrec_cpu, ring_kva, 48);
BTSREC_OFF(btsrec_cpu, ring_bytes, 56);
BTSREC_OFF(btsrec_cpu, ds_kva, 64);
BTSREC_OFF(btsrec_cpu, ds_pa, 72);
BTSREC_OFF(btsrec_cpu, nr_ring_pages, 80);
BTSREC_OFF(btsrec_cpu, nr_list_pages, 84);
BTSREC_OFF(btsrec_cpu, list_pa, 88);
BTSREC_OFF(btsrec_cpu, source, 600);
BTSREC_OFF(btsrec_cpu, nr_last_branches, 604);
BTSREC_OFF(btsrec_cpu, reserved0, 608);
BTSREC_OFF(btsrec_cpu, state, BTSREC_CPU_LIVE_OFFSET);
BTSREC_OFF(btsrec_cpu, stop_reason, 1028);
BTSREC_OFF(btsrec_cpu, stop_index_kva, 1032);
BTSREC_OFF(btsrec_cpu, annot_begin, 1040);
BTSREC_OFF(btsrec_cpu, annot_end, 1048);
BTSREC_OFF(btsrec_cpu, nr_annot_skipped, 1056);
BTSREC_OFF(btsrec_cpu, nr_foreign_stops, 1064);
BTSREC_OFF(btsrec_cpu, context_seq, 1072);
BTSREC_OFF(btsrec_cpu, context, 1080);
BTSREC_OFF(btsrec_cpu, frozen, 1160);
BTSREC_OFF(btsrec_cpu, survived, 1164);
BTSREC_OFF(btsrec_cpu, freeze, 1168);
BTSREC_OFF(btsrec_cpu, registers, BTSREC_CPU_MIN_BYTES);
BTSREC_OFF(btsrec_cpu, recorded_bytes, BTSREC_CPU_MIN_BYTES + 376);
BTSREC_OFF(btsrec_cpu, recorded_tsc, BTSREC_CPU_MIN_BYTES + 384);
BTSREC_OFF(btsrec_cpu, since_tsc, BTSREC_CPU_MIN_BYTES + 392);
BTSREC_OFF(btsrec_cpu, kernel_only, BTSREC_CPU_MIN_BYTES + 400);

BTSREC_SIZE(btsrec_record, 24);
BTSREC_OFF(btsrec_record, from, 0);
BTSREC_OFF(btsrec_record, to, 8);
BTSREC_OFF(btsrec_record, flags, 16);

BTSREC_SIZE(btsrec_resume, 64);
BTSREC_OFF(btsrec_resume, tsc, 0);
BTSREC_OFF(btsrec_resume, stop_tsc, 8);
BTSREC_OFF(btsrec_resume, reason, 16);
BTSREC_OFF(btsrec_resume, reserved, 20);
BTSREC_OFF(btsrec_resume, task_kva, 24);
BTSREC_OFF(btsrec_resume, now, 32);

BTSREC_SIZE(btsrec_mark, 64);
BTSREC_OFF(btsrec_mark, tsc, 0);
BTSREC_OFF(btsrec_mark, pid, 8);
BTSREC_OFF(btsrec_mark, tgid, 12);
BTSREC_OFF(btsrec_mark, text, 16);

BTSREC_SIZE(btsrec_time, 32);
BTSREC_OFF(btsrec_time, tsc, 0);
BTSREC_OFF(btsrec_time, realtime_ns, 8);
BTSREC_OFF(btsrec_time, boottime_ns, 16);
BTSREC_OFF(btsrec_time, reserved, 24);

BTSREC_SIZE(btsrec_module, 128);
BTSREC_OFF(btsrec_module, text_kva, 0);
BTSREC_OFF(btsrec_module, text_bytes, 8);
BTSREC_OFF(btsrec_module, module_kva, 16);
BTSREC_OFF(btsrec_module, kallsyms_kva, 24);
BTSREC_OFF(btsrec_module, state, 32);
BTSREC_OFF(btsrec_module, build_id_bytes, 36);
BTSREC_OFF(btsrec_module, build_id, 40);
BTSREC_OFF(btsrec_module, name, 72);

BTSREC_SIZE(btsrec_exec, 256);
BTSREC_OFF(btsrec_exec, tsc, 0);
BTSREC_OFF(btsrec_exec, seq, 8);
BTSREC_OFF(btsrec_exec, cr3, 16);
BTSREC_OFF(btsrec_exec, pid, 24);
BTSREC_OFF(btsrec_exec, tgid, 28);
BTSREC_OFF(btsrec_exec, path, 32);

#endif /* BTSREC_ABI_H */

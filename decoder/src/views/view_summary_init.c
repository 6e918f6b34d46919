// SPDX-License-Identifier: GPL-2.0-or-later
/* The verdict of a summary: why init died, at which the kernel calls panic(). */
#include <inttypes.h>
#include <string.h>

#include "kernel/idt.h"
#include "kernel/kread.h"
#include "kernel/types.h"
#include "symbols/symbol.h"
#include "symbols/user.h"
#include "views/view_summary.h"
#include "views/view_summary_sentence.h"

/* wait(2): the signal is in the lowest seven bits, the status of exit(2) in the next byte. */
#define SIGNAL_MASK	0x7f
#define STATUS_SHIFT	8
#define STATUS_MASK	0xff

/* Those that the kernel sends for what a program did, and those that people send. */
static const char *signal_name(unsigned int number)
{
	static const char *const names[] = {
		[4] = "SIGILL", [5] = "SIGTRAP", [6] = "SIGABRT", [7] = "SIGBUS", [8] = "SIGFPE",
		[9] = "SIGKILL", [11] = "SIGSEGV", [15] = "SIGTERM", [31] = "SIGSYS",
	};

	return number < sizeof(names) / sizeof(names[0]) ? names[number] : NULL;
}

static bool is_do_exit(struct btsrec *rec, uint64_t ip)
{
	static const char wanted[] = "do_exit";
	struct symbol_name name;

	return symbol_find_as(rec, ip, false, &name) && !*name.module &&
	       name.name_bytes == strlen(wanted) && !memcmp(name.name, wanted, name.name_bytes);
}

static bool read_field(const struct kread *kernel, uint64_t kva, const struct types_field *field,
		       void *ret, size_t nr_bytes)
{
	return field->size_bytes == nr_bytes &&
	       kread(kernel, kva + field->offset_bytes, ret, nr_bytes);
}

/* What do_exit() prints: signal_struct.group_exit_code, if that is not 0. */
static bool read_exit_code(struct btsrec *rec, uint32_t pid, uint32_t *ret)
{
	const char *why;
	const struct types *types = symbols_types(rec, &why);
	struct user *user = symbols_user(rec);
	const struct kread *kernel = symbols_kread(rec);
	struct types_field signal, exit_code;
	struct tasks_thread thread;
	uint64_t signal_kva;

	return types && user && kernel && types_field(types, "task_struct", "signal", &signal) &&
	       types_field(types, "signal_struct", "group_exit_code", &exit_code) &&
	       user_thread(user, pid, &thread) &&
	       read_field(kernel, thread.task_kva, &signal, &signal_kva, sizeof(signal_kva)) &&
	       read_field(kernel, signal_kva, &exit_code, ret, sizeof(*ret)) && *ret;
}

/* --- For what it got the signal ------------------------------------------ */

/* What the kernel sends for an exception of user code: arch/x86/kernel/traps.c. */
static uint32_t signal_of(int vector)
{
	static const uint8_t signals[] = {
		[0] = 8, [1] = 5, [3] = 5, [4] = 11, [5] = 11, [6] = 4, [10] = 11, [11] = 7,
		[12] = 7, [13] = 11, [14] = 11, [16] = 8, [17] = 7, [19] = 8,
	};

	return vector >= 0 && (size_t)vector < sizeof(signals) ? signals[vector] : 0;
}

/* The open call by which user code came to the kernel; false: it is not in the history. */
static bool find_entry(const struct summary *view, size_t *ret)
{
	const struct calltree *tree = &view->calls.tree;
	uint64_t unreliable_n = summary_unreliable_n(view, view->calls.fault.n);

	for (size_t i = view->nr_open; i--;) {
		struct calltree_line line = calltree_line(tree, tree->open[i]);

		*ret = tree->open[i];
		if (line.n < unreliable_n)
			return false;
		if (frame_is_entry(line.frame) && !code_is_kernel(line.from))
			return true;
	}
	return false;
}

/* force_sig_fault(), force_sig_info_to_task() and others: all are for the thread that runs. */
static bool is_forced(struct btsrec *rec, uint64_t va)
{
	static const char wanted[] = "force_sig";
	struct symbol_name name;

	return symbol_find_as(rec, va, false, &name) && !*name.module &&
	       name.name_bytes >= strlen(wanted) && !memcmp(name.name, wanted, strlen(wanted));
}

/* Has thread @pid got a signal since line @entry, which is its own? */
static bool has_forced(const struct summary *view, size_t entry, uint32_t pid)
{
	const struct calltree *tree = &view->calls.tree;
	const struct btsrec_side *side;
	bool is_own = true;

	for (size_t i = entry + 1; i < tree->nr_lines; i++) {
		struct calltree_line line = calltree_line(tree, i);

		side = line.kind == CALLTREE_THREAD ? calltree_side(tree, &line) : NULL;
		if (line.kind == CALLTREE_THREAD)
			is_own = side && side->pid == pid;
		if (is_own && line.kind == CALLTREE_CALL &&
		    is_forced(view->calls.renderer.rec, line.to))
			return true;
	}
	return false;
}

static void add_own_exception(struct sentence *sentence, const struct summary *view,
			      const struct btsrec_freeze *freeze, uint32_t signal)
{
	struct calltree_line line;
	size_t entry;

	if (view->moved || !find_entry(view, &entry))
		return;
	line = calltree_line(&view->calls.tree, entry);
	if (line.frame != FRAME_EXCEPTION || signal_of(line.vector) != signal ||
	    !has_forced(view, entry, freeze->pid))
		return;
	sentence_add(sentence, ", which thread %" PRIu32, freeze->pid);
	sentence_add_comm(sentence, freeze->comm);
	sentence_add(sentence, " got on CPU %u for its own %s at 0x%016" PRIx64 ", event %" PRIu64,
		     view->calls.cpu, idt_exception_str((unsigned int)line.vector), line.from,
		     line.n);
}

void summary_say_init(struct sentence *sentence, const struct summary *view,
		      const struct btsrec_freeze *freeze)
{
	struct btsrec *rec = view->calls.renderer.rec;
	uint32_t code = 0;
	const char *name;

	/* is_global_init() in include/linux/sched.h */
	if (freeze->tgid != 1 || !is_do_exit(rec, view->verdict.ip))
		return;
	sentence_add(sentence, ", since init ended");
	if (view->survived || !read_exit_code(rec, freeze->pid, &code))
		return;
	name = signal_name(code & SIGNAL_MASK);
	if (code & SIGNAL_MASK)
		sentence_add(sentence, " by signal %" PRIu32, code & SIGNAL_MASK);
	else
		sentence_add(sentence, " with status %" PRIu32, code >> STATUS_SHIFT & STATUS_MASK);
	if (name)
		sentence_add(sentence, " (%s)", name);
	if (code & SIGNAL_MASK)
		add_own_exception(sentence, view, freeze, code & SIGNAL_MASK);
}

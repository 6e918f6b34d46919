// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Every mark that a text view prints.  The guide's page "Reading the output" has the same
 * tables; the test docs-marks compares them.
 */
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "marks.h"

#define WIDTH_COLUMNS  100
#define MEANING_COLUMN 26

/**
 * struct mark - a mark, or the heading of those that follow
 * @name: as it is printed; NULL: a heading.
 * @meaning: NULL: has been printed.
 */
struct mark {
	const char *name;
	const char *meaning;
};

#define ANNOTATION(kind_, payload_, event_, name_, meaning_) {name_, meaning_},

static const struct mark marks[] = {
	{NULL, "A line of show"},
	{"P, - after the addresses",
	 "The CPU had predicted the branch, or not. Older processors never say P."},
	{"- as a name", "Nothing is known of the address."},
	{"name+0x12", "A function of the kernel."},
	{"name+0x12 [mod]", "A function of a module."},
	{"[mod]+0x10", "A module without symbols; only its place is known."},
	{"main+0x12 [/usr/bin/ls]", "User code with a symbol."},
	{"[/usr/bin/ls]+0x1234", "User code without a symbol; the offset is in the file."},
	{"[heap]+0x20, [stack]+0x20, [anon]+0x20",
	 "Memory of no file; the offset is in the mapping."},
	{"(reason) as a name", "User code without a name, and why; see below."},
	{"\"name\"", "A text that a program could choose. Other bytes than printable ASCII are "
		     "\\xNN."},
	{"7/7", "Thread and process, pid/tgid."},
	{NULL, "Kinds of events"},
	{"branch", "A taken branch, an interrupt or an exception."},
	BTSREC_ANNOTATIONS(ANNOTATION)
	{"fault", "Not an event: from the branch of the same number on the history is fault "
		  "handling."},
	{"freeze", "The last event of a frozen CPU: why it stopped, and its registers. by=nmi: "
		   "another CPU stopped it."},
	{"loop", "With --fold: the branches above went round so many times more."},
	{"kernel, user", "With --user or --kernel: one stay in the other level."},
	{"interval", "With --thread: the thread goes on here, on this CPU."},
	{"log", "In timeline: a line of the kernel's log. T99 is the thread that printed it, C1 an "
		"interrupt on CPU 1."},
	{NULL, "Gaps"},
	{"overwritten", "The ring has wrapped. Older history is gone. This is normal."},
	{"paused", "The recorder paused, for the reason that follows. This is normal."},
	{"not-in-dump", "The pages were left out of the dump, or the dump was cut off."},
	{"torn", "An annotation is not complete, or a record only half written."},
	{"never-written", "There is no record where one was expected."},
	{"bad-record", "Three words that are no record."},
	{"unknown-kind", "An annotation of a newer version of the recorder."},
	{"no-index", "The place of the newest record cannot be known."},
	{NULL, "Kinds of branches (--types)"},
	{"call, icall", "A call; an indirect call."},
	{"ret", "A return."},
	{"jmp, ijmp, cond", "A jump; an indirect jump; a conditional jump that was taken."},
	{"syscall, sysret", "Into the kernel by a system call, and back."},
	{"iret", "The end of an interrupt or exception."},
	{"int:VECTOR", "An interrupt by an instruction."},
	{"irq:VECTOR, nmi, exc:#PF", "A hardware interrupt, an NMI, an exception by its name."},
	{"entry", "An interrupt or exception: by FRED, or the dump has no interrupt descriptor table."},
	{"thunk", "What one of the kernel's retpolines does inside."},
	{"none", "The code contradicts this record."},
	{"-", "The code is not in the dump."},
	{NULL, "Trees (calls, and \"How it got there\")"},
	{"+ after the number", "The function has not returned, or some branches may be lost."},
	{"call, icall, syscall, int:, irq:, nmi, exc:, entry",
	 "As above. A system call has its name in parentheses."},
	{"tail", "A jump to another function, which returns in place of the one that jumped."},
	{"divert", "The kernel resumed a program elsewhere, most often in a signal handler."},
	{"resume", "The kernel resumed its own code elsewhere, after a fault that it repaired."},
	{"thread", "From here on the stack is that of this thread."},
	{"return", "A return to a function that was called before what is known."},
	{"lost", "The thread has come back with another stack: it ran on another CPU in between. "
		 "Or user code has gone on further out, as after longjmp()."},
	{"astray", "A return to where no open call returns to: a corrupted stack."},
	{"cycle", "Branches that went round in a function, or the same lines again, printed once."},
	{"break", "What ran here is not listed; see below."},
	{NULL, "Calls of all CPUs (last, pairs, slow, path, around, locks)"},
	{"A..B", "Between these times, in milliseconds from the first freeze."},
	{"?..B", "Nothing bounds it on that side."},
	{"~A..B", "The order of this line and the line above is not known."},
	{"< NAME", "Where it was called."},
	{"open", "The thread that runs at the end of the history runs in it."},
	{"end not seen", "The history of this CPU does not have its end."},
	{"entry not seen", "It ran, and its call is older than the history, in a gap, or no call."},
	{"after the fault", "The call dealt with the fault."},
	{"x N, to EVENT", "So many calls alike, to that event, in one line, with the branches of all."},
	{"N more", "The time stamps bound so many of its callers in the same way."},
	{"unpaired, caller returned", "No LEAVE is after it, and the function that called it has returned."},
	{"unpaired, caller open", "No LEAVE is after it yet; its caller still runs."},
	{"nothing before it", "A LEAVE whose ENTER is older, or another thread's."},
	{"unknown: ...", "The history does not show what was after it: see btsrec-pairs(1), "
			 "btsrec-locks(1)."},
	{"held: LOCK", "It was taken, and nothing after it has released it."},
	{"waits: LOCK", "The call that takes it is in its slow path: it spins, or "
			"the thread sleeps."},
	{"entered: LOCK", "The call that takes it has not returned, and has not called "
			"a slow path."},
	{"tried: LOCK", "The function may have failed, and whether it took the lock "
			"is not known."},
	{"taken: LOCK", "It was taken, and whether it is held is not known."},
	{"in NAME", "The slow path that is open."},
	{"interrupts off: HOW", "Interrupts are off since then, at the fault or the end."},
	{"preemption off: HOW", "Preemption is off since then: count is that of the kernel."},
	{"likely: ...", "A lock of this kind was released after it, or may be by "
			"others: see btsrec-locks(1)."},
	{NULL, "Stacks (stack)"},
	{"~", "The function has left by a tail call. No real stack has it."},
	{"?", "This line and all older ones may be otherwise. The line above the first ? says "
	      "why."},
	{"!", "The return address is not in the memory of the stack: overwritten, or left "
	      "after the freeze."},
	{"- as HOW", "Entered before what is known."},
	{"thunk as HOW", "A call that is on its way through a thunk."},
	{NULL, "Instructions (insns)"},
	{"code",
	 "Straight-line code begins here, with the thread that ran it. 32-bit code says so."},
	{"insn", "One instruction."},
	{"entry lines such as irq:VECTOR", "An interrupt or exception hit the first address."},
	{"line", "With --source: the source line changes here."},
	{"break", "What ran between two addresses is not listed."},
	{NULL, "User code without a name"},
	{"mm gone", "The process has ended, or runs another program."},
	{"not mapped", "The process has nothing mapped there any more."},
	{"page excluded", "The dump lacks the memory that leads to the file or proves it."},
	{"file not proven", "No process had the build-id in memory; size or time differ."},
	{"file not found", "This machine has no such file, and no debug file of its build-id; see "
			   "--sysroot."},
	{"build-id differs", "The file on this machine is another one, and is not used."},
	{"no symbol", "The file is right and has no symbol there."},
	{"not a file", "Code that was made while the program ran."},
};

/* As much of @text as fits, up to a blank, after @name in its column. */
static const char *print_line(const char *name, const char *text)
{
	const size_t room = WIDTH_COLUMNS - MEANING_COLUMN;
	size_t nr_bytes = strlen(text), nr_next = nr_bytes;

	if (nr_bytes > room) {
		for (nr_bytes = room; nr_bytes && text[nr_bytes] != ' '; nr_bytes--)
			;
		nr_next = nr_bytes + 1;
	}
	command_print("  %-*s%.*s\n", MEANING_COLUMN - 2, name, (int)nr_bytes, text);
	return text + nr_next;
}

static void print_mark(const struct mark *mark)
{
	const char *rest = mark->meaning, *name = mark->name;

	if (!rest)
		return;
	if (!name) {
		command_print("%s%s\n", mark == marks ? "" : "\n", mark->meaning);
		return;
	}
	/* A list of marks that is too long for its column stands on a line of its own. */
	if (strlen(name) > MEANING_COLUMN - 3) {
		command_print("  %s\n", name);
		name = "";
	}
	do {
		rest = print_line(name, rest);
		name = "";
	} while (*rest);
}

void marks_print(void)
{
	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
		print_mark(&marks[i]);
}

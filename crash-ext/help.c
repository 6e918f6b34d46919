// SPDX-License-Identifier: GPL-2.0-or-later
#include "help.h"

#include <stddef.h>
#include <stdio.h>

#include "command.h"

#define MAX_LINES  80
#define LINE_BYTES 96

/* crash gives lines with a %s the program's name; no other conversion may appear. */
static char *const before[] = {
	"bts",
	"branch history of the flight recorder",
	"[command] [option]... | help [command [option] | marks] | version",
	"  This command displays the branches that each CPU took before the crash, as",
	"  the btsrec kernel module let the CPU's Branch Trace Store record them, with",
	"  the task switches between them.  Without a command it displays a summary: the",
	"  first fault, the calls that led to it, what the other CPUs were doing, and the",
	"  last task switches.  Commands and options are those of btsrec(1), without the",
	"  dump, which crash has opened:",
	" ",
};

static char *const after[] = {
	" ",
	"  \"bts help command\" lists the options of a command, \"bts help marks\" explains",
	"  what stands in the output.  Commands display all events of all CPUs unless",
	"  --cpu, -n or a filter chooses some.  Names are those of crash and those in the",
	"  dump; with --no-names there are addresses and names of modules only.",
	"\nEXAMPLES",
	"  Display how the machine came to its end:\n",
	"    %s> bts",
	"    kernel:      6.1.0-56-cloud-amd64",
	"    first fault: panic on CPU 1",
	" ",
	"    CPU 1: frozen (panic), 99/99 \"init\", at panic+0x5",
	"      43660 branches of at least 19.985 ms, older ones are gone",
	"      switch 99/99 \"init\" -> 15/15 \"rcu_preempt\", 4.297 ms before the stop",
	"      switch 15/15 \"rcu_preempt\" -> 99/99 \"init\", 3.990 ms before the stop",
	"    How it got there:",
	"      1     42435 syscall      1231+ entry_SYSCALL_64 (write)",
	"      1     42438 call         1228+   do_syscall_64",
	"      ...",
	"      1     42497 call         1169+                 __handle_sysrq",
	"      1     42503 call         1155                    _printk",
	"      1     43661 icall           5+                   sysrq_handle_crash",
	"      1     43664 call            2+                     panic",
	" ",
	"    CPU 0: frozen (panic) by NMI, 159/159 \"seq\"",
	"      in user code at 0x00000000004b0e32",
	"      ...",
	" ",
	"  Display the last two events of CPU 0, the newest first:\n",
	"    %s> bts show --cpu 0 -n 2 --newest-first",
	"    # CPU 0: frozen (panic), older history is gone",
	"      0     43675 freeze  tsc=70967844870 reason=\"panic\" by=nmi 101/101 \"init\" ...",
	"      0     43674 branch  0xffffffff87201750 -> 0xffffffffc03f62d0 -  __x86_ind ...",
	" ",
	"  Count the branches of all CPUs into a function:\n",
	"    %s> bts show | grep -c -- '-> schedule+0x0'",
	"    9",
	" ",
	"  Display all that is no branch on CPU 1, such as task switches and exec:\n",
	"    %s> bts show --cpu 1 | grep -v ' branch '",
	"    ...",
	"      1     33126 switch  tsc=70724672148 mm 222/222 \"usleep\" cr3=0x00000000010 ...",
	"      1     38183 switch  tsc=70787435290 task 222/222 \"usleep\" cr3=0x000000000 ...",
	"      1     43655 freeze  tsc=70928213304 reason=\"panic\" by=self 97/97 \"init\" ...",
};

static char lines[MAX_LINES][LINE_BYTES];

char *bts_help[3 * MAX_LINES];

void help_init(void)
{
	size_t nr = 0, nr_commands = 0;

	for (size_t i = 0; i < sizeof(before) / sizeof(before[0]); i++)
		bts_help[nr++] = before[i];
	for (const struct command *command = commands; command->name; command++) {
		if (!command->run || nr_commands == MAX_LINES)
			continue;
		snprintf(lines[nr_commands], LINE_BYTES, "     %-10s %s", command->name,
			 command->summary);
		bts_help[nr++] = lines[nr_commands++];
	}
	for (size_t i = 0; i < sizeof(after) / sizeof(after[0]); i++)
		bts_help[nr++] = after[i];
}

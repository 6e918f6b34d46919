// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * comparevalues: the printed values of registers -> are they those that the model has logged?
 * usage: btsrec … --format jsonl DUMP | comparevalues MODEL_DIR NR_CPUS
 *
 * The input is what "btsrec show", "insns --values", "calls --args" and "stack --args" print, in
 * this order.  The output is one JSON object: counts by "CPU: what", arguments by "args: class".
 * A line for each of the first wrong values goes to stderr.  In C because a long run has 10^8.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/grow.h"
#include "model_log.h"

#define MAX_CPUS	64
#define MAX_PRINTED	20
#define NR_DISTANCES	5

enum value_class { UNKNOWN, CERTAIN, LIKELY, NR_CLASSES };

static const char *const class_names[NR_CLASSES] = { "unknown", "certain", "likely" };
static const uint64_t distances[NR_DISTANCES] = { 100, 1000, 10000, 100000, 1ULL << 62 };

/** struct compared - the values of one printed instruction */
struct compared {
	uint8_t of[NR_CLASSES];
	uint8_t wrong[NR_CLASSES];
	bool misaligned;
};

/** struct cpu - @branches: the numbers of its events that are records, ascending */
struct cpu {
	const struct model_regs_header *log;
	uint64_t total;
	uint64_t *branches;
	size_t nr_branches, room_branches;
	struct compared *insns;
	size_t nr_insns, room_insns;
};

/** struct group - what is printed of one event; the lines are as they were read */
struct group {
	unsigned int cpu;
	uint64_t n;
	char **lines;
	size_t nr, room;
};

static struct cpu cpus[MAX_CPUS];
static unsigned int nr_cpus, nr_printed;
static struct compared_args {
	uint64_t of[NR_CLASSES], wrong[NR_CLASSES], not_compared;
} args;

static void die(const char *what)
{
	fprintf(stderr, "comparevalues: %s\n", what);
	exit(2);
}

/* Room for one more in the list of which @array is the address. */
static void need(void *array, size_t item_bytes, size_t nr, size_t *room)
{
	if (!grow(array, item_bytes, nr, room))
		die("no memory");
}

static const void *mapped(const char *dir, unsigned int cpu, const char *suffix)
{
	char path[4096];
	struct stat stat;
	void *data;
	int fd;

	snprintf(path, sizeof(path), "%s/cpu%u.%s", dir, cpu, suffix);
	fd = open(path, O_RDONLY);
	if (fd < 0 || fstat(fd, &stat))
		die(path);
	data = mmap(NULL, (size_t)stat.st_size, PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	if (data == MAP_FAILED)
		die(path);
	return data;
}

static void open_logs(const char *dir)
{
	for (unsigned int cpu = 0; cpu < nr_cpus; cpu++) {
		const struct model_log_header *records = mapped(dir, cpu, "log");

		cpus[cpu].log = mapped(dir, cpu, "regs");
		cpus[cpu].total = records->total;
		if (cpus[cpu].log->magic != MODEL_REGS_MAGIC ||
		    cpus[cpu].log->version != MODEL_REGS_VERSION)
			die("no log of registers of this version");
	}
}

/* --- the log: @at counts all instructions since the start --- */

static uint64_t log_begin(const struct cpu *cpu)
{
	return cpu->log->total > cpu->log->capacity ? cpu->log->total - cpu->log->capacity : 0;
}

static const struct model_regs *logged(const struct cpu *cpu, uint64_t at)
{
	const char *first = (const char *)cpu->log + MODEL_LOG_HEADER_BYTES;

	return (const struct model_regs *)first + at % cpu->log->capacity;
}

/* The first one with so many records before it, or more. */
static uint64_t first_behind(const struct cpu *cpu, uint64_t nr_records)
{
	uint64_t low = log_begin(cpu), high = cpu->log->total;

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (logged(cpu, middle)->nr_records < nr_records)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool is_behind(const struct cpu *cpu, uint64_t at, uint64_t nr_records)
{
	return at < cpu->log->total && logged(cpu, at)->nr_records == nr_records;
}

/* An instruction that was begun anew is there again: the last time counts. */
static uint64_t last_begun(const struct cpu *cpu, uint64_t at, uint64_t nr_records)
{
	while (is_behind(cpu, at + 1, nr_records) &&
	       logged(cpu, at + 1)->ip == logged(cpu, at)->ip)
		at++;
	return at;
}

/* How many records there are before what runs after those events that are below @n. */
static uint64_t records_below(const struct cpu *cpu, uint64_t n)
{
	size_t low = 0, high = cpu->nr_branches;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (cpu->branches[middle] < n)
			low = middle + 1;
		else
			high = middle;
	}
	return cpu->total - cpu->nr_branches + low;
}

/* --- the lines --- */

static const char *member(const char *line, const char *key)
{
	const char *found = strstr(line, key);

	return found ? found + strlen(key) : NULL;
}

static uint64_t number(const char *line, const char *key)
{
	const char *text = member(line, key);

	if (!text)
		die(key);
	return strtoull(text, NULL, 0);
}

/* r8 to r15 and their parts. */
static bool new_part(const char *name, unsigned int *reg, uint64_t *mask)
{
	char *end;

	if (name[0] != 'r' || name[1] < '0' || name[1] > '9')
		return false;
	*reg = (unsigned int)strtoul(name + 1, &end, 10);
	*mask = *end == 'd' ? UINT32_MAX : *end == 'w' ? UINT16_MAX :
		*end == 'b' ? UINT8_MAX : UINT64_MAX;
	return *reg >= 8 && *reg < MODEL_NR_REGS;
}

/* The same of register @reg below 8. */
static bool old_part(const char *name, unsigned int reg, unsigned int *shift, uint64_t *mask)
{
	static const char *const words[] = { "ax", "cx", "dx", "bx", "sp", "bp", "si", "di" };
	const char *word = words[reg];
	size_t length = strcspn(name, "\"");

	*shift = 0;
	if (length == 3 && !strncmp(name + 1, word, 2) && (*name == 'r' || *name == 'e'))
		*mask = *name == 'r' ? UINT64_MAX : UINT32_MAX;
	else if (length == 2 && !strncmp(name, word, 2))
		*mask = UINT16_MAX;
	else if ((length == 3 && reg >= 4 && !strncmp(name, word, 2) && name[2] == 'l') ||
		 (length == 2 && reg < 4 && name[0] == word[0] && strchr("lh", name[1])))
		*mask = UINT8_MAX;
	else
		return false;
	if (*mask == UINT8_MAX && name[1] == 'h')
		*shift = 8;
	return true;
}

/* Number, lowest bit and width of the register that @name begins with, up to a quote. */
static bool part_of(const char *name, unsigned int *reg, unsigned int *shift, uint64_t *mask)
{
	*shift = 0;
	if (new_part(name, reg, mask))
		return true;
	for (*reg = 0; *reg < 8; ++*reg)
		if (old_part(name, *reg, shift, mask))
			return true;
	return false;
}

/** struct operand - a printed value; @value: if the class is not UNKNOWN.  Arguments, too. */
struct operand {
	unsigned int reg, shift;
	uint64_t mask, value;
	enum value_class class;
};

/* The next operand from *@at on, before @end; false: there is none. */
static bool next_operand(const char **at, const char *end, struct operand *operand)
{
	const char *name = member(*at, "\"reg\":\""), *class, *value, *bytes;

	if (!name || name >= end)
		return false;
	class = member(name, "\"class\":\"");
	if (!class || !part_of(name, &operand->reg, &operand->shift, &operand->mask))
		die(name);
	operand->class = *class == 'c' ? CERTAIN : *class == 'l' ? LIKELY : UNKNOWN;
	value = member(name, "\"value\":\"");
	if (operand->class != UNKNOWN && (!value || value > class))
		die(name);
	operand->value = operand->class != UNKNOWN ? strtoull(value, NULL, 16) : 0;
	bytes = member(name, "\"bytes\":");
	if (bytes && bytes < class)
		operand->mask = UINT64_MAX >> (64 - 8 * strtoull(bytes, NULL, 0));
	*at = class;
	return true;
}

static void print_wrong(const char *line, unsigned int reg, uint64_t truth)
{
	if (nr_printed++ < MAX_PRINTED)
		fprintf(stderr, "%sregister %u held 0x%jx\n", line, reg, (uintmax_t)truth);
}

/* --- instructions --- */

static void check_operands(const struct cpu *cpu, uint64_t at, const char *line, const char *from,
			   const char *to, struct compared *counts)
{
	struct operand operand;

	while (next_operand(&from, to, &operand)) {
		uint64_t truth;

		if (at >= cpu->log->total)
			operand.class = UNKNOWN;
		counts->of[operand.class]++;
		if (operand.class == UNKNOWN)
			continue;
		truth = logged(cpu, at)->reg[operand.reg];
		if ((truth >> operand.shift & operand.mask) == operand.value)
			continue;
		counts->wrong[operand.class]++;
		print_wrong(line, operand.reg, truth);
	}
}

static void check_insn(const struct cpu *cpu, uint64_t at, const char *line,
		       struct compared *counts)
{
	const char *reads = member(line, "\"reads\":["), *writes;

	/* The values of user code are not printed. */
	if (!reads)
		return;
	writes = member(reads, "\"writes\":[");
	if (!writes)
		die(line);
	check_operands(cpu, at, line, reads, writes, counts);
	check_operands(cpu, at + 1, line, writes, line + strlen(line), counts);
}

/* Where the instructions of @group are in the log, @places; false: others are there. */
static bool find_places(const struct cpu *cpu, const struct group *group, uint64_t *places)
{
	uint64_t nr_records = records_below(cpu, group->n), at = first_behind(cpu, nr_records);
	size_t nr = 0, skipped = 0;

	/* Before the oldest record the log has more than the history. */
	if (cpu->nr_branches && group->n == cpu->branches[0]) {
		for (uint64_t i = at; is_behind(cpu, i, nr_records);
		     i = last_begun(cpu, i, nr_records) + 1)
			nr++;
		skipped = nr > group->nr ? nr - group->nr : 0;
	}
	for (; skipped; skipped--)
		at = last_begun(cpu, at, nr_records) + 1;
	for (size_t i = 0; i < group->nr; i++) {
		if (!is_behind(cpu, at, nr_records) ||
		    logged(cpu, at)->ip != number(group->lines[i], "\"ip\":\""))
			return false;
		places[i] = last_begun(cpu, at, nr_records);
		at = places[i] + 1;
	}
	return true;
}

static void end_group(struct group *group)
{
	struct cpu *cpu = &cpus[group->cpu];
	uint64_t *places = calloc(group->nr + 1, sizeof(*places));
	bool found;

	if (!places)
		die("no memory");
	found = find_places(cpu, group, places);
	for (size_t i = 0; i < group->nr; i++) {
		struct compared *counts;

		need(&cpu->insns, sizeof(*cpu->insns), cpu->nr_insns, &cpu->room_insns);
		counts = &cpu->insns[cpu->nr_insns++];
		*counts = (struct compared){ .misaligned = !found };
		if (found)
			check_insn(cpu, places[i], group->lines[i], counts);
		free(group->lines[i]);
	}
	group->nr = 0;
	free(places);
}

/* Takes @line. */
static void add_insn(struct group *group, unsigned int cpu, uint64_t n, char *line)
{
	if (group->cpu != cpu || group->n != n)
		end_group(group);
	group->cpu = cpu;
	group->n = n;
	need(&group->lines, sizeof(*group->lines), group->nr, &group->room);
	group->lines[group->nr++] = line;
}

/* --- arguments --- */

/* What the registers held where @entered began behind the events up to @n; NULL: not known. */
static const struct model_regs *entered_with(const struct cpu *cpu, uint64_t n, uint64_t entered)
{
	uint64_t nr_records = records_below(cpu, n + 1), at = first_behind(cpu, nr_records);

	if (!is_behind(cpu, at, nr_records))
		return NULL;
	at = last_begun(cpu, at, nr_records);
	return logged(cpu, at)->ip == entered ? logged(cpu, at) : NULL;
}

static void check_args(const struct cpu *cpu, const char *line, uint64_t n, uint64_t entered)
{
	const char *at = member(line, "\"args\":["), *end = line + strlen(line);
	const struct model_regs *held = entered_with(cpu, n, entered);
	struct operand arg;

	while (at && next_operand(&at, end, &arg)) {
		if (!held) {
			args.not_compared++;
			continue;
		}
		args.of[arg.class]++;
		if (arg.class == UNKNOWN || (held->reg[arg.reg] & arg.mask) == arg.value)
			continue;
		args.wrong[arg.class]++;
		print_wrong(line, arg.reg, held->reg[arg.reg]);
	}
}

/* --- all --- */

static void add_branch(struct cpu *cpu, uint64_t n)
{
	need(&cpu->branches, sizeof(*cpu->branches), cpu->nr_branches, &cpu->room_branches);
	cpu->branches[cpu->nr_branches++] = n;
}

/* Takes @line. */
static void take(struct group *group, char *line)
{
	const char *kind = member(line, "\"kind\":\"");
	unsigned int cpu = (unsigned int)number(line, "\"cpu\":");
	uint64_t n = member(line, "\"n\":") ? number(line, "\"n\":") : 0;

	if (!kind || cpu >= nr_cpus)
		die(line);
	if (!strncmp(kind, "insn\"", 5)) {
		add_insn(group, cpu, n, line);
		return;
	}
	if (!strncmp(kind, "branch\"", 7))
		add_branch(&cpus[cpu], n);
	else if (!strncmp(kind, "enter\"", 6) && strstr(line, "\"args\":["))
		check_args(&cpus[cpu], line, n, number(line, "\"to\":\""));
	else if (!strncmp(kind, "frame\"", 6) && strstr(line, "\"args\":["))
		check_args(&cpus[cpu], line, number(line, "\"entered_n\":"),
			   number(line, "\"entered\":\""));
	free(line);
}

static void print_cpu(unsigned int index)
{
	const struct cpu *cpu = &cpus[index];
	uint64_t counts[NR_DISTANCES][NR_CLASSES] = { 0 }, wrong[NR_DISTANCES][NR_CLASSES] = { 0 };
	uint64_t misaligned = 0;

	for (size_t i = 0; i < cpu->nr_insns; i++) {
		unsigned int at = 0;

		for (; cpu->nr_insns - i > distances[at]; at++)
			;
		misaligned += cpu->insns[i].misaligned;
		for (unsigned int class = 0; class < NR_CLASSES; class++) {
			counts[at][class] += cpu->insns[i].of[class];
			wrong[at][class] += cpu->insns[i].wrong[class];
		}
	}
	for (unsigned int at = 0; at < NR_DISTANCES; at++)
		for (unsigned int class = 0; class < NR_CLASSES; class++)
			printf("\"%u: %s %ju\":%ju,\"%u: wrong %s %ju\":%ju,", index,
			       class_names[class], (uintmax_t)distances[at],
			       (uintmax_t)counts[at][class], index, class_names[class],
			       (uintmax_t)distances[at], (uintmax_t)wrong[at][class]);
	printf("\"%u: not aligned\":%ju,", index, (uintmax_t)misaligned);
}

int main(int argc, char **argv)
{
	struct group group = { 0 };
	char *line = NULL;
	size_t room = 0;

	if (argc != 3)
		die("which folder of the model, how many CPUs?");
	nr_cpus = (unsigned int)strtoul(argv[2], NULL, 0);
	if (!nr_cpus || nr_cpus > MAX_CPUS)
		die("so many CPUs are not known");
	open_logs(argv[1]);
	while (getline(&line, &room, stdin) > 0) {
		take(&group, line);
		line = NULL;
		room = 0;
	}
	free(line);
	end_group(&group);
	free(group.lines);
	printf("{");
	for (unsigned int cpu = 0; cpu < nr_cpus; cpu++)
		print_cpu(cpu);
	for (unsigned int class = 0; class < NR_CLASSES; class++)
		printf("\"args: %s\":%ju,\"args: wrong %s\":%ju,", class_names[class],
		       (uintmax_t)args.of[class], class_names[class],
		       (uintmax_t)args.wrong[class]);
	printf("\"args: not compared\":%ju}\n", (uintmax_t)args.not_compared);
	return 0;
}

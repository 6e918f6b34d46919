// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "bench.h"

#define CPUINFO_BYTES	4096	/* the first CPU is enough */

static int compare(const void *a, const void *b)
{
	double one = *(const double *)a, other = *(const double *)b;

	return (one > other) - (one < other);
}

static double median(const double *values, unsigned int nr)
{
	double sorted[COMMAND_MAX_PAIRS];

	memcpy(sorted, values, nr * sizeof(*values));
	qsort(sorted, nr, sizeof(*sorted), compare);
	return (sorted[(nr - 1) / 2] + sorted[nr / 2]) / 2;
}

struct bench_spread bench_spread_of(const struct bench_result *result)
{
	double ratios[COMMAND_MAX_PAIRS] = { 0 };
	struct bench_spread spread = {
		.disarmed_s = median(result->disarmed_s, result->nr_runs),
		.armed_s = median(result->armed_s, result->nr_runs),
	};

	for (unsigned int i = 0; i < result->nr_runs; i++) {
		ratios[i] = result->armed_s[i] / result->disarmed_s[i];
		if (!i || ratios[i] < spread.least_ratio)
			spread.least_ratio = ratios[i];
		if (!i || ratios[i] > spread.most_ratio)
			spread.most_ratio = ratios[i];
	}
	spread.ratio = median(ratios, result->nr_runs);
	return spread;
}

/* Neither needs escapes: what would is left out. */
static void put_plain(const char *text)
{
	for (; *text && *text != '\n'; text++)
		if (*text >= 0x20 && *text < 0x7f && *text != '"' && *text != '\\')
			putchar(*text);
}

/* The value of the first line of @text that begins with @key, up to its end. */
static void put_value(const char *text, const char *key)
{
	const char *at = strstr(text, key);

	if (at)
		put_plain(at + strlen(key) + strspn(at + strlen(key), ": \t"));
}

static void read_cpuinfo(char text[CPUINFO_BYTES])
{
	FILE *file = fopen("/proc/cpuinfo", "r");
	size_t nr_bytes = file ? fread(text, 1, CPUINFO_BYTES - 1, file) : 0;

	text[nr_bytes] = '\0';
	if (file)
		fclose(file);
}

static void put_cpu_name(void)
{
	char text[CPUINFO_BYTES];

	read_cpuinfo(text);
	put_value(text, "model name");
}

void bench_print_stepping(bool json)
{
	static const char *const keys[][2] = {
		{ "family", "cpu family\t" }, { "model", "model\t" },
		{ "stepping", "stepping\t" }, { "microcode", "microcode\t" },
	};
	char text[CPUINFO_BYTES];

	read_cpuinfo(text);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (json)
			printf(",\"%s\":\"", keys[i][0]);
		else
			printf("%s:%*s", keys[i][0], (int)(12 - strlen(keys[i][0])), "");
		put_value(text, keys[i][1]);
		fputs(json ? "\"" : "\n", stdout);
	}
	printf(json ? ",\"fred\":%s,\"virtual\":%s" : "fred:        %s\nvirtual:     %s\n",
	       strstr(text, " fred ") ? "true" : "false",
	       strstr(text, " hypervisor ") ? "true" : "false");
}

void bench_print_machine(bool json, const char *state)
{
	struct utsname machine = { 0 };

	uname(&machine);
	fputs(json ? "{\"kind\":\"machine\",\"cpu\":\"" : "cpu:         ", stdout);
	put_cpu_name();
	fputs(json ? "\",\"kernel\":\"" : "\nkernel:      ", stdout);
	put_plain(machine.release);
	fputs(json ? "\",\"mode\":\"" : "\nmode:        ", stdout);
	put_value(state, "\nmode");
	fputs(json ? "\",\"ring_bytes\":" : "\nring_bytes:  ", stdout);
	put_value(state, "\nring_bytes");
}

void bench_print_head(bool json, const char *state, unsigned int nr_runs)
{
	bench_print_machine(json, state);
	printf(json ? ",\"pairs\":%u}\n" : "\npairs:       %u\n\n", nr_runs);
	if (!json)
		printf("%-10s %12s %12s %8s %8s %8s  %s\n", "work", "disarmed, s", "armed, s",
		       "ratio", "least", "most", "one unit is");
	fflush(stdout);
}

static void print_list(const char *name, const double *values, unsigned int nr)
{
	printf(",\"%s\":[", name);
	for (unsigned int i = 0; i < nr; i++)
		printf("%s%.6f", i ? "," : "", values[i]);
	putchar(']');
}

void bench_print(bool json, const struct bench_result *result)
{
	struct bench_spread spread = bench_spread_of(result);

	if (!json) {
		printf("%-10s %12.6f %12.6f %8.2f %8.2f %8.2f  %s\n", result->work->name,
		       spread.disarmed_s, spread.armed_s, spread.ratio, spread.least_ratio,
		       spread.most_ratio, result->work->what);
	} else {
		printf("{\"kind\":\"overhead\",\"work\":\"%s\",\"units\":%llu",
		       result->work->name, (unsigned long long)result->nr_units);
		print_list("disarmed_s", result->disarmed_s, result->nr_runs);
		print_list("armed_s", result->armed_s, result->nr_runs);
		printf(",\"disarmed_median_s\":%.6f,\"armed_median_s\":%.6f,\"ratio\":%.4f,"
		       "\"ratio_least\":%.4f,\"ratio_most\":%.4f}\n", spread.disarmed_s,
		       spread.armed_s, spread.ratio, spread.least_ratio, spread.most_ratio);
	}
	fflush(stdout);
}

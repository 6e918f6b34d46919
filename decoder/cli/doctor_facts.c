// SPDX-License-Identifier: GPL-2.0-or-later
/* The files of a machine.  What cannot be read is not there; what that means is judged. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "doctor.h"

#define DEVICE			"/dev/btsrec"
#define DEFAULT_DUMP_DIR	"/var/crash"
#define DEFAULT_MIN_FREE_MIB	256
#define BLANKS			" \t\r"
/* What ends a signed module: MODULE_SIG_STRING in include/linux/module_signature.h. */
#define SIGNATURE_END		"~Module signature appended~\n"

/* --- Files below the root ------------------------------------------------ */

/* Only what is a file, or the recorder's device: no reader waits for ever, or never ends. */
static int check_kind(int fd, bool is_device)
{
	struct stat stat;

	if (fstat(fd, &stat))
		return errno;
	if (!S_ISREG(stat.st_mode) && !(is_device && S_ISCHR(stat.st_mode)))
		return ENODEV;
	return fcntl(fd, F_SETFL, 0) ? errno : 0;
}

static FILE *open_below(const char *root, const char *name)
{
	char path[PATH_MAX];
	FILE *file = NULL;
	int fd, err;

	if (snprintf(path, sizeof(path), "%s%s", root, name) >= (int)sizeof(path)) {
		errno = ENAMETOOLONG;
		return NULL;
	}
	/* Opening a pipe would wait for its writer. */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return NULL;
	err = check_kind(fd, !strcmp(name, DEVICE));
	if (!err) {
		file = fdopen(fd, "r");
		err = errno;
	}
	if (!file)
		close(fd);
	errno = err;
	return file;
}

static bool exists(const char *root, const char *name)
{
	char path[PATH_MAX];

	return snprintf(path, sizeof(path), "%s%s", root, name) < (int)sizeof(path) &&
	       !faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW);
}

/* The first line of a file without its newline; "" if there is none. */
static void read_line(const char *root, const char *name, char *ret, size_t ret_bytes)
{
	FILE *file = open_below(root, name);

	*ret = '\0';
	if (!file)
		return;
	if (fgets(ret, (int)ret_bytes, file))
		ret[strcspn(ret, "\n")] = '\0';
	fclose(file);
}

static uint64_t read_number(const char *root, const char *name)
{
	char line[64];

	read_line(root, name, line, sizeof(line));
	return strtoull(line, NULL, 0);
}

/* Calls @take with each line of the file; returns 0 or errno. */
static int each_line(const char *root, const char *name,
		     void (*take)(struct doctor_facts *facts, char *line),
		     struct doctor_facts *facts)
{
	FILE *file = open_below(root, name);
	char *line = NULL;
	size_t room = 0;
	int err;

	if (!file)
		return errno;
	errno = 0;
	while (getline(&line, &room, file) > 0) {
		line[strcspn(line, "\n")] = '\0';
		take(facts, line);
		errno = 0;
	}
	err = errno;
	free(line);
	fclose(file);
	return err;
}

/* --- The processor ------------------------------------------------------- */

static bool has_word(const char *text, const char *word)
{
	size_t length = strlen(word);
	const char *at;

	for (at = text; (at = strstr(at, word)); at += length)
		if ((at == text || at[-1] == ' ') && (!at[length] || at[length] == ' '))
			return true;
	return false;
}

static void take_cpuinfo(struct doctor_facts *facts, char *line)
{
	const char *value = strchr(line, ':');

	if (!value)
		return;
	facts->has_cpuinfo = true;
	if (!strncmp(line, "processor", 9))
		facts->nr_online++;
	if (!strncmp(line, "vendor_id", 9))
		facts->is_intel = strstr(value, "GenuineIntel");
	if (strncmp(line, "flags", 5))
		return;
	facts->has_bts = has_word(value, "bts");
	facts->has_dtes64 = has_word(value, "dtes64");
	facts->is_guest = has_word(value, "hypervisor");
}

static void read_processor(const char *root, struct doctor_facts *facts)
{
	char line[256];

	each_line(root, "/proc/cpuinfo", take_cpuinfo, facts);
	read_line(root, "/sys/devices/system/cpu/vulnerabilities/meltdown", line, sizeof(line));
	facts->is_pti_known = *line;
	facts->has_pti = strstr(line, "PTI");
}

/* --- The module ---------------------------------------------------------- */

/* A line of modules.dep: the module's path, a colon, what it needs. */
static void take_module(struct doctor_facts *facts, char *line)
{
	const char *name;

	line[strcspn(line, ":")] = '\0';
	name = strrchr(line, '/');
	name = name ? name + 1 : line;
	if (!strncmp(name, "btsrec.ko", 9))
		snprintf(facts->module, sizeof(facts->module), "/lib/modules/%s/%s",
			 facts->release, line);
}

static bool ends_with_signature(const char *root, const char *name)
{
	char end[sizeof(SIGNATURE_END)] = "";
	FILE *file = open_below(root, name);
	bool is_signed;

	if (!file)
		return false;
	is_signed = !fseek(file, -(long)strlen(SIGNATURE_END), SEEK_END) &&
		    fread(end, 1, strlen(SIGNATURE_END), file) == strlen(SIGNATURE_END) &&
		    !strcmp(end, SIGNATURE_END);
	fclose(file);
	return is_signed;
}

static void read_module(const char *root, struct doctor_facts *facts)
{
	char line[256];

	read_line(root, "/proc/sys/kernel/osrelease", facts->release, sizeof(facts->release));
	snprintf(line, sizeof(line), "/lib/modules/%s/modules.dep", facts->release);
	each_line(root, line, take_module, facts);
	facts->is_signed = *facts->module && ends_with_signature(root, facts->module);
	facts->is_loaded = exists(root, "/sys/module/btsrec");
	read_line(root, "/sys/kernel/security/lockdown", line, sizeof(line));
	facts->wants_signed = *line && !strstr(line, "[none]");
	read_line(root, "/sys/module/module/parameters/sig_enforce", line, sizeof(line));
	facts->wants_signed |= *line == 'Y';
}

/* --- The recorder -------------------------------------------------------- */

static uint64_t value_of(const char *line, const char *key)
{
	const char *at = strstr(line, key);

	return at ? strtoull(at + strlen(key), NULL, 10) : 0;
}

/* "cpu0: armed annotations=17 skipped=0 foreign_stops=0 records=9000 recorded_ms=70 ring_bytes=768" */
static void take_cpu(struct doctor_facts *facts, const char *line)
{
	facts->nr_cpus++;
	facts->nr_armed += !!strstr(line, ": armed ");
	facts->nr_annotations += value_of(line, "annotations=");
	facts->nr_skipped += value_of(line, "skipped=");
	facts->nr_foreign_stops += value_of(line, "foreign_stops=");
	facts->nr_records += value_of(line, " records=");
	facts->recorded_ms += value_of(line, "recorded_ms=");
	facts->rings_bytes += value_of(line, " ring_bytes=");
}

/* "missing_hook: report_bug: what the history lacks" */
static void take_missing_hook(struct doctor_facts *facts, const char *name)
{
	size_t length = strlen(facts->missing_hooks);

	facts->nr_missing_hooks++;
	if (length + strcspn(name, ":") + sizeof(", ") <= sizeof(facts->missing_hooks))
		snprintf(facts->missing_hooks + length, sizeof(facts->missing_hooks) - length,
			 "%s%.*s", length ? ", " : "", (int)strcspn(name, ":"), name);
}

static void take_state(struct doctor_facts *facts, char *line)
{
	if (!strncmp(line, "cpu", 3) && line[3] != 's')
		take_cpu(facts, line);
	else if (!strncmp(line, "state: ", 7))
		snprintf(facts->state, sizeof(facts->state), "%.15s", line + 7);
	else if (!strncmp(line, "last_branches: ", 15))
		facts->nr_last_branches = (unsigned int)value_of(line, ": ");
	else if (!strncmp(line, "freeze_on: ", 11))
		snprintf(facts->freeze_on, sizeof(facts->freeze_on), "%.255s", line + 11);
	else if (!strncmp(line, "on_trigger: ", 12))
		facts->copies = !strcmp(line + 12, "copy");
	else if (!strncmp(line, "copies: ", 8))
		facts->nr_copies = value_of(line, ": ");
	else if (!strncmp(line, "missed_triggers: ", 17))
		facts->nr_missed = value_of(line, ": ");
	else if (!strncmp(line, "cpus: ", 6))
		snprintf(facts->cpus, sizeof(facts->cpus), "%.255s", line + 6);
	else if (!strncmp(line, "left_out: ", 10))
		facts->nr_left_out = (unsigned int)value_of(line, ": ");
	else if (!strncmp(line, "tasks: ", 7))
		snprintf(facts->tasks, sizeof(facts->tasks), "%.255s", line + 7);
	else if (!strncmp(line, "max_rate: ", 10))
		facts->max_rate = value_of(line, ": ");
	else if (!strncmp(line, "ring_bytes: ", 12))
		facts->ring_bytes = value_of(line, ": ");
	else if (!strncmp(line, "arms: ", 6))
		facts->nr_arms = value_of(line, ": ");
	else if (!strncmp(line, "execs: ", 7))
		facts->nr_execs = value_of(line, ": ");
	else if (!strncmp(line, "missing_hook: ", 14))
		take_missing_hook(facts, line + 14);
}

/* --- After the crash ----------------------------------------------------- */

/*
 * The value of @name if @line sets that, without the quotes and blanks that systemd and a shell
 * take off; NULL: it sets something else.
 */
static char *value_set(char *line, const char *name)
{
	size_t length = strlen(name);
	char *value = line + length + 1;

	if (strncmp(line, name, length) || line[length] != '=')
		return NULL;
	value += strspn(value, BLANKS);
	if (*value == '"' || *value == '\'') {
		char quote = *value++;

		value[strcspn(value, (char[]){ quote, '\0' })] = '\0';
		return value;
	}
	for (length = strlen(value); length && strchr(BLANKS, value[length - 1]); length--)
		value[length - 1] = '\0';
	return value;
}

/* As for what reads them: a setting that is empty has its default. */
static void take_setting(struct doctor_facts *facts, char *line)
{
	char *value = value_set(line, "DUMP_DIRS");

	if (value) {
		value += strspn(value, BLANKS);
		value[strcspn(value, BLANKS)] = '\0';
		snprintf(facts->dump_dir, sizeof(facts->dump_dir), "%s",
			 *value ? value : DEFAULT_DUMP_DIR);
	}
	value = value_set(line, "CAPTURE");
	if (value)
		facts->captures = !*value || !strcmp(value, "yes");
	value = value_set(line, "PTI");
	if (value)
		facts->maps_pti = !strcmp(value, "map");
	value = value_set(line, "MIN_FREE_MBYTES");
	if (value)
		facts->min_free_bytes =
			(*value ? strtoull(value, NULL, 10) : DEFAULT_MIN_FREE_MIB) << 20;
}

static void take_meminfo(struct doctor_facts *facts, char *line)
{
	static const char *const of_kernel[] = { "Slab:", "KernelStack:", "PageTables:",
						 "VmallocUsed:", "Percpu:" };
	size_t i;

	for (i = 0; i < sizeof(of_kernel) / sizeof(of_kernel[0]); i++)
		if (!strncmp(line, of_kernel[i], strlen(of_kernel[i])))
			facts->kernel_bytes += value_of(line, ":") << 10;
}

/* Of the file system that has the folder, or will have it; DOCTOR_UNKNOWN: not known. */
static uint64_t free_bytes(const char *root, const char *folder)
{
	char path[PATH_MAX];
	struct statvfs stat;

	if (snprintf(path, sizeof(path), "%s%s", root, folder) >= (int)sizeof(path))
		return DOCTOR_UNKNOWN;
	while (statvfs(path, &stat)) {
		char *slash = strrchr(path, '/');

		if (errno != ENOENT || !slash)
			return DOCTOR_UNKNOWN;
		if (slash == path)
			slash++;	/* the root itself */
		if (!*slash)
			return DOCTOR_UNKNOWN;
		*slash = '\0';
	}
	return (uint64_t)stat.f_bavail * stat.f_frsize;
}

static void read_crash(const char *root, struct doctor_facts *facts)
{
	char line[64];

	facts->crash_bytes = read_number(root, "/sys/kernel/kexec_crash_size");
	facts->is_crash_kernel_loaded = read_number(root, "/sys/kernel/kexec_crash_loaded");
	read_line(root, "/sys/module/pstore/parameters/backend", line, sizeof(line));
	facts->has_pstore = *line && strcmp(line, "(null)");
	facts->console_records = read_number(root, "/sys/module/btsrec/parameters/console_records");
	snprintf(facts->dump_dir, sizeof(facts->dump_dir), "%s", DEFAULT_DUMP_DIR);
	facts->captures = true;
	facts->min_free_bytes = (uint64_t)DEFAULT_MIN_FREE_MIB << 20;
	facts->conf_errno = each_line(root, "/etc/btsrec.conf", take_setting, facts);
	if (facts->conf_errno == ENOENT)
		facts->conf_errno = 0;
	read_line(root, "/sys/module/btsrec/parameters/pti", line, sizeof(line));
	if (*line)
		facts->maps_pti = !strcmp(line, "map");
	each_line(root, "/proc/meminfo", take_meminfo, facts);
	facts->dump_free_bytes = free_bytes(root, facts->dump_dir);
	facts->state_free_bytes = free_bytes(root, "/var/lib/btsrec");
}

static void read_units(const char *root, struct doctor_facts *facts)
{
	facts->arms_at_boot = exists(root,
		"/etc/systemd/system/sysinit.target.wants/btsrec.service");
	facts->collects =
		exists(root, "/etc/systemd/system/multi-user.target.wants/btsrec-collect.service");
}

void doctor_facts_read(const char *root, struct doctor_facts *ret)
{
	memset(ret, 0, sizeof(*ret));
	read_processor(root, ret);
	read_module(root, ret);
	ret->device_errno = each_line(root, DEVICE, take_state, ret);
	read_crash(root, ret);
	read_units(root, ret);
}

// SPDX-License-Identifier: GPL-2.0-or-later
#include "recorder/cpus.h"

#include "recorder/session.h"

enum btsrec_status cpus_check(struct btsrec *rec, const unsigned int *cpus, size_t nr_cpus)
{
	if (!btsrec_root(rec))
		return msg_set(&rec->msg, BTSREC_ERR_INVAL, "no recorder located yet");
	for (size_t i = 0; cpus && i < nr_cpus; i++)
		if (!btsrec_cpu(rec, cpus[i]))
			return session_no_cpu(rec, cpus[i]);
	return BTSREC_OK;
}

enum btsrec_status cpus_for_each(struct btsrec *rec, const unsigned int *cpus, size_t nr_cpus,
				 cpu_fn fn, void *arg)
{
	enum btsrec_status status = BTSREC_OK;

	if (!cpus)
		nr_cpus = btsrec_nr_cpu_ids(rec);
	for (size_t i = 0; i < nr_cpus && !status; i++) {
		unsigned int cpu = cpus ? cpus[i] : (unsigned int)i;

		if (btsrec_cpu(rec, cpu))
			status = fn(arg, cpu);
	}
	return status;
}

/* Was @diag the end of a CPU's history?  Without any CPU, every fault may be. */
static bool diag_hides_cpu(const struct btsrec *rec, const struct diag *diag, bool any_cpu)
{
	if (!diag->status)
		return false;
	if (diag->cpu == DIAG_NO_CPU)
		return !any_cpu;
	return !btsrec_cpu(rec, diag->cpu);
}

static enum btsrec_status find_missing(struct btsrec *rec)
{
	unsigned int cpu = 0;

	while (cpu < btsrec_nr_cpu_ids(rec) && !btsrec_cpu(rec, cpu))
		cpu++;
	for (size_t i = 0; i < rec->diags.nr; i++) {
		const struct diag *diag = &rec->diags.list[i];

		if (!diag_hides_cpu(rec, diag, cpu < btsrec_nr_cpu_ids(rec)))
			continue;
		if (diag->cpu == DIAG_NO_CPU)
			return msg_set(&rec->msg, BTSREC_ERR_CORRUPT, "%s", diag->text);
		return msg_set(&rec->msg, BTSREC_ERR_CORRUPT, "CPU %u cannot be shown: %s",
			       diag->cpu, diag->text);
	}
	return BTSREC_OK;
}

enum btsrec_status cpus_end(struct btsrec *rec, const unsigned int *cpus, enum btsrec_status status)
{
	return session_end(rec, status || cpus ? status : find_missing(rec));
}

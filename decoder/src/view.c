// SPDX-License-Identifier: GPL-2.0-or-later
#include "view.h"

#include "session.h"

enum btsrec_status view_check(struct btsrec *rec, const unsigned int *cpus, size_t nr_cpus)
{
	if (!btsrec_root(rec))
		return msg_set(&rec->msg, BTSREC_ERR_INVAL, "no recorder located yet");
	for (size_t i = 0; cpus && i < nr_cpus; i++)
		if (!btsrec_cpu(rec, cpus[i]))
			return msg_set(&rec->msg, BTSREC_ERR_NO_CPU, "CPU %u has no usable ring",
				       cpus[i]);
	rings_ahead_want(rec, cpus, nr_cpus);
	return BTSREC_OK;
}

enum btsrec_status view_cpus(struct btsrec *rec, const unsigned int *cpus, size_t nr_cpus,
			     view_cpu_fn fn, void *arg)
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

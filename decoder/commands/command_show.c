// SPDX-License-Identifier: GPL-2.0-or-later
#include "command.h"

/* Did what was shown have holes?  @ret_cpu: the CPU that has them, if so. */
static enum btsrec_status shown_has_holes(struct btsrec *rec, const struct btsrec_show *show,
					  bool *ret, unsigned int *ret_cpu)
{
	size_t nr_cpus = show->cpus ? show->nr_cpus : btsrec_nr_cpu_ids(rec), i;
	enum btsrec_status status = BTSREC_OK;

	*ret = false;
	for (i = 0; i < nr_cpus && !status && !*ret; i++) {
		unsigned int cpu = show->cpus ? show->cpus[i] : (unsigned int)i;

		if (btsrec_cpu(rec, cpu))
			status = btsrec_has_losses(rec, cpu, show->max_events, ret);
		*ret_cpu = cpu;
	}
	return status;
}

enum command_exit command_say_holes(struct btsrec *rec, const struct btsrec_show *show)
{
	unsigned int cpu = 0;
	bool holes = false;
	enum btsrec_status status = shown_has_holes(rec, show, &holes, &cpu);

	if (status)
		return command_failed(rec, status);
	if (!holes)
		return COMMAND_OK;
	front_error("CPU %u: a part of the history is missing: see the lines \"gap\" of \"%s show "
		    "-c %u\"",
		    cpu, front.name, cpu);
	return COMMAND_FAULTS;
}

enum command_exit command_show(struct btsrec *rec, const struct command_options *options)
{
	struct btsrec_show opts = options->show;
	enum btsrec_status status;

	opts.size = sizeof(opts);
	opts.filter = &options->filter;
	status = btsrec_show(rec, &opts, &front_sink);

	if (status)
		return command_ended(rec, status);
	/* How far back the newest matching events, or lines, reach is not known here. */
	if (options->filtered || opts.fold || opts.thread)
		opts.max_events = 0;
	return command_say_holes(rec, &opts);
}

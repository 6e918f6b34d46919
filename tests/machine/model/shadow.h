/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The true call stack of one thread, kept by stack pointer and by nothing else: a call
 * lives until the stack pointer has moved above the word that holds its return address.
 * So it does not matter how a frame was left: by RET, by longjmp() or by being dropped.
 * Pure.
 */
#ifndef BTSREC_TESTS_MODEL_SHADOW_H
#define BTSREC_TESTS_MODEL_SHADOW_H

#include <stdbool.h>
#include <stdint.h>

#include "model_log.h"

#define SHADOW_MAX_FRAMES	512

/**
 * struct shadow_frame - one frame
 * @logged: as cpuN.stacks has it.
 * @sp: address of the return address on the stack; of an entry of the kernel the stack
 *	pointer that it saved.
 * @cr3: of an entry from user mode: the address space.
 */
struct shadow_frame {
	struct model_frame logged;
	uint64_t sp;
	uint64_t cr3;
};

/**
 * struct shadow - oldest frame first
 * @nr_lost: oldest frames that there was no room for.
 */
struct shadow {
	unsigned int nr;
	unsigned int nr_lost;
	struct shadow_frame frames[SHADOW_MAX_FRAMES];
};

void shadow_clear(struct shadow *shadow);
void shadow_push(struct shadow *shadow, const struct shadow_frame *frame);
void shadow_drop_below(struct shadow *shadow, uint64_t sp);
void shadow_return(struct shadow *shadow, uint64_t to);
void shadow_iret_kernel(struct shadow *shadow, uint64_t sp);
void shadow_to_user(struct shadow *shadow, uint64_t cr3);

#endif

// SPDX-License-Identifier: GPL-2.0-or-later
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "shadow.h"
#include "stacklog.h"
#include "vcpu.h"

#define MAX_TASKS	4096
#define MAX_INSN_BYTES	15

/* What the arguments of the plugin say; see model.c. */
static struct {
	uint64_t capacity;	/* 0: no such log */
	uint64_t every;
	uint64_t switch_ip;
	uint64_t new_ip;
} config = { .every = 1 };

/* A thread, named by the address of its task_struct. */
struct thread {
	uint64_t task;
	struct shadow *shadow;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct thread threads[MAX_TASKS];
static struct shadow *running[MAX_VCPUS];
static struct model_stacks_header *logs[MAX_VCPUS];

/** stacklog_option() - take an argument of the plugin; false: it is another's */
bool stacklog_option(const char *name, uint64_t value)
{
	if (!strcmp(name, "stacks"))
		config.capacity = value;
	else if (!strcmp(name, "stacks_every") && value)
		config.every = value;
	else if (!strcmp(name, "switch_ip"))
		config.switch_ip = value;
	else if (!strcmp(name, "new_ip"))
		config.new_ip = value;
	else
		return false;
	return true;
}

/** stacklog_wanted() - whether the other functions are to be called */
bool stacklog_wanted(void)
{
	return config.capacity;
}

static struct shadow *shadow_new(void)
{
	struct shadow *shadow = calloc(1, sizeof(*shadow));

	if (!shadow)
		abort();
	return shadow;
}

/** stacklog_open_cpu() - make the log of a vCPU */
void stacklog_open_cpu(unsigned int cpu)
{
	struct model_stacks_header *log;

	if (!config.capacity || logs[cpu])
		return;
	log = log_map_cpu(cpu, "stacks", MODEL_LOG_HEADER_BYTES +
			  config.capacity * sizeof(struct model_stack));
	log->magic = MODEL_STACKS_MAGIC;
	log->version = MODEL_STACKS_VERSION;
	log->cpu = cpu;
	log->capacity = config.capacity;
	running[cpu] = shadow_new();
	logs[cpu] = log;
}

static struct thread *thread_of(uint64_t task)
{
	for (unsigned int i = 0; i < MAX_TASKS; i++) {
		struct thread *thread = &threads[(task / 64 + i) % MAX_TASKS];

		if (thread->task == task || !thread->task) {
			thread->task = task;
			return thread;
		}
	}
	abort();
}

/*
 * __switch_to_asm(prev, next) is being entered: the two registers of the first arguments.
 * The one thread it leaves cannot run elsewhere before the stack pointer has changed.
 */
static void switch_threads(struct vcpu *cpu)
{
	uint64_t prev = vcpu_reg(REG_RDI), next = vcpu_reg(REG_RSI);
	struct thread *thread;

	pthread_mutex_lock(&lock);
	thread_of(prev)->shadow = running[cpu->index];
	thread = thread_of(next);
	if (!thread->shadow)
		thread->shadow = shadow_new();
	running[cpu->index] = thread->shadow;
	thread->shadow = NULL;
	pthread_mutex_unlock(&lock);
}

/* wake_up_new_task(task) is being entered: a task_struct is used for another thread. */
static void begin_thread(void)
{
	uint64_t task = vcpu_reg(REG_RDI);
	struct thread *thread;

	pthread_mutex_lock(&lock);
	thread = thread_of(task);
	if (thread->shadow)
		shadow_clear(thread->shadow);
	pthread_mutex_unlock(&lock);
}

static void sample(struct vcpu *cpu)
{
	struct model_stacks_header *log = logs[cpu->index];
	const struct shadow *shadow = running[cpu->index];
	struct model_stack *ring = (void *)((char *)log + MODEL_LOG_HEADER_BYTES);
	struct model_stack *stack = &ring[log->total % log->capacity];
	unsigned int nr = shadow->nr < MODEL_STACK_FRAMES ? shadow->nr : MODEL_STACK_FRAMES;

	stack->record = cpu->log->total - 1;
	stack->nr_frames = nr;
	stack->nr_more = shadow->nr - nr + shadow->nr_lost;
	for (unsigned int i = 0; i < nr; i++)
		stack->frames[i] = shadow->frames[shadow->nr - 1 - i].logged;
	__atomic_store_n(&log->total, log->total + 1, __ATOMIC_RELEASE);
}

static void sample_if_due(struct vcpu *cpu, uint64_t nr_before)
{
	if (cpu->log->total != nr_before && cpu->log->total % config.every == 0)
		sample(cpu);
}

static void push(struct vcpu *cpu, enum model_frame_kind kind, uint64_t ret, uint64_t sp,
		 uint64_t nr_before)
{
	bool recorded = cpu->log->total != nr_before;
	struct shadow_frame frame = {
		.logged = {
			.ret = ret,
			.record = recorded ? nr_before : MODEL_NOT_RECORDED,
			.cpu = cpu->index,
			.kind = kind,
		},
		.sp = sp,
	};

	if (kind == MODEL_FRAME_USER_ENTRY)
		frame.cr3 = vcpu_reg(REG_CR3);
	shadow_push(running[cpu->index], &frame);
}

/**
 * stacklog_transfer() - a branch was taken
 * @sp: stack pointer after it
 * @ret: address after it
 * @nr_before: records before it; it was recorded if there are more now
 */
void stacklog_transfer(struct vcpu *cpu, uint64_t sp, enum insn_flow flow, uint64_t ret,
		       uint64_t to, uint64_t nr_before)
{
	struct shadow *shadow = running[cpu->index];
	unsigned int nr = shadow->nr;

	if (flow == FLOW_SYSRET || (flow == FLOW_IRET && !(to >> 63)))
		shadow_to_user(shadow, vcpu_reg(REG_CR3));
	else if (flow == FLOW_IRET)
		shadow_iret_kernel(shadow, sp);
	shadow_drop_below(shadow, sp);
	if (flow == FLOW_RET && shadow->nr == nr)
		shadow_return(shadow, to);
	else if (flow == FLOW_CALL)
		push(cpu, MODEL_FRAME_CALL, ret, sp, nr_before);
	else if (flow == FLOW_SYSCALL)
		push(cpu, MODEL_FRAME_USER_ENTRY, ret, sp, nr_before);
	sample_if_due(cpu, nr_before);
}

/**
 * stacklog_saved() - what an interrupt or exception at @from has saved just now
 *
 * The CPU has stored, from the stack pointer up, maybe an error code, then RIP, CS,
 * RFLAGS, RSP and SS (SDM vol. 3A, "64-Bit Mode Stack Frame").
 */
struct stacklog_saved stacklog_saved(uint64_t from)
{
	uint64_t words[5] = { 0 };
	bool error_code;

	vcpu_read_code(vcpu_reg(REG_RSP), (uint8_t *)words, sizeof(words));
	error_code = words[0] - from > MAX_INSN_BYTES;
	return (struct stacklog_saved){ words[error_code], words[error_code + 3] };
}

/** stacklog_interrupt() - the handler of an interrupt or exception is about to run */
void stacklog_interrupt(struct vcpu *cpu, const struct stacklog_saved *saved, uint64_t nr_before)
{
	push(cpu, saved->ip >> 63 ? MODEL_FRAME_KERNEL_ENTRY : MODEL_FRAME_USER_ENTRY, saved->ip,
	     saved->sp, nr_before);
	sample_if_due(cpu, nr_before);
}

/** stacklog_block() - code at @ip is about to run: does it change the thread? */
void stacklog_block(struct vcpu *cpu, uint64_t ip)
{
	if (ip == config.switch_ip)
		switch_threads(cpu);
	else if (ip == config.new_ip)
		begin_thread();
}

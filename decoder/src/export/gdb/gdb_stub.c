// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The dump as a remote target of gdb: one thread that never runs.  Its memory is
 * read through the page tables of the dump, its registers are those that the freeze
 * has.  gdb steps back and forth along its history ("bs", "bc"): there both are as far
 * as they are known.  The history is also for "record btrace bts".  gdb's manual,
 * "Packets", "General Query Packets", "Stop Reply Packets", "Branch Trace Format".
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/escape.h"
#include "base/options.h"
#include "export/gdb/gdb_blocks.h"
#include "export/gdb/gdb_packets.h"
#include "export/gdb/gdb_replay.h"
#include "flow/fault_frame.h"
#include "flow/trace.h"
#include "recorder/cpus.h"

/* Longest piece of memory in one answer, two digits a byte. */
#define MEMORY_BYTES	((GDB_PACKET_BYTES - 1) / 2)

#define FEATURES "<?xml version=\"1.0\"?>\n<!DOCTYPE target SYSTEM \"gdb-target.dtd\">\n" \
	"<target version=\"1.0\"><architecture>i386:x86-64</architecture></target>\n"

/**
 * struct stub - one connection
 * @trace: the document of @blocks.
 * @trace_given: gdb has it, and there will be no news.
 * @recording: gdb said "record btrace bts".
 */
struct stub {
	struct gdb_packets packets;
	struct btsrec *rec;
	const struct btsrec_gdb *wanted;
	struct code *code;
	struct gdb_blocks blocks;
	struct gdb_replay replay;
	char *trace;
	bool trace_given;
	bool recording;
	bool done;
	char answer[GDB_PACKET_BYTES];
};

static bool begins(const char *text, const char *prefix)
{
	return !strncmp(text, prefix, strlen(prefix));
}

static bool answer(struct stub *stub, const char *text)
{
	return gdb_packets_send(&stub->packets, text, strlen(text));
}

/* --- Registers ---------------------------------------------------------- */

/* The first ones of gdb's amd64, in its order: 17 of 64 bits, then 7 of 32 bits. */
enum { REG_RBP = 6, REG_RSP = 7, REG_RIP = 16, REG_EFLAGS = 17, REG_CS = 18, NR_REGS = 24 };

static const enum sem_reg general[REG_RIP] = {
	SEM_RAX, SEM_RBX, SEM_RCX, SEM_RDX, SEM_RSI, SEM_RDI, SEM_RBP, SEM_RSP,
	SEM_R8, SEM_R9, SEM_R10, SEM_R11, SEM_R12, SEM_R13, SEM_R14, SEM_R15,
};

struct registers {
	uint64_t value[NR_REGS];
	bool known[NR_REGS];
};

static void set_register(struct registers *regs, unsigned int i, uint64_t value)
{
	regs->value[i] = value;
	regs->known[i] = true;
}

/* Those of the freeze; an older recorder kept only some. */
static void get_frozen(const struct btsrec_cpu *cpu, struct registers *ret)
{
	const struct btsrec_registers *kept = cpus_registers(cpu);
	struct fault_frame frame;

	if (kept && kept->flags & BTSREC_REGISTERS_STOP) {
		fault_frame_of(&kept->stop, &frame);
		for (unsigned int i = 0; i < REG_RIP; i++)
			set_register(ret, i, frame.regs[general[i]]);
	}
	set_register(ret, REG_RIP, cpu->freeze.ip);
	set_register(ret, REG_RSP, cpu->freeze.sp);
	set_register(ret, REG_RBP, cpu->freeze.bp);
	set_register(ret, REG_EFLAGS, cpu->freeze.rflags);
	set_register(ret, REG_CS, cpu->freeze.cs);
}

static void get_registers(struct stub *stub, struct registers *ret)
{
	const struct btsrec_cpu *cpu = btsrec_cpu(stub->rec, stub->wanted->cpu);
	struct gdb_replay *replay = &stub->replay;
	uint64_t value;

	memset(ret, 0, sizeof(*ret));
	set_register(ret, REG_RIP, replay->va);
	if (gdb_replay_at_end(replay) && cpu->frozen && stub->blocks.at_freeze)
		get_frozen(cpu, ret);
	for (unsigned int i = 0; i < REG_RIP; i++)
		if (gdb_replay_register(replay, general[i], &value))
			set_register(ret, i, value);
}

/* Little-endian digits, or x for each digit that is not known. */
static char *put_register(char *at, const struct registers *regs, unsigned int i)
{
	unsigned int nr_bytes = i <= REG_RIP ? 8 : 4;

	for (unsigned int byte = 0; byte < nr_bytes; byte++) {
		if (regs->known[i])
			sprintf(at, "%02x", (unsigned int)(regs->value[i] >> 8 * byte & 0xff));
		else
			memcpy(at, "xx", 3);
		at += 2;
	}
	return at;
}

static bool answer_registers(struct stub *stub)
{
	struct registers regs;
	char *at = stub->answer;

	get_registers(stub, &regs);
	for (unsigned int i = 0; i < NR_REGS; i++)
		at = put_register(at, &regs, i);
	return answer(stub, stub->answer);
}

static bool answer_register(struct stub *stub, const char *number)
{
	unsigned long i = strtoul(number, NULL, 16);
	struct registers regs;

	if (i >= NR_REGS)
		return answer(stub, "E01");
	get_registers(stub, &regs);
	put_register(stub->answer, &regs, (unsigned int)i);
	return answer(stub, stub->answer);
}

/* --- Memory ------------------------------------------------------------- */

static bool answer_memory(struct stub *stub, const char *range)
{
	unsigned long long va, nr_wanted;
	uint8_t bytes[MEMORY_BYTES];
	size_t nr_bytes;

	if (sscanf(range, "%llx,%llx", &va, &nr_wanted) != 2)
		return answer(stub, "E01");
	if (nr_wanted > sizeof(bytes))
		nr_wanted = sizeof(bytes);
	if (gdb_replay_at_end(&stub->replay))
		(void)code_bytes(stub->code, stub->blocks.side.cr3, va, bytes, nr_wanted,
				 &nr_bytes);
	else
		nr_bytes = gdb_replay_memory(&stub->replay, va, bytes, nr_wanted);
	if (!nr_bytes && nr_wanted)
		return answer(stub, "E14");
	for (size_t i = 0; i < nr_bytes; i++)
		sprintf(stub->answer + 2 * i, "%02x", bytes[i]);
	stub->answer[2 * nr_bytes] = '\0';
	return answer(stub, stub->answer);
}

/* --- Documents ---------------------------------------------------------- */

/* The part "OFFSET,LENGTH" of @text. */
static bool answer_part(struct stub *stub, const char *text, const char *range)
{
	unsigned long long offset, nr_wanted, nr_bytes = strlen(text);

	if (sscanf(range, "%llx,%llx", &offset, &nr_wanted) != 2 || offset > nr_bytes)
		return answer(stub, "E01");
	if (nr_wanted > GDB_PACKET_BYTES - 2)
		nr_wanted = GDB_PACKET_BYTES - 2;
	if (nr_wanted > nr_bytes - offset)
		nr_wanted = nr_bytes - offset;
	stub->answer[0] = offset + nr_wanted < nr_bytes ? 'm' : 'l';
	memcpy(stub->answer + 1, text + offset, nr_wanted);
	return gdb_packets_send(&stub->packets, stub->answer, nr_wanted + 1);
}

/*
 * gdb asks for what is new since it asked last, "delta", then for anything that is
 * "new", and for "all" if both failed.
 */
static bool answer_trace(struct stub *stub, const char *annex)
{
	static const char nothing[] = "<!DOCTYPE btrace SYSTEM \"btrace.dtd\">\n"
				      "<btrace version=\"1.0\"></btrace>\n";
	const char *range = strchr(annex, ':');
	bool all = begins(annex, "all:"), is_new = begins(annex, "new:");

	if (!range || (!all && !is_new && !stub->trace_given))
		return answer(stub, "E01");
	range++;
	if (stub->trace_given && !all)
		return answer_part(stub, nothing, range);
	if (!answer_part(stub, stub->trace, range))
		return false;
	stub->trace_given = stub->answer[0] == 'l';
	return true;
}

static bool answer_conf(struct stub *stub, const char *range)
{
	char text[160];

	/* An answer would say to gdb that "record" was given before it came. */
	if (!stub->recording)
		return answer(stub, "E01");
	snprintf(text, sizeof(text), "<!DOCTYPE btrace-conf SYSTEM \"btrace-conf.dtd\">\n"
		 "<btrace-conf version=\"1.0\"><bts size=\"0x%llx\"/></btrace-conf>\n",
		 (unsigned long long)btsrec_cpu(stub->rec, stub->wanted->cpu)->ring_bytes);
	return answer_part(stub, text, range);
}

static bool answer_document(struct stub *stub, const char *object)
{
	if (begins(object, "features:read:target.xml:"))
		return answer_part(stub, FEATURES, object + strlen("features:read:target.xml:"));
	if (begins(object, "btrace:read:"))
		return answer_trace(stub, object + strlen("btrace:read:"));
	if (begins(object, "btrace-conf:read::"))
		return answer_conf(stub, object + strlen("btrace-conf:read::"));
	return answer(stub, "");
}

/* --- Going back and forth ----------------------------------------------- */

static bool answer_go(struct stub *stub, bool back, bool far)
{
	static const char *const stops[] = {
		[GDB_STOP_STEP] = "T05thread:1;",
		[GDB_STOP_BREAK] = "T05thread:1;swbreak:;",
		[GDB_STOP_BEGIN] = "T05thread:1;replaylog:begin;",
		[GDB_STOP_END] = "T05thread:1;replaylog:end;",
	};

	return answer(stub, stops[gdb_replay_go(&stub->replay, back, far)]);
}

/* "Z0,ADDRESS,KIND", or z; of hardware the same.  Nobody sees what is written. */
static bool answer_breakpoint(struct stub *stub, const char *packet)
{
	unsigned long long va;
	char type;

	if (sscanf(packet + 1, "%c,%llx", &type, &va) != 2 || (type != '0' && type != '1'))
		return answer(stub, "");
	return answer(stub, gdb_replay_break(&stub->replay, va, *packet == 'Z') ? "OK" : "E01");
}

/* --- Packets ------------------------------------------------------------ */

static bool answer_supported(struct stub *stub)
{
	snprintf(stub->answer, sizeof(stub->answer),
		 "PacketSize=%x;QStartNoAckMode+;qXfer:features:read+;qXfer:btrace:read+;"
		 "qXfer:btrace-conf:read+;Qbtrace:bts+;Qbtrace:off+;Qbtrace-conf:bts:size+;"
		 "swbreak+;ReverseStep+;ReverseContinue+",
		 GDB_PACKET_BYTES - 1);
	return answer(stub, stub->answer);
}

/* The thread's name for "info threads", which gdb prints as it is: comm, as digits. */
static bool answer_thread_name(struct stub *stub)
{
	const struct btsrec_side *side = &stub->blocks.side;
	char comm[ESCAPED_MAX_BYTES * sizeof(side->comm) + 1], text[sizeof(comm) + 48];
	int nr_bytes;

	escaped_copy(comm, side->comm, sizeof(side->comm));
	nr_bytes = snprintf(text, sizeof(text), "CPU %u, %u/%u %s", stub->wanted->cpu, side->pid,
			    side->tgid, comm);
	for (int i = 0; i < nr_bytes; i++)
		sprintf(stub->answer + 2 * i, "%02x", (unsigned char)text[i]);
	return answer(stub, stub->answer);
}

static bool answer_query(struct stub *stub, const char *query)
{
	if (begins(query, "Supported"))
		return answer_supported(stub);
	if (begins(query, "Xfer:"))
		return answer_document(stub, query + strlen("Xfer:"));
	if (!strcmp(query, "C"))
		return answer(stub, "QC1");
	if (!strcmp(query, "fThreadInfo"))
		return answer(stub, "m1");
	if (!strcmp(query, "sThreadInfo"))
		return answer(stub, "l");
	if (begins(query, "ThreadExtraInfo,"))
		return answer_thread_name(stub);
	return answer(stub, begins(query, "Attached") ? "1" : "");
}

static bool answer_setting(struct stub *stub, const char *setting)
{
	if (!strcmp(setting, "StartNoAckMode")) {
		if (!answer(stub, "OK"))
			return false;
		stub->packets.no_ack = true;
		return true;
	}
	if (begins(setting, "btrace:")) {
		stub->recording = !strcmp(setting, "btrace:bts");
		/* What gdb has of it ends there, and now gdb itself goes along it. */
		gdb_replay_to_end(&stub->replay);
		stub->trace_given = false;
	}
	return answer(stub, begins(setting, "btrace:") || begins(setting, "btrace-conf:bts:size=") ?
		      "OK" : "");
}

/* Nothing runs here, and what changes the dump fails. */
static bool answer_packet(struct stub *stub, const char *packet)
{
	switch (*packet) {
	case '?':
		return answer(stub, "S05");
	case 'g':
		return answer_registers(stub);
	case 'p':
		return answer_register(stub, packet + 1);
	case 'm':
		return answer_memory(stub, packet + 1);
	case 'q':
		return answer_query(stub, packet + 1);
	case 'Q':
		return answer_setting(stub, packet + 1);
	case 'Z': case 'z':
		return answer_breakpoint(stub, packet);
	case 'H': case 'T':
		return answer(stub, "OK");
	case 'c': case 's':
		return answer_go(stub, false, *packet == 'c');
	case 'b':
		return answer_go(stub, true, packet[1] == 'c');
	case 'G': case 'P': case 'M':
		return answer(stub, "E01");
	case 'D':
		stub->done = true;
		return answer(stub, "OK");
	case 'k':
		stub->done = true;
		return true;
	default:
		return answer(stub, "");
	}
}

static enum btsrec_status serve(struct stub *stub)
{
	enum btsrec_status status = gdb_blocks_make(stub->rec, stub->wanted, &stub->blocks);

	if (status)
		return status;
	stub->code = trace_code(stub->rec);
	stub->trace = gdb_blocks_xml(&stub->blocks);
	if (!stub->trace)
		return msg_set(&stub->rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	gdb_replay_init(&stub->replay, stub->rec, stub->code, &stub->blocks, stub->wanted);
	while (!stub->done && gdb_packets_read(&stub->packets))
		if (!answer_packet(stub, stub->packets.packet))
			break;
	return BTSREC_OK;
}

static enum btsrec_status serve_gdb(struct btsrec *rec, const struct btsrec_gdb *wanted,
				    const struct btsrec_link *link)
{
	_cleanup_free_ struct stub *stub = calloc(1, sizeof(*stub));
	enum btsrec_status status;

	if (!stub)
		return msg_set(&rec->msg, BTSREC_ERR_NOMEM, "out of memory");
	stub->rec = rec;
	stub->wanted = wanted;
	stub->packets.link = link;
	status = serve(stub);
	gdb_replay_fini(&stub->replay);
	gdb_blocks_fini(&stub->blocks);
	free(stub->trace);
	return session_end(rec, status);
}

enum btsrec_status btsrec_gdbserver(struct btsrec *rec, const struct btsrec_gdb *given,
				    const struct btsrec_link *link)
{
	struct btsrec_gdb opts;
	enum btsrec_status status = options_read(&rec->msg, given, &opts, sizeof(opts));

	return status ? status : serve_gdb(rec, &opts, link);
}

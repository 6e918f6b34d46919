// SPDX-License-Identifier: GPL-2.0-or-later
/* The registers at the freeze, as text and as a member of the JSON object of a CPU. */
#include "code/semantics.h"
#include "kernel/idt.h"
#include "recorder/cpus.h"
#include "render/json.h"
#include "symbols/symbol.h"
#include "views/view_info.h"

#define NR_REGS		16
#define REGS_PER_LINE	4

/* In the order in which they are printed. */
static const uint8_t regs[NR_REGS] = {
	SEM_RAX, SEM_RBX, SEM_RCX, SEM_RDX, SEM_RSI, SEM_RDI, SEM_RBP, SEM_RSP,
	SEM_R8, SEM_R9, SEM_R10, SEM_R11, SEM_R12, SEM_R13, SEM_R14, SEM_R15,
};

#define NMI_VECTOR 2

/* Why @cpu has none; NULL: it has. */
static const char *missing_why(const struct btsrec_root *root, const struct btsrec_cpu *cpu)
{
	const unsigned int minor_of_registers = 4;

	if (cpus_registers(cpu))
		return NULL;
	if (!cpu->frozen)
		return "it was not frozen";
	if (root->version_minor < minor_of_registers)
		return "the recorder's format is older than 1.4";
	return "they were left out";
}

/* --- Text --------------------------------------------------------------- */

static void text_value(struct out *out, const char *name, unsigned int width, uint64_t value)
{
	out_literal(out, "  ");
	out_pad(out, name, width);
	out_hex16(out, value);
}

static void text_general(struct renderer *r, const struct btsrec_general *general)
{
	struct out *out = &r->out;
	struct symbol_name name;

	out_hex16(out, general->ip);
	if (symbol_find(r->rec, general->ip, &name)) {
		out_char(out, ' ');
		out_name(out, &name);
	}
	for (unsigned int i = 0; i < NR_REGS; i++) {
		if (i % REGS_PER_LINE == 0)
			out_char(out, '\n');
		text_value(out, sem_reg_name(regs[i]), 4, general->reg[regs[i]]);
	}
	out_literal(out, "\n  rflags ");
	out_hex(out, general->rflags);
	out_literal(out, "  cs ");
	out_hex(out, general->cs);
	out_literal(out, "  ss ");
	out_hex(out, general->ss);
	out_char(out, '\n');
}

static void text_exception(struct out *out, const struct btsrec_registers *registers)
{
	const char *exception = idt_exception_str(registers->vector);

	out_literal(out, "at the ");
	if (registers->vector == NMI_VECTOR) {
		out_literal(out, "NMI");
	} else {
		out_literal(out, "exception ");
		out_dec(out, registers->vector, 0);
	}
	if (exception && registers->vector != NMI_VECTOR) {
		out_char(out, ' ');
		out_str(out, exception);
	}
	if (registers->flags & BTSREC_REGISTERS_ERROR) {
		out_literal(out, ", error code ");
		out_hex(out, registers->error_code);
	}
	if (registers->flags & BTSREC_REGISTERS_ADDRESS) {
		out_literal(out, ", address ");
		out_hex(out, registers->address);
	}
}

static void text_system(struct out *out, const struct btsrec_cpu *cpu)
{
	text_value(out, "fs_base", 8, cpu->registers.fs_base);
	text_value(out, "gs_base", 8, cpu->registers.gs_base);
	text_value(out, "kernel_gs_base", 15, cpu->registers.kernel_gs_base);
	out_char(out, '\n');
	text_value(out, "cr2", 8, cpu->registers.cr2);
	text_value(out, "cr3", 8, cpu->freeze.cr3);
	out_char(out, '\n');
}

static void text_cpu(struct out *out, const struct btsrec_cpu *cpu)
{
	out_literal(out, "\nCPU ");
	out_dec(out, cpu->cpu, 0);
	out_literal(out, ", registers ");
}

void info_registers_text(struct renderer *r, const struct btsrec_cpu *cpu)
{
	const char *missing = missing_why(btsrec_root(r->rec), cpu);
	const struct btsrec_registers *registers = &cpu->registers;
	struct out *out = &r->out;

	text_cpu(out, cpu);
	if (missing) {
		out_literal(out, "none: ");
		out_str(out, missing);
		out_char(out, '\n');
		return;
	}
	if (registers->flags & BTSREC_REGISTERS_ENTRY) {
		text_exception(out, registers);
		out_literal(out, ": ");
		text_general(r, &registers->entry);
		text_cpu(out, cpu);
	}
	out_literal(out, "at the freeze: ");
	if (registers->flags & BTSREC_REGISTERS_STOP)
		text_general(r, &registers->stop);
	else
		out_literal(out, "general ones are not known\n");
	if (registers->flags & BTSREC_REGISTERS_SYSTEM)
		text_system(out, cpu);
}

/* --- JSON --------------------------------------------------------------- */

static void json_general(struct renderer *r, const struct btsrec_general *general)
{
	struct out *out = &r->out;

	out_literal(out, "\"ip\":\"");
	out_hex16(out, general->ip);
	out_char(out, '"');
	json_sym(r, "ip_sym", general->ip);
	for (unsigned int i = 0; i < NR_REGS; i++)
		json_address(out, sem_reg_name(regs[i]), general->reg[regs[i]]);
	json_address(out, "rflags", general->rflags);
	json_address(out, "cs", general->cs);
	json_address(out, "ss", general->ss);
}

static void json_entry(struct renderer *r, const struct btsrec_registers *registers)
{
	struct out *out = &r->out;

	out_literal(out, ",\"entry\":{");
	json_general(r, &registers->entry);
	json_number(out, "vector", registers->vector);
	if (registers->flags & BTSREC_REGISTERS_ERROR)
		json_address(out, "error_code", registers->error_code);
	if (registers->flags & BTSREC_REGISTERS_ADDRESS)
		json_address(out, "address", registers->address);
	out_char(out, '}');
}

static void json_system(struct out *out, const struct btsrec_cpu *cpu)
{
	json_address(out, "fs_base", cpu->registers.fs_base);
	json_address(out, "gs_base", cpu->registers.gs_base);
	json_address(out, "kernel_gs_base", cpu->registers.kernel_gs_base);
	json_address(out, "cr2", cpu->registers.cr2);
}

void info_registers_json(struct renderer *r, const struct btsrec_cpu *cpu)
{
	const char *missing = missing_why(btsrec_root(r->rec), cpu);
	const struct btsrec_registers *registers = &cpu->registers;
	struct out *out = &r->out;

	if (missing) {
		json_word(out, "no_registers", missing);
		return;
	}
	out_literal(out, ",\"registers\":{\"cr3\":\"");
	out_hex16(out, cpu->freeze.cr3);
	out_char(out, '"');
	if (registers->flags & BTSREC_REGISTERS_SYSTEM)
		json_system(out, cpu);
	if (registers->flags & BTSREC_REGISTERS_STOP) {
		out_literal(out, ",\"stop\":{");
		json_general(r, &registers->stop);
		out_char(out, '}');
	}
	if (registers->flags & BTSREC_REGISTERS_ENTRY)
		json_entry(r, registers);
	out_char(out, '}');
}

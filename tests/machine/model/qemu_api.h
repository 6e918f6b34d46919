/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The part of QEMU's TCG plugin interface, version 7 (QEMU 11.1), that the BTS
 * model uses, declared after QEMU's public plugin API documentation: no Debian
 * package ships the header.  QEMU compares qemu_plugin_version with the versions
 * that it supports before it calls the plugin, so a changed interface is refused
 * at load.
 *
 * The few GLib types and functions here are those that appear in the interface;
 * QEMU itself brings the library.
 */
#ifndef BTSREC_TESTS_QEMU_API_H
#define BTSREC_TESTS_QEMU_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define QEMU_PLUGIN_EXPORT	__attribute__((visibility("default")))
#define QEMU_PLUGIN_API_VERSION	7

/* --- GLib --------------------------------------------------------------- */

typedef struct {
	uint8_t *data;
	unsigned int len;
} GByteArray;

typedef struct {
	char *data;
	unsigned int len;
} GArray;

GByteArray *g_byte_array_new(void);
GByteArray *g_byte_array_set_size(GByteArray *array, unsigned int length);
unsigned int g_array_get_element_size(GArray *array);
char *g_array_free(GArray *array, int free_segment);

/* --- Plugin life cycle -------------------------------------------------- */

typedef uint64_t qemu_plugin_id_t;

struct qemu_plugin_info {
	const char *target_name;
	struct {
		int min;
		int cur;
	} version;
	bool system_emulation;
	struct {
		int smp_vcpus;
		int max_vcpus;
	} system;
};

extern QEMU_PLUGIN_EXPORT int qemu_plugin_version;
QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_plugin_info *info,
					   int argc, char **argv);

typedef void (*qemu_plugin_udata_cb)(void *udata);
typedef void (*qemu_plugin_vcpu_udata_cb)(unsigned int vcpu, void *udata);

void qemu_plugin_register_vcpu_init_cb(qemu_plugin_id_t id, qemu_plugin_vcpu_udata_cb cb,
				       void *udata);
void qemu_plugin_register_vcpu_resume_cb(qemu_plugin_id_t id, qemu_plugin_vcpu_udata_cb cb,
					 void *udata);
void qemu_plugin_register_vcpu_idle_cb(qemu_plugin_id_t id, qemu_plugin_vcpu_udata_cb cb,
				       void *udata);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, qemu_plugin_udata_cb cb, void *udata);

/* --- Scoreboard: one element for each vCPU ------------------------------ */

struct qemu_plugin_scoreboard;

typedef struct {
	struct qemu_plugin_scoreboard *score;
	size_t offset;
} qemu_plugin_u64;

struct qemu_plugin_scoreboard *qemu_plugin_scoreboard_new(size_t element_bytes);
uint64_t qemu_plugin_u64_get(qemu_plugin_u64 entry, unsigned int vcpu);
void qemu_plugin_u64_set(qemu_plugin_u64 entry, unsigned int vcpu, uint64_t value);

/* --- Translation and execution ------------------------------------------ */

struct qemu_plugin_tb;
struct qemu_plugin_insn;

enum qemu_plugin_cb_flags {
	QEMU_PLUGIN_CB_NO_REGS,
	QEMU_PLUGIN_CB_R_REGS,
	QEMU_PLUGIN_CB_RW_REGS,
	QEMU_PLUGIN_CB_RW_REGS_PC,
};

enum qemu_plugin_cond {
	QEMU_PLUGIN_COND_NEVER,
	QEMU_PLUGIN_COND_ALWAYS,
	QEMU_PLUGIN_COND_EQ,
	QEMU_PLUGIN_COND_NE,
};

enum qemu_plugin_op {
	QEMU_PLUGIN_INLINE_ADD_U64,
	QEMU_PLUGIN_INLINE_STORE_U64,
};

typedef void (*qemu_plugin_tb_trans_cb)(struct qemu_plugin_tb *tb, void *udata);

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, qemu_plugin_tb_trans_cb cb,
					   void *udata);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb, qemu_plugin_vcpu_udata_cb cb,
					  enum qemu_plugin_cb_flags flags, void *udata);
void qemu_plugin_register_vcpu_tb_exec_cond_cb(struct qemu_plugin_tb *tb,
					       qemu_plugin_vcpu_udata_cb cb,
					       enum qemu_plugin_cb_flags flags,
					       enum qemu_plugin_cond cond, qemu_plugin_u64 entry,
					       uint64_t imm, void *udata);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn,
					    qemu_plugin_vcpu_udata_cb cb,
					    enum qemu_plugin_cb_flags flags, void *udata);
void qemu_plugin_register_vcpu_insn_exec_cond_cb(struct qemu_plugin_insn *insn,
						 qemu_plugin_vcpu_udata_cb cb,
						 enum qemu_plugin_cb_flags flags,
						 enum qemu_plugin_cond cond, qemu_plugin_u64 entry,
						 uint64_t imm, void *udata);
void qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(struct qemu_plugin_insn *insn,
							 enum qemu_plugin_op op,
							 qemu_plugin_u64 entry, uint64_t imm);

enum qemu_plugin_mem_rw {
	QEMU_PLUGIN_MEM_R = 1,
	QEMU_PLUGIN_MEM_W,
	QEMU_PLUGIN_MEM_RW,
};

void qemu_plugin_register_vcpu_mem_inline_per_vcpu(struct qemu_plugin_insn *insn,
						   enum qemu_plugin_mem_rw rw,
						   enum qemu_plugin_op op,
						   qemu_plugin_u64 entry, uint64_t imm);

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t index);
size_t qemu_plugin_insn_data(const struct qemu_plugin_insn *insn, void *dest, size_t dest_bytes);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);

/* --- Interrupts and exceptions ------------------------------------------ */

enum qemu_plugin_discon_type {
	QEMU_PLUGIN_DISCON_INTERRUPT = 1 << 0,
	QEMU_PLUGIN_DISCON_EXCEPTION = 1 << 1,
};

typedef void (*qemu_plugin_vcpu_discon_cb)(unsigned int vcpu, enum qemu_plugin_discon_type type,
					   uint64_t from_pc, uint64_t to_pc, void *udata);

void qemu_plugin_register_vcpu_discon_cb(qemu_plugin_id_t id, enum qemu_plugin_discon_type types,
					 qemu_plugin_vcpu_discon_cb cb, void *udata);

/* --- Registers and memory of the vCPU that is calling ------------------- */

struct qemu_plugin_register;

struct qemu_plugin_reg_descriptor {
	struct qemu_plugin_register *handle;
	const char *name;
	const char *feature;
	bool is_readonly;
};

enum qemu_plugin_hwaddr_result {
	QEMU_PLUGIN_HWADDR_OK,
};

GArray *qemu_plugin_get_registers(void);
bool qemu_plugin_read_register(struct qemu_plugin_register *handle, GByteArray *buf);
bool qemu_plugin_write_register(struct qemu_plugin_register *handle, GByteArray *buf);
void qemu_plugin_set_pc(uint64_t pc) __attribute__((__noreturn__));
bool qemu_plugin_read_memory_vaddr(uint64_t addr, GByteArray *data, size_t nr_bytes);
enum qemu_plugin_hwaddr_result qemu_plugin_read_memory_hwaddr(uint64_t addr, GByteArray *data,
							      size_t nr_bytes);
enum qemu_plugin_hwaddr_result qemu_plugin_write_memory_hwaddr(uint64_t addr, GByteArray *data);

#endif

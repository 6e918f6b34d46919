/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a perf.data consists of, as far as btsrec writes one.
 *
 * Format: tools/perf/Documentation/perf.data-file-format.txt and the comments of
 * include/uapi/linux/perf_event.h, Linux v6.1.  Every record is a multiple of 8 bytes.
 */
#ifndef BTSREC_PERF_FILE_H
#define BTSREC_PERF_FILE_H

#include <stdint.h>

#include <linux/perf_event.h>

#include <btsrec/decoder.h>

#define ATTR_BYTES	112	/* PERF_ATTR_SIZE_VER5, what v6.1's perf writes at least */
#define HEADER_BYTES	104

/* Bits of file_header.features; the sections are after the records, in this order. */
#define FEATURE_BUILD_ID	2
#define FEATURE_HOSTNAME	3
#define FEATURE_OSRELEASE	4
#define FEATURE_VERSION		5
#define FEATURE_ARCH		6
#define FEATURE_NRCPUS		7
#define FEATURE_CPUDESC		8
#define FEATURE_CPUID		9
#define FEATURE_BRANCH_STACK	15

/* Of a text in a header, with the NULs after it; perf fills up to multiples of 64. */
#define TEXT_BYTES		128

/* The pid of what belongs to the kernel. */
#define KERNEL_PID		((uint32_t)-1)

/* PERF_RECORD_MISC_BUILD_ID_SIZE: build_id_record has the length of the build-id. */
#define MISC_BUILD_ID_SIZE	(1 << 15)
#define BUILD_ID_ROOM_BYTES	20

/* perf prints such a thread as ":-1". */
#define UNKNOWN_PID		((uint32_t)-1)

/* Of a name with its brackets or the symbol after it; a multiple of 8. */
#define PATH_BYTES		(BTSREC_MODULE_NAME_BYTES + 24)

/* PATH_MAX of perf, with the NUL. */
#define USER_PATH_BYTES		4096

/** struct file_header - at the start of the file; a section is its place and length */
struct file_header {
	char magic[8];
	uint64_t header_bytes;
	uint64_t attr_bytes;
	uint64_t attrs[2];
	uint64_t data[2];
	uint64_t types[2];
	uint64_t features[4];
};

/** struct text_feature - perf_header_string of the format's description */
struct text_feature {
	uint32_t nr_bytes;
	char text[TEXT_BYTES];
};

/** struct cpus_feature - nr_cpus of the format's description */
struct cpus_feature {
	uint32_t nr_available;
	uint32_t nr_online;
};

/** struct trailer - ends every record but samples, as sample_type and sample_id_all say */
struct trailer {
	uint32_t pid;
	uint32_t tid;
	uint64_t time_ns;
	uint32_t cpu;
	uint32_t reserved;
};

/** struct branch_sample - what sample_type says, in the order of perf_event.h */
struct branch_sample {
	struct perf_event_header header;
	uint64_t ip;
	uint32_t pid;
	uint32_t tid;
	uint64_t time_ns;
	uint64_t addr;
	uint32_t cpu;
	uint32_t reserved;
	uint64_t nr_branches;
	uint64_t from;
	uint64_t to;
	uint64_t flags;
};

struct comm_record {
	struct perf_event_header header;
	uint32_t pid;
	uint32_t tid;
	char comm[BTSREC_COMM_BYTES];
	struct trailer trailer;
};

/** struct lost_record - @nr_lost: records; their event does not matter */
struct lost_record {
	struct perf_event_header header;
	uint64_t id;
	uint64_t nr_lost;
	struct trailer trailer;
};

/** struct build_id_record - struct perf_record_header_build_id of tools/lib/perf, v6.1 */
struct build_id_record {
	struct perf_event_header header;
	uint32_t pid;
	uint8_t build_id[BUILD_ID_ROOM_BYTES];
	uint8_t nr_bytes;
	uint8_t reserved[3];
	char path[PATH_BYTES];
};

struct mmap_record {
	struct perf_event_header header;
	uint32_t pid;
	uint32_t tid;
	uint64_t addr;
	uint64_t nr_bytes;
	uint64_t offset;
	char path[PATH_BYTES];
	struct trailer trailer;
};

/*
 * struct perf_record_mmap2 of tools/lib/perf, v6.1, with PERF_RECORD_MISC_MMAP_BUILD_ID;
 * after it the path, filled up with NULs to a multiple of 8, and a trailer.
 */
struct mmap2_record {
	struct perf_event_header header;
	uint32_t pid;
	uint32_t tid;
	uint64_t addr;
	uint64_t nr_bytes;
	uint64_t offset;
	uint8_t build_id_bytes;
	uint8_t reserved[3];
	uint8_t build_id[BUILD_ID_ROOM_BYTES];
	uint32_t prot;
	uint32_t flags;
};

#endif /* BTSREC_PERF_FILE_H */

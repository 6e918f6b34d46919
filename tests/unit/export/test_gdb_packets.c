// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>

#include "check_btsrec.h"
#include "export/gdb/gdb_packets.h"

/** struct wire - what gdb says, and what it has been sent */
struct wire {
	const char *in;
	size_t step_bytes;
	size_t nr_out;
	char out[256];
};

static size_t wire_read(void *arg, char *buf, size_t room_bytes)
{
	struct wire *wire = arg;
	size_t nr_bytes = strnlen(wire->in, wire->step_bytes);

	ck_assert_uint_le(nr_bytes, room_bytes);
	memcpy(buf, wire->in, nr_bytes);
	wire->in += nr_bytes;
	return nr_bytes;
}

static bool wire_write(void *arg, const char *text, size_t len_bytes)
{
	struct wire *wire = arg;

	if (wire->nr_out + len_bytes >= sizeof(wire->out))
		return false;
	memcpy(wire->out + wire->nr_out, text, len_bytes);
	wire->nr_out += len_bytes;
	return true;
}

static struct wire wire;
static struct btsrec_link line = { wire_read, &wire, { wire_write, &wire } };
static struct gdb_packets packets;

static void begin(const char *in, size_t step_bytes)
{
	wire = (struct wire){ .in = in, .step_bytes = step_bytes };
	memset(&packets, 0, sizeof(packets));
	packets.link = &line;
}

START_TEST(acknowledged_in_any_pieces)
{
	for (size_t step_bytes = 1; step_bytes < 20; step_bytes++) {
		begin("+$qC#b4$?#3f", step_bytes);
		ck_assert(gdb_packets_read(&packets));
		ck_assert_str_eq(packets.packet, "qC");
		ck_assert(gdb_packets_send(&packets, "QC1", 3));
		ck_assert(gdb_packets_read(&packets));
		ck_assert_str_eq(packets.packet, "?");
		ck_assert(!gdb_packets_read(&packets));
		ck_assert_str_eq(wire.out, "+$QC1#c5+");
	}
}
END_TEST

START_TEST(wrong_checksum)
{
	begin("$qC#b5$qC#b4", 99);
	ck_assert(gdb_packets_read(&packets));
	ck_assert_str_eq(wire.out, "-+");
	begin("$qC#b5", 99);
	packets.no_ack = true;
	ck_assert(gdb_packets_read(&packets));
	ck_assert_str_eq(wire.out, "");
}
END_TEST

START_TEST(repeated_when_asked)
{
	begin("-$?#3f-$?#3f", 99);
	ck_assert(gdb_packets_read(&packets));
	ck_assert(gdb_packets_send(&packets, "S05", 3));
	ck_assert(gdb_packets_read(&packets));
	ck_assert_str_eq(wire.out, "+$S05#b8$S05#b8+");
}
END_TEST

START_TEST(too_long_is_dropped)
{
	static char in[2 * GDB_PACKET_BYTES];

	memset(in, 'x', sizeof(in));
	in[0] = '$';
	strcpy(in + GDB_PACKET_BYTES + 100, "#00$?#3f");
	begin(in, 1000);
	ck_assert(gdb_packets_read(&packets));
	ck_assert_str_eq(packets.packet, "?");
	ck_assert_str_eq(wire.out, "++");
}
END_TEST

START_TEST(cut_off)
{
	static const char *const all[] = { "", "$", "$q", "$q#", "$q#7", "garbage" };

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		begin(all[i], 99);
		ck_assert(!gdb_packets_read(&packets));
	}
}
END_TEST

BTSREC_CK_MAIN("gdb_packets", acknowledged_in_any_pieces, wrong_checksum, repeated_when_asked,
	       too_long_is_dropped, cut_off)

// SPDX-License-Identifier: GPL-2.0-or-later
#include "export/gdb/gdb_packets.h"

#include <stdlib.h>
#include <string.h>

static bool send_all(struct gdb_packets *packets, const char *text, size_t nr_bytes)
{
	return packets->link->out.write(packets->link->out.arg, text, nr_bytes);
}

/* The next byte, or -1 at the end. */
static int next_byte(struct gdb_packets *packets)
{
	const struct btsrec_link *link = packets->link;

	if (packets->in_at == packets->nr_in) {
		packets->in_at = 0;
		packets->nr_in = link->read(link->arg, packets->in, sizeof(packets->in));
		if (!packets->nr_in)
			return -1;
	}
	return (unsigned char)packets->in[packets->in_at++];
}

static unsigned int checksum(const char *text, size_t nr_bytes)
{
	unsigned int sum = 0;

	for (size_t i = 0; i < nr_bytes; i++)
		sum += (unsigned char)text[i];
	return sum & 0xff;
}

/* What is between "$" and "#"; @ret_fits: false: it is longer than there is room. */
static bool read_data(struct gdb_packets *packets, bool *ret_fits)
{
	int byte;

	packets->nr_bytes = 0;
	*ret_fits = true;
	while ((byte = next_byte(packets)) != '#') {
		if (byte < 0)
			return false;
		if (packets->nr_bytes == GDB_PACKET_BYTES - 1)
			*ret_fits = false;
		else
			packets->packet[packets->nr_bytes++] = (char)byte;
	}
	packets->packet[packets->nr_bytes] = '\0';
	return true;
}

static bool read_checksum(struct gdb_packets *packets, bool *ret_right)
{
	char digits[3] = "";
	int byte;

	for (int i = 0; i < 2; i++) {
		byte = next_byte(packets);
		if (byte < 0)
			return false;
		digits[i] = (char)byte;
	}
	*ret_right = strtoul(digits, NULL, 16) == checksum(packets->packet, packets->nr_bytes);
	return true;
}

/* One packet, after its "$"; @ret_good: it may be answered. */
static bool read_packet(struct gdb_packets *packets, bool *ret_good)
{
	bool fits, right;

	if (!read_data(packets, &fits) || !read_checksum(packets, &right))
		return false;
	*ret_good = fits && (right || packets->no_ack);
	if (packets->no_ack)
		return true;
	return send_all(packets, *ret_good || !fits ? "+" : "-", 1);
}

bool gdb_packets_read(struct gdb_packets *packets)
{
	bool good = false;
	int byte;

	while (!good) {
		byte = next_byte(packets);
		if (byte < 0)
			return false;
		if (byte == '-' && !packets->no_ack && packets->nr_sent &&
		    !send_all(packets, packets->sent, packets->nr_sent))
			return false;
		if (byte == '$' && !read_packet(packets, &good))
			return false;
	}
	return true;
}

bool gdb_packets_send(struct gdb_packets *packets, const char *text, size_t nr_bytes)
{
	static const char digits[] = "0123456789abcdef";
	char *at = packets->sent;
	unsigned int sum;

	if (nr_bytes >= GDB_PACKET_BYTES)
		nr_bytes = 0;
	sum = checksum(text, nr_bytes);
	*at++ = '$';
	memcpy(at, text, nr_bytes);
	at += nr_bytes;
	*at++ = '#';
	*at++ = digits[sum >> 4];
	*at++ = digits[sum & 15];
	packets->nr_sent = (size_t)(at - packets->sent);
	return send_all(packets, packets->sent, packets->nr_sent);
}

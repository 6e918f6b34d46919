/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The packets of gdb's remote serial protocol: "$data#checksum", each answered with
 * "+" until both sides agree not to ("Packets" and "Packet Acknowledgment" in gdb's
 * manual).  Knows nothing of what they mean.
 */
#ifndef BTSREC_GDB_PACKETS_H
#define BTSREC_GDB_PACKETS_H

#include <btsrec/decoder.h>

/* Room for the longest packet and a zero; "PacketSize" of our answer is one less. */
#define GDB_PACKET_BYTES	16384

/**
 * struct gdb_packets - one connection
 * @link: borrowed.
 * @no_ack: neither side acknowledges.
 * @packet: the packet that was read last, terminated; @nr_bytes long.
 * @sent: the packet that was sent last, whole, in case it must be repeated.
 */
struct gdb_packets {
	const struct btsrec_link *link;
	bool no_ack;
	size_t nr_bytes;
	size_t nr_sent;
	size_t in_at;
	size_t nr_in;
	char packet[GDB_PACKET_BYTES];
	char sent[GDB_PACKET_BYTES + 4];
	char in[4096];
};

/**
 * gdb_packets_read() - the next packet
 *
 * A packet with a wrong checksum is asked for again, one that is too long is dropped.
 *
 * Return: false: the other side is gone.
 */
bool gdb_packets_read(struct gdb_packets *packets);

/**
 * gdb_packets_send() - an answer of at most GDB_PACKET_BYTES - 1 bytes
 * @text: without "$", "#", "}" and "*", which would need escapes.
 *
 * Return: false: the other side is gone.
 */
bool gdb_packets_send(struct gdb_packets *packets, const char *text, size_t nr_bytes);

#endif /* BTSREC_GDB_PACKETS_H */

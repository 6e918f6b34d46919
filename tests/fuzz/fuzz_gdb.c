// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A peer of the gdb server: what follows the last whole page of the input are its packets,
 * a line for each.  They get their frames and checksums here, except the lines that begin
 * with one of "$+-#" or a zero, which go out as they are.
 */
#include <stdio.h>
#include <string.h>

#include "fuzz_image.h"

/** struct peer - bytes not given yet, and the packet under way */
struct peer {
	const uint8_t *bytes;
	size_t nr_bytes;
	char packet[20000];
	size_t packet_bytes;
	size_t at;
};

static bool next_packet(struct peer *peer)
{
	const uint8_t *end = memchr(peer->bytes, '\n', peer->nr_bytes);
	size_t len_bytes = end ? (size_t)(end - peer->bytes) : peer->nr_bytes;
	unsigned char sum = 0;

	if (!peer->nr_bytes || len_bytes > sizeof(peer->packet) - 8)
		return false;
	for (size_t i = 0; i < len_bytes; i++)
		sum += peer->bytes[i];
	if (len_bytes && memchr("$+-#", peer->bytes[0], 5)) {
		memcpy(peer->packet, peer->bytes, len_bytes);
		peer->packet_bytes = len_bytes;
	} else {
		peer->packet[0] = '$';
		memcpy(peer->packet + 1, peer->bytes, len_bytes);
		peer->packet_bytes = len_bytes + 1 + (size_t)
			sprintf(peer->packet + 1 + len_bytes, "#%02x", sum);
	}
	len_bytes += !!end;
	peer->bytes += len_bytes;
	peer->nr_bytes -= len_bytes;
	peer->at = 0;
	return true;
}

static size_t peer_read(void *arg, char *buf, size_t room_bytes)
{
	struct peer *peer = arg;
	size_t nr_bytes;

	if (peer->at == peer->packet_bytes && !next_packet(peer))
		return 0;
	nr_bytes = peer->packet_bytes - peer->at;
	if (nr_bytes > room_bytes)
		nr_bytes = room_bytes;
	memcpy(buf, peer->packet + peer->at, nr_bytes);
	peer->at += nr_bytes;
	return nr_bytes;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t nr_bytes)
{
	size_t image_bytes = fuzz_text_at(nr_bytes);
	struct fuzz_memory memory = { bytes, image_bytes };
	struct btsrec *rec = fuzz_session(&memory);
	struct btsrec_gdb wanted = { .size = sizeof(wanted), .user_only = nr_bytes & 1,
				     .likely = nr_bytes & 2 };
	static struct peer peer;
	struct btsrec_link link = { .read = peer_read, .arg = &peer, .out = fuzz_text };

	if (!rec)
		return 0;
	peer.bytes = bytes + image_bytes;
	peer.nr_bytes = nr_bytes - image_bytes;
	peer.at = peer.packet_bytes = 0;
	(void)btsrec_gdbserver(rec, &wanted, &link);
	btsrec_free(rec);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * flatten: a dump -> the same in makedumpfile's flattened format, in pieces of
 * uneven size and odd order.  usage: flatten IN OUT [PIECE_BYTES]
 *
 * The first piece is written twice, first with other content, as a writer does
 * that completes its header in the end.  "makedumpfile -R" makes IN of OUT again.
 */
#include <endian.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD_BYTES	4096

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void put(FILE *to, const void *bytes, size_t nr_bytes)
{
	if (fwrite(bytes, 1, nr_bytes, to) != nr_bytes)
		die("write");
}

static void put_number(FILE *to, uint64_t number)
{
	uint64_t bytes = htobe64(number);

	put(to, &bytes, sizeof(bytes));
}

static void put_piece(FILE *to, const uint8_t *bytes, uint64_t offset, uint64_t nr_bytes)
{
	put_number(to, offset);
	put_number(to, nr_bytes);
	put(to, bytes, nr_bytes);
}

static void put_head(FILE *to)
{
	char signature[16] = "makedumpfile";
	static const char zeroes[HEAD_BYTES - 32];

	put(to, signature, sizeof(signature));
	put_number(to, 1);
	put_number(to, 1);
	put(to, zeroes, sizeof(zeroes));
}

/* Pieces of @piece_bytes and a few more, every second pair of them swapped. */
static void put_pieces(FILE *to, const uint8_t *bytes, uint64_t nr_bytes, uint64_t piece_bytes)
{
	uint64_t at, half;

	for (at = 0; at < nr_bytes; at += piece_bytes) {
		if (piece_bytes > nr_bytes - at)
			piece_bytes = nr_bytes - at;
		half = piece_bytes / 2;
		if (at / piece_bytes % 2 && half) {
			put_piece(to, bytes + at + half, at + half, piece_bytes - half);
			put_piece(to, bytes + at, at, half);
		} else {
			put_piece(to, bytes + at, at, piece_bytes);
		}
	}
}

static uint8_t *read_file(const char *path, size_t *ret_bytes)
{
	FILE *from = fopen(path, "rb");
	uint8_t *bytes;
	long nr_bytes;

	if (!from || fseek(from, 0, SEEK_END))
		die(path);
	nr_bytes = ftell(from);
	rewind(from);
	bytes = malloc((size_t)nr_bytes + 1);
	if (nr_bytes < 0 || !bytes || fread(bytes, 1, (size_t)nr_bytes, from) != (size_t)nr_bytes)
		die(path);
	fclose(from);
	*ret_bytes = (size_t)nr_bytes;
	return bytes;
}

int main(int argc, char **argv)
{
	uint64_t piece_bytes = argc > 3 ? strtoull(argv[3], NULL, 0) : 4001;
	static const uint8_t unfinished[64];
	size_t nr_bytes;
	uint8_t *bytes;
	FILE *to;

	if (argc < 3 || !piece_bytes) {
		fprintf(stderr, "usage: flatten IN OUT [PIECE_BYTES]\n");
		return 2;
	}
	bytes = read_file(argv[1], &nr_bytes);
	to = fopen(argv[2], "wb");
	if (!to)
		die(argv[2]);
	put_head(to);
	put_piece(to, unfinished, 0, nr_bytes < sizeof(unfinished) ? nr_bytes : sizeof(unfinished));
	put_pieces(to, bytes, nr_bytes, piece_bytes);
	put_number(to, UINT64_MAX);
	put_number(to, UINT64_MAX);
	if (fclose(to))
		die(argv[2]);
	free(bytes);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* What all formats share: the buffer and the primitives. */
#include "render.h"

#include "escape.h"
#include "splay.h"
#include "symbol.h"

static const char hex_digits[] = "0123456789abcdef";

void out_init(struct out *out, const struct btsrec_sink *sink)
{
	out->sink = sink;
	out->stopped = false;
	out->at = out->buf;
}

enum btsrec_status out_flush(struct out *out)
{
	size_t nr_bytes = (size_t)(out->at - out->buf);

	out->at = out->buf;
	if (nr_bytes && !out->stopped)
		out->stopped = !out->sink->write(out->sink->arg, out->buf, nr_bytes);
	return out->stopped ? BTSREC_ERR_STOPPED : BTSREC_OK;
}

static const char digit_pairs[] =
	"00010203040506070809" "10111213141516171819" "20212223242526272829"
	"30313233343536373839" "40414243444546474849" "50515253545556575859"
	"60616263646566676869" "70717273747576777879" "80818283848586878889"
	"90919293949596979899";

static unsigned int nr_dec_digits(uint64_t value)
{
	unsigned int nr_digits = 1;

	for (; value >= 10000; value /= 10000)
		nr_digits += 4;
	return nr_digits + (value >= 10) + (value >= 100) + (value >= 1000);
}

void out_dec(struct out *out, uint64_t value, unsigned int width)
{
	unsigned int nr_digits = nr_dec_digits(value);
	char *end;

	out_room(out, OUT_DEC_MAX_BYTES);
	for (; width > nr_digits; width--)
		*out->at++ = ' ';
	out->at += nr_digits;
	for (end = out->at; value >= 10; value /= 100) {
		end -= 2;
		memcpy(end, digit_pairs + 2 * (value % 100), 2);
		nr_digits -= 2;
	}
	if (nr_digits)
		end[-1] = (char)('0' + value);
}

/* Each of its 8 hexadecimal digits as a byte, the first one lowest. */
static uint64_t digits_of(uint32_t value)
{
	uint64_t x = __builtin_bswap32(value), letters;

	/* Spread to halves, bytes and, the high one first, nibbles. */
	x = (x | x << 16) & 0x0000ffff0000ffffULL;
	x = (x | x << 8) & 0x00ff00ff00ff00ffULL;
	x = (x >> 4 | x << 8) & 0x0f0f0f0f0f0f0f0fULL;
	/* A nibble from 10 on carries into the bit above when 6 are added. */
	letters = (x + 0x0606060606060606ULL) >> 4 & 0x0101010101010101ULL;
	return x + 0x3030303030303030ULL + letters * ('a' - '9' - 1);
}

void out_hex16(struct out *out, uint64_t value)
{
	uint64_t high = digits_of((uint32_t)(value >> 32)), low = digits_of((uint32_t)value);

	out_room(out, OUT_HEX16_BYTES);
	memcpy(out->at, "0x", 2);
	memcpy(out->at + 2, &high, sizeof(high));
	memcpy(out->at + 10, &low, sizeof(low));
	out->at += OUT_HEX16_BYTES;
}

void out_hex(struct out *out, uint64_t value)
{
	int shift = value ? 60 - (__builtin_clzll(value) & ~3) : 0;

	out_room(out, OUT_HEX16_BYTES);
	*out->at++ = '0';
	*out->at++ = 'x';
	for (; shift >= 0; shift -= 4)
		*out->at++ = hex_digits[(value >> shift) & 15];
}

void out_pad(struct out *out, const char *text, unsigned int width)
{
	size_t nr_bytes = strlen(text);

	out_bytes(out, text, nr_bytes);
	for (; nr_bytes < width; nr_bytes++)
		out_char(out, ' ');
}

void out_escaped(struct out *out, const char *text, size_t max_bytes)
{
	size_t i;

	for (i = 0; i < max_bytes && text[i]; i++) {
		out_room(out, 4);
		out->at += escape_byte(out->at, (unsigned char)text[i]);
	}
}

void out_quoted(struct out *out, const char *text, size_t max_bytes)
{
	out_char(out, '"');
	out_escaped(out, text, max_bytes);
	out_char(out, '"');
}

/* One hostile byte inside a JSON string, 1..6 bytes: \u00NN instead of \xNN. */
static size_t json_byte(char *ret, unsigned char byte)
{
	char escaped[ESCAPED_MAX_BYTES];
	size_t nr_bytes = escape_byte(escaped, byte);

	if (nr_bytes < ESCAPED_MAX_BYTES) {
		memcpy(ret, escaped, nr_bytes);
		return nr_bytes;
	}
	memcpy(ret, "\\u00", 4);
	memcpy(ret + 4, escaped + 2, 2);
	return 6;
}

void out_json_text(struct out *out, const char *text, size_t max_bytes)
{
	for (size_t i = 0; i < max_bytes && text[i]; i++) {
		out_room(out, 6);
		out->at += json_byte(out->at, (unsigned char)text[i]);
	}
}

void out_json_string(struct out *out, const char *text, size_t max_bytes)
{
	out_char(out, '"');
	out_json_text(out, text, max_bytes);
	out_char(out, '"');
}

void out_hex_bytes(struct out *out, const uint8_t *bytes, size_t nr_bytes)
{
	for (size_t i = 0; i < nr_bytes; i++) {
		out_char(out, hex_digits[bytes[i] >> 4]);
		out_char(out, hex_digits[bytes[i] & 15]);
	}
}

void out_thread(struct out *out, uint32_t pid, uint32_t tgid, const char *comm)
{
	out_dec(out, pid, 0);
	out_char(out, '/');
	out_dec(out, tgid, 0);
	out_char(out, ' ');
	out_quoted(out, comm, BTSREC_COMM_BYTES);
}

bool render_find(struct renderer *r, uint64_t va, struct symbol_name *ret,
		 enum symbol_why *ret_why)
{
	bool found = symbol_find_in(r->rec, r->side, va, ret, ret_why);

	if (va < KERNEL_HALF_KVA)
		r->nr_user[*ret_why]++;
	return found;
}

void out_no_name(struct out *out, enum symbol_why why)
{
	if (why <= SYMBOL_UNKNOWN) {
		out_char(out, '-');
		return;
	}
	out_char(out, '(');
	out_str(out, symbol_why_str(why));
	out_char(out, ')');
}

static void out_user_counts(struct renderer *r, const char *whose, uint64_t number)
{
	bool any = false;

	for (unsigned int why = SYMBOL_UNKNOWN + 1; why < SYMBOL_NR_WHYS; why++) {
		if (!r->nr_user[why])
			continue;
		if (!any) {
			out_literal(&r->out, "# ");
			out_str(&r->out, whose);
			out_char(&r->out, ' ');
			out_dec(&r->out, number, 0);
			out_literal(&r->out, ": user addresses without symbol: ");
		}
		out_str(&r->out, any ? ", " : "");
		out_str(&r->out, symbol_why_str((enum symbol_why)why));
		out_char(&r->out, ' ');
		out_dec(&r->out, r->nr_user[why], 0);
		any = true;
	}
	if (any)
		out_char(&r->out, '\n');
	memset(r->nr_user, 0, sizeof(r->nr_user));
}

void out_user_summary(struct renderer *r, unsigned int cpu)
{
	out_user_counts(r, "CPU", cpu);
}

void out_user_summary_thread(struct renderer *r, uint32_t pid)
{
	out_user_counts(r, "thread", pid);
}

void out_name(struct out *out, const struct symbol_name *name)
{
	if (name->name_bytes) {
		out_bytes(out, name->name, name->name_bytes);
	} else {
		out_char(out, '[');
		out_str(out, name->module);
		out_char(out, ']');
	}
	out_char(out, '+');
	out_hex(out, name->offset_bytes);
	if (name->name_bytes && *name->module) {
		out_literal(out, " [");
		out_str(out, name->module);
		out_char(out, ']');
	}
}

void render_cpu_state(struct out *out, const struct btsrec_cpu *cpu)
{
	uint32_t reason = BTSREC_REASON_NONE;

	switch ((enum btsrec_cpu_state)cpu->state) {
	case BTSREC_CPU_NEVER:
		out_literal(out, "never armed");
		return;
	case BTSREC_CPU_ARMED:
		out_literal(out, "armed");
		return;
	case BTSREC_CPU_STOPPED:
		out_literal(out, "stopped");
		reason = cpu->stop_reason;
		break;
	case BTSREC_CPU_FROZEN:
		out_literal(out, "frozen");
		reason = cpu->freeze.reason;
		break;
	default:
		out_literal(out, "unknown state");
		return;
	}
	out_literal(out, " (");
	out_str(out, btsrec_reason_str(reason));
	out_char(out, ')');
}

const char *render_kind_str(enum btsrec_event_kind kind)
{
	switch (kind) {
	case BTSREC_EVENT_BRANCH:
		return "branch";
	case BTSREC_EVENT_SWITCH:
		return "switch";
	case BTSREC_EVENT_EXEC:
		return "exec";
	case BTSREC_EVENT_ARM:
		return "arm";
	case BTSREC_EVENT_MARK:
		return "mark";
	case BTSREC_EVENT_TIME:
		return "time";
	case BTSREC_EVENT_FREEZE:
		return "freeze";
	case BTSREC_EVENT_GAP:
		return "gap";
	}
	return "unknown";
}

const char *render_block_str(const struct splay_block *block)
{
	return block->kernel ? "kernel" : "user";
}

const struct render_format *render_format_of(enum btsrec_format format)
{
	switch (format) {
	case BTSREC_FORMAT_TEXT:
		return &render_text;
	case BTSREC_FORMAT_JSONL:
		return &render_jsonl;
	case BTSREC_FORMAT_TSV:
		return &render_tsv;
	}
	return NULL;
}

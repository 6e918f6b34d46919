// SPDX-License-Identifier: GPL-2.0-or-later
/* What all formats share: the buffer and the primitives. */
#include "render.h"

#include "escape.h"
#include "symbol.h"

static const char hex_digits[16] = "0123456789abcdef";

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

void out_dec(struct out *out, uint64_t value, unsigned int width)
{
	char digits[20];
	unsigned int nr_digits = 0;

	do {
		digits[nr_digits++] = (char)('0' + value % 10);
		value /= 10;
	} while (value);

	out_room(out, sizeof(digits));
	for (; width > nr_digits; width--)
		*out->at++ = ' ';
	while (nr_digits)
		*out->at++ = digits[--nr_digits];
}

void out_hex16(struct out *out, uint64_t value)
{
	int shift;

	out_room(out, 18);
	*out->at++ = '0';
	*out->at++ = 'x';
	for (shift = 60; shift >= 0; shift -= 4)
		*out->at++ = hex_digits[(value >> shift) & 15];
}

void out_hex(struct out *out, uint64_t value)
{
	int shift = value ? 60 - (__builtin_clzll(value) & ~3) : 0;

	out_room(out, 18);
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

/* One hostile byte inside a JSON string: 1..6 bytes. */
static size_t json_byte(char *ret, unsigned char byte)
{
	if (byte >= 0x20 && byte < 0x7f && byte != '"' && byte != '\\') {
		ret[0] = (char)byte;
		return 1;
	}
	ret[0] = '\\';
	if (byte == '"' || byte == '\\') {
		ret[1] = (char)byte;
		return 2;
	}
	memcpy(ret + 1, "u00", 3);
	ret[4] = hex_digits[byte >> 4];
	ret[5] = hex_digits[byte & 15];
	return 6;
}

void out_json_string(struct out *out, const char *text, size_t max_bytes)
{
	size_t i;

	out_char(out, '"');
	for (i = 0; i < max_bytes && text[i]; i++) {
		out_room(out, 6);
		out->at += json_byte(out->at, (unsigned char)text[i]);
	}
	out_char(out, '"');
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

// SPDX-License-Identifier: Apache-2.0
/* journal_text.c - the bytes of a journal file: two blocks, of which the newer valid one counts.
 * Pure. */
#include <ctype.h>
#include <zlib.h>

#include "journal.h"
#include "json_text.h"
#include "record_json.h"
#include "sysfs.h"

static const char magic[] = "rocelet-journal ";

#define HEAD_MAX 96 /* the first line of a block */

/* --- encode ----------------------------------------------------------------------------------- */

static uint32_t checksum(const void *head, size_t n_head, const void *body, size_t n_body)
{
	uLong c = crc32(crc32(0, NULL, 0), head, (uInt)n_head);

	return (uint32_t)crc32(c, body, (uInt)n_body);
}

static int journal_lay_out(uint8_t *block, uint64_t serial, const char *json, size_t len)
{
	char head[HEAD_MAX];
	int n = snprintf(head, sizeof(head), "%s%d %llu %zu", magic, JOURNAL_VERSION,
			 (unsigned long long)serial, len);

	n += snprintf(head + n, sizeof(head) - (size_t)n, " %u\n",
		      checksum(head, (size_t)n, json, len));
	if ((size_t)n + len > JOURNAL_BLOCK)
		return -EMSGSIZE;
	memset(block, '\n', JOURNAL_BLOCK);
	memcpy(block, head, (size_t)n);
	memcpy(block + n, json, len);
	return 0;
}

/* Prints into a buffer of our own: when jansson's own buffer cannot grow, a part of the text is
 * missing. */
int journal_encode(uint8_t block[JOURNAL_BLOCK], uint64_t serial, const struct attach_record *r,
		   struct err *e)
{
	char text[JOURNAL_BLOCK];
	size_t len;
	json_t *o;
	int code = record_encode(&o, r, e);

	if (code < 0)
		return code;
	len = json_dumpb(o, text, sizeof(text), JSON_COMPACT);
	json_decref(o);
	if (len == 0)
		return err_set(e, -ENOMEM, "out of memory");
	code = len < sizeof(text) ? journal_lay_out(block, serial, text, len) : -EMSGSIZE;
	return code < 0 ? err_set(e, code, "it is too large, %zu bytes", len) : 0;
}

/* --- decode ----------------------------------------------------------------------------------- */

struct head {
	uint64_t version, serial, len, crc;
	size_t n_summed; /* bytes of the line that the checksum covers */
	const char *body;
};

/* Parses the next number of a line, up to a blank or the line's end. */
static bool take_number(const char **p, uint64_t *ret)
{
	size_t n = strcspn(*p, " ");
	char text[24];

	if (n >= sizeof(text))
		return false;
	memcpy(text, *p, n);
	text[n] = '\0';
	*p += n + ((*p)[n] == ' ');
	return parse_u64(text, ret) == 0;
}

/* Parses the first line of a block; false: it is not a valid one. If it is of another version, only
 * the version number is read. */
static bool parse_head(const char *block, size_t n, struct head *ret)
{
	char line[HEAD_MAX];
	const char *end = memchr(block, '\n', n < HEAD_MAX ? n : HEAD_MAX - 1), *p = line;
	const char *number;

	if (!end || strncmp(block, magic, strlen(magic)) != 0)
		return false;
	memcpy(line, block, (size_t)(end - block));
	line[end - block] = '\0';
	p += strlen(magic);
	if (!take_number(&p, &ret->version))
		return false;
	if (ret->version != JOURNAL_VERSION)
		return true;
	if (!take_number(&p, &ret->serial) || !take_number(&p, &ret->len))
		return false;
	number = p;
	if (!take_number(&p, &ret->crc) || *p)
		return false;
	ret->n_summed = (size_t)(number - line) - 1;
	ret->body = end + 1;
	return true;
}

static bool is_whole(const char *block, size_t n, const struct head *h)
{
	size_t room = n - (size_t)(h->body - block);

	return h->serial > 0 && h->len <= room &&
	       checksum(block, h->n_summed, h->body, (size_t)h->len) == h->crc;
}

/* Finds the newer valid block; 0 with body == NULL: none is valid. */
static int find_newest(const uint8_t *bytes, size_t len, struct head *ret, struct err *e)
{
	*ret = (struct head){0};
	for (size_t at = 0; at < len && at < 2 * JOURNAL_BLOCK; at += JOURNAL_BLOCK) {
		const char *block = (const char *)bytes + at;
		size_t n = len - at < JOURNAL_BLOCK ? len - at : JOURNAL_BLOCK;
		struct head h;

		if (!parse_head(block, n, &h))
			continue;
		if (h.version > JOURNAL_VERSION)
			return err_set(e, -EPROTONOSUPPORT,
				       "it was written by a newer rocelet (format %llu)",
				       (unsigned long long)h.version);
		if (h.version == JOURNAL_VERSION && is_whole(block, n, &h) &&
		    h.serial > ret->serial)
			*ret = h;
	}
	return 0;
}

int journal_serial(const uint8_t *bytes, size_t len, uint64_t *ret, struct err *e)
{
	struct head h;
	int r = find_newest(bytes, len, &h, e);

	if (r == 0)
		*ret = h.serial;
	return r;
}

static int decode_body(const struct head *h, struct attach_record *ret, struct err *e)
{
	json_error_t at;
	json_t *o = json_text_load(h->body, (size_t)h->len, JSON_REJECT_DUPLICATES, &at);
	int r;

	if (!o && json_text_no_memory(&at))
		return err_set(e, -ENOMEM, "out of memory");
	if (!o)
		return err_set(e, -EBADMSG, "its record is not JSON: %s", at.text);
	r = record_decode(ret, o, e);
	json_decref(o);
	return r < 0 ? err_wrap(e, "its record is invalid") : 0;
}

int journal_decode(const uint8_t *bytes, size_t len, struct attach_record *ret,
		   uint64_t *ret_serial, struct err *e)
{
	struct head h;
	int r = find_newest(bytes, len, &h, e);

	if (r < 0)
		return r;
	if (len == 0)
		return err_set(e, -ENODATA, "it is empty");
	if (!h.body)
		return err_set(e, -EBADMSG, "neither of its two blocks is valid");
	r = decode_body(&h, ret, e);
	if (r == 0)
		*ret_serial = h.serial;
	return r < 0 ? r : 0;
}

/* --- names ------------------------------------------------------------------------------------ */

static bool journal_is_plain(char c)
{
	return isalnum((unsigned char)c) || strchr(".:-_ ", c);
}

void journal_key(const struct attach_record *r, char key[JOURNAL_KEY_SIZE])
{
	char full[RESOURCE_NAME_SIZE + PLUGIN_ID_SIZE];
	size_t n;

	if (r->plan.kind == PLAN_VF)
		snprintf(full, sizeof(full), "%s", r->function);
	else
		snprintf(full, sizeof(full), "%s %s", r->resource, r->id);
	n = strlen(full);
	memcpy(key, full, n < JOURNAL_KEY_SIZE ? n + 1 : JOURNAL_KEY_SIZE);
	if (n >= JOURNAL_KEY_SIZE)
		snprintf(key + JOURNAL_KEY_SIZE - 10, 10, "-%08x", checksum(full, n, "", 0));
	for (char *c = key; *c; c++)
		if (!journal_is_plain(*c) || (c == key && *c == '.'))
			*c = '_';
}

// SPDX-License-Identifier: Apache-2.0
/* pod_stream.c - decodes a list as it arrives.
 *
 * A push parser of protobuf's wire format: a stack of open messages, and a table of the fields to
 * read. A text is collected for its message; when a message ends, its texts are set in the entries
 * below it. */
#include "pod_stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pod_entries.h"
#include "search.h"

/* Parsed from the end: function, device, bus, domain; each after a dash. */
static const struct part {
	size_t least, most;
	char before; /* separator in an address; the domain has none */
} parts[] = {{1, 1, '.'}, {2, 2, ':'}, {2, 2, ':'}, {4, 8, '\0'}};

#define N_PARTS (sizeof(parts) / sizeof(*parts))

static size_t digits_before(const char *name, size_t end)
{
	size_t n = 0;

	while (n < end && strspn(name + end - 1 - n, "0123456789abcdef") > n)
		n++;
	return n;
}

void claim_device_address(char *name)
{
	size_t end = strlen(name), dashes[N_PARTS], n;
	const char *address;

	for (size_t i = 0; i < N_PARTS; i++) {
		n = digits_before(name, end);
		if (n < parts[i].least || n > parts[i].most)
			return;
		end -= n;
		dashes[i] = end; /* one before the part */
		if (end > 0 && name[--end] != '-')
			return;
		if (end == 0 && i + 1 < N_PARTS)
			return;
	}
	for (size_t i = 0; i + 1 < N_PARTS; i++)
		name[dashes[i] - 1] = parts[i].before;
	address = name + dashes[N_PARTS - 1];
	memmove(name, address, strlen(address) + 1);
}

/* One more than the longest name, so that longer ones are detected. */
#define TEXT_SIZE  (POD_NAME_SIZE + 1)
/* The response, a pod, a container, its claim, a device of it. */
#define DEPTH	   5
/* Claims may be for any kind of device; entries beyond this number are left out. */
#define CLAIMS_MAX (POD_LIST_MAX / 2)

enum wire { WIRE_VARINT = 0, WIRE_64 = 1, WIRE_LEN = 2, WIRE_32 = 5 };

enum message { RESPONSE, POD, CONTAINER, DEVICES, CLAIM, CLAIM_DEVICE };

/* The names in an entry. */
enum name { NAME_POD, NAME_NAMESPACE, NAME_CONTAINER, NAME_RESOURCE, NAME_ID, N_NAMES };

/* A field to read: another message, or a name. */
static const struct field {
	enum message in;
	unsigned number;
	enum message message; /* RESPONSE: the field is a name */
	enum name name;
} fields[] = {
	{RESPONSE, 1, .message = POD},
	{POD, 1, .name = NAME_POD},
	{POD, 2, .name = NAME_NAMESPACE},
	{POD, 3, .message = CONTAINER},
	{CONTAINER, 1, .name = NAME_CONTAINER},
	{CONTAINER, 2, .message = DEVICES},
	{DEVICES, 1, .name = NAME_RESOURCE},
	{DEVICES, 2, .name = NAME_ID},
	{CONTAINER, 5, .message = CLAIM},
	{CLAIM, 4, .message = CLAIM_DEVICE},
	{CLAIM_DEVICE, 2, .name = NAME_RESOURCE}, /* the driver */
	{CLAIM_DEVICE, 4, .name = NAME_ID},
};

#define N_FIELDS (sizeof(fields) / sizeof(*fields))

/* An open message: its end, and its first entry. */
struct level {
	enum message message;
	uint64_t end;
	size_t first;
};

enum state { STATE_TAG, STATE_VARINT, STATE_LENGTH, STATE_SKIP, STATE_TEXT };

struct pod_stream {
	struct pod_list list; /* entries of complete pods */
	struct pod_list pod;  /* entries of the open pod; names are set when their message ends */
	size_t left_out;

	enum state state;
	uint64_t at; /* bytes read */
	uint64_t varint;
	unsigned shift;
	const struct field *field; /* the open field; NULL: skipped */
	uint64_t left;		   /* bytes left of it */
	struct level levels[DEPTH];
	size_t depth;
	char text[TEXT_SIZE];
	size_t n_text;
	char names[N_NAMES][TEXT_SIZE];
};

/* --- entries ---------------------------------------------------------------------------------- */

static const char **pod_stream_place_of(struct pod_device *d, enum name name)
{
	switch (name) {
	case NAME_POD:
		return &d->pod;
	case NAME_NAMESPACE:
		return &d->namespace;
	case NAME_CONTAINER:
		return &d->container;
	case NAME_RESOURCE:
		return &d->resource;
	case NAME_ID:
	case N_NAMES:
		break;
	}
	return &d->id;
}

/* Sets a name of an ended message in all entries below it. */
static int set_name(struct pod_stream *s, size_t first, enum name name)
{
	const char *text = first < s->pod.n ? pod_list_text(&s->pod, s->names[name]) : "";

	if (!text)
		return -ENOMEM;
	for (size_t i = first; i < s->pod.n; i++)
		*pod_stream_place_of(&s->pod.devices[i], name) = text;
	return 0;
}

static int add_id(struct pod_stream *s)
{
	const struct pod_device d = {.id = s->names[NAME_ID]};

	if (s->field->in == CLAIM_DEVICE) {
		if (s->list.n + s->pod.n >= CLAIMS_MAX) {
			s->left_out++;
			return 0;
		}
		claim_device_address(s->names[NAME_ID]);
	}
	if (s->list.n + s->pod.n >= POD_LIST_MAX)
		return -EMSGSIZE;
	return pod_list_push(&s->pod, &d);
}

static int end_pod(struct pod_stream *s)
{
	int r = 0;

	for (size_t i = 0; i < s->pod.n && r == 0; i++)
		r = pod_entries_add(&s->list, &s->left_out, &s->pod.devices[i]);
	pod_list_done(&s->pod);
	return r;
}

/* --- messages --------------------------------------------------------------------------------- */

static struct level *top(struct pod_stream *s)
{
	return &s->levels[s->depth - 1];
}

static void begin_message(struct pod_stream *s, enum message message, uint64_t end)
{
	s->levels[s->depth++] = (struct level){message, end, s->pod.n};
	for (size_t i = 0; i < N_FIELDS; i++)
		if (fields[i].in == message && !fields[i].message)
			s->names[fields[i].name][0] = '\0';
}

static int end_message(struct pod_stream *s)
{
	const struct level level = *top(s);
	int r = 0;

	s->depth--;
	for (size_t i = 0; i < N_FIELDS && r == 0; i++)
		if (fields[i].in == level.message && !fields[i].message &&
		    fields[i].name != NAME_ID)
			r = set_name(s, level.first, fields[i].name);
	return r == 0 && level.message == POD ? end_pod(s) : r;
}

static int end_messages(struct pod_stream *s)
{
	int r = 0;

	while (r == 0 && s->state == STATE_TAG && s->shift == 0 && s->at == top(s)->end)
		r = end_message(s);
	return r;
}

/* --- fields ----------------------------------------------------------------------------------- */

static const struct field *find_field(enum message in, uint64_t number)
{
	return find_first(fields, N_FIELDS, i, fields[i].in == in && fields[i].number == number);
}

static int skip(struct pod_stream *s, uint64_t n)
{
	s->left = n;
	s->state = n > 0 ? STATE_SKIP : STATE_TAG;
	return n <= top(s)->end - s->at ? 0 : -EBADMSG;
}

static int begin_field(struct pod_stream *s)
{
	const unsigned wire = s->varint & 7;

	s->field = find_field(top(s)->message, s->varint >> 3);
	if (s->varint >> 3 == 0 || s->varint > UINT32_MAX || (s->field && wire != WIRE_LEN))
		return -EBADMSG;
	switch (wire) {
	case WIRE_VARINT:
		s->state = STATE_VARINT;
		return 0;
	case WIRE_LEN:
		s->state = STATE_LENGTH;
		return 0;
	case WIRE_64:
		return skip(s, 8);
	case WIRE_32:
		return skip(s, 4);
	default:
		return -EBADMSG;
	}
}

static int pod_stream_end_text(struct pod_stream *s)
{
	char *name = s->names[s->field->name];

	memcpy(name, s->text, s->n_text);
	name[s->n_text] = '\0';
	s->state = STATE_TAG;
	return s->field->name == NAME_ID ? add_id(s) : 0;
}

static int pod_stream_begin_value(struct pod_stream *s)
{
	const uint64_t n = s->varint;

	if (n > top(s)->end - s->at)
		return -EBADMSG;
	if (!s->field)
		return skip(s, n);
	if (s->field->message) {
		begin_message(s, s->field->message, s->at + n);
		s->state = STATE_TAG;
		return 0;
	}
	s->left = n;
	s->n_text = 0;
	s->state = STATE_TEXT;
	return n > 0 ? 0 : pod_stream_end_text(s);
}

/* --- bytes ------------------------------------------------------------------------------------ */

static int take_varint(struct pod_stream *s, uint8_t byte)
{
	if (s->shift == 0)
		s->varint = 0;
	if (s->shift > 63 || ++s->at > top(s)->end)
		return -EBADMSG;
	s->varint |= (uint64_t)(byte & 0x7f) << s->shift;
	s->shift += 7;
	if (byte & 0x80)
		return 0;
	s->shift = 0;
	switch (s->state) {
	case STATE_TAG:
		return begin_field(s);
	case STATE_LENGTH:
		return pod_stream_begin_value(s);
	case STATE_VARINT:
	case STATE_SKIP:
	case STATE_TEXT:
		break;
	}
	s->state = STATE_TAG;
	return 0;
}

/* Collects a part of a text. A NUL is replaced by a character that is invalid in names, so that the
 * entry is rejected later. */
static void pod_stream_take_text(struct pod_stream *s, const uint8_t *bytes, size_t n)
{
	for (size_t i = 0; i < n && s->n_text < TEXT_SIZE - 1; i++)
		s->text[s->n_text++] = (char)(bytes[i] ? bytes[i] : 0x7f);
}

/* Consumes bytes of the open field. Returns their number. */
static size_t take_bytes(struct pod_stream *s, const uint8_t *bytes, size_t len, int *ret_code)
{
	const size_t n = s->left < len ? (size_t)s->left : len;

	if (s->state == STATE_TEXT)
		pod_stream_take_text(s, bytes, n);
	s->at += n;
	s->left -= n;
	if (s->left > 0)
		return n;
	if (s->state == STATE_TEXT)
		*ret_code = pod_stream_end_text(s);
	s->state = STATE_TAG;
	return n;
}

int pod_stream_feed(struct pod_stream *s, const uint8_t *bytes, size_t len)
{
	int r = 0;

	while (len > 0 && r == 0) {
		size_t n = 1;

		if (s->state == STATE_SKIP || s->state == STATE_TEXT)
			n = take_bytes(s, bytes, len, &r);
		else
			r = take_varint(s, *bytes);
		bytes += n;
		len -= n;
		if (r == 0)
			r = end_messages(s);
	}
	return r;
}

/* --- life ------------------------------------------------------------------------------------- */

struct pod_stream *pod_stream_new(void)
{
	struct pod_stream *s = calloc(1, sizeof(*s));

	if (s)
		begin_message(s, RESPONSE, UINT64_MAX);
	return s;
}

void pod_stream_free(struct pod_stream *s)
{
	if (!s)
		return;
	pod_list_done(&s->list);
	pod_list_done(&s->pod);
	free(s);
}

int pod_stream_end(struct pod_stream *s, struct pod_list *ret, size_t *ret_left_out)
{
	if (s->depth > 1 || s->state != STATE_TAG || s->shift > 0)
		return -EBADMSG;
	pod_entries_finish(&s->list, POD_SOURCE_API);
	*ret = s->list;
	*ret_left_out = s->left_out;
	s->list = (struct pod_list){0};
	return 0;
}

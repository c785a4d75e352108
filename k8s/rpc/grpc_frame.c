// SPDX-License-Identifier: Apache-2.0
/* grpc_frame.c - assembles length-prefixed messages from received DATA frames, and queues messages
 * for DATA frames to send. Pure. */
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "grpc_internal.h"

/* --- in ------------------------------------------------------------------------------------- */

#define FIRST_ROOM 256u

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

static int take_prefix(struct grpc_assembler *a, const uint8_t **bytes, size_t *len, size_t max)
{
	size_t n = least(GRPC_PREFIX - a->n_prefix, *len);
	uint32_t size;

	memcpy(a->prefix + a->n_prefix, *bytes, n);
	a->n_prefix += n;
	*bytes += n;
	*len -= n;
	if (a->n_prefix < GRPC_PREFIX)
		return 0;
	if (a->prefix[0] > 1)
		return -EBADMSG;
	if (a->prefix[0] == 1)
		return -EOPNOTSUPP;
	memcpy(&size, a->prefix + 1, sizeof(size));
	a->len = be32toh(size);
	return a->len <= max ? 0 : -EMSGSIZE;
}

/* Makes room for n more bytes. */
static int grpc_make_room(struct grpc_assembler *a, size_t n, size_t max, size_t *held)
{
	size_t room = a->room ? a->room : FIRST_ROOM;
	uint8_t *body;

	while (room < a->have + n)
		room *= 2;
	room = least(room, a->len);
	if (room <= a->room)
		return 0;
	if (*held + (room - a->room) > 4 * max)
		return -ENOMEM;
	body = realloc(a->body, room);
	if (!body)
		return -ENOMEM;
	*held += room - a->room;
	a->body = body;
	a->room = room;
	return 0;
}

int grpc_assemble(struct grpc_assembler *a, const uint8_t **bytes, size_t *len, size_t max,
		  size_t *held)
{
	size_t n;
	int r = 0;

	if (a->n_prefix < GRPC_PREFIX)
		r = take_prefix(a, bytes, len, max);
	if (r < 0 || a->n_prefix < GRPC_PREFIX)
		return r;
	n = least(a->len - a->have, *len);
	if (n > 0) {
		r = grpc_make_room(a, n, max, held);
		if (r < 0)
			return r;
		memcpy(a->body + a->have, *bytes, n);
		a->have += n;
		*bytes += n;
		*len -= n;
	}
	return a->have == a->len;
}

int grpc_assemble_part(struct grpc_assembler *a, const uint8_t **bytes, size_t *len, size_t max,
		       const uint8_t **ret, size_t *ret_n)
{
	size_t n;
	int r = 0;

	if (a->n_prefix < GRPC_PREFIX)
		r = take_prefix(a, bytes, len, max);
	if (r < 0 || a->n_prefix < GRPC_PREFIX)
		return r;
	n = least(a->len - a->have, *len);
	*ret = *bytes;
	*ret_n = n;
	a->have += n;
	*bytes += n;
	*len -= n;
	return n > 0 || a->len == 0;
}

void grpc_assembler_reset(struct grpc_assembler *a, size_t *held)
{
	*held -= a->room;
	free(a->body);
	*a = (struct grpc_assembler){0};
}

/* --- out ------------------------------------------------------------------------------------ */

struct grpc_chunk {
	struct grpc_chunk *next;
	size_t size, given;
	uint8_t bytes[];
};

void grpc_queue_init(struct grpc_queue *q)
{
	*q = (struct grpc_queue){.end = &q->first};
}

int grpc_queue_add(struct grpc_queue *q, const uint8_t *message, size_t len)
{
	struct grpc_chunk *c;
	uint32_t size = htobe32((uint32_t)len);

	if (len > UINT32_MAX)
		return -EMSGSIZE;
	c = malloc(sizeof(*c) + GRPC_PREFIX + len);
	if (!c)
		return -ENOMEM;
	*c = (struct grpc_chunk){.size = GRPC_PREFIX + len};
	c->bytes[0] = 0;
	memcpy(c->bytes + 1, &size, sizeof(size));
	if (len > 0)
		memcpy(c->bytes + GRPC_PREFIX, message, len);
	*q->end = c;
	q->end = &c->next;
	q->size += c->size;
	return 0;
}

static void drop_first(struct grpc_queue *q)
{
	struct grpc_chunk *c = q->first;

	q->first = c->next;
	if (!q->first)
		q->end = &q->first;
	q->size -= c->size - c->given;
	free(c);
}

size_t grpc_queue_give(struct grpc_queue *q, uint8_t *buf, size_t size)
{
	size_t n, total = 0;

	while (q->first && total < size) {
		struct grpc_chunk *c = q->first;

		n = least(c->size - c->given, size - total);
		memcpy(buf + total, c->bytes + c->given, n);
		c->given += n;
		q->size -= n;
		total += n;
		if (c->given == c->size)
			drop_first(q);
	}
	return total;
}

bool grpc_queue_is_partly_taken(const struct grpc_queue *q)
{
	return q->first && q->first->given > 0;
}

void grpc_queue_drop(struct grpc_queue *q)
{
	while (q->first)
		drop_first(q);
}

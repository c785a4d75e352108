// SPDX-License-Identifier: Apache-2.0
/* proto_budget.c - counts protobuf-c's allocations. Memory freed during a decode (tables of fields)
 * still counts. */
#include "proto_budget.h"

#include <errno.h>
#include <stdlib.h>

#define BUDGET_BASE   4096
#define BUDGET_FACTOR 32

/* Returns the bytes that glibc's malloc() needs for a block: one word of overhead, multiples of 16,
 * at least 32. */
static size_t cost(size_t size)
{
	size_t chunk = (size + 8 + 15) & ~(size_t)15;

	return chunk < 32 ? 32 : chunk;
}

static void *budget_alloc(void *data, size_t size)
{
	struct proto_budget *b = data;
	void *p;

	if (size > b->left || cost(size) > b->left)
		return NULL;
	b->left -= cost(size);
	p = malloc(size);
	b->no_memory |= !p;
	return p;
}

static void budget_free(void *data, void *p)
{
	(void)data;
	free(p);
}

/* Sets the budget for a message of len bytes: 32 times that and 4 KiB for a whole decode, including
 * malloc()'s overhead per block. Decoded device IDs of a few characters need up to 25 times their
 * length. */
static void proto_budget_init(struct proto_budget *b, size_t len)
{
	*b = (struct proto_budget){.allocator = {budget_alloc, budget_free, b}};
	if (__builtin_mul_overflow(len, BUDGET_FACTOR, &b->left) ||
	    __builtin_add_overflow(b->left, BUDGET_BASE, &b->left))
		b->left = SIZE_MAX;
}

ProtobufCMessage *proto_decode(struct proto_budget *b, const ProtobufCMessageDescriptor *type,
			       const uint8_t *bytes, size_t len, int *ret_code)
{
	ProtobufCMessage *m;

	proto_budget_init(b, len);
	m = protobuf_c_message_unpack(type, &b->allocator, len, bytes);
	if (!m)
		*ret_code = b->no_memory ? -ENOMEM : -EBADMSG;
	return m;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* proto_budget.h - an allocator for protobuf-c that limits the memory for a malicious message.
 *
 * protobuf-c allocates structs, copies and tables for its input: an empty sub-message of two bytes
 * needs more than a hundred bytes. Pure. */
#pragma once

#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>

struct proto_budget {
	ProtobufCAllocator allocator; /* must not be moved: points at this struct */
	size_t left;
	bool no_memory; /* malloc() failed, not the budget */
};

/* Unpacks with the budget; NULL and *ret_code: -ENOMEM, or -EBADMSG for a message that is invalid
 * or exceeds the budget. Free the result with protobuf_c_message_free_unpacked() and the same
 * allocator. */
ProtobufCMessage *proto_decode(struct proto_budget *, const ProtobufCMessageDescriptor *,
			       const uint8_t *, size_t len, int *ret_code);

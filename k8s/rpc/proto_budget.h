/* proto_budget.h - an allocator for protobuf-c that a hostile message cannot make spend much.
 *
 * protobuf-c makes structs, copies and tables of what it reads: an empty sub-message of two bytes
 * costs it more than a hundred. Pure. */
#pragma once

#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>

struct proto_budget {
	ProtobufCAllocator allocator; /* stays where it is: points at this struct */
	size_t left;
	bool no_memory; /* it was malloc() that failed, not the budget */
};

/* For a message of len bytes: 32 times that and 4 KiB for the whole of a decode, what malloc() adds
 * to each block included. Device IDs of a few characters cost up to 25 times their length. */
void proto_budget_init(struct proto_budget *, size_t len);

/* Unpacks with the budget; NULL and *ret_code: -ENOMEM, or -EBADMSG for what is no such message or
 * costs too much. Freed by protobuf_c_message_free_unpacked() with the same allocator. */
ProtobufCMessage *proto_decode(struct proto_budget *, const ProtobufCMessageDescriptor *,
			       const uint8_t *, size_t len, int *ret_code);

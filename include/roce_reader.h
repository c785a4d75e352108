/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* roce_reader.h - bounded reads of a frame for roce_decode.h: proven by the verifier in BPF,
 * checked at run time elsewhere. */
#pragma once

#include "roce_wire.h"

#define ROCE_INLINE static inline __attribute__((always_inline))

/* A frame, or the part of it that is in the buffer. */
struct roce_frame {
	const void *start, *end;
	__u32 length; /* length of the whole frame; more than end - start if it is truncated.
			 ROCE_ANY_LENGTH: unknown, check against roce_ip.end later */
	__u32 type; /* 0: start is the destination MAC; else the EtherType of the header at start */
	__u32 room; /* BPF: constant size of the buffer, if the frame is a copy; else 0 */
};

#define ROCE_ANY_LENGTH 0xffffffffu

struct roce_reader {
	const struct roce_frame *frame;
	__u64 offset; /* offset of the next header */
};

/* Unaligned load: in BPF a plain one, which the JITs of the supported machines handle. */
#ifdef __bpf__
#define ROCE_LOAD(v, at) (*(v) = *(const __typeof__(*(v)) *)(at))
#else
#define ROCE_LOAD(v, at) __builtin_memcpy(v, at, sizeof(*(v)))
#endif

ROCE_INLINE __u16 roce_u16(const void *at)
{
	__u16 v;

	ROCE_LOAD(&v, at);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	v = __builtin_bswap16(v);
#endif
	return v;
}

ROCE_INLINE __u32 roce_raw32(const void *at)
{
	__u32 v;

	ROCE_LOAD(&v, at);
	return v;
}

ROCE_INLINE __u64 roce_raw64(const void *at)
{
	__u64 v;

	ROCE_LOAD(&v, at);
	return v;
}

ROCE_INLINE __u32 roce_u32(const void *at)
{
	__u32 v = roce_raw32(at);

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	v = __builtin_bswap32(v);
#endif
	return v;
}

/* Returns the next n bytes, or NULL if they are not in the buffer. Does not move the reader. */
ROCE_INLINE const __u8 *roce_peek(const struct roce_reader *r, __u32 n)
{
	const struct roce_frame *f = r->frame;
	const __u8 *at = (const __u8 *)f->start;
#ifdef __bpf__
	__u64 offset = r->offset;

	/* The verifier must see that the checked value is the one that is used. */
	asm volatile("" : "+r"(offset));
	if (f->room && offset > f->room - n)
		return NULL;
	at += offset;
	asm volatile("" : "+r"(at));
	return (const void *)(at + n) > f->end ? NULL : at;
#else
	return r->offset + n > (__u64)((const __u8 *)f->end - at) ? NULL : at + r->offset;
#endif
}

/* Skips n bytes. */
ROCE_INLINE void roce_pass(struct roce_reader *r, __u32 n)
{
	r->offset += n;
}

/* Skips a variable number of bytes, and hides the range of the offset from the verifier, which
 * would otherwise verify each chain of headers separately and exceed its limit of a million
 * instructions. The mask truncates no offset: the longest chain has ROCE_EXTENSIONS_MAX headers of
 * 2,048 bytes. */
ROCE_INLINE void roce_pass_variable(struct roce_reader *r, __u32 n)
{
	roce_pass(r, n);
#ifdef __bpf__
	__u64 unknown = (const __u8 *)r->frame->end - (const __u8 *)r->frame->start;

	asm volatile("%0 ^= %1\n%0 ^= %1" : "+r"(r->offset) : "r"(unknown));
	r->offset &= 0x7fff;
#endif
}

/* roce_reader.h - bounded reads of a frame, for roce_decode.h: in BPF each is proven by the
 * verifier, elsewhere each is checked. */
#pragma once

#include "roce_wire.h"

#define ROCE_INLINE static inline __attribute__((always_inline))

/* A frame, or as much of its beginning as is at hand. */
struct roce_frame {
	const void *start, *end;
	__u32 length; /* of the whole frame; more than end - start where it is cut. ROCE_ANY_LENGTH:
			 the caller compares with roce_ip.end afterwards */
	__u32 type;   /* 0: start is the destination MAC; else the EtherType of what starts there */
	__u32 room;   /* BPF, of a copy: its size, a constant; else 0 */
};

#define ROCE_ANY_LENGTH 0xffffffffu

struct roce_reader {
	const struct roce_frame *frame;
	__u64 offset; /* of the next header */
};

/* BPF has its unaligned loads done by the JIT on the machines there are; user space asks politely.
 */
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

/* The next n bytes, if they are at hand. Stays where it is. */
ROCE_INLINE const __u8 *roce_peek(const struct roce_reader *r, __u32 n)
{
	const struct roce_frame *f = r->frame;
	const __u8 *at = (const __u8 *)f->start;
#ifdef __bpf__
	__u64 offset = r->offset;

	/* What is compared is what is used, or the verifier does not see it. */
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

/* Past n bytes. */
ROCE_INLINE void roce_pass(struct roce_reader *r, __u32 n)
{
	r->offset += n;
}

/* The same, and the verifier is made to forget what it knows of the offset: otherwise it would
 * follow each chain of headers on its own, a million steps of them. No chain is longer than the
 * mask: ROCE_EXTENSIONS_MAX headers of 2,048 bytes. */
ROCE_INLINE void roce_pass_variable(struct roce_reader *r, __u32 n)
{
	roce_pass(r, n);
#ifdef __bpf__
	__u64 unknown = (const __u8 *)r->frame->end - (const __u8 *)r->frame->start;

	asm volatile("%0 ^= %1\n%0 ^= %1" : "+r"(r->offset) : "r"(unknown));
	r->offset &= 0x7fff;
#endif
}

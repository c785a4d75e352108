/* SPDX-License-Identifier: Apache-2.0 */
/* nlmsg.h - helpers for building and decoding netlink messages with libnl. Pure. */
#pragma once

#include <netlink/attr.h>
#include <netlink/msg.h>
#include <stdbool.h>
#include <string.h>

/* Builds a message with its family's header; NULL when out of memory, else the caller frees with
 * nlmsg_free(). */
static inline struct nl_msg *nlmsg_build(int type, int flags, const void *header, size_t size)
{
	struct nl_msg *msg = nlmsg_alloc_simple(type, flags);

	if (msg && nlmsg_append(msg, (void *)header, size, NLMSG_ALIGNTO) == 0)
		return msg;
	nlmsg_free(msg);
	return NULL;
}

/* Returns the message if all attributes fitted (r == 0); otherwise frees it and returns NULL. msg
 * may be NULL. */
static inline struct nl_msg *nlmsg_finished(struct nl_msg *msg, int r)
{
	if (r == 0)
		return msg;
	nlmsg_free(msg);
	return NULL;
}

/* Copies a string; false if it is absent, empty or does not fit; then *ret is untouched. */
static inline bool attr_text(const struct nlattr *a, char *ret, size_t size)
{
	size_t n = a ? strnlen(nla_data(a), (size_t)nla_len(a)) : 0;

	if (n == 0 || n >= size)
		return false;
	memcpy(ret, nla_data(a), n);
	ret[n] = '\0';
	return true;
}

static inline uint32_t attr_u32(const struct nlattr *a, uint32_t otherwise)
{
	return a ? nla_get_u32(a) : otherwise;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* ifname.h - valid netdev names. Any process with CAP_NET_ADMIN in a netdev's namespace can rename
 * it; the kernel accepts control characters and bytes that are not UTF-8. */
#pragma once

#include <net/if.h>
#include <stdbool.h>
#include <string.h>

/* Like isspace() of linux/lib/ctype.c, which includes Latin-1's no-break space. */
static inline bool ifname_is_space(char c)
{
	return (c >= '\t' && c <= '\r') || c == ' ' || c == '\xa0';
}

/* True if dev_valid_name() in linux/net/core/dev.c accepts the name. A valid name is safe as a part
 * of a path. */
static inline bool ifname_is_valid(const char *s)
{
	size_t n = strnlen(s, IFNAMSIZ);

	if (n == 0 || n == IFNAMSIZ || strcmp(s, ".") == 0 || strcmp(s, "..") == 0)
		return false;
	for (; *s; s++)
		if (*s == '/' || *s == ':' || ifname_is_space(*s))
			return false;
	return true;
}

/* ifname.h - what the kernel lets a netdev be called. Whoever has CAP_NET_ADMIN in a netdev's
 * namespace names it: control characters and bytes that are no UTF-8 are names like any other. */
#pragma once

#include <net/if.h>
#include <stdbool.h>
#include <string.h>

/* linux/lib/ctype.c: among its spaces is Latin-1's. */
static inline bool ifname_is_space(char c)
{
	return (c >= '\t' && c <= '\r') || c == ' ' || c == '\xa0';
}

/* dev_valid_name(), linux/net/core/dev.c. It can be part of a path. */
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

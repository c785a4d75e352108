// SPDX-License-Identifier: Apache-2.0
#include "network_text.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"

/* --- addresses -------------------------------------------------------------------------------- */

unsigned ip_bits(const struct ip_prefix *p)
{
	return p->family == AF_INET ? 32 : 128;
}

bool ip_address_parse(const char *text, struct ip_prefix *ret)
{
	struct ip_prefix p = {.family = strchr(text, ':') ? AF_INET6 : AF_INET};

	if (inet_pton(p.family, text, p.addr) != 1)
		return false;
	p.len = (uint8_t)ip_bits(&p);
	*ret = p;
	return true;
}

/* Digits only, without leading zeroes. */
static bool length_parse(const char *text, unsigned max, uint8_t *ret)
{
	size_t n = strlen(text);
	unsigned long value;

	if (n == 0 || n > 3 || strspn(text, "0123456789") != n || (n > 1 && text[0] == '0'))
		return false;
	value = strtoul(text, NULL, 10);
	if (value > max)
		return false;
	*ret = (uint8_t)value;
	return true;
}

bool ip_prefix_parse(const char *text, struct ip_prefix *ret)
{
	const char *slash = strchr(text, '/');
	char addr[INET6_ADDRSTRLEN];
	struct ip_prefix p;

	if (!slash || (size_t)(slash - text) >= sizeof(addr))
		return false;
	memcpy(addr, text, (size_t)(slash - text));
	addr[slash - text] = '\0';
	if (!ip_address_parse(addr, &p) || !length_parse(slash + 1, ip_bits(&p), &p.len))
		return false;
	*ret = p;
	return true;
}

void ip_address_text(const struct ip_prefix *p, char ret[IP_TEXT_SIZE])
{
	if (p->family == AF_UNSPEC || !inet_ntop(p->family, p->addr, ret, IP_TEXT_SIZE))
		ret[0] = '\0';
}

void ip_prefix_text(const struct ip_prefix *p, char ret[IP_TEXT_SIZE])
{
	size_t n;

	ip_address_text(p, ret);
	n = strlen(ret);
	if (n > 0)
		snprintf(ret + n, IP_TEXT_SIZE - n, "/%u", p->len);
}

bool ip_rest_is(const struct ip_prefix *p, bool ones)
{
	for (unsigned bit = p->len; bit < ip_bits(p); bit++)
		if (!(p->addr[bit / 8] & (0x80 >> bit % 8)) == ones)
			return false;
	return true;
}

bool ip_same_address(const struct ip_prefix *a, const struct ip_prefix *b)
{
	return a->family == b->family && memcmp(a->addr, b->addr, ip_bits(a) / 8) == 0;
}

/* --- other values ----------------------------------------------------------------------------- */

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool hex_bytes_parse(const char *text, uint8_t *ret, size_t n)
{
	if (strlen(text) != 3 * n - 1)
		return false;
	for (size_t i = 0; i < 3 * n - 1; i++)
		if (i % 3 == 2 ? text[i] != ':' : hex_digit(text[i]) < 0)
			return false;
	for (size_t i = 0; i < n; i++)
		ret[i] = (uint8_t)(hex_digit(text[3 * i]) * 16 + hex_digit(text[3 * i + 1]));
	return true;
}

const char *ifname_wrong(const char *name)
{
	static const char *const taken[] = {"lo", "eth0", "all", "default", "bonding_masters"};

	if (*name == '\0')
		return "is empty";
	if (strlen(name) >= IFNAMSIZ)
		return "has more than 15 characters";
	if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return "is not an interface name";
	for (const char *c = name; *c; c++)
		if (*c <= ' ' || *c >= 0x7f || strchr("/:%", *c))
			return "has a character that no interface's name may have";
	for (size_t i = 0; i < ARRAY_SIZE(taken); i++)
		if (strcmp(name, taken[i]) == 0)
			return "exists in every pod";
	return NULL;
}

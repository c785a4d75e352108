// SPDX-License-Identifier: Apache-2.0
#include "listen_address.h"

#include <arpa/inet.h>
#include <stddef.h>
#include <stdint.h>

static bool listen_address_port(const char *s, unsigned *ret)
{
	unsigned port = 0;
	size_t n;

	for (n = 0; s[n] >= '0' && s[n] <= '9' && n < 5; n++)
		port = port * 10 + (unsigned)(s[n] - '0');
	if (n == 0 || s[n] != '\0' || port > 65535)
		return false;
	*ret = port;
	return true;
}

bool listen_address_parse(const char *s, struct listen_address *ret)
{
	const char *colon = strrchr(s, ':'), *host = s;
	struct listen_address a = {0};
	size_t len;

	if (!colon || !listen_address_port(colon + 1, &a.port))
		return false;
	len = (size_t)(colon - s);
	if (len > 0 && s[0] == '[') {
		if (len < 3 || colon[-1] != ']')
			return false;
		host++;
		len -= 2;
	} else if (memchr(s, ':', len)) {
		return false; /* an IPv6 address must be in brackets */
	}
	if (len >= sizeof(a.host))
		return false;
	memcpy(a.host, host, len);
	*ret = a;
	return true;
}

/* True if the address is numeric. The interface of a link-local address ("fe80::1%eth0") need not
 * exist yet. */
static bool listen_address_is_numeric(struct listen_address a)
{
	uint8_t ip[16];

	a.host[strcspn(a.host, "%")] = '\0';
	return inet_pton(AF_INET, a.host, ip) == 1 || inet_pton(AF_INET6, a.host, ip) == 1;
}

int listen_address_read(const char *s, struct listen_address *ret, struct err *e)
{
	struct listen_address a;

	if (!listen_address_parse(s, &a))
		return err_set(e, -EINVAL, "'%.80s' is not ADDR:PORT, [V6]:PORT or :PORT", s);
	if (a.host[0] && !listen_address_is_numeric(a))
		return err_set(e, -EINVAL, "'%s' is not an IP address", a.host);
	*ret = a;
	return 0;
}

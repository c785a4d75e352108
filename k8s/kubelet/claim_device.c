// SPDX-License-Identifier: Apache-2.0
#include "claim_device.h"

#include <string.h>

/* Parsed from the end: function, device, bus, domain; each after a dash. */
static const struct part {
	size_t least, most;
	char before; /* separator in an address; the domain has none */
} parts[] = {{1, 1, '.'}, {2, 2, ':'}, {2, 2, ':'}, {4, 8, '\0'}};

#define N_PARTS (sizeof(parts) / sizeof(*parts))

static size_t digits_before(const char *name, size_t end)
{
	size_t n = 0;

	while (n < end && strspn(name + end - 1 - n, "0123456789abcdef") > n)
		n++;
	return n;
}

void claim_device_address(char *name)
{
	size_t end = strlen(name), dashes[N_PARTS], n;
	const char *address;

	for (size_t i = 0; i < N_PARTS; i++) {
		n = digits_before(name, end);
		if (n < parts[i].least || n > parts[i].most)
			return;
		end -= n;
		dashes[i] = end; /* one before the part */
		if (end > 0 && name[--end] != '-')
			return;
		if (end == 0 && i + 1 < N_PARTS)
			return;
	}
	for (size_t i = 0; i + 1 < N_PARTS; i++)
		name[dashes[i] - 1] = parts[i].before;
	address = name + dashes[N_PARTS - 1];
	memmove(name, address, strlen(address) + 1);
}

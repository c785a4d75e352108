// SPDX-License-Identifier: Apache-2.0
/* cdi.c - names of the Container Device Interface. */
#include "cdi.h"

#include <stdio.h>
#include <string.h>

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_alnum(char c)
{
	return is_letter(c) || (c >= '0' && c <= '9');
}

/* Does the name consist of letters, digits and characters of `also`, with a letter or digit at the
 * end? */
static bool is_made_of(const char *name, const char *also)
{
	size_t n = strlen(name);

	for (size_t i = 0; i < n; i++)
		if (!is_alnum(name[i]) && !strchr(also, name[i]))
			return false;
	return n > 0 && is_alnum(name[n - 1]);
}

static const char *class_of(const struct pool *pool)
{
	if (pool->kind != POOL_EXCLUSIVE)
		return "net-rdma";
	switch (pool->type) {
	case DEVICE_NET:
		return "net-pci";
	case DEVICE_AUX_NET:
		return "net-sf";
	case DEVICE_ACCELERATOR:
		return "net-accel";
	}
	return "net-pci";
}

bool cdi_kind(const struct pool *pool, char ret[RESOURCE_NAME_SIZE])
{
	/* A runtime cannot add a folder as a device. */
	if (!pool->cdi || pool->whole_directory || !is_letter(pool->prefix[0]) ||
	    !is_made_of(pool->prefix, "_-."))
		return false;
	return snprintf(ret, RESOURCE_NAME_SIZE, "%s/%s", pool->prefix, class_of(pool)) <
	       RESOURCE_NAME_SIZE;
}

bool cdi_device(const struct pool *pool, const char *function, char ret[CDI_NAME_SIZE])
{
	int n;

	if (pool->kind == POOL_EXCLUSIVE)
		n = snprintf(ret, CDI_NAME_SIZE, "%s", function);
	else
		n = snprintf(ret, CDI_NAME_SIZE, "%s-%s", pool->name, function);
	return n < CDI_NAME_SIZE && is_alnum(ret[0]) && is_made_of(ret, "_-.:");
}

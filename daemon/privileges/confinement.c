// SPDX-License-Identifier: Apache-2.0
/* confinement.c - see confinement.h. */
#include "confinement.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cleanup.h"

/* Types that the policy container-selinux and its kin do not confine. */
static const char *const unconfined_types[] = {"spc_t", "unconfined_t", "unconfined_service_t",
					       "super_t"};

static bool is_unconfined_type(const char *type, size_t len)
{
	for (size_t i = 0; i < ARRAY_SIZE(unconfined_types); i++)
		if (strlen(unconfined_types[i]) == len &&
		    memcmp(type, unconfined_types[i], len) == 0)
			return true;
	return false;
}

/* NULL: the label has no third field. */
static const char *selinux_type(const char *label, size_t *ret_len)
{
	const char *role = strchr(label, ':');
	const char *type = role ? strchr(role + 1, ':') : NULL;

	if (!type)
		return NULL;
	*ret_len = strcspn(type + 1, ": \n");
	return type + 1;
}

void confinement_describe(const char *label, char ret[CONFINEMENT_SIZE])
{
	static const char enforced[] = " (enforce)";
	const char *mode = strstr(label, enforced);
	size_t len = 0;
	const char *type = mode ? NULL : selinux_type(label, &len);

	ret[0] = '\0';
	if (mode)
		snprintf(ret, CONFINEMENT_SIZE, "AppArmor profile %.*s",
			 (int)(mode - label < 100 ? mode - label : 100), label);
	else if (type && !is_unconfined_type(type, len))
		snprintf(ret, CONFINEMENT_SIZE, "SELinux type %.*s", (int)(len < 100 ? len : 100),
			 type);
}

void confinement_read(char ret[CONFINEMENT_SIZE])
{
	AUTO_FD fd = open("/proc/self/attr/current", O_RDONLY | O_CLOEXEC);
	char label[512] = "";
	ssize_t n = fd < 0 ? -1 : read(fd, label, sizeof(label) - 1);

	label[n > 0 ? n : 0] = '\0';
	confinement_describe(label, ret);
}

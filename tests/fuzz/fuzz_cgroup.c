// SPDX-License-Identifier: Apache-2.0
/* Any bytes as /proc/PID/cgroup, as a process may create cgroups with any names.
 *
 * proves: daemon/pods
 * when: core 2
 * when: turns 4
 * when: soak 120 */
#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "exact_copy.h"
#include "process_owner.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	char uid[POD_UID_SIZE] = "untouched", *text = exact_copy(data, n);
	size_t len;

	if (!text)
		return 0;
	if (!cgroup_pod_uid(text, n, uid)) {
		if (strcmp(uid, "untouched") != 0)
			abort();
		free(text);
		return 0;
	}
	len = strlen(uid);
	if (len != 36 && len != 32)
		abort();
	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)uid[i]) && uid[i] != '-')
			abort();
	free(text);
	return 0;
}

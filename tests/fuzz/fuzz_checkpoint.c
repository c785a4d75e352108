// SPDX-License-Identifier: Apache-2.0
/* Any text as the kubelet's checkpoint: two lists or an error.
 *
 * proves: k8s/kubelet
 * when: core 2
 * when: turns 10
 * when: soak 120 */
#include <stdint.h>
#include <stdlib.h>

#include "granted_parse.h"
#include "pod_resources.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct granted_list granted;
	struct pod_list l;
	struct err e = {0};

	if (granted_parse(&granted, (const char *)data, n, NULL) >= 0)
		granted_list_done(&granted);
	if (pod_checkpoint_parse(&l, (const char *)data, n, &e) < 0) {
		if (e.code >= 0 || e.msg[0] == '\0')
			abort();
		return 0;
	}
	for (size_t i = 0; i < l.n; i++)
		if (!pod_list_find(&l, l.devices[i].resource, l.devices[i].id, NULL))
			abort();
	pod_list_done(&l);
	return 0;
}

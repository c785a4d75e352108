/* Any bytes as the kubelet's PodResources answer.
 *
 * proves: k8s/kubelet
 * when: core 2
 * when: turns 10
 * when: soak 120 */
#include <stdint.h>
#include <stdlib.h>

#include "pod_resources.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct pod_list l;
	size_t left_out;

	if (pod_resources_decode(&l, &left_out, data, n) < 0)
		return 0;
	for (size_t i = 0; i < l.n; i++)
		if (!l.devices[i].id[0] ||
		    !pod_list_find(&l, l.devices[i].resource, l.devices[i].id, NULL))
			abort();
	pod_list_done(&l);
	return 0;
}

// SPDX-License-Identifier: Apache-2.0
/* Event datagrams, which any local process could send: rtnetlink, RDMA netlink, devlink, and
 * the BPF ring buffer.
 *
 * proves: daemon/events hw/netlink
 * when: core 2
 * when: turns 4
 * when: soak 120 */
#include <stdint.h>
#include <stdlib.h>

#include "bpf_source.h"
#include "exact_copy.h"
#include "relevance.h"

static void ignore(int nsid, int ifindex, void *arg)
{
	(void)nsid, (void)ifindex, (void)arg;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static struct function fn = {.id = "0000:01:10.0", .kind = FN_VF};
	static struct host host = {.functions = &fn, .n_functions = 1};
	struct relevance_tally tally = {0};
	void *copy = exact_copy(data, n);

	if (!copy)
		return 0;
	relevance_route_datagram(&host, NSID_HOST, copy, n, &tally, ignore, NULL);
	relevance_rdma_datagram(copy, n, &tally);
	relevance_devlink_datagram(30, copy, n, &tally);
	bpf_event_check(copy, n);
	free(copy);
	return 0;
}

/* Link and namespace messages. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "nlsock.h"
#include "rtnl.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static int on_message(const struct nlmsghdr *h, void *arg)
{
	struct rtnl_stats stats;
	struct rtnl_link link;
	int nsid;

	(void)arg;
	if (rtnl_decode_link(h, &link, &stats) == 0 &&
	    (link.netdev.ifindex <= 0 || !link.netdev.name[0] ||
	     strnlen(link.netdev.name, IFNAMSIZ) == IFNAMSIZ ||
	     link.netdev.n_altnames > NETDEV_ALTNAMES_MAX || link.netdev.addr_len > HW_ADDR_MAX))
		abort();
	rtnl_decode_nsid(h, &nsid);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	void *copy = malloc(n ? n : 1);

	if (!copy)
		return 0;
	memcpy(copy, data, n);
	nlsock_walk(copy, n, on_message, NULL);
	free(copy);
	return 0;
}

/* link_events.c - two event sockets in the loop.
 *
 * Happy path: readable -> receive until empty -> decode -> hint for what can have changed.
 * Can fail by: ENOBUFS (events were lost: everything is looked at again), messages that the kernel
 * did not send or whose framing lies (counted, dropped). */
#include "link_events.h"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

#include "cleanup.h"
#include "log.h"
#include "nldev.h"
#include "nlsock.h"
#include "rtnl.h"
#include "self_counters.h"

/* Datagrams of events are at most a page or two (NLMSG_GOODSIZE); what is longer is cut, seen and
 * rescanned. */
#define DATAGRAM_MAX  (64 * 1024)
/* Per wake-up, so that an event storm cannot keep the loop from serving. */
#define DATAGRAMS_MAX 256

struct event_socket {
	uv_poll_t poll;
	int fd;
	uint64_t *events, *malformed, *overruns;
};

struct link_events {
	struct event_socket route, rdma;
	unsigned open_handles;
	const struct inventory *inventory;
	link_hint_fn *hint;
	void *arg;
	uint8_t buf[DATAGRAM_MAX];
};

// SPDX-License-Identifier: Apache-2.0
/* link_events.c - three event sockets in the loop.
 *
 * Success: readable -> receive until empty -> find the parts that may have changed -> one hint for
 * the burst. Failures: ENOBUFS (events lost: rescan everything), a sender other than the kernel or
 * malformed framing (counted and dropped), a datagram longer than our buffer (treated as lost). */
#include "link_events.h"

#include <arpa/inet.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

#include "cleanup.h"
#include "genl.h"
#include "log.h"
#include "nldev.h"
#include "nlsock.h"
#include "relevance.h"
#include "self_counters.h"

/* The kernel allocates event datagrams of NLMSG_GOODSIZE, at most two pages. A longer one is
 * truncated, which is detected and triggers a full scan. */
#define DATAGRAM_MAX  (32 * 1024)
/* Maximum per wake-up, so that an event storm cannot block the loop. */
#define DATAGRAMS_MAX 256

struct event_socket {
	uv_poll_t poll;
	int fd; /* -1 = not open */
	uint64_t *events, *malformed, *overruns;
};

struct link_events {
	struct event_socket route, rdma, devlink;
	uint16_t devlink_family;
	unsigned open_handles;
	const struct inventory *inventory;
	struct link_hooks hooks;
	uint8_t buf[DATAGRAM_MAX];
};

struct datagram {
	size_t len;
	int nsid;
};

/* Returns the namespace of a datagram: those of other namespaces carry their nsid in a control
 * message (netlink(7), NETLINK_LISTEN_ALL_NSID). */
static int link_events_nsid_of(struct msghdr *m)
{
	int nsid = NSID_HOST;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c))
		if (c->cmsg_level == SOL_NETLINK && c->cmsg_type == NETLINK_LISTEN_ALL_NSID &&
		    c->cmsg_len == CMSG_LEN(sizeof(nsid)))
			memcpy(&nsid, CMSG_DATA(c), sizeof(nsid));
	return nsid;
}

/* Receives a datagram. 1: *ret is a datagram from the kernel. 0: none available. -EBADMSG: not from
 * the kernel. -ENOBUFS: events were lost. */
static int receive(struct link_events *l, int fd, struct datagram *ret)
{
	struct sockaddr_nl from = {0};
	union {
		struct cmsghdr align;
		char space[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec iov = {l->buf, sizeof(l->buf)};
	struct msghdr m = {
		.msg_name = &from,
		.msg_namelen = sizeof(from),
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	ssize_t n = recvmsg(fd, &m, MSG_DONTWAIT);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	if (m.msg_flags & MSG_TRUNC)
		return -ENOBUFS;
	if (m.msg_namelen != sizeof(from) || from.nl_pid != 0)
		return -EBADMSG;
	*ret = (struct datagram){.len = (size_t)n, .nsid = link_events_nsid_of(&m)};
	return 1;
}

static unsigned link_events_parts_of(struct link_events *l, const struct event_socket *s,
				     const struct datagram *d)
{
	struct relevance_tally tally = {0};
	unsigned parts;

	if (s == &l->route)
		parts = relevance_route_datagram(&l->inventory->host, d->nsid, l->buf, d->len,
						 &tally, l->hooks.address, l->hooks.arg);
	else if (s == &l->rdma)
		parts = relevance_rdma_datagram(l->buf, d->len, &tally);
	else
		parts = relevance_devlink_datagram(l->devlink_family, l->buf, d->len, &tally);
	*s->events += tally.events;
	*s->malformed += tally.malformed;
	return parts;
}

static void drain(struct link_events *l, struct event_socket *s)
{
	unsigned parts = 0;
	bool lost = false;

	for (int i = 0; i < DATAGRAMS_MAX; i++) {
		struct datagram d = {0};
		int r = receive(l, s->fd, &d);

		if (r == 0)
			break;
		if (r == -EBADMSG) {
			++*s->malformed;
		} else if (r < 0) {
			++*s->overruns;
			lost = true;
		} else {
			parts |= link_events_parts_of(l, s, &d);
		}
	}
	if (parts != 0 || lost)
		l->hooks.hint(parts, lost, l->hooks.arg);
}

static void on_route_readable(uv_poll_t *poll, int status, int events)
{
	struct link_events *l = poll->data;

	(void)status, (void)events;
	drain(l, &l->route);
}

static void on_rdma_readable(uv_poll_t *poll, int status, int events)
{
	struct link_events *l = poll->data;

	(void)status, (void)events;
	drain(l, &l->rdma);
}

static void on_devlink_readable(uv_poll_t *poll, int status, int events)
{
	struct link_events *l = poll->data;

	(void)status, (void)events;
	drain(l, &l->devlink);
}

static int set_int(int fd, int level, int option, int value)
{
	return setsockopt(fd, level, option, &value, sizeof(value)) < 0 ? -errno : 0;
}

static int link_events_open_socket(int protocol, unsigned buffer_bytes, int *ret_fd)
{
	struct sockaddr_nl local = {.nl_family = AF_NETLINK};
	AUTO_FD fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol);

	if (fd < 0)
		return -errno;
	if (set_int(fd, SOL_SOCKET, SO_RCVBUFFORCE, (int)buffer_bytes) < 0)
		set_int(fd, SOL_SOCKET, SO_RCVBUF, (int)buffer_bytes);
	if (bind(fd, (struct sockaddr *)&local, sizeof(local)) < 0)
		return -errno;
	*ret_fd = take_fd(&fd);
	return 0;
}

/* Attaches a socket filter that drops all routes except default routes in the kernel. On a node
 * that learns routes from a router, a storm of route events must not displace link events, or wake
 * us. A route event is one message, a struct rtmsg after its header. Multi-byte fields are in host
 * byte order, while the loads of a filter are in network order, hence htons(). */
static int drop_other_routes(int fd)
{
	enum { LEN_AT = NLMSG_HDRLEN + offsetof(struct rtmsg, rtm_dst_len) };
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_H | BPF_ABS, offsetof(struct nlmsghdr, nlmsg_type)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, htons(RTM_NEWROUTE), 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, htons(RTM_DELROUTE), 0, 2),
		BPF_STMT(BPF_LD | BPF_B | BPF_ABS, LEN_AT),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
		BPF_STMT(BPF_RET | BPF_K, 0),
	};
	struct sock_fprog program = {ARRAY_SIZE(code), code};

	return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)) < 0 ? -errno
											   : 0;
}

static int open_route(struct link_events *l, unsigned buffer_bytes, struct err *e)
{
	static const int groups[] = {RTNLGRP_LINK, RTNLGRP_IPV4_IFADDR, RTNLGRP_IPV6_IFADDR,
				     RTNLGRP_IPV4_ROUTE, RTNLGRP_IPV6_ROUTE};
	int r = link_events_open_socket(NETLINK_ROUTE, buffer_bytes, &l->route.fd);

	if (r == 0)
		r = drop_other_routes(l->route.fd);

	for (size_t i = 0; i < ARRAY_SIZE(groups) && r == 0; i++)
		r = set_int(l->route.fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, groups[i]);
	if (r < 0)
		return err_set(e, r, "cannot receive rtnetlink events: %s", strerror(-r));
	/* Without this option (no CAP_NET_BROADCAST), only the next scan detects changes of devices
	 * in pods. */
	r = set_int(l->route.fd, SOL_NETLINK, NETLINK_LISTEN_ALL_NSID, 1);
	if (r == -EPERM) /* the missing capability was reported, or was dropped intentionally */
		log_debug("links", r, "no events from other network namespaces");
	else if (r < 0)
		log_warn("links", r,
			 "no events from other network namespaces, going on without them");
	return 0;
}

/* Opens the socket of RDMA events, if possible. Kernels before 6.12 do not have this group, and
 * kernels without RDMA do not have the protocol. uevents still work then. */
static void open_rdma(struct link_events *l, unsigned buffer_bytes)
{
	int r = link_events_open_socket(NETLINK_RDMA, buffer_bytes, &l->rdma.fd);

	if (r == 0)
		r = set_int(l->rdma.fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, NLDEV_GROUP_NOTIFY);
	if (r == 0)
		return;
	log_info("links", r, "this kernel sends no RDMA netlink events, relying on uevents");
	if (l->rdma.fd >= 0)
		close(l->rdma.fd);
	l->rdma.fd = -1;
}

struct family {
	uint16_t id;
	uint32_t group;
};

static int link_events_on_family(const struct nlmsghdr *h, void *arg)
{
	struct family *f = arg;
	int r = genl_decode_family(h, &f->id);

	return r < 0 ? r : genl_decode_group(h, DEVLINK_GROUP, &f->group);
}

/* Finds the group of devlink. Generic netlink families and groups get their numbers at
 * registration; they are resolved on a separate socket. */
static int find_devlink(struct family *ret)
{
	struct nl_msg *req = genl_family_request(DEVLINK_FAMILY);
	struct nlsock s = NLSOCK_CLOSED;
	int r = req ? nlsock_open(&s, NETLINK_GENERIC, NULL) : -ENOMEM;

	if (r == 0)
		r = nlsock_call(&s, req, link_events_on_family, ret, NULL);
	nlsock_close(&s);
	nlmsg_free(req);
	return r;
}

/* Opens the socket of devlink events, if possible. A kernel without devlink has no health reporters
 * either, so no event is lost. */
static void open_devlink(struct link_events *l, unsigned buffer_bytes)
{
	struct family f = {0};
	int r = find_devlink(&f);

	if (r == 0)
		r = link_events_open_socket(NETLINK_GENERIC, buffer_bytes, &l->devlink.fd);
	if (r == 0)
		r = set_int(l->devlink.fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, (int)f.group);
	l->devlink_family = f.id;
	if (r == 0)
		return;
	log_debug("links", r, "no devlink events");
	if (l->devlink.fd >= 0)
		close(l->devlink.fd);
	l->devlink.fd = -1;
}

static void link_events_free(struct link_events *l)
{
	const int fds[] = {l->route.fd, l->rdma.fd, l->devlink.fd};

	for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
		if (fds[i] >= 0)
			close(fds[i]);
	free(l);
}

static int watch_socket(struct link_events *l, struct uv_loop_s *loop, struct event_socket *s,
			uv_poll_cb on_readable)
{
	int r = s->fd < 0 ? 0 : uv_poll_init(loop, &s->poll, s->fd);

	if (s->fd < 0 || r < 0)
		return r;
	s->poll.data = l;
	uv_poll_start(&s->poll, UV_READABLE, on_readable);
	l->open_handles++;
	return 0;
}

int link_events_open(struct link_events **ret, struct uv_loop_s *loop, unsigned buffer_bytes,
		     struct self_counters *self, const struct inventory *inventory,
		     const struct link_hooks *hooks, struct err *e)
{
	struct link_events *l = calloc(1, sizeof(*l));
	int r;

	if (!l)
		return err_set(e, -ENOMEM, "out of memory");
	*l = (struct link_events){
		.route = {.fd = -1,
			  .events = &self->events_rtnetlink,
			  .malformed = &self->malformed_rtnetlink,
			  .overruns = &self->overruns_rtnetlink},
		.rdma = {.fd = -1,
			 .events = &self->events_rdma,
			 .malformed = &self->malformed_rdma,
			 .overruns = &self->overruns_rdma},
		.devlink = {.fd = -1,
			    .events = &self->events_devlink,
			    .malformed = &self->malformed_devlink,
			    .overruns = &self->overruns_devlink},
		.inventory = inventory,
		.hooks = *hooks,
	};
	r = open_route(l, buffer_bytes, e);
	if (r == 0) {
		open_rdma(l, buffer_bytes);
		open_devlink(l, buffer_bytes);
		r = watch_socket(l, loop, &l->route, on_route_readable);
		if (r == 0)
			r = watch_socket(l, loop, &l->rdma, on_rdma_readable);
		if (r == 0)
			r = watch_socket(l, loop, &l->devlink, on_devlink_readable);
		if (r < 0)
			err_set(e, r, "cannot watch netlink events: %s", strerror(-r));
	}
	if (r < 0) {
		link_events_close(l);
		return r;
	}
	*ret = l;
	return 0;
}

static void link_events_on_closed(uv_handle_t *h)
{
	struct link_events *l = h->data;

	if (--l->open_handles == 0)
		link_events_free(l);
}

static void unwatch(struct event_socket *s)
{
	if (s->fd >= 0 && s->poll.data)
		uv_close((uv_handle_t *)&s->poll, link_events_on_closed);
}

void link_events_close(struct link_events *l)
{
	if (!l)
		return;
	if (l->open_handles == 0) {
		link_events_free(l);
		return;
	}
	unwatch(&l->route);
	unwatch(&l->rdma);
	unwatch(&l->devlink);
}

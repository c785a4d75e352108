// SPDX-License-Identifier: Apache-2.0
/* packet_clsact.c - see packet_clsact.h. Creates or finds the qdisc, and adds a filter per
 * direction. */
#include "packet_clsact.h"

#include <bpf/libbpf.h>
#include <fcntl.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <stdlib.h>

#include "cleanup.h"
#include "netns.h"
#include "nlsock.h"

/* Our handle ("RoCE") at any priority, so that an attach replaces filters left by a crash. */
#define HANDLE 0x526f4345

/* If a priority is used by a filter of another kind or protocol, the next one is tried. */
#define LAST_PRIORITY 8

struct filter {
	enum bpf_tc_attach_point point;
	uint32_t priority, prog_id; /* priority 0: not attached */
};

struct packet_clsact {
	int netns_fd, ifindex;
	bool created; /* we created the qdisc */
	struct filter filters[2];
};

static struct bpf_tc_hook hook_of(const struct packet_clsact *c, enum bpf_tc_attach_point point)
{
	return (struct bpf_tc_hook){
		.sz = sizeof(struct bpf_tc_hook), .ifindex = c->ifindex, .attach_point = point};
}

/* Adds a filter. The priority must not be 0: the kernel would then choose one after the existing
 * filters. */
static int filter_attach(const struct packet_clsact *c, struct filter *f, int prog_fd)
{
	struct bpf_tc_hook hook = hook_of(c, f->point);
	int r = -EINVAL;

	for (uint32_t p = 1; p <= LAST_PRIORITY && (r == -EINVAL || r == -EEXIST); p++) {
		struct bpf_tc_opts opts = {.sz = sizeof(opts),
					   .prog_fd = prog_fd,
					   .flags = BPF_TC_F_REPLACE,
					   .handle = HANDLE,
					   .priority = p};

		r = bpf_tc_attach(&hook, &opts);
		if (r == 0) {
			f->priority = p;
			f->prog_id = opts.prog_id;
		}
	}
	return r;
}

/* Removes our filter, but not one that replaced it, for example of another rocelet. */
static int filter_detach(const struct packet_clsact *c, const struct filter *f)
{
	struct bpf_tc_hook hook = hook_of(c, f->point);
	struct bpf_tc_opts there = {.sz = sizeof(there), .handle = HANDLE, .priority = f->priority};
	struct bpf_tc_opts opts = there;

	if (!f->priority || bpf_tc_query(&hook, &there) < 0 || there.prog_id != f->prog_id)
		return 0;
	return bpf_tc_detach(&hook, &opts);
}

static int on_filter(const struct nlmsghdr *h, void *arg)
{
	if (h->nlmsg_type == RTM_NEWTFILTER)
		*(bool *)arg = true;
	return 0;
}

/* True if the qdisc has filters; also on failure. */
static bool is_used(const struct packet_clsact *c, uint32_t parent)
{
	struct tcmsg tc = {.tcm_ifindex = c->ifindex, .tcm_parent = parent};
	struct nl_msg *msg = nlmsg_alloc_simple(RTM_GETTFILTER, NLM_F_DUMP);
	struct nlsock s;
	bool used = false;
	int r;

	if (msg && nlmsg_append(msg, &tc, sizeof(tc), NLMSG_ALIGNTO) < 0) {
		nlmsg_free(msg);
		return true;
	}
	if (nlsock_open(&s, NETLINK_ROUTE, NULL) < 0) {
		nlmsg_free(msg);
		return true;
	}
	r = nlsock_query(&s, msg, on_filter, &used, NULL);
	nlsock_close(&s);
	return r < 0 || used;
}

static int clsact_detach(void *arg)
{
	struct packet_clsact *c = arg;
	struct bpf_tc_hook hook = hook_of(c, BPF_TC_INGRESS | BPF_TC_EGRESS);
	int r = filter_detach(c, &c->filters[0]), r2 = filter_detach(c, &c->filters[1]);

	if (c->created && !is_used(c, TC_H_MAKE(TC_H_CLSACT, TC_H_MIN_INGRESS)) &&
	    !is_used(c, TC_H_MAKE(TC_H_CLSACT, TC_H_MIN_EGRESS)))
		bpf_tc_hook_destroy(&hook);
	return r < 0 ? r : r2;
}

static int clsact_attach(struct packet_clsact *c, int ingress_fd, int egress_fd)
{
	struct bpf_tc_hook hook = hook_of(c, BPF_TC_INGRESS | BPF_TC_EGRESS);
	int r = bpf_tc_hook_create(&hook);

	if (r < 0 && r != -EEXIST)
		return r;
	c->created = r == 0;
	r = filter_attach(c, &c->filters[0], ingress_fd);
	if (r == 0)
		r = filter_attach(c, &c->filters[1], egress_fd);
	if (r < 0)
		clsact_detach(c);
	return r;
}

int packet_clsact_attach(struct packet_clsact **ret, int netns_fd, int ifindex, int ingress_fd,
			 int egress_fd, struct err *e)
{
	struct packet_clsact *c = calloc(1, sizeof(*c));
	int r;

	if (!c)
		return err_set(e, -ENOMEM, "out of memory");
	*c = (struct packet_clsact){
		.netns_fd = -1,
		.ifindex = ifindex,
		.filters = {{.point = BPF_TC_INGRESS}, {.point = BPF_TC_EGRESS}}};
	if (netns_fd >= 0)
		c->netns_fd = fcntl(netns_fd, F_DUPFD_CLOEXEC, 3);
	r = netns_fd >= 0 && c->netns_fd < 0 ? -errno : clsact_attach(c, ingress_fd, egress_fd);
	if (r < 0) {
		cleanup_fd(&c->netns_fd);
		free(c);
		return err_set(e, r, "clsact: %s", strerror(-r));
	}
	*ret = c;
	return 0;
}

int packet_clsact_detach(struct packet_clsact *c)
{
	int r;

	if (!c)
		return 0;
	r = c->netns_fd >= 0 ? netns_run(c->netns_fd, clsact_detach, c) : clsact_detach(c);
	cleanup_fd(&c->netns_fd);
	free(c);
	return r;
}

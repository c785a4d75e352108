/* packet_clsact.c - the qdisc made or found, a filter for each direction, and all of it taken back.
 */
#include "packet_clsact.h"

#include <bpf/libbpf.h>
#include <fcntl.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <stdlib.h>

#include "cleanup.h"
#include "netns_ops.h"
#include "nlsock.h"

struct filter {
	enum bpf_tc_attach_point point;
	uint32_t handle, priority; /* as the kernel chose; priority 0: not attached */
};

struct packet_clsact {
	int netns_fd, ifindex;
	bool made; /* the qdisc is ours */
	struct filter filters[2];
};

static int filter_attach(const struct packet_clsact *c, struct filter *f, int prog_fd)
{
	struct bpf_tc_hook hook = {
		.sz = sizeof(hook), .ifindex = c->ifindex, .attach_point = f->point};
	struct bpf_tc_opts opts = {.sz = sizeof(opts), .prog_fd = prog_fd};
	int r = bpf_tc_attach(&hook, &opts);

	if (r < 0)
		return r;
	f->handle = opts.handle;
	f->priority = opts.priority;
	return 0;
}

static void filter_detach(const struct packet_clsact *c, const struct filter *f)
{
	struct bpf_tc_hook hook = {
		.sz = sizeof(hook), .ifindex = c->ifindex, .attach_point = f->point};
	struct bpf_tc_opts opts = {
		.sz = sizeof(opts), .handle = f->handle, .priority = f->priority};

	if (f->priority)
		bpf_tc_detach(&hook, &opts);
}

static int on_filter(const struct nlmsghdr *h, void *arg)
{
	if (h->nlmsg_type == RTM_NEWTFILTER)
		*(bool *)arg = true;
	return 0;
}

/* True also where it cannot be told. */
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
	r = nlsock_ask(&s, msg, on_filter, &used, NULL);
	nlsock_close(&s);
	return r < 0 || used;
}

static int detach(void *arg)
{
	struct packet_clsact *c = arg;
	struct bpf_tc_hook hook = {.sz = sizeof(hook),
				   .ifindex = c->ifindex,
				   .attach_point = BPF_TC_INGRESS | BPF_TC_EGRESS};

	filter_detach(c, &c->filters[0]);
	filter_detach(c, &c->filters[1]);
	if (c->made && !is_used(c, TC_H_MAKE(TC_H_CLSACT, TC_H_MIN_INGRESS)) &&
	    !is_used(c, TC_H_MAKE(TC_H_CLSACT, TC_H_MIN_EGRESS)))
		bpf_tc_hook_destroy(&hook);
	return 0;
}

static int attach(struct packet_clsact *c, int ingress_fd, int egress_fd)
{
	struct bpf_tc_hook hook = {.sz = sizeof(hook),
				   .ifindex = c->ifindex,
				   .attach_point = BPF_TC_INGRESS | BPF_TC_EGRESS};
	int r = bpf_tc_hook_create(&hook);

	if (r < 0 && r != -EEXIST)
		return r;
	c->made = r == 0;
	r = filter_attach(c, &c->filters[0], ingress_fd);
	if (r == 0)
		r = filter_attach(c, &c->filters[1], egress_fd);
	if (r < 0)
		detach(c);
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
	r = netns_fd >= 0 && c->netns_fd < 0 ? -errno : attach(c, ingress_fd, egress_fd);
	if (r < 0) {
		cleanup_fd(&c->netns_fd);
		free(c);
		return err_set(e, r, "clsact: %s", strerror(-r));
	}
	*ret = c;
	return 0;
}

void packet_clsact_detach(struct packet_clsact *c)
{
	if (!c)
		return;
	if (c->netns_fd >= 0)
		netns_run(c->netns_fd, detach, c);
	else
		detach(c);
	cleanup_fd(&c->netns_fd);
	free(c);
}

// SPDX-License-Identifier: Apache-2.0
/* netdev_inside.c - reads netdev properties that no netlink message contains.
 *
 * Success: a BPF program, loaded once and never attached, reads them from the kernel. Errors:
 * the kernel rejects the program (then all namespaces that can be found are searched for links with
 * the netdev as their lower one), or lacks memory at the moment (retried with the next call). */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fcntl.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <malloc.h>
#include <netlink/attr.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cleanup.h"
#include "netdev_inside.skel.h"
#include "netdev_state_read.h"
#include "netns.h"
#include "rtnl.h"

/* --- BPF program ------------------------------------------------------------------------------ */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int program_fd, map_fd, refused; /* 0 = not loaded, not rejected */

static int program_keep(const struct bpf_object *o)
{
	int program = bpf_program__fd(bpf_object__find_program_by_name(o, "netdev_inside"));
	int map = bpf_map__fd(bpf_object__find_map_by_name(o, "answer"));
	AUTO_FD kept = fcntl(map, F_DUPFD_CLOEXEC, 3);

	if (kept < 0)
		return -errno;
	program = fcntl(program, F_DUPFD_CLOEXEC, 3);
	if (program < 0)
		return -errno;
	program_fd = program;
	map_fd = take_fd(&kept);
	return 0;
}

/* True for a temporary error, false for a permanent rejection. */
static bool netdev_is_temporary(int r)
{
	return r == -ENOMEM || r == -EINTR || r == -EAGAIN || r == -EBUSY || r == -EMFILE ||
	       r == -ENFILE;
}

static int program_load(void)
{
	size_t size;
	const void *elf = netdev_inside_bpf__elf_bytes(&size);
	struct bpf_object *o = bpf_object__open_mem(elf, size, NULL);
	int r = o ? bpf_object__load(o) : -errno;

	if (r == 0)
		r = program_keep(o);
	bpf_object__close(o);
	malloc_trim(0); /* returns the kernel's BTF, 10 MB of heap, which is not needed again */
	if (r < 0 && !netdev_is_temporary(r))
		refused = r;
	return r;
}

static int program_run(int ifindex, const struct netdev_upper *match, struct netdev_inside *ret)
{
	uint64_t ctx[3] = {(uint64_t)ifindex, match ? match->id : 0,
			   match ? (uint64_t)match->netns << 32 | (unsigned)match->ifindex : 0};
	struct bpf_test_run_opts opts = {
		.sz = sizeof(opts), .ctx_in = ctx, .ctx_size_in = sizeof(ctx)};
	const uint32_t key = 0;
	int r = refused;

	if (r == 0 && !program_fd)
		r = program_load();
	if (r == 0)
		r = bpf_prog_test_run_opts(program_fd, &opts);
	if (r == 0 && !opts.retval)
		r = -ENODEV;
	return r < 0 ? r : bpf_map_lookup_elem(map_fd, &key, ret);
}

static int run_in_kernel(const struct hw *hw, int ifindex, const struct netdev_upper *match,
			 struct netdev_inside *ret)
{
	int r;

	if (hw->no_bpf)
		return -EPERM;
	pthread_mutex_lock(&lock);
	r = program_run(ifindex, match, ret);
	pthread_mutex_unlock(&lock);
	return r;
}

/* --- search in namespaces --------------------------------------------------------------------- */

struct search {
	int ifindex, own_fd;
	int nsid; /* id of our namespace, relative to the searched one */
	unsigned netns;
	bool in_own_netns; /* searching our own namespace, where links have no netns id */
	bool maybe;	   /* a link in any namespace has a lower netdev with this index */
	bool missed;	   /* a namespace could not be searched */
	struct netdev_inside *found;
};

static int netdev_on_nsid(const struct nlmsghdr *h, void *arg)
{
	return rtnl_decode_nsid(h, arg);
}

static void search_note(struct search *s, const struct rtnl_link *link)
{
	struct netdev_upper *u = &s->found->first;

	s->found->n_uppers++;
	*u = (struct netdev_upper){.netns = s->netns};
	memcpy(u->name, link->netdev.name, sizeof(u->name));
	memcpy(u->kind, link->netdev.kind, sizeof(u->kind));
}

/* Counts links whose lower netdev is the one in question. A veth refers to its peer in the same
 * way, but is not stacked on it. */
static int netdev_on_link(const struct nlmsghdr *h, void *arg)
{
	struct search *s = arg;
	const struct nlattr *lower, *nsid;
	struct rtnl_link link;

	if (rtnl_decode_link(h, &link, NULL) < 0)
		return 0;
	lower = nlmsg_find_attr((struct nlmsghdr *)h, sizeof(struct ifinfomsg), IFLA_LINK);
	nsid = nlmsg_find_attr((struct nlmsghdr *)h, sizeof(struct ifinfomsg), IFLA_LINK_NETNSID);
	if (!lower || (int)nla_get_u32(lower) != s->ifindex || !nsid != s->in_own_netns ||
	    strcmp(link.netdev.kind, "veth") == 0)
		return 0;
	s->maybe = true;
	if (!nsid || (s->nsid >= 0 && nla_get_s32(nsid) == s->nsid))
		search_note(s, &link);
	return 0;
}

static int search_by_links(struct search *s, struct nlsock *sock)
{
	return nlsock_query(sock, rtnl_dump_links(NSID_HOST, false), netdev_on_link, s, NULL);
}

static void search_own_netns(struct search *s)
{
	struct nlsock sock = NLSOCK_CLOSED;
	struct stat st;

	s->netns = fstat(s->own_fd, &st) < 0 ? 0 : (unsigned)st.st_ino;
	s->in_own_netns = true;
	s->missed |= nlsock_open(&sock, NETLINK_ROUTE, NULL) < 0 || search_by_links(s, &sock) < 0;
	s->in_own_netns = false;
	nlsock_close(&sock);
}

/* Dumps the links of a namespace twice, because the kernel may assign the id of our namespace only
 * during the first dump (peernet2id_alloc()). */
static int dump_twice(struct search *s, struct nlsock *sock)
{
	int r;

	s->maybe = false;
	s->nsid = NSID_NONE;
	r = search_by_links(s, sock);
	if (r == 0 && s->maybe)
		r = nlsock_query(sock, rtnl_get_nsid(s->own_fd), netdev_on_nsid, &s->nsid, NULL);
	return r == 0 && s->nsid >= 0 ? search_by_links(s, sock) : r;
}

static int search_one(int netns_fd, const char *path, void *arg)
{
	struct search *s = arg;
	struct nlsock sock;
	struct stat st;

	(void)path;
	if (fstat(netns_fd, &st) < 0 || netns_nlsock(&sock, netns_fd, NETLINK_ROUTE, NULL) < 0) {
		s->missed = true;
		return 0;
	}
	s->netns = (unsigned)st.st_ino;
	s->missed |= dump_twice(s, &sock) < 0;
	nlsock_close(&sock);
	return 0;
}

/* Searches all namespaces. The uppers that were found are valid even if some namespaces could not
 * be searched. */
static int search(const struct hw *hw, int ifindex, struct netdev_inside *ret)
{
	AUTO_FD own = netns_open_own();
	struct search s = {.ifindex = ifindex, .own_fd = own, .found = ret};
	int r = own < 0 ? own : netns_each(hw, search_one, &s);

	if (own >= 0)
		search_own_netns(&s);
	if (r == NETNS_INCOMPLETE || (r == 0 && s.missed))
		r = -ENODATA;
	return r < 0 && !ret->n_uppers ? r : NETDEV_SEARCHED;
}

int netdev_inside_read(const struct hw *hw, int ifindex, struct netdev_inside *ret)
{
	int r = run_in_kernel(hw, ifindex, NULL, ret);

	if (r == 0)
		return 0;
	*ret = (struct netdev_inside){0};
	return r == -ENODEV ? r : search(hw, ifindex, ret);
}

int netdev_upper_find(const struct hw *hw, int ifindex, const struct netdev_upper *match,
		      struct netdev_upper *ret)
{
	struct netdev_inside in = {0};
	int r = run_in_kernel(hw, ifindex, match, &in);

	if (r < 0)
		return r;
	if (in.match.id)
		*ret = in.match;
	return in.match.id ? 1 : in.more ? -E2BIG : 0;
}

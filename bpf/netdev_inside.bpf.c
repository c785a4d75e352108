// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* netdev_inside.bpf.c - properties of a netdev that no netlink message contains: the netdevs
 * stacked on it, in any namespace (VLANs, macvlans, ipvlans ...), and the settings of its NAPI
 * instances, which netlink does not report while the netdev is down.
 *
 * Never attached. Run on demand (BPF_PROG_TEST_RUN) with three arguments: the netdev's index in the
 * caller's namespace, and the id and the place of the upper netdev to search for. With id 0, it is
 * searched by its place (namespace inode << 32 | index in that namespace). With id and place 0,
 * there is no search. Returns 1 if the netdev was found, and stores the answer in the map. Loops
 * use the helper bpf_loop (Linux 5.17), as the verifier would follow each iteration of a plain
 * loop. Sources: dev_index_hash() and netdev_adjacent in linux/net/core/dev.c; linux/net/core/dev.h
 * for the members of NAPI instances (Linux 6.13). */
#include "vmlinux.h"

#include <linux/bpf.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "netdev_inside.h"

#define INDEX_HASH_SIZE 256 /* NETDEV_HASHENTRIES */
#define CHAIN_MAX	1024
#define UPPERS_MAX	64
/* Maximum number of upper netdevs that a search visits: a shared pool with "network" puts a macvlan
 * or ipvlan for each slot on one netdev. */
#define SEARCHED_MAX	8192
#define NAPI_MAX	512

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct netdev_inside);
} answer SEC(".maps");

#define ENTRY_OF(node, type, member)                                                               \
	((const type *)((const void *)(node)-bpf_core_field_offset(type, member)))

/* --- finding the netdev ----------------------------------------------------------------------- */

struct chain {
	const struct hlist_node *at;
	const struct net_device *found;
	int ifindex;
};

static long on_chain(__u32 i, struct chain *c)
{
	const struct hlist_node *at = c->at;
	const struct net_device *dev = ENTRY_OF(at, struct net_device, index_hlist);

	if (!at)
		return 1;
	if (BPF_CORE_READ(dev, ifindex) == c->ifindex) {
		c->found = dev;
		return 1;
	}
	c->at = BPF_CORE_READ(at, next);
	return 0;
}

static __always_inline const struct net_device *find(int ifindex)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();
	const struct hlist_head *chains = BPF_CORE_READ(task, nsproxy, net_ns, dev_index_head);
	struct chain c = {.at = BPF_CORE_READ(&chains[(unsigned)ifindex % INDEX_HASH_SIZE], first),
			  .ifindex = ifindex};

	bpf_loop(CHAIN_MAX, on_chain, &c, 0);
	return c.found;
}

/* --- upper netdevs ---------------------------------------------------------------------------- */

struct list_walk {
	const struct list_head *head, *at;
	unsigned n;
};

static long on_upper(__u32 i, struct list_walk *l)
{
	const struct list_head *at = l->at;

	if (!at || at == l->head)
		return 1;
	l->n++;
	l->at = BPF_CORE_READ(at, next);
	return 0;
}

static __always_inline void copy_upper(struct netdev_upper *u, const struct net_device *upper)
{
	u->netns = BPF_CORE_READ(upper, nd_net.net, ns.inum);
	u->ifindex = BPF_CORE_READ(upper, ifindex);
	u->id = BPF_CORE_READ(upper, dev.kobj.sd, id);
	bpf_core_read_str(u->name, sizeof(u->name), &upper->name);
	bpf_probe_read_kernel_str(u->kind, sizeof(u->kind),
				  BPF_CORE_READ(upper, rtnl_link_ops, kind));
}

/* A search by id or, if id is 0, by namespace and index. */
struct upper_search {
	const struct list_head *head, *at;
	const struct net_device *found;
	__u64 id;
	unsigned netns;
	int ifindex;
};

static long on_searched(__u32 i, struct upper_search *s)
{
	const struct list_head *at = s->at;
	const struct net_device *upper;

	if (!at || at == s->head)
		return 1;
	upper = BPF_CORE_READ(ENTRY_OF(at, struct netdev_adjacent, list), dev);
	if (s->id ? BPF_CORE_READ(upper, dev.kobj.sd, id) == s->id
		  : BPF_CORE_READ(upper, ifindex) == s->ifindex &&
			    BPF_CORE_READ(upper, nd_net.net, ns.inum) == s->netns) {
		s->found = upper;
		return 1;
	}
	s->at = BPF_CORE_READ(at, next);
	return 0;
}

static __always_inline void search(struct netdev_inside *a, const struct net_device *dev, __u64 id,
				   __u64 place)
{
	const struct list_head *head = &dev->adj_list.upper;
	struct upper_search s = {
		.head = head, .id = id, .netns = (unsigned)(place >> 32), .ifindex = (int)place};

	if (!id && !place)
		return;
	s.at = BPF_CORE_READ(head, next);
	bpf_loop(SEARCHED_MAX, on_searched, &s, 0);
	if (s.found)
		copy_upper(&a->match, s.found);
	else
		a->more = s.at && s.at != head;
}

static __always_inline void read_uppers(struct netdev_inside *a, const struct net_device *dev)
{
	const struct list_head *head = &dev->adj_list.upper, *first = BPF_CORE_READ(head, next);
	struct list_walk l = {.head = head, .at = first};

	bpf_loop(UPPERS_MAX, on_upper, &l, 0);
	a->n_uppers = l.n;
	if (l.n > 0)
		copy_upper(&a->first,
			   BPF_CORE_READ(ENTRY_OF(first, struct netdev_adjacent, list), dev));
}

/* --- NAPI ------------------------------------------------------------------------------------- */

struct napi_walk {
	const struct list_head *head, *at;
	const void *config; /* settings of the next instance */
	unsigned n_configs, differing;
	/* Settings of the whole netdev, as in sysfs. */
	unsigned threaded, defer_hard_irqs;
	unsigned long gro_flush_timeout;
};

static __always_inline bool napi_differs(const struct napi_walk *w, unsigned defer_hard_irqs,
					 unsigned long gro_flush_timeout,
					 unsigned long irq_suspend_timeout)
{
	return defer_hard_irqs != w->defer_hard_irqs || gro_flush_timeout != w->gro_flush_timeout ||
	       irq_suspend_timeout;
}

/* Counts an instance whose settings differ from the netdev's, or that has a thread although the
 * netdev is not threaded. */
static long on_instance(__u32 i, struct napi_walk *w)
{
	const struct list_head *at = w->at;
	const struct napi_struct *n = ENTRY_OF(at, struct napi_struct, dev_list);

	if (!at || at == w->head)
		return 1;
	w->differing += napi_differs(w, BPF_CORE_READ(n, defer_hard_irqs),
				     BPF_CORE_READ(n, gro_flush_timeout),
				     BPF_CORE_READ(n, irq_suspend_timeout)) ||
			(BPF_CORE_READ(n, thread) && !w->threaded);
	w->at = BPF_CORE_READ(at, next);
	return 0;
}

/* Counts persistent settings that differ: they exist for drivers that recreate their instances each
 * time the netdev goes up. */
static long on_config(__u32 i, struct napi_walk *w)
{
	const struct napi_config *c = w->config;

	if (!c || i >= w->n_configs)
		return 1;
	w->differing += napi_differs(w, BPF_CORE_READ(c, defer_hard_irqs),
				     BPF_CORE_READ(c, gro_flush_timeout),
				     BPF_CORE_READ(c, irq_suspend_timeout)) ||
			(bpf_core_field_exists(c->threaded) &&
			 BPF_CORE_READ(c, threaded) != w->threaded);
	w->config += bpf_core_type_size(struct napi_config);
	return 0;
}

static __always_inline void read_napi(struct netdev_inside *a, const struct net_device *dev)
{
	const struct list_head *head = &dev->napi_list;
	struct napi_walk w = {.head = head};

	if (!bpf_core_field_exists(struct napi_struct, irq_suspend_timeout))
		return;
	w.at = BPF_CORE_READ(head, next);
	w.threaded = BPF_CORE_READ_BITFIELD_PROBED(dev, threaded);
	w.defer_hard_irqs = BPF_CORE_READ(dev, napi_defer_hard_irqs);
	w.gro_flush_timeout = BPF_CORE_READ(dev, gro_flush_timeout);
	bpf_loop(NAPI_MAX, on_instance, &w, 0);
	if (bpf_core_field_exists(struct net_device, napi_config)) {
		w.config = BPF_CORE_READ(dev, napi_config);
		w.n_configs = BPF_CORE_READ(dev, num_napi_configs);
		bpf_loop(NAPI_MAX, on_config, &w, 0);
	}
	a->napi_differing = w.differing;
}

SEC("raw_tp")
int netdev_inside(struct bpf_raw_tracepoint_args *ctx)
{
	const struct net_device *dev = find((int)ctx->args[0]);
	const __u32 key = 0;
	struct netdev_inside *a = bpf_map_lookup_elem(&answer, &key);

	if (!a || !dev)
		return 0;
	__builtin_memset(a, 0, sizeof(*a));
	read_uppers(a, dev);
	search(a, dev, ctx->args[1], ctx->args[2]);
	read_napi(a, dev);
	return 1;
}

char LICENSE[] SEC("license") = "GPL";

/* netdev_moves.bpf.c - who moves which netdev into which network namespace.
 *
 * netlink tells that a netdev left, not who took it. The kernel function that does every move has
 * had three names (dev_change_net_namespace; __dev_change_net_namespace since v5.13;
 * netif_change_net_namespace since v6.15, net/core/dev.c), all with (dev, net) first: the daemon
 * picks the one this kernel's BTF has. fentry where the kernel allows it, a kprobe otherwise. */
#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "common.bpf.h"

char LICENSE[] SEC("license") = "GPL";

static __always_inline void report(struct net_device *dev, struct net *to)
{
	struct bpf_event *e = event_reserve(BPF_EVENT_NETDEV_MOVED);

	if (!e)
		return;
	e->ifindex = BPF_CORE_READ(dev, ifindex);
	e->netns_from = BPF_CORE_READ(dev, nd_net.net, ns.inum);
	e->netns_to = BPF_CORE_READ(to, ns.inum);
	e->pid = bpf_get_current_pid_tgid() >> 32;
	bpf_get_current_comm(e->comm, sizeof(e->comm));
	bpf_probe_read_kernel_str(e->name, sizeof(e->name), dev->name);
	bpf_ringbuf_submit(e, 0);
}

SEC("fentry/__dev_change_net_namespace")
int BPF_PROG(netdev_move_fentry, struct net_device *dev, struct net *to)
{
	report(dev, to);
	return 0;
}

SEC("kprobe/__dev_change_net_namespace")
int BPF_KPROBE(netdev_move_kprobe, struct net_device *dev, struct net *to)
{
	report(dev, to);
	return 0;
}

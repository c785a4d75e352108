// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* host_events.bpf.c - reports events of the node's netdevs and NICs, and the task that caused them.
 *
 * Moves: netlink reports that a netdev left its namespace, but not which task moved it. One kernel
 * function performs every move. Its name differs between kernels (daemon/events/bpf_points.c); its
 * first arguments are always (dev, net). Health: reports to devlink health, at the moment at which
 * the driver makes them. Transmit timeouts: the kernel's watchdog, before it calls the driver to
 * reset the queue. DCB: the handlers of netlink requests (net/dcb/dcbnl.c), which show the setting
 * and the task; and the application table, which drivers and tools fill through one function. */
#include "vmlinux.h"

#include "common.bpf.h"

char LICENSE[] SEC("license") = "GPL";

/* --- netdev moves between namespaces ---------------------------------------------------------- */

static __always_inline int netdev_moved(struct net_device *dev, struct net *to)
{
	struct bpf_event_netdev_moved *e = EVENT_RESERVE(BPF_EVENT_NETDEV_MOVED,
							 struct bpf_event_netdev_moved);

	if (!e)
		return 0;
	event_task(&e->head);
	e->ifindex = BPF_CORE_READ(dev, ifindex);
	e->netns_from = BPF_CORE_READ(dev, nd_net.net, ns.inum);
	e->netns_to = BPF_CORE_READ(to, ns.inum);
	bpf_probe_read_kernel_str(e->name, sizeof(e->name), dev->name);
	bpf_ringbuf_submit(e, 0);
	return 0;
}

SEC("fentry")
int BPF_PROG(netdev_moves_fentry, struct net_device *dev, struct net *to)
{
	return netdev_moved(dev, to);
}

SEC("kprobe")
int BPF_KPROBE(netdev_moves_kprobe, struct net_device *dev, struct net *to)
{
	return netdev_moved(dev, to);
}

/* --- devlink health --------------------------------------------------------------------------- */

/* Returns the device's name, like dev_name() in linux/include/linux/device.h. */
static __always_inline const char *device_name(const struct device *dev)
{
	const char *name = BPF_CORE_READ(dev, init_name);

	return name ? name : BPF_CORE_READ(dev, kobj.name);
}

static __always_inline struct bpf_event_health *health_event(const struct devlink *devlink,
							     const char *reporter)
{
	struct bpf_event_health *e = EVENT_RESERVE(BPF_EVENT_HEALTH, struct bpf_event_health);
	struct device *dev;

	if (!e)
		return NULL;
	dev = BPF_CORE_READ(devlink, dev);
	bpf_probe_read_kernel_str(e->device, sizeof(e->device), device_name(dev));
	bpf_probe_read_kernel_str(e->bus, sizeof(e->bus), BPF_CORE_READ(dev, bus, name));
	bpf_probe_read_kernel_str(e->driver, sizeof(e->driver), BPF_CORE_READ(dev, driver, name));
	bpf_probe_read_kernel_str(e->reporter, sizeof(e->reporter), reporter);
	return e;
}

SEC("tp_btf")
int BPF_PROG(nic_health_tp_btf, const struct devlink *devlink, const char *reporter,
	     const char *message)
{
	struct bpf_event_health *e = health_event(devlink, reporter);

	if (!e)
		return 0;
	bpf_probe_read_kernel_str(e->message, sizeof(e->message), message);
	bpf_ringbuf_submit(e, 0);
	return 0;
}

SEC("tp_btf")
int BPF_PROG(nic_health_aborted_tp_btf, const struct devlink *devlink, const char *reporter)
{
	struct bpf_event_health *e = health_event(devlink, reporter);

	if (!e)
		return 0;
	e->aborted = 1;
	bpf_ringbuf_submit(e, 0);
	return 0;
}

/* --- transmit timeouts ------------------------------------------------------------------------ */

/* Runs in a timer, so the current task is unrelated to the event. */
SEC("tp_btf")
int BPF_PROG(tx_timeout_tp_btf, struct net_device *dev, int queue)
{
	struct bpf_event_tx_timeout *e = EVENT_RESERVE(BPF_EVENT_TX_TIMEOUT,
						       struct bpf_event_tx_timeout);
	struct device *parent;

	if (!e)
		return 0;
	e->ifindex = BPF_CORE_READ(dev, ifindex);
	e->queue = queue;
	bpf_probe_read_kernel_str(e->name, sizeof(e->name), dev->name);
	parent = BPF_CORE_READ(dev, dev.parent);
	if (parent) {
		bpf_probe_read_kernel_str(e->device, sizeof(e->device), device_name(parent));
		bpf_probe_read_kernel_str(e->driver, sizeof(e->driver),
					  BPF_CORE_READ(parent, driver, name));
	}
	bpf_ringbuf_submit(e, 0);
	return 0;
}

/* --- DCB -------------------------------------------------------------------------------------- */

static __always_inline struct bpf_event_dcb *dcb_event(struct net_device *dev,
						       enum bpf_dcb_what what)
{
	struct bpf_event_dcb *e = EVENT_RESERVE(BPF_EVENT_DCB, struct bpf_event_dcb);

	if (!e)
		return NULL;
	event_task(&e->head);
	e->what = what;
	e->ifindex = BPF_CORE_READ(dev, ifindex);
	bpf_probe_read_kernel_str(e->name, sizeof(e->name), dev->name);
	return e;
}

/* linux/include/uapi/linux/dcbnl.h: enum dcbnl_attrs, enum ieee_attrs */
#define DCB_ATTR_IEEE	  13
#define DCB_ATTR_IEEE_ETS 1
#define DCB_ATTR_IEEE_PFC 2
/* Offset of pfc_en in the attribute: after the header of length and type; it is the second member
 * of struct ieee_pfc. */
#define PFC_ENABLE	  (sizeof(struct nlattr) + 1)

static __always_inline void dcb_request(struct net_device *dev, const void *attr, __u16 type)
{
	struct bpf_event_dcb *e = dcb_event(dev,
					    type == DCB_ATTR_IEEE_PFC ? BPF_DCB_PFC : BPF_DCB_ETS);

	if (!e)
		return;
	if (type == DCB_ATTR_IEEE_PFC)
		bpf_probe_read_kernel(&e->pfc_enable, sizeof(e->pfc_enable), attr + PFC_ENABLE);
	bpf_ringbuf_submit(e, 0);
}

/* Reads the request's attributes before the driver handles them: ETS and PFC; a request may have
 * both. Applications are covered by dcb_ieee_setapp(). */
static __always_inline int dcb_set(struct net_device *dev, struct nlattr **tb)
{
	const void *nest = NULL;
	struct nlattr head = {};
	__u32 at = sizeof(head), end;

	bpf_probe_read_kernel(&nest, sizeof(nest), &tb[DCB_ATTR_IEEE]);
	if (!nest || bpf_probe_read_kernel(&head, sizeof(head), nest) < 0)
		return 0;
	end = head.nla_len;
	for (int i = 0; i < 8 && at + sizeof(head) <= end; i++) {
		__u16 type;

		if (bpf_probe_read_kernel(&head, sizeof(head), nest + at) < 0)
			break;
		type = head.nla_type & 0x3fff; /* NLA_TYPE_MASK */
		if (head.nla_len < sizeof(head))
			break;
		if (type == DCB_ATTR_IEEE_PFC || type == DCB_ATTR_IEEE_ETS)
			dcb_request(dev, nest + at, type);
		at += (head.nla_len + 3) & ~3U;
	}
	return 0;
}

/* bpf_get_func_arg() (since Linux 5.17) returns the argument as a number. Old verifiers (seen with
 * 6.1) reject access to an argument that is a pointer to a pointer. */
SEC("fentry")
int BPF_PROG(dcb_set_fentry, struct net_device *dev)
{
	__u64 tb;

	return bpf_get_func_arg(ctx, 3, &tb) < 0 ? 0 : dcb_set(dev, (struct nlattr **)tb);
}

SEC("kprobe")
int BPF_KPROBE(dcb_set_kprobe, struct net_device *dev, void *request, __u32 seq, struct nlattr **tb)
{
	return dcb_set(dev, tb);
}

static __always_inline int dcb_app(struct net_device *dev, const struct dcb_app *app,
				   enum bpf_dcb_what what)
{
	struct bpf_event_dcb *e = dcb_event(dev, what);

	if (!e)
		return 0;
	e->selector = BPF_CORE_READ(app, selector);
	e->priority = BPF_CORE_READ(app, priority);
	e->protocol = BPF_CORE_READ(app, protocol);
	bpf_ringbuf_submit(e, 0);
	return 0;
}

SEC("fentry")
int BPF_PROG(dcb_app_set_fentry, struct net_device *dev, struct dcb_app *app)
{
	return dcb_app(dev, app, BPF_DCB_APP_SET);
}

SEC("kprobe")
int BPF_KPROBE(dcb_app_set_kprobe, struct net_device *dev, struct dcb_app *app)
{
	return dcb_app(dev, app, BPF_DCB_APP_SET);
}

SEC("fentry")
int BPF_PROG(dcb_app_deleted_fentry, struct net_device *dev, struct dcb_app *app)
{
	return dcb_app(dev, app, BPF_DCB_APP_DELETED);
}

SEC("kprobe")
int BPF_KPROBE(dcb_app_deleted_kprobe, struct net_device *dev, struct dcb_app *app)
{
	return dcb_app(dev, app, BPF_DCB_APP_DELETED);
}

/* Handles CEE, the older protocol: reports only that PFC was changed, not the new setting. */
SEC("fentry")
int BPF_PROG(dcb_set_cee_fentry, struct net_device *dev)
{
	struct bpf_event_dcb *e = dcb_event(dev, BPF_DCB_OTHER);

	if (e)
		bpf_ringbuf_submit(e, 0);
	return 0;
}

SEC("kprobe")
int BPF_KPROBE(dcb_set_cee_kprobe, struct net_device *dev)
{
	struct bpf_event_dcb *e = dcb_event(dev, BPF_DCB_OTHER);

	if (e)
		bpf_ringbuf_submit(e, 0);
	return 0;
}

// SPDX-License-Identifier: Apache-2.0
/* nldev.c - builds and decodes RDMA netlink messages. */
#include "nldev.h"

#include <errno.h>
#include <netlink/attr.h>
#include <rdma/rdma_netlink.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "nlmsg.h"

_Static_assert(RDMA_NLDEV_ATTR_STAT_HWCOUNTER_DYNAMIC == 95, "attributes are ABI, ours follow it");

/* One table for the whole attribute space; only attributes that we read are checked. */
static const struct nla_policy policy[NLDEV_ATTR_LAST + 1] = {
	[RDMA_NLDEV_ATTR_DEV_INDEX] = {.type = NLA_U32},
	[RDMA_NLDEV_ATTR_DEV_NAME] = {.type = NLA_STRING, .maxlen = RDMA_NAME_SIZE},
	[RDMA_NLDEV_ATTR_PORT_INDEX] = {.type = NLA_U32},
	[RDMA_NLDEV_ATTR_FW_VERSION] = {.type = NLA_STRING},
	[RDMA_NLDEV_ATTR_NODE_GUID] = {.type = NLA_U64},
	[RDMA_NLDEV_ATTR_SYS_IMAGE_GUID] = {.type = NLA_U64},
	[RDMA_NLDEV_ATTR_LID] = {.type = NLA_U32},
	[RDMA_NLDEV_ATTR_PORT_STATE] = {.type = NLA_U8},
	[RDMA_NLDEV_ATTR_PORT_PHYS_STATE] = {.type = NLA_U8},
	[RDMA_NLDEV_ATTR_NDEV_INDEX] = {.type = NLA_U32},
	[RDMA_NLDEV_ATTR_NDEV_NAME] = {.type = NLA_STRING, .maxlen = IFNAMSIZ},
	[RDMA_NLDEV_SYS_ATTR_NETNS_MODE] = {.type = NLA_U8},
	[RDMA_NLDEV_ATTR_DEV_PROTOCOL] = {.type = NLA_STRING},
	[RDMA_NLDEV_ATTR_CHARDEV_NAME] = {.type = NLA_STRING},
	[RDMA_NLDEV_ATTR_CHARDEV] = {.type = NLA_U64},
	[RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID] = {.type = NLA_U32},
	[RDMA_NLDEV_ATTR_DEV_DIM] = {.type = NLA_U8},
	[RDMA_NLDEV_ATTR_STAT_HWCOUNTERS] = {.type = NLA_NESTED},
	[RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY] = {.type = NLA_NESTED},
	[RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE] = {.type = NLA_U64},
	[RDMA_NLDEV_ATTR_STAT_HWCOUNTER_INDEX] = {.type = NLA_U32},
	[RDMA_NLDEV_ATTR_STAT_HWCOUNTER_DYNAMIC] = {.type = NLA_U8},
	[RDMA_NLDEV_ATTR_RES_SUMMARY] = {.type = NLA_NESTED},
	[RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY] = {.type = NLA_NESTED},
	[RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_CURR] = {.type = NLA_U64},
	[RDMA_NLDEV_ATTR_RES_QP] = {.type = NLA_NESTED},
	[RDMA_NLDEV_ATTR_RES_LQPN] = {.type = NLA_U32},
	[RDMA_NLDEV_ATTR_RES_RQPN] = {.type = NLA_U32},
	[RDMA_NLDEV_ATTR_RES_TYPE] = {.type = NLA_U8},
	[RDMA_NLDEV_ATTR_RES_STATE] = {.type = NLA_U8},
	[RDMA_NLDEV_ATTR_RES_PID] = {.type = NLA_U32},
	[RDMA_NLDEV_ATTR_RES_KERN_NAME] = {.type = NLA_STRING},
	[NLDEV_ATTR_EVENT_TYPE] = {.type = NLA_U8},
	[NLDEV_ATTR_MONITOR_MODE] = {.type = NLA_U8},
};

/* --- requests ----------------------------------------------------------------------------- */

struct nl_msg *nldev_request(int cmd, int flags, uint32_t dev_index, uint32_t port)
{
	struct nl_msg *msg = nlmsg_alloc_simple(RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, cmd),
						NLM_F_REQUEST | flags);
	int r = msg ? 0 : -1;

	if (r == 0 && dev_index != NLDEV_ANY)
		r = nla_put_u32(msg, RDMA_NLDEV_ATTR_DEV_INDEX, dev_index);
	if (r == 0 && port != NLDEV_ANY)
		r = nla_put_u32(msg, RDMA_NLDEV_ATTR_PORT_INDEX, port);
	return nlmsg_finished(msg, r);
}

static int batch_room(struct nldev_batch *b, size_t n)
{
	size_t size = b->size ? b->size : 4096;
	uint8_t *bigger;

	while (size - b->len < n)
		size *= 2;
	if (size == b->size)
		return 0;
	bigger = realloc(b->buf, size);
	if (!bigger)
		return -ENOMEM;
	b->buf = bigger;
	b->size = size;
	return 0;
}

int nldev_batch_add(struct nldev_batch *b, struct nl_msg *msg)
{
	const struct nlmsghdr *h = msg ? nlmsg_hdr(msg) : NULL;
	size_t n = h ? NLMSG_ALIGN((size_t)h->nlmsg_len) : 0;
	int r = h ? batch_room(b, n) : -ENOMEM;

	if (r == 0) {
		memset(b->buf + b->len, 0, n);
		memcpy(b->buf + b->len, h, h->nlmsg_len);
		b->len += n;
		b->n++;
	}
	nlmsg_free(msg);
	return r;
}

void nldev_batch_done(struct nldev_batch *b)
{
	free(b->buf);
	*b = (struct nldev_batch){0};
}

/* --- answers ------------------------------------------------------------------------------ */

static int nldev_parse(const struct nlmsghdr *h, int cmd, struct nlattr *tb[NLDEV_ATTR_LAST + 1])
{
	if (h->nlmsg_type != RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, cmd))
		return -EPROTO;
	if (!nlmsg_valid_hdr(h, 0) ||
	    nlmsg_parse((struct nlmsghdr *)h, 0, tb, NLDEV_ATTR_LAST, policy) < 0)
		return -EBADMSG;
	return 0;
}

/* True if the name can be a part of a sysfs path. */
static bool is_sane_name(const char *s)
{
	return *s && !strchr(s, '/') && strcmp(s, ".") != 0 && strcmp(s, "..") != 0;
}

static uint64_t get_u64(const struct nlattr *a)
{
	return a ? nla_get_u64((struct nlattr *)a) : 0;
}

int nldev_decode_dev(const struct nlmsghdr *h, struct nldev_dev *ret)
{
	struct nlattr *tb[NLDEV_ATTR_LAST + 1];
	struct nldev_dev d = {.dim = -1};
	int r = nldev_parse(h, RDMA_NLDEV_CMD_GET, tb);

	if (r < 0)
		return r;
	attr_text(tb[RDMA_NLDEV_ATTR_DEV_NAME], d.name, sizeof(d.name));
	if (!tb[RDMA_NLDEV_ATTR_DEV_INDEX] || !is_sane_name(d.name))
		return -EBADMSG;
	d.index = nla_get_u32(tb[RDMA_NLDEV_ATTR_DEV_INDEX]);
	d.n_ports = attr_u32(tb[RDMA_NLDEV_ATTR_PORT_INDEX], 0);
	d.node_guid = get_u64(tb[RDMA_NLDEV_ATTR_NODE_GUID]);
	d.sys_image_guid = get_u64(tb[RDMA_NLDEV_ATTR_SYS_IMAGE_GUID]);
	attr_text(tb[RDMA_NLDEV_ATTR_FW_VERSION], d.fw, sizeof(d.fw));
	attr_text(tb[RDMA_NLDEV_ATTR_DEV_PROTOCOL], d.protocol, sizeof(d.protocol));
	if (tb[RDMA_NLDEV_ATTR_DEV_DIM])
		d.dim = !!nla_get_u8(tb[RDMA_NLDEV_ATTR_DEV_DIM]);
	*ret = d;
	return 0;
}

static void decode_netdev(struct nlattr **tb, int *ret_ifindex, char ret_name[IFNAMSIZ])
{
	uint32_t ifindex = attr_u32(tb[RDMA_NLDEV_ATTR_NDEV_INDEX], 0);

	if (ifindex == 0 || ifindex > INT32_MAX)
		return;
	*ret_ifindex = (int)ifindex;
	attr_text(tb[RDMA_NLDEV_ATTR_NDEV_NAME], ret_name, IFNAMSIZ);
}

int nldev_decode_port(const struct nlmsghdr *h, struct nldev_port *ret)
{
	struct nlattr *tb[NLDEV_ATTR_LAST + 1];
	struct nldev_port p = {0};
	int r = nldev_parse(h, RDMA_NLDEV_CMD_PORT_GET, tb);

	/* The answer for one port has the command of device answers (nldev_port_get_doit()); the
	 * answers of a dump have the command of port answers (nldev_port_get_dumpit()). */
	if (r == -EPROTO)
		r = nldev_parse(h, RDMA_NLDEV_CMD_GET, tb);

	if (r < 0)
		return r;
	if (!tb[RDMA_NLDEV_ATTR_DEV_INDEX] || !tb[RDMA_NLDEV_ATTR_PORT_INDEX])
		return -EBADMSG;
	p.dev_index = nla_get_u32(tb[RDMA_NLDEV_ATTR_DEV_INDEX]);
	p.port = nla_get_u32(tb[RDMA_NLDEV_ATTR_PORT_INDEX]);
	if (tb[RDMA_NLDEV_ATTR_PORT_STATE])
		p.state = nla_get_u8(tb[RDMA_NLDEV_ATTR_PORT_STATE]);
	if (tb[RDMA_NLDEV_ATTR_PORT_PHYS_STATE])
		p.phys_state = nla_get_u8(tb[RDMA_NLDEV_ATTR_PORT_PHYS_STATE]);
	decode_netdev(tb, &p.netdev_ifindex, p.netdev);
	p.has_lid = tb[RDMA_NLDEV_ATTR_LID] != NULL;
	p.lid = attr_u32(tb[RDMA_NLDEV_ATTR_LID], 0);
	*ret = p;
	return 0;
}

int nldev_decode_sys(const struct nlmsghdr *h, enum rdma_netns_mode *ret, bool *ret_monitor)
{
	struct nlattr *tb[NLDEV_ATTR_LAST + 1];
	int r = nldev_parse(h, RDMA_NLDEV_CMD_SYS_GET, tb);

	if (r < 0)
		return r;
	if (!tb[RDMA_NLDEV_SYS_ATTR_NETNS_MODE])
		return -EBADMSG;
	*ret = nla_get_u8(tb[RDMA_NLDEV_SYS_ATTR_NETNS_MODE]) ? RDMA_NETNS_SHARED
							      : RDMA_NETNS_EXCLUSIVE;
	if (ret_monitor)
		*ret_monitor = tb[NLDEV_ATTR_MONITOR_MODE] &&
			       nla_get_u8(tb[NLDEV_ATTR_MONITOR_MODE]);
	return 0;
}

int nldev_decode_chardev(const struct nlmsghdr *h, struct nldev_chardev *ret)
{
	struct nlattr *tb[NLDEV_ATTR_LAST + 1];
	struct nldev_chardev c = {0};
	int r = nldev_parse(h, RDMA_NLDEV_CMD_GET_CHARDEV, tb);

	if (r < 0)
		return r;
	if (tb[RDMA_NLDEV_ATTR_CHARDEV_NAME])
		attr_text(tb[RDMA_NLDEV_ATTR_CHARDEV_NAME], c.name, sizeof(c.name));
	if (!is_sane_name(c.name))
		return -EBADMSG;
	c.dev = get_u64(tb[RDMA_NLDEV_ATTR_CHARDEV]);
	c.driver_id = attr_u32(tb[RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID], 0);
	*ret = c;
	return 0;
}

const char *nldev_driver_name(uint32_t id)
{
	/* enum rdma_driver_id, linux/include/uapi/rdma/ib_user_ioctl_verbs.h */
	static const char *const names[] = {
		"",    "mlx5",	"mlx4",	      "cxgb3", "cxgb4", "mthca", "bnxt_re", "ocrdma",
		"nes", "irdma", "vmw_pvrdma", "qedr",  "hns",	"usnic", "rxe",	    "hfi1",
		"qib", "efa",	"siw",	      "erdma", "mana",	"ionic", "bng_re"};

	return id < ARRAY_SIZE(names) ? names[id] : "";
}

/* --- events ------------------------------------------------------------------------------- */

int nldev_decode_event(const struct nlmsghdr *h, struct nldev_event *ret)
{
	struct nlattr *tb[NLDEV_ATTR_LAST + 1];
	struct nldev_event e = {.type = NLDEV_EVENT_OTHER};
	int r = nldev_parse(h, NLDEV_CMD_MONITOR, tb);
	uint8_t type;

	if (r < 0)
		return r;
	if (!tb[NLDEV_ATTR_EVENT_TYPE])
		return -EBADMSG;
	type = nla_get_u8(tb[NLDEV_ATTR_EVENT_TYPE]);
	if (type < NLDEV_EVENT_OTHER)
		e.type = type;
	e.dev_index = attr_u32(tb[RDMA_NLDEV_ATTR_DEV_INDEX], NLDEV_ANY);
	attr_text(tb[RDMA_NLDEV_ATTR_DEV_NAME], e.name, sizeof(e.name));
	e.port = attr_u32(tb[RDMA_NLDEV_ATTR_PORT_INDEX], 0);
	decode_netdev(tb, &e.netdev_ifindex, e.netdev);
	*ret = e;
	return 0;
}

/* --- requests that change devices ------------------------------------------------------------- */

struct nl_msg *nldev_move(uint32_t index, int netns_fd)
{
	struct nl_msg *msg = nldev_request(RDMA_NLDEV_CMD_SET, 0, index, NLDEV_ANY);

	return nlmsg_finished(msg, msg ? nla_put_u32(msg, RDMA_NLDEV_NET_NS_FD, (uint32_t)netns_fd)
				       : -1);
}

struct nl_msg *nldev_rename(uint32_t index, const char *name)
{
	struct nl_msg *msg = nldev_request(RDMA_NLDEV_CMD_SET, 0, index, NLDEV_ANY);

	return nlmsg_finished(msg, msg ? nla_put_string(msg, RDMA_NLDEV_ATTR_DEV_NAME, name) : -1);
}

struct nl_msg *nldev_new_link(const char *name, const char *kind, const char *ifname)
{
	struct nl_msg *msg = nldev_request(RDMA_NLDEV_CMD_NEWLINK, 0, NLDEV_ANY, NLDEV_ANY);
	int r = -1;

	if (msg)
		r = nla_put_string(msg, RDMA_NLDEV_ATTR_DEV_NAME, name) |
		    nla_put_string(msg, RDMA_NLDEV_ATTR_LINK_TYPE, kind) |
		    nla_put_string(msg, RDMA_NLDEV_ATTR_NDEV_NAME, ifname);
	return nlmsg_finished(msg, r);
}

struct nl_msg *nldev_delete_link(uint32_t index)
{
	return nldev_request(RDMA_NLDEV_CMD_DELLINK, 0, index, NLDEV_ANY);
}

struct nl_msg *nldev_get_chardev(uint32_t index, const char *kind)
{
	struct nl_msg *msg = nldev_request(RDMA_NLDEV_CMD_GET_CHARDEV, 0, index, NLDEV_ANY);

	return nlmsg_finished(msg,
			      msg ? nla_put_string(msg, RDMA_NLDEV_ATTR_CHARDEV_TYPE, kind) : -1);
}

/* --- counters and resources ------------------------------------------------------------------- */

/* Handles one entry of a table; tb: its attributes by type. A negative return stops the iteration.
 */
typedef int entry_fn(struct nlattr **tb, void *arg);

/* Iterates over the entries of the given type in the table. Returns their number. */
static int walk_table(const struct nlattr *table, int entry, entry_fn *fn, void *arg)
{
	struct nlattr *tb[NLDEV_ATTR_LAST + 1], *a;
	int left, n = 0, r;

	if (!table)
		return -EBADMSG;
	nla_for_each_nested (a, table, left) {
		if (nla_type(a) != entry)
			continue;
		if (nla_parse_nested(tb, NLDEV_ATTR_LAST, a, policy) < 0)
			return -EBADMSG;
		r = fn(tb, arg);
		if (r < 0)
			return r;
		n++;
	}
	return n;
}

static int walk_answer(const struct nlmsghdr *h, int cmd, int table, int entry, entry_fn *fn,
		       void *arg)
{
	struct nlattr *top[NLDEV_ATTR_LAST + 1];
	int r = nldev_parse(h, cmd, top);

	return r < 0 ? r : walk_table(top[table], entry, fn, arg);
}

/* Returns the name, or NULL if it is not terminated: not every version of libnl checks that. */
static const char *get_name(const struct nlattr *a)
{
	return a && memchr(nla_data(a), '\0', (size_t)nla_len(a)) ? nla_data(a) : NULL;
}

struct named {
	int name, value; /* attribute types */
	named_value_fn *fn;
	void *arg;
};

static int nldev_on_named(struct nlattr **tb, void *arg)
{
	const struct named *n = arg;
	const char *name = get_name(tb[n->name]);

	if (!name || !tb[n->value])
		return -EBADMSG;
	n->fn(name, nla_get_u64(tb[n->value]), n->arg);
	return 0;
}

int nldev_decode_stat(const struct nlmsghdr *h, named_value_fn *fn, void *arg)
{
	struct named n = {RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME,
			  RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE, fn, arg};

	return walk_answer(h, RDMA_NLDEV_CMD_STAT_GET, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS,
			   RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY, nldev_on_named, &n);
}

int nldev_decode_resources(const struct nlmsghdr *h, named_value_fn *fn, void *arg)
{
	struct named n = {RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_NAME,
			  RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_CURR, fn, arg};

	return walk_answer(h, RDMA_NLDEV_CMD_RES_GET, RDMA_NLDEV_ATTR_RES_SUMMARY,
			   RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY, nldev_on_named, &n);
}

struct status_walk {
	nldev_stat_status_fn *fn;
	void *arg;
};

/* Delivers one counter. Only optional counters have HWCOUNTER_DYNAMIC. */
static int nldev_on_status(struct nlattr **tb, void *arg)
{
	const struct status_walk *w = arg;
	const char *name = get_name(tb[RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME]);
	struct nlattr *index = tb[RDMA_NLDEV_ATTR_STAT_HWCOUNTER_INDEX];
	struct nlattr *on = tb[RDMA_NLDEV_ATTR_STAT_HWCOUNTER_DYNAMIC];
	struct nldev_stat_status s;

	if (!name || !index)
		return -EBADMSG;
	s.name = name;
	s.index = nla_get_u32(index);
	s.optional = on != NULL;
	s.enabled = !on || nla_get_u8(on);
	w->fn(&s, w->arg);
	return 0;
}

int nldev_decode_stat_status(const struct nlmsghdr *h, nldev_stat_status_fn *fn, void *arg)
{
	struct status_walk w = {fn, arg};

	return walk_answer(h, RDMA_NLDEV_CMD_STAT_GET_STATUS, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS,
			   RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY, nldev_on_status, &w);
}

struct nl_msg *nldev_stat_set(uint32_t dev_index, uint32_t port, const uint32_t *indices, size_t n)
{
	struct nl_msg *msg = nldev_request(RDMA_NLDEV_CMD_STAT_SET, 0, dev_index, port);
	struct nlattr *table = msg ? nla_nest_start(msg, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS) : NULL;

	if (!table)
		goto no_memory;
	for (size_t i = 0; i < n; i++)
		if (nla_put_u32(msg, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_INDEX, indices[i]) < 0)
			goto no_memory;
	/* Not nla_nest_end(): it drops an empty table, which here means "none". */
	table->nla_len = (char *)nlmsg_tail(nlmsg_hdr(msg)) - (char *)table;
	return msg;
no_memory:
	nlmsg_free(msg);
	return NULL;
}

/* --- queue pairs ------------------------------------------------------------------------------ */

struct nl_msg *nldev_qp_dump(uint32_t dev_index)
{
	return nldev_request(RDMA_NLDEV_CMD_RES_QP_GET, NLM_F_DUMP, dev_index, NLDEV_ANY);
}

struct qp_walk {
	nldev_qp_fn *fn;
	void *arg;
	const char *device;
};

static int nldev_on_qp(struct nlattr **tb, void *arg)
{
	const struct nlattr *owner = tb[RDMA_NLDEV_ATTR_RES_KERN_NAME];
	const struct qp_walk *w = arg;
	struct nldev_qp qp = {0};

	if (!tb[RDMA_NLDEV_ATTR_RES_LQPN] || !tb[RDMA_NLDEV_ATTR_RES_TYPE] ||
	    !tb[RDMA_NLDEV_ATTR_RES_STATE])
		return -EBADMSG;
	memcpy(qp.device, w->device, sizeof(qp.device));
	qp.qpn = nla_get_u32(tb[RDMA_NLDEV_ATTR_RES_LQPN]);
	qp.peer_qpn = attr_u32(tb[RDMA_NLDEV_ATTR_RES_RQPN], NLDEV_QP_UNKNOWN);
	qp.port = attr_u32(tb[RDMA_NLDEV_ATTR_PORT_INDEX], 0);
	qp.type = nla_get_u8(tb[RDMA_NLDEV_ATTR_RES_TYPE]);
	qp.state = nla_get_u8(tb[RDMA_NLDEV_ATTR_RES_STATE]);
	qp.pid = attr_u32(tb[RDMA_NLDEV_ATTR_RES_PID], 0);
	if (owner)
		snprintf(qp.owner, sizeof(qp.owner), "%.*s", nla_len(owner),
			 (const char *)nla_data(owner));
	return w->fn(&qp, w->arg);
}

int nldev_decode_qps(const struct nlmsghdr *h, nldev_qp_fn *fn, void *arg)
{
	struct nlattr *top[NLDEV_ATTR_LAST + 1];
	char device[RDMA_NAME_SIZE] = "";
	struct qp_walk w = {fn, arg, device};
	int r = nldev_parse(h, RDMA_NLDEV_CMD_RES_QP_GET, top);

	if (r < 0)
		return r;
	if (!top[RDMA_NLDEV_ATTR_DEV_NAME])
		return -EBADMSG;
	attr_text(top[RDMA_NLDEV_ATTR_DEV_NAME], device, sizeof(device));
	return walk_table(top[RDMA_NLDEV_ATTR_RES_QP], RDMA_NLDEV_ATTR_RES_QP_ENTRY, nldev_on_qp,
			  &w);
}

/* nldev.c - RDMA netlink messages to and from plain values. */
#include "nldev.h"

#include <errno.h>
#include <netlink/attr.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"

_Static_assert(RDMA_NLDEV_ATTR_STAT_HWCOUNTER_DYNAMIC == 95, "attributes are ABI, ours follow it");

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
	[NLDEV_ATTR_EVENT_TYPE] = {.type = NLA_U8},
	[NLDEV_ATTR_MONITOR_MODE] = {.type = NLA_U8},
};

/* --- requests ----------------------------------------------------------------------------- */

struct nl_msg *nldev_request(int cmd, int flags, uint32_t dev_index, uint32_t port)
{
	struct nl_msg *msg = nlmsg_alloc_simple(RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, cmd),
						NLM_F_REQUEST | flags);

	if (!msg)
		return NULL;
	if ((dev_index != NLDEV_ANY &&
	     nla_put_u32(msg, RDMA_NLDEV_ATTR_DEV_INDEX, dev_index) < 0) ||
	    (port != NLDEV_ANY && nla_put_u32(msg, RDMA_NLDEV_ATTR_PORT_INDEX, port) < 0)) {
		nlmsg_free(msg);
		return NULL;
	}
	return msg;
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

static int parse(const struct nlmsghdr *h, int cmd, struct nlattr *tb[NLDEV_ATTR_LAST + 1])
{
	if (h->nlmsg_type != RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, cmd))
		return -EPROTO;
	if (!nlmsg_valid_hdr(h, 0) ||
	    nlmsg_parse((struct nlmsghdr *)h, 0, tb, NLDEV_ATTR_LAST, policy) < 0)
		return -EBADMSG;
	return 0;
}

/* Copies a text that fits; names and versions that do not are left unknown. */
static void copy_str(const struct nlattr *a, char *ret, size_t size)
{
	size_t n = a ? strnlen(nla_data(a), (size_t)nla_len(a)) : 0;

	if (n == 0 || n >= size)
		return;
	memcpy(ret, nla_data(a), n);
	ret[n] = '\0';
}

/* Names become parts of sysfs paths. */
static bool is_sane_name(const char *s)
{
	return *s && !strchr(s, '/') && strcmp(s, ".") != 0 && strcmp(s, "..") != 0;
}

static uint32_t get_u32(const struct nlattr *a, uint32_t otherwise)
{
	return a ? nla_get_u32(a) : otherwise;
}

static uint64_t get_u64(const struct nlattr *a)
{
	return a ? nla_get_u64((struct nlattr *)a) : 0;
}

int nldev_decode_dev(const struct nlmsghdr *h, struct nldev_dev *ret)
{
	struct nlattr *tb[NLDEV_ATTR_LAST + 1];
	struct nldev_dev d = {.dim = -1};
	int r = parse(h, RDMA_NLDEV_CMD_GET, tb);

	if (r < 0)
		return r;
	copy_str(tb[RDMA_NLDEV_ATTR_DEV_NAME], d.name, sizeof(d.name));
	if (!tb[RDMA_NLDEV_ATTR_DEV_INDEX] || !is_sane_name(d.name))
		return -EBADMSG;
	d.index = nla_get_u32(tb[RDMA_NLDEV_ATTR_DEV_INDEX]);
	d.n_ports = get_u32(tb[RDMA_NLDEV_ATTR_PORT_INDEX], 0);
	d.node_guid = get_u64(tb[RDMA_NLDEV_ATTR_NODE_GUID]);
	d.sys_image_guid = get_u64(tb[RDMA_NLDEV_ATTR_SYS_IMAGE_GUID]);
	copy_str(tb[RDMA_NLDEV_ATTR_FW_VERSION], d.fw, sizeof(d.fw));
	copy_str(tb[RDMA_NLDEV_ATTR_DEV_PROTOCOL], d.protocol, sizeof(d.protocol));
	if (tb[RDMA_NLDEV_ATTR_DEV_DIM])
		d.dim = !!nla_get_u8(tb[RDMA_NLDEV_ATTR_DEV_DIM]);
	*ret = d;
	return 0;
}

static void decode_netdev(struct nlattr **tb, int *ret_ifindex, char ret_name[IFNAMSIZ])
{
	uint32_t ifindex = get_u32(tb[RDMA_NLDEV_ATTR_NDEV_INDEX], 0);

	if (ifindex == 0 || ifindex > INT32_MAX)
		return;
	*ret_ifindex = (int)ifindex;
	copy_str(tb[RDMA_NLDEV_ATTR_NDEV_NAME], ret_name, IFNAMSIZ);
}

int nldev_decode_port(const struct nlmsghdr *h, struct nldev_port *ret)
{
	struct nlattr *tb[NLDEV_ATTR_LAST + 1];
	struct nldev_port p = {0};
	int r = parse(h, RDMA_NLDEV_CMD_PORT_GET, tb);

	/* The answer about one port bears the device's command (nldev_port_get_doit()), those of
	 * a dump the port's (nldev_port_get_dumpit()). */
	if (r == -EPROTO)
		r = parse(h, RDMA_NLDEV_CMD_GET, tb);

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
	p.lid = get_u32(tb[RDMA_NLDEV_ATTR_LID], 0);
	*ret = p;
	return 0;
}

int nldev_decode_sys(const struct nlmsghdr *h, enum rdma_netns_mode *ret, bool *ret_monitor)
{
	struct nlattr *tb[NLDEV_ATTR_LAST + 1];
	int r = parse(h, RDMA_NLDEV_CMD_SYS_GET, tb);

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
	int r = parse(h, RDMA_NLDEV_CMD_GET_CHARDEV, tb);

	if (r < 0)
		return r;
	if (tb[RDMA_NLDEV_ATTR_CHARDEV_NAME])
		copy_str(tb[RDMA_NLDEV_ATTR_CHARDEV_NAME], c.name, sizeof(c.name));
	if (!is_sane_name(c.name))
		return -EBADMSG;
	c.dev = get_u64(tb[RDMA_NLDEV_ATTR_CHARDEV]);
	c.driver_id = get_u32(tb[RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID], 0);
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
	int r = parse(h, NLDEV_CMD_MONITOR, tb);
	uint8_t type;

	if (r < 0)
		return r;
	if (!tb[NLDEV_ATTR_EVENT_TYPE])
		return -EBADMSG;
	type = nla_get_u8(tb[NLDEV_ATTR_EVENT_TYPE]);
	if (type < NLDEV_EVENT_OTHER)
		e.type = type;
	e.dev_index = get_u32(tb[RDMA_NLDEV_ATTR_DEV_INDEX], NLDEV_ANY);
	copy_str(tb[RDMA_NLDEV_ATTR_DEV_NAME], e.name, sizeof(e.name));
	e.port = get_u32(tb[RDMA_NLDEV_ATTR_PORT_INDEX], 0);
	decode_netdev(tb, &e.netdev_ifindex, e.netdev);
	*ret = e;
	return 0;
}

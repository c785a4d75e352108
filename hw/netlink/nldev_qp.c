#include "nldev_qp.h"

#include <errno.h>
#include <netlink/attr.h>
#include <string.h>

#include "nldev.h"

#define LAST RDMA_NLDEV_ATTR_RES_KERN_NAME

_Static_assert(RDMA_NLDEV_ATTR_STAT_HWCOUNTER_DYNAMIC == 95, "ABI of rdma_netlink.h");

static const struct nla_policy policy[LAST + 1] = {
	[RDMA_NLDEV_ATTR_DEV_NAME] = {.type = NLA_STRING, .maxlen = RDMA_NAME_SIZE},
	[RDMA_NLDEV_ATTR_PORT_INDEX] = {.type = NLA_U32},
	[RDMA_NLDEV_ATTR_RES_QP] = {.type = NLA_NESTED},
	[RDMA_NLDEV_ATTR_RES_LQPN] = {.type = NLA_U32},
	[RDMA_NLDEV_ATTR_RES_RQPN] = {.type = NLA_U32},
	[RDMA_NLDEV_ATTR_RES_TYPE] = {.type = NLA_U8},
	[RDMA_NLDEV_ATTR_RES_STATE] = {.type = NLA_U8},
	[RDMA_NLDEV_ATTR_RES_PID] = {.type = NLA_U32},
	[RDMA_NLDEV_ATTR_RES_KERN_NAME] = {.type = NLA_STRING},
};

struct nl_msg *nldev_qp_dump(uint32_t dev_index)
{
	return nldev_request(RDMA_NLDEV_CMD_RES_QP_GET, NLM_F_DUMP, dev_index, NLDEV_ANY);
}

/* What does not fit is cut. */
static void copy_text(const struct nlattr *a, char *ret, size_t size)
{
	size_t n = a ? strnlen(nla_data(a), (size_t)nla_len(a)) : 0;

	n = n < size ? n : size - 1;
	if (n)
		memcpy(ret, nla_data(a), n);
	ret[n] = '\0';
}

static uint32_t get_u32(const struct nlattr *a, uint32_t otherwise)
{
	return a ? nla_get_u32(a) : otherwise;
}

/* qp: with its device's name. */
static int decode_entry(struct nlattr *entry, struct nldev_qp *qp)
{
	struct nlattr *tb[LAST + 1];

	if (nla_parse_nested(tb, LAST, entry, policy) < 0 || !tb[RDMA_NLDEV_ATTR_RES_LQPN] ||
	    !tb[RDMA_NLDEV_ATTR_RES_TYPE] || !tb[RDMA_NLDEV_ATTR_RES_STATE])
		return -EBADMSG;
	qp->qpn = nla_get_u32(tb[RDMA_NLDEV_ATTR_RES_LQPN]);
	qp->peer_qpn = get_u32(tb[RDMA_NLDEV_ATTR_RES_RQPN], NLDEV_QP_UNKNOWN);
	qp->port = get_u32(tb[RDMA_NLDEV_ATTR_PORT_INDEX], 0);
	qp->type = nla_get_u8(tb[RDMA_NLDEV_ATTR_RES_TYPE]);
	qp->state = nla_get_u8(tb[RDMA_NLDEV_ATTR_RES_STATE]);
	qp->pid = get_u32(tb[RDMA_NLDEV_ATTR_RES_PID], 0);
	copy_text(tb[RDMA_NLDEV_ATTR_RES_KERN_NAME], qp->owner, sizeof(qp->owner));
	return 0;
}

int nldev_decode_qps(const struct nlmsghdr *h, nldev_qp_fn *fn, void *arg)
{
	struct nlattr *top[LAST + 1], *a;
	struct nldev_qp qp = {0};
	int left, n = 0, r;

	if (h->nlmsg_type != RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_RES_QP_GET))
		return -EPROTO;
	if (!nlmsg_valid_hdr(h, 0) || nlmsg_parse((struct nlmsghdr *)h, 0, top, LAST, policy) < 0 ||
	    !top[RDMA_NLDEV_ATTR_RES_QP] || !top[RDMA_NLDEV_ATTR_DEV_NAME])
		return -EBADMSG;
	copy_text(top[RDMA_NLDEV_ATTR_DEV_NAME], qp.device, sizeof(qp.device));
	nla_for_each_nested (a, top[RDMA_NLDEV_ATTR_RES_QP], left) {
		if (nla_type(a) != RDMA_NLDEV_ATTR_RES_QP_ENTRY)
			continue;
		r = decode_entry(a, &qp);
		if (r == 0)
			r = fn(&qp, arg);
		if (r < 0)
			return r;
		n++;
	}
	return n;
}

#include "nldev_stat.h"

#include <errno.h>
#include <netlink/attr.h>
#include <rdma/rdma_netlink.h>
#include <string.h>

#include "nldev.h"

/* The whole attribute space fits into one table; only what we read is checked. */
#define LAST RDMA_NLDEV_ATTR_STAT_HWCOUNTER_DYNAMIC

_Static_assert(RDMA_NLDEV_ATTR_STAT_HWCOUNTER_DYNAMIC == 95, "ABI of rdma_netlink.h");

static const struct nla_policy policy[LAST + 1] = {
	[RDMA_NLDEV_ATTR_STAT_HWCOUNTERS] = {.type = NLA_NESTED},
	[RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY] = {.type = NLA_NESTED},
	[RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE] = {.type = NLA_U64},
	[RDMA_NLDEV_ATTR_STAT_HWCOUNTER_INDEX] = {.type = NLA_U32},
	[RDMA_NLDEV_ATTR_STAT_HWCOUNTER_DYNAMIC] = {.type = NLA_U8},
	[RDMA_NLDEV_ATTR_RES_SUMMARY] = {.type = NLA_NESTED},
	[RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY] = {.type = NLA_NESTED},
	[RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_CURR] = {.type = NLA_U64},
};

/* One entry of a table, its attributes by type. Negative ends the walk. */
typedef int entry_fn(struct nlattr **tb, void *arg);

/* Walks the entries of the given type in the table of the given type. */
static int walk(const struct nlmsghdr *h, int cmd, int table, int entry, entry_fn *fn, void *arg)
{
	struct nlattr *top[LAST + 1], *tb[LAST + 1], *a;
	int left, n = 0, r;

	if (h->nlmsg_type != RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, cmd))
		return -EPROTO;
	if (!nlmsg_valid_hdr(h, 0) || nlmsg_parse((struct nlmsghdr *)h, 0, top, LAST, policy) < 0 ||
	    !top[table])
		return -EBADMSG;
	nla_for_each_nested (a, top[table], left) {
		if (nla_type(a) != entry)
			continue;
		if (nla_parse_nested(tb, LAST, a, policy) < 0)
			return -EBADMSG;
		r = fn(tb, arg);
		if (r < 0)
			return r;
		n++;
	}
	return n;
}

/* The name, or NULL when it does not end: what libnl's policies promise about that has changed. */
static const char *get_name(const struct nlattr *a)
{
	return a && memchr(nla_data(a), '\0', (size_t)nla_len(a)) ? nla_data(a) : NULL;
}

struct named {
	int name, value; /* attribute types */
	named_value_fn *fn;
	void *arg;
};

static int on_named(struct nlattr **tb, void *arg)
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

	return walk(h, RDMA_NLDEV_CMD_STAT_GET, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS,
		    RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY, on_named, &n);
}

int nldev_decode_resources(const struct nlmsghdr *h, named_value_fn *fn, void *arg)
{
	struct named n = {RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_NAME,
			  RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_CURR, fn, arg};

	return walk(h, RDMA_NLDEV_CMD_RES_GET, RDMA_NLDEV_ATTR_RES_SUMMARY,
		    RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY, on_named, &n);
}

struct status_walk {
	nldev_stat_status_fn *fn;
	void *arg;
};

/* Only optional counters carry HWCOUNTER_DYNAMIC. */
static int on_status(struct nlattr **tb, void *arg)
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

	return walk(h, RDMA_NLDEV_CMD_STAT_GET_STATUS, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS,
		    RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY, on_status, &w);
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

/* devlink.c - see devlink.h. */
#include "devlink.h"

#include <errno.h>
#include <linux/devlink.h>
#include <linux/genetlink.h>
#include <netlink/attr.h>
#include <string.h>

#include "genl.h"

#define STATE_ERROR 1

struct nl_msg *devlink_dump_reporters(uint16_t family)
{
	return genl_request(family, DEVLINK_CMD_HEALTH_REPORTER_GET, DEVLINK_GENL_VERSION,
			    NLM_F_DUMP);
}

/* devlink_recover_notify() in linux/net/devlink/health.c: RECOVER, for errors as for their end. */
bool devlink_is_health_event(const struct nlmsghdr *h, uint16_t family)
{
	return genl_is(h, family, DEVLINK_CMD_HEALTH_REPORTER_RECOVER) ||
	       genl_is(h, family, DEVLINK_CMD_HEALTH_REPORTER_GET);
}

/* A string attribute that fits, or nothing. */
static void copy_str(const struct nlattr *a, char *ret, size_t size)
{
	size_t n = a ? strnlen(nla_data(a), (size_t)nla_len(a)) : size;

	ret[0] = '\0';
	if (n >= size)
		return;
	memcpy(ret, nla_data(a), n);
	ret[n] = '\0';
}

int devlink_decode_reporter(const struct nlmsghdr *h, uint16_t family, struct devlink_reporter *ret)
{
	static const struct nla_policy policy[DEVLINK_ATTR_HEALTH_REPORTER + 1] = {
		[DEVLINK_ATTR_HEALTH_REPORTER] = {.type = NLA_NESTED},
	};
	static const struct nla_policy reporter_policy[DEVLINK_ATTR_HEALTH_REPORTER_STATE + 1] = {
		[DEVLINK_ATTR_HEALTH_REPORTER_STATE] = {.type = NLA_U8},
	};
	struct nlattr *tb[DEVLINK_ATTR_HEALTH_REPORTER + 1];
	struct nlattr *reporter[DEVLINK_ATTR_HEALTH_REPORTER_STATE + 1];
	struct devlink_reporter r;

	if (!genl_is(h, family, DEVLINK_CMD_HEALTH_REPORTER_GET))
		return -EPROTO;
	if (nlmsg_parse((struct nlmsghdr *)h, sizeof(struct genlmsghdr), tb,
			DEVLINK_ATTR_HEALTH_REPORTER, policy) < 0 ||
	    !tb[DEVLINK_ATTR_HEALTH_REPORTER] ||
	    nla_parse_nested(reporter, DEVLINK_ATTR_HEALTH_REPORTER_STATE,
			     tb[DEVLINK_ATTR_HEALTH_REPORTER], reporter_policy) < 0 ||
	    !reporter[DEVLINK_ATTR_HEALTH_REPORTER_STATE])
		return -EBADMSG;
	copy_str(tb[DEVLINK_ATTR_DEV_NAME], r.function, sizeof(r.function));
	if (!is_function_id(r.function))
		r.function[0] = '\0';
	copy_str(reporter[DEVLINK_ATTR_HEALTH_REPORTER_NAME], r.name, sizeof(r.name));
	r.error = nla_get_u8(reporter[DEVLINK_ATTR_HEALTH_REPORTER_STATE]) == STATE_ERROR;
	*ret = r;
	return 0;
}

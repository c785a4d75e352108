/* netdev_look_ioctl.c - what a netdev is like beyond what ethtool netlink tells.
 *
 * Happy path: one ioctl for what a driver does not have at all, some for what it has. Can fail by:
 * no right to ask, for its section. */
#include <errno.h>
#include <linux/ethtool.h>
#include <linux/net_tstamp.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "cleanup.h"
#include "netdev_look.h"

struct look {
	struct netdev_state *state;
	int fd;
	const char *name;
};

static int ask_ethtool(struct look *l, void *question)
{
	struct ifreq ifr = {.ifr_data = question};

	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", l->name);
	return ioctl(l->fd, SIOCETHTOOL, &ifr) < 0 ? -errno : 0;
}

/* What a driver has no word for counts as that. */
static void add_answer(struct look *l, enum netdev_section section, uint32_t what, int r,
		       uint32_t value)
{
	if (r == -EPERM || r == -ENODEV || r == -ENOMEM || r == -EBADF)
		netdev_state_unknown(l->state, section);
	else if (r != -EOPNOTSUPP)
		netdev_state_add(l->state, section, what, r < 0 ? (void *)&r : (void *)&value,
				 r < 0 ? sizeof(r) : sizeof(value));
}

/* Rules are counted: nobody's were there before, as a rule. */
static void look_at_rules(struct look *l)
{
	struct ethtool_rxnfc rules = {.cmd = ETHTOOL_GRXCLSRLCNT};
	int r = ask_ethtool(l, &rules);

	if ((r < 0 && r != -EOPNOTSUPP) || rules.rule_cnt)
		netdev_state_unknown(l->state, STATE_RULES);
}

/* Which fields of a packet its queue depends on, for every kind. Whoever knows nothing of TCP knows
 * of none. */
static void look_at_hash_fields(struct look *l)
{
	for (uint32_t kind = TCP_V4_FLOW; kind <= ETHER_FLOW; kind++) {
		struct ethtool_rxnfc hash = {.cmd = ETHTOOL_GRXFH, .flow_type = kind};
		int r = ask_ethtool(l, &hash);

		if (kind == TCP_V4_FLOW && r == -EOPNOTSUPP)
			return;
		add_answer(l, STATE_RSS, kind, r, (uint32_t)hash.data);
	}
}

/* linux/include/uapi/linux/ethtool.h: rx_copybreak, tx_copybreak, pfc_prevention_tout,
 * tx_copybreak_buf_size */
static void look_at_tunables(struct look *l)
{
	static const uint32_t types[] = {ETHTOOL_TUNABLE_U32, ETHTOOL_TUNABLE_U32,
					 ETHTOOL_TUNABLE_U16, ETHTOOL_TUNABLE_U32};

	for (uint32_t i = 0; i < ARRAY_SIZE(types); i++) {
		const struct ethtool_tunable question = {
			.cmd = ETHTOOL_GTUNABLE,
			.id = i + 1,
			.type_id = types[i],
			.len = types[i] == ETHTOOL_TUNABLE_U16 ? 2 : 4};
		uint32_t q[sizeof(question) / 4 + 1] = {0};
		int r;

		memcpy(q, &question, sizeof(question));
		r = ask_ethtool(l, q);
		add_answer(l, STATE_QUEUES, i, r, q[sizeof(question) / 4]);
	}
}

static void look_at_time_stamps(struct look *l)
{
	struct hwtstamp_config stamps = {0};
	struct ifreq ifr = {.ifr_data = (void *)&stamps};

	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", l->name);
	if (ioctl(l->fd, SIOCGHWTSTAMP, &ifr) == 0)
		netdev_state_add(l->state, STATE_TIMESTAMPS, 0, &stamps, sizeof(stamps));
	else if (errno != EOPNOTSUPP)
		netdev_state_unknown(l->state, STATE_TIMESTAMPS);
}

void netdev_look_ioctl(struct netdev_state *s, const char *name)
{
	AUTO_FD fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct look l = {.state = s, .fd = fd, .name = name};

	look_at_rules(&l);
	look_at_hash_fields(&l);
	look_at_tunables(&l);
	look_at_time_stamps(&l);
}

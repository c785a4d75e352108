/* nlpoll_kinds.h - what differs between the kinds of targets. Private to nlpoll*.c. */
#pragma once

#include "nldev.h"
#include "nlpoll.h"

struct nlpoll_kind_ops {
	int protocol; /* NETLINK_* */
	enum source source;
	bool slow;
	/* family: id of generic netlink's "ethtool"; NULL when out of memory */
	struct nl_msg *(*request)(const struct nlpoll_id *, uint16_t family);
	/* Negative: not an answer of this kind, or malformed. */
	int (*decode)(const struct nlmsghdr *, uint16_t family, named_value_fn *, void *arg);
};

extern const struct nlpoll_kind_ops nlpoll_kinds[N_POLL_KINDS];

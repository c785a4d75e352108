/* nlmsg_build.h - what builders of netlink requests end with. */
#pragma once

#include <netlink/msg.h>

/* The message, when all of it fitted (r == 0); otherwise it is freed, and NULL, which it may be
 * from the start. */
static inline struct nl_msg *nlmsg_finished(struct nl_msg *msg, int r)
{
	if (r == 0)
		return msg;
	nlmsg_free(msg);
	return NULL;
}

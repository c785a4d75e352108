/* default_routes.h - which of our own namespace's netdevs the node's default routes leave through.
 *
 * Only the main table counts, and only routes for everything (0.0.0.0/0, ::/0): the tables that
 * rules lead to are somebody's special case. */
#pragma once

#include "hw.h"
#include "nlsock.h"

/* Sets default_route of the host's own netdevs, over rtnetlink. s: a socket to ask on. A node with
 * many IPv4 routes does not pay for them: the kernel tells the default routes first. */
int default_routes_read(struct nlsock *s, struct host *, struct err *);
/* The same from net/route and net/ipv6_route below the proc root. -ENOENT: neither is there. */
int default_routes_read_proc(const struct hw *, struct host *);

/* Pure: one line of these files. True: it is a default route; through which device is in ret. */
bool route_line(const char *line, char ret[IFNAMSIZ]);
bool route_line_v6(const char *line, char ret[IFNAMSIZ]);

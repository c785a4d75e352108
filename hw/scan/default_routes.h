/* SPDX-License-Identifier: Apache-2.0 */
/* default_routes.h - finds the netdevs of our own namespace that the node's default routes use.
 *
 * Considers only the main table, and only 0.0.0.0/0 and ::/0: tables selected by rules are for
 * special cases. */
#pragma once

#include "hw.h"
#include "nlsock.h"

/* Sets default_route of the host's own netdevs, over the rtnetlink socket s. Cheap even with many
 * IPv4 routes: the kernel reports the default routes first. */
int default_routes_read(struct nlsock *s, struct host *, struct err *);
/* Like default_routes_read(), from net/route and net/ipv6_route below the proc root. -ENOENT:
 * neither exists. */
int default_routes_read_proc(const struct hw *, struct host *);

/* Pure: parses one line of these files. True: it is a default route; ret is its netdev. */
bool route_line(const char *line, char ret[IFNAMSIZ]);
bool route_line_v6(const char *line, char ret[IFNAMSIZ]);

/* settings_read.h - what the host's RoCE ports are set to, read from the kernel for all of them at
 * once; never set.
 *
 * DCB and pause are the port's, which VFs and sub-functions share with their PF: theirs is what the
 * PF's netdev says. So is PCIe. A netdev that was moved out of our namespace, or a bond, tells
 * nothing. */
#pragma once

#include "hw.h"
#include "port_settings.h"

struct settings_row {
	char device[RDMA_NAME_SIZE];
	uint32_t port;
	struct port_settings settings;
};

struct settings_table {
	struct settings_row *rows; /* one for each port, in the order that settings_of() needs */
	size_t n;
};

/* Blocks: for a firmware command per PF on some NICs, as any netlink request while a driver holds
 * the RTNL, and with a kernel that does not answer for seconds. What cannot be read is unknown,
 * part by part. -ENOMEM is the only failure, *ret is empty then. */
int settings_read(const struct hw *, const struct host *, struct settings_table *ret);
void settings_done(struct settings_table *);
/* Of that port, borrowed; NULL: the table has none. */
const struct port_settings *settings_of(const struct settings_table *, const char *device,
					uint32_t port);

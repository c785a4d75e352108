/* ethtool.h - a driver's own statistics (ethtool -S), by ioctl.
 *
 * The kernel copies as many names or values as the driver has at that moment, whatever room it was
 * offered (linux/net/ethtool/ioctl.c, ethtool_get_stats), and drivers add queues at any time. So
 * the buffer ends at a page that may not be touched: what does not fit is -EFAULT. */
#pragma once

#include <net/if.h>
#include <stddef.h>
#include <stdint.h>

struct ethtool {
	int fd;	   /* -1 = closed */
	void *map; /* one buffer for all calls */
};

#define ETHTOOL_CLOSED ((struct ethtool){.fd = -1})

/* Opens on first use; 0 or a negative errno. */
int ethtool_open(struct ethtool *);
void ethtool_close(struct ethtool *);

/* Names, ETH_GSTRING_LEN (32) bytes each and not always terminated; borrowed until the next call.
 * Returns their number; -EOPNOTSUPP: the driver has none. */
int ethtool_names(struct ethtool *, const char *ifname, const char (**ret)[32]);
/* Values in the order of the names, `expected` of them; borrowed until the next call. -ESTALE: the
 * driver has another number of statistics by now, the names are to be read again. */
int ethtool_values(struct ethtool *, const char *ifname, uint32_t expected, const uint64_t **ret);

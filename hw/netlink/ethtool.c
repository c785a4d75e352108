#include "ethtool.h"

#include <errno.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#define ROOM  (4u << 20) /* untouched pages cost nothing */
#define GUARD 65536u	 /* a multiple of every page size */

_Static_assert(ETH_GSTRING_LEN == 32, "the header says so");

static int map_buffer(struct ethtool *et)
{
	char *p = mmap(NULL, ROOM + GUARD, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return -errno;
	if (mprotect(p, ROOM, PROT_READ | PROT_WRITE) < 0) {
		munmap(p, ROOM + GUARD);
		return -ENOMEM;
	}
	et->map = p;
	return 0;
}

int ethtool_open(struct ethtool *et)
{
	int r;

	if (et->fd >= 0)
		return 0;
	r = map_buffer(et);
	if (r < 0)
		return r;
	et->fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (et->fd < 0) {
		r = -errno;
		munmap(et->map, ROOM + GUARD);
		*et = ETHTOOL_CLOSED;
		return r;
	}
	return 0;
}

void ethtool_close(struct ethtool *et)
{
	if (et->fd < 0)
		return;
	close(et->fd);
	munmap(et->map, ROOM + GUARD);
	*et = ETHTOOL_CLOSED;
}

static int call(struct ethtool *et, const char *ifname, void *data)
{
	struct ifreq ifr = {.ifr_data = data};

	strncpy(ifr.ifr_name, ifname, sizeof(ifr.ifr_name) - 1);
	return ioctl(et->fd, SIOCETHTOOL, &ifr) < 0 ? -errno : 0;
}

/* How many statistics the driver has now. */
static int count(struct ethtool *et, const char *ifname, uint32_t *ret)
{
	struct ethtool_sset_info *info = et->map;
	int r;

	*info = (struct ethtool_sset_info){.cmd = ETHTOOL_GSSET_INFO,
					   .sset_mask = UINT64_C(1) << ETH_SS_STATS};
	r = call(et, ifname, info);
	if (r < 0)
		return r;
	if (!info->sset_mask || !info->data[0])
		return -EOPNOTSUPP;
	*ret = info->data[0];
	return 0;
}

int ethtool_names(struct ethtool *et, const char *ifname, const char (**ret)[32])
{
	struct ethtool_gstrings *names = et->map;
	uint32_t n = 0;
	int r = count(et, ifname, &n);

	if (r < 0)
		return r;
	*names = (struct ethtool_gstrings){
		.cmd = ETHTOOL_GSTRINGS, .string_set = ETH_SS_STATS, .len = n};
	r = call(et, ifname, names);
	if (r < 0)
		return r;
	if (names->len > (ROOM - sizeof(*names)) / ETH_GSTRING_LEN)
		return -EFAULT;
	*ret = (const void *)names->data;
	return (int)names->len;
}

int ethtool_values(struct ethtool *et, const char *ifname, uint32_t expected, const uint64_t **ret)
{
	struct ethtool_stats *stats = et->map;
	int r;

	*stats = (struct ethtool_stats){.cmd = ETHTOOL_GSTATS, .n_stats = expected};
	r = call(et, ifname, stats);
	if (r < 0)
		return r;
	if (stats->n_stats != expected)
		return -ESTALE;
	*ret = (const uint64_t *)(const void *)stats->data;
	return 0;
}

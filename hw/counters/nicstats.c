// SPDX-License-Identifier: Apache-2.0
#include "nicstats.h"

#include <errno.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "array.h"

/* --- ethtool -S ------------------------------------------------------------------------------- */

#define ETHTOOL_CLOSED ((struct ethtool){.fd = -1})

/* The kernel copies as many names or values as the driver has at that moment, ignoring the buffer's
 * size (linux/net/ethtool/ioctl.c, ethtool_get_stats), and drivers add queues at any time. So a
 * guard page follows the buffer: an overrun returns -EFAULT. */
#define ROOM  (4u << 20) /* untouched pages cost nothing */
#define GUARD 65536u	 /* a multiple of every page size */

_Static_assert(ETH_GSTRING_LEN == 32, "ethtool_names() returns names of 32 bytes");

static int map_buffer(struct ethtool *et)
{
	char *p = mmap(NULL, ROOM + GUARD, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return -ENOMEM;
	if (mprotect(p, ROOM, PROT_READ | PROT_WRITE) < 0) {
		munmap(p, ROOM + GUARD);
		return -ENOMEM;
	}
	et->map = p;
	return 0;
}

/* Opens the socket and maps the buffer on first use. */
static int ethtool_open(struct ethtool *et)
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
		return r < 0 ? r : -EIO;
	}
	return 0;
}

static void ethtool_close(struct ethtool *et)
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

	memcpy(ifr.ifr_name, ifname, strnlen(ifname, sizeof(ifr.ifr_name) - 1));
	return ioctl(et->fd, SIOCETHTOOL, &ifr) < 0 ? -errno : 0;
}

/* Gets the driver's current number of statistics. */
static int statistics_count(struct ethtool *et, const char *ifname, uint32_t *ret)
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

/* Gets the names of the statistics, which may be unterminated; borrowed until the next call.
 * Returns their number. */
static int ethtool_names(struct ethtool *et, const char *ifname, const char (**ret)[32])
{
	struct ethtool_gstrings *names = et->map;
	uint32_t n = 0;
	int r = statistics_count(et, ifname, &n);

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

/* Gets the values in the order of the names; borrowed until the next call. -ESTALE: the number of
 * statistics has changed, the names must be read again. */
static int ethtool_values(struct ethtool *et, const char *ifname, uint32_t expected,
			  const uint64_t **ret)
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

/* --- all netdevs ------------------------------------------------------------------------------ */

void nicstats_init(struct nicstats *ns)
{
	*ns = (struct nicstats){.ethtool = ETHTOOL_CLOSED};
}

void nicstats_done(struct nicstats *ns)
{
	for (size_t i = 0; i < ns->n; i++)
		free(ns->nics[i].picks);
	free(ns->nics);
	ethtool_close(&ns->ethtool);
	nicstats_init(ns);
}

static int pick(struct nicstats_nic *nic, const char (*names)[32], layout_slot_fn *fn, void *arg)
{
	for (uint32_t i = 0; i < nic->count; i++) {
		char name[sizeof(names[i]) + 1];
		struct nicstats_pick *p;
		uint32_t slot;

		snprintf(name, sizeof(name), "%.*s", (int)sizeof(names[i]), names[i]);
		slot = fn(name, arg);
		if (slot == NO_SLOT)
			continue;
		p = array_push(nic->picks, nic->n);
		if (!p)
			return -ENOMEM;
		*p = (struct nicstats_pick){.index = i, .slot = slot};
	}
	return 0;
}

int nicstats_add(struct nicstats *ns, const char *ifname, layout_slot_fn *fn, void *arg)
{
	const char(*names)[32] = NULL;
	struct nicstats_nic *nic;
	int n = ethtool_open(&ns->ethtool);

	if (n == 0)
		n = ethtool_names(&ns->ethtool, ifname, &names);
	if (n < 0)
		return n;
	nic = array_push(ns->nics, ns->n);
	if (!nic)
		return -ENOMEM;
	snprintf(nic->ifname, sizeof(nic->ifname), "%s", ifname);
	nic->count = (uint32_t)n;
	return pick(nic, names, fn, arg);
}

static void trim_picks(struct nicstats_nic *nic, const struct layout *l)
{
	size_t kept = 0;

	for (size_t i = 0; i < nic->n; i++) {
		struct nicstats_pick p = nic->picks[i];

		p.slot = layout_cell(l, p.slot);
		if (p.slot != NO_SLOT)
			nic->picks[kept++] = p;
	}
	nic->n = kept;
}

void nicstats_trim(struct nicstats *ns, const struct layout *l)
{
	size_t kept = 0;

	for (size_t i = 0; i < ns->n; i++) {
		trim_picks(&ns->nics[i], l);
		if (ns->nics[i].n)
			ns->nics[kept++] = ns->nics[i];
		else
			free(ns->nics[i].picks);
	}
	ns->n = kept;
}

static int read_nic(struct nicstats *ns, const struct nicstats_nic *nic, struct layout *l)
{
	const uint64_t *values = NULL;
	int r = ethtool_values(&ns->ethtool, nic->ifname, nic->count, &values);

	for (size_t i = 0; i < nic->n; i++) {
		struct widen *cell = &l->cells[nic->picks[i].slot];

		cell->ok = r == 0;
		if (cell->ok)
			cell->raw = values[nic->picks[i].index];
	}
	return r;
}

size_t nicstats_read(struct nicstats *ns, struct layout *l, bool *ret_stale)
{
	const struct cells all = {0, NO_SLOT};
	size_t asked = 0;

	return nicstats_read_cells(ns, l, &all, &asked, ret_stale);
}

size_t nicstats_read_cells(struct nicstats *ns, struct layout *l, const struct cells *cells,
			   size_t *asked, bool *ret_stale)
{
	size_t errors = 0;

	for (size_t i = 0; i < ns->n; i++) {
		int r;

		if (!cells_have(cells, ns->nics[i].picks[0].slot))
			continue;
		r = read_nic(ns, &ns->nics[i], l);
		(*asked)++;
		errors += r < 0;
		*ret_stale |= r == -ESTALE;
	}
	return errors;
}

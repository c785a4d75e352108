/* default_routes_proc.c - default routes from /proc/net, for trees that are not this machine's.
 *
 * Columns: fib_route_seq_show() in linux/net/ipv4/fib_trie.c, rt6_info_seq_show() in
 * linux/net/ipv6/ip6_fib.c. */
#include <fcntl.h>
#include <net/route.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "default_routes.h"

/* A number of 8 or 32 hex digits that is zero. */
#define ZERO8  "00000000"
#define ZERO32 ZERO8 ZERO8 ZERO8 ZERO8

static bool is_usable(const char *flags)
{
	unsigned long f = strtoul(flags, NULL, 16);

	return f & RTF_UP && !(f & RTF_REJECT);
}

static bool take_name(const char *name, char ret[IFNAMSIZ])
{
	if (strlen(name) >= IFNAMSIZ)
		return false;
	memcpy(ret, name, strlen(name) + 1);
	return true;
}

/* Interface, destination, gateway, flags, references, use, metric, mask ... */
bool route_line(const char *line, char ret[IFNAMSIZ])
{
	char name[32], dst[16], flags[16], mask[16];

	return sscanf(line, "%31s %15s %*s %15s %*s %*s %*s %15s", name, dst, flags, mask) == 4 &&
	       strcmp(dst, ZERO8) == 0 && strcmp(mask, ZERO8) == 0 && is_usable(flags) &&
	       take_name(name, ret);
}

/* Destination, its length, source, its length, next hop, metric, references, use, flags, interface.
 */
bool route_line_v6(const char *line, char ret[IFNAMSIZ])
{
	char dst[40], len[8], flags[16], name[32];

	return sscanf(line, "%39s %7s %*s %*s %*s %*s %*s %*s %15s %31s", dst, len, flags, name) ==
		       4 &&
	       strcmp(dst, ZERO32) == 0 && strcmp(len, "00") == 0 && is_usable(flags) &&
	       take_name(name, ret);
}

static void mark(struct host *h, const char *name)
{
	for (size_t i = 0; i < h->n_netdevs; i++)
		if (h->netdevs[i].nsid == NSID_HOST && strcmp(h->netdevs[i].name, name) == 0)
			h->netdevs[i].default_route = true;
}

static int read_file(const struct hw *hw, const char *path, bool (*parse)(const char *, char *),
		     struct host *h)
{
	AUTO_FD fd = openat(hw->proc_fd, path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
	char line[512], name[IFNAMSIZ];

	if (!f)
		return -errno;
	(void)take_fd(&fd); /* fclose() closes it */
	while (fgets(line, sizeof(line), f))
		if (parse(line, name))
			mark(h, name);
	fclose(f);
	return 0;
}

int default_routes_read_proc(const struct hw *hw, struct host *h)
{
	int r = read_file(hw, "net/route", route_line, h);
	int r6 = read_file(hw, "net/ipv6_route", route_line_v6, h);

	return r < 0 ? r6 : 0;
}

// SPDX-License-Identifier: Apache-2.0
/* netns_users.c - which network namespaces have processes.
 *
 * Success: the link ns/net of each process contains an inode, which is compared with the given
 * ones. Errors: a process exits during the pass (it uses none), or is not readable (then namespaces
 * not found are unknown). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mountinfo.h"
#include "netns.h"
#include "sysfs.h"

struct users {
	const struct netns_id *ids;
	size_t n;
	enum netns_use *use;
	unsigned *pid;
	bool missed;
};

static void users_note(struct users *u, uint64_t ino, unsigned pid)
{
	for (size_t i = 0; i < u->n; i++)
		if (u->ids[i].ino == ino && u->use[i] != NETNS_IN_USE) {
			u->use[i] = NETNS_IN_USE;
			u->pid[i] = pid;
		}
}

/* A zombie has no namespaces any more: ENOENT is not a miss. */
static int netns_on_process(int proc_fd, const char *name, void *arg)
{
	struct users *u = arg;
	char path[32], link[64];
	uint64_t ino;
	ssize_t n;

	if (strlen(name) > 9 || strspn(name, "0123456789") != strlen(name))
		return 0;
	snprintf(path, sizeof(path), "%s/ns/net", name);
	n = readlinkat(proc_fd, path, link, sizeof(link));
	if (n < 0 && errno != ENOENT && errno != ESRCH)
		u->missed = true;
	if (n < 0 || n == sizeof(link))
		return 0;
	link[n] = '\0';
	if (nsfs_inode(link, "net", &ino))
		users_note(u, ino, (unsigned)strtoul(name, NULL, 10));
	return 0;
}

void netns_users(const struct hw *hw, const struct netns_id *ids, size_t n, enum netns_use *ret_use,
		 unsigned *ret_pid)
{
	struct users u = {.ids = ids, .n = n, .use = ret_use, .pid = ret_pid};

	for (size_t i = 0; i < n; i++) {
		ret_use[i] = NETNS_USE_UNKNOWN;
		ret_pid[i] = 0;
	}
	if (hw->proc_fd < 0 || sysfs_list(hw->proc_fd, ".", netns_on_process, &u) < 0 || u.missed)
		return;
	for (size_t i = 0; i < n; i++)
		if (u.use[i] != NETNS_IN_USE)
			u.use[i] = NETNS_EMPTY;
}

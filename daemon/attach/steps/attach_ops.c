// SPDX-License-Identifier: Apache-2.0
/* attach_ops.c - the functions that the engine uses outside of tests. */
#include "attach_ops.h"

#include "cleanup.h"
#include "host_view.h"

static int netns_find(const struct hw *hw, const char *path, struct netns_id *ret)
{
	AUTO_FD fd = netns_open_path(hw, path, NULL);

	return fd < 0 ? fd : netns_identify(fd, path, ret);
}

static int check_host(const struct hw *hw, const char *runtime_socket, struct err *e)
{
	struct host_view view;

	host_view_read(hw, runtime_socket, &view);
	return host_view_judge(&view, e);
}

const struct attach_ops attach_real_ops = {
	.journal_open = journal_open,
	.journal_open_existing = journal_open_existing,
	.journal_close = journal_close,
	.journal_each = journal_each,
	.journal_sweep = journal_sweep,
	.journal_is_removed = journal_is_removed,
	.journal_write = journal_write,
	.journal_probe = journal_probe,
	.run = attach_run,
	.check = attach_check,
	.announce = attach_announce,
	.boot_id = boot_id_read,
	.netns_exists = netns_is_there,
	.netns_search = netns_search,
	.netns_users = netns_users,
	.check_host = check_host,
	.netns_find = netns_find,
	.ipam_start = ipam_start,
	.ipam_cancel = ipam_cancel,
	.held = holders_held,
	.granted = holders_granted,
	.sandboxes = holders_sandboxes,
	.request_lists = holders_request_all,
	.watch_sandboxes = holders_watch_sandboxes,
	.expect_sandboxes = holders_expect_sandboxes,
	.runtime = holders_runtime,
};

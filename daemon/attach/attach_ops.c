/* attach_ops.c - the real ones. */
#include "attach_ops.h"

#include <unistd.h>

#include "cleanup.h"

static int netns_find(const struct hw *hw, const char *path, struct netns_id *ret)
{
	AUTO_FD fd = netns_open_path(hw, path, NULL);

	return fd < 0 ? fd : netns_identify(fd, path, ret);
}

const struct attach_ops attach_real_ops = {
	.journal_open = journal_open,
	.journal_look = journal_look,
	.journal_close = journal_close,
	.journal_each = journal_each,
	.run = attach_run,
	.check = attach_check,
	.announce = attach_announce,
	.netns_is_alive = netns_is_alive,
	.netns_find = netns_find,
	.cri_open = cri_open,
	.cri_refresh = cri_refresh,
	.cri_expect = cri_expect,
	.cri_sandboxes = cri_sandboxes,
	.cri_status = cri_status,
	.cri_close = cri_close,
};

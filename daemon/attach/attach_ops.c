/* attach_ops.c - the real ones. */
#include "attach_ops.h"

const struct attach_ops attach_real_ops = {
	.journal_open = journal_open,
	.journal_close = journal_close,
	.journal_each = journal_each,
	.run = attach_run,
	.check = attach_check,
	.announce = attach_announce,
	.netns_is_alive = netns_is_alive,
	.cri_open = cri_open,
	.cri_refresh = cri_refresh,
	.cri_expect = cri_expect,
	.cri_sandboxes = cri_sandboxes,
	.cri_status = cri_status,
	.cri_close = cri_close,
};

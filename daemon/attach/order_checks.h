/* order_checks.h - what keeps a function from being given away by hand: somebody uses it, or the
 * node itself does. */
#pragma once

#include "engine_state.h"

/* -EBUSY: it has VFs or a macvlan, is shared and a slot is given away, or carries the node's
 * default route. -ENOMEM. */
int order_check_unused(const struct attach_engine *, const struct attach_view *,
		       const char *function, struct err *);

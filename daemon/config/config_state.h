/* config_state.h - is the configuration file, as it stands now, what rocelet goes by? Plain data.
 */
#pragma once

#include <stdbool.h>

#include "err.h"
#include "pool_config.h"

/* Zero-initialised: it is. */
struct config_state {
	struct err error;	       /* the file was refused as a whole; code 0 = it was not */
	struct pool_refusals refusals; /* of the configuration in use; the list is owned */
};

static inline bool config_state_ok(const struct config_state *c)
{
	return c->error.code == 0 && c->refusals.n == 0;
}

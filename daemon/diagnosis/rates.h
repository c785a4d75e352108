/* rates.h - counters of one port into rates, and what is no rate into NaN. Pure.
 *
 * A counter that goes backwards is one of four things: it wrapped at 2^32 (which yields a rate), it
 * started over, it was read a moment too early and steps back a little (which is no movement), or
 * many did so at once, and the port as a whole started over. A rate that the line cannot carry is
 * none. */
#pragma once

#include "observation.h"

struct rates {
	double last[N_SERIES]; /* counters, NaN = not seen yet */
	float rate[N_SERIES];  /* a second; of gauges their value; NaN = unknown */
	uint32_t ignored;      /* rates that were not believed, since the port was first seen */
	uint32_t resets;       /* times the port started over */
};

void rates_init(struct rates *);
/* interval_s: since the last update; what lies further apart than a gap may be is not asked for:
 * rates_restart() comes before then. line: bytes a second, 0 = unknown. */
void rates_update(struct rates *, const double value[N_SERIES], double interval_s, double line);
/* What was counted until now is no base for rates any more. */
void rates_restart(struct rates *);

// SPDX-License-Identifier: Apache-2.0
/* view.c - checks whether the host is visible. If parts of it are hidden, a hidden device could not
 * be distinguished from a missing one, so nothing is attached and nothing returned.
 *
 * What is missing at our start (the runtime, a mount) may appear later: the check is repeated. */
#include <string.h>

#include "attach_events.h"
#include "host_view.h"
#include "log.h"
#include "observe.h"

/* Interval of the checks while something is missing, and while nothing is. */
#define BLIND_MS  1000
#define SEEING_MS 30000

static void engine_report(struct attach_engine *e, const char *missing)
{
	char *reported = e->counters.view_error;

	if (strcmp(reported, missing) == 0)
		return;
	if (missing[0])
		engine_event(e, EVENT_WARNING, "Blind", NULL,
			     "%s Until then nothing is attached or returned", missing);
	else if (reported[0])
		log_info("attach", 0, "the host is visible now");
	snprintf(reported, sizeof(e->counters.view_error), "%s", missing);
}

/* The runtime's socket is known once the runtime has answered, or if it was configured. */
static int engine_judge(struct attach_engine *e, struct err *err)
{
	struct cri_status status = {.socket = ""};

	if (e->holders)
		e->ops->runtime(e->holders, &status);
	return e->ops->check_host(e->hw, status.socket, err);
}

static void engine_check_view(struct attach_engine *e, bool needed)
{
	const bool early = engine_now(e) < e->opened_ms + ENGINE_START_MS;
	struct err err = {0};

	e->blind = engine_judge(e, &err) < 0;
	e->view_ms = engine_now(e) + (e->blind ? BLIND_MS : SEEING_MS);
	if (needed && !(err.code == -EAGAIN && early))
		engine_report(e, err.code ? err.msg : "");
}

bool engine_sees(struct attach_engine *e, bool needed)
{
	if (e->blind || engine_now(e) >= e->view_ms)
		engine_check_view(e, needed);
	if (e->blind && needed)
		engine_tick_at(e, e->view_ms);
	return !e->blind;
}

/* view.c - is what we see the host? Without it nothing could be told from what is hidden: then
 * nothing is attached and nothing returned.
 *
 * What may be missing when we start (the runtime, a mount) is looked for again. */
#include <string.h>

#include "attach_events.h"
#include "host_view.h"
#include "log.h"
#include "observe.h"

/* While something is missing, and while nothing is. */
#define BLIND_MS  1000
#define SEEING_MS 30000

static void engine_tell(struct attach_engine *e, const char *missing)
{
	char *told = e->counters.view_error;

	if (strcmp(told, missing) == 0)
		return;
	if (missing[0])
		engine_event(e, EVENT_WARNING, "Blind", NULL,
			     "%s Until then nothing is attached and nothing taken back", missing);
	else if (told[0])
		log_info("attach", 0, "the host can be seen now");
	snprintf(told, sizeof(e->counters.view_error), "%s", missing);
}

/* Which socket it is is known once the runtime has answered, or when it was named. */
static int engine_judge(struct attach_engine *e, struct err *err)
{
	struct cri_status status = {.socket = ""};

	if (e->holders)
		e->ops->runtime(e->holders, &status);
	return e->ops->look_at_host(e->hw, status.socket, err);
}

static void engine_look(struct attach_engine *e, bool needed)
{
	const bool early = engine_now(e) < e->opened_ms + ENGINE_START_MS;
	struct err err = {0};

	e->blind = engine_judge(e, &err) < 0;
	e->view_ms = engine_now(e) + (e->blind ? BLIND_MS : SEEING_MS);
	if (needed && !(err.code == -EAGAIN && early))
		engine_tell(e, err.code ? err.msg : "");
}

bool engine_sees(struct attach_engine *e, bool needed)
{
	if (e->blind || engine_now(e) >= e->view_ms)
		engine_look(e, needed);
	if (e->blind && needed)
		engine_due(e, e->view_ms);
	return !e->blind;
}

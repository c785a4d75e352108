// SPDX-License-Identifier: Apache-2.0
#include "journal_heal.h"

#include <stdlib.h>
#include <string.h>

#include "engine_state.h"
#include "job.h"
#include "log.h"
#include "operation.h"

#define HEAL_MS 5000

struct heal {
	struct attach_engine *engine;
	struct job job;
	struct journal *journal;
	char error[sizeof(((struct attach_counters *)0)->journal_error)]; /* when the probe began */
	int result;
	struct err err;
};

static void heal_run(void *arg)
{
	struct heal *h = arg;

	h->result = h->engine->ops->journal_probe(h->journal, &h->err);
}

static void on_healed(void *arg)
{
	struct heal *h = arg;
	struct attach_engine *e = h->engine;
	struct attach_counters *c = &e->counters;

	e->probed = NULL;
	if (!e->closing)
		operations_close_unused(e, h->journal);
	if (h->result == 0 && h->journal == e->journal && strcmp(c->journal_error, h->error) == 0) {
		log_info("attach", 0, "the journal can be written again; it failed with: %s",
			 h->error);
		c->journal_error[0] = '\0';
	}
	free(h);
	if (e->closing)
		engine_release_if_done(e);
	else
		engine_soon(e);
}

void journal_heal(struct attach_engine *e)
{
	struct heal *h;

	if (!e->journal || !e->counters.journal_error[0] || e->probed || e->walk || e->remake ||
	    e->dry_run)
		return;
	if (engine_now(e) < e->probe_ms) {
		engine_tick_at(e, e->probe_ms);
		return;
	}
	e->probe_ms = engine_now(e) + HEAL_MS;
	engine_tick_at(e, e->probe_ms);
	h = calloc(1, sizeof(*h));
	if (!h)
		return;
	h->engine = e;
	h->journal = e->probed = e->journal;
	memcpy(h->error, e->counters.journal_error, sizeof(h->error));
	job_begin(&h->job, e->loop, "the test write to the journal", heal_run, on_healed, h);
}

// SPDX-License-Identifier: Apache-2.0
/* settings_watch.c - see settings_watch.h.
 *
 * Success: refresh -> borrow the host -> read on a worker -> call the hook if the table changed.
 * Failures: out of memory (the last table stays, the next call tries again). */
#include "settings_watch.h"

#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "job.h"
#include "log.h"
#include "settings_read.h"

struct settings_watch {
	struct uv_loop_s *loop;
	const struct hw *hw;
	struct inventory *inventory;
	uint32_t pause_ms;
	settings_changed_fn *changed;
	void *arg;
	struct settings_table table;
	struct job work;
	uint64_t began_ms;
	bool began, closing;

	/* Owned by the worker while it runs. */
	struct host_ref *host_ref;
	struct settings_table read;
	int result;
};

static void settings_watch_free(struct settings_watch *w)
{
	settings_done(&w->table);
	free(w);
}

static void read_on_worker(void *arg)
{
	struct settings_watch *w = arg;

	w->result = settings_read(w->hw, &w->host_ref->host, &w->read);
}

static void settings_watch_on_read(void *arg)
{
	struct settings_watch *w = arg;
	bool changed = w->result == 0 && !settings_equal(&w->table, &w->read);

	host_ref_put(w->host_ref);
	w->host_ref = NULL;
	if (w->result < 0)
		log_warn("settings", w->result, "cannot read the settings of ports; retrying");
	if (changed) {
		settings_done(&w->table);
		w->table = w->read;
	} else {
		settings_done(&w->read);
	}
	w->read = (struct settings_table){0};
	if (w->closing)
		settings_watch_free(w);
	else if (changed)
		w->changed(w->arg);
}

void settings_watch_refresh(struct settings_watch *w)
{
	uint64_t now = w ? uv_now(w->loop) : 0;

	if (!w || w->work.running || (w->began && now - w->began_ms < w->pause_ms))
		return;
	w->host_ref = inventory_borrow(w->inventory);
	if (!w->host_ref)
		return;
	w->began = true;
	w->began_ms = now;
	job_begin(&w->work, w->loop, "reading settings of ports", read_on_worker,
		  settings_watch_on_read, w);
}

const struct settings_table *settings_watch_table(const struct settings_watch *w)
{
	return &w->table;
}

int settings_watch_open(struct settings_watch **ret, struct uv_loop_s *loop, const struct hw *hw,
			struct inventory *inventory, uint32_t pause_ms,
			settings_changed_fn *changed, void *arg, struct err *e)
{
	struct settings_watch *w = calloc(1, sizeof(*w));

	if (!w)
		return err_set(e, -ENOMEM, "settings: out of memory");
	w->loop = loop;
	w->hw = hw;
	w->inventory = inventory;
	w->pause_ms = pause_ms;
	w->changed = changed;
	w->arg = arg;
	*ret = w;
	return 0;
}

void settings_watch_close(struct settings_watch *w)
{
	if (!w)
		return;
	w->closing = true;
	if (!w->work.running)
		settings_watch_free(w);
}

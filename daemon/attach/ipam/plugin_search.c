// SPDX-License-Identifier: Apache-2.0
/* plugin_search.c - see plugin_search.h. */
#include "plugin_search.h"

#include <stdlib.h>
#include <string.h>

#include "ipam_needs.h"
#include "job.h"
#include "timer.h"

/* rocelet-cni waits 5 s for the reply to a STATUS. */
#define SEARCH_MS 2000

struct plugin_wait {
	struct plugin_wait *next;
	char type[IPAM_TYPE_SIZE];
	uint64_t until_ms;
	plugin_search_fn *fn;
	void *arg;
};

struct plugin_search {
	uv_loop_t *loop;
	const char *folders;
	struct timer timer;
	struct plugin_wait *waits; /* oldest first */
	bool closing, timer_closed;
	struct job job;
	/* used by the job */
	char type[IPAM_TYPE_SIZE];
	bool exists;
};

static void plugin_search_on_done(void *arg);

static void plugin_search_release_if_done(struct plugin_search *s)
{
	if (s->timer_closed && !s->job.running)
		free(s);
}

/* Ends each search for which `ends` is true; NULL: all. */
static void plugin_search_end(struct plugin_search *s,
			      bool (*ends)(const struct plugin_search *,
					   const struct plugin_wait *),
			      const struct err *err)
{
	struct plugin_wait **at = &s->waits, *ended = NULL, **last = &ended, *w;

	while ((w = *at)) {
		if (ends && !ends(s, w)) {
			at = &w->next;
			continue;
		}
		*at = w->next;
		w->next = NULL;
		*last = w;
		last = &w->next;
	}
	while ((w = ended)) {
		ended = w->next;
		w->fn(err, w->arg);
		free(w);
	}
}

/* --- the job ---------------------------------------------------------------------------------- */

static void plugin_search_run(void *arg)
{
	struct plugin_search *s = arg;

	s->exists = ipam_plugin_exists(s->folders, s->type);
}

static void plugin_search_describe(const void *arg, char *ret, size_t size)
{
	const struct plugin_search *s = arg;

	snprintf(ret, size, "the search for IPAM plugin %s in %.80s", s->type, s->folders);
}

static void plugin_search_next(struct plugin_search *s)
{
	if (s->closing || s->job.running || !s->waits)
		return;
	memcpy(s->type, s->waits->type, sizeof(s->type));
	job_begin(&s->job, s->loop, "the search for an IPAM plugin", plugin_search_run,
		  plugin_search_on_done, s);
	s->job.describe = plugin_search_describe;
}

static bool is_of_this_type(const struct plugin_search *s, const struct plugin_wait *w)
{
	return strcmp(s->type, w->type) == 0;
}

static void plugin_search_on_done(void *arg)
{
	struct plugin_search *s = arg;
	struct err err = {0};

	if (!s->exists)
		err_set(&err, -ENOENT, "no IPAM plugin \"%s\" in %s", s->type, s->folders);
	plugin_search_end(s, is_of_this_type, &err);
	plugin_search_next(s);
	plugin_search_release_if_done(s);
}

/* --- deadlines -------------------------------------------------------------------------------- */

static bool is_over(const struct plugin_search *s, const struct plugin_wait *w)
{
	return w->until_ms <= uv_now(s->loop);
}

static void plugin_search_on_timer(void *arg)
{
	struct plugin_search *s = arg;
	struct err err;

	err_set(&err, -ETIMEDOUT, "the folders of IPAM plugins, %s, do not answer", s->folders);
	plugin_search_end(s, is_over, &err);
	if (s->waits)
		timer_at(&s->timer, s->waits->until_ms);
}

/* --- interface -------------------------------------------------------------------------------- */

struct plugin_search *plugin_search_new(struct uv_loop_s *loop, const char *folders)
{
	struct plugin_search *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->loop = loop;
	s->folders = folders;
	timer_init(&s->timer, loop, plugin_search_on_timer, s);
	return s;
}

static void plugin_search_on_closed(void *arg)
{
	struct plugin_search *s = arg;

	s->timer_closed = true;
	plugin_search_release_if_done(s);
}

void plugin_search_close(struct plugin_search *s)
{
	struct err err;

	if (!s)
		return;
	s->closing = true;
	err_set(&err, -ECANCELED, "rocelet is stopping");
	plugin_search_end(s, NULL, &err);
	timer_close(&s->timer, plugin_search_on_closed);
}

int plugin_search_begin(struct plugin_search *s, const char *type, plugin_search_fn *fn, void *arg)
{
	struct plugin_wait *w = calloc(1, sizeof(*w)), **last = &s->waits;

	if (!w)
		return -ENOMEM;
	snprintf(w->type, sizeof(w->type), "%s", type);
	w->until_ms = uv_now(s->loop) + SEARCH_MS;
	w->fn = fn;
	w->arg = arg;
	while (*last)
		last = &(*last)->next;
	*last = w;
	timer_within(&s->timer, SEARCH_MS);
	plugin_search_next(s);
	return 0;
}

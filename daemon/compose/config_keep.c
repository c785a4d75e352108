// SPDX-License-Identifier: Apache-2.0
/* config_keep.c - keeps the text of the configuration in use in the state folder, on a worker: the
 * folder may be on a file system that does not answer. Only the newest text is written. A daemon
 * that ends on a node whose devices are all free removes it, so that nothing is left of a rocelet
 * that was uninstalled. */
#include <stdlib.h>

#include "config_good.h"
#include "daemon.h"
#include "log.h"
#include "pools_lost.h"
#include "resources.h"

struct config_keep {
	struct daemon *daemon;
	struct job job;
	struct config_file file;
	int result;
	struct err err;
};

/* --- keep ------------------------------------------------------------------------------------- */

static void config_keep_run(void *arg)
{
	struct config_keep *k = arg;

	k->result = config_good_write(k->daemon->options->state_dir, k->file.text, k->file.len,
				      &k->err);
}

static void config_keep_on_done(void *arg);

/* Takes the text. */
static void config_keep_begin(struct daemon *d, struct config_file *file)
{
	struct config_keep *k = calloc(1, sizeof(*k));

	if (!k) {
		log_warn("config", 0, "out of memory, not keeping the last good configuration");
		config_file_done(file);
		return;
	}
	k->daemon = d;
	k->file = *file;
	*file = (struct config_file){0};
	d->keeps_config = true;
	job_begin(&k->job, &d->loop, "keeping the configuration", config_keep_run,
		  config_keep_on_done, k);
}

static void config_keep_on_done(void *arg)
{
	struct config_keep *k = arg;
	struct daemon *d = k->daemon;

	d->keeps_config = false;
	if (k->result < 0)
		log_warn("config", 0,
			 "%s: the last good configuration is not kept, so a restart with a wrong "
			 "file would offer nothing",
			 k->err.msg);
	config_file_done(&k->file);
	free(k);
	if (d->keep_next.text)
		config_keep_begin(d, &d->keep_next);
}

void config_keep(struct daemon *d, struct config_file *file)
{
	if (!file->text || d->config.refusals.n > 0 || !options_keep_config(d->options)) {
		config_file_done(file);
	} else if (d->keeps_config) {
		config_file_done(&d->keep_next);
		d->keep_next = *file;
		*file = (struct config_file){0};
	} else {
		config_keep_begin(d, file);
	}
}

/* --- the end ---------------------------------------------------------------------------------- */

static void config_keep_run_remove(void *arg)
{
	struct config_keep *k = arg;

	k->result = config_good_remove(k->daemon->options->state_dir, &k->err);
}

static void config_keep_on_removed(void *arg)
{
	struct config_keep *k = arg;

	if (k->result < 0)
		log_warn("config", 0, "the last good configuration was not removed: %s",
			 k->err.msg);
	free(k);
}

/* True if no pod has a device, as far as the kubelet says, and none is in a pod or in transit. */
static bool config_keep_is_idle(const struct daemon *d)
{
	const struct resource_table *t = resources_table(d->resources);
	const struct attach_status *attachments;

	if (t->held.source == POD_SOURCE_NONE || t->held_error[0])
		return false;
	if (d->engine &&
	    (!attach_engine_is_ready(d->engine) || attach_engine_list(d->engine, &attachments) > 0))
		return false;
	for (size_t i = 0; i < t->n_resources; i++)
		if (pools_lost_held(t, t->resources[i].name) > 0)
			return false;
	return true;
}

void config_keep_end(struct daemon *d)
{
	struct config_keep *k;

	if (d->hands_over || d->keeps_config || !options_keep_config(d->options) ||
	    !config_state_ok(&d->config) || !config_keep_is_idle(d))
		return;
	k = calloc(1, sizeof(*k));
	if (!k)
		return;
	k->daemon = d;
	job_begin(&k->job, &d->loop, "removing the last good configuration", config_keep_run_remove,
		  config_keep_on_removed, k);
}

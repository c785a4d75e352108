// SPDX-License-Identifier: Apache-2.0
/* config_keep.c - keeps the text of the configuration in use in the state folder, on a worker: the
 * folder may be on a file system that does not answer. Only the newest text is written. */
#include <stdlib.h>

#include "config_good.h"
#include "daemon.h"
#include "log.h"

struct config_keep {
	struct daemon *daemon;
	struct job job;
	struct config_file file;
	int result;
	struct err err;
};

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

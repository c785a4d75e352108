// SPDX-License-Identifier: Apache-2.0
/* config_keep.c - keeps the configuration in use in the state folder, on a worker: the folder may be
 * on a file system that does not answer. Only the newest text is written. */
#include <stdlib.h>

#include "config_good.h"
#include "daemon.h"
#include "log.h"

struct config_keep {
	struct daemon *daemon;
	struct job job;
	struct config_file file;
	char *state_dir;
	int result;
	struct err err;
};

static void config_keep_run(void *arg)
{
	struct config_keep *k = arg;

	k->result = config_good_write(k->state_dir, k->file.text, k->file.len, &k->err);
}

static void config_keep_on_done(void *arg)
{
	struct config_keep *k = arg;
	struct daemon *d = k->daemon;
	struct config_file next = d->keep_next;
	bool again = d->keeps_again;

	if (k->result < 0)
		log_warn("config", 0,
			 "%s, after a restart with a wrong file there is no last good one",
			 k->err.msg);
	config_file_done(&k->file);
	free(k->state_dir);
	free(k);
	d->keeps = d->keeps_again = false;
	d->keep_next = (struct config_file){0};
	if (again)
		config_keep(d, &next);
}

void config_keep(struct daemon *d, struct config_file *file)
{
	struct config_keep *k;

	if (!options_keep_config(d->options) || options_change_nothing(d->options)) {
		config_file_done(file);
		return;
	}
	if (d->keeps) {
		config_file_done(&d->keep_next);
		d->keep_next = *file;
		*file = (struct config_file){0};
		d->keeps_again = true;
		return;
	}
	k = calloc(1, sizeof(*k));
	if (!k || !(k->state_dir = strdup(d->options->state_dir))) {
		free(k);
		config_file_done(file);
		return;
	}
	k->daemon = d;
	k->file = *file;
	*file = (struct config_file){0};
	d->keeps = true;
	job_begin(&k->job, &d->loop, "keeping the configuration", config_keep_run,
		  config_keep_on_done, k);
}

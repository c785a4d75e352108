// SPDX-License-Identifier: Apache-2.0
/* features_wiring.c - keeps the file of Node Feature Discovery (--features-dir) up to date. A
 * worker writes it when a label changes, and every REFRESH_MS, because NFD ignores the file
 * EXPIRY_MS after the last write. So the labels of a node vanish if its daemon ends or hangs. */
#include <stdlib.h>
#include <unistd.h>

#include "cleanup.h"
#include "daemon.h"
#include "device_files.h"
#include "diagnosis_report.h"
#include "job.h"
#include "log.h"
#include "node.h"
#include "node_features.h"
#include "unix_time.h"

/* Pause between checks of the labels. NFD reads its files once a minute. */
#define CHECK_MS   5000
#define REFRESH_MS 300000
#define EXPIRY_MS  900000
/* A report older than this is ignored. */
#define STALE_MS   30000
/* A restarted daemon has no verdict yet. For this time the file of its predecessor is kept, so that
 * a restart changes no label. */
#define HOLD_MS	   120000

struct features {
	struct daemon *daemon;
	struct timer timer;
	struct job job;
	struct device_folder folder;
	char labels[NODE_FEATURES_SIZE]; /* of the last write that succeeded */
	char wanted[NODE_FEATURES_SIZE]; /* of the write in progress */
	char *text;			 /* contents of the file for that write */
	bool holds;			 /* an existing file is not changed */
	bool is_timer_closed, closing;
	uint64_t written_ms;
	int result; /* of device_files_write(); 0 also if the file was not changed */
	struct err err;
};

static void features_job(void *arg)
{
	struct features *f = arg;
	char path[OPTION_TEXT_SIZE + sizeof(NODE_FEATURES_FILE) + 1];

	snprintf(path, sizeof(path), "%s/" NODE_FEATURES_FILE, f->folder.path);
	f->err = (struct err){0};
	f->result = f->holds && access(path, F_OK) == 0
			    ? 0
			    : device_files_write(&f->folder, NODE_FEATURES_FILE, f->text, &f->err);
}

/* Removes the file with the shutdown policy "zero", because the daemon then ends permanently. */
static void features_remove(struct features *f)
{
	const struct options *o = f->daemon->options;
	struct err e = {0};

	if (o->shutdown_policy == SHUTDOWN_ZERO && !f->daemon->hands_over &&
	    device_files_remove(&f->folder, NODE_FEATURES_FILE, &e) < 0)
		log_warn("features", 0, "%s, it expires within %d min", e.msg, EXPIRY_MS / 60000);
}

static void features_free_if_done(struct features *f)
{
	if (f->job.running || !f->is_timer_closed)
		return;
	features_remove(f);
	free(f->text);
	free(f);
}

static void features_failed(struct features *f)
{
	struct err *known = &f->daemon->features_error;

	if (strcmp(known->msg, f->err.msg) != 0)
		log_warn("features", 0, "%s, node labels are not updated; trying again",
			 f->err.msg);
	*known = f->err;
}

static void on_features(void *arg)
{
	struct features *f = arg;

	free(take_ptr(f->text));
	if (f->closing) {
		features_free_if_done(f);
		return;
	}
	if (f->result < 0) {
		features_failed(f);
		return;
	}
	if (f->daemon->features_error.code)
		log_info("features", 0, "%s/" NODE_FEATURES_FILE " is written again",
			 f->folder.path);
	f->daemon->features_error = (struct err){0};
	if (f->holds && f->result == 0)
		return;
	memcpy(f->labels, f->wanted, sizeof(f->labels));
	f->written_ms = uv_now(&f->daemon->loop);
}

static const struct diagnosis_report *features_report(const struct daemon *d, uint64_t now_ms)
{
	const struct diagnosis_report *r = d->routes.diagnosis;
	uint64_t stale_ms = 10 * (uint64_t)d->options->sample_interval_ms;

	if (stale_ms < STALE_MS)
		stale_ms = STALE_MS;
	return r && now_ms < r->now_ms + stale_ms ? r : NULL;
}

static void features_begin(struct features *f, uint64_t now_ms)
{
	struct daemon *d = f->daemon;

	f->text = node_features_file(f->wanted, unix_ms() + EXPIRY_MS);
	if (!f->text)
		return; /* the next check tries again */
	f->holds = !f->labels[0] && now_ms + d->routes.epoch_ms < d->start_unix_ms + HOLD_MS &&
		   strstr(f->wanted, "verdict=unknown");
	job_begin(&f->job, &d->loop, "the file for Node Feature Discovery", features_job,
		  on_features, f);
}

static void features_check(void *arg)
{
	struct features *f = arg;
	struct daemon *d = f->daemon;
	uint64_t now_ms = uv_now(&d->loop);

	timer_in(&f->timer, CHECK_MS);
	if (f->job.running || !node_knows_devices(d->node))
		return;

	const struct node_features_input in = {
		.host = &node_inventory(d->node)->host,
		.report = features_report(d, now_ms),
		.config_digest = d->source.digest,
		.config_group = d->source.group,
	};

	node_features_labels(&in, f->wanted);
	if (strcmp(f->wanted, f->labels) != 0 || now_ms - f->written_ms >= REFRESH_MS)
		features_begin(f, now_ms);
}

int features_start(struct daemon *d, struct err *e)
{
	struct features *f;

	if (!d->options->features_dir[0])
		return 0;
	f = calloc(1, sizeof(*f));
	if (!f)
		return err_set(e, -ENOMEM, "out of memory");
	f->daemon = d;
	f->folder = (struct device_folder){d->options->features_dir, d->options->dry_run};
	timer_init(&f->timer, &d->loop, features_check, f);
	timer_in(&f->timer, CHECK_MS);
	d->features = f;
	d->routes.features_error = &d->features_error;
	return 0;
}

static void on_features_closed(void *arg)
{
	struct features *f = arg;

	f->is_timer_closed = true;
	features_free_if_done(f);
}

void features_stop(struct daemon *d)
{
	struct features *f = take_ptr(d->features);

	d->routes.features_error = NULL;
	if (!f)
		return;
	f->closing = true;
	timer_close(&f->timer, on_features_closed);
}

// SPDX-License-Identifier: Apache-2.0
/* engine_start.c - takes over the attachments of the previous process from its journal. Creates the
 * journal again if its folder was removed.
 *
 * Success: the files are read on a worker, each record becomes an attachment, and the next decision
 * returns interrupted devices and keeps those that are in their pods. Failures: no folder
 * (retried); unreadable files (their devices count as bad until they are found). */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "array.h"
#include "attach_events.h"
#include "cleanup.h"
#include "engine_start.h"
#include "job.h"
#include "log.h"
#include "operation.h"

#define RETRY_MS 5000

struct bad_file {
	char key[RESOURCE_NAME_SIZE + PLUGIN_ID_SIZE];
	struct err err;
};

/* Owned by the worker, then by the loop. */
struct journal_walk {
	struct attach_engine *engine;
	struct job job;
	struct attach_record *kept; /* records from the removed folder, to be written again */
	size_t n_kept;
	struct attach_record *records;
	size_t n_records;
	struct bad_file *bad;
	size_t n_bad;
	uint64_t serial;
	int result;
	struct err err;
	struct err unwritable; /* code 0: writable */
};

/* --- on the worker ---------------------------------------------------------------------------- */

static bool journal_is_in(const struct hw *hw, const char *folder, const char *function)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", folder, function);
	return faccessat(hw->sys_fd, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static bool function_exists(const struct hw *hw, const char *function)
{
	return journal_is_in(hw, "bus/pci/devices", function) ||
	       journal_is_in(hw, "bus/auxiliary/devices", function) ||
	       journal_is_in(hw, "class/infiniband", function);
}

/* Returns > 0 to remove the file of a function that does not exist any more. */
static int journal_on_record(const struct attach_record *r, void *arg)
{
	struct journal_walk *w = arg;
	struct attach_record *copy;

	w->serial = r->serial > w->serial ? r->serial : w->serial;
	if (r->state == ATTACH_FREE)
		return !w->engine->dry_run && !function_exists(w->engine->hw, r->function);
	copy = array_push(w->records, w->n_records);
	if (!copy)
		return -ENOMEM;
	*copy = *r;
	return 0;
}

static void on_bad(const char *key, const struct err *err, void *arg)
{
	struct journal_walk *w = arg;
	struct bad_file *bad = array_push(w->bad, w->n_bad);

	if (!bad)
		return;
	snprintf(bad->key, sizeof(bad->key), "%s", key);
	bad->err = *err;
}

static void journal_walk_run(void *arg)
{
	struct journal_walk *w = arg;
	struct attach_engine *e = w->engine;

	for (size_t i = 0; i < w->n_kept && w->result == 0; i++)
		w->result = e->ops->journal_write(e->journal, &w->kept[i], true, &w->err);
	if (w->result == 0)
		w->result = e->ops->journal_each(e->journal, journal_on_record, on_bad, w, &w->err);
	/* A full disk is reported before the first attach needs it. */
	if (w->result == 0 && w->unwritable.code == 0 && !e->dry_run)
		e->ops->journal_probe(e->journal, &w->unwritable);
}

/* --- in the loop ------------------------------------------------------------------------------ */

static bool is_of_another_boot(const struct attach_record *r, const char *now)
{
	return r->boot[0] && now[0] && strcmp(r->boot, now) != 0;
}

/* Adds an attachment for a record. A recorded device stays with its owner until there is other
 * evidence. After a reboot, another namespace may have the recorded identity. */
static int journal_take_record(struct attach_engine *e, const struct attach_record *r,
			       const char *boot)
{
	struct attachment *a;

	if (attachments_find(&e->all, r))
		return 0; /* added while the journal could not be read */
	a = attachments_add(&e->all, r, engine_now(e));
	if (!a)
		return -ENOMEM;
	a->interrupted = r->state == ATTACH_ATTACHING || r->state == ATTACH_RETURNING;
	a->ipam_asked = a->announced = true;
	a->since_ms = 0;
	a->confirm_ms = engine_now(e);
	if (r->state == ATTACH_BAD)
		a->retry_ms = engine_now(e);
	if (is_of_another_boot(r, boot))
		a->why = "the node was rebooted since it was attached";
	return 0;
}

/* Adds a bad attachment for an unreadable file. Only the function's name is known, from the file's
 * name. A slot of a shared pool needs no return: its netdev is deleted together with its pod. */
static void take_bad(struct attach_engine *e, const struct bad_file *bad)
{
	struct attach_record r = {.state = ATTACH_BAD, .serial = e->serial};
	size_t len = strlen(bad->key);
	struct attachment *a;

	memcpy(r.function, bad->key, len < sizeof(r.function) ? len : sizeof(r.function) - 1);
	engine_event(e, EVENT_WARNING, "JournalBad", &r, "%s", bad->err.msg);
	if (len >= sizeof(r.function) || strchr(bad->key, ' '))
		return;
	r.origin.vf_index = -1;
	a = attachments_find(&e->all, &r) ? NULL : attachments_add(&e->all, &r, engine_now(e));
	if (!a)
		return;
	a->lost = true;
	a->why = "its journal record cannot be read";
	err_set(&a->problem, bad->err.code,
		"%s; it is not changed until the kubelet and the runtime show that no pod uses it",
		bad->err.msg);
}

static void take_all(struct attach_engine *e, const struct journal_walk *w)
{
	char boot[BOOT_ID_SIZE];

	e->ops->boot_id(e->hw, boot);
	e->serial = w->serial > e->serial ? w->serial : e->serial;
	for (size_t i = 0; i < w->n_records; i++)
		if (journal_take_record(e, &w->records[i], boot) < 0)
			log_error("attach", -ENOMEM, "%s: cannot take over its journal record",
				  w->records[i].function);
	for (size_t i = 0; i < w->n_bad; i++)
		take_bad(e, &w->bad[i]);
	if (w->n_records)
		log_info("attach", 0, "the journal has %zu devices in pods or in transit",
			 w->n_records);
}

static void walk_free(struct journal_walk *w)
{
	w->engine->walk = NULL;
	free(w->kept);
	free(w->records);
	free(w->bad);
	free(w);
}

static void journal_report_failure(struct attach_engine *e, const struct err *err)
{
	if (strcmp(e->counters.journal_error, err->msg) == 0)
		return;
	snprintf(e->counters.journal_error, sizeof(e->counters.journal_error), "%s", err->msg);
	engine_event(e, EVENT_WARNING, "JournalBad", NULL,
		     "%s; nothing is attached until it can be written", err->msg);
}

/* Schedules the next try. Meanwhile the engine decides without the journal, unless memory was
 * short. */
static void journal_try_again(struct attach_engine *e, const struct err *err)
{
	journal_report_failure(e, err);
	e->journal_read = err->code != -ENOMEM;
	operations_leave_journal(e);
	e->journal_ms = engine_now(e) + RETRY_MS;
}

static void report_remade(struct attach_engine *e, const struct journal_walk *w)
{
	if (!e->remake)
		return;
	e->remake = false;
	engine_event(
		e, EVENT_WARNING, "JournalBad", NULL,
		"%s/devices was removed: it is created again, with the records of %zu devices in "
		"pods or in transit",
		e->state_dir, w->n_kept);
}

/* Failed attaches are tried once more: the missing journal may have been the reason. */
static void forget_failures(struct attach_engine *e)
{
	for (size_t i = 0; i < e->all.n; i++)
		if (attachment_is_idle(e->all.items[i]))
			e->all.items[i]->failure = (struct err){0};
}

static void on_walked(void *arg)
{
	struct journal_walk *w = arg;
	struct attach_engine *e = w->engine;

	if (e->closing) {
		walk_free(w);
		engine_release_if_done(e);
		return;
	}
	if (w->result < 0) {
		journal_try_again(e, &w->err);
	} else {
		e->counters.journal_error[0] = '\0';
		report_remade(e, w);
		if (w->unwritable.code)
			journal_report_failure(e, &w->unwritable);
		e->journal_read = true;
		forget_failures(e);
		take_all(e, w);
	}
	walk_free(w);
	engine_soon(e);
}

/* True if the journal's folder exists. Does not create it: that is done only when it is needed. */
static bool journal_has_folder(const struct attach_engine *e)
{
	AUTO_FREE char *path = NULL;

	if (asprintf(&path, "%s/devices", e->state_dir) < 0)
		path = NULL;
	return path && access(path, F_OK) == 0;
}

static int journal_open_journal(struct attach_engine *e, struct err *err)
{
	return e->dry_run ? e->ops->journal_open_existing(&e->journal, e->state_dir, err)
			  : e->ops->journal_open(&e->journal, e->state_dir, err);
}

/* Copies the records of all devices in pods or in transit. A device whose attach has not written
 * its record yet is still in the host: the namespace is identified before that. */
static int keep_records(struct journal_walk *w, const struct attach_engine *e)
{
	for (size_t i = 0; i < e->all.n && e->remake; i++) {
		const struct attachment *a = e->all.items[i];
		struct attach_record *kept;

		if (a->lost || a->record.state == ATTACH_FREE ||
		    (a->record.state == ATTACH_ATTACHING && !a->record.owner.netns.ino))
			continue;
		kept = array_push(w->kept, w->n_kept);
		if (!kept)
			return -ENOMEM;
		*kept = a->record;
	}
	return 0;
}

void journal_begin(struct attach_engine *e, bool needed)
{
	struct journal_walk *w;
	struct err err = {0};

	e->journal_read = !needed && !journal_has_folder(e);
	if (e->journal_read)
		return;
	if (journal_open_journal(e, &err) < 0) {
		e->journal = NULL;
		journal_try_again(e, &err);
		return;
	}
	w = calloc(1, sizeof(*w));
	if (!w) {
		err_set(&err, -ENOMEM, "out of memory");
		journal_try_again(e, &err);
		return;
	}
	w->engine = e;
	w->unwritable = err;
	w->result = keep_records(w, e);
	if (w->result < 0)
		err_set(&w->err, w->result, "out of memory");
	e->walk = w;
	job_begin(&w->job, e->loop, "reading the journal", journal_walk_run, on_walked, w);
}

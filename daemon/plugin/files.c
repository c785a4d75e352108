// SPDX-License-Identifier: Apache-2.0
/* files.c - keeps the files for other programs consistent with the offers: CDI specifications for
 * the runtime, device information for Multus. The files can be written again at any time, so a
 * failure is only logged, with one exception: a container must not get a CDI name without its
 * specification. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cleanup.h"
#include "device_files.h"
#include "log.h"
#include "search.h"
#include "state.h"

/* Delay before files that could not be written are tried again. */
#define FILES_RETRY_MS 10000

static struct device_folder cdi_folder(const struct resources *r)
{
	return (struct device_folder){r->opts.cdi_dir, r->opts.dry_run};
}

static struct device_folder info_folder(const struct resources *r)
{
	return (struct device_folder){r->opts.devinfo_dir, r->opts.dry_run};
}

/* --- CDI specifications ----------------------------------------------------------------------- */

static int write_cdi(struct resources *r, const struct allocation_input *in, struct err *e)
{
	const struct device_folder folder = cdi_folder(r);
	AUTO_FREE char *text = NULL;
	AUTO_FREE char *name = NULL;

	if (!in->view->pool->cdi)
		return 0;
	if (allocation_cdi_spec(&text, &name, in) < 0)
		return err_set(e, -ENOMEM, "CDI specification: out of memory");
	return text ? device_files_write(&folder, name, text, e)
		    : device_files_remove(&folder, name, e);
}

static bool is_written(const struct resources *r, const struct pool *pool)
{
	AUTO_FREE char *name = allocation_cdi_name(pool);
	AUTO_FREE char *path = NULL;

	if (!name || asprintf(&path, "%s/%s", r->opts.cdi_dir, name) < 0) {
		path = NULL;
		return false;
	}
	return access(path, F_OK) == 0;
}

int files_ensure_cdi(const struct resource *s, const struct allocation_input *in, struct err *e)
{
	const struct pool *pool = in->view->pool;

	if (!pool->cdi || (s->has_cdi && is_written(s->owner, pool)))
		return 0;
	return write_cdi(s->owner, in, e);
}

/* True if it is a CDI specification of ours that belongs to no pool of the configuration. If out of
 * memory, no file is treated as stale. */
static bool is_stale_spec(const char *name, void *arg)
{
	struct resources *r = arg;

	if (!allocation_cdi_spec_is_ours(name))
		return false;
	for (size_t i = 0; i < r->pools.n_views; i++) {
		const struct pool *pool = r->pools.views[i].pool;
		AUTO_FREE char *own = pool->cdi ? allocation_cdi_name(pool) : NULL;

		if (pool->cdi && (!own || strcmp(own, name) == 0))
			return false;
	}
	return true;
}

/* --- device information ----------------------------------------------------------------------- */

void files_write_info(struct resources *r, const struct allocation_input *in, struct id_list ids)
{
	const struct device_folder folder = info_folder(r);

	for (size_t i = 0; i < ids.n && in->view->pool->device_info; i++) {
		AUTO_FREE char *text = NULL;
		AUTO_FREE char *name = NULL;
		struct err e = {0};

		if (allocation_device_info(&text, &name, in, ids.ids[i]) == 0 && text &&
		    device_files_write(&folder, name, text, &e) < 0)
			log_warn("resources", 0, "%s, Multus gets no information about %s", e.msg,
				 ids.ids[i]);
	}
}

static bool is_stale_info(const char *name, void *arg)
{
	struct resources *r = arg;

	return any_of(r->pools.n_views, i,
		      allocation_device_info_is_stale(&r->pools.views[i], name));
}

/* --- after each decision ---------------------------------------------------------------------- */

/* Removes the stale files of a folder. False: it must be tried again. */
static bool sweep_folder(struct resources *r, const struct device_folder *folder,
			 device_file_stale_fn *is_stale)
{
	struct err e = {0};

	if (device_files_sweep(folder, is_stale, r, &e) >= 0)
		return true;
	log_warn("resources", 0, "%s, not removing old files", e.msg);
	return false;
}

/* Removes all stale files: those of IDs and pools that no longer exist. */
static void sweep_all(struct resources *r)
{
	const struct device_folder cdi = cdi_folder(r), info = info_folder(r);
	bool swept_cdi = sweep_folder(r, &cdi, is_stale_spec),
	     swept_info = sweep_folder(r, &info, is_stale_info);

	r->to_sweep = !swept_cdi || !swept_info;
}

/* Updates the CDI specification of a resource; logs a failure once. */
static void follow_cdi(struct resources *r, struct resource *s, const struct pool_view *view)
{
	const struct allocation_input in = resources_input(r, view);
	char known[sizeof(s->files_error)];
	struct err e = {0};

	s->has_cdi = write_cdi(r, &in, &e) >= 0;
	memcpy(known, s->files_error, sizeof(known));
	snprintf(s->files_error, sizeof(s->files_error), "%.*s", (int)sizeof(s->files_error) - 1,
		 e.msg);
	if (s->has_cdi)
		return;
	timer_within(&r->hold, FILES_RETRY_MS);
	if (strcmp(known, s->files_error) != 0)
		log_warn("resources", 0, "%s, no container gets %s; trying again", e.msg, s->name);
}

void files_follow(struct resources *r)
{
	for (size_t i = 0; i < r->n_items; i++)
		follow_cdi(r, r->items[i], &r->pools.views[i]);
	if (r->to_sweep)
		sweep_all(r);
	status_follow(r);
}

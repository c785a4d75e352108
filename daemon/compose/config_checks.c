// SPDX-License-Identifier: Apache-2.0
/* config_checks.c - checks parts that the configuration needs on the node, and that may appear or
 * disappear while the daemon runs: IPAM plugins, and the file itself. The folders are searched on a
 * worker, because they may be on a file system that does not answer. */
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "daemon.h"
#include "log.h"
#include "missing_plugins.h"
#include "resources.h"
#include "search.h"

#define CHECK_MS 1000

static bool config_checks_has(const struct missing_plugin *list, size_t n,
			      const struct missing_plugin *plugin)
{
	return any_of(n, i,
		      strcmp(list[i].resource, plugin->resource) == 0 &&
			      strcmp(list[i].what, plugin->what) == 0);
}

/* Makes the list the current one, and logs the changes. Takes ownership of the list. */
static void use_missing_plugins(struct config_state *c, struct missing_plugin *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!config_checks_has(c->lacks, c->n_lacks, &list[i]))
			log_warn(
				"config", 0,
				"%s: %s, no pod gets a device of this pool until the plugin exists",
				list[i].resource, list[i].what);
	for (size_t i = 0; i < c->n_lacks; i++)
		if (!config_checks_has(list, n, &c->lacks[i]))
			log_info("config", 0, "%s: its IPAM plugin exists now",
				 c->lacks[i].resource);
	free(c->lacks);
	c->lacks = list;
	c->n_lacks = n;
}

static void report_beside(struct daemon *d, const char beside[CONFIG_BESIDE_SIZE])
{
	char sentence[CONFIG_BESIDE_SIZE + 32];

	snprintf(sentence, sizeof(sentence), "%s, offering nothing", beside);
	if (*beside && strcmp(beside, d->config.beside) != 0)
		reload_report(d, "ConfigRefused", sentence);
	memcpy(d->config.beside, beside, sizeof(d->config.beside));
}

/* --- the job ---------------------------------------------------------------------------------- */

static void config_checks_run(void *arg)
{
	struct daemon *d = arg;
	struct config_checks *c = &d->config_checks;

	c->result = missing_plugins_find(&c->lacks, &c->n_lacks, c->plugins, c->n_plugins,
					 d->options->cni_path);
	c->beside[0] = '\0';
	if (c->of_folder)
		config_beside(d->options, c->beside);
}

static void config_checks_describe(const void *arg, char *ret, size_t size)
{
	const struct daemon *d = arg;

	if (d->config_checks.n_plugins > 0)
		snprintf(ret, size, "the search for IPAM plugins in %.120s", d->options->cni_path);
	else
		snprintf(ret, size, "the search of the folder of %.120s", d->options->config);
}

static void config_checks_on_done(void *arg)
{
	struct daemon *d = arg;
	struct config_checks *c = &d->config_checks;
	struct missing_plugin *lacks = c->result == 0 ? take_ptr(c->lacks) : NULL;

	if (!d->resources || c->is_old || c->result < 0) {
		free(lacks);
	} else {
		use_missing_plugins(&d->config, lacks, lacks ? c->n_lacks : 0);
		report_beside(d, c->beside);
	}
	if (!d->resources)
		config_checks_done(d);
	else if (c->is_old)
		config_checks_begin(d);
}

static void config_checks_start(struct daemon *d)
{
	struct config_checks *c = &d->config_checks;

	c->checked_ms = uv_now(&d->loop);
	c->of_folder = d->source.digest == 0 && !d->config.error.code;
	if (!c->of_folder)
		d->config.beside[0] = '\0';
	if (c->n_plugins == 0 && !c->of_folder)
		return;
	job_begin(&c->job, &d->loop, "the search for IPAM plugins", config_checks_run,
		  config_checks_on_done, d);
	c->job.describe = config_checks_describe;
}

/* --- schedule --------------------------------------------------------------------------------- */

void config_checks_begin(struct daemon *d)
{
	struct config_checks *c = &d->config_checks;

	c->is_old = c->job.running;
	if (c->job.running)
		return;
	free(take_ptr(c->plugins));
	c->n_plugins = 0;
	if (pool_plugins_list(&c->plugins, &c->n_plugins, resources_config(d->resources)) == 0)
		config_checks_start(d);
}

void config_checks_again(struct daemon *d, uint64_t now_ms)
{
	struct config_checks *c = &d->config_checks;

	if (d->resources && !c->job.running && now_ms >= c->checked_ms + CHECK_MS)
		config_checks_start(d);
}

void config_checks_done(struct daemon *d)
{
	struct config_checks *c = &d->config_checks;

	if (c->job.running)
		return;
	free(take_ptr(c->plugins));
	c->n_plugins = 0;
}

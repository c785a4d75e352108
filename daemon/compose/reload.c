// SPDX-License-Identifier: Apache-2.0
/* reload.c - reloads the configuration while the daemon runs: it is read as at the start, and used
 * as a whole or not at all. One exception: a wrong resource in another plugin's format is rejected
 * alone, and keeps its previous definition.
 *
 * Resources, the diagnosis' limits and lost-pool take effect at once. Other options are read, too,
 * but belong to running modules: changed ones are logged and need a restart. */
#include <stdio.h>
#include <stdlib.h>

#include "config_file.h"
#include "daemon.h"
#include "job.h"
#include "log.h"
#include "node.h"
#include "node_facts.h"
#include "pool_config.h"
#include "privilege_uses.h"
#include "privileges.h"
#include "resources.h"
#include "sampler.h"
#include "search.h"
#include "secrets.h"
#include "unix_time.h"

static void reload_on_warning(const char *sentence, void *arg)
{
	(void)arg;
	log_warn("config", 0, "%s", sentence);
}

static void log_changed_options(const struct options *now, const struct options *read)
{
	char names[256];

	if (options_changed(now, read, names, sizeof(names)) > 0)
		log_warn("config", 0, "changed options take effect with the next start: %s", names);
}

/* Makes this text the document of /api/v1/config. Takes ownership of it. */
static void reload_show(struct daemon *d, char *text)
{
	free(d->config_json);
	d->config_json = text;
	d->routes.config_json = text;
	d->routes.config_generation++;
}

void reload_report(struct daemon *d, const char *reason, const char *sentence)
{
	struct event event = {.type = EVENT_WARNING, .is_answer = true};

	snprintf(event.reason, sizeof(event.reason), "%s", reason);
	event.first_ms = event.last_ms = unix_ms();
	snprintf(event.message, sizeof(event.message), "%.255s", sentence);
	daemon_event(d, &event);
}

static void reload_report_refusals(struct daemon *d)
{
	char text[POOL_REFUSAL_TEXT];

	for (size_t i = 0; i < d->config.refusals.n; i++) {
		pool_refusal_text(&d->config.refusals.list[i], text);
		reload_report(d, "ConfigRefused", text);
	}
}

static bool reload_is_logged(const struct daemon *d, const struct missing_capability *capability)
{
	return any_of(d->routes.n_missing, i,
		      strcmp(d->missing[i].name, capability->name) == 0 &&
			      strcmp(d->missing[i].stops, capability->stops) == 0);
}

/* Reports capabilities that the new configuration needs and the daemon does not have. */
static void reload_check_privileges(struct daemon *d, const struct pool_config *pools)
{
	struct missing_capability missing[MISSING_CAPABILITIES_MAX] = {0};
	size_t n = capabilities_missing(privilege_uses_now(d->options, pools),
					privileges_effective(), missing);

	for (size_t i = 0; i < n; i++)
		if (!reload_is_logged(d, &missing[i]))
			log_warn("privileges", 0, "%s is missing: %s", missing[i].name,
				 missing[i].stops);
	memcpy(d->missing, missing, sizeof(missing));
	d->routes.missing = d->missing;
	d->routes.n_missing = n;
}

/* Returns the configuration for /api/v1/config, with secrets masked. NULL: out of memory. */
static char *shown_text(const struct options *options, const struct pool_config *pools)
{
	json_t *tree = pool_config_tree(pools), *shown = json_deep_copy(tree);
	struct secrets secrets = {0};
	int r = secrets_learn(&secrets, shown);

	r = r < 0 ? r : secrets_scrub(&secrets, shown);
	secrets_done(&secrets);
	json_decref(tree);
	if (r == 0)
		return options_json(options, shown);
	json_decref(shown);
	return NULL;
}

/* Logs which group applies, if that is new. */
static void reload_log_group(const struct daemon *d, const struct config_source *source)
{
	char text[NODE_FACTS_TEXT];
	struct node_facts facts;
	bool same = strcmp(source->group, d->source.group) == 0 &&
		    source->can_match == d->source.can_match;

	if (same || !(source->can_match || d->source.can_match))
		return;
	node_facts_read(&facts, d->options->sysfs_root);
	node_facts_text(&facts, text);
	if (source->group[0])
		log_info("config", 0, "group %s applies: %s", source->group, text);
	else if (source->can_match)
		log_warn("config", 0, "no group matches, using the top level alone: %s", text);
	else
		log_info("config", 0, "no group applies any more");
}

int reload_use(struct daemon *d, struct pool_config *pools, const struct thresholds *limits,
	       const struct config_source *source, struct err *e)
{
	struct options options = *d->launch->options;
	char *text;
	struct pool_refusals refusals = pools->refusals;
	struct pool_idles idle = pools->idle;
	size_t ignored = d->options->observe ? pool_config_drop(pools) : 0;
	size_t n = pools->n_pools;

	options.diagnosis = *limits;
	text = shown_text(&options, pools);
	reload_check_privileges(d, pools);
	pools->refusals = (struct pool_refusals){0};
	pools->idle = (struct pool_idles){0};
	if (!text || resources_configure(d->resources, pools) < 0) {
		free(text);
		free(refusals.list);
		free(idle.list);
		return err_set(e, -ENOMEM, "out of memory");
	}
	reload_show(d, text);
	reload_log_group(d, source);
	d->source = *source;
	d->limits = *limits;
	if (d->sampler)
		sampler_judge_by(d->sampler, limits);
	d->n_pools = n;
	d->routes.n_to_register = d->options->dry_run ? 0 : n;
	config_state_done(&d->config);
	d->config.refusals = refusals;
	d->config.idle = idle;
	d->config.n_ignored = ignored;
	config_checks_begin(d);
	reload_report_refusals(d);
	if (ignored > 0)
		log_info("config", 0, POOLS_IGNORED, ignored);
	else
		log_info("config", 0, "%zu resource%s configured", n, n == 1 ? "" : "s");
	return 0;
}

/* -ENOENT: the file is missing, which is a mistake, or it is being replaced. To remove all
 * resources, users write a file without resources. */
static int check_file_exists(const struct daemon *d, const struct config_file *file,
			     const struct options *read, struct err *e)
{
	if (file->text || d->n_pools == 0)
		return 0;
	return err_set(e, -ENOENT, "%s was removed", read->config);
}

/* Checks whether the edit would leave a pool without devices on this node. -EBUSY with a message,
 * and d->loss: it would. */
static int reload_check_lost(struct daemon *d, const struct options *read,
			     const struct pool_config *next, struct err *e)
{
	const struct pool_config *used = resources_config(d->resources);
	int r;

	d->holds = read->lost_pool == LOST_POOL_HOLD;
	if (read->lost_pool == LOST_POOL_ACCEPT)
		return 0;
	r = pools_lost(&d->loss, resources_table(d->resources), used, next,
		       &node_inventory(d->node)->host, d->holds);
	if (r < 0)
		return err_set(e, r, "out of memory");
	if (r == 0)
		return 0;
	return err_set(e, -EBUSY, "%s: %.100s would lose all of its %zu devices on this node%s",
		       read->config, d->loss.resource, d->loss.n_devices,
		       d->holds ? ", of which pods have some" : "");
}

/* A read on a worker, and its result. The file, and IPAM plugins with --strict, may be on a file
 * system that does not answer. */
struct config_read {
	struct daemon *daemon;
	struct job job;
	bool again; /* the file has changed in the meantime */
	struct options options;
	struct config_file file;
	struct pool_config pools;
	int result; /* of the options; 0: pools_result is set, too */
	int pools_result;
	struct err err; /* of either */
};

/* Reads the options and pools. Changed options that are defaults of pools need a restart like all
 * others. */
static void config_read_run(void *arg)
{
	struct config_read *c = arg;
	const struct launch *l = c->daemon->launch;
	enum option_action action;

	c->result = options_load(&c->options, &action, &c->file, l->argc, l->argv,
				 reload_on_warning, NULL, &c->err);
	if (c->result == 0)
		c->pools_result = pool_config_load(&c->pools, &c->file, l->options,
						   reload_on_warning, NULL, &c->err);
}

static int reload(struct daemon *d, struct config_read *c, struct err *e)
{
	const struct launch *l = d->launch;
	struct config_source source = {0};
	int r = c->result;

	d->loss = (struct pool_loss){.resource = ""};
	if (r == 0)
		r = check_file_exists(d, &c->file, &c->options, e);
	if (r == 0)
		r = c->pools_result;
	if (r == 0)
		r = pool_config_keep(&c->pools, resources_config(d->resources), e);
	if (r == 0)
		r = reload_check_lost(d, &c->options, &c->pools, e);
	if (r == 0 && l->observes) {
		log_info("loop", 0, "%s is valid now: exiting, to be restarted with it",
			 c->options.config);
		uv_stop(&d->loop);
	} else if (r == 0) {
		log_changed_options(l->options, &c->options);
		source.digest = config_file_digest(&c->file);
		source.can_match = c->file.can_match;
		memcpy(source.group, c->file.group, sizeof(source.group));
		r = reload_use(d, &c->pools, &c->options.diagnosis, &source, e);
		if (r == 0)
			config_keep(d, &c->file);
	}
	return r;
}

/* Returns the part of the error message that names the configuration in use. */
static const char *reload_consequence(const struct daemon *d, bool lost)
{
	if (d->config.held)
		return "keeping the configuration in use until no pod has these devices";
	if (lost)
		return "keeping the configuration in use; \"lost-pool\": \"accept\" in the file "
		       "permits it";
	if (d->config.last_good_of[0])
		return "using the last good configuration until it is corrected";
	if (!d->config.offers_nothing)
		return "keeping the configuration in use";
	return d->launch->observes ? "only observing until it is corrected"
				   : "offering nothing until it is corrected";
}

static void reload_report_error(struct daemon *d, const struct err *why, bool lost)
{
	char sentence[sizeof(why->msg) + 128];

	d->self.reloads_failed++;
	d->config.error = *why;
	d->config.held = lost && d->holds;
	d->config.lost = lost;
	if (lost) /* the file is valid again: as after a reload of such a file */
		d->config.last_good_of[0] = '\0';
	snprintf(sentence, sizeof(sentence), "%s, %s", why->msg, reload_consequence(d, lost));
	reload_report(d, d->config.held ? "ConfigHeld" : "ConfigRefused", sentence);
}

void reload_refused(struct daemon *d, const struct err *why)
{
	memcpy(d->config.last_good_of, d->launch->last_good_of, sizeof(d->config.last_good_of));
	memcpy(d->config.no_last_good, d->launch->no_last_good.msg, sizeof(d->config.no_last_good));
	d->config.offers_nothing = !d->config.last_good_of[0];
	d->config.observes = d->launch->observes;
	reload_report_error(d, why, false);
}

static void reload_end(struct daemon *d, struct config_read *c)
{
	struct err e = c->err;

	if (reload(d, c, &e) == 0) {
		if (d->config.refusals.n > 0)
			d->self.reloads_partial++;
		else
			d->self.reloads_ok++;
		return;
	}
	reload_report_error(d, &e, d->loss.resource[0] != '\0');
}

static void config_read_on_done(void *arg)
{
	struct config_read *c = arg;
	struct daemon *d = c->daemon;
	bool again = c->again && d->resources;

	d->config_read = NULL;
	if (d->resources)
		reload_end(d, c);
	pool_config_done(&c->pools);
	config_file_done(&c->file);
	free(c);
	if (again)
		reload_now(d);
}

void reload_now(struct daemon *d)
{
	struct config_read *c;
	struct err e;

	if (d->config_read) {
		d->config_read->again = true;
		return;
	}
	c = calloc(1, sizeof(*c));
	if (!c) {
		err_set(&e, -ENOMEM, "out of memory");
		reload_report_error(d, &e, false);
		return;
	}
	c->daemon = d;
	d->config_read = c;
	job_begin(&c->job, &d->loop, "reading the configuration", config_read_run,
		  config_read_on_done, c);
}

/* With the policy "hold", the edit waits until the pods have released the devices. */
void reload_held(struct daemon *d)
{
	if (d->config.held && !d->config_read &&
	    pools_lost_held(resources_table(d->resources), d->loss.resource) == 0) {
		log_info("config", 0, "no pod has a device of %s any more: reading the file again",
			 d->loss.resource);
		reload_now(d);
	}
}

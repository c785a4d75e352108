// SPDX-License-Identifier: Apache-2.0
/* reload.c - reloads the configuration while the daemon runs: it is read as at the start, as a
 * whole or not at all; but a wrong resource of a peer's grammar is rejected alone, and keeps its
 * previous definition.
 *
 * Resources and the diagnosis' limits take effect at once. Other options are read, too, but belong
 * to running modules: changed ones are logged and need a restart. */
#include <stdio.h>
#include <stdlib.h>

#include "config_file.h"
#include "daemon.h"
#include "log.h"
#include "node.h"
#include "node_facts.h"
#include "pool_config.h"
#include "privilege_uses.h"
#include "privileges.h"
#include "resources.h"
#include "sampler.h"
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

/* Makes this text, of which it takes ownership, the document of /api/v1/config. */
static void reload_show(struct daemon *d, char *text)
{
	free(d->config_json);
	d->config_json = text;
	d->routes.config_json = text;
	d->routes.config_generation++;
}

static void reload_report(struct daemon *d, const char *reason, const char *sentence)
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

static bool reload_is_logged(const struct daemon *d, const struct missing_capability *lack)
{
	for (size_t i = 0; i < d->routes.n_missing; i++)
		if (strcmp(d->missing[i].name, lack->name) == 0 &&
		    strcmp(d->missing[i].stops, lack->stops) == 0)
			return true;
	return false;
}

/* Reports capabilities that the new configuration needs and the daemon lacks. */
static void look_at_privileges(struct daemon *d, const struct pool_config *pools)
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

/* The configuration for readers of /api/v1/config, with secrets masked. NULL: out of memory. */
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
		    source->has_groups == d->source.has_groups;

	if (same || !(source->has_groups || d->source.has_groups))
		return;
	node_facts_read(&facts, d->options->sysfs_root);
	node_facts_text(&facts, text);
	if (source->group[0])
		log_info("config", 0, "group %s applies: %s", source->group, text);
	else if (source->has_groups)
		log_warn("config", 0, "no group matches, using the top level alone: %s", text);
	else
		log_info("config", 0, "the configuration has no groups any more");
}

int reload_use(struct daemon *d, struct pool_config *pools, const struct thresholds *limits,
	       const struct config_source *source, struct err *e)
{
	struct options options = *d->launch->options;
	char *text;
	struct pool_refusals refusals = pools->refusals;
	size_t n = pools->n_pools;

	options.diagnosis = *limits;
	text = shown_text(&options, pools);
	look_at_privileges(d, pools);
	pools->refusals = (struct pool_refusals){0};
	if (!text || resources_configure(d->resources, pools) < 0) {
		free(text);
		free(refusals.list);
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
	config_checks_begin(d);
	reload_report_refusals(d);
	log_info("config", 0, "%zu resource%s configured", n, n == 1 ? "" : "s");
	return 0;
}

/* A missing file is an accident, or being replaced: to remove all resources, write a file without
 * any. */
static int check_there(const struct daemon *d, const struct config_file *file,
		       const struct options *read, struct err *e)
{
	if (file->text || d->n_pools == 0)
		return 0;
	return err_set(e, -ENOENT, "%s was removed", read->config);
}

/* -EBUSY with a message, and d->loss: the edit would take all devices of this node from a pool. */
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

/* Options that are defaults of pools need a restart like all others. */
static int reload(struct daemon *d, struct err *e)
{
	const struct launch *l = d->launch;
	struct config_source source = {0};
	struct config_file file = {0};
	struct pool_config pools = {0};
	enum option_action action;
	struct options options;
	int r;

	d->loss = (struct pool_loss){.resource = ""};
	r = options_load(&options, &action, &file, l->argc, l->argv, reload_on_warning, NULL, e);

	if (r == 0)
		r = check_there(d, &file, &options, e);
	if (r == 0)
		r = pool_config_load(&pools, &file, l->options, reload_on_warning, NULL, e);
	if (r == 0)
		r = pool_config_keep(&pools, resources_config(d->resources), e);
	if (r == 0)
		r = reload_check_lost(d, &options, &pools, e);
	if (r == 0 && l->observes) {
		log_info("loop", 0, "%s is valid now: exiting, to be restarted with it",
			 options.config);
		uv_stop(&d->loop);
	} else if (r == 0) {
		log_changed_options(l->options, &options);
		source.digest = config_file_digest(&file);
		source.has_groups = file.has_groups;
		memcpy(source.group, file.group, sizeof(source.group));
		r = reload_use(d, &pools, &options.diagnosis, &source, e);
	}
	pool_config_done(&pools);
	config_file_done(&file);
	return r;
}

/* The part of an error's sentence that says which configuration is in use instead. */
static const char *reload_consequence(const struct daemon *d, bool lost)
{
	if (d->config.held)
		return "keeping the configuration in use until no pod has any of them";
	if (lost)
		return "keeping the configuration in use; \"lost-pool\": \"accept\" in the file "
		       "permits it";
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
	snprintf(sentence, sizeof(sentence), "%s, %s", why->msg, reload_consequence(d, lost));
	reload_report(d, d->config.held ? "ConfigHeld" : "ConfigRefused", sentence);
}

void reload_refused(struct daemon *d, const struct err *why)
{
	d->config.offers_nothing = true;
	reload_report_error(d, why, false);
}

void reload_now(struct daemon *d)
{
	struct err e = {0};

	if (reload(d, &e) == 0) {
		if (d->config.refusals.n > 0)
			d->self.reloads_partial++;
		else
			d->self.reloads_ok++;
		return;
	}
	reload_report_error(d, &e, d->loss.resource[0] != '\0');
}

/* With the policy "hold" the edit waits until the pods have released the devices. */
void reload_held(struct daemon *d)
{
	if (d->config.held &&
	    pools_lost_held(resources_table(d->resources), d->loss.resource) == 0) {
		log_info("config", 0, "no pod has a device of %s any more: reading the file again",
			 d->loss.resource);
		reload_now(d);
	}
}

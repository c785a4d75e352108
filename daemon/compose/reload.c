/* reload.c - the configuration while the daemon runs: read as at the start, whole or not at all;
 * only a wrong resource of a peer's grammar is refused alone, and then stays as it was.
 *
 * Resources follow at once, and so does what the diagnosis judges by. Other options are read, too,
 * but belong to modules that run: they are named and wait for a restart. */
#include <stdio.h>
#include <stdlib.h>

#include "config_file.h"
#include "daemon.h"
#include "log.h"
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

static void tell_changed_options(const struct options *now, const struct options *read)
{
	char names[256];

	if (options_changed(now, read, names, sizeof(names)) > 0)
		log_warn("config", 0, "changed options take effect with the next start: %s", names);
}

/* What was given is the document of /api/v1/config from now on. */
static void reload_show(struct daemon *d, char *text)
{
	free(d->config_json);
	d->config_json = text;
	d->routes.config_json = text;
	d->routes.config_generation++;
}

static void reload_report(struct daemon *d, const char *sentence)
{
	struct event event = {.type = EVENT_WARNING, .reason = "ConfigRefused"};

	event.first_ms = event.last_ms = unix_ms();
	snprintf(event.message, sizeof(event.message), "%.255s", sentence);
	daemon_event(d, &event);
}

static void reload_tell_refusals(struct daemon *d)
{
	char text[POOL_REFUSAL_TEXT];

	for (size_t i = 0; i < d->config.refusals.n; i++) {
		pool_refusal_text(&d->config.refusals.list[i], text);
		reload_report(d, text);
	}
}

static bool reload_is_told(const struct daemon *d, const struct capability_lack *lack)
{
	for (size_t i = 0; i < d->routes.n_lacks; i++)
		if (strcmp(d->lacks[i].name, lack->name) == 0 &&
		    strcmp(d->lacks[i].stops, lack->stops) == 0)
			return true;
	return false;
}

/* What is asked anew may need what the daemon was not started with. */
static void look_at_privileges(struct daemon *d, const struct pool_config *pools)
{
	struct capability_lack lacks[CAPABILITY_LACKS_MAX] = {0};
	size_t n = capabilities_lacking(privilege_uses_now(d->options, pools),
					privileges_effective(), lacks);

	for (size_t i = 0; i < n; i++)
		if (!reload_is_told(d, &lacks[i]))
			log_warn("privileges", 0, "%s is missing: %s", lacks[i].name,
				 lacks[i].stops);
	memcpy(d->lacks, lacks, sizeof(lacks));
	d->routes.lacks = d->lacks;
	d->routes.n_lacks = n;
}

/* As everybody may see it who can read /api/v1/config. NULL: out of memory. */
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

int reload_use(struct daemon *d, struct pool_config *pools, const struct thresholds *limits,
	       struct err *e)
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
	d->limits = *limits;
	if (d->sampler)
		sampler_judge_by(d->sampler, limits);
	d->n_pools = n;
	free(d->config.refusals.list);
	d->config = (struct config_state){.refusals = refusals};
	reload_tell_refusals(d);
	log_info("config", 0, "%zu resource%s configured", n, n == 1 ? "" : "s");
	return 0;
}

/* A file that is gone is an accident, or one that is being replaced: whoever wants no resources any
 * more writes a file without. */
static int check_there(const struct daemon *d, const struct config_file *file,
		       const struct options *read, struct err *e)
{
	if (file->text || d->n_pools == 0)
		return 0;
	return err_set(e, -ENOENT, "%s is not there any more", read->config);
}

/* The options that pools take their defaults from wait for a restart like the others. */
static int reload(struct daemon *d, struct err *e)
{
	const struct launch *l = d->launch;
	struct config_file file = {0};
	struct pool_config pools = {0};
	enum option_action action;
	struct options options;
	int r = options_load(&options, &action, &file, l->argc, l->argv, reload_on_warning, NULL,
			     e);

	if (r == 0)
		r = check_there(d, &file, &options, e);
	if (r == 0)
		r = pool_config_load(&pools, &file, l->options, reload_on_warning, NULL, e);
	if (r == 0)
		r = pool_config_keep(&pools, resources_config(d->resources), e);
	if (r == 0 && l->observes) {
		log_info("loop", 0, "%s is right now: ending, to be started anew with it",
			 options.config);
		uv_stop(&d->loop);
	} else if (r == 0) {
		tell_changed_options(l->options, &options);
		r = reload_use(d, &pools, &options.diagnosis, e);
	}
	pool_config_done(&pools);
	config_file_done(&file);
	return r;
}

void reload_refused(struct daemon *d, const struct err *why)
{
	char sentence[sizeof(((struct err *)0)->msg) + 64];

	d->self.reloads_failed++;
	d->config.error = *why;
	d->config.offers_nothing = true;
	snprintf(sentence, sizeof(sentence), "%s, %s until it is right", why->msg,
		 d->launch->observes ? "only observing" : "offering nothing");
	reload_report(d, sentence);
}

void reload_now(struct daemon *d)
{
	char sentence[sizeof(((struct err *)0)->msg) + 64];
	struct err e = {0};

	if (reload(d, &e) == 0) {
		if (d->config.refusals.n > 0)
			d->self.reloads_partial++;
		else
			d->self.reloads_ok++;
		return;
	}
	d->self.reloads_failed++;
	d->config.error = e;
	snprintf(sentence, sizeof(sentence), "%s, keeping the configuration in use", e.msg);
	reload_report(d, sentence);
}

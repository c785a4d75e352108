// SPDX-License-Identifier: Apache-2.0
/* main.c - the command line; everything else is in the archive that the tests link. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check_config.h"
#include "cni_install.h"
#include "config_beside.h"
#include "config_file.h"
#include "config_schema.h"
#include "device_files.h"
#include "job.h"
#include "last_good.h"
#include "log.h"
#include "loop.h"
#include "memory.h"
#include "node_features.h"
#include "options.h"
#include "output.h"
#include "pool_config.h"
#include "privilege_uses.h"
#include "start_limit.h"
#include "version.h"

/* Warnings that are kept until it is known where to print them: in the log, or on stderr. */
#define NOTES_MAX 100
static char *notes[NOTES_MAX];
static size_t n_notes;

static void main_note(const char *sentence)
{
	char *copy = n_notes < NOTES_MAX ? strdup(sentence) : NULL;

	if (copy)
		notes[n_notes++] = copy;
}

static void main_print_notes(bool in_log)
{
	for (size_t i = 0; i < n_notes; i++) {
		if (in_log)
			log_warn("config", 0, "%s", notes[i]);
		else
			fprintf(stderr, "rocelet: %s\n", notes[i]);
		free(notes[i]);
	}
	n_notes = 0;
}

/* Keeps a warning for main_print_notes(), and counts it in *arg. */
static void main_on_warning(const char *sentence, void *arg)
{
	++*(unsigned *)arg;
	main_note(sentence);
}

static void main_note_overridden(const struct options *o, const struct config_file *file)
{
	char names[256], sentence[OPTION_TEXT_SIZE + 320];

	if (options_overridden(o, file, names, sizeof(names)) == 0)
		return;
	snprintf(sentence, sizeof(sentence), "%s: flags override these options: %s", o->config,
		 names);
	main_note(sentence);
}

static void main_print_refusals(const struct pool_config *pools)
{
	char text[POOL_REFUSAL_TEXT];

	for (size_t i = 0; i < pools->refusals.n; i++) {
		pool_refusal_text(&pools->refusals.list[i], text);
		fprintf(stderr, "rocelet: %s\n", text);
	}
}

/* Prints and frees a text; NULL: out of memory. */
static int print_text(char *text)
{
	if (!text)
		return EXIT_FAILURE;
	puts(text);
	free(text);
	return EXIT_SUCCESS;
}

/* A job may wait for a device for a long time and must not delay others, so libuv's four threads
 * are too few. An unused thread costs some kilobytes. */
static void widen_thread_pool(void)
{
	char n[12];

	snprintf(n, sizeof(n), "%d", JOB_THREADS);
	setenv("UV_THREADPOOL_SIZE", n, 1);
}

/* io_uring makes system calls that bypass the seccomp filter. */
static void keep_from_io_uring(void)
{
	setenv("UV_USE_IO_URING", "0", 1);
}

/* Exit status: another rocelet serves this node. */
#define EXIT_IN_USE 3

static int daemon_run(const struct launch *l)
{
	const struct options *o = l->options;
	struct err e = {0};
	int r;

	/* The loop handles SIGHUP later; until then it must not end the process. */
	signal(SIGHUP, SIG_IGN);
	memory_keep_small();
	widen_thread_pool();
	keep_from_io_uring();
	log_init((enum log_level)o->log_level, (enum log_format)o->log_format);
	log_info("main", 0, "rocelet %s", ROCELET_VERSION);
	main_print_notes(true);
	privilege_uses_reduce(o);
	r = loop_run(l, &e);
	if (r < 0) {
		log_error("main", 0, "%s, giving up", e.msg);
		return r == -EALREADY ? EXIT_IN_USE : EXIT_FAILURE;
	}
	log_info("main", 0, "stopped");
	return EXIT_SUCCESS;
}

static int main_act(enum option_action action, const struct launch *l,
		    const struct config_file *file, unsigned n_warnings)
{
	const struct options *o = l->options;

	if (action != ACTION_RUN)
		main_print_notes(false);
	switch (action) {
	case ACTION_HELP:
		options_help(stdout);
		return EXIT_SUCCESS;
	case ACTION_VERSION:
		puts("rocelet " ROCELET_VERSION);
		return EXIT_SUCCESS;
	case ACTION_PRINT_CONFIG:
		main_print_refusals(l->pools);
		return print_text(options_json(o, pool_config_tree(l->pools)));
	case ACTION_PRINT_SCHEMA:
		return print_text(config_schema_text());
	case ACTION_SUGGEST_CONFIG:
		return suggest_config(o);
	case ACTION_CHECK_CONFIG:
		return check_config(o, l->pools, file, n_warnings);
	case ACTION_RUN:
		break;
	}
	return daemon_run(l);
}

/* The daemon also starts with an invalid file: it observes, and reports the error in /readyz and
 * doctor. Commands that only check or print the configuration, and wrong flags, fail. */
static int run_without_file(struct launch *l, struct options *options, bool has_options,
			    const struct err *why)
{
	enum option_action action = ACTION_RUN;
	struct err e;
	int r = has_options ? 0 : options_of_flags(options, &action, l->argc, l->argv, &e);

	if (r < 0 || action != ACTION_RUN || why->code == -ENOENT)
		return why->code;
	l->refused = *why;
	l->observes = !has_options;
	options->dry_run |= l->observes;
	return 0;
}

/* Replaces the rejected file, with its options and pools, by the last good configuration. */
static void main_fall_back(struct launch *l, struct options *options, struct last_good *good,
			   const struct err *why)
{
	l->refused = *why;
	memcpy(l->last_good_of, good->of, sizeof(l->last_good_of));
	*options = good->options;
	config_file_done(l->file);
	*l->file = good->file;
	pool_config_done(l->pools);
	*l->pools = good->pools;
	good->file = (struct config_file){0};
	good->pools = (struct pool_config){0};
}

/* A missing file is a mistake if the previous one had resources. */
static int main_check_exists(const struct launch *l, const struct last_good *good, struct err *e)
{
	char beside[CONFIG_BESIDE_SIZE];

	if (l->file->text || good->pools.n_pools == 0)
		return 0;
	return config_beside(l->options, beside)
		       ? err_set(e, -ENOENT, "%.200s", beside)
		       : err_set(e, -ENOENT, "%.200s does not exist", l->options->config);
}

/* Judges the file as reload() does, with the last good configuration as the previous one, which is
 * used if the file is rejected. r: the result of reading the file; has_options: its options are
 * valid. */
static int main_judge(struct launch *l, struct options *options, bool has_options, int r,
		      struct err *e)
{
	static struct options flags;
	static struct last_good good;
	enum option_action action;
	int found;

	if (r == 0 && l->file->text && pool_config_is_whole(l->pools))
		return 0;
	if (!has_options && options_of_flags(&flags, &action, l->argc, l->argv, NULL) < 0)
		return r;
	found = last_good_read(&good, has_options ? options : &flags, l->argc, l->argv,
			       &l->no_last_good);
	if (found == -ENOENT)
		l->no_last_good = (struct err){0};
	else if (found < 0)
		main_note(l->no_last_good.msg);
	if (r == 0)
		r = main_check_exists(l, &good, e);
	if (r == 0)
		r = pool_config_keep(l->pools, &good.pools, e);
	if (r < 0 && found == 0) {
		main_fall_back(l, options, &good, e);
		r = 0;
	}
	last_good_done(&good);
	return r;
}

static int main_report(int r, const struct err *e)
{
	if (r < 0)
		fprintf(stderr, "rocelet: %s\n", e->msg);
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* Runs --install-cni, --uninstall-cni or --remove-features, which do not depend on the
 * configuration file. -1: none of them was given. */
static int main_install(int argc, char *argv[])
{
	static struct options o;
	enum option_action action;
	struct err e = {0};

	if (options_of_flags(&o, &action, argc, argv, &e) < 0 || action != ACTION_RUN)
		return -1;
	if (o.install_cni[0])
		return main_report(cni_install(o.install_cni,
					       (const char(*)[CNI_INSTALL_NAME])o.link.items,
					       o.link.n, o.set_aside, &e),
				   &e);
	if (o.uninstall_cni[0])
		return main_report(cni_uninstall(o.uninstall_cni, &e), &e);
	if (o.remove_features[0]) {
		const struct device_folder folder = {o.remove_features, false};

		return main_report(device_files_remove(&folder, NODE_FEATURES_FILE, &e), &e);
	}
	return -1;
}

int main(int argc, char *argv[])
{
	static struct options options;
	struct config_file file = {0};
	struct pool_config pools = {0};
	struct launch launch = {
		.options = &options, .pools = &pools, .file = &file, .argc = argc, .argv = argv};
	enum option_action action = ACTION_RUN;
	struct err e = {0};
	unsigned n_warnings = 0;
	bool has_options;
	int r;

	output_begin();
	r = main_install(argc, argv);
	if (r >= 0)
		return r;
	/* No limit for stdin: a user may type the configuration, or kubectl exec may be slow. */
	if (options_of_flags(&options, &action, argc, argv, &e) < 0 ||
	    strcmp(options.config, "-") != 0)
		start_limit_begin("reading the configuration");
	r = options_load(&options, &action, &file, argc, argv, main_on_warning, &n_warnings, &e);
	has_options = r == 0;
	if (r == 0)
		main_note_overridden(&options, &file);
	if (r == 0)
		r = pool_config_load(&pools, &file, &options, main_on_warning, &n_warnings, &e);
	if (action == ACTION_RUN)
		r = main_judge(&launch, &options, has_options, r, &e);
	start_limit_end();
	launch.config_digest = config_file_digest(&file);
	memcpy(launch.group, file.group, sizeof(launch.group));
	launch.can_match = file.can_match;
	if (r < 0 || launch.refused.code < 0)
		config_file_done(&file);
	if (r < 0 && action == ACTION_RUN)
		r = run_without_file(&launch, &options, has_options, &e);
	if (r < 0) {
		config_file_done(&file);
		main_print_notes(false);
		fprintf(stderr, "rocelet: %s\n", e.msg);
		return 2;
	}
	r = main_act(action, &launch, &file, n_warnings);
	config_file_done(&file);
	pool_config_done(&pools);
	return output_end("rocelet", stdout, stderr, r);
}

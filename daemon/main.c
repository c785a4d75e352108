/* main.c - the command line; everything else is in the archive that the tests link. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "check_config.h"
#include "config_file.h"
#include "job.h"
#include "log.h"
#include "loop.h"
#include "memory.h"
#include "options.h"
#include "output.h"
#include "pool_config.h"
#include "privilege_uses.h"
#include "suggest_config.h"
#include "version.h"

/* arg: how many there were. */
static void main_on_warning(const char *sentence, void *arg)
{
	++*(unsigned *)arg;
	fprintf(stderr, "rocelet: %s\n", sentence);
}

static void tell_overridden(const struct options *o, const struct config_file *file)
{
	char names[256];

	if (options_overridden(o, file, names, sizeof(names)) > 0)
		fprintf(stderr, "rocelet: %s: flags say otherwise, and count: %s\n", o->config,
			names);
}

static void main_tell_refusals(const struct pool_config *pools)
{
	char text[POOL_REFUSAL_TEXT];

	for (size_t i = 0; i < pools->refusals.n; i++) {
		pool_refusal_text(&pools->refusals.list[i], text);
		fprintf(stderr, "rocelet: %s\n", text);
	}
}

static int print_config(const struct options *o, const struct pool_config *pools)
{
	char *text = options_json(o, pool_config_tree(pools));

	if (!text)
		return EXIT_FAILURE;
	puts(text);
	free(text);
	return EXIT_SUCCESS;
}

/* Each may be waiting for a device, and nothing else should have to wait for it; libuv's four
 * threads would not do. One that never runs costs some kilobytes. */
static void widen_thread_pool(void)
{
	char n[12];

	snprintf(n, sizeof(n), "%d", JOB_THREADS);
	setenv("UV_THREADPOOL_SIZE", n, 1);
}

/* Its rings would make system calls behind the filter's back; libuv then does without. */
static void keep_from_io_uring(void)
{
	setenv("UV_USE_IO_URING", "0", 1);
}

/* Somebody else does the work on this node: not a failure like others. */
#define EXIT_IN_USE 3

static int daemon_run(const struct launch *l)
{
	const struct options *o = l->options;
	struct err e = {0};
	int r;

	/* Until the loop listens to it there is nothing to be read again, and nothing to die of. */
	signal(SIGHUP, SIG_IGN);
	memory_keep_small();
	widen_thread_pool();
	keep_from_io_uring();
	log_init((enum log_level)o->log_level, (enum log_format)o->log_format);
	log_info("main", 0, "rocelet %s", ROCELET_VERSION);
	privilege_uses_reduce(o);
	r = loop_run(l, &e);
	if (r < 0) {
		log_error("main", 0, "%s, giving up", e.msg);
		return r == -EALREADY ? EXIT_IN_USE : EXIT_FAILURE;
	}
	log_info("main", 0, "stopped");
	return EXIT_SUCCESS;
}

static int main_act(enum option_action action, const struct launch *l, bool has_file,
		    unsigned n_warnings, unsigned n_unknown)
{
	const struct options *o = l->options;

	switch (action) {
	case ACTION_HELP:
		options_help(stdout);
		return EXIT_SUCCESS;
	case ACTION_VERSION:
		puts("rocelet " ROCELET_VERSION);
		return EXIT_SUCCESS;
	case ACTION_PRINT_CONFIG:
		main_tell_refusals(l->pools);
		return print_config(o, l->pools);
	case ACTION_SUGGEST_CONFIG:
		return suggest_config(o);
	case ACTION_CHECK_CONFIG:
		return check_config(o, l->pools, has_file, n_warnings, n_unknown);
	case ACTION_RUN:
		break;
	}
	return daemon_run(l);
}

/* A daemon whose file is wrong is of use all the same: it observes, and says what is wrong where
 * people look. Who only asks about the file, or types a wrong flag, is told and that is it. */
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

int main(int argc, char *argv[])
{
	static struct options options;
	struct config_file file = {0};
	struct pool_config pools = {0};
	struct launch launch = {.options = &options, .pools = &pools, .argc = argc, .argv = argv};
	enum option_action action = ACTION_RUN;
	struct err e = {0};
	unsigned n_warnings = 0, n_unknown;
	bool has_file, has_options;
	int r;

	output_begin();
	r = options_load(&options, &action, &file, argc, argv, main_on_warning, &n_warnings, &e);
	has_options = r == 0;
	n_unknown = n_warnings;
	if (r == 0)
		tell_overridden(&options, &file);
	if (r == 0)
		r = pool_config_load(&pools, &file, &options, main_on_warning, &n_warnings, &e);
	has_file = file.text != NULL;
	launch.config_digest = config_file_digest(&file);
	config_file_done(&file);
	if (r < 0 && action == ACTION_RUN)
		r = run_without_file(&launch, &options, has_options, &e);
	if (r < 0) {
		fprintf(stderr, "rocelet: %s\n", e.msg);
		return 2;
	}
	r = main_act(action, &launch, has_file, n_warnings, n_unknown);
	pool_config_done(&pools);
	return output_end("rocelet", stdout, stderr, r);
}

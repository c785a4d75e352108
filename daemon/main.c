/* main.c - the command line; everything else is in the archive that the tests link. */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

#include "log.h"
#include "loop.h"
#include "options.h"

static void on_warning(const char *sentence, void *arg)
{
	(void)arg;
	fprintf(stderr, "rocelet: %s\n", sentence);
}

static int print_config(const struct options *o)
{
	char *text = options_json(o);

	if (!text)
		return EXIT_FAILURE;
	puts(text);
	free(text);
	return EXIT_SUCCESS;
}

/* Work is done on one thread of several at a time: with a heap for each, all of them grow to what
 * the largest page needs. And a fixed threshold gives pages back when they are replaced
 * (mallopt(3): it would follow the largest block freed). */
static void keep_memory_small(void)
{
	mallopt(M_ARENA_MAX, 1);
	mallopt(M_MMAP_THRESHOLD, 128 * 1024);
}

/* Four kinds of look and a sample may all be waiting for a device at once, and nothing else should
 * have to wait for them; libuv's four threads would not do. A thread that never runs costs nothing.
 */
static void widen_thread_pool(void)
{
	setenv("UV_THREADPOOL_SIZE", "8", 0);
}

static int run(const struct options *o)
{
	struct err e = {0};

	keep_memory_small();
	widen_thread_pool();
	log_init((enum log_level)o->log_level, (enum log_format)o->log_format);
	log_info("main", 0, "rocelet %s", ROCELET_VERSION);
	if (loop_run(o, &e) < 0) {
		log_error("main", 0, "%s, giving up", e.msg);
		return EXIT_FAILURE;
	}
	log_info("main", 0, "stopped");
	return EXIT_SUCCESS;
}

int main(int argc, char *argv[])
{
	static struct options options;
	enum option_action action;
	struct err e = {0};

	if (options_load(&options, &action, argc, argv, on_warning, NULL, &e) < 0) {
		fprintf(stderr, "rocelet: %s\n", e.msg);
		return 2;
	}
	switch (action) {
	case ACTION_HELP:
		options_help(stdout);
		return EXIT_SUCCESS;
	case ACTION_VERSION:
		puts("rocelet " ROCELET_VERSION);
		return EXIT_SUCCESS;
	case ACTION_PRINT_CONFIG:
		return print_config(&options);
	case ACTION_CHECK_CONFIG:
		printf("%s: ok\n", options.config);
		return EXIT_SUCCESS;
	case ACTION_RUN:
		break;
	}
	return run(&options);
}

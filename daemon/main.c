/* main.c - the command line; everything else is in the archive that the tests link. */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

#include "config_file.h"
#include "hw.h"
#include "log.h"
#include "loop.h"
#include "options.h"
#include "pool_config.h"
#include "pools.h"

static void on_warning(const char *sentence, void *arg)
{
	(void)arg;
	fprintf(stderr, "rocelet: %s\n", sentence);
}

static int print_config(const struct options *o, const struct pool_config *pools)
{
	char *text = options_json(o, pools);

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

/* Four kinds of look, a sample and four attachments may all be waiting for a device at once, and
 * nothing else should have to wait for them; libuv's four threads would not do. A thread that never
 * runs costs nothing. */
static void widen_thread_pool(void)
{
	setenv("UV_THREADPOOL_SIZE", "12", 0);
}

/* libmicrohttpd brings GnuTLS along and has it initialised while both are loaded: megabytes of
 * tables and tests of ciphers, for nothing, as no connection of ours is encrypted. GnuTLS asks the
 * first (gnutls/gnutls.h, GNUTLS_SKIP_GLOBAL_INIT), libmicrohttpd calls the other two. */
int _gnutls_global_init_skip(void);
int _gnutls_global_init_skip(void)
{
	return 1;
}

int gnutls_global_init(void);
int gnutls_global_init(void)
{
	return 0;
}

void gnutls_global_deinit(void);
void gnutls_global_deinit(void)
{
}

static int run(const struct launch *l)
{
	const struct options *o = l->options;
	struct err e = {0};

	keep_memory_small();
	widen_thread_pool();
	log_init((enum log_level)o->log_level, (enum log_format)o->log_format);
	log_info("main", 0, "rocelet %s", ROCELET_VERSION);
	if (loop_run(l, &e) < 0) {
		log_error("main", 0, "%s, giving up", e.msg);
		return EXIT_FAILURE;
	}
	log_info("main", 0, "stopped");
	return EXIT_SUCCESS;
}

static int explain(const struct pool_config *pools, const struct host *host)
{
	struct pools built = {0};
	char *text = NULL;

	if (pools_build(&built, pools, host, NULL) == 0)
		text = pools_explain(&built);
	pools_done(&built);
	if (!text) {
		fputs("rocelet: out of memory\n", stderr);
		return EXIT_FAILURE;
	}
	fputs(text, stdout);
	free(text);
	return EXIT_SUCCESS;
}

/* Which function goes to which pool on this node, and why not; the kubelet is not asked what
 * containers hold. */
static int check_config(const struct options *o, const struct pool_config *pools, bool has_file)
{
	struct err e = {0};
	struct scan scan;
	struct hw hw;
	int r;

	printf("%s: %s\n", o->config, has_file ? "ok" : "not there, no resources are offered");
	if (hw_open(&hw, o->sysfs_root, o->dev_root, o->proc_root, &e) < 0) {
		fprintf(stderr, "rocelet: %s\n", e.msg);
		return EXIT_FAILURE;
	}
	hw_scan(&hw, SCAN_ALL, &scan);
	for (int i = 0; i < N_SCAN_SOURCES; i++)
		if (scan.problem[i].code < 0)
			fprintf(stderr, "rocelet: %s: %s\n", scan_source_name((enum scan_source)i),
				scan.problem[i].msg);
	r = explain(pools, &scan.host);
	scan_done(&scan);
	hw_close(&hw);
	return r;
}

static int act(enum option_action action, const struct launch *l, bool has_file)
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
		return print_config(o, l->pools);
	case ACTION_CHECK_CONFIG:
		return check_config(o, l->pools, has_file);
	case ACTION_RUN:
		break;
	}
	return run(l);
}

int main(int argc, char *argv[])
{
	static struct options options;
	struct config_file file = {0};
	struct pool_config pools = {0};
	const struct launch launch = {&options, &pools, argc, argv};
	enum option_action action;
	struct err e = {0};
	bool has_file;
	int r;

	r = options_load(&options, &action, &file, argc, argv, on_warning, NULL, &e);
	if (r == 0)
		r = pool_config_load(&pools, &file, &options, on_warning, NULL, &e);
	has_file = file.text != NULL;
	config_file_done(&file);
	if (r < 0) {
		fprintf(stderr, "rocelet: %s\n", e.msg);
		return 2;
	}
	r = act(action, &launch, has_file);
	pool_config_done(&pools);
	return r;
}

/* check_config.c - asks the readers that a start asks, and changes nothing. */
#include "check_config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "err.h"
#include "http_wing.h"
#include "hw.h"
#include "listen.h"
#include "node_look.h"
#include "options.h"
#include "pool_config.h"
#include "pools.h"

struct check {
	const struct options *options;
	const struct pool_config *pools;
	unsigned warnings;
	int status;
};

static void check_fail(struct check *c, int status, const char *sentence)
{
	fprintf(stderr, "rocelet: %s\n", sentence);
	c->status = status > c->status ? status : c->status;
}

static void check_listen(struct check *c)
{
	struct err e = {0};

	if (c->options->listen[0] && listen_check(c->options->listen, &e) < 0)
		check_fail(c, 2, e.msg);
}

/* The daemon runs without them, and serves nothing over TCP. */
static void check_guards(struct check *c)
{
	struct err e = {0};
	uint64_t digest;

	if (c->options->listen[0] && http_guard_load(c->options, NULL, &digest, &e) < 0)
		check_fail(c, 1, e.msg);
}

static void check_refusals(struct check *c)
{
	char text[POOL_REFUSAL_TEXT];

	for (size_t i = 0; i < c->pools->refusals.n; i++) {
		pool_refusal_text(&c->pools->refusals.list[i], text);
		fprintf(stderr, "rocelet: %s\n", text);
	}
	if (c->pools->refusals.n > 0 && c->pools->n_pools == 0)
		check_fail(c, 2, "no resource is left");
}

/* Whoever names no resource and has a key that nobody knows has rather misspelt the one than meant
 * to offer nothing. */
static void check_config_check_names(struct check *c, unsigned n_unknown)
{
	if (n_unknown > 0 && c->pools->n_pools == 0 && c->pools->refusals.n == 0)
		check_fail(c, 1,
			   "no resource is named; is a key that is ignored meant to name some?");
}

/* --- the node --------------------------------------------------------------------------------- */

static unsigned count_warnings(const char *text)
{
	static const char mark[] = "\nwarning: ";
	unsigned n = 0;

	for (const char *at = text; (at = strstr(at, mark)); at++)
		n++;
	return n;
}

/* The kubelet is not asked what containers hold. */
static void explain(struct check *c, const struct host *host)
{
	AUTO_FREE char *text = NULL;
	struct pools built = {0};

	if (pools_build(&built, c->pools, host, NULL) == 0)
		text = pools_explain(&built);
	pools_done(&built);
	if (!text) {
		check_fail(c, 1, "out of memory");
		return;
	}
	fputs(text, stdout);
	c->warnings += count_warnings(text);
}

static void check_config_check_node(struct check *c)
{
	unsigned n_problems;
	struct scan scan;

	if (node_look(&scan, c->options, &n_problems) == 0)
		explain(c, &scan.host);
	else
		c->status = c->status > 1 ? c->status : 1;
	c->warnings += n_problems;
	scan_done(&scan);
}

/* --- what came of it -------------------------------------------------------------------------- */

static const char *check_plural(size_t n)
{
	return n == 1 ? "" : "s";
}

static void conclude(const struct check *c, bool has_file)
{
	size_t left_out = c->pools->refusals.n;

	printf("%s: ", c->options->config);
	if (left_out > 0)
		printf("%zu resource%s left out", left_out, check_plural(left_out));
	else if (c->status)
		fputs("not ok", stdout);
	else
		fputs(has_file ? "ok" : "not there, no resources are offered", stdout);
	if (c->warnings > 0)
		printf(", %u warning%s", c->warnings, check_plural(c->warnings));
	putchar('\n');
}

int check_config(const struct options *o, const struct pool_config *pools, bool has_file,
		 unsigned n_warnings, unsigned n_unknown)
{
	struct check c = {.options = o, .pools = pools, .warnings = n_warnings};

	check_listen(&c);
	check_guards(&c);
	check_refusals(&c);
	check_config_check_names(&c, n_unknown);
	check_config_check_node(&c);
	conclude(&c, has_file);
	if (c.status == 0 && o->strict && (c.warnings > 0 || pools->refusals.n > 0))
		return 1;
	return c.status;
}

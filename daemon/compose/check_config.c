// SPDX-License-Identifier: Apache-2.0
/* check_config.c - reads the configuration as at a start of the daemon, and changes nothing. */
#include "check_config.h"

#include <stdio.h>
#include <string.h>

#include "cleanup.h"
#include "config_beside.h"
#include "config_file.h"
#include "err.h"
#include "groups.h"
#include "health.h"
#include "host_index.h"
#include "http_wiring.h"
#include "hw.h"
#include "name_list.h"
#include "options.h"
#include "pool_config.h"
#include "pools.h"
#include "proposal.h"

int suggest_config(const struct options *o)
{
	AUTO_FREE char *text = NULL;
	unsigned n_problems;
	struct scan scan;
	int r = node_scan_once(&scan, o, &n_problems);

	if (r == 0)
		text = proposal_of(&scan.host, !o->unprivileged);
	scan_done(&scan);
	if (r < 0)
		return 1;
	if (!text) {
		fputs("rocelet: out of memory\n", stderr);
		return 1;
	}
	fputs(text, stdout);
	return 0;
}

static unsigned node_report_problems(const struct scan *scan)
{
	unsigned n = 0;

	for (int i = 0; i < N_SCAN_SOURCES; i++) {
		if (scan->problem[i].code == 0)
			continue;
		n++;
		fprintf(stderr, "rocelet: %s: %s\n", scan_source_name((enum scan_source)i),
			scan->problem[i].msg);
	}
	return n;
}

int node_scan_once(struct scan *ret, const struct options *o, unsigned *ret_problems)
{
	struct err e = {0};
	struct hw hw;

	*ret = (struct scan){0};
	*ret_problems = 0;
	if (hw_open(&hw, o->sysfs_root, o->dev_root, o->proc_root, &e) < 0) {
		fprintf(stderr, "rocelet: %s\n", e.msg);
		return -EIO;
	}
	hw_scan(&hw, SCAN_ALL, ret);
	hw_close(&hw);
	*ret_problems = node_report_problems(ret);
	if (ret->problem[SRC_SYSFS].code < 0) {
		fputs("rocelet: there is no sysfs to scan (--sysfs-root)\n", stderr);
		return -EIO;
	}
	return 0;
}

struct check {
	const struct options *options;
	const struct pool_config *pools;
	const struct config_file *file;
	unsigned warnings;
	unsigned of_node; /* those warnings that are about this node, not about the file */
	char idle_text[512];
	struct name_list idle; /* the pools that offer nothing on this node */
	int status;
};

static void check_fail(struct check *c, int status, const char *sentence)
{
	fprintf(stderr, "rocelet: %s\n", sentence);
	c->status = status > c->status ? status : c->status;
}

static void check_config_on_warning(const char *sentence, void *arg)
{
	struct check *c = arg;

	c->warnings++;
	fprintf(stderr, "rocelet: %s\n", sentence);
}

/* As above; the file may be right for other nodes. */
static void check_warn_of_node(struct check *c, const char *sentence)
{
	c->of_node++;
	check_config_on_warning(sentence, c);
}

/* Checks certificate, tokens and passwords. A failure is not fatal: without them the daemon runs,
 * but does not serve TCP. */
static void check_guards(struct check *c)
{
	struct err e = {0};
	const char *option;
	uint64_t digest;

	if (!c->options->listen[0] || http_guard_load(c->options, NULL, &digest, &e) == 0)
		return;
	option = http_guard_option(c->options, e.msg);
	if (option)
		options_wrap(&e, c->options, c->file, option);
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

/* Fails if the file defines no resource but has an unknown key, which is probably misspelt. */
static void check_config_check_names(struct check *c)
{
	if (c->pools->mistake.why[0] && c->pools->n_pools == 0 && c->pools->refusals.n == 0)
		check_fail(c, 2, "no resource is configured, probably because a key is misspelt");
}

/* Warns if the file does not exist, but another one in its folder does. */
static void check_config_check_folder(struct check *c)
{
	char beside[CONFIG_BESIDE_SIZE];

	if (c->file->text || !config_beside(c->options, beside))
		return;
	check_config_on_warning(beside, c);
}

/* --- groups ----------------------------------------------------------------------------------- */

/* Checks a group for other nodes, as far as that is possible without their devices. */
static void check_config_check_group(struct check *c, const struct config_file *file)
{
	struct pool_config pools = {0};
	char text[POOL_REFUSAL_TEXT];
	struct err e = {0};

	if (options_check_group(c->options, file, check_config_on_warning, c, &e) < 0 ||
	    pool_config_load_group(&pools, file, c->options, check_config_on_warning, c, &e) < 0 ||
	    pool_config_check_any(&pools, &e) < 0)
		check_fail(c, 2, e.msg);
	for (size_t i = 0; i < pools.refusals.n; i++) {
		pool_refusal_text(&pools.refusals.list[i], text);
		check_config_on_warning(text, c);
	}
	pool_config_done(&pools);
}

static void check_config_check_groups(struct check *c)
{
	const struct config_file *file = c->file;
	char names[GROUPS_MAX][GROUP_NAME_SIZE];
	size_t n = groups_names(file, names);

	for (size_t i = 0; i < n; i++) {
		struct config_file other = *file; /* shares the text */

		if (strcmp(names[i], file->group) == 0)
			continue;
		memcpy(other.group, names[i], sizeof(other.group));
		check_config_check_group(c, &other);
	}
	if (file->group[0])
		printf("group %s applies\n", file->group);
	else if (file->can_match)
		puts("warning: no group matches this node");
	c->warnings += file->can_match && !file->group[0];
	c->of_node += file->can_match && !file->group[0];
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

/* Warns about missing netdevs, which may appear later. */
static void check_netdevs(struct check *c, const struct host *host, const char *option,
			  const struct option_list *names)
{
	struct err e;

	for (unsigned i = 0; i < names->n; i++) {
		size_t k = 0;

		while (k < host->n_netdevs && strcmp(host->netdevs[k].name, names->items[i]) != 0)
			k++;
		if (k < host->n_netdevs)
			continue;
		err_set(&e, -ENODEV, "there is no netdev %s", names->items[i]);
		options_wrap(&e, c->options, c->file, option);
		check_warn_of_node(c, e.msg);
	}
}

/* Warns about devices without character devices, which do not appear by themselves. */
static void check_config_chardevs(struct check *c, const struct pool_view *v, size_t n_lack)
{
	if (n_lack == 0)
		return;
	printf("warning: %s/%s: %zu of %zu devices without character devices in %s/infiniband "
	       "(no_chardev), no container gets them: is udev running, and is --dev-root the "
	       "host's /dev?\n",
	       v->pool->prefix, v->pool->name, n_lack, v->n_offers, c->options->dev_root);
	c->warnings++;
	c->of_node++;
}

/* Prints the health of a pool's devices that the kubelet would get now. Only missing character
 * devices cause a warning: a link may be down until its cable is plugged in. */
static void check_config_health(struct check *c, const struct pool_view *v,
				const struct host_index *index)
{
	unsigned all = 0;
	size_t n = 0, n_lack = 0;
	char reasons[256], name[RESOURCE_NAME_SIZE];

	for (size_t i = 0; i < v->n_offers; i++) {
		unsigned bad = health_judge(v, &v->offers[i], index, false);

		all |= bad;
		n += bad != 0;
		n_lack += (bad & HEALTH_BIT(HEALTH_NO_CHARDEV)) != 0;
	}
	health_text(all, reasons, sizeof(reasons));
	if (n > 0)
		printf("%s/%s: %zu of %zu devices unhealthy now: %s\n", v->pool->prefix,
		       v->pool->name, n, v->n_offers, reasons);
	check_config_chardevs(c, v, n_lack);
	pool_resource(v->pool, name);
	if (n_lack == v->n_offers)
		name_list_add(&c->idle, name);
}

static int check_pools(struct check *c, const struct pools *pools, const struct host *host)
{
	struct host_index index;
	int r = host_index_init(&index, host);

	for (size_t i = 0; r == 0 && i < pools->n_views; i++)
		check_config_health(c, &pools->views[i], &index);
	host_index_done(&index);
	return r;
}

/* Prints which pool has each device, without considering the kubelet's allocations. */
static void explain(struct check *c, const struct host *host)
{
	AUTO_FREE char *text = NULL;
	struct pools built = {0};

	check_netdevs(c, host, "mirrors", &c->options->mirrors);
	check_netdevs(c, host, "packet-ports", &c->options->packet_ports);
	if (pools_build(&built, c->pools, host, NULL) == 0)
		text = pools_explain(&built);
	if (text) {
		fputs(text, stdout);
		c->warnings += count_warnings(text);
		c->of_node += count_warnings(text);
	}
	if (!text || check_pools(c, &built, host) < 0)
		check_fail(c, 1, "out of memory");
	pools_done(&built);
}

static void check_config_check_node(struct check *c)
{
	unsigned n_problems;
	struct scan scan;

	if (node_scan_once(&scan, c->options, &n_problems) == 0)
		explain(c, &scan.host);
	else
		c->status = c->status > 1 ? c->status : 1;
	c->warnings += n_problems;
	c->of_node += n_problems;
	scan_done(&scan);
}

/* --- result ----------------------------------------------------------------------------------- */

static const char *check_plural(size_t n)
{
	return n == 1 ? "" : "s";
}

/* The exit status. With --strict, warnings count; those about this node have a status of their own,
 * because a file that is checked elsewhere (a CI pipeline) cannot be right about them. */
static int check_status(const struct check *c)
{
	if (c->status || !c->options->strict)
		return c->status;
	if (c->warnings > c->of_node || c->pools->refusals.n > 0)
		return 1;
	return c->of_node > 0 ? CHECK_CONFIG_NODE : 0;
}

static int conclude(const struct check *c)
{
	size_t left_out = c->pools->refusals.n;
	int status = check_status(c);

	printf("%s: ", c->options->config);
	if (left_out > 0)
		printf("%zu resource%s left out", left_out, check_plural(left_out));
	else if (status)
		fputs(status == CHECK_CONFIG_NODE ? "ok, but not for this node" : "not ok", stdout);
	else
		fputs(c->file->text ? "ok" : "does not exist, no resources are offered", stdout);
	if (c->idle.n > 0)
		printf(", %s offer%s nothing on this node", c->idle.text,
		       c->idle.n == 1 ? "s" : "");
	if (c->warnings > 0)
		printf(", %u warning%s", c->warnings, check_plural(c->warnings));
	puts(status != c->status ? " (--strict)" : "");
	return status;
}

int check_config(const struct options *o, const struct pool_config *pools,
		 const struct config_file *file, unsigned n_warnings)
{
	struct check c = {.options = o, .pools = pools, .file = file, .warnings = n_warnings};

	c.idle = name_list_in(c.idle_text, sizeof(c.idle_text));
	check_guards(&c);
	check_refusals(&c);
	check_config_check_groups(&c);
	check_config_check_names(&c);
	check_config_check_folder(&c);
	check_config_check_node(&c);
	return conclude(&c);
}

// SPDX-License-Identifier: Apache-2.0
/* config_checks.c - checks what the configuration needs on the node, and may appear or disappear
 * while the daemon runs: IPAM plugins, and the file itself. */
#include <stdlib.h>
#include <string.h>

#include "config_beside.h"
#include "daemon.h"
#include "log.h"
#include "pool_lacks.h"
#include "resources.h"

#define CHECK_MS 1000

static bool config_checks_has(const struct pool_lack *list, size_t n, const struct pool_lack *lack)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(list[i].resource, lack->resource) == 0 &&
		    strcmp(list[i].what, lack->what) == 0)
			return true;
	return false;
}

static void check_lacks(struct daemon *d, bool is_logged)
{
	struct config_state *c = &d->config;
	struct pool_lack *list;
	size_t n;

	if (pool_lacks_find(&list, &n, resources_config(d->resources), d->options->cni_path) < 0)
		return;
	for (size_t i = 0; i < n && !is_logged; i++)
		if (!config_checks_has(c->lacks, c->n_lacks, &list[i]))
			log_warn("config", 0,
				 "%s: %s, no pod gets a device of it until there is one",
				 list[i].resource, list[i].what);
	for (size_t i = 0; i < c->n_lacks && !is_logged; i++)
		if (!config_checks_has(list, n, &c->lacks[i]))
			log_info("config", 0, "%s: its IPAM plugin is there now",
				 c->lacks[i].resource);
	free(c->lacks);
	c->lacks = list;
	c->n_lacks = n;
}

static void check_folder(struct daemon *d)
{
	char beside[CONFIG_BESIDE_SIZE] = "";

	if (d->source.digest == 0 && !d->config.error.code)
		config_beside(d->options, beside);
	if (*beside && strcmp(beside, d->config.beside) != 0)
		log_warn("config", 0, "%s, offering nothing", beside);
	memcpy(d->config.beside, beside, sizeof(beside));
}

void config_checks_begin(struct daemon *d)
{
	check_lacks(d, true);
	check_folder(d);
}

void config_checks_again(struct daemon *d, uint64_t now_ms)
{
	if (!d->resources || now_ms - d->config_checked_ms < CHECK_MS)
		return;
	d->config_checked_ms = now_ms;
	check_lacks(d, false);
	check_folder(d);
}

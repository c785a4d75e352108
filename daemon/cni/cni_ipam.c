// SPDX-License-Identifier: Apache-2.0
#include "cni_ipam.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "netconf.h"

/* Maximum number of cached networks; the oldest is evicted first. */
#define IPAM_NETWORKS_MAX 8

static const char valid_key[] = "cni.dev/valid-attachments", old_key[] = "cni.dev/attachments";

/* Returns the keys that the command needs in addition to the configuration of ADD; NULL: the
 * request does not have them. */
static json_t *cni_ipam_more(enum ipam_verb verb, const struct cni_request *r)
{
	json_t *prev = json_object_get(r->config, "prevResult");
	json_t *list = json_object_get(r->config, valid_key);

	if (verb == IPAM_CHECK)
		return json_is_object(prev) ? json_pack("{s:O}", "prevResult", prev) : NULL;
	if (!json_is_array(list))
		list = json_object_get(r->config, old_key);
	return json_is_array(list) ? json_pack("{s:O, s:O}", valid_key, list, old_key, list) : NULL;
}

int cni_ipam_run(struct attach_engine *engine, enum ipam_verb verb,
		 const struct attach_record *record, const struct cni_request *r,
		 attach_request_fn *fn, void *arg, struct err *err)
{
	json_auto_t *more = record->plan.ipam[0] ? cni_ipam_more(verb, r) : NULL;
	int error;

	if (!more)
		return 0;
	error = attach_engine_cni_ipam(engine, verb, record, more, fn, arg, err);
	return error < 0 ? error : 1;
}

bool cni_ipam_network(struct attach_record *ret, const struct cni_request *r)
{
	struct cni_error ignored = {.code = CNI_OK};
	struct netconf netconf;

	if (!netconf_ipam_type(r)[0] || netconf_read(&netconf, r, &ignored) < 0)
		return false;
	*ret = (struct attach_record){.owner = r->owner};
	memcpy(ret->plan.ipam, netconf.plan.ipam, sizeof(ret->plan.ipam));
	return ret->plan.ipam[0];
}

/* --- STATUS ----------------------------------------------------------------------------------- */

struct ipam_network {
	struct ipam_network *next; /* newest first */
	char ipam[PLAN_IPAM_SIZE], name[CNI_NETWORK_SIZE];
	bool running, forgotten;
	struct err err; /* error of the last run */
};

struct cni_ipam_cache {
	struct attach_engine *engine;
	struct ipam_network *first;
};

struct cni_ipam_cache *cni_ipam_cache_new(struct attach_engine *engine)
{
	struct cni_ipam_cache *c = calloc(1, sizeof(*c));

	if (c)
		c->engine = engine;
	return c;
}

static void ipam_network_forget(struct ipam_network *n)
{
	n->forgotten = true;
	if (!n->running)
		free(n);
}

void cni_ipam_cache_free(struct cni_ipam_cache *c)
{
	while (c && c->first) {
		struct ipam_network *n = c->first;

		c->first = n->next;
		ipam_network_forget(n);
	}
	free(c);
}

static void on_ipam_status(const struct err *err, void *arg)
{
	struct ipam_network *n = arg;

	n->running = false;
	n->err = *err;
	if (err->code == -EOPNOTSUPP)
		n->err = (struct err){0};
	if (n->forgotten)
		free(n);
}

static struct ipam_network *ipam_network_find(const struct cni_ipam_cache *c,
					      const struct attach_record *r)
{
	struct ipam_network *n = c->first;

	while (n && (strcmp(n->ipam, r->plan.ipam) != 0 || strcmp(n->name, r->owner.network) != 0))
		n = n->next;
	return n;
}

static void ipam_networks_trim(struct cni_ipam_cache *c)
{
	struct ipam_network **at = &c->first, *rest;

	for (unsigned n = 0; *at && n < IPAM_NETWORKS_MAX; n++)
		at = &(*at)->next;
	while ((rest = *at)) {
		*at = rest->next;
		ipam_network_forget(rest);
	}
}

static struct ipam_network *ipam_network_add(struct cni_ipam_cache *c,
					     const struct attach_record *r)
{
	struct ipam_network *n = calloc(1, sizeof(*n));

	if (!n)
		return NULL;
	memcpy(n->ipam, r->plan.ipam, sizeof(n->ipam));
	memcpy(n->name, r->owner.network, sizeof(n->name));
	n->next = c->first;
	c->first = n;
	ipam_networks_trim(c);
	return n;
}

int cni_ipam_status(struct cni_ipam_cache *c, const struct attach_record *network, struct err *err)
{
	struct ipam_network *n = ipam_network_find(c, network);
	int code;

	if (!n)
		n = ipam_network_add(c, network);
	if (!n)
		return 0; /* out of memory is not the plugin's error */
	*err = n->err;
	code = n->err.code;
	if (!n->running) {
		n->running = true;
		if (attach_engine_cni_ipam(c->engine, IPAM_STATUS, network, NULL, on_ipam_status, n,
					   &n->err) < 0)
			n->running = false;
	}
	return code;
}

// SPDX-License-Identifier: Apache-2.0
#include "doctor_ports.h"

#include <stdio.h>
#include <string.h>

#include "health.h"
#include "utc_text.h"

#define LINK_REASONS (HEALTH_BIT(HEALTH_LINK_DOWN) | HEALTH_BIT(HEALTH_PORT_DOWN))
/* At most this many pods are named; the others are counted. */
#define NAMED_MAX    8

/* Returns the function behind a device; for a slot, that of the HCA if the resource has only one.
 * NULL: unknown. */
static const struct function *doctor_function_of(const struct host *host,
						 const struct resource_table *t,
						 const struct resource_info *r,
						 const struct resource_device *d)
{
	if (!r->shared)
		return host_function(host, d->id);
	return r->n_members == 1 ? host_function(host, t->members[r->first_member]) : NULL;
}

const struct function *doctor_port_of(const struct host *host, const struct resource_table *t,
				      const struct resource_info *r, size_t k)
{
	const struct resource_device *d = &t->devices[r->first_device + k];
	const struct function *fn = doctor_function_of(host, t, r, d), *pf = fn;
	const struct netdev *nd;

	if (!fn || d->reasons == 0 || (d->reasons & ~LINK_REASONS))
		return NULL;
	if (fn->parent[0])
		pf = host_function(host, fn->parent);
	nd = pf ? host_function_netdev(host, pf->id) : NULL;
	return nd && nd->carrier == CARRIER_OFF ? pf : NULL;
}

bool doctor_port_is_first(const struct host *host, const struct resource_table *t, size_t resource,
			  size_t k, const struct function *pf)
{
	for (size_t i = 0; i <= resource; i++)
		for (size_t j = 0; j < (i < resource ? t->resources[i].n_devices : k); j++)
			if (doctor_port_of(host, t, &t->resources[i], j) == pf)
				return false;
	return true;
}

/* The devices behind a port: their number, their resources (the first one, and the number), and the
 * pods that hold them. */
struct port_devices {
	size_t n, n_resources, n_pods;
	const char *resource;
	/* The last one that became unhealthy. One that had another fault before the port went down
	 * is unhealthy for a longer time. */
	const struct resource_device *last;
	bool at_once; /* all became unhealthy at the same time */
	const struct pod_device *pods[NAMED_MAX];
};

static void doctor_add_holder(struct port_devices *p, const struct pod_device *d)
{
	for (size_t i = 0; i < p->n_pods && i < NAMED_MAX; i++)
		if (strcmp(p->pods[i]->pod, d->pod) == 0 &&
		    strcmp(p->pods[i]->namespace, d->namespace) == 0)
			return;
	if (p->n_pods < NAMED_MAX)
		p->pods[p->n_pods] = d;
	p->n_pods++;
}

static void doctor_add_device(struct port_devices *p, const struct resource_device *d)
{
	bool same = !p->last || d->unhealthy_unix_ms / 1000 == p->last->unhealthy_unix_ms / 1000;

	p->at_once = same && (p->at_once || p->n == 0);
	if (!p->last || d->unhealthy_unix_ms > p->last->unhealthy_unix_ms)
		p->last = d;
	p->n++;
}

static void collect_devices(struct port_devices *p, const struct host *host,
			    const struct resource_table *t, const struct function *pf)
{
	for (size_t i = 0; i < t->n_resources; i++) {
		const struct resource_info *r = &t->resources[i];
		size_t before = p->n;

		for (size_t k = 0; k < r->n_devices; k++) {
			const struct resource_device *device = &t->devices[r->first_device + k];
			const struct pod_device *d;

			if (doctor_port_of(host, t, r, k) != pf)
				continue;
			doctor_add_device(p, device);
			d = pod_list_find(&t->held, r->name, device->id, NULL);
			if (d && d->pod[0])
				doctor_add_holder(p, d);
		}
		if (p->n == before)
			continue;
		p->resource = p->resource ? p->resource : r->name;
		p->n_resources++;
	}
}

void doctor_port_text(const struct host *host, const struct resource_table *t,
		      const struct function *pf, char *ret, size_t size)
{
	const struct netdev *nd = host_function_netdev(host, pf->id);
	struct port_devices p = {.n = 0};
	char more[48] = "", since[UTC_TEXT_SIZE] = "";
	size_t len;

	collect_devices(&p, host, t, pf);
	if (p.n_resources > 1)
		snprintf(more, sizeof(more), " and %zu more", p.n_resources - 1);
	if (p.last)
		utc_text(p.last->unhealthy_unix_ms, since);
	snprintf(ret, size,
		 "port %s is down: %zu device%s of %s%s not offered to new containers%s%.19s%s%s",
		 nd ? nd->name : pf->id, p.n, p.n == 1 ? "" : "s", p.resource ? p.resource : "-",
		 more,
		 !since[0]   ? ""
		 : p.at_once ? " since "
			     : ", the last one since ",
		 since, since[0] ? "Z" : "", since[0] && p.last->or_earlier ? " or earlier" : "");
	for (size_t i = 0; i < p.n_pods && i < NAMED_MAX; i++) {
		len = strlen(ret);
		snprintf(ret + len, size - len, "%s%s/%s",
			 i ? ", " : "; pods: ", p.pods[i]->namespace, p.pods[i]->pod);
	}
	len = strlen(ret);
	if (p.n_pods > NAMED_MAX)
		snprintf(ret + len, size - len, " and %zu more", p.n_pods - NAMED_MAX);
}

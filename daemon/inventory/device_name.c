#include "device_name.h"

/* What has been found so far. */
struct search {
	const char *name, *found;
	bool several;
};

static void found(struct search *s, const char *function)
{
	if (function[0] == '\0' || (s->found && strcmp(s->found, function) == 0))
		return;
	s->several |= s->found != NULL;
	s->found = function;
}

static bool has_name(const struct netdev *nd, const char *name)
{
	if (strcmp(nd->name, name) == 0)
		return true;
	for (const char *alt = NULL; (alt = netdev_altname(nd, alt));)
		if (strcmp(alt, name) == 0)
			return true;
	return false;
}

static void search_host(struct search *s, const struct host *host)
{
	for (size_t i = 0; i < host->n_netdevs; i++)
		if (host->netdevs[i].nsid == NSID_HOST && has_name(&host->netdevs[i], s->name))
			found(s, host->netdevs[i].function);
	for (size_t i = 0; i < host->n_rdma; i++)
		if (host->rdma[i].nsid == NSID_HOST && strcmp(host->rdma[i].name, s->name) == 0)
			found(s, host->rdma[i].function);
}

static void search_pods(struct search *s, struct attach_list list)
{
	for (size_t i = 0; i < list.n; i++) {
		const struct attach_record *r = list.items[i].record;

		if (r->plan.kind == PLAN_VF && r->state != ATTACH_FREE &&
		    (strcmp(r->origin.name, s->name) == 0 || strcmp(r->origin.rdma, s->name) == 0))
			found(s, r->function);
	}
}

const char *device_by_name(const struct host *host, struct attach_list list, const char *name,
			   struct err *e)
{
	const struct function *fn = host_function(host, name);
	struct search s = {.name = name};

	if (fn)
		return fn->id;
	if (name[0] != '\0') {
		search_host(&s, host);
		if (!s.found)
			search_pods(&s, list);
	}
	if (s.found && !s.several)
		return s.found;
	if (s.several)
		err_set(e, -ENOTUNIQ, "%.64s is the name of several devices: give the bus name",
			name);
	else
		err_set(e, -ENODEV, "%.64s is no device of this node", name);
	return NULL;
}

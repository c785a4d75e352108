// SPDX-License-Identifier: Apache-2.0
#include "host_builder.h"

#include <net/if_arp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"

static void *must(void *p)
{
	if (!p)
		abort();
	return p;
}

#define COPY(dst, src) snprintf((dst), sizeof(dst), "%s", (src))

struct function *build_function(struct host *h, enum fn_kind kind, const char *id,
				const char *parent, int number)
{
	struct function *f = must(array_push(h->functions, h->n_functions));

	*f = (struct function){.kind = kind, .vf = -1, .sfnum = -1, .numa = -1};
	COPY(f->id, id);
	COPY(f->parent, parent);
	if (kind == FN_VF)
		f->vf = number;
	if (kind == FN_SF)
		f->sfnum = number;
	return f;
}

struct netdev *build_netdev(struct host *h, const char *name, const char *function)
{
	struct netdev *d = must(array_push(h->netdevs, h->n_netdevs));

	d->nsid = NSID_HOST;
	d->ifindex = (int)h->n_netdevs;
	d->type = ARPHRD_ETHER;
	COPY(d->name, name);
	COPY(d->function, function);
	return d;
}

struct rdma_dev *build_rdma(struct host *h, const char *name, const char *function)
{
	struct rdma_dev *d = must(array_push(h->rdma, h->n_rdma));

	d->nsid = NSID_HOST;
	COPY(d->name, name);
	COPY(d->function, function);
	snprintf(d->uverbs, sizeof(d->uverbs), "uverbs%zu", h->n_rdma - 1);
	snprintf(d->umad, sizeof(d->umad), "umad%zu", h->n_rdma - 1);
	d->ports = must(calloc(1, sizeof(*d->ports)));
	d->n_ports = 1;
	d->ports[0] = (struct rdma_port){
		.num = 1, .state = PORT_ACTIVE, .link_layer = LINK_ETHERNET, .gid_table_len = 128};
	return d;
}

void build_master(struct host *h, const char *master, const char *member)
{
	struct netdev *m = find_netdev(h, member);

	m->master = find_netdev(h, master)->ifindex;
	COPY(m->master_name, master);
}

struct netdev *find_netdev(const struct host *h, const char *name)
{
	for (size_t i = 0; i < h->n_netdevs; i++)
		if (strcmp(h->netdevs[i].name, name) == 0)
			return &h->netdevs[i];
	abort();
}

struct rdma_dev *find_rdma(const struct host *h, const char *name)
{
	for (size_t i = 0; i < h->n_rdma; i++)
		if (strcmp(h->rdma[i].name, name) == 0)
			return &h->rdma[i];
	abort();
}

struct function *find_function(const struct host *h, const char *id)
{
	for (size_t i = 0; i < h->n_functions; i++)
		if (strcmp(h->functions[i].id, id) == 0)
			return &h->functions[i];
	abort();
}

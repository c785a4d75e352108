// SPDX-License-Identifier: Apache-2.0
/* host_digest.c - see host_digest.h. Hashes field by field, because padding and bytes after the end
 * of a string are undefined. Each step is FNV-1a's xor and multiply (draft-eastlake-fnv, 64 bits),
 * but on eight bytes, for speed. A shift then mixes the high bits into the low bits. A host with a
 * thousand functions has about 330 KB of fields. */
#include "host_digest.h"

#include <string.h>

struct digest {
	uint64_t h;
};

/* Adds a number. Signed values convert to the same unsigned bits every time, which is sufficient
 * for a hash. */
static void add_num(struct digest *d, uint64_t v)
{
	d->h = (d->h ^ v) * 0x100000001b3;
	d->h ^= d->h >> 29;
}

/* Pads the last word with zeroes. */
static void add_bytes(struct digest *d, const void *p, size_t n)
{
	const uint8_t *b = p;
	uint64_t word;

	for (; n >= sizeof(word); n -= sizeof(word), b += sizeof(word)) {
		memcpy(&word, b, sizeof(word));
		add_num(d, word);
	}
	word = 0;
	for (size_t i = 0; i < n; i++)
		word |= (uint64_t)b[i] << (8 * i);
	add_num(d, word);
}

/* Includes the terminating NUL, so that "ab","c" and "a","bc" hash differently. */
static void add_str(struct digest *d, const char *s)
{
	add_bytes(d, s, strlen(s) + 1);
}

static void host_add_function(struct digest *d, const struct function *f)
{
	add_str(d, f->id);
	add_num(d, f->kind);
	add_str(d, f->parent);
	add_num(d, (uint64_t)f->vf);
	add_num(d, (uint64_t)f->sfnum);
	add_num(d, (uint64_t)f->vendor << 16 | f->device);
	add_num(d, f->class);
	add_num(d, (uint64_t)f->numa);
	add_str(d, f->driver);
	add_num(d, f->sriov);
	add_num(d, f->vfs);
	add_num(d, f->vfs_total);
	add_num(d, f->acpi_index);
	add_str(d, f->path);
	add_str(d, f->vfio);
	add_str(d, f->uio);
	add_str(d, f->vdpa_node);
	add_str(d, f->vdpa_driver);
	add_num(d, f->vf_link);
	add_num(d, f->vf_settings);
	add_num(d, f->unreachable);
	add_str(d, f->devlink_error);
}

static void add_netdev(struct digest *d, const struct netdev *n)
{
	add_num(d, (uint64_t)n->nsid);
	add_num(d, (uint64_t)n->ifindex);
	add_str(d, n->name);
	for (const char *name = NULL; (name = netdev_altname(n, name));)
		add_str(d, name);
	add_str(d, "");
	add_str(d, n->function);
	add_str(d, n->kind);
	add_num(d, n->addr_len);
	add_bytes(d, n->addr, n->addr_len);
	add_bytes(d, n->link, sizeof(n->link));
	add_num(d, n->flags);
	add_str(d, n->operstate);
	add_num(d, n->carrier);
	add_num(d, n->carrier_changes);
	add_num(d, (uint64_t)n->master);
	add_str(d, n->master_name);
	add_num(d, (uint64_t)n->lower);
	add_num(d, n->type);
	add_num(d, n->default_route);
	add_str(d, n->port_name);
	add_str(d, n->origin);
	add_str(d, n->origin_uid);
}

static void add_gid(struct digest *d, const struct gid *g)
{
	add_num(d, g->index);
	add_bytes(d, g->raw, sizeof(g->raw));
	add_num(d, g->type);
	add_str(d, g->netdev);
}

static void host_add_port(struct digest *d, const struct rdma_port *p)
{
	add_num(d, p->num);
	add_num(d, p->state);
	add_num(d, p->phys_state);
	add_num(d, p->link_layer);
	add_num(d, p->rate_bps);
	add_num(d, p->active_mtu);
	add_num(d, p->max_mtu);
	add_num(d, (uint64_t)p->netdev_nsid);
	add_num(d, (uint64_t)p->netdev_ifindex);
	add_str(d, p->netdev);
	add_num(d, p->pkey);
	add_num(d, p->gid_table_len);
	add_num(d, p->n_gids);
	for (unsigned i = 0; i < p->n_gids; i++)
		add_gid(d, &p->gids[i]);
}

static void host_add_rdma(struct digest *d, const struct rdma_dev *r)
{
	add_str(d, r->name);
	add_num(d, (uint64_t)r->nsid);
	add_num(d, r->index);
	add_str(d, r->function);
	add_str(d, r->driver);
	add_str(d, r->fw);
	add_str(d, r->board);
	add_str(d, r->hca_type);
	add_num(d, r->node_guid);
	add_num(d, r->sys_image_guid);
	add_str(d, r->uverbs);
	add_str(d, r->umad);
	add_str(d, r->issm);
	add_str(d, r->ucm);
	add_num(d, r->no_uverbs_node);
	add_num(d, r->no_umad_node);
	add_num(d, r->n_ports);
	for (unsigned i = 0; i < r->n_ports; i++)
		host_add_port(d, &r->ports[i]);
}

uint64_t host_digest(const struct host *h)
{
	struct digest d = {.h = 0xcbf29ce484222325};

	add_num(&d, h->n_functions);
	for (size_t i = 0; i < h->n_functions; i++)
		host_add_function(&d, &h->functions[i]);
	add_num(&d, h->n_netdevs);
	for (size_t i = 0; i < h->n_netdevs; i++)
		add_netdev(&d, &h->netdevs[i]);
	add_num(&d, h->n_rdma);
	for (size_t i = 0; i < h->n_rdma; i++)
		host_add_rdma(&d, &h->rdma[i]);
	add_num(&d, h->n_namespaces);
	for (size_t i = 0; i < h->n_namespaces; i++) {
		add_num(&d, (uint64_t)h->namespaces[i].nsid);
		add_str(&d, h->namespaces[i].name);
	}
	add_num(&d, h->rdma_mode);
	add_num(&d, h->rdma_cm);
	return d.h;
}

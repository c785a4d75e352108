// SPDX-License-Identifier: Apache-2.0
/* inventory.c - merges scans into the model of the host. Pure.
 *
 * Success: take over the completely read parts of the scan, add devices in unreachable namespaces
 * from the previous host, sort, compare with the previous digest. Failures: out of memory while
 * adding a device (it is missing until the next scan), or while the host is borrowed (the scan is
 * not applied). */
#include "inventory.h"

#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "host_digest.h"
#include "host_index.h"
#include "search.h"

/* --- borrowing ---------------------------------------------------------------------------- */

struct host_ref *inventory_borrow(struct inventory *inv)
{
	struct host_ref *l = inv->host_ref;

	if (!l) {
		l = calloc(1, sizeof(*l));
		if (!l)
			return NULL;
		*l = (struct host_ref){.host = inv->host, .owner = inv};
		inv->host_ref = l;
	}
	l->n_borrowers++;
	return l;
}

void host_ref_put(struct host_ref *l)
{
	if (!l || --l->n_borrowers > 0)
		return;
	if (l->owner)
		l->owner->host_ref = NULL;
	else
		host_done(&l->host);
	free(l);
}

/* Leaves the borrowed arrays to the borrower. */
static void leave_to_borrower(struct inventory *inv)
{
	inv->host_ref->owner = NULL;
	inv->host_ref = NULL;
	inv->host = (struct host){0};
}

/* Copies the host if it is borrowed; call before changing it. False: out of memory. */
static bool own_host(struct inventory *inv)
{
	struct host copy = {0};

	if (!inv->host_ref)
		return true;
	if (host_copy(&copy, &inv->host) < 0)
		return false;
	leave_to_borrower(inv);
	inv->host = copy;
	return true;
}

/* --- devices in unreachable namespaces ------------------------------------------------------ */

/* True if a driver is bound to the function. It has created the function's devices, so they exist
 * in some namespace. */
static bool is_bound(const struct host_index *ix, const char *id)
{
	const struct function *f = host_index_function(ix, id);

	return f && f->driver[0];
}

/* Devices of the previous host whose function now has no device of that kind: pointers into that
 * host. */
struct kept_devices {
	const struct netdev **netdevs;
	size_t n_netdevs;
	struct rdma_dev **rdma;
	size_t n_rdma;
};

static void find_kept_netdevs(struct kept_devices *l, const struct host_index *now,
			      const struct host *before)
{
	for (size_t i = 0; i < before->n_netdevs; i++) {
		const struct netdev *old = &before->netdevs[i];

		if (host_index_parts(now, old->function).n_netdevs == 0 &&
		    is_bound(now, old->function))
			l->netdevs[l->n_netdevs++] = old;
	}
}

/* True if a missing device can be in an unreachable namespace. Only hardware can: the kernel
 * deletes a soft-RoCE device when its netdev moves. Unless the RDMA netns mode is exclusive, every
 * namespace shows every RDMA device, so a missing device was removed. */
static bool can_be_unreachable(const struct host *h, const struct rdma_dev *d)
{
	return h->rdma_mode == RDMA_NETNS_EXCLUSIVE && strcmp(d->driver, "rxe") != 0 &&
	       strcmp(d->driver, "siw") != 0;
}

static void find_kept_rdma(struct kept_devices *l, const struct host_index *now,
			   const struct host *before)
{
	for (size_t i = 0; i < before->n_rdma; i++) {
		struct rdma_dev *old = &before->rdma[i];

		if (host_index_parts(now, old->function).n_rdma == 0 &&
		    is_bound(now, old->function) && can_be_unreachable(now->host, old))
			l->rdma[l->n_rdma++] = old;
	}
}

/* Adds the devices of the previous host. The ports of RDMA devices are moved, so that freeing the
 * old host does not free them. */
static void add_unreachable(struct host *h, const struct kept_devices *l)
{
	struct netdev *nd;
	struct rdma_dev *rd;

	for (size_t i = 0; i < l->n_netdevs && (nd = array_push(h->netdevs, h->n_netdevs)); i++) {
		*nd = *l->netdevs[i];
		nd->nsid = NSID_ELSEWHERE;
	}
	for (size_t i = 0; i < l->n_rdma && (rd = array_push(h->rdma, h->n_rdma)); i++) {
		*rd = *l->rdma[i];
		rd->nsid = NSID_ELSEWHERE;
		l->rdma[i]->ports = NULL;
		l->rdma[i]->n_ports = 0;
	}
}

/* Keeps the devices in unreachable namespaces, for the parts that were scanned. */
static void keep_unreachable(struct host *h, const struct host *before, unsigned parts)
{
	struct kept_devices l = {.netdevs = calloc(before->n_netdevs + 1, sizeof(struct netdev *)),
				 .rdma = calloc(before->n_rdma + 1, sizeof(struct rdma_dev *))};
	struct host_index now;

	if (l.netdevs && l.rdma && host_index_init(&now, h) == 0) {
		if (parts & SCAN_NETDEVS)
			find_kept_netdevs(&l, &now, before);
		if (parts & SCAN_RDMA)
			find_kept_rdma(&l, &now, before);
		host_index_done(&now); /* the index points into arrays that grow below */
		add_unreachable(h, &l);
	}
	free(l.netdevs);
	free(l.rdma);
}

/* --- functions ---------------------------------------------------------------------------- */

/* Keeps the kinds of functions. While VFs are created or removed, a VF briefly has no link to its
 * PF and looks like a PF (linux/drivers/pci/iov.c, pci_iov_add_virtfn()). So such a function keeps
 * its previous kind. */
static void keep_kinds(struct host *h, const struct host *before)
{
	for (size_t i = 0; i < h->n_functions; i++) {
		struct function *f = &h->functions[i];
		const struct function *old;

		if (f->kind != FN_PF || f->sriov)
			continue;
		old = host_function(before, f->id);
		if (!old || old->kind != FN_VF || !host_function(h, old->parent))
			continue;
		f->kind = FN_VF;
		f->vf = old->vf;
		memcpy(f->parent, old->parent, sizeof(f->parent));
	}
}

/* --- details ------------------------------------------------------------------------------ */

/* Finds the device in the other list. Both lists have the same order, so the search starts behind
 * the previous match; *at is updated. */
static struct rdma_dev *inventory_same_device(struct host *h, const struct rdma_dev *d, size_t *at)
{
	for (size_t i = 0; i < h->n_rdma; i++) {
		size_t k = (*at + i) % h->n_rdma;
		struct rdma_dev *found = &h->rdma[k];

		if (found->index == d->index && found->node_guid == d->node_guid &&
		    strcmp(found->name, d->name) == 0) {
			*at = k + 1;
			return found;
		}
	}
	return NULL;
}

static void inventory_move_details(struct rdma_dev *to, struct rdma_dev *from)
{
	for (unsigned i = 0; i < to->n_ports && i < from->n_ports; i++) {
		struct rdma_port *t = &to->ports[i], *f = &from->ports[i];

		free(t->gids);
		t->gids = f->gids;
		t->n_gids = f->n_gids;
		t->gid_table_len = f->gid_table_len;
		t->active_mtu = f->active_mtu;
		t->max_mtu = f->max_mtu;
		f->gids = NULL;
		f->n_gids = 0;
	}
}

/* True if the details may differ. GIDs and the active MTU depend on the port's netdev and state.
 * Without a uverbs device the MTU cannot be queried. */
static bool details_may_differ(const struct rdma_dev *a, const struct rdma_dev *b)
{
	if (a->n_ports != b->n_ports || a->nsid != b->nsid || strcmp(a->uverbs, b->uverbs) != 0)
		return true;
	return any_of(a->n_ports, i,
		      a->ports[i].state != b->ports[i].state ||
			      a->ports[i].netdev_nsid != b->ports[i].netdev_nsid ||
			      a->ports[i].netdev_ifindex != b->ports[i].netdev_ifindex);
}

/* Keeps the previous details after a scan without details, until they have been read again. */
static void keep_details(struct host *h, struct host *before)
{
	size_t at = 0;

	for (size_t i = 0; i < h->n_rdma; i++) {
		struct rdma_dev *d = &h->rdma[i], *old;

		old = d->stale ? inventory_same_device(before, d, &at) : NULL;
		if (!old)
			continue;
		d->stale = old->stale || details_may_differ(d, old);
		inventory_move_details(d, old);
	}
}

/* Updates digest and generation. True if the host has changed since the last call. */
static bool note_change(struct inventory *inv, bool first)
{
	const struct host nothing = {0};
	uint64_t before = inv->generation ? inv->digest : host_digest(&nothing);
	uint64_t digest = host_digest(&inv->host);

	if (digest == before && !first)
		return false;
	inv->digest = digest;
	inv->generation++;
	return true;
}

int inventory_take_stale(struct inventory *inv, struct host *ret)
{
	for (size_t i = 0; i < inv->host.n_rdma; i++) {
		struct rdma_dev *d = &inv->host.rdma[i], *copy;

		/* A device in an unreachable namespace cannot be read: keep its last known
		 * values. */
		if (!d->stale || d->nsid == NSID_ELSEWHERE)
			continue;
		copy = array_push(ret->rdma, ret->n_rdma);
		if (!copy || rdma_dev_copy_bare(copy, d) < 0) {
			host_done(ret);
			return -ENOMEM;
		}
	}
	for (size_t i = 0; i < inv->host.n_rdma; i++)
		inv->host.rdma[i].stale = false;
	return (int)ret->n_rdma;
}

bool inventory_apply_details(struct inventory *inv, struct host *details)
{
	size_t at = 0;

	if (!own_host(inv))
		return false;
	for (size_t i = 0; i < details->n_rdma; i++) {
		struct rdma_dev *d = inventory_same_device(&inv->host, &details->rdma[i], &at);

		if (!d)
			continue;
		inventory_move_details(d, &details->rdma[i]);
		d->stale |= details->rdma[i].stale;
	}
	return note_change(inv, false);
}

bool inventory_mark_stale(struct inventory *inv, int nsid, int ifindex)
{
	bool any = false;

	for (size_t i = 0; i < inv->host.n_rdma; i++)
		for (unsigned k = 0; k < inv->host.rdma[i].n_ports; k++) {
			const struct rdma_port *p = &inv->host.rdma[i].ports[k];

			if (ifindex && (p->netdev_nsid != nsid || p->netdev_ifindex != ifindex))
				continue;
			inv->host.rdma[i].stale = true;
			any = true;
		}
	return any;
}

/* Removes devices in unreachable namespaces whose function was removed or unbound. */
static void drop_orphans(struct host *h)
{
	const struct host functions = {.functions = h->functions, .n_functions = h->n_functions};
	struct host_index ix;
	size_t n = 0;

	if (host_index_init(&ix, &functions) < 0)
		return;
	for (size_t i = 0; i < h->n_netdevs; i++)
		if (h->netdevs[i].nsid != NSID_ELSEWHERE || is_bound(&ix, h->netdevs[i].function))
			h->netdevs[n++] = h->netdevs[i];
	h->n_netdevs = n;
	n = 0;
	for (size_t i = 0; i < h->n_rdma; i++) {
		if (h->rdma[i].nsid != NSID_ELSEWHERE || is_bound(&ix, h->rdma[i].function))
			h->rdma[n++] = h->rdma[i];
		else
			rdma_dev_done(&h->rdma[i]);
	}
	h->n_rdma = n;
	host_index_done(&ix);
}

/* --- apply -------------------------------------------------------------------------------- */

#define SWAP(a, b)                                                                                 \
	do {                                                                                       \
		__typeof__(a) swapped_ = (a);                                                      \
		(a) = (b);                                                                         \
		(b) = swapped_;                                                                    \
	} while (0)

/* Swaps the complete parts: the previous values are freed with the scan. */
static void take_parts(struct host *h, struct host *from, unsigned parts)
{
	if (parts & SCAN_FUNCTIONS) {
		SWAP(h->functions, from->functions);
		SWAP(h->n_functions, from->n_functions);
	}
	if (parts & SCAN_NETDEVS) {
		SWAP(h->netdevs, from->netdevs);
		SWAP(h->n_netdevs, from->n_netdevs);
		SWAP(h->namespaces, from->namespaces);
		SWAP(h->n_namespaces, from->n_namespaces);
	}
	if (parts & SCAN_RDMA) {
		SWAP(h->rdma, from->rdma);
		SWAP(h->n_rdma, from->n_rdma);
		SWAP(h->rdma_mode, from->rdma_mode);
		SWAP(h->rdma_cm, from->rdma_cm);
	}
	if (parts & SCAN_REPORTS) {
		SWAP(h->reports, from->reports);
		SWAP(h->n_reports, from->n_reports);
	}
}

bool inventory_apply(struct inventory *inv, struct scan *scan, uint64_t began_ms)
{
	struct host *h = &inv->host;
	bool first = inv->generation == 0 && scan->parts;

	if (!own_host(inv))
		return false;
	take_parts(h, &scan->host, scan->parts);
	if (scan->parts & SCAN_NETDEVS)
		inv->devices_ms = began_ms;
	if (scan->parts & SCAN_RDMA)
		keep_details(h, &scan->host);
	if (scan->parts & (SCAN_NETDEVS | SCAN_RDMA))
		keep_unreachable(h, &scan->host, scan->parts);
	if (scan->parts & SCAN_FUNCTIONS) {
		keep_kinds(h, &scan->host);
		drop_orphans(h);
	}
	host_sync_virtual(h);
	host_sort(h);
	host_join_reports(h);
	scan->parts = 0; /* the scan now has the previous state */
	return note_change(inv, first);
}

void inventory_done(struct inventory *inv)
{
	if (inv->host_ref)
		leave_to_borrower(inv);
	host_done(&inv->host);
	*inv = (struct inventory){0};
}

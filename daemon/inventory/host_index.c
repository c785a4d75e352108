// SPDX-License-Identifier: Apache-2.0
/* host_index.c - a hash table of functions, and arrays of their parts grouped by function. */
#include "host_index.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A walk down from the netdevs with a default route, which visits each netdev once. */

struct walk {
	const struct host_index *index;
	const struct netdev **through;
	const struct netdev **queue;
	size_t head, tail;
};

static void default_visit(struct walk *w, const struct netdev *nd, const struct netdev *route)
{
	const struct netdev **through = &w->through[nd - w->index->host->netdevs];

	if (*through)
		return;
	*through = route;
	w->queue[w->tail++] = nd;
}

static bool default_is_kind(const struct netdev *nd, const char *kind)
{
	return strcmp(nd->kind, kind) == 0;
}

/* Visits the parent of a VLAN, macvlan or tunnel. The peer of a veth or netkit pair is no
 * parent. */
static void visit_lower(struct walk *w, const struct netdev *nd, const struct netdev *route)
{
	const struct netdev *lower;

	if (nd->lower == 0 || default_is_kind(nd, "veth") || default_is_kind(nd, "netkit"))
		return;
	lower = host_index_netdev(w->index, NSID_HOST, nd->lower);
	if (lower)
		default_visit(w, lower, route);
}

/* True if `master` is nd's own ifindex, or both are Open vSwitch devices. Netlink does not report
 * which ports an Open vSwitch device is connected to, so all of them are assumed. */
static bool is_above(const struct host_index *ix, const struct netdev *nd, int master)
{
	const struct netdev *m;

	if (nd->ifindex == master)
		return true;
	m = default_is_kind(nd, "openvswitch") ? host_index_netdev(ix, NSID_HOST, master) : NULL;
	return m && default_is_kind(m, "openvswitch");
}

/* Visits the members of a master. A hardware function is never a master, so it has none. */
static void visit_members(struct walk *w, const struct netdev *nd, const struct netdev *route)
{
	const struct host *h = w->index->host;

	if (nd->function[0] != '\0')
		return;
	for (size_t i = 0; i < h->n_netdevs; i++) {
		const struct netdev *member = &h->netdevs[i];

		if (member->nsid == NSID_HOST && member->master &&
		    is_above(w->index, nd, member->master))
			default_visit(w, member, route);
	}
}

static void walk_down(struct walk *w)
{
	const struct host *h = w->index->host;

	for (size_t i = 0; i < h->n_netdevs; i++)
		if (h->netdevs[i].nsid == NSID_HOST && h->netdevs[i].default_route)
			default_visit(w, &h->netdevs[i], &h->netdevs[i]);
	while (w->head < w->tail) {
		const struct netdev *nd = w->queue[w->head++];
		const struct netdev *route = w->through[nd - h->netdevs];

		visit_lower(w, nd, route);
		visit_members(w, nd, route);
	}
}

const struct netdev **default_routes(const struct host_index *ix)
{
	size_t n = ix->host->n_netdevs + 1;
	struct walk w = {.index = ix,
			 .through = calloc(n, sizeof(struct netdev *)),
			 .queue = calloc(n, sizeof(struct netdev *))};

	if (w.through && w.queue) {
		walk_down(&w);
	} else {
		free(w.through);
		w.through = NULL;
	}
	free(w.queue);
	return w.through;
}

const char *rdma_function_id(const struct rdma_dev *rd)
{
	return rd->function[0] != '\0' ? rd->function : rd->name;
}

/* The parts of a function are at [first, first + n) of the index's arrays. */
struct index_row {
	const char *id;
	const struct function *fn;
	uint32_t first_netdev, n_netdevs, first_rdma, n_rdma;
};

/* --- rows ------------------------------------------------------------------------------------- */

/* Returns the FNV-1a hash. */
static uint32_t hash(const char *id)
{
	uint32_t h = 0x811c9dc5;

	for (; *id; id++)
		h = (h ^ (unsigned char)*id) * 0x01000193;
	return h;
}

/* Returns the hash slot of this function, or the free slot where it would be entered. */
static uint32_t *slot_of(const struct host_index *ix, const char *id)
{
	uint32_t at = hash(id) & ix->mask;

	while (ix->slots[at] && strcmp(ix->rows[ix->slots[at] - 1].id, id) != 0)
		at = (at + 1) & ix->mask;
	return &ix->slots[at];
}

/* Returns the function's row number, adding a row if it has none. The array is large enough for
 * all. */
static uint32_t row_for(struct host_index *ix, const char *id)
{
	uint32_t *slot = slot_of(ix, id);

	if (*slot == 0) {
		ix->rows[ix->n_rows].id = id;
		*slot = ++ix->n_rows;
	}
	return *slot - 1;
}

/* Returns the function's row; NULL: it has none. Parts without a function have the id "". */
static const struct index_row *find_row(const struct host_index *ix, const char *id)
{
	uint32_t row = id[0] ? *slot_of(ix, id) : 0;

	return row ? &ix->rows[row - 1] : NULL;
}

/* --- netdevs by place ------------------------------------------------------------------------- */

static int cmp_place(const struct netdev *nd, int nsid, int ifindex)
{
	if (nd->nsid != nsid)
		return nd->nsid < nsid ? -1 : 1;
	return (nd->ifindex > ifindex) - (nd->ifindex < ifindex);
}

static int by_place(const void *a, const void *b)
{
	const struct netdev *x = *(const struct netdev *const *)a;
	const struct netdev *y = *(const struct netdev *const *)b;

	return cmp_place(x, y->nsid, y->ifindex);
}

/* Sorts the index. A host's list is usually in this order already (host_sort()), so the sort is
 * mostly skipped. */
static void sort_places(struct host_index *ix)
{
	const struct host *h = ix->host;
	bool sorted = true;

	for (size_t i = 0; i < h->n_netdevs; i++) {
		const struct netdev *nd = &h->netdevs[i];

		ix->places[i] = nd;
		sorted = sorted && (i == 0 || cmp_place(nd - 1, nd->nsid, nd->ifindex) <= 0);
	}
	if (!sorted)
		qsort(ix->places, h->n_netdevs, sizeof(struct netdev *), by_place);
}

/* --- init and done ---------------------------------------------------------------------------- */

/* Counts the parts of each row, and stores the row number of each netdev, then of each RDMA device,
 * in `rows`. */
static void count_parts(struct host_index *ix, uint32_t *rows)
{
	const struct host *h = ix->host;

	for (size_t i = 0; i < h->n_functions; i++) {
		struct index_row *row = &ix->rows[row_for(ix, h->functions[i].id)];

		if (!row->fn)
			row->fn = &h->functions[i];
	}
	for (size_t i = 0; i < h->n_netdevs; i++) {
		if (!h->netdevs[i].function[0])
			continue;
		rows[i] = row_for(ix, h->netdevs[i].function);
		ix->rows[rows[i]].n_netdevs++;
	}
	for (size_t i = 0; i < h->n_rdma; i++) {
		rows[h->n_netdevs + i] = row_for(ix, rdma_function_id(&h->rdma[i]));
		ix->rows[rows[h->n_netdevs + i]].n_rdma++;
	}
}

/* Turns the counts of all rows into start offsets, and resets the counts: they are counted again
 * while the arrays are filled. */
static void divide(struct host_index *ix)
{
	uint32_t netdevs = 0, rdma = 0;

	for (uint32_t i = 0; i < ix->n_rows; i++) {
		struct index_row *row = &ix->rows[i];

		row->first_netdev = netdevs;
		row->first_rdma = rdma;
		netdevs += row->n_netdevs;
		rdma += row->n_rdma;
		row->n_netdevs = row->n_rdma = 0;
	}
}

static void fill_parts(struct host_index *ix, const uint32_t *rows)
{
	const struct host *h = ix->host;

	for (size_t i = 0; i < h->n_netdevs; i++) {
		struct index_row *row = &ix->rows[rows[i]];

		if (h->netdevs[i].function[0])
			ix->netdevs[row->first_netdev + row->n_netdevs++] = &h->netdevs[i];
	}
	for (size_t i = 0; i < h->n_rdma; i++) {
		struct index_row *row = &ix->rows[rows[h->n_netdevs + i]];

		ix->rdma[row->first_rdma + row->n_rdma++] = &h->rdma[i];
	}
}

/* Keeps the table at most half full. */
static uint32_t n_slots(size_t n_rows)
{
	uint32_t n = 16;

	while (n < 2 * n_rows)
		n *= 2;
	return n;
}

int host_index_init(struct host_index *ix, const struct host *h)
{
	size_t n = h->n_functions + h->n_netdevs + h->n_rdma;
	uint32_t *rows = calloc(h->n_netdevs + h->n_rdma + 1, sizeof(*rows));

	*ix = (struct host_index){
		.host = h,
		.rows = calloc(n + 1, sizeof(*ix->rows)),
		.slots = calloc(n_slots(n), sizeof(*ix->slots)),
		.mask = n_slots(n) - 1,
		.netdevs = calloc(h->n_netdevs + 1, sizeof(struct netdev *)),
		.rdma = calloc(h->n_rdma + 1, sizeof(struct rdma_dev *)),
		.places = calloc(h->n_netdevs + 1, sizeof(struct netdev *)),
	};
	if (!rows || !ix->rows || !ix->slots || !ix->netdevs || !ix->rdma || !ix->places) {
		free(rows);
		host_index_done(ix);
		return -ENOMEM;
	}
	count_parts(ix, rows);
	divide(ix);
	fill_parts(ix, rows);
	sort_places(ix);
	free(rows);
	return 0;
}

void host_index_done(struct host_index *ix)
{
	free(ix->rows);
	free(ix->slots);
	free(ix->netdevs);
	free(ix->rdma);
	free(ix->places);
	*ix = (struct host_index){0};
}

/* --- look-ups --------------------------------------------------------------------------------- */

const struct function *host_index_function(const struct host_index *ix, const char *id)
{
	const struct index_row *row = find_row(ix, id);

	return row ? row->fn : NULL;
}

const struct netdev *host_index_netdev(const struct host_index *ix, int nsid, int ifindex)
{
	size_t low = 0, high = ix->host->n_netdevs;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		int r = cmp_place(ix->places[mid], nsid, ifindex);

		if (r == 0)
			return ix->places[mid];
		if (r < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return NULL;
}

static struct fn_parts host_index_parts_of(const struct host_index *ix, const struct index_row *row)
{
	return (struct fn_parts){
		.fn = row->fn,
		.netdevs = ix->netdevs + row->first_netdev,
		.rdma = ix->rdma + row->first_rdma,
		.n_netdevs = row->n_netdevs,
		.n_rdma = row->n_rdma,
	};
}

struct fn_parts host_index_parts(const struct host_index *ix, const char *function)
{
	const struct index_row *row = find_row(ix, function);

	return row ? host_index_parts_of(ix, row) : (struct fn_parts){0};
}

/* Rows are created for the functions first, so row i is function i, unless two functions have the
 * same name. */
struct fn_parts host_index_own_parts(const struct host_index *ix, const struct function *fn)
{
	const struct index_row *row = &ix->rows[fn - ix->host->functions];

	return row->fn == fn ? host_index_parts_of(ix, row) : host_index_parts(ix, fn->id);
}

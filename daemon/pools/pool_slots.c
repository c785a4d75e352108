// SPDX-License-Identifier: Apache-2.0
/* pool_slots.c - computes the number of slots, their IDs, and the HCAs of each slot. */
#include "pool_slots.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "array.h"

/* True if the slots are named after their HCA, which is not possible if a slot is on all HCAs. */
static bool names_hca(const struct pool *p)
{
	return p->kind == POOL_SHARED_ONE && p->ids == ID_DEVICE_SLOT;
}

/* Returns the RDMA device through which a shared pool uses a function: in the host's namespace and
 * with its nodes. NULL: none, and *ret_why is the reason. */
static const struct rdma_dev *pool_slots_rdma(const struct pool *p, const struct fn_parts *parts,
					      enum why_not *ret_why)
{
	*ret_why = WHY_NOT_RDMA;
	for (size_t i = 0; i < parts->n_rdma; i++) {
		const struct rdma_dev *rd = part_rdma(parts, i);

		if (rd->nsid != NSID_HOST)
			continue;
		if (rd->uverbs[0] == '\0' || (p->require_umad && rd->umad[0] == '\0'))
			*ret_why = WHY_NOT_CHARDEV;
		else if (names_hca(p) && strlen(rd->name) > SLOT_NAME_MAX)
			*ret_why = WHY_NOT_LONG_NAME;
		else
			return rd;
	}
	return NULL;
}

enum why_not pool_match(const struct pool *p, const struct selector *s, const struct candidate *c)
{
	enum why_not why = selector_match(s, p, c);

	if (why != WHY_NOT_NONE || p->kind == POOL_EXCLUSIVE)
		return why;
	return pool_slots_rdma(p, &c->self, &why) ? WHY_NOT_NONE : why;
}

/* --- GID tables ------------------------------------------------------------------------------- */

/* Returns the number of slots that fit the port's GID table, see POOL_SLOTS_DEFAULT. 0 = unknown,
 * or InfiniBand, whose tables have no entries for addresses. */
static unsigned port_room(const struct rdma_port *p)
{
	if (p->link_layer == LINK_INFINIBAND || p->gid_table_len == 0)
		return 0;
	return p->gid_table_len > 4 ? (p->gid_table_len - 2) / 2 : 1;
}

/* Returns the minimum of the known values. */
static unsigned min_room(unsigned a, unsigned b)
{
	if (a == 0 || b == 0)
		return a + b;
	return a < b ? a : b;
}

static unsigned hca_room(const struct pool_view *v, size_t member, const struct host_index *ix)
{
	struct fn_parts parts = host_index_parts(ix, v->members[member]);
	enum why_not why;
	const struct rdma_dev *rd = pool_slots_rdma(v->pool, &parts, &why);
	unsigned room = 0;

	for (unsigned i = 0; rd && i < rd->n_ports; i++)
		room = min_room(room, port_room(&rd->ports[i]));
	return room;
}

/* --- offers ----------------------------------------------------------------------------------- */

int pool_offer_numa(const struct pool_view *v, const struct offer *o, const struct host_index *ix)
{
	int numa = -1;

	for (size_t i = 0; i < o->n_members && !v->pool->exclude_topology; i++) {
		const struct function *fn = host_index_function(ix,
								v->members[o->first_member + i]);
		int node = fn ? fn->numa : -1;

		if (fn && fn->kind == FN_SF && node < 0) {
			fn = host_index_function(ix, fn->parent);
			node = fn ? fn->numa : -1;
		}
		if (i > 0 && node != numa)
			return -1;
		numa = node;
	}
	return numa;
}

static void slot_id(const struct pool_view *v, struct offer *o, uint16_t slot,
		    const struct host_index *ix)
{
	struct fn_parts parts;
	enum why_not why;
	const struct rdma_dev *rd = NULL;

	if (names_hca(v->pool)) {
		parts = host_index_parts(ix, v->members[o->first_member]);
		rd = pool_slots_rdma(v->pool, &parts, &why);
	}
	if (rd)
		snprintf(o->id, sizeof(o->id), "%.*s-%u", (int)SLOT_NAME_MAX, rd->name, slot);
	else
		snprintf(o->id, sizeof(o->id), "%zu", v->n_offers - 1);
}

/* Adds n slots with the same members. A slot's number is below POOL_SLOTS_MAX. */
static int add_slots(struct pool_view *v, size_t first, size_t n_members, uint64_t n,
		     const struct host_index *ix)
{
	struct offer like = {.first_member = first, .n_members = n_members};

	like.numa = pool_offer_numa(v, &like, ix);
	v->n_wanted += n;
	for (uint64_t i = 0; i < n && v->n_offers < POOL_SLOTS_MAX; i++) {
		struct offer *o = array_push(v->offers, v->n_offers);

		if (!o)
			return -ENOMEM;
		*o = like;
		slot_id(v, o, (uint16_t)i, ix);
	}
	return 0;
}

static uint64_t slots_of(const struct pool *p, unsigned room)
{
	if (p->slots || p->slots_given)
		return p->slots;
	return room ? room : POOL_SLOTS_DEFAULT;
}

static int offer_all(struct pool_view *v, const struct host_index *ix)
{
	for (size_t i = 0; i < v->n_members; i++)
		v->gid_capacity = min_room(v->gid_capacity, hca_room(v, i, ix));
	if (v->n_members == 0 && !v->pool->fixed_slots)
		return 0;
	return add_slots(v, 0, v->n_members, slots_of(v->pool, v->gid_capacity), ix);
}

static int offer_each(struct pool_view *v, const struct host_index *ix)
{
	bool known = true;

	if (v->n_members == 0 && v->pool->fixed_slots && !names_hca(v->pool))
		return add_slots(v, 0, 0, slots_of(v->pool, 0), ix);
	for (size_t i = 0; i < v->n_members; i++) {
		unsigned room = hca_room(v, i, ix);
		int r = add_slots(v, i, 1, slots_of(v->pool, room), ix);

		if (r < 0)
			return r;
		v->gid_capacity += room;
		known = known && room;
	}
	if (!known)
		v->gid_capacity = 0;
	return 0;
}

int pool_slots_offer(struct pool_view *v, const struct host_index *ix)
{
	return v->pool->kind == POOL_SHARED_ALL ? offer_all(v, ix) : offer_each(v, ix);
}

/* True if the ID is a slot of the device: "mlx5_0-7" is a slot of mlx5_0, even if there are fewer
 * slots now. */
static bool pool_is_slot_of(const char *id, const char *rdma_name)
{
	size_t n = strlen(rdma_name);

	return strncmp(id, rdma_name, n) == 0 && id[n] == '-' && !strchr(id + n + 1, '-');
}

void pool_slots_held(const struct pool_view *v, const struct host_index *ix, struct offer *o)
{
	enum why_not why;

	if (v->pool->kind == POOL_SHARED_ALL)
		o->n_members = v->n_members;
	for (size_t i = 0; i < v->n_members && names_hca(v->pool); i++) {
		struct fn_parts parts = host_index_parts(ix, v->members[i]);
		const struct rdma_dev *rd = pool_slots_rdma(v->pool, &parts, &why);

		if (rd && pool_is_slot_of(o->id, rd->name)) {
			o->first_member = i;
			o->n_members = 1;
		}
	}
	o->gone = o->n_members == 0;
	o->numa = pool_offer_numa(v, o, ix);
}

// SPDX-License-Identifier: Apache-2.0
#include "world_trouble.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "host_builder.h"

/* --- files ------------------------------------------------------------------------------------ */

void world_lose_record(struct world *w, unsigned i)
{
	struct world_device *d = &w->devices[i];

	assert_null(w->engine);
	if (!d->marked)
		return;
	memset(&d->record, 0, sizeof(d->record));
	d->home_vlan = 0;
	d->lease.held = false; /* lost with the journal */
}

bool world_remove_journal(struct world *w)
{
	bool marked = true;

	pthread_mutex_lock(&w->lock);
	for (unsigned i = 0; i < WORLD_VFS; i++)
		marked = marked && (!w->devices[i].ns || w->devices[i].marked);
	w->journal_gone = w->journal_gone || marked;
	pthread_mutex_unlock(&w->lock);
	return marked;
}

bool world_is_on_record(struct world *w)
{
	bool all = !w->journal_gone;

	pthread_mutex_lock(&w->lock);
	for (unsigned i = 0; i < WORLD_VFS; i++)
		all = all && (!w->devices[i].ns || w->devices[i].record.state != ATTACH_FREE);
	pthread_mutex_unlock(&w->lock);
	return all;
}

bool world_unmark(struct world *w, unsigned i)
{
	struct world_device *d = &w->devices[i];
	bool can;

	pthread_mutex_lock(&w->lock);
	can = d->ns && w->alive[d->ns] && d->marked && d->settled && !d->busy &&
	      d->record.state == ATTACH_IN_POD && !w->journal_gone;
	if (can)
		d->marked = false;
	pthread_mutex_unlock(&w->lock);
	return can;
}

bool world_rename(struct world *w, unsigned i, const char *name)
{
	struct world_device *d = &w->devices[i];
	bool can;

	pthread_mutex_lock(&w->lock);
	can = d->ns && w->alive[d->ns] && d->settled;
	if (can)
		snprintf(d->called, sizeof(d->called), "%s", name);
	pthread_mutex_unlock(&w->lock);
	return can;
}

void world_renumber(struct world *w, unsigned i)
{
	pthread_mutex_lock(&w->lock);
	w->devices[i].renumbered++;
	pthread_mutex_unlock(&w->lock);
}

/* Reads the owner of the state folder from its lock file. */
static void read_lock(const struct world *w, char *text, size_t size)
{
	char path[PATH_MAX];
	FILE *f;

	snprintf(path, sizeof(path), "%s/lock", w->dir);
	f = fopen(path, "re");
	assert_non_null(f);
	text[fread(text, 1, size - 1, f)] = '\0';
	fclose(f);
}

void world_start_another(struct world *w)
{
	char before[128], after[128];
	struct lock l = LOCK_NONE;
	struct err e = {0};

	read_lock(w, before, sizeof(before));
	assert_int_equal(lock_take(&l, &w->hw, w->dir, 0700, "another's", &e), -EALREADY);
	read_lock(w, after, sizeof(after));
	assert_string_equal(after, before);
}

void world_move(struct world *w, uint64_t ns, bool moved, bool blind)
{
	pthread_mutex_lock(&w->lock);
	w->moved[ns] = moved;
	w->blind = blind;
	pthread_mutex_unlock(&w->lock);
}

/* --- the node --------------------------------------------------------------------------------- */

static void start_device(struct world_device *d, uint16_t vlan)
{
	d->ns = 0;
	d->called[0] = '\0';
	d->traces = 0;
	d->upper = false;
	d->marked = d->dirty = d->settled = d->taken_out = false;
	d->vlan = d->home_vlan = vlan;
}

void world_reboot(struct world *w, uint16_t vlan)
{
	static unsigned boots;

	world_close(w);
	snprintf(w->boot, sizeof(w->boot), "boot-%u", ++boots);
	for (uint64_t ns = 1; ns <= w->n_namespaces; ns++) {
		world_end_sandbox(w, ns);
		world_end_namespace(w, ns);
	}
	for (unsigned i = 0; i < WORLD_VFS; i++)
		start_device(&w->devices[i], vlan);
	world_restart(w);
}

/* --- pods ------------------------------------------------------------------------------------- */

bool world_leave(struct world *w, unsigned i, uint8_t traces, bool upper)
{
	struct world_device *d = &w->devices[i];
	bool has;

	pthread_mutex_lock(&w->lock);
	has = d->ns && w->alive[d->ns];
	if (has) {
		d->traces |= traces;
		d->upper = d->upper || upper;
	}
	pthread_mutex_unlock(&w->lock);
	return has;
}

/* --- administrators --------------------------------------------------------------------------- */

void world_take_out(struct world *w, unsigned i)
{
	struct world_device *d = &w->devices[i];

	pthread_mutex_lock(&w->lock);
	if (d->ns)
		d->taken_out = true;
	d->ns = 0;
	pthread_mutex_unlock(&w->lock);
}

static bool is_unused(const struct world_device *d)
{
	return !d->ns && !d->marked && !d->dirty && !d->traces && !d->upper &&
	       d->vlan == d->home_vlan;
}

bool world_is_unused(struct world *w, unsigned i)
{
	bool unused;

	pthread_mutex_lock(&w->lock);
	unused = is_unused(&w->devices[i]);
	pthread_mutex_unlock(&w->lock);
	return unused;
}

bool world_set_up(struct world *w, unsigned i, uint16_t vlan)
{
	struct world_device *d = &w->devices[i];
	bool free;

	pthread_mutex_lock(&w->lock);
	free = is_unused(d) && d->record.state == ATTACH_FREE && !d->rewriting && !d->busy;
	if (free)
		d->vlan = d->home_vlan = vlan;
	pthread_mutex_unlock(&w->lock);
	return free;
}

/* --- the kubelet ------------------------------------------------------------------------------ */

void world_show_young(struct world *w, unsigned known_vfs)
{
	struct pod_list all = w->kubelet;
	struct pod_list some = {.source = all.source, .asked_ms = all.asked_ms};

	for (size_t k = 0; k < all.n; k++)
		for (unsigned i = 0; i < WORLD_VFS; i++)
			if (known_vfs & 1u << i && strcmp(all.devices[k].id, world_vf(i)) == 0)
				assert_int_equal(pod_list_push(&some, &all.devices[k]), 0);
	w->kubelet = some;
	world_show_pods(w);
	w->kubelet = all;
	pod_list_done(&some);
}

/* The conditions of offer_reasons() in plugin/resource.c for a healthy device. */
bool world_is_offered(const struct world *w, unsigned i)
{
	const struct host *h = &w->inventory.host;

	if (!w->inventory.generation || !attach_engine_is_ready(w->engine) ||
	    w->held.source ==
		    POD_SOURCE_NONE || /* nothing is offered before allocations are known */
	    attach_engine_fitness(w->engine, world_vf(i)) != ATTACH_FIT ||
	    pod_list_find(&w->held, WORLD_ROCE, world_vf(i), NULL))
		return false;
	for (size_t k = 0; k < h->n_netdevs; k++)
		if (strcmp(h->netdevs[k].function, world_vf(i)) == 0)
			return h->netdevs[k].nsid == NSID_HOST && !h->netdevs[k].origin[0];
	return false;
}

#include "nicstats.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"

void nicstats_init(struct nicstats *ns)
{
	*ns = (struct nicstats){.ethtool = ETHTOOL_CLOSED};
}

void nicstats_done(struct nicstats *ns)
{
	for (size_t i = 0; i < ns->n; i++)
		free(ns->nics[i].picks);
	free(ns->nics);
	ethtool_close(&ns->ethtool);
	nicstats_init(ns);
}

static int pick(struct nicstats_nic *nic, const char (*names)[32], layout_slot_fn *fn, void *arg)
{
	for (uint32_t i = 0; i < nic->count; i++) {
		char name[sizeof(names[i]) + 1];
		struct nicstats_pick *p;
		uint32_t slot;

		snprintf(name, sizeof(name), "%.*s", (int)sizeof(names[i]), names[i]);
		slot = fn(name, arg);
		if (slot == NO_SLOT)
			continue;
		p = array_push(nic->picks, nic->n);
		if (!p)
			return -ENOMEM;
		*p = (struct nicstats_pick){.index = i, .slot = slot};
	}
	return 0;
}

int nicstats_add(struct nicstats *ns, const char *ifname, layout_slot_fn *fn, void *arg)
{
	const char(*names)[32] = NULL;
	struct nicstats_nic *nic;
	int n = ethtool_open(&ns->ethtool);

	if (n == 0)
		n = ethtool_names(&ns->ethtool, ifname, &names);
	if (n < 0)
		return n;
	nic = array_push(ns->nics, ns->n);
	if (!nic)
		return -ENOMEM;
	snprintf(nic->ifname, sizeof(nic->ifname), "%s", ifname);
	nic->count = (uint32_t)n;
	return pick(nic, names, fn, arg);
}

static void trim_picks(struct nicstats_nic *nic, const struct layout *l)
{
	size_t kept = 0;

	for (size_t i = 0; i < nic->n; i++) {
		struct nicstats_pick p = nic->picks[i];

		p.slot = layout_cell(l, p.slot);
		if (p.slot != NO_SLOT)
			nic->picks[kept++] = p;
	}
	nic->n = kept;
}

void nicstats_trim(struct nicstats *ns, const struct layout *l)
{
	size_t kept = 0;

	for (size_t i = 0; i < ns->n; i++) {
		trim_picks(&ns->nics[i], l);
		if (ns->nics[i].n)
			ns->nics[kept++] = ns->nics[i];
		else
			free(ns->nics[i].picks);
	}
	ns->n = kept;
}

static int read_nic(struct nicstats *ns, const struct nicstats_nic *nic, struct layout *l)
{
	const uint64_t *values;
	int r = ethtool_values(&ns->ethtool, nic->ifname, nic->count, &values);

	for (size_t i = 0; i < nic->n; i++) {
		struct widen *cell = &l->cells[nic->picks[i].slot];

		cell->ok = r == 0;
		if (cell->ok)
			cell->raw = values[nic->picks[i].index];
	}
	return r;
}

size_t nicstats_read(struct nicstats *ns, struct layout *l, bool *ret_stale)
{
	size_t errors = 0;

	for (size_t i = 0; i < ns->n; i++) {
		int r = read_nic(ns, &ns->nics[i], l);

		errors += r < 0;
		*ret_stale |= r == -ESTALE;
	}
	return errors;
}

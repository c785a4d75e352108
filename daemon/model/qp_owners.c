#include "qp_owners.h"

const struct qp_owner *qp_owners_find(const struct qp_owners *os, uint32_t pid, uint64_t cgroup,
				      uint64_t now_ms)
{
	for (size_t i = 0; i < os->n; i++) {
		const struct qp_owner *o = &os->items[i].owner;

		if (o->pid == pid && o->cgroup == cgroup &&
		    now_ms - os->items[i].asked_ms < QP_OWNER_MS)
			return o;
	}
	return NULL;
}

static size_t slot_for(struct qp_owners *os, uint32_t pid)
{
	size_t oldest = 0;

	for (size_t i = 0; i < os->n; i++) {
		if (os->items[i].owner.pid == pid)
			return i;
		if (os->items[i].asked_ms < os->items[oldest].asked_ms)
			oldest = i;
	}
	return os->n < QP_OWNERS_MAX ? os->n++ : oldest;
}

void qp_owners_keep(struct qp_owners *os, const struct qp_owner *owner, uint64_t now_ms)
{
	size_t slot = slot_for(os, owner->pid);

	os->items[slot].owner = *owner;
	os->items[slot].asked_ms = now_ms;
}

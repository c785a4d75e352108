/* upkeep.c - of devices that are in their pod: the neighbours are told when there is a carrier, and
 * the device is compared with its plan when it was seen to change, and now and then. */
#include <string.h>

#include "engine_state.h"

/* FNV-1a */
static uint64_t mix(uint64_t h, const void *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		h = (h ^ ((const uint8_t *)bytes)[i]) * 0x100000001b3;
	return h;
}

/* Of what an attach sets and the inventory shows. */
static uint64_t digest_of(const struct netdev *nd, const struct function *fn)
{
	unsigned up = nd->flags & IFF_UP;
	uint64_t h = mix(0xcbf29ce484222325, nd->name, strlen(nd->name));

	h = mix(h, nd->addr, nd->addr_len);
	h = mix(h, &nd->mtu, sizeof(nd->mtu));
	h = mix(h, &up, sizeof(up));
	if (fn)
		h = mix(h, &fn->vf_settings, sizeof(fn->vf_settings));
	return h ? h : 1;
}

/* In a namespace that cannot be looked into nothing tells of a carrier. */
static bool may_announce(const struct attachment *a, const struct netdev *nd)
{
	if (record_is_stacked(&a->record))
		return true;
	return nd && nd->nsid != NSID_HOST &&
	       (nd->carrier == CARRIER_ON || nd->nsid == NSID_ELSEWHERE);
}

static void follow_netdev(struct attachment *a, const struct netdev *nd)
{
	uint64_t digest;

	if (!nd || nd->nsid == NSID_HOST)
		return;
	digest = digest_of(nd, host_function(&a->engine->inventory->host, a->record.function));
	if (a->digest && a->digest != digest)
		a->check_now = true;
	a->digest = digest;
}

static bool is_check_due(const struct attachment *a)
{
	return !a->engine->checking &&
	       (a->check_now || a->repair_now || uv_now(a->engine->loop) >= a->check_ms);
}

static void keep_up(struct attachment *a)
{
	const struct netdev *nd = attachment_netdev(a);

	follow_netdev(a, nd);
	if (a->op || a->engine->dry_run)
		return;
	if (!a->announced && may_announce(a, nd)) {
		a->announced = true;
		attachment_announce(a);
	} else if (is_check_due(a)) {
		bool repair = a->repair || a->repair_now;

		a->check_now = a->repair_now = false;
		a->check_ms = uv_now(a->engine->loop) + ENGINE_MEMORY_MS;
		attachment_check(a, repair);
	}
}

void upkeep(struct attach_engine *e)
{
	for (size_t i = 0; i < e->n; i++)
		if (e->items[i]->record.state == ATTACH_IN_POD)
			keep_up(e->items[i]);
}

/* The end of a check is a tick, too: the next one follows. */
uint64_t upkeep_deadline(const struct attach_engine *e)
{
	uint64_t first = NEVER;

	for (size_t i = 0; i < e->n && !e->checking && !e->dry_run; i++)
		if (e->items[i]->record.state == ATTACH_IN_POD && !e->items[i]->op)
			first = earlier(first, e->items[i]->check_ms);
	return first;
}

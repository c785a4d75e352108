// SPDX-License-Identifier: Apache-2.0
/* health.c - the current reasons against a device, and their damping.
 *
 * Each reason has its own timer, which restarts whenever the reason appears or disappears. A reason
 * that flaps faster than its hold time never takes effect, in either direction. */
#include "health.h"

#include <stdio.h>
#include <string.h>

#include "selectors.h"

/* Reasons whose seen and counted states differ. */
static unsigned health_pending(const struct health *h)
{
	return h->seen ^ h->counted;
}

static uint32_t hold_ms(const struct health *h, const struct pool *pool, unsigned reason)
{
	const struct hold_times *hold = &pool->hold[reason];

	return h->seen & HEALTH_BIT(reason) ? hold->down_ms : hold->up_ms;
}

void health_start(struct health *h, unsigned reasons, uint64_t now_ms)
{
	*h = (struct health){.seen = reasons,
			     .counted = reasons,
			     .unhealthy_ms = reasons ? now_ms : 0,
			     .or_earlier = reasons != 0};
	for (unsigned i = 0; i < N_HEALTH_REASONS; i++)
		h->since_ms[i] = now_ms;
}

/* Called after `counted` has changed from `before`. */
static void health_note(struct health *h, unsigned before)
{
	if (h->counted == 0) {
		h->unhealthy_ms = 0;
		h->or_earlier = false;
	}
	for (unsigned i = 0; before == 0 && i < N_HEALTH_REASONS; i++)
		if (h->counted & HEALTH_BIT(i) &&
		    (h->unhealthy_ms == 0 || h->since_ms[i] < h->unhealthy_ms))
			h->unhealthy_ms = h->since_ms[i];
}

bool health_update(struct health *h, unsigned reasons, const struct pool *pool, uint64_t now_ms)
{
	unsigned flipped = h->seen ^ reasons, before = h->counted;

	if (flipped == 0 && health_pending(h) == 0)
		return false;
	h->seen = reasons;
	for (unsigned i = 0; i < N_HEALTH_REASONS; i++) {
		if (flipped & HEALTH_BIT(i))
			h->since_ms[i] = now_ms;
		if (health_pending(h) & HEALTH_BIT(i) && now_ms >= h->since_ms[i] &&
		    now_ms - h->since_ms[i] >= hold_ms(h, pool, i))
			h->counted ^= HEALTH_BIT(i);
	}
	if (h->counted == before)
		return false;
	health_note(h, before);
	return true;
}

uint64_t health_deadline(const struct health *h, const struct pool *pool)
{
	uint64_t first = UINT64_MAX;

	for (unsigned i = 0; i < N_HEALTH_REASONS && health_pending(h); i++) {
		uint64_t at = h->since_ms[i] + hold_ms(h, pool, i);

		if (health_pending(h) & HEALTH_BIT(i) && at < first)
			first = at;
	}
	return first;
}

void health_text(unsigned reasons, char *text, size_t size)
{
	size_t len = 0;

	if (size)
		text[0] = '\0';
	for (unsigned i = 0; i < N_HEALTH_REASONS && len < size; i++)
		if (reasons & HEALTH_BIT(i))
			len += (size_t)snprintf(text + len, size - len, "%s%s", len ? ", " : "",
						health_reason_name((enum health_reason)i));
}

/* --- current reasons -------------------------------------------------------------------------- */

/* An unused VF is administratively down in the host, or is bound to a user space driver and has no
 * netdev: this is normal. Its link then depends on its PF's carrier and on the VF link state that
 * the PF sets. */

/* --- links ------------------------------------------------------------------------------------ */

/* Ascending: the best of several netdevs counts. */
enum link_seen { SEEN_NOTHING, SEEN_IDLE, SEEN_DEAD, SEEN_ALIVE };

/* True if the netdev is up and not dormant. RFC 2863: a link that is up may still be dormant, e.g.
 * waiting for 802.1X. */
static bool health_is_usable(const struct netdev *d)
{
	static const char *const bad[] = {"dormant", "testing", "notpresent"};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (strcmp(d->operstate, bad[i]) == 0)
			return false;
	return d->carrier == CARRIER_ON || d->operstate[0] == '\0' ||
	       strcmp(d->operstate, "up") == 0 || strcmp(d->operstate, "unknown") == 0;
}

static enum link_seen netdev_link(const struct netdev *d)
{
	if (!(d->flags & IFF_UP))
		return SEEN_IDLE;
	return d->carrier != CARRIER_OFF && health_is_usable(d) ? SEEN_ALIVE : SEEN_DEAD;
}

/* Returns the best link of the function's netdevs: one working port is enough. */
static enum link_seen own_link(const struct fn_parts *parts, bool anywhere)
{
	enum link_seen best = SEEN_NOTHING;

	for (size_t i = 0; i < parts->n_netdevs; i++) {
		const struct netdev *d = part_netdev(parts, i);
		enum link_seen link;

		/* The values of a netdev in an unreachable namespace are old. */
		if (d->nsid != NSID_HOST && (!anywhere || d->nsid == NSID_ELSEWHERE))
			continue;
		if (!netdev_is_own(d))
			continue;
		link = netdev_link(d);
		if (link > best)
			best = link;
	}
	return best;
}

static const struct rdma_dev *health_rdma_of(const struct fn_parts *parts)
{
	return parts->n_rdma ? part_rdma(parts, 0) : NULL;
}

static bool is_infiniband(const struct rdma_dev *d)
{
	return d->n_ports && d->ports[0].link_layer == LINK_INFINIBAND;
}

/* True if any port is active. An unknown state is treated as active. */
static bool any_port_active(const struct rdma_dev *d)
{
	for (unsigned i = 0; i < d->n_ports; i++)
		if (d->ports[i].state == PORT_ACTIVE || d->ports[i].state == PORT_ACTIVE_DEFER ||
		    d->ports[i].state == PORT_UNKNOWN)
			return true;
	return d->n_ports == 0;
}

/* Returns the physical function below a VF or a sub-function (whose parent may be a VF), or NULL.
 */
static const struct function *carrier_of(const struct host_index *ix, const struct function *f)
{
	const struct function *up = f;

	for (int i = 0; i < 2 && up && up->parent[0]; i++)
		up = host_index_function(ix, up->parent);
	return up == f ? NULL : up;
}

/* True if the uplink is dead. An uplink that is administratively down is treated as dead, because
 * its VFs have no link either. On InfiniBand the RDMA port decides, because the netdev is only for
 * IP. */
static bool is_uplink_dead(const struct host_index *ix, const struct function *pf)
{
	const struct fn_parts parts = host_index_own_parts(ix, pf);
	const struct rdma_dev *rdma = health_rdma_of(&parts);
	enum link_seen link;

	if (rdma && is_infiniband(rdma))
		return !any_port_active(rdma);
	link = own_link(&parts, true);
	return link == SEEN_DEAD || link == SEEN_IDLE;
}

static bool is_carrier_dead(const struct host_index *ix, const struct function *f)
{
	const struct function *pf = carrier_of(ix, f);

	return pf && f->vf_link != VF_LINK_ENABLE && is_uplink_dead(ix, pf);
}

/* True if the link of the function is down. A netdev in a pod's namespace is not visible, so its PF
 * is judged instead. */
static bool is_link_down(const struct host_index *ix, const struct fn_parts *parts)
{
	const struct function *f = parts->fn;
	enum link_seen own = own_link(parts, false);

	if (f->vf_link == VF_LINK_DISABLE)
		return true;
	if (own == SEEN_ALIVE || own == SEEN_DEAD)
		return own == SEEN_DEAD;
	return is_carrier_dead(ix, f);
}

/* --- RDMA ------------------------------------------------------------------------------------- */

bool health_requires_rdma(const struct pool *p)
{
	for (size_t i = 0; i < p->n_selectors; i++)
		if (!p->selectors[i].is_rdma)
			return p->kind != POOL_EXCLUSIVE;
	return p->kind != POOL_EXCLUSIVE || p->n_selectors > 0;
}

/* True if the state of the RDMA port is checked. The port of an unused RoCE device is down along
 * with its netdev, which is normal. This includes a PF that has returned from a pod, because the
 * kernel brings a netdev down when it changes its namespace. */
static bool is_port_judged(const struct pool *p, const struct fn_parts *parts,
			   const struct rdma_dev *rdma)
{
	return p->kind != POOL_EXCLUSIVE || parts->fn->kind == FN_VIRTUAL || is_infiniband(rdma) ||
	       own_link(parts, false) >= SEEN_DEAD;
}

/* Judges whether programs can open the RDMA device. */
static unsigned judge_rdma_nodes(const struct pool *p, const struct rdma_dev *rdma)
{
	if (!rdma)
		return HEALTH_BIT(HEALTH_NO_RDMA);
	return !rdma->uverbs[0] || rdma->no_uverbs_node ||
			       (p->require_umad && (!rdma->umad[0] || rdma->no_umad_node))
		       ? HEALTH_BIT(HEALTH_NO_CHARDEV)
		       : 0;
}

/* True if the host sees the RDMA device of a container's function, or would see it if there were
 * one: in shared mode RDMA devices stay in the host. In exclusive mode it may be in a namespace
 * that the daemon cannot enter, and its nodes are visible only in the host. */
static bool health_sees_rdma(const struct host_index *ix, const struct rdma_dev *rdma)
{
	return rdma ? rdma->nsid == NSID_HOST : ix->host->rdma_mode == RDMA_NETNS_SHARED;
}

static unsigned judge_rdma(const struct pool *p, const struct fn_parts *parts)
{
	const struct rdma_dev *rdma = health_rdma_of(parts);
	unsigned reasons = judge_rdma_nodes(p, rdma);

	if (!rdma)
		return reasons;
	if (!p->ignore_link && !any_port_active(rdma) && is_port_judged(p, parts, rdma))
		reasons |= HEALTH_BIT(HEALTH_PORT_DOWN);
	return reasons;
}

/* The container opened its node before, or opens it when it restarts; the state of its port is that
 * of its netdev, which may be elsewhere. */
static unsigned judge_held_rdma(const struct pool *p, const struct host_index *ix,
				const struct fn_parts *parts)
{
	const struct rdma_dev *rdma = health_rdma_of(parts);

	return health_requires_rdma(p) && health_sees_rdma(ix, rdma) ? judge_rdma_nodes(p, rdma)
								     : 0;
}

/* --- one function ----------------------------------------------------------------------------- */

static bool health_has_word(const struct word_list *list, const char *word)
{
	for (size_t i = 0; i < list->n; i++)
		if (strcmp(list->words[i], word) == 0)
			return true;
	return list->n == 0;
}

static bool is_driver_wrong(const struct pool *p, const struct function *f)
{
	if (p->kind != POOL_EXCLUSIVE || f->kind == FN_VIRTUAL)
		return false;
	for (size_t i = 0; i < p->n_selectors && f->driver[0]; i++)
		if (health_has_word(&p->selectors[i].drivers, f->driver))
			return false;
	return !f->driver[0] || p->n_selectors > 0;
}

static unsigned judge_function(const struct pool *p, const struct host_index *ix, const char *id,
			       bool held)
{
	const struct fn_parts parts = host_index_parts(ix, id);
	const struct function *f = parts.fn;
	unsigned reasons = 0;

	if (!f)
		return HEALTH_BIT(HEALTH_GONE);
	if (f->unreachable)
		reasons |= HEALTH_BIT(HEALTH_PCI);
	if (f->devlink_error[0])
		reasons |= HEALTH_BIT(HEALTH_DEVLINK);
	if (p->type != DEVICE_ACCELERATOR && !p->ignore_link && is_link_down(ix, &parts))
		reasons |= HEALTH_BIT(HEALTH_LINK_DOWN);
	if (held)
		return reasons | judge_held_rdma(p, ix, &parts);
	if (is_driver_wrong(p, f))
		reasons |= HEALTH_BIT(HEALTH_NO_DRIVER);
	return health_requires_rdma(p) ? reasons | judge_rdma(p, &parts) : reasons;
}

/* --- one offer -------------------------------------------------------------------------------- */

unsigned health_judge(const struct pool_view *view, const struct offer *offer,
		      const struct host_index *ix, bool held)
{
	const struct pool *p = view->pool;
	unsigned all = 0;

	if (offer->gone)
		return HEALTH_BIT(HEALTH_GONE);
	/* Slots that are advertised without an HCA (fixed_slots) cannot fail. */
	if (offer->n_members == 0)
		return p->fixed_slots ? 0 : HEALTH_BIT(HEALTH_GONE);
	for (size_t i = 0; i < offer->n_members; i++) {
		/* A shared device stays in the host even if a container has a slot on it. */
		unsigned reasons = judge_function(p, ix, view->members[offer->first_member + i],
						  held && p->kind == POOL_EXCLUSIVE);

		if (reasons == 0)
			return 0; /* one member without a reason is enough */
		all |= reasons;
	}
	return all;
}

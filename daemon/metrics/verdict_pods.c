// SPDX-License-Identifier: Apache-2.0
#include "verdict_pods.h"

#include <string.h>

#include "search.h"

/* Returns the pod at a position of those that the verdict lists; NULL: it was listed before. */
static const struct observed_pod *verdict_pods_listed(const struct verdict *v, size_t at)
{
	const struct observed_pod *pod = &v->pods[at];

	return any_of(at, i,
		      strcmp(v->pods[i].name, pod->name) == 0 &&
			      strcmp(v->pods[i].namespace, pod->namespace) == 0)
		       ? NULL
		       : pod;
}

/* True if the pod has a slot of the verdict's device, or a VF that the verdict of its PF affects.
 */
static bool verdict_pods_holds(const struct verdict_holders *h, const struct verdict *v,
			       const struct pod_device *d)
{
	const struct function *fn = d->pod[0] ? host_function(h->host, d->id) : NULL;

	if (fn)
		return verdict_relation(v, h->report->verdicts, h->report->n_verdicts, "", v->port,
					fn->parent) == VERDICT_OF_PF;
	return d->pod[0] && resource_table_is_slot(h->table, d, v->function, v->device);
}

/* True if the holder at this index is a pod that was not returned before. */
static bool verdict_pods_is_new(const struct verdict_holders *h, const struct verdict *v, size_t at)
{
	const struct pod_device *held = h->table->held.devices, *d = &held[at];

	return !any_of(VERDICT_PODS_MAX, i,
		       strcmp(v->pods[i].name, d->pod) == 0 &&
			       strcmp(v->pods[i].namespace, d->namespace) == 0) &&
	       verdict_pods_holds(h, v, d) &&
	       !any_of(at, k,
		       strcmp(held[k].pod, d->pod) == 0 &&
			       strcmp(held[k].namespace, d->namespace) == 0 &&
			       verdict_pods_holds(h, v, &held[k]));
}

bool verdict_pods_next(const struct verdict_holders *h, const struct verdict *v, size_t *pos,
		       const char **ret_namespace, const char **ret_name)
{
	size_t listed = v->n_pods < VERDICT_PODS_MAX ? v->n_pods : VERDICT_PODS_MAX;
	size_t others = v->n_pods > VERDICT_PODS_MAX && h->table && h->host ? h->table->held.n : 0;

	while (*pos < listed) {
		const struct observed_pod *pod = verdict_pods_listed(v, (*pos)++);

		if (!pod)
			continue;
		*ret_namespace = pod->namespace;
		*ret_name = pod->name;
		return true;
	}
	while (*pos < listed + others) {
		size_t at = (*pos)++ - listed;

		if (!verdict_pods_is_new(h, v, at))
			continue;
		*ret_namespace = h->table->held.devices[at].namespace;
		*ret_name = h->table->held.devices[at].pod;
		return true;
	}
	return false;
}

void verdict_pods_others(const struct verdict_holders *h, const struct verdict *v, struct text *t)
{
	const struct observed_pod *victim;
	const char *namespace, *name;
	size_t pos = 0;
	bool any = false;

	if (!verdict_pods_next(h, v, &pos, &namespace, &name))
		return;
	for (; verdict_pods_next(h, v, &pos, &namespace, &name); any = true)
		text_addf(t, "%s%s/%s", any ? "," : "", namespace, name);
	pos = 0;
	for (; (victim = verdict_next_victim(v, h->report->verdicts, h->report->n_verdicts, &pos));
	     any = true)
		text_addf(t, "%s%s/%s", any ? "," : "", victim->namespace, victim->name);
}

// SPDX-License-Identifier: Apache-2.0
#include "explain.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "health.h"
#include "utc_text.h"

/* A sentence under construction; truncated if it does not fit. */
struct sentence {
	char *text;
	size_t size, len;
};

__attribute__((format(printf, 2, 3))) static void explain_print(struct sentence *s, const char *fmt,
								...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(s->text + s->len, s->size - s->len, fmt, ap);
	va_end(ap);
	if (n > 0)
		s->len += (size_t)n < s->size - s->len ? (size_t)n : s->size - s->len - 1;
}

void explain_owner(const struct attach_owner *o, char *ret, size_t size)
{
	struct sentence s = {ret, size, 0};

	ret[0] = '\0';
	if (o->container[0])
		explain_print(&s, "container %s of ", o->container);
	if (o->pod[0])
		explain_print(&s, "pod %s/%s", o->namespace, o->pod);
	else if (o->uid[0])
		explain_print(&s, "the pod with uid %s", o->uid);
	else
		explain_print(&s, "%s (%s)",
			      o->door == DOOR_ADMIN ? "an admin request" : "a namespace",
			      o->netns.path[0] ? o->netns.path : "unknown");
}

void explain_drift(unsigned drift, char *ret, size_t size)
{
	struct sentence s = {ret, size, 0};
	const char *name;
	unsigned bit;

	ret[0] = '\0';
	for (size_t i = 0; (name = attach_drift_name(i, &bit)); i++)
		if (drift & bit)
			explain_print(&s, "%s%s", s.len ? ", " : "", name);
}

/* --- attachments ------------------------------------------------------------------------------ */

static void explain_since(struct sentence *s, const struct explain_input *in)
{
	char when[UTC_TEXT_SIZE];

	utc_text(in->attachment->since_ms + in->epoch_ms, when);
	explain_print(s, " since %s", when);
}

static void explain_step(struct sentence *s, const struct attach_status *a)
{
	if (a->step)
		explain_print(s, ", at step %s", a->step);
}

static void explain_failure(struct sentence *s, const struct attach_status *a)
{
	if (a->error[0])
		explain_print(s, "; %s%.255s", a->tries > 1 ? "last error: " : "", a->error);
	if (a->tries)
		explain_print(s, " (tried %u time%s)", a->tries, a->tries == 1 ? "" : "s");
}

static void explain_put_drift(struct sentence *s, const struct attach_status *a)
{
	char names[128];

	explain_drift(a->drift, names, sizeof(names));
	if (names[0])
		explain_print(s, "; drift: %s", names);
}

static void explain_attachment(struct sentence *s, const struct explain_input *in)
{
	const struct attach_status *a = in->attachment;
	char owner[512];

	explain_owner(&a->record->owner, owner, sizeof(owner));
	switch (a->record->state) {
	case ATTACH_FREE:
		break;
	case ATTACH_ATTACHING:
		explain_print(s, "being attached to %s", owner);
		break;
	case ATTACH_IN_POD:
		explain_print(s, "in use by %s, %s%s", owner,
			      a->record->plan.in_host	  ? "in the host"
			      : a->record->plan.no_netdev ? "without a netdev, for "
							  : "as ",
			      a->record->plan.ifname);
		break;
	case ATTACH_RETURNING:
		explain_print(s, "being returned from %s", owner);
		break;
	case ATTACH_BAD:
		explain_print(s, "bad: could not be cleaned after %s", owner);
		break;
	}
	explain_since(s, in);
	explain_step(s, a);
	explain_put_drift(s, a);
	explain_failure(s, a);
}

/* --- allocations ----------------------------------------------------------------------------- */

void explain_unhealthy(const struct resource_device *d, char *ret, size_t size)
{
	struct sentence s = {ret, size, 0};
	char text[160], when[UTC_TEXT_SIZE];

	ret[0] = '\0';
	health_text(d->reasons, text, sizeof(text));
	utc_text(d->unhealthy_unix_ms, when);
	explain_print(&s, "%s", text);
	if (text[0] && when[0])
		explain_print(&s, " since %.19sZ%s", when, d->or_earlier ? " or earlier" : "");
}

static void explain_health(struct sentence *s, const struct resource_device *d)
{
	char text[224];

	explain_unhealthy(d, text, sizeof(text));
	if (text[0])
		explain_print(s, "; unhealthy because %s", text);
}

static void explain_holder(struct sentence *s, const struct resource_table *t, const char *resource,
			   const char *id)
{
	const struct pod_device *d = pod_list_find(&t->held, resource, id, NULL);
	struct attach_owner o = {0};
	char owner[512] = "a container";

	if (d && (d->pod[0] || d->uid[0])) {
		snprintf(o.namespace, sizeof(o.namespace), "%s", d->namespace);
		snprintf(o.pod, sizeof(o.pod), "%s", d->pod);
		snprintf(o.container, sizeof(o.container), "%s", d->container);
		snprintf(o.uid, sizeof(o.uid), "%s", d->uid);
		explain_owner(&o, owner, sizeof(owner));
	}
	explain_print(s, "in use by %s", owner);
}

static void explain_offer(struct sentence *s, const struct resource_table *t,
			  const struct resource_info *r, const struct resource_device *d)
{
	bool registered = r->registration == REGISTRATION_DONE;

	switch (d->state) {
	case RESERVATION_HELD:
		explain_holder(s, t, r->name, d->id);
		break;
	case RESERVATION_RESERVED:
		explain_print(s, "reserved: the kubelet allocates it to a container");
		break;
	case RESERVATION_FREE:
		explain_print(
			s,
			d->reasons ? "not usable"
			: t->held.source == POD_SOURCE_NONE && registered
				? "apparently free (the kubelet does not report the allocations of pods)"
				: "free");
		break;
	}
	if (d->state == RESERVATION_FREE && !registered) {
		explain_print(s, ", but not offered: %s is not registered with the kubelet",
			      r->name);
		explain_health(s, d);
		return;
	}
	explain_print(s, ", %s as %s", d->state == RESERVATION_FREE ? "offered" : "allocated",
		      r->name);
	explain_health(s, d);
}

/* True if the ID is a slot of the device: "mlx5_0-7" is a slot of mlx5_0; "7" does not show its
 * device. */
static bool explain_is_slot_of(const char *id, const char *rdma)
{
	size_t n = strlen(rdma);

	return n > 0 && strncmp(id, rdma, n) == 0 && id[n] == '-' && id[n + 1] &&
	       id[n + 1 + strspn(id + n + 1, "0123456789")] == '\0';
}

static void explain_shared(struct sentence *s, const struct explain_input *in,
			   const struct resource_info *r)
{
	const struct resource_device *d = &in->resources->table->devices[r->first_device];
	size_t given = 0, own = 0, own_given = 0;

	for (size_t i = 0; i < r->n_devices; i++) {
		bool is_given = d[i].state != RESERVATION_FREE,
		     is_own = explain_is_slot_of(d[i].id, in->rdma);

		given += is_given;
		own += is_own;
		own_given += is_own && is_given;
	}
	explain_print(s, "%sshared as %s, ", s->len ? "; " : "", r->name);
	if (own > 0)
		explain_print(s, "%zu of its %zu slots allocated", own_given, own);
	else if (r->n_members > 1)
		explain_print(s, "%zu of the %zu slots of %zu HCAs allocated", given, r->n_devices,
			      r->n_members);
	else
		explain_print(s, "%zu of %zu slots allocated", given, r->n_devices);
}

/* Names the resources that offer a function. A function belongs to one exclusive resource, or to
 * any number of shared resources. */
static bool explain_offered(struct sentence *s, const struct explain_input *in)
{
	const struct resource_table *t = in->resources->table;
	size_t n;
	const struct resource_entry *e = resource_index_find(in->resources, in->function, &n);

	for (size_t i = 0; i < n; i++) {
		if (e[i].device)
			explain_offer(s, t, e[i].resource, e[i].device);
		else
			explain_shared(s, in, e[i].resource);
	}
	return n > 0;
}

/* Checks for an allocation by another device plugin. */
static bool explain_foreign(struct sentence *s, const struct explain_input *in)
{
	const struct resource_table *t = in->resources->table;
	const struct pod_device *d = resource_table_holder(t, in->function, in->rdma);

	if (!d)
		return false;
	explain_holder(s, t, d->resource, d->id);
	explain_print(s, ", as %s", d->resource);
	return true;
}

/* Of a function's own ID; slots of shared resources have other ones. */
static void explain_own_health(struct sentence *s, const struct explain_input *in)
{
	size_t n = 0;
	const struct resource_entry *e = in->resources ? resource_index_find(in->resources,
									     in->function, &n)
						       : NULL;

	for (size_t i = 0; i < n; i++)
		if (e[i].device)
			explain_health(s, e[i].device);
}

void explain_device(const struct explain_input *in, char ret[EXPLAIN_SIZE])
{
	struct sentence s = {ret, EXPLAIN_SIZE, 0};
	const struct not_offered *why;

	ret[0] = '\0';
	if (in->attachment && in->attachment->record->state != ATTACH_FREE) {
		explain_attachment(&s, in);
		explain_own_health(&s, in);
		return;
	}
	if (in->refused) {
		explain_print(&s, "not offered: the configuration file is rejected");
		return;
	}
	if (!in->resources || in->resources->table->generation == 0) {
		explain_print(
			&s,
			"not offered: no resources are configured, or the pools are not built yet");
		return;
	}
	if (explain_offered(&s, in) || explain_foreign(&s, in))
		return;
	why = resource_table_why(in->resources->table, in->function);
	if (why && strncmp(why->why, "not offered", 11) == 0)
		explain_print(&s, "%s", why->why);
	else
		explain_print(&s, "not offered: %s", why ? why->why : "no pool matches it");
}

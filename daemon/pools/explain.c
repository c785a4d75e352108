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

__attribute__((format(printf, 2, 3))) static void explain_say(struct sentence *s, const char *fmt,
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
		explain_say(&s, "container %s of ", o->container);
	if (o->pod[0])
		explain_say(&s, "pod %s/%s", o->namespace, o->pod);
	else if (o->uid[0])
		explain_say(&s, "the pod with uid %s", o->uid);
	else
		explain_say(&s, "%s (%s)",
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
			explain_say(&s, "%s%s", s.len ? ", " : "", name);
}

/* --- attachments ------------------------------------------------------------------------------ */

static void say_since(struct sentence *s, const struct explain_input *in)
{
	char when[UTC_TEXT_SIZE];

	utc_text(in->attachment->since_ms + in->epoch_ms, when);
	explain_say(s, " since %s", when);
}

static void say_step(struct sentence *s, const struct attach_status *a)
{
	if (a->step)
		explain_say(s, ", at step %s", a->step);
}

static void say_failure(struct sentence *s, const struct attach_status *a)
{
	if (a->error[0])
		explain_say(s, "; %s%.255s", a->tries > 1 ? "last error: " : "", a->error);
	if (a->tries)
		explain_say(s, " (tried %u time%s)", a->tries, a->tries == 1 ? "" : "s");
}

static void say_drift(struct sentence *s, const struct attach_status *a)
{
	char names[128];

	explain_drift(a->drift, names, sizeof(names));
	if (names[0])
		explain_say(s, "; drift: %s", names);
}

static void say_attachment(struct sentence *s, const struct explain_input *in)
{
	const struct attach_status *a = in->attachment;
	char owner[512];

	explain_owner(&a->record->owner, owner, sizeof(owner));
	switch (a->record->state) {
	case ATTACH_FREE:
		break;
	case ATTACH_ATTACHING:
		explain_say(s, "being attached to %s", owner);
		break;
	case ATTACH_IN_POD:
		explain_say(s, "taken by %s, %s%s", owner,
			    a->record->plan.in_host	? "in the host"
			    : a->record->plan.no_netdev ? "without a netdev, for "
							: "as ",
			    a->record->plan.ifname);
		break;
	case ATTACH_RETURNING:
		explain_say(s, "being returned from %s", owner);
		break;
	case ATTACH_BAD:
		explain_say(s, "bad: could not be cleaned after %s", owner);
		break;
	}
	say_since(s, in);
	say_step(s, a);
	say_drift(s, a);
	say_failure(s, a);
}

/* --- allocations ----------------------------------------------------------------------------- */

static void say_health(struct sentence *s, unsigned reasons)
{
	char text[160];

	health_text(reasons, text, sizeof(text));
	if (text[0])
		explain_say(s, "; unhealthy because %s", text);
}

static void say_holder(struct sentence *s, const struct resource_table *t, const char *resource,
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
	explain_say(s, "taken by %s", owner);
}

static void say_offered(struct sentence *s, const struct resource_table *t,
			const struct resource_info *r, const struct resource_device *d)
{
	switch (d->state) {
	case RESERVATION_HELD:
		say_holder(s, t, r->name, d->id);
		break;
	case RESERVATION_RESERVED:
		explain_say(s, "reserved: the kubelet allocates it to a container");
		break;
	case RESERVATION_FREE:
		explain_say(s, d->reasons ? "not usable" : "free");
		break;
	}
	explain_say(s, ", %s as %s", d->state == RESERVATION_FREE ? "offered" : "allocated",
		    r->name);
	say_health(s, d->reasons);
}

/* "mlx5_0-7" is a slot of mlx5_0; "7" does not show its device. */
static bool explain_is_slot_of(const char *id, const char *rdma)
{
	size_t n = strlen(rdma);

	return n > 0 && strncmp(id, rdma, n) == 0 && id[n] == '-' && id[n + 1] &&
	       id[n + 1 + strspn(id + n + 1, "0123456789")] == '\0';
}

static void say_shared(struct sentence *s, const struct explain_input *in,
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
	explain_say(s, "%sshared as %s, ", s->len ? "; " : "", r->name);
	if (own > 0)
		explain_say(s, "%zu of its %zu slots given", own_given, own);
	else if (r->n_members > 1)
		explain_say(s, "%zu of the %zu slots of %zu HCAs given", given, r->n_devices,
			    r->n_members);
	else
		explain_say(s, "%zu of %zu slots given", given, r->n_devices);
}

/* A function belongs to one exclusive resource, or to any number of shared ones. */
static bool explain_offered(struct sentence *s, const struct explain_input *in)
{
	const struct resource_table *t = in->resources->table;
	size_t n;
	const struct resource_entry *e = resource_index_find(in->resources, in->function, &n);

	for (size_t i = 0; i < n; i++) {
		if (e[i].device)
			say_offered(s, t, e[i].resource, e[i].device);
		else
			say_shared(s, in, e[i].resource);
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
	say_holder(s, t, d->resource, d->id);
	explain_say(s, ", as %s", d->resource);
	return true;
}

void explain_device(const struct explain_input *in, char ret[EXPLAIN_SIZE])
{
	struct sentence s = {ret, EXPLAIN_SIZE, 0};
	const struct not_offered *why;

	ret[0] = '\0';
	if (in->attachment && in->attachment->record->state != ATTACH_FREE) {
		say_attachment(&s, in);
		return;
	}
	if (!in->resources || in->resources->table->generation == 0) {
		explain_say(&s,
			    "not offered: no resources are configured, or nothing is decided yet");
		return;
	}
	if (explain_offered(&s, in) || explain_foreign(&s, in))
		return;
	why = resource_table_why(in->resources->table, in->function);
	if (why && strncmp(why->why, "not offered", 11) == 0)
		explain_say(&s, "%s", why->why);
	else
		explain_say(&s, "not offered: %s", why ? why->why : "no pool matches it");
}

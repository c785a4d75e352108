// SPDX-License-Identifier: Apache-2.0
#include "condition.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diagnosis_report.h"
#include "doctor.h"
#include "explain.h"
#include "host_index.h"
#include "json_text.h"
#include "search.h"
#include "utc_text.h"

/* Returns a free place, or that of the mildest trouble if that is milder than `severity`; NULL:
 * neither. */
static struct trouble *condition_place(struct condition *c, enum severity severity)
{
	struct trouble *mildest = c->troubles;

	if (c->n < CONDITION_TROUBLES_MAX)
		return &c->troubles[c->n++];
	for (size_t i = 1; i < c->n; i++)
		if (c->troubles[i].severity < mildest->severity)
			mildest = &c->troubles[i];
	return mildest->severity < severity ? mildest : NULL;
}

/* Adds a trouble. NULL: the list is full of troubles that are as severe. */
static struct trouble *condition_add(struct condition *c, const struct trouble *new)
{
	struct trouble *t = condition_place(c, new->severity);

	if (t)
		*t = *new;
	return t;
}

/* Adds a trouble that is no verdict. */
__attribute__((format(printf, 5, 6))) static struct trouble *
condition_add_word(struct condition *c, enum trouble_kind kind, enum severity severity,
		   const struct trouble_row *row, const char *fmt, ...)
{
	struct trouble t = {.kind = kind,
			    .severity = severity,
			    .side = row->side,
			    .word = row->word,
			    .help = row->advice};
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(t.what, sizeof(t.what), fmt, ap);
	va_end(ap);
	return condition_add(c, &t);
}

static void condition_since(struct trouble *t, uint64_t since_unix_ms, bool or_earlier)
{
	if (!t)
		return;
	t->since_unix_ms = since_unix_ms;
	t->or_earlier = or_earlier;
}

/* --- the device ------------------------------------------------------------------------------- */

/* Returns the severity of an unhealthy device: critical if a pod has it, a warning if it is only
 * missing from the pool. A device that is leaving its pod is normal for a while; if that takes too
 * long, the attachment is reported. */
static enum severity health_severity(const struct resource_device *d, enum health_reason r)
{
	if (r == HEALTH_LEAVING)
		return SEVERITY_INFO;
	if (r == HEALTH_NOT_CLEAN || r == HEALTH_NODE_HELD)
		return SEVERITY_WARNING;
	return d->state == RESERVATION_HELD ? SEVERITY_CRITICAL : SEVERITY_WARNING;
}

/* The PF's netdev, if the function is a VF and the state of the PF's link is known; else NULL. */
static const struct netdev *condition_pf_netdev(const struct host *h, const struct function *fn)
{
	const struct netdev *pf = fn && fn->parent[0] ? host_function_netdev(h, fn->parent) : NULL;

	return pf && pf->carrier != CARRIER_UNKNOWN ? pf : NULL;
}

const char *condition_link_advice(const struct host *h, const char *function)
{
	const struct function *fn = host_function(h, function);
	const struct netdev *pf = condition_pf_netdev(h, fn);

	if (fn && fn->kind == FN_PF)
		return "Check the cable, the optic and the switch port.";
	if (!pf)
		return trouble_row(WORD_LINK_DOWN)->advice;
	return pf->carrier == CARRIER_ON
		       ? "Its PF has a link: check the VF's link state (ip link set PF vf N state auto), and that its netdev is up in the pod."
		       : "Its PF is down, too: check the PF's cable, optic and switch port.";
}

/* Adds to a trouble of a VF's link whether its PF has a link. */
static void condition_add_pf_link(struct trouble *t, const struct host *h, const char *function)
{
	const struct netdev *pf = condition_pf_netdev(h, host_function(h, function));
	size_t len = t ? strlen(t->what) : 0;

	if (!t)
		return;
	t->help = condition_link_advice(h, function);
	if (pf)
		snprintf(t->what + len, sizeof(t->what) - len, "; its PF %s %s", pf->name,
			 pf->carrier == CARRIER_ON ? "has a link" : "is down, too");
}

static void add_reason(struct condition *c, const struct condition_sources *s,
		       const struct resource_device *d, enum health_reason r)
{
	const struct trouble_row *row = trouble_row_find(health_reason_name(r));
	struct trouble *t = condition_add_word(c, TROUBLE_DEVICE, health_severity(d, r), row,
					       "device %s is unhealthy: %s", d->id, row->word);

	condition_since(t, d->unhealthy_unix_ms, d->or_earlier);
	if (t)
		t->reasons = HEALTH_BIT(r);
	if (r == HEALTH_LINK_DOWN)
		condition_add_pf_link(t, s->host, d->id);
}

static void condition_add_health(struct condition *c, const struct condition_sources *s,
				 const struct resource_device *d)
{
	for (enum health_reason r = 0; r < N_HEALTH_REASONS; r++)
		if (d->reasons & HEALTH_BIT(r))
			add_reason(c, s, d, r);
}

/* --- the attachment --------------------------------------------------------------------------- */

static bool is_stuck(const struct condition_sources *s, const struct attach_status *a)
{
	return a->error[0] || (s->now_ms > a->since_ms && s->now_ms - a->since_ms > DOCTOR_SLOW_MS);
}

static void add_state(struct condition *c, const struct condition_sources *s,
		      const struct attach_status *a, enum trouble_word word)
{
	const char *doing = word == WORD_BAD	     ? "could not be cleaned after"
			    : word == WORD_RETURNING ? "is being returned from"
						     : "is being attached to";
	char owner[160];

	explain_owner(&a->record->owner, owner, sizeof(owner));
	condition_since(condition_add_word(c, TROUBLE_ATTACHMENT, SEVERITY_WARNING,
					   trouble_row(word), "%s %s%s%s%s%.120s", doing, owner,
					   a->step ? ", at step " : "", a->step ? a->step : "",
					   a->error[0] ? ": " : "", a->error),
			a->since_ms + s->epoch_ms, false);
}

static void condition_add_drift(struct condition *c, const struct attach_status *a)
{
	char settings[128];

	explain_drift(a->drift, settings, sizeof(settings));
	condition_add_word(c, TROUBLE_ATTACHMENT, SEVERITY_WARNING, trouble_row(WORD_DRIFT),
			   "%s%s%.200s", settings,
			   a->error[0]		   ? ": "
			   : strchr(settings, ',') ? " differ from the plan"
						   : " differs from the plan",
			   a->error);
}

static void condition_add_attachment(struct condition *c, const struct condition_sources *s,
				     const struct attach_status *a)
{
	if (!a)
		return;
	switch (a->record->state) {
	case ATTACH_FREE:
		break;
	case ATTACH_BAD:
		add_state(c, s, a, WORD_BAD);
		break;
	case ATTACH_ATTACHING:
		if (is_stuck(s, a))
			add_state(c, s, a, WORD_ATTACHING);
		break;
	case ATTACH_RETURNING:
		if (is_stuck(s, a))
			add_state(c, s, a, WORD_RETURNING);
		break;
	case ATTACH_IN_POD:
		if (a->drift)
			condition_add_drift(c, a);
		break;
	}
}

/* --- verdicts --------------------------------------------------------------------------------- */

#define LINK_REASONS (HEALTH_BIT(HEALTH_LINK_DOWN) | HEALTH_BIT(HEALTH_PORT_DOWN))

/* Returns the reasons that the verdict explains, as HEALTH_BIT. A verdict that is only information
 * explains none: it must not hide that a pod has an unusable device. */
static unsigned explained_reasons(const struct verdict *v, bool of_pf)
{
	static const unsigned reasons[N_CAUSES] = {
		[CAUSE_NIC_STUCK] = LINK_REASONS | HEALTH_BIT(HEALTH_PCI) |
				    HEALTH_BIT(HEALTH_DEVLINK),
		[CAUSE_NO_DEVICE_NODE] = HEALTH_BIT(HEALTH_NO_CHARDEV),
		[CAUSE_LINK_FLAP] = LINK_REASONS,
		[CAUSE_PORT_OFF] = LINK_REASONS,
	};

	if (v->severity < SEVERITY_WARNING || (of_pf && !cause_row(v->cause)->concerns_vfs))
		return 0;
	return reasons[v->cause];
}

static void add_verdict(struct condition *c, const struct verdict *v, bool of_pf)
{
	const struct cause_row *row = cause_row(v->cause);
	struct trouble t = {.kind = TROUBLE_VERDICT,
			    .severity = v->severity,
			    .side = row->side,
			    .word = row->name,
			    .of_pf = of_pf,
			    .reasons = explained_reasons(v, of_pf),
			    .since_unix_ms = v->onset_unix_ms,
			    .or_earlier = v->before_start,
			    .help = row->advice};

	if (v->n_culprits)
		snprintf(t.what, sizeof(t.what), "%s; caused by %s/%.150s", row->sentence,
			 v->culprits[0].namespace, v->culprits[0].name);
	else
		snprintf(t.what, sizeof(t.what), "%s", row->sentence);
	condition_add(c, &t);
}

/* Adds the port's own verdicts, and those of its PF that affect it. parent: the PF if a pod has the
 * port's device, else "". */
static void condition_add_verdicts(struct condition *c, const struct diagnosis_report *r,
				   const char *device, uint32_t port, const char *parent)
{
	for (size_t i = 0; i < r->n_verdicts; i++) {
		const struct verdict *v = &r->verdicts[i];
		enum verdict_relation relation = verdict_is_reported(v)
							 ? verdict_relation(v, r->verdicts,
									    r->n_verdicts, device,
									    port, parent)
							 : VERDICT_UNRELATED;

		if (relation != VERDICT_UNRELATED)
			add_verdict(c, v, relation == VERDICT_OF_PF);
	}
}

/* True if a trouble that is a verdict, or of kind `by`, has one of these reasons. */
static bool condition_is_explained(const struct condition *c, unsigned reasons,
				   enum trouble_kind by)
{
	return any_of(c->n, i,
		      (c->troubles[i].kind == TROUBLE_VERDICT || c->troubles[i].kind == by) &&
			      c->troubles[i].reasons & reasons);
}

/* Adds a link that is down in a pod, unless its device or a verdict reports it. */
static void add_link_down(struct condition *c, const struct condition_sources *s,
			  const struct port_watched *p)
{
	const struct rdma_dev *dev = host_rdma_sampled(s->host, p->device);

	if (p->watch != WATCH_DOWN || !p->held ||
	    condition_is_explained(c, LINK_REASONS, TROUBLE_DEVICE))
		return;
	condition_add_pf_link(condition_add_word(c, TROUBLE_LINK, SEVERITY_WARNING,
						 trouble_row(WORD_LINK_DOWN),
						 "the link of a pod's port is down"),
			      s->host, dev ? rdma_function_id(dev) : p->device);
}

/* Removes the device's troubles that a verdict explains. */
static void drop_explained(struct condition *c)
{
	size_t kept = 0;

	for (size_t i = 0; i < c->n; i++)
		if (c->troubles[i].kind != TROUBLE_DEVICE ||
		    !condition_is_explained(c, c->troubles[i].reasons, TROUBLE_VERDICT))
			c->troubles[kept++] = c->troubles[i];
	c->n = kept;
}

/* True if "is it the network?" depends on the cause. */
static bool concerns_network(const struct cause_row *row)
{
	return row->side == SIDE_NETWORK && row->severity >= SEVERITY_WARNING && row->rule;
}

static bool condition_is_undecided(const struct port_watched *p, enum cause c)
{
	return p->undecided && any_of(p->undecided->n, i, p->undecided->items[i].cause == c);
}

/* Returns the port of a VF's PF, if it is judged; else NULL. parent: the PF's function. */
static const struct port_watched *judged_pf(const struct condition_sources *s, const char *parent,
					    uint32_t port)
{
	const struct rdma_dev *pf = find_first(
		s->host->rdma, parent[0] ? s->host->n_rdma : 0, i,
		strcmp(rdma_function_id(&s->host->rdma[i]), parent) == 0 &&
			host_rdma_sampled(s->host, s->host->rdma[i].name) == &s->host->rdma[i]);

	return find_first(s->report->ports, pf ? s->report->n_ports : 0, i,
			  s->report->ports[i].port == port &&
				  s->report->ports[i].watch == WATCH_JUDGED &&
				  strcmp(s->report->ports[i].device, pf->name) == 0);
}

static void add_unjudged(struct condition *c, const struct condition_sources *s,
			 const struct port_watched *p, const char *parent)
{
	const struct port_watched *pf = judged_pf(s, parent, p->port);

	for (size_t i = 0; p->undecided && i < p->undecided->n; i++) {
		const struct undecided *u = &p->undecided->items[i];
		const struct cause_row *row = cause_row(u->cause);

		if (c->n_unjudged < CONDITION_UNJUDGED_MAX && concerns_network(row) &&
		    !(pf && row->concerns_vfs && !condition_is_undecided(pf, u->cause)) &&
		    !any_of(c->n_unjudged, k, c->unjudged[k].cause == u->cause))
			c->unjudged[c->n_unjudged++] = *u;
	}
}

static void add_watched(struct condition *c, const struct condition_sources *s,
			const struct port_watched *p, const char *parent)
{
	if (!c->watch)
		c->watch = port_watch_name(p->watch);
	c->n_ports++;
	c->n_judged += p->watch == WATCH_JUDGED;
	c->n_clear += p->clear_ms > 0;
	add_unjudged(c, s, p, parent);
	condition_add_verdicts(c, s->report, p->device, p->port, parent);
	add_link_down(c, s, p);
}

/* Adds the troubles of one port of an RDMA device; port 0: of all its ports. */
static void add_ports(struct condition *c, const struct condition_sources *s, const char *device,
		      uint32_t port, const char *parent)
{
	for (size_t i = 0; s->report && i < s->report->n_ports; i++) {
		const struct port_watched *p = &s->report->ports[i];

		if ((!port || p->port == port) && strcmp(p->device, device) == 0)
			add_watched(c, s, p, parent);
	}
}

/* --- a port ----------------------------------------------------------------------------------- */

static int trouble_order(const void *a, const void *b)
{
	const struct trouble *x = a, *y = b;

	if (x->severity != y->severity)
		return x->severity < y->severity ? 1 : -1;
	if (x->of_pf != y->of_pf)
		return x->of_pf ? 1 : -1;
	return (x->kind > y->kind) - (x->kind < y->kind);
}

static void condition_finish(struct condition *c)
{
	drop_explained(c);
	qsort(c->troubles, c->n, sizeof(c->troubles[0]), trouble_order);
}

/* Adds the health of a slot; of several slots with one reason, the worst. */
static void add_slot_health(struct condition *c, const struct condition_sources *s,
			    const struct resource_device *d)
{
	for (enum health_reason r = 0; r < N_HEALTH_REASONS; r++) {
		struct trouble *same = (struct trouble *)find_first(
			c->troubles, c->n, i,
			c->troubles[i].kind == TROUBLE_DEVICE &&
				c->troubles[i].reasons == HEALTH_BIT(r));

		if (!(d->reasons & HEALTH_BIT(r)))
			continue;
		if (!same)
			add_reason(c, s, d, r);
		else if (same->severity < health_severity(d, r))
			same->severity = health_severity(d, r);
	}
}

/* Adds the health of the slots that shared pools make of the HCA. */
static void add_slots_health(struct condition *c, const struct condition_sources *s,
			     const char *function, const char *rdma)
{
	const struct resource_table *t = s->resources ? s->resources->table : NULL;

	for (size_t i = 0; t && i < t->n_resources; i++) {
		const struct resource_info *r = &t->resources[i];

		for (size_t k = 0; r->shared && k < r->n_devices; k++) {
			const struct resource_device *d = &t->devices[r->first_device + k];
			const struct pod_device slot = {.resource = r->name, .id = d->id};

			if (d->reasons && resource_table_is_slot(t, &slot, function, rdma))
				add_slot_health(c, s, d);
		}
	}
}

/* Adds the health of the function's own device in pools; slots of shared pools have other IDs. */
static void add_own_health(struct condition *c, const struct condition_sources *s,
			   const char *function)
{
	size_t n = 0;
	const struct resource_entry *e = s->resources
						 ? resource_index_find(s->resources, function, &n)
						 : NULL;

	for (size_t i = 0; i < n; i++)
		if (e[i].device)
			condition_add_health(c, s, e[i].device);
}

void condition_of_attachment(struct condition *ret, const struct condition_sources *s,
			     const struct attach_status *a)
{
	*ret = (struct condition){0};
	condition_add_attachment(ret, s, a);
}

void condition_of_health(struct condition *ret, const struct condition_sources *s,
			 const char *function)
{
	const struct host *h = s->host;
	const struct rdma_dev *rdma = find_first(
		h->rdma, h->n_rdma, i,
		strcmp(rdma_function_id(&h->rdma[i]), function) == 0 &&
			host_rdma_sampled(h, h->rdma[i].name) == &h->rdma[i]);

	*ret = (struct condition){0};
	add_own_health(ret, s, function);
	if (rdma)
		add_ports(ret, s, rdma->name, 0, "");
	condition_finish(ret);
}

void condition_of_port(struct condition *ret, const struct condition_sources *s, const char *device,
		       uint32_t port, const struct function *fn, const struct pod_device *holder)
{
	const char *function = fn ? fn->id : device;

	*ret = (struct condition){0};
	add_own_health(ret, s, function);
	add_slots_health(ret, s, function, device);
	condition_add_attachment(ret, s, attach_list_function(s->attachments, function));
	add_ports(ret, s, device, port, fn && holder ? fn->parent : "");
	condition_finish(ret);
}

/* --- a pod's device --------------------------------------------------------------------------- */

static const struct resource_info *condition_resource(const struct condition_sources *s,
						      const char *name)
{
	const struct resource_table *t = s->resources ? s->resources->table : NULL;

	return t ? find_first(t->resources, t->n_resources, i,
			      strcmp(t->resources[i].name, name) == 0)
		 : NULL;
}

static void add_resource(struct condition *c, const struct resource_info *r)
{
	if (r->registration != REGISTRATION_DONE)
		condition_add_word(
			c, TROUBLE_RESOURCE, SEVERITY_INFO, trouble_row(WORD_NOT_REGISTERED),
			"the kubelet does not know %s%s%s; new pods that request it stay pending",
			r->name, r->error[0] ? ": " : "", r->error);
	if (r->files_error[0])
		condition_add_word(c, TROUBLE_RESOURCE, SEVERITY_INFO, trouble_row(WORD_NO_FILES),
				   "%s: %s", r->name, r->files_error);
}

/* Adds the health of the resource's device with this ID, which may be a slot. */
static void condition_add_slot(struct condition *c, const struct condition_sources *s,
			       const struct resource_info *r, const char *id)
{
	for (size_t i = 0; i < r->n_devices; i++) {
		const struct resource_device *d =
			&s->resources->table->devices[r->first_device + i];

		if (strcmp(d->id, id) == 0)
			condition_add_health(c, s, d);
	}
}

/* The RDMA device of a function (id), or the HCA of a slot, if it is in samples; else NULL. */
static const struct rdma_dev *condition_rdma(const struct condition_sources *s,
					     const struct pod_device *d, const char *id)
{
	const struct resource_table *t = s->resources ? s->resources->table : NULL;
	const struct host *h = s->host;
	const struct rdma_dev *own = find_first(
		h->rdma, h->n_rdma, i,
		(strcmp(h->rdma[i].function, id) == 0 || strcmp(h->rdma[i].name, id) == 0) &&
			host_rdma_sampled(h, h->rdma[i].name) == &h->rdma[i]);

	if (own || !t)
		return own;
	return find_first(
		h->rdma, h->n_rdma, i,
		resource_table_is_slot(t, d, rdma_function_id(&h->rdma[i]), h->rdma[i].name) &&
			host_rdma_sampled(h, h->rdma[i].name) == &h->rdma[i]);
}

/* Returns the ID of the device on the host: that of the attached VF, else the kubelet's. */
static const char *condition_id(const struct condition_sources *s, const struct pod_device *d)
{
	const struct attach_status *a = attach_list_id(s->attachments, d->resource, d->id);

	return a && a->record->plan.kind == PLAN_VF && a->record->function[0] ? a->record->function
									      : d->id;
}

const char *condition_function(const struct condition_sources *s, const struct pod_device *d)
{
	const char *id = condition_id(s, d);
	const struct rdma_dev *rdma = condition_rdma(s, d, id);
	const struct function *fn = host_function(s->host, rdma ? rdma_function_id(rdma) : id);

	return fn ? fn->id : rdma ? rdma_function_id(rdma) : NULL;
}

/* Adds a failed attach: the device is free again, and the container still waits for it. */
static void add_failed_attach(struct condition *c, const struct condition_sources *s,
			      const struct pod_device *d, const struct attach_status *a)
{
	if (!a || a->record->state != ATTACH_FREE || !a->error[0] ||
	    strcmp(a->record->owner.pod, d->pod) != 0 ||
	    strcmp(a->record->owner.namespace, d->namespace) != 0)
		return;
	condition_since(condition_add_word(c, TROUBLE_ATTACHMENT, SEVERITY_WARNING,
					   trouble_row(WORD_ATTACH_FAILED),
					   "the container cannot start: %.250s", a->error),
			a->since_ms + s->epoch_ms, false);
}

void condition_of_pod_device(struct condition *ret, const struct condition_sources *s,
			     const struct pod_device *d)
{
	const struct resource_info *r = condition_resource(s, d->resource);
	const struct attach_status *a = attach_list_id(s->attachments, d->resource, d->id);
	const char *id = condition_id(s, d);
	const struct rdma_dev *rdma = condition_rdma(s, d, id);
	const struct function *fn = host_function(s->host, rdma ? rdma_function_id(rdma) : id);

	*ret = (struct condition){0};
	if (r)
		condition_add_slot(ret, s, r, d->id);
	condition_add_attachment(ret, s, a);
	add_failed_attach(ret, s, d, a);
	if (r)
		add_resource(ret, r);
	if (rdma)
		add_ports(ret, s, rdma->name, 0, fn ? fn->parent : "");
	condition_finish(ret);
}

/* --- as JSON ---------------------------------------------------------------------------------- */

const char *condition_health(const struct condition *c)
{
	return c->n ? severity_name(c->troubles[0].severity) : c->n_judged ? "ok" : NULL;
}

json_t *trouble_json(const struct trouble *t)
{
	char since[UTC_TEXT_SIZE];

	utc_text(t->since_unix_ms, since);
	return json_pack("{ss ss ss si sb so sb so so}", "kind", trouble_kind_name(t->kind), "word",
			 t->word, "severity", severity_name(t->severity), "level", (int)t->severity,
			 "ofPf", (int)t->of_pf, "since", json_text(since), "orEarlier",
			 (int)t->or_earlier, "what", json_text(t->what), "help",
			 json_text(t->help));
}

json_t *condition_troubles(const struct condition *c)
{
	json_t *list = json_array();

	for (size_t i = 0; list && i < c->n; i++)
		list = json_push(list, trouble_json(&c->troubles[i]));
	return list;
}

// SPDX-License-Identifier: Apache-2.0
/* resource_series.c - one small writer per family. */
#include "resource_series.h"

#include <inttypes.h>

#include "health.h"
#include "host_series.h"

static const struct family families[N_RESOURCE_FAMILIES] = {
	[RESOURCE_DEVICES] = {"rocelet_resource_devices",
			      "Device IDs that a resource offers, by health.", METRIC_GAUGE},
	[RESOURCE_ALLOCATED] = {"rocelet_resource_allocated",
				"Device IDs of a resource that are reserved or held. Absent until "
				"the kubelet's list of containers is read.",
				METRIC_GAUGE},
	[RESOURCE_FREE] =
		{"rocelet_resource_free",
		 "Device IDs of a resource that the kubelet could allocate now: healthy, "
		 "neither reserved nor held, of a resource that it knows, and with room in "
		 "the GID tables. Absent while this is unknown: before the kubelet's list "
		 "of containers is read.",
		 METRIC_GAUGE},
	[RESOURCE_GID_CAPACITY] =
		{"rocelet_resource_gid_capacity",
		 "Slots of a shared resource for which the GID tables of its ports have room.",
		 METRIC_GAUGE},
	[RESOURCE_REGISTERED] =
		{"rocelet_resource_registered",
		 "1 while the resource is registered and the kubelet watches its list.",
		 METRIC_GAUGE},
	[RESOURCE_REGISTRATIONS] = {"rocelet_resource_registrations_total",
				    "Registrations of a resource with the kubelet.",
				    METRIC_COUNTER},
	[RESOURCE_REGISTRATION_FAILURES] =
		{"rocelet_resource_registration_failures_total",
		 "Registrations that the kubelet rejected, did not answer or lost.",
		 METRIC_COUNTER},
	[RESOURCE_LISTS] = {"rocelet_resource_lists_sent_total",
			    "Device lists sent to the kubelet.", METRIC_COUNTER},
	[RESOURCE_ALLOCATIONS] =
		{"rocelet_allocations_total",
		 "Containers in Allocate requests, by result: given (devices were granted) or refused (an error was returned).",
		 METRIC_COUNTER},
	[RESOURCE_DEVICE_HEALTHY] = {"rocelet_device_healthy",
				     "1 for a healthy device, which can be allocated, else 0.",
				     METRIC_GAUGE},
	[RESOURCE_DEVICE_UNHEALTHY] =
		{"rocelet_device_unhealthy",
		 "1 for every reason why a device ID is unhealthy, with the container that "
		 "holds it.",
		 METRIC_GAUGE},
	[RESOURCE_DEVICE_ONSET_TIME] =
		{"rocelet_device_unhealthy_onset_timestamp_seconds",
		 "Unix time at which a device ID became unhealthy, with the container that holds it; "
		 "absent while it is healthy. If it was unhealthy when rocelet first judged it "
		 "(orEarlier in the API), the time of that judgement.",
		 METRIC_GAUGE},
	[RESOURCE_DEVICE_INFO] = {"rocelet_device_allocated_info",
				  "The container that holds a device ID.", METRIC_GAUGE},
};

const struct family *resource_family(enum resource_family f)
{
	return &families[f];
}

static void resource_add_named(struct text *t, const char *name, const char *value)
{
	text_addf(t, ",%s=", name);
	text_add_label(t, value);
}

/* Appends `name{resource="..."`, without the closing brace. */
static void open_series(struct text *t, enum resource_family f, const struct resource_info *r)
{
	text_addf(t, "%s{resource=", families[f].name);
	text_add_label(t, r->name);
}

static void resource_add_number(struct text *t, enum resource_family f,
				const struct resource_info *r, uint64_t value)
{
	open_series(t, f, r);
	text_addf(t, "} %" PRIu64 "\n", value);
}

static void add_labelled(struct text *t, enum resource_family f, const struct resource_info *r,
			 const char *label, const char *value, uint64_t number)
{
	open_series(t, f, r);
	resource_add_named(t, label, value);
	text_addf(t, "} %" PRIu64 "\n", number);
}

/* Adds the container that holds the device, so that an alert or a query names the pod without a
 * join. */
static void add_device_holder(struct text *t, const struct resource_table *table,
			      const struct resource_info *r, const struct resource_device *d)
{
	const struct pod_device *holder = pod_list_find(&table->held, r->name, d->id, NULL);

	if (holder && holder->pod[0])
		text_add_holder(t, holder);
}

static void add_unhealthy(struct text *t, const struct resource_table *table,
			  const struct resource_info *r, const struct resource_device *d)
{
	for (enum health_reason reason = 0; reason < N_HEALTH_REASONS; reason++) {
		if (!(d->reasons & HEALTH_BIT(reason)))
			continue;
		open_series(t, RESOURCE_DEVICE_UNHEALTHY, r);
		resource_add_named(t, "id", d->id);
		resource_add_named(t, "reason", health_reason_name(reason));
		add_device_holder(t, table, r, d);
		text_addf(t, "} 1\n");
	}
}

static void add_onset_time(struct text *t, const struct resource_table *table,
			   const struct resource_info *r, const struct resource_device *d)
{
	if (d->unhealthy_unix_ms == 0)
		return;
	open_series(t, RESOURCE_DEVICE_ONSET_TIME, r);
	resource_add_named(t, "id", d->id);
	add_device_holder(t, table, r, d);
	text_addf(t, "} %.3f\n", (double)d->unhealthy_unix_ms / 1000);
}

/* Appends the health of device IDs. The slots of a shared resource are left out: their health is
 * that of their RDMA devices, and rocelet_resource_devices already counts them. */
static void resource_add_devices(struct text *t, enum resource_family f,
				 const struct resource_table *table, const struct resource_info *r,
				 bool few)
{
	if (few && (f == RESOURCE_DEVICE_HEALTHY || r->shared))
		return;
	for (size_t i = 0; i < r->n_devices; i++) {
		const struct resource_device *d = &table->devices[r->first_device + i];

		if (f == RESOURCE_DEVICE_UNHEALTHY)
			add_unhealthy(t, table, r, d);
		else if (f == RESOURCE_DEVICE_ONSET_TIME)
			add_onset_time(t, table, r, d);
		else if (!r->shared)
			add_labelled(t, f, r, "id", d->id, d->reasons == 0);
	}
}

static void add_holders(struct text *t, const struct resource_table *table)
{
	for (size_t i = 0; i < table->held.n; i++) {
		const struct pod_device *d = &table->held.devices[i];

		if (!d->pod[0] && !d->uid[0])
			continue;
		text_addf(t, "%s{resource=", families[RESOURCE_DEVICE_INFO].name);
		text_add_label(t, d->resource);
		resource_add_named(t, "id", d->id);
		text_add_holder(t, d);
		if (!d->pod[0])
			resource_add_named(t, "container", d->container);
		if (d->uid[0])
			resource_add_named(t, "uid", d->uid);
		text_addf(t, "} 1\n");
	}
}

static void resource_add_resource(struct text *t, enum resource_family f,
				  const struct resource_table *table, const struct resource_info *r,
				  bool few)
{
	struct resource_counts n;

	resource_table_count(table, r, &n);
	switch (f) {
	case RESOURCE_DEVICES:
		add_labelled(t, f, r, "health", "healthy", n.healthy);
		add_labelled(t, f, r, "health", "unhealthy", r->n_devices - n.healthy);
		break;
	case RESOURCE_ALLOCATED:
		if (n.allocated_known)
			resource_add_number(t, f, r, n.allocated);
		break;
	case RESOURCE_FREE:
		if (n.free_known)
			resource_add_number(t, f, r, n.free);
		break;
	case RESOURCE_GID_CAPACITY:
		if (r->shared && r->gid_capacity)
			resource_add_number(t, f, r, r->gid_capacity);
		break;
	case RESOURCE_REGISTERED:
		resource_add_number(t, f, r, r->registration == REGISTRATION_DONE);
		break;
	case RESOURCE_REGISTRATIONS:
		resource_add_number(t, f, r, r->registrations);
		break;
	case RESOURCE_REGISTRATION_FAILURES:
		resource_add_number(t, f, r, r->failures);
		break;
	case RESOURCE_LISTS:
		resource_add_number(t, f, r, r->lists);
		break;
	case RESOURCE_ALLOCATIONS:
		add_labelled(t, f, r, "result", "given", r->allocations);
		add_labelled(t, f, r, "result", "refused", r->refusals);
		break;
	case RESOURCE_DEVICE_HEALTHY:
	case RESOURCE_DEVICE_UNHEALTHY:
	case RESOURCE_DEVICE_ONSET_TIME:
		resource_add_devices(t, f, table, r, few);
		break;
	case RESOURCE_DEVICE_INFO:
	case N_RESOURCE_FAMILIES:
		break;
	}
}

void resource_series(struct text *t, enum resource_family f, const struct resource_table *table,
		     bool few)
{
	if (f == RESOURCE_DEVICE_INFO)
		add_holders(t, table);
	for (size_t i = 0; i < table->n_resources; i++)
		resource_add_resource(t, f, table, &table->resources[i], few);
}

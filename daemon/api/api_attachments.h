/* SPDX-License-Identifier: Apache-2.0 */
/* api_attachments.h - attachments, events and findings of the doctor as JSON. Pure.
 *
 * Documents are compact, heap, terminated; NULL if out of memory. As everywhere below /api/v1,
 * every key is always present, and null if it has no value. */
#pragma once

#include <jansson.h>

#include "api_filter.h"
#include "attach_status.h"
#include "event_ring.h"

struct doctor;

/* Prints the value and frees it. NULL: it was NULL, or out of memory. */
char *api_print(json_t *, size_t *ret_len);
/* Appends the item and returns the array. Takes ownership of both; if one is NULL or memory is out,
 * frees them and returns NULL. */
json_t *api_push(json_t *array, json_t *item);

/* One attachment; null for NULL or if it is free:
 * {"state":"in_pod","resource":"rocelet.dev/roce","id":"0000:03:00.2","function":"0000:03:00.2",
 *  "door":"native","namespace":"train","pod":"job-7","container":"main","uid":...,"interface":"net1",
 *  "name":"ens1f0v1","rdma":"mlx5_4","ips":["10.9.0.1/24"],"mac":"02:...","vlan":100,"mtu":9000,
 *  "netns":"/run/netns/a","step":null,"since":"2026-11-21T23:06:08.123Z","error":null,
 *  "drift":["mac"],"tries":0}
 * name: the netdev's name in the host, restored on return; rdma: the RDMA device in the pod. mac,
 * vlan and mtu are the requested values, null = unchanged. epoch_ms: unix time at the loop's time
 * 0. */
json_t *api_attachment(const struct attach_status *, uint64_t epoch_ms);
const char *api_door_name(enum attach_door);
/* {"attachments":[...]}, including macvlans and ipvlans, in the engine's order. */
char *api_attachments(struct attach_list, uint64_t epoch_ms, const struct api_filter *,
		      size_t *ret_len);

/* True if `wanted`, "name" or "namespace/name", is this pod. */
bool api_names_pod(const char *wanted, const char *namespace, const char *pod);

/* Selection of events; NULL or 0: all. */
struct event_filter {
	const char *pod;    /* "name" or "namespace/name"; any of the event's pods */
	const char *device; /* bus name */
	const char *reason; /* "Attached", ... */
	bool has_type;
	enum event_type type;
	uint64_t since_ms; /* only events that happened, or happened again, since this unix time */
	uint64_t until_ms; /* only those that first happened until this unix time */
	size_t limit;	   /* only the newest `limit` */
	/* Only events recorded or repeated after this generation of the ring. If the ring's
	 * generation is lower, the daemon has restarted since, and all events are new. */
	uint64_t after;
};

/* True if an event matches. */
bool api_events_any(const struct event_ring *, const struct event_filter *);
/* Oldest first; a NULL ring has no events. generation: of the ring, to be passed as `after` in the
 * next request.
 * {"generation":17,"events":[{"type":"Warning","reason":"AttachFailed","namespace":"train","pod":"job-7",
 *  "pods":[{"namespace":"train","name":"job-7"}],"device":"0000:03:00.2","message":"...","count":3,"first":"2026-...Z","last":"2026-...Z"}]}
 */
char *api_events(const struct event_ring *, const struct event_filter *, size_t *ret_len);

/* The findings of the doctor:
 * {"findings":[{"kind":"dirty","object":"0000:03:00.2","what":"...","help":"...","fixable":true}]}
 */
char *api_doctor(const struct doctor *, const struct api_filter *, size_t *ret_len);

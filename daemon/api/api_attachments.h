/* api_attachments.h - what has been attached, what happened and what is wrong, as JSON. Pure.
 *
 * Documents are compact, heap, terminated; NULL when out of memory. As everywhere below /api/v1,
 * every key is always there, and null where there is nothing to say. */
#pragma once

#include <jansson.h>

#include "attach_status.h"
#include "event_ring.h"

struct doctor;

/* Prints and takes the value; NULL when it is NULL or out of memory. */
char *api_print(json_t *, size_t *ret_len);
/* Appends and returns the array. Takes both; NULL, with nothing left behind, when either is missing
 * or out of memory. */
json_t *api_push(json_t *array, json_t *item);

/* One attachment, null for NULL and for one that is free:
 * {"state":"in_pod","resource":"rocelet.dev/roce","id":"0000:03:00.2","function":"0000:03:00.2",
 *  "door":"native","namespace":"train","pod":"job-7","container":"main","uid":...,"interface":"net1",
 *  "name":"ens1f0v1","rdma":"mlx5_4","ips":["10.9.0.1/24"],"mac":"02:...","vlan":100,"mtu":9000,
 *  "netns":"/run/netns/a","step":null,"since":"2026-11-21T23:06:08.123Z","error":null,
 *  "drift":["mac"],"tries":0}
 * name: the netdev's in the host, where it goes back to; rdma: the RDMA device in the pod. mac,
 * vlan and mtu are what was asked for, null = as the device is. epoch_ms: unix time at the loop's
 * time 0. */
json_t *api_attachment(const struct attach_status *, uint64_t epoch_ms);
/* {"attachments":[...]}, macvlans and ipvlans among them, in the engine's order. */
char *api_attachments(struct attach_list, uint64_t epoch_ms, size_t *ret_len);

/* wanted: "name" or "namespace/name". */
bool api_names_pod(const char *wanted, const char *namespace, const char *pod);

/* Which events are told; NULL or 0: all. */
struct event_filter {
	const char *pod;    /* "name" or "namespace/name" */
	const char *device; /* bus name */
	size_t limit;	    /* the newest so many */
	/* Those that came, or came again, after this generation of the ring. A ring that has not
	 * come that far is another daemon's: all of it is new. */
	uint64_t after;
};

/* Is there one? */
bool api_events_any(const struct event_ring *, const struct event_filter *);
/* Oldest first; ring may be NULL: none. generation: the ring's, to ask for what comes after.
 * {"generation":17,"events":[{"type":"Warning","reason":"AttachFailed","namespace":"train","pod":"job-7",
 *  "device":"0000:03:00.2","message":"...","count":3,"first":"2026-...Z","last":"2026-...Z"}]} */
char *api_events(const struct event_ring *, const struct event_filter *, size_t *ret_len);

/* {"findings":[{"kind":"dirty","object":"0000:03:00.2","what":"...","help":"...","fixable":true}]}
 */
char *api_doctor(const struct doctor *, size_t *ret_len);

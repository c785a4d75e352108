/* cri_wire.h - the runtime's messages: bytes <-> plain values. Pure.
 *
 * Encoders give heap bytes; -ENOMEM. Decoders: -EBADMSG for what is no such message, -ENOMEM; what
 * a message can make them use is bounded by a small multiple of its length, and *ret is untouched
 * on failure. Field numbers: k8s/proto/. */
#pragma once

#include <stdint.h>

#include "sandbox.h"

/* More sandboxes than any node has, dead ones included; a list above this is none. */
#define CRI_LIST_MAX 8192
/* Of the runtime's own JSON about one sandbox: 10 KB are usual. */
#define CRI_INFO_MAX (1u << 20)

#define CRI_NETWORKS "rocelet.dev/networks"

/* VersionResponse. Texts that do not fit or are none are "". */
struct cri_version {
	char name[32], version[32];
};
int cri_version_decode(struct cri_version *ret, const uint8_t *, size_t len);

/* ListPodSandboxResponse, `known` and sorted, without details. Sandboxes whose names are no text or
 * too long for their fields are left out and counted, as are those without an id. -EMSGSIZE:
 * more than CRI_LIST_MAX. */
int cri_list_decode(struct sandbox_list *ret, size_t *ret_left_out, const uint8_t *, size_t len);

struct cri_detail {
	bool host_network, user_namespace;
	char netns[SANDBOX_NETNS_SIZE]; /* "" = none or not told */
	char *networks;			/* heap; NULL = none */
};
/* PodSandboxStatusRequest, verbose. */
int cri_status_encode(uint8_t **ret, size_t *ret_len, const char *id);
/* PodSandboxStatusResponse. -ENODATA: without a status (containerd does that to a sandbox that is
 * being made or removed). */
int cri_status_decode(struct cri_detail *ret, const uint8_t *, size_t len);
/* Of the runtime's JSON. */
struct cri_namespaces {
	char netns[SANDBOX_NETNS_SIZE]; /* path; "" = not told */
	bool host_network;		/* there is none but the node's */
	bool user;			/* a user namespace of its own */
};
/* -EBADMSG: no JSON object, -EMSGSIZE above CRI_INFO_MAX; *ret is untouched then. */
int cri_info_namespaces(struct cri_namespaces *ret, const char *json, size_t len);

/* What an event says that has happened to the sandbox or container `id`. */
enum cri_event_kind {
	CRI_EVENT_OTHER,
	CRI_EVENT_BEGINS,
	CRI_EVENT_ENDS,
	CRI_EVENT_GONE,
};
struct cri_event {
	enum cri_event_kind kind;
	char id[SANDBOX_ID_SIZE]; /* "" = not told */
};
/* containerd's SubscribeRequest, for the events that are of use. */
int cri_subscribe_encode(uint8_t **ret, size_t *ret_len);
/* containerd's Envelope. */
int cri_envelope_decode(struct cri_event *ret, const uint8_t *, size_t len);
/* CRI's ContainerEventResponse. */
int cri_event_decode(struct cri_event *ret, const uint8_t *, size_t len);

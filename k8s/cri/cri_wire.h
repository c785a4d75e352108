/* SPDX-License-Identifier: Apache-2.0 */
/* cri_wire.h - the runtime's messages: bytes <-> plain values. Pure.
 *
 * Encoders return heap bytes; -ENOMEM. Decoders: -EBADMSG for an invalid message, -ENOMEM; the
 * memory used for a message is limited to a small multiple of its length, and *ret is untouched on
 * failure. Field numbers: k8s/proto/. */
#pragma once

#include <stdint.h>

#include "sandbox.h"

/* More sandboxes than any node has, including those that have ended; a longer list is rejected. */
#define CRI_LIST_MAX 8192
/* Maximum size of the runtime's own JSON about one sandbox; 10 KB are usual. */
#define CRI_INFO_MAX (1u << 20)

#define CRI_NETWORKS "rocelet.dev/networks"

/* The values of a VersionResponse. Texts that are invalid or too long become "". */
struct cri_version {
	char name[32], version[32];
};
int cri_version_decode(struct cri_version *ret, const uint8_t *, size_t len);

/* Decodes a ListPodSandboxResponse to a list that is `known` and sorted, without details. Sandboxes
 * without an id, or with names that are invalid or too long, are left out and counted. -EMSGSIZE:
 * more than CRI_LIST_MAX. */
int cri_list_decode(struct sandbox_list *ret, size_t *ret_left_out, const uint8_t *, size_t len);

struct cri_detail {
	bool host_network, user_namespace;
	char netns[SANDBOX_NETNS_SIZE]; /* "" = none or unknown */
	char *networks;			/* heap; NULL = none */
};
/* Encodes a PodSandboxStatusRequest, verbose. */
int cri_status_encode(uint8_t **ret, size_t *ret_len, const char *id);
/* Decodes a PodSandboxStatusResponse. -ENODATA: it has no status (containerd does that for a
 * sandbox that is being created or removed). */
int cri_status_decode(struct cri_detail *ret, const uint8_t *, size_t len);
/* The namespaces of a sandbox, from the runtime's JSON (`info` of PodSandboxStatus). */
struct cri_namespaces {
	char netns[SANDBOX_NETNS_SIZE]; /* path; "" = unknown */
	bool host_network;		/* it uses the host's */
	bool user;			/* it has its own user namespace */
};
/* Parses that JSON. -EBADMSG: not a JSON object, -EMSGSIZE above CRI_INFO_MAX; *ret is untouched
 * then. */
int cri_info_namespaces(struct cri_namespaces *ret, const char *json, size_t len);

/* The change that an event reports of the sandbox or container `id`. */
enum cri_event_kind {
	CRI_EVENT_OTHER,
	CRI_EVENT_BEGINS,
	CRI_EVENT_ENDS,
	CRI_EVENT_GONE,
};
struct cri_event {
	enum cri_event_kind kind;
	char id[SANDBOX_ID_SIZE]; /* "" = unknown */
};
/* Encodes containerd's SubscribeRequest, for the events that we need. */
int cri_subscribe_encode(uint8_t **ret, size_t *ret_len);
/* Decodes containerd's Envelope. */
int cri_envelope_decode(struct cri_event *ret, const uint8_t *, size_t len);
/* Decodes CRI's ContainerEventResponse. */
int cri_event_decode(struct cri_event *ret, const uint8_t *, size_t len);

/* SPDX-License-Identifier: Apache-2.0 */
/* plugin_wire.h - the device plugin API's messages: bytes <-> plain values. Pure.
 *
 * Encoders return heap bytes (*ret may be NULL if *ret_len is 0); -ENOMEM. Decoders: -EBADMSG for
 * an invalid message, -ENOMEM; the memory used for a message is limited to a small multiple of its
 * length. Field numbers: k8s/proto/. */
#pragma once

#include <stdint.h>

#include "err.h"
#include "plugin.h"

int wire_register_request(uint8_t **ret, size_t *ret_len, const char *endpoint,
			  const char *resource, bool pre_start, bool preferred);
int wire_plugin_options(uint8_t **ret, size_t *ret_len, bool pre_start, bool preferred);
/* Encodes the complete list. */
int wire_device_list(uint8_t **ret, size_t *ret_len, const struct plugin_device *, size_t n);
int wire_allocate_response(uint8_t **ret, size_t *ret_len, const struct container_grant *,
			   size_t n);
/* Encodes a PreferredAllocationResponse; one id_list per container. */
int wire_preferred_response(uint8_t **ret, size_t *ret_len, const struct id_list *, size_t n);
int wire_plugin_info(uint8_t **ret, size_t *ret_len, const char *resource, const char *endpoint);

/* Decodes a RegistrationStatus. text: the kubelet's error, truncated to size. */
int wire_decode_registration_status(bool *ret_registered, char *text, size_t size, const uint8_t *,
				    size_t len);

/* Decodes and checks the kubelet's requests to a device plugin.
 *
 * Device IDs are 1 to 63 bytes of UTF-8, as defined by the API. */

/* Maximum number of device IDs in one Allocate or PreStartContainer; the available IDs of
 * GetPreferredAllocation are only limited by the size of a message. */
#define PLUGIN_IDS_MAX	      4096
/* The kubelet requests one container at a time. */
#define PLUGIN_CONTAINERS_MAX 1024

/* A decoded request: for n containers, one of the two arrays. Owns the arrays and their strings. */
struct plugin_request {
	struct wire_request *wire; /* the decoded message */
	size_t n;
	struct id_list *ids;
	struct preference_request *preferences;
};

/* Decode and check a request. -EBADMSG: not such a message; -EINVAL: it violates the rules above,
 * or requests more than is available; -ENOMEM. Nothing to free on failure. */
int plugin_request_allocate(struct plugin_request *, const uint8_t *, size_t len, struct err *);
int plugin_request_pre_start(struct plugin_request *, const uint8_t *, size_t len, struct err *);
int plugin_request_preferred(struct plugin_request *, const uint8_t *, size_t len, struct err *);
void plugin_request_done(struct plugin_request *);

/* SPDX-License-Identifier: Apache-2.0 */
/* plugin_wire.h - the device plugin API's messages: bytes <-> plain values. Pure.
 *
 * Encoders return heap bytes (*ret may be NULL if *ret_len is 0); -ENOMEM. Decoders: -EBADMSG for
 * an invalid message, -ENOMEM; the memory used for a message is limited to a small multiple of its
 * length. Field numbers: k8s/proto/. */
#pragma once

#include <stdint.h>

#include "plugin.h"

int wire_register_request(uint8_t **ret, size_t *ret_len, const char *endpoint,
			  const char *resource, bool pre_start, bool preferred);
int wire_plugin_options(uint8_t **ret, size_t *ret_len, bool pre_start, bool preferred);
/* The complete list. */
int wire_device_list(uint8_t **ret, size_t *ret_len, const struct plugin_device *, size_t n);
int wire_allocate_response(uint8_t **ret, size_t *ret_len, const struct container_grant *,
			   size_t n);
/* One id_list per container. */
int wire_preferred_response(uint8_t **ret, size_t *ret_len, const struct id_list *, size_t n);
int wire_plugin_info(uint8_t **ret, size_t *ret_len, const char *resource, const char *endpoint);

/* Decoded requests own their strings; freed as a whole. */
struct wire_request;
/* AllocateRequest: one id_list per container. */
int wire_decode_allocate(struct wire_request **ret, const uint8_t *, size_t len);
/* PreStartContainerRequest: one id_list. */
int wire_decode_pre_start(struct wire_request **ret, const uint8_t *, size_t len);
/* PreferredAllocationRequest: one preference_request per container. */
int wire_decode_preferred(struct wire_request **ret, const uint8_t *, size_t len);
size_t wire_request_n(const struct wire_request *);
struct id_list wire_request_ids(const struct wire_request *, size_t container);
struct preference_request wire_request_preference(const struct wire_request *, size_t container);
void wire_request_free(struct wire_request *);

/* RegistrationStatus. text: the kubelet's error, truncated to size. */
int wire_decode_registration_status(bool *ret_registered, char *text, size_t size, const uint8_t *,
				    size_t len);

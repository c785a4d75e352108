/* SPDX-License-Identifier: Apache-2.0 */
/* plugin_request.h - decodes and checks the kubelet's requests to a device plugin. Pure.
 *
 * Device IDs are 1 to 63 bytes of UTF-8, as defined by the API. */
#pragma once

#include <stdint.h>

#include "err.h"
#include "plugin.h"

/* Maximum number of device IDs in one Allocate or PreStartContainer; the available IDs of
 * GetPreferredAllocation are only limited by the size of a message. */
#define PLUGIN_IDS_MAX	      4096
/* The kubelet requests one container at a time. */
#define PLUGIN_CONTAINERS_MAX 1024

struct wire_request;

/* For n containers, one of the two arrays; the request owns everything. */
struct plugin_request {
	struct wire_request *wire;
	size_t n;
	struct id_list *ids;
	struct preference_request *preferences;
};

/* -EBADMSG: not such a message; -EINVAL: it violates the rules above, or requests more than is
 * available; -ENOMEM. Nothing to free on failure. */
int plugin_request_allocate(struct plugin_request *, const uint8_t *, size_t len, struct err *);
int plugin_request_pre_start(struct plugin_request *, const uint8_t *, size_t len, struct err *);
int plugin_request_preferred(struct plugin_request *, const uint8_t *, size_t len, struct err *);
void plugin_request_done(struct plugin_request *);

/* plugin_request.h - what a kubelet asks of a device plugin, decoded and checked. Pure.
 *
 * Device IDs are 1 to 63 bytes of UTF-8, as the API says. */
#pragma once

#include <stdint.h>

#include "err.h"
#include "plugin.h"

/* Device IDs in one Allocate or PreStartContainer; what may be chosen from is bounded by the size
 * of a message only. */
#define PLUGIN_IDS_MAX	      4096
/* A kubelet asks for one at a time. */
#define PLUGIN_CONTAINERS_MAX 1024

struct wire_request;

/* Of n containers, either of the two; strings and all are the request's. */
struct plugin_request {
	struct wire_request *wire;
	size_t n;
	struct id_list *ids;
	struct preference_request *preferences;
};

/* -EBADMSG: no such message; -EINVAL: it breaks the rules above, or wants more than there is;
 * -ENOMEM. Nothing to free on failure. */
int plugin_request_allocate(struct plugin_request *, const uint8_t *, size_t len, struct err *);
int plugin_request_pre_start(struct plugin_request *, const uint8_t *, size_t len, struct err *);
int plugin_request_preferred(struct plugin_request *, const uint8_t *, size_t len, struct err *);
void plugin_request_done(struct plugin_request *);

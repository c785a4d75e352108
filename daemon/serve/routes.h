/* routes.h - which document lives under which path. Pure: pointers to what others keep up to date
 * in, bodies out; no clock, no I/O. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "http.h"

struct inventory;
struct resource_table;

/* Set up by the composer, zero-initialised before; everything above `devices` is borrowed and may
 * be changed between two requests. */
struct routes {
	const struct inventory *inventory;
	const struct resource_table *resources; /* NULL: not decided yet */
	struct page *page;			/* the last sample's, NULL until there is one */
	const char *config_json;		/* the configuration in use, a JSON document */

	/* /api/v1/devices of these generations of the inventory and the resources, owned. */
	char *devices;
	size_t devices_len;
	uint64_t devices_generation, devices_resources;
};

/* An http_handler_fn; arg is the struct routes. */
void routes_answer(const struct http_request *, struct http_reply *, void *routes);
void routes_done(struct routes *);

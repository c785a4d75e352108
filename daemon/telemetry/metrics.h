/* metrics.h - turns a sample into a metrics page. Pure: values in, text out; no clock, no I/O.
 *
 * The layout of a page is prepared when the sample's layout or the host changes; rendering one
 * sample then only copies prepared text and prints numbers. */
#pragma once

#include "model.h"
#include "page.h"
#include "sample.h"

struct metrics;

struct metrics *metrics_new(void); /* NULL only when out of memory */
void metrics_free(struct metrics *);

/* Appends every family of the sample, roce_port_info, roce_port_state and the other gauges of the
 * host, the sources' age and errors. `host_generation` names the version of `host`: prepared text
 * is reused while it and sample->layout stay. -ENOMEM: the page is not to be used. */
int metrics_render(struct metrics *, struct page *, const struct sample *, const struct host *,
		   uint64_t host_generation, uint64_t now_ms);

/* The families that are made here, for documentation: dict_family() has those of the readings. NULL
 * past the end. */
const struct family *metrics_family(size_t index);

/* metrics.h - turns a sample into a metrics page. Pure: values in, text out; no clock, no I/O.
 *
 * While neither the sample's layout nor the host changes, rendering a sample only copies text and
 * prints numbers. */
#pragma once

#include "burst.h"
#include "diagnosis_report.h"
#include "model.h"
#include "packet_sample.h"
#include "page.h"
#include "resource_table.h"
#include "sample.h"

struct metrics;

struct metrics *metrics_new(void); /* NULL only when out of memory */
void metrics_free(struct metrics *);

/* What a page describes besides the sample. */
struct metrics_scene {
	const struct host *host;
	uint64_t host_generation;		/* names the version of `host` */
	const struct resource_table *resources; /* NULL: none */
	const struct page *last;	     /* the page before, to copy from; NULL: it is gone */
	const struct packet_sample *packets; /* what BPF programs count; NULL: nothing */
	const struct diagnosis_report *diagnosis; /* the last one; NULL: none */
	struct bursts *bursts;			  /* of the sample's ports; NULL: none */
};

/* Appends every family of the sample, roce_port_info, roce_port_state and the other gauges of the
 * host, the sources' age and errors, the resources, what BPF counts, the diagnosis, and what bursts
 * of looks have shown. Text is reused while the host's and the resources' generation and
 * sample->layout stay. -ENOMEM: the page is not to be used. */
int metrics_render(struct metrics *, struct page *, const struct sample *,
		   const struct metrics_scene *, uint64_t now_ms);

/* The families that are made here, for documentation: dict_family() has those of the readings. NULL
 * past the end. */
const struct family *metrics_family(size_t index);

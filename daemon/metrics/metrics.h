/* SPDX-License-Identifier: Apache-2.0 */
/* metrics.h - renders a sample as a metrics page. Pure: values in, text out; no clock, no I/O.
 *
 * While neither the sample's layout nor the host changes, rendering only copies text and prints
 * numbers. */
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

/* Inputs of a page besides the sample. */
struct metrics_inputs {
	const struct host *host;
	uint64_t host_generation;		/* identifies the version of `host` */
	const struct resource_table *resources; /* NULL: none */
	const struct page *last; /* the previous page, to copy from; NULL: it was freed */
	const struct packet_sample *packets;	  /* counters of BPF programs; NULL: none */
	const struct diagnosis_report *diagnosis; /* the last one; NULL: none */
	struct bursts *bursts;			  /* of the sample's ports; NULL: none */
	bool few; /* leave out rarely needed series of VFs and slots: series_choice.h */
};

/* Appends all families: the sample's readings, roce_port_info, roce_port_state and the other gauges
 * of the host, the sources' age and errors, the resources, BPF's counters, the diagnosis, and the
 * results of burst sampling. Text is reused while the generations of host and resources, and
 * sample->layout, stay the same. -ENOMEM: the page must not be used. */
int metrics_render(struct metrics *, struct page *, const struct sample *,
		   const struct metrics_inputs *, uint64_t now_ms);

/* Returns the families defined here, for documentation; dict_family() returns those of the
 * readings. NULL past the end. */
const struct family *metrics_family(size_t index);

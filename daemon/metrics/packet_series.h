/* SPDX-License-Identifier: Apache-2.0 */
/* packet_series.h - the series of RoCE packets counted by BPF programs. Pure: values in, text out.
 *
 * Some families are also counted by NICs: those have a label "source", "hw" or "bpf". A port has no
 * series of its own if its packets do not pass through the kernel, or if this is not known yet. */
#pragma once

#include "model.h"
#include "packet_sample.h"
#include "page.h"
#include "resource_table.h"
#include "sample.h"

/* Label of a NIC's series in a family that BPF counts, too. */
#define PACKET_SOURCE_HW "source=\"hw\""

/* Names of the families that NICs count, too, from index 0; NULL past the end. */
const char *packet_shared_name(size_t index);
/* Returns the other families; NULL past the end. */
const struct family *packet_family(size_t index);

/* The common labels of the ports' series, made once per page. */
struct packet_text {
	const struct packet_sample *sample;
	struct text text;
	size_t *starts; /* n_ports + 1 offsets: port i's labels end where the next ones begin */
};

/* Makes the labels; table: the holders of devices; NULL: unknown. -ENOMEM; call packet_text_done()
 * in any case. */
int packet_text_init(struct packet_text *, const struct packet_sample *,
		     const struct resource_table *);
void packet_text_done(struct packet_text *);

/* Appends BPF's samples of packet_shared_name(index). */
void packet_series_shared(struct text *, const struct packet_text *, size_t index);
/* Appends all other families. -ENOMEM. */
int packet_series(struct page *, const struct packet_text *);

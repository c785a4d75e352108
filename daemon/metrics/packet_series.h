/* packet_series.h - the series of what BPF programs count of RoCE packets. Pure: values in, text
 * out.
 *
 * Some families the NICs' counters tell too: those have a label "source", "hw" or "bpf". A port
 * whose packets do not pass the kernel, or of which that is not known yet, has no series of its
 * own. */
#pragma once

#include "model.h"
#include "packet_sample.h"
#include "page.h"
#include "resource_table.h"
#include "sample.h"

/* Of a NIC's series in a family that BPF tells too. */
#define PACKET_SOURCE_HW "source=\"hw\""

/* Families that a NIC's counters also tell: their name, from 0 on; NULL past the end. */
const char *packet_shared_name(size_t index);
/* The others; NULL past the end. */
const struct family *packet_family(size_t index);

/* What the ports' series have in common, made once for a page. */
struct packet_text {
	const struct packet_sample *sample;
	struct text text;
	size_t *starts; /* n_ports + 1: port i's labels end where the next ones begin */
};

/* The table says who holds a device; NULL: nobody is known. -ENOMEM; packet_text_done() either way.
 */
int packet_text_init(struct packet_text *, const struct packet_sample *,
		     const struct resource_table *);
void packet_text_done(struct packet_text *);

/* Appends BPF's samples of packet_shared_name(index). */
void packet_series_shared(struct text *, const struct packet_text *, size_t index);
/* Appends all other families. -ENOMEM. */
int packet_series(struct page *, const struct packet_text *);

// SPDX-License-Identifier: Apache-2.0
#include "diagnosis_fixture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void start(struct verdict *v, const char *device, const char *function, enum cause cause,
		  enum severity severity)
{
	strcpy(v->device, device);
	strcpy(v->function, function);
	v->port = 1;
	v->cause = cause;
	v->severity = severity;
	v->onset_ms = 1000;
	v->onset_unix_ms = 1790000000000;
	v->opened_ms = 2000;
	v->first_moved = "";
}

static void fill_verdicts(struct verdict *v)
{
	start(&v[0], "mlx5_0", "0000:03:00.0", CAUSE_PACKET_LOSS, SEVERITY_WARNING);
	strcpy(v[0].netdev, "ens1");
	v[0].clearing_ms = 5000;
	v[0].first_moved = "roce_sequence_nak_received_total";
	v[0].others_moved = true;
	v[0].remark = "as if it were one";
	v[0].n_evidence = 2;
	v[0].evidence[0] = (struct evidence){"packets of priority #", "ratio", 0.25, 0.01,
					     .number = 3};
	v[0].evidence[1] = (struct evidence){"peers", "", 7, (double)NAN, .number = -1};
	v[0].symptoms = CAUSE_BIT(CAUSE_REORDERING);

	start(&v[1], "mlx5_1", "0000:03:00.2", CAUSE_PEER_GONE, SEVERITY_CRITICAL);
	v[1].change = VERDICT_OPENED;
	v[1].n_pods = 8; /* more than are kept */
	for (int i = 0; i < VERDICT_PODS_MAX; i++) {
		strcpy(v[1].pods[i].namespace, "train");
		snprintf(v[1].pods[i].name, sizeof(v[1].pods[i].name), "job-%d", 7 + i);
	}
	strcpy(v[1].peer, "10.9.0.2");

	start(&v[2], "mlx5_0", "0000:03:00.0", CAUSE_REORDERING, SEVERITY_INFO);
	v[2].explained = true;

	start(&v[3], "mlx5_1", "0000:03:00.2", CAUSE_INCAST, SEVERITY_WARNING);
	v[3].change = VERDICT_CLOSED;
	v[3].closed = CLOSE_CLEARED;
}

static void add_port(struct diagnosis_report *r, const char *device, enum port_watch watch,
		     uint64_t clear_ms)
{
	r->ports[r->n_ports++] = (struct port_watched){.device = device,
						       .port = 1,
						       .watch = watch,
						       .bytes_source = "ethtool",
						       .clear_ms = clear_ms,
						       .resets = 2};
}

/* Static, because the lists of a report are neither changed nor freed. */
static const struct undecided_list unread = {
	.n = 1,
	.items = {{"not readable", CAUSE_PCIE_DEGRADED, -1}},
};
static const struct undecided_list unread_and_unmarked = {
	.n = 2,
	.items = {{"not readable", CAUSE_PCIE_DEGRADED, -1},
		  {"is not visible", CAUSE_INCAST, SERIES_CE}},
};

void diagnosis_report_small(struct diagnosis_report *r)
{
	*r = (struct diagnosis_report){
		.now_ms = 9000,
		.unix_ms = 1790000008000,
		.verdicts = calloc(4, sizeof(*r->verdicts)),
		.n_verdicts = 4,
		.ports = calloc(3, sizeof(*r->ports)),
	};
	fill_verdicts(r->verdicts);
	add_port(r, "mlx5_0", WATCH_JUDGED, 0);
	add_port(r, "mlx5_1", WATCH_WARMING, 0);
	add_port(r, "mlx5_2", WATCH_JUDGED, 3000);
	r->ports[0].undecided = &unread;
	r->ports[2].undecided = &unread_and_unmarked;
	r->onsets[CAUSE_PACKET_LOSS] = r->onsets[CAUSE_PEER_GONE] = 1;
	r->undecidable[CAUSE_PCIE_DEGRADED] = 2;
	r->undecidable[CAUSE_INCAST] = 1;
}

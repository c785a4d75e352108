// SPDX-License-Identifier: Apache-2.0
#include "event_series.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "bpf_words.h"

static void add_connections(struct page *p, const struct bpf_tally *t)
{
	static const char name[] = "roce_connections_total";
	static const char *const results[] = {
		[BPF_CM_CONNECTED] = "connected",
		[BPF_CM_REJECTED] = "rejected",
		[BPF_CM_TIMED_OUT] = "timed_out",
		[BPF_CM_OTHER] = "failed",
	};

	page_begin(p, name, "counter",
		   "rdma_cm connections: requested by this node (by result), or accepted by it.");
	text_addf(&p->text, "%s{result=\"accepted\"} %" PRIu64 "\n", name, t->accepted);
	for (unsigned i = 0; i < N_BPF_CM; i++)
		text_addf(&p->text, "%s{result=\"%s\"} %" PRIu64 "\n", name, results[i],
			  t->connections[i]);
	page_end(p);
}

/* Adds the series of a reject reason. Reasons with the same label are one series, which is printed
 * at the first of them. */
static void add_reject(struct page *p, const struct bpf_tally *t, unsigned reason)
{
	const char *label = cm_reject_label((int)reason);
	uint64_t n = 0;

	for (unsigned i = 0; i < reason; i++)
		if (strcmp(cm_reject_label((int)i), label) == 0)
			return;
	for (unsigned i = reason; i < BPF_REJECTS; i++)
		if (strcmp(cm_reject_label((int)i), label) == 0)
			n += t->rejects[i];
	text_addf(&p->text, "roce_connection_rejects_total{reason=\"%s\"} %" PRIu64 "\n", label, n);
}

static void add_rejects(struct page *p, const struct bpf_tally *t)
{
	page_begin(p, "roce_connection_rejects_total", "counter",
		   "Connections that this node requested and the peer rejected, by reason.");
	for (unsigned i = 0; i < BPF_REJECTS; i++)
		add_reject(p, t, i);
	page_end(p);
}

static void add_connect_time(struct page *p, const struct bpf_tally *t)
{
	page_begin(p, "roce_connect_seconds", "summary",
		   "Time from a connection request to the established connection.");
	text_addf(&p->text, "roce_connect_seconds_sum %" PRIu64 ".%09" PRIu64 "\n",
		  t->connect_ns / 1000000000, t->connect_ns % 1000000000);
	text_addf(&p->text, "roce_connect_seconds_count %" PRIu64 "\n", t->n_connect);
	page_end(p);
}

static bool has_soft(const struct event_summary *s, const char *device)
{
	for (unsigned i = 0; i < s->n_soft; i++)
		if (strcmp(s->soft[i].key.device, device) == 0)
			return true;
	return false;
}

static void expect_soft(struct event_summary *s, const struct host *host)
{
	for (size_t i = 0; i < host->n_rdma && s->n_soft < EVENT_SOFT_MAX; i++) {
		const struct rdma_dev *d = &host->rdma[i];

		if (strcmp(d->driver, "rxe") != 0 || has_soft(s, d->name))
			continue;
		s->soft[s->n_soft] = (struct bpf_soft_device){0};
		snprintf(s->soft[s->n_soft++].key.device, sizeof(s->soft[0].key.device), "%s",
			 d->name);
	}
}

/* Lists the devices with the faults of their functions; all devices on a function have the same
 * faults. soft-RoCE is left out, because it may be on any NIC. */
static void expect_nics(struct event_summary *s, const struct host *host)
{
	char label[DEVICE_LABEL_SIZE];

	s->n_nics = 0;
	for (size_t i = 0; i < host->n_rdma && s->n_nics < EVENT_NICS_MAX; i++) {
		const struct rdma_dev *d = &host->rdma[i];
		struct event_nic *nic = &s->nics[s->n_nics];

		if (!d->function[0] || strcmp(d->driver, "rxe") == 0 ||
		    !bpf_tally_faults(&s->tally, d->function, nic->faults))
			continue;
		snprintf(nic->device, sizeof(nic->device), "%s", device_label(host, d, label));
		s->n_nics++;
	}
}

void event_summary_expect(struct event_summary *s, const struct host *host)
{
	expect_soft(s, host);
	expect_nics(s, host);
}

/* Adds one sample of a device. Escapes the device's name, because a pod can choose it. */
static void add_of_device(struct page *p, const char *family, const char *device, const char *kind,
			  uint64_t n)
{
	text_addf(&p->text, "%s", family);
	text_add_port(&p->text, device, 0, NULL);
	text_addf(&p->text, ",kind=\"%s\"} %" PRIu64 "\n", kind, n);
}

static void add_soft(struct page *p, const struct event_summary *s)
{
	static const char *const kinds[] = {
		[BPF_SOFT_RETRANSMIT_TIMEOUT] = "retransmit_timeout",
		[BPF_SOFT_RNR_TIMEOUT] = "rnr_timeout",
		[BPF_SOFT_ICRC] = "icrc_error",
	};

	page_begin(p, "roce_soft_events_total", "counter",
		   "Events that soft-RoCE does not count separately: expired timers, wrong ICRCs.");
	for (unsigned i = 0; i < s->n_soft; i++) {
		char name[sizeof(s->soft[i].key.device) + 1];

		snprintf(name, sizeof(name), "%.*s", (int)sizeof(s->soft[i].key.device),
			 s->soft[i].key.device);
		for (unsigned k = 0; k < N_BPF_SOFT; k++)
			if (s->soft_watched[k])
				add_of_device(p, "roce_soft_events_total", name, kinds[k],
					      s->soft[i].counts.n[k]);
	}
	page_end(p);
}

static void add_faults(struct page *p, const struct event_summary *s)
{
	static const char *const kinds[] = {
		[NIC_FAULT_TX_TIMEOUT] = "tx_timeout",
		[NIC_FAULT_HEALTH_REPORT] = "health_report",
	};

	page_begin(
		p, "roce_nic_faults_total", "counter",
		"Hung transmit queues of the device's netdev, and errors that its driver reported to devlink, since rocelet started.");
	for (unsigned i = 0; i < s->n_nics; i++)
		for (unsigned k = 0; k < N_NIC_FAULTS; k++)
			if (s->faults_watched[k])
				add_of_device(p, "roce_nic_faults_total", s->nics[i].device,
					      kinds[k], s->nics[i].faults[k]);
	page_end(p);
}

void event_series(struct page *p, const struct event_summary *s)
{
	if (s->connections) {
		add_connections(p, &s->tally);
		add_rejects(p, &s->tally);
		add_connect_time(p, &s->tally);
	}
	add_soft(p, s);
	add_faults(p, s);
}

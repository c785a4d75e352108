// SPDX-License-Identifier: Apache-2.0
/* bpf_wiring.c - the BPF event programs: decides which to load, and handles their events: counts
 * them, publishes them, passes hints to the node, and feeds the table of queue pairs. */
#include <string.h>
#include <unistd.h>

#include "bpf_source.h"
#include "bpf_text.h"
#include "daemon.h"
#include "log.h"
#include "node.h"
#include "owners.h"
#include "qps.h"
#include "unix_time.h"

/* Limits for published events; if there are more (such as a thousand rejects per second), the rest
 * are only counted. Connection events have a limit of their own, so that they do not displace
 * others. */
#define BPF_EVENTS_PER_SECOND 20
#define BPF_EVENTS_BURST      100

static void bpf_event_publish(struct daemon *d, const struct bpf_event *e)
{
	bool cm = e->kind == BPF_EVENT_CM; /* any user can cause connection events */
	struct event published;

	if (!bpf_event_to_event(e, unix_ms(), &published))
		return;
	if (e->kind == BPF_EVENT_PORT)
		port_event_complete(&published, (const struct bpf_event_port *)e,
				    &node_inventory(d->node)->host, d->routes.attachments,
				    &d->netns_exits);
	if (bucket_take(cm ? &d->bpf_cm_event_rate : &d->bpf_event_rate, uv_now(&d->loop)))
		owners_deliver(d->owners, e->pid, e->cgroup, &published);
	else if (cm)
		d->self.unlisted_bpf_cm++;
	else
		d->self.unlisted_bpf++;
}

static void on_netdev_moved(struct daemon *d, const struct bpf_event *e)
{
	char line[256];

	netns_exits_add(&d->netns_exits, (const struct bpf_event_netdev_moved *)e);
	bpf_event_line(e, line, sizeof(line));
	log_info("bpf", 0, "%s", line);
	node_hint(d->node, SCAN_NETDEVS | SCAN_RDMA, false);
}

/* Handles an event. e NULL: events were lost, so anything may have changed. */
static void bpf_on_event(const struct bpf_event *e, void *arg)
{
	struct daemon *d = arg;

	qps_event(d->qps, e);
	if (!e) {
		node_hint(d->node, SCAN_NETDEVS | SCAN_RDMA, true);
		return;
	}
	bpf_tally_add(&d->bpf_tally, e);
	bpf_event_publish(d, e);
	if (e->kind == BPF_EVENT_NETDEV_MOVED)
		on_netdev_moved(d, e);
	else if (e->kind == BPF_EVENT_PORT)
		node_hint(d->node, SCAN_RDMA, false);
}

static void on_programs(void *arg)
{
	struct daemon *d = arg;

	qps_update(d->qps);
}

/* Checks each time whether rdma_cm is loaded, because modules are loaded and unloaded without
 * notification; a check is a single call. */
void bpf_wiring_update(struct daemon *d)
{
	const struct host *host = &node_inventory(d->node)->host;
	struct bpf_presence now = {.rdma_devices = host->n_rdma > 0};
	char path[OPTION_TEXT_SIZE + 32];

	if (!d->bpf)
		return;
	snprintf(path, sizeof(path), "%s/module/rdma_cm", d->options->sysfs_root);
	now.rdma_cm = access(path, F_OK) == 0;
	for (size_t i = 0; i < host->n_rdma; i++)
		now.soft_devices |= strcmp(host->rdma[i].driver, "rxe") == 0;
	bpf_source_follow(d->bpf, &now);
}

/* Drops the counters of removed devices. If devices of other namespaces are not visible, it is
 * unknown which were removed, so all are kept. */
static unsigned soft_counts(struct daemon *d, struct bpf_soft_device *soft)
{
	const struct host *host = &node_inventory(d->node)->host;
	unsigned n = bpf_source_soft_counts(d->bpf, soft, EVENT_SOFT_MAX), kept = 0;

	if (host->rdma_mode != RDMA_NETNS_SHARED)
		return n;
	for (unsigned i = 0; i < n; i++)
		if (host_rdma(host, soft[i].key.device))
			soft[kept++] = soft[i];
		else
			bpf_source_soft_forget(d->bpf, &soft[i].key);
	return kept;
}

void bpf_wiring_describe(struct daemon *d, struct self_metrics *m)
{
	static const char *const soft[] = {
		[BPF_SOFT_RETRANSMIT_TIMEOUT] = "soft_retransmit",
		[BPF_SOFT_RNR_TIMEOUT] = "soft_rnr",
		[BPF_SOFT_ICRC] = "soft_icrc",
	};
	static const char *const faults[] = {
		[NIC_FAULT_TX_TIMEOUT] = "tx_timeout",
		[NIC_FAULT_HEALTH_REPORT] = "nic_health",
	};
	const struct bpf_program_status *p;
	unsigned n = bpf_source_programs(d->bpf, &p);

	for (unsigned i = 0; i < n && i < SELF_PROGRAMS_MAX; i++, m->n_programs++) {
		snprintf(m->programs[i].name, sizeof(m->programs[i].name), "%s", p[i].name);
		snprintf(m->programs[i].hook, sizeof(m->programs[i].hook), "%s", p[i].hook);
	}
	m->events.connections = bpf_source_runs(d->bpf, "cm_event");
	m->events.tally = d->bpf_tally;
	m->events.n_soft = soft_counts(d, m->events.soft);
	for (unsigned k = 0; k < N_BPF_SOFT; k++)
		m->events.soft_watched[k] = bpf_source_runs(d->bpf, soft[k]);
	for (unsigned k = 0; k < N_NIC_FAULTS; k++)
		m->events.faults_watched[k] = bpf_source_runs(d->bpf, faults[k]);
	event_summary_expect(&m->events, &node_inventory(d->node)->host);
}

int bpf_start(struct daemon *d, struct err *e)
{
	const struct bpf_source_hooks hooks = {
		.event = bpf_on_event,
		.programs = on_programs,
		.arg = d,
	};

	if (!options_want_bpf(d->options))
		return 0;
	if (!d->hw.live)
		return err_set(e, -EOPNOTSUPP, "the sysfs root is not this kernel's");
	bucket_init(&d->bpf_event_rate, BPF_EVENTS_PER_SECOND, BPF_EVENTS_BURST, uv_now(&d->loop));
	bucket_init(&d->bpf_cm_event_rate, BPF_EVENTS_PER_SECOND, BPF_EVENTS_BURST,
		    uv_now(&d->loop));
	return bpf_source_open(&d->bpf, &d->loop, &d->self, &hooks, e);
}

void bpf_stop(struct daemon *d)
{
	bpf_source_close(d->bpf);
	d->bpf = NULL;
}

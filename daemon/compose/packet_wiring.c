// SPDX-License-Identifier: Apache-2.0
/* packet_wiring.c - connects packet counting by BPF. Inventory, attachments and configuration
 * define the interfaces; packet_ports attaches programs to them; the sampler reads the counters and
 * the API shows them. */
#include "bpf_source.h"
#include "cleanup.h"
#include "daemon.h"
#include "log.h"
#include "node.h"
#include "packet_ports.h"
#include "search.h"

static void report_bpf(struct api_bpf *ret, void *arg)
{
	struct daemon *d = arg;
	const struct bpf_program_status *programs;
	unsigned n = bpf_source_programs(d->bpf, &programs);

	*ret = (struct api_bpf){
		.on = d->hw.live && options_want_bpf(d->options),
		.memory_budget = (uint64_t)d->options->bpf_memory << 20,
		.programs = d->bpf_programs,
	};
	for (unsigned i = 0; i < n && i < ARRAY_SIZE(d->bpf_programs); i++)
		d->bpf_programs[ret->n_programs++] = (struct api_bpf_program){
			.name = programs[i].name,
			.hook = programs[i].hook,
			.error = programs[i].error[0] ? programs[i].error : NULL};
	ret->n_ports = packet_ports_list(d->packet_ports, &ret->ports);
}

static bool is_planned(const struct packet_plan *plan, const struct packet_wanted *w)
{
	return any_of(plan->n, i, packet_wanted_same(&plan->items[i], w));
}

/* Logs the changes of the plan. Attaching programs to an interface changes the node, so a dry run
 * only logs it. */
static void packet_log_plan(const struct packet_plan *before, const struct packet_plan *plan)
{
	for (size_t i = 0; i < plan->n; i++) {
		const struct packet_port *p = &plan->items[i].port;

		if (!is_planned(before, &plan->items[i]))
			log_info("bpf", 0, "dry run: would count the RoCE packets of %s%s%s (%s)",
				 p->netdev, p->netns[0] ? " in " : "", p->netns,
				 packet_role_name(p->role));
	}
}

void packet_wiring_update(struct daemon *d)
{
	struct packet_plan plan = {0};

	if (!d->watches_packets || !node_knows_devices(d->node))
		return;
	if (packet_plan_build(&plan, &node_inventory(d->node)->host, d->routes.attachments,
			      d->options) < 0) {
		log_warn("bpf", -ENOMEM,
			 "cannot decide which interfaces to watch, keeping the current programs");
		return;
	}
	if (d->packet_ports)
		packet_ports_follow(d->packet_ports, &plan);
	else
		packet_log_plan(&d->packet_plan, &plan);
	packet_plan_done(&d->packet_plan);
	d->packet_plan = plan;
}

struct packet_view *packet_wiring_view(void *arg)
{
	struct daemon *d = arg;

	return packet_ports_view(d->packet_ports);
}

int packets_start(struct daemon *d, struct err *e)
{
	const struct options *o = d->options;
	const struct packet_ports_opts opts = {
		.memory_budget = (uint64_t)o->bpf_memory << 20,
		.retry_ms = PACKET_PORTS_RETRY_MS,
	};
	int r = 0;

	d->routes.report_bpf = report_bpf;
	d->routes.report_bpf_arg = d;
	if (!options_want_bpf(o) || !d->hw.live)
		return 0;
	if (!o->dry_run)
		r = packet_ports_open(&d->packet_ports, &d->loop, &d->hw, &opts, e);
	d->watches_packets = r == 0;
	packet_wiring_update(d);
	return r;
}

void packets_stop(struct daemon *d)
{
	d->watches_packets = false;
	d->routes.report_bpf = NULL;
	packet_ports_close(d->packet_ports);
	d->packet_ports = NULL;
	packet_plan_done(&d->packet_plan);
}

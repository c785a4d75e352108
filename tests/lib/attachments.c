// SPDX-License-Identifier: Apache-2.0
#include "attachments.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

static struct attach_record *add(struct attachments *a, enum attach_state state,
				 const char *function, const char *pod)
{
	size_t i = a->list.n++;
	struct attach_record *r = &a->records[i];

	a->status[i] = (struct attach_status){.record = r, .since_ms = (i + 1) * 1000};
	r->state = state;
	strcpy(r->resource, "rocelet.dev/roce");
	snprintf(r->id, sizeof(r->id), "%s", function);
	snprintf(r->function, sizeof(r->function), "%s", function);
	snprintf(r->owner.pod, sizeof(r->owner.pod), "%s", pod);
	strcpy(r->owner.namespace, "train");
	strcpy(r->owner.container, "main");
	strcpy(r->plan.ifname, "net1");
	strcpy(r->owner.netns.path, "/run/netns/cni-1");
	return r;
}

static void add_ip(struct ip_prefix *ips, size_t *n, int family, const char *addr, uint8_t len)
{
	ips[*n].family = family;
	ips[*n].len = len;
	inet_pton(family, addr, ips[(*n)++].addr);
}

static void add_attached(struct attachments *a)
{
	struct attach_record *r = add(a, ATTACH_IN_POD, "0000:03:00.2", "job-7");
	static const uint8_t mac[6] = {2, 0, 0, 0, 0, 0x1f};

	strcpy(r->owner.uid, "0b0e1a5c-8a51-4f6c-9f57-3c1b2d4e5f60");
	strcpy(r->origin.name, "ens1f0v1");
	strcpy(r->origin.rdma, "mlx5_4");
	strcpy(r->rdma, "mlx5_4");
	r->plan.has_mac = true;
	memcpy(r->plan.mac, mac, 6);
	r->plan.vf.fields = VF_VLAN | VF_MAC;
	r->plan.vf.vlan = 100;
	r->plan.mtu = 9000;
	add_ip(r->plan.ips, &r->plan.n_ips, AF_INET, "10.9.0.1", 24);
	add_ip(r->ips, &r->n_ips, AF_INET6, "fd00::1", 64);
	a->status[0].drift = VF_SPOOFCHK | ATTACH_DRIFT_LINK(LINK_MTU);
}

void attachments_small(struct attachments *a)
{
	struct attach_record *r;

	memset(a, 0, sizeof(*a));
	a->list.items = a->status;
	add_attached(a);
	add(a, ATTACH_ATTACHING, "0000:03:00.3", "job-8");
	a->status[1].step = "configure";
	add(a, ATTACH_RETURNING, "0000:03:00.4", "job-6");
	a->status[2].step = "back-move";
	r = add(a, ATTACH_BAD, "0000:03:00.5", "");
	r->owner.door = DOOR_ADMIN;
	r->owner.namespace[0] = r->owner.container[0] = '\0';
	strcpy(a->status[3].error, "0000:03:00.5: setting the MAC: Device or resource busy");
	a->status[3].tries = 4;
	r = add(a, ATTACH_IN_POD, "0000:04:00.0", "reader-0");
	r->plan.kind = PLAN_MACVLAN;
	strcpy(r->resource, "rdma/hca_shared");
	strcpy(r->id, "0");
}

void attach_counters_small(struct attach_counters *c)
{
	*c = (struct attach_counters){
		.attached = 11,
		.attach_failures = 2,
		.returned = 9,
		.return_failures = 3,
		.orphans = 4,
		.drifts = 5,
		.repairs = 6,
		.gate_questions = 13,
		.gate_refusals = 7,
		.attach_us = 1234567,
		.attach_us_max = 400000,
		.return_us = 2345678,
		.return_us_max = 500000,
		.gate_us = 3456789,
		.gate_us_max = 600000,
		.free = 1,
		.attaching = 1,
		.in_pod = 2,
		.returning = 1,
		.bad = 1,
		.cri_open = true,
		.cri = {.socket = "/run/containerd/containerd.sock",
			.runtime = "containerd 1.7.24",
			.hints = CRI_HINTS_CONTAINERD,
			.asked = 21,
			.failed = 8,
			.events = 34},
	};
}

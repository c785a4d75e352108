// SPDX-License-Identifier: Apache-2.0
#include "bpf_event_check.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#define TERMINATED(text) (memchr(text, '\0', sizeof(text)) != NULL)

static const size_t sizes[N_BPF_EVENT_KINDS] = {
	[BPF_EVENT_NETDEV_MOVED] = sizeof(struct bpf_event_netdev_moved),
	[BPF_EVENT_QP] = sizeof(struct bpf_event_qp),
	[BPF_EVENT_QP_FAILED] = sizeof(struct bpf_event_qp_failed),
	[BPF_EVENT_PORT] = sizeof(struct bpf_event_port),
	[BPF_EVENT_CM] = sizeof(struct bpf_event_cm),
	[BPF_EVENT_HEALTH] = sizeof(struct bpf_event_health),
	[BPF_EVENT_DCB] = sizeof(struct bpf_event_dcb),
	[BPF_EVENT_TX_TIMEOUT] = sizeof(struct bpf_event_tx_timeout),
};

static bool is_netdev_moved(const struct bpf_event_netdev_moved *e)
{
	return TERMINATED(e->name);
}

static bool is_qp(const struct bpf_event_qp *e)
{
	return TERMINATED(e->device) && e->change < N_BPF_QP_CHANGES;
}

static bool is_health(const struct bpf_event_health *e)
{
	return TERMINATED(e->bus) && TERMINATED(e->device) && TERMINATED(e->driver) &&
	       TERMINATED(e->reporter) && TERMINATED(e->message);
}

static bool is_dcb(const struct bpf_event_dcb *e)
{
	return TERMINATED(e->name) && e->what < N_BPF_DCB;
}

static bool is_tx_timeout(const struct bpf_event_tx_timeout *e)
{
	return TERMINATED(e->device) && TERMINATED(e->name) && TERMINATED(e->driver);
}

static bool is_its_kind(const struct bpf_event *e)
{
	switch ((enum bpf_event_kind)e->kind) {
	case BPF_EVENT_NETDEV_MOVED:
		return is_netdev_moved((const struct bpf_event_netdev_moved *)e);
	case BPF_EVENT_QP:
		return is_qp((const struct bpf_event_qp *)e);
	case BPF_EVENT_QP_FAILED:
		return TERMINATED(((const struct bpf_event_qp_failed *)e)->device);
	case BPF_EVENT_PORT:
		return TERMINATED(((const struct bpf_event_port *)e)->device);
	case BPF_EVENT_CM:
		return ((const struct bpf_event_cm *)e)->what < N_BPF_CM;
	case BPF_EVENT_HEALTH:
		return is_health((const struct bpf_event_health *)e);
	case BPF_EVENT_DCB:
		return is_dcb((const struct bpf_event_dcb *)e);
	case BPF_EVENT_TX_TIMEOUT:
		return is_tx_timeout((const struct bpf_event_tx_timeout *)e);
	case N_BPF_EVENT_KINDS:
		break;
	}
	return false;
}

int bpf_event_check(const void *data, size_t size)
{
	const struct bpf_event *e = data;

	if (size < sizeof(*e) || e->version != BPF_EVENT_VERSION || e->kind >= N_BPF_EVENT_KINDS ||
	    size != sizes[e->kind] || size != e->size || !TERMINATED(e->comm))
		return -EBADMSG;
	return is_its_kind(e) ? 0 : -EBADMSG;
}

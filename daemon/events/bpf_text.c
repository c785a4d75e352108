// SPDX-License-Identifier: Apache-2.0
/* bpf_text.c - see bpf_text.h. Names are those of
 * linux/include/rdma/{ib_verbs,ib_cm}.h. */
#include "bpf_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "attachment.h"
#include "bpf_words.h"

struct line {
	char *at;
	size_t left;
};

__attribute__((format(printf, 2, 3))) static void bpf_event_add_text(struct line *l,
								     const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(l->at, l->left, fmt, ap);
	va_end(ap);
	if (n < 0 || l->left == 0)
		return;
	if ((size_t)n >= l->left)
		n = (int)l->left - 1;
	l->at += n;
	l->left -= (size_t)n;
}

static void add_task(struct line *l, const struct bpf_event *e)
{
	if (e->pid)
		bpf_event_add_text(l, " by %s, pid %u", e->comm, e->pid);
}

static void bpf_event_add_address(struct line *l, const __u8 address[16], unsigned port)
{
	char text[64];

	bpf_address_text(address, text, sizeof(text));
	bpf_event_add_text(l, strchr(text, ':') ? "[%s]:%u" : "%s:%u", text, port);
}

/* --- kinds of events -------------------------------------------------------------------------- */

static void netdev_moved(struct line *l, const struct bpf_event_netdev_moved *e)
{
	bpf_event_add_text(l, "%s (index %u) is moved from network namespace %u to %u", e->name,
			   e->ifindex, e->netns_from, e->netns_to);
	add_task(l, &e->head);
}

static void qp_changed(struct line *l, const struct bpf_event_qp *e)
{
	static const char *const changes[] = {"created", "modified", "destroyed"};

	bpf_event_add_text(l, "queue pair %u of %s %s", e->qpn, e->device, changes[e->change]);
	if (e->result)
		bpf_event_add_text(l, ", error %d", e->result);
	add_task(l, &e->head);
}

static void qp_failed(struct line *l, const struct bpf_event_qp_failed *e)
{
	bpf_event_add_text(l, "queue pair %u of %s: ", e->qpn, e->device);
	if (e->event >= 0)
		bpf_event_add_text(l, "%s", ib_event_words((__u32)e->event));
	else
		bpf_event_add_text(l, "failed completion, status %u", e->status);
}

static void port_event(struct line *l, const struct bpf_event_port *e)
{
	bpf_event_add_text(l, "%s", e->device);
	if (e->port)
		bpf_event_add_text(l, " port %u", e->port);
	bpf_event_add_text(l, ": %s", ib_event_words(e->event));
}

static void cm_result(struct line *l, const struct bpf_event_cm *e)
{
	switch ((enum bpf_cm_what)e->what) {
	case BPF_CM_CONNECTED:
		bpf_event_add_text(l, e->passive ? " accepted" : " established");
		break;
	case BPF_CM_REJECTED:
		bpf_event_add_text(l, " rejected: %s (reason %d)", cm_reject_meaning(e->status),
				   e->status);
		break;
	case BPF_CM_TIMED_OUT:
		bpf_event_add_text(l, " timed out: the peer does not answer");
		break;
	case BPF_CM_OTHER:
		bpf_event_add_text(l, " failed: %s", cm_event_words(e->event));
		break;
	case N_BPF_CM:
		break;
	}
}

static void cm_event(struct line *l, const struct bpf_event_cm *e)
{
	bpf_event_add_text(l, "connection ");
	bpf_event_add_address(l, e->saddr, e->sport);
	bpf_event_add_text(l, e->passive ? " from " : " to ");
	bpf_event_add_address(l, e->daddr, e->dport);
	cm_result(l, e);
	if (e->latency_ns)
		bpf_event_add_text(l, " after %llu.%03llu ms",
				   (unsigned long long)(e->latency_ns / 1000000),
				   (unsigned long long)(e->latency_ns / 1000 % 1000));
	if (e->qpn)
		bpf_event_add_text(l, ", queue pair %u", e->qpn);
	add_task(l, &e->head);
}

static void health(struct line *l, const struct bpf_event_health *e)
{
	bpf_event_add_text(l, "%s/%s", e->bus, e->device);
	if (e->driver[0])
		bpf_event_add_text(l, " (%s)", e->driver);
	bpf_event_add_text(l, ": reporter %s ", e->reporter);
	if (e->aborted)
		bpf_event_add_text(l, "aborted recovery");
	else
		bpf_event_add_text(l, "reports: %s", e->message);
}

static void tx_timeout(struct line *l, const struct bpf_event_tx_timeout *e)
{
	bpf_event_add_text(l, "%s (index %u", e->name, e->ifindex);
	if (e->device[0])
		bpf_event_add_text(l, ", %s", e->device);
	bpf_event_add_text(l, "): transmit queue %u sent nothing for too long; ", e->queue);
	bpf_event_add_text(l, "%s resets it", e->driver[0] ? e->driver : "its driver");
}

static void dcb_app(struct line *l, const struct bpf_event_dcb *e)
{
	const char *verb = e->what == BPF_DCB_APP_SET ? "mapped to" : "no longer mapped to";

	if (e->selector == 5) /* IEEE_8021QAZ_APP_SEL_DSCP */
		bpf_event_add_text(l, "DSCP %u %s priority %u", e->protocol, verb, e->priority);
	else
		bpf_event_add_text(l, "application %u of selector %u %s priority %u", e->protocol,
				   e->selector, verb, e->priority);
}

static void pfc_priorities(struct line *l, unsigned mask)
{
	const char *comma = "";

	if (mask == 0)
		bpf_event_add_text(l, "PFC off");
	else
		bpf_event_add_text(l, "PFC on for priority ");
	for (unsigned i = 0; i < 8; i++)
		if (mask & 1U << i) {
			bpf_event_add_text(l, "%s%u", comma, i);
			comma = ", ";
		}
}

static void dcb(struct line *l, const struct bpf_event_dcb *e)
{
	bpf_event_add_text(l, "%s: ", e->name);
	switch ((enum bpf_dcb_what)e->what) {
	case BPF_DCB_PFC:
		pfc_priorities(l, e->pfc_enable);
		break;
	case BPF_DCB_ETS:
		bpf_event_add_text(l, "ETS bandwidths of the traffic classes changed");
		break;
	case BPF_DCB_APP_SET:
	case BPF_DCB_APP_DELETED:
		dcb_app(l, e);
		break;
	case BPF_DCB_OTHER:
		bpf_event_add_text(l, "PFC is set through CEE");
		break;
	case N_BPF_DCB:
		break;
	}
	add_task(l, &e->head);
}

void bpf_event_line(const struct bpf_event *e, char *buf, size_t size)
{
	struct line l = {buf, size};

	if (size > 0)
		buf[0] = '\0';
	switch ((enum bpf_event_kind)e->kind) {
	case BPF_EVENT_NETDEV_MOVED:
		netdev_moved(&l, (const struct bpf_event_netdev_moved *)e);
		break;
	case BPF_EVENT_QP:
		qp_changed(&l, (const struct bpf_event_qp *)e);
		break;
	case BPF_EVENT_QP_FAILED:
		qp_failed(&l, (const struct bpf_event_qp_failed *)e);
		break;
	case BPF_EVENT_PORT:
		port_event(&l, (const struct bpf_event_port *)e);
		break;
	case BPF_EVENT_CM:
		cm_event(&l, (const struct bpf_event_cm *)e);
		break;
	case BPF_EVENT_HEALTH:
		health(&l, (const struct bpf_event_health *)e);
		break;
	case BPF_EVENT_DCB:
		dcb(&l, (const struct bpf_event_dcb *)e);
		break;
	case BPF_EVENT_TX_TIMEOUT:
		tx_timeout(&l, (const struct bpf_event_tx_timeout *)e);
		break;
	case N_BPF_EVENT_KINDS:
		break;
	}
}

/* --- as events -------------------------------------------------------------------------------- */

struct event_text {
	const char *reason, *device;
	bool warning;
};

static bool cm_event_text(const struct bpf_event_cm *e, struct event_text *t)
{
	static const char *const reasons[] = {
		[BPF_CM_REJECTED] = "ConnectionRejected",
		[BPF_CM_TIMED_OUT] = "ConnectionTimedOut",
		[BPF_CM_OTHER] = "ConnectionFailed",
	};

	if (e->what == BPF_CM_CONNECTED)
		return false;
	t->reason = reasons[e->what];
	t->warning = true;
	return true;
}

static bool dcb_event_text(const struct bpf_event_dcb *e, struct event_text *t)
{
	static const char *const reasons[] = {
		[BPF_DCB_PFC] = "PfcChanged",
		[BPF_DCB_ETS] = "EtsChanged",
		[BPF_DCB_APP_SET] = "PriorityMapChanged",
		[BPF_DCB_APP_DELETED] = "PriorityMapChanged",
		[BPF_DCB_OTHER] = "PfcChanged",
	};

	t->reason = reasons[e->what];
	t->device = e->name;
	return true;
}

static bool health_event_text(const struct bpf_event_health *e, struct event_text *t)
{
	t->reason = e->aborted ? "NicRecoveryAborted" : "NicHealth";
	t->device = e->device;
	t->warning = true;
	return true;
}

static bool tx_timeout_event_text(const struct bpf_event_tx_timeout *e, struct event_text *t)
{
	t->reason = "TxTimeout";
	t->device = e->device[0] ? e->device : e->name;
	t->warning = true;
	return true;
}

/* False for our own temporary devices. A pod that gives its device such a name hides only the
 * events of its own port. */
static bool port_event_text(const struct bpf_event_port *e, struct event_text *t)
{
	if (strncmp(e->device, SOFT_ROCE_PLACEHOLDER, strlen(SOFT_ROCE_PLACEHOLDER)) == 0)
		return false;
	t->reason = port_event_reason(e->event, &t->warning);
	t->device = e->device;
	return true;
}

static bool event_text_of(const struct bpf_event *e, struct event_text *t)
{
	switch ((enum bpf_event_kind)e->kind) {
	case BPF_EVENT_PORT:
		return port_event_text((const struct bpf_event_port *)e, t);
	case BPF_EVENT_CM:
		return cm_event_text((const struct bpf_event_cm *)e, t);
	case BPF_EVENT_HEALTH:
		return health_event_text((const struct bpf_event_health *)e, t);
	case BPF_EVENT_DCB:
		return dcb_event_text((const struct bpf_event_dcb *)e, t);
	case BPF_EVENT_TX_TIMEOUT:
		return tx_timeout_event_text((const struct bpf_event_tx_timeout *)e, t);
	case BPF_EVENT_NETDEV_MOVED:
	case BPF_EVENT_QP:
	case BPF_EVENT_QP_FAILED:
	case N_BPF_EVENT_KINDS:
		break;
	}
	return false;
}

bool bpf_event_to_event(const struct bpf_event *e, uint64_t now_ms, struct event *ret)
{
	struct event_text t = {.device = ""};

	if (!event_text_of(e, &t))
		return false;
	*ret = (struct event){
		.first_ms = now_ms,
		.last_ms = now_ms,
		.type = t.warning ? EVENT_WARNING : EVENT_NORMAL,
	};
	snprintf(ret->reason, sizeof(ret->reason), "%s", t.reason);
	snprintf(ret->device, sizeof(ret->device), "%s", t.device);
	bpf_event_line(e, ret->message, sizeof(ret->message));
	return true;
}

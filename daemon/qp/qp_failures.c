// SPDX-License-Identifier: Apache-2.0
#include "qp_failures.h"

#include <arpa/inet.h>
#include <string.h>

#include "cleanup.h"
#include "qp_words.h"
#include "search.h"

/* enum ib_event_type, linux/include/rdma/ib_verbs.h: the events that end a queue pair. */
enum { CQ_ERR, QP_FATAL, QP_REQ_ERR, QP_ACCESS_ERR, PATH_MIG_ERR = 7, SRQ_ERR = 14, WQ_FATAL = 19 };

static const int fatal_events[] = {CQ_ERR,	 QP_FATAL, QP_REQ_ERR, QP_ACCESS_ERR,
				   PATH_MIG_ERR, SRQ_ERR,  WQ_FATAL};

static const char moved[] = "MOVED_TO_ERR";

bool qp_failure_is_one(const struct bpf_event_qp_failed *e)
{
	if (e->status)
		return e->status != QP_STATUS_FLUSHED;
	return any_of(ARRAY_SIZE(fatal_events), i, e->event == fatal_events[i]);
}

bool qp_failure_is_move(const struct qp *qp, const struct bpf_event_qp *e)
{
	return e->change == BPF_QP_MODIFIED && (e->attr_mask & 1) && e->state == QP_STATE_ERR &&
	       e->head.pid == 0 && !qp->kernel && !e->kernel;
}

const char *qp_failure_reason(const struct qp *qp)
{
	if (qp->failed_status)
		return wc_status_name(qp->failed_status);
	return qp->failed_event >= 0 ? ib_event_name(qp->failed_event) : moved;
}

/* Returns the status of failed completions with that index: all except success and flushed, which
 * is a consequence of another failure. */
static uint32_t failed_status(size_t index)
{
	uint32_t status = (uint32_t)index + 1;

	return status < QP_STATUS_FLUSHED ? status : status + 1;
}

const char *qp_failure_known(size_t index, enum qp_failure_source *ret)
{
	size_t completion = index - ARRAY_SIZE(fatal_events) - 1;

	if (index < ARRAY_SIZE(fatal_events)) {
		*ret = QP_FAILS_BY_EVENT;
		return ib_event_name(fatal_events[index]);
	}
	if (index == ARRAY_SIZE(fatal_events)) {
		*ret = QP_FAILS_BY_MOVE;
		return moved;
	}
	*ret = QP_FAILS_BY_COMPLETION;
	return failed_status(completion) < N_WC_STATUSES ? wc_status_name(failed_status(completion))
							 : NULL;
}

static const char *meaning(const struct qp *qp)
{
	if (qp->failed_status)
		return wc_status_meaning(qp->failed_status);
	return qp->failed_event >= 0 ? ib_event_meaning(qp->failed_event)
				     : "moved to the error state by the kernel";
}

/* --- rate limit ------------------------------------------------------------------------------- */

static bool qp_is_kind(const struct qp_failure_kind *k, const struct qp *qp, const char *reason)
{
	return strcmp(k->reason, reason) == 0 && strcmp(k->device, qp->device) == 0 &&
	       strcmp(k->pod_uid, qp->pod_uid) == 0;
}

/* Returns a slot for a new kind: a free one, or that of the least recent kind. */
static struct qp_failure_kind *failure_kind_slot(struct qp_failures *f)
{
	struct qp_failure_kind *oldest = f->kinds;

	if (f->n_kinds < QP_FAILURE_KINDS)
		return &f->kinds[f->n_kinds++];
	for (size_t i = 1; i < f->n_kinds; i++)
		if (f->kinds[i].last_ms < oldest->last_ms)
			oldest = &f->kinds[i];
	return oldest;
}

static struct qp_failure_kind *qp_kind_of(struct qp_failures *f, const struct qp *qp,
					  uint64_t now_ms)
{
	const char *reason = qp_failure_reason(qp);
	struct qp_failure_kind *k;

	for (size_t i = 0; i < f->n_kinds; i++)
		if (qp_is_kind(&f->kinds[i], qp, reason))
			return &f->kinds[i];
	k = failure_kind_slot(f);
	*k = (struct qp_failure_kind){.left = QP_FAILURE_BURST, .gained_ms = now_ms};
	memcpy(k->device, qp->device, sizeof(k->device));
	memcpy(k->pod_uid, qp->pod_uid, sizeof(k->pod_uid));
	snprintf(k->reason, sizeof(k->reason), "%s", reason);
	return k;
}

/* True if this event may name its queue pair. */
static bool may_name_qp(struct qp_failure_kind *k, uint64_t now_ms)
{
	uint64_t gained = (now_ms - k->gained_ms) / QP_FAILURE_PAUSE_MS;

	k->last_ms = now_ms;
	k->gained_ms += gained * QP_FAILURE_PAUSE_MS;
	k->left = gained > QP_FAILURE_BURST - k->left ? QP_FAILURE_BURST
						      : k->left + (unsigned)gained;
	if (k->left == 0)
		return false;
	k->left--;
	return true;
}

static void count_failure(struct qp_failures *f, const char *device, const char *reason)
{
	struct qp_failure_count *c;

	for (size_t i = 0; i < f->n_counts; i++) {
		c = &f->counts[i];
		if (strcmp(c->device, device) == 0 && strcmp(c->reason, reason) == 0) {
			c->n++;
			return;
		}
	}
	if (f->n_counts == QP_FAILURE_KINDS) {
		f->counts[f->n_counts - 1].n++;
		return;
	}
	c = &f->counts[f->n_counts++];
	if (f->n_counts == QP_FAILURE_KINDS)
		device = reason = "other";
	*c = (struct qp_failure_count){.n = 1};
	snprintf(c->device, sizeof(c->device), "%s", device);
	snprintf(c->reason, sizeof(c->reason), "%s", reason);
}

/* --- texts ------------------------------------------------------------------------------------ */

/* Writes a text such as " to 10.9.0.2 QP 18", with the parts that are known. */
static void peer_text(const struct qp *qp, char *ret, size_t size)
{
	static const uint8_t none[16], mapped[12] = {[10] = 0xff, [11] = 0xff};
	bool ip4 = memcmp(qp->peer_gid, mapped, sizeof(mapped)) == 0;
	char address[INET6_ADDRSTRLEN] = "", number[24] = "";

	if (memcmp(qp->peer_gid, none, sizeof(none)) != 0)
		inet_ntop(ip4 ? AF_INET : AF_INET6, qp->peer_gid + (ip4 ? sizeof(mapped) : 0),
			  address, sizeof(address));
	if (qp->peer_qpn != QP_UNKNOWN)
		snprintf(number, sizeof(number), " QP %u", qp->peer_qpn);
	snprintf(ret, size, "%s%s%s%s", address[0] || number[0] ? " to" : "", address[0] ? " " : "",
		 address, number);
}

/* Writes a text such as "; python3, pid 4711". */
static void qp_owner_text(const struct qp *qp, char *ret, size_t size)
{
	ret[0] = '\0';
	if (qp->pid && qp->comm[0])
		snprintf(ret, size, "; %s, pid %u", qp->comm, qp->pid);
	else if (qp->pid)
		snprintf(ret, size, "; pid %u", qp->pid);
}

void qp_failures_report(struct qp_failures *f, const struct qp *qp, uint64_t now_ms,
			struct event *ret, bool *ret_detailed)
{
	const char *reason = qp_failure_reason(qp);
	char peer[80], owner[48];

	*ret_detailed = may_name_qp(qp_kind_of(f, qp, now_ms), now_ms);
	count_failure(f, qp->device, reason);
	*ret = (struct event){.type = EVENT_WARNING, .reason = "QueuePairFailed"};
	if (!*ret_detailed) {
		snprintf(ret->message, sizeof(ret->message),
			 "queue pairs on %s fail repeatedly: %s (%s)", qp->device, meaning(qp),
			 reason);
		return;
	}
	peer_text(qp, peer, sizeof(peer));
	qp_owner_text(qp, owner, sizeof(owner));
	snprintf(ret->message, sizeof(ret->message), "QP %u on %s%s: %s (%s)%s", qp->qpn,
		 qp->device, peer, meaning(qp), reason, owner);
}

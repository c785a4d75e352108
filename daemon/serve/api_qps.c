/* api_qps.c - one row is a tree at a time. A value that cannot be made for want of memory fails the
 * json_pack() around it, and so the document. */
#include "api_qps.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <string.h>

#include "api_text.h"
#include "json_text.h"
#include "qp_failures.h"
#include "qp_words.h"
#include "utc_text.h"

static json_t *known(bool is_known, uint64_t n)
{
	return is_known ? json_integer((json_int_t)n) : json_null();
}

/* -1 is unknown. */
static json_t *setting(const struct qp *qp, int n)
{
	return known(qp && n >= 0, (uint64_t)n);
}

/* All zero is unknown. */
static json_t *address(const uint8_t *a)
{
	static const uint8_t none[16], mapped[12] = {[10] = 0xff, [11] = 0xff};
	bool ip4 = a && memcmp(a, mapped, sizeof(mapped)) == 0;
	char s[INET6_ADDRSTRLEN];

	if (!a || memcmp(a, none, sizeof(none)) == 0)
		return json_null();
	inet_ntop(ip4 ? AF_INET : AF_INET6, a + (ip4 ? sizeof(mapped) : 0), s, sizeof(s));
	return json_string_nocheck(s);
}

static json_t *rtt(const struct roce_flow *f)
{
	if (f->rtt_count == 0)
		return json_null();
	return json_pack("{sI sI sI sI}", "count", (json_int_t)f->rtt_count, "meanNs",
			 (json_int_t)(f->rtt_sum_ns / f->rtt_count), "p50Ns",
			 (json_int_t)roce_rtt_quantile(f, 0.5), "p99Ns",
			 (json_int_t)roce_rtt_quantile(f, 0.99));
}

static json_t *last_seen(const struct api_qps_scene *scene, const struct roce_flow *f)
{
	char text[UTC_TEXT_SIZE];

	if (f->last_seen_ns == 0)
		return json_null();
	utc_text(scene->epoch_ms + f->last_seen_ns / 1000000, text);
	return json_text(text);
}

static json_t *traffic(const struct api_qps_scene *scene, bool has, const struct roce_flow *f)
{
	if (!has)
		return json_null();
	return json_pack("{sI sI sI sI sI sI sI so so}", "packets", (json_int_t)f->packets, "bytes",
			 (json_int_t)f->bytes, "ce", (json_int_t)f->ce, "cnp", (json_int_t)f->cnp,
			 "naks", (json_int_t)f->naks, "rnr", (json_int_t)f->rnr_naks,
			 "retransmissions", (json_int_t)f->retransmissions, "rtt", rtt(f),
			 "lastSeen", last_seen(scene, f));
}

/* --- one row ---------------------------------------------------------------------------------- */

/* Adds the members of `more`, which it takes, to an object. */
static json_t *with(json_t *object, json_t *more)
{
	if (!object || !more || json_object_update(object, more) < 0) {
		json_decref(object);
		object = NULL;
	}
	json_decref(more);
	return object;
}

static json_t *identity(const struct qp_row *row)
{
	const struct qp *qp = row->qp;
	const char *device = qp ? qp->device : row->port ? row->port->device : "";
	const uint8_t *peer = qp ? qp->peer_gid : row->flow->key.saddr;

	return json_pack("{so so so sI so so so so so}", "device", json_text(device), "port",
			 known(qp && qp->port, qp ? qp->port : 0), "netdev",
			 json_text(row->port ? row->port->netdev : ""), "qpn",
			 (json_int_t)(qp ? qp->qpn : row->flow->key.qpn), "address",
			 address(row->address), "peerQpn",
			 known(qp && qp->peer_qpn != QP_UNKNOWN, qp ? qp->peer_qpn : 0),
			 "peerAddress", address(peer), "type",
			 json_text(qp && qp->type != QP_UNKNOWN ? qp_type_name(qp->type) : ""),
			 "state", json_text(qp ? qp_state_name(qp->state) : ""));
}

static json_t *owner(const struct qp_row *row)
{
	const struct qp *qp = row->qp;

	return json_pack("{so so so so so so}", "namespace",
			 json_text(row->pod ? row->pod->namespace : ""), "pod",
			 json_text(row->pod ? row->pod->pod : ""), "podUid",
			 json_text(qp ? qp->pod_uid : ""), "pid",
			 known(qp && qp->pid, qp ? qp->pid : 0), "comm",
			 json_text(qp ? qp->comm : ""), "kernel",
			 qp ? json_boolean(qp->kernel) : json_null());
}

static json_t *settings(const struct qp *qp)
{
	int tc = qp ? qp->traffic_class : -1;

	return json_pack("{so so so so so so so so}", "mtu",
			 known(qp && qp->path_mtu, qp ? qp->path_mtu : 0), "trafficClass",
			 setting(qp, tc), "dscp", setting(qp, tc < 0 ? tc : tc >> 2), "ecn",
			 setting(qp, tc < 0 ? tc : tc & 3), "timeout",
			 setting(qp, qp ? qp->timeout : -1), "retryCount",
			 setting(qp, qp ? qp->retry_count : -1), "rnrRetry",
			 setting(qp, qp ? qp->rnr_retry : -1), "failure",
			 json_text(qp && qp->failed ? qp_failure_reason(qp) : ""));
}

struct writer {
	struct text text;
	const struct api_qps_scene *scene;
};

static int add_row(const struct qp_row *row, void *arg)
{
	struct writer *w = arg;
	json_t *object = with(with(identity(row), owner(row)), settings(row->qp));

	object = with(object, json_pack("{so so}", "received",
					traffic(w->scene, row->has_received, &row->received), "sent",
					traffic(w->scene, row->has_sent, &row->sent)));
	if (w->text.data[w->text.len - 1] != '[')
		text_add(&w->text, ",", 1);
	api_add_json(&w->text, object);
	return w->text.failed ? -1 : 0;
}

/* --- the document ----------------------------------------------------------------------------- */

/* How many rows there are is known last, and told last. */
static void add_head(struct writer *w)
{
	const struct qps_status *s = &w->scene->status;
	const struct qp_table *t = w->scene->sources.table;
	const char *source = s->events ? "events" : s->read_ms ? "netlink" : "";

	text_addf(&w->text, "{\"source\":");
	api_add_json(&w->text, json_text(source));
	text_addf(&w->text, ",\"ageSeconds\":");
	api_add_json(&w->text, known(!s->events && s->read_ms,
				     (w->scene->now_ms - s->read_ms) / 1000));
	text_addf(&w->text, ",\"error\":");
	api_add_json(&w->text, json_text(s->error));
	text_addf(&w->text, ",\"dropped\":%" PRIu64 ",\"flows\":%s,\"qps\":[", t ? t->dropped : 0,
		  w->scene->sources.packets ? "true" : "false");
}

char *api_qps(const struct api_qps_scene *scene, const struct qp_question *question,
	      size_t *ret_len)
{
	struct writer w = {.scene = scene};
	size_t total = 0;

	add_head(&w);
	if (w.text.failed || qp_flows_each(&scene->sources, question, add_row, &w, &total) < 0)
		w.text.failed = true;
	text_addf(&w.text, "],\"total\":%zu}", total);
	text_add(&w.text, "", 1); /* its end: the document is terminated */
	if (w.text.failed) {
		text_done(&w.text);
		return NULL;
	}
	*ret_len = w.text.len - 1;
	return w.text.data;
}

// SPDX-License-Identifier: Apache-2.0
/* api_qps.c - writes each row when qp_flows_each(), which joins queue pairs with flows, delivers
 * it. */
#include "api_qps.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "json_out.h"
#include "qp_failures.h"
#include "qp_words.h"
#include "utc_text.h"

struct writer {
	struct json_out out;
	const struct api_qps_input *input;
};

/* Writes null for a negative value, which means unknown. */
static void api_setting(struct json_out *o, const char *key, int n)
{
	json_out_known(o, key, n >= 0, (uint64_t)n);
}

/* Writes null for NULL and for an address of zeros, which mean unknown. */
static void api_address(struct json_out *o, const char *key, const uint8_t *a)
{
	static const uint8_t none[16], mapped[12] = {[10] = 0xff, [11] = 0xff};
	bool ip4 = a && memcmp(a, mapped, sizeof(mapped)) == 0;
	char s[INET6_ADDRSTRLEN] = "";

	if (a && memcmp(a, none, sizeof(none)) != 0)
		inet_ntop(ip4 ? AF_INET : AF_INET6, a + (ip4 ? sizeof(mapped) : 0), s, sizeof(s));
	json_out_text(o, key, s);
}

/* --- a flow ----------------------------------------------------------------------------------- */

static void quantile(struct json_out *o, const char *key, const struct roce_flow *f, double q)
{
	uint64_t ns = roce_rtt_quantile(f->rtt, q);

	json_out_known(o, key, ns != UINT64_MAX, ns);
}

static void rtt(struct json_out *o, const struct roce_flow *f)
{
	if (f->rtt_count == 0) {
		json_out_null(o, "rtt");
		return;
	}
	json_out_open(o, "rtt", '{');
	json_out_number(o, "count", f->rtt_count);
	json_out_number(o, "meanNs", f->rtt_sum_ns / f->rtt_count);
	quantile(o, "p50Ns", f, 0.5);
	quantile(o, "p99Ns", f, 0.99);
	json_out_close(o, '}');
}

static void last_seen(struct writer *w, const struct roce_flow *f)
{
	char text[UTC_TEXT_SIZE] = "";

	if (f->last_seen_ns)
		utc_text(w->input->epoch_ms + f->last_seen_ns / 1000000, text);
	json_out_text(&w->out, "lastSeen", text);
}

static void traffic(struct writer *w, const char *key, bool has, const struct roce_flow *f)
{
	struct json_out *o = &w->out;

	if (!has) {
		json_out_null(o, key);
		return;
	}
	json_out_open(o, key, '{');
	json_out_number(o, "packets", f->packets);
	json_out_number(o, "bytes", f->bytes);
	json_out_number(o, "ce", f->ce);
	json_out_number(o, "cnp", f->cnp);
	json_out_number(o, "naks", f->naks);
	json_out_number(o, "rnr", f->rnr_naks);
	json_out_number(o, "retransmissions", f->retransmissions);
	rtt(o, f);
	last_seen(w, f);
	json_out_close(o, '}');
}

/* --- one row ---------------------------------------------------------------------------------- */

static void identity(struct json_out *o, const struct qp_row *row)
{
	const struct qp *qp = row->qp;

	json_out_text(o, "device", qp ? qp->device : row->port ? row->port->device : "");
	json_out_known(o, "port", qp && qp->port, qp ? qp->port : 0);
	json_out_text(o, "netdev", row->port ? row->port->netdev : "");
	json_out_number(o, "qpn", qp ? qp->qpn : row->flow->key.qpn);
	api_address(o, "address", row->address);
	json_out_known(o, "peerQpn", qp && qp->peer_qpn != QP_UNKNOWN, qp ? qp->peer_qpn : 0);
	api_address(o, "peerAddress", qp ? qp->peer_gid : row->flow->key.saddr);
	json_out_text(o, "type", qp && qp->type != QP_UNKNOWN ? qp_type_name(qp->type) : "");
	json_out_text(o, "state", qp ? qp_state_name(qp->state) : "");
}

static void owner(struct json_out *o, const struct qp_row *row)
{
	const struct qp *qp = row->qp;

	json_out_text(o, "namespace", row->pod ? row->pod->namespace : "");
	json_out_text(o, "pod", row->pod ? row->pod->pod : "");
	json_out_text(o, "uid", qp ? qp->pod_uid : "");
	json_out_known(o, "pid", qp && qp->pid, qp ? qp->pid : 0);
	json_out_text(o, "comm", qp ? qp->comm : "");
	if (qp)
		json_out_bool(o, "kernel", qp->kernel);
	else
		json_out_null(o, "kernel");
}

static void settings(struct json_out *o, const struct qp *qp)
{
	int tc = qp ? qp->traffic_class : -1;

	json_out_known(o, "mtu", qp && qp->path_mtu, qp ? qp->path_mtu : 0);
	api_setting(o, "trafficClass", tc);
	api_setting(o, "dscp", tc < 0 ? tc : tc >> 2);
	api_setting(o, "ecn", tc < 0 ? tc : tc & 3);
	api_setting(o, "timeout", qp ? qp->timeout : -1);
	api_setting(o, "retryCount", qp ? qp->retry_count : -1);
	api_setting(o, "rnrRetry", qp ? qp->rnr_retry : -1);
	json_out_text(o, "failure", qp && qp->failed ? qp_failure_reason(qp) : "");
}

static int api_qps_add_row(const struct qp_row *row, void *arg)
{
	struct writer *w = arg;
	struct json_out *o = &w->out;

	json_out_open(o, NULL, '{');
	identity(o, row);
	owner(o, row);
	settings(o, row->qp);
	traffic(w, "received", row->has_received, &row->received);
	traffic(w, "sent", row->has_sent, &row->sent);
	json_out_close(o, '}');
	return o->text.failed ? -ENOMEM : 0;
}

/* --- the document ----------------------------------------------------------------------------- */

static void api_add_head(struct writer *w)
{
	const struct qps_status *s = &w->input->status;
	const struct qp_table *t = w->input->sources.table;
	struct json_out *o = &w->out;

	json_out_text(o, "source", s->events ? "events" : s->read_ms ? "netlink" : "");
	json_out_known(o, "ageSeconds", !s->events && s->read_ms,
		       (w->input->now_ms - s->read_ms) / 1000);
	json_out_text(o, "error", s->error);
	json_out_bool(o, "retries", !s->given_up);
	json_out_number(o, "dropped", t ? t->dropped : 0);
	json_out_bool(o, "flows", w->input->sources.packets);
}

/* The number of rows is known only at the end, so it is the last member. */
char *api_qps(const struct api_qps_input *input, const struct qp_query *query, size_t *ret_len)
{
	struct writer w = {.input = input};
	struct text *text = &w.out.text;
	size_t total = 0;

	json_out_open(&w.out, NULL, '{');
	api_add_head(&w);
	json_out_open(&w.out, "qps", '[');
	if (qp_flows_each(&input->sources, query, api_qps_add_row, &w, &total) < 0)
		text->failed = true;
	json_out_close(&w.out, ']');
	json_out_number(&w.out, "total", total);
	json_out_close(&w.out, '}');
	text_add(text, "", 1); /* terminator */
	if (text->failed) {
		text_done(text);
		return NULL;
	}
	*ret_len = text->len - 1;
	return text->data;
}

// SPDX-License-Identifier: Apache-2.0
/* Assigning flows to queue pairs, and the document of both. */
#include "qp_flows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <jansson.h>
#include <stdio.h>

#include "api_qps.h"
#include "cleanup.h"
#include "faults.h"
#include "golden.h"
#include "host_builder.h"
#include "test_group.h"

#define N_FLOWS 8

/* Two connected soft-RoCE devices of this host, and a mirror port. */
struct scene {
	struct qp_table table;
	struct packet_port ports[3];
	struct packet_flow flows[N_FLOWS];
	struct packet_sample packets;
	struct host host;
	struct sandbox pod;
	struct sandbox_list pods;
	struct gid gids[2];
	struct qp_sources sources;
};

static void address(const char *ip, uint8_t ret[16])
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};

	memcpy(ret, mapped, sizeof(mapped));
	assert_int_equal(inet_pton(AF_INET, ip, ret + sizeof(mapped)), 1);
}

static void add_qp(struct scene *s, const char *device, uint32_t qpn, uint32_t type,
		   uint32_t peer_qpn, const char *peer)
{
	struct bpf_event_qp e = {.qpn = qpn, .type = type, .change = BPF_QP_CREATED};

	e.head.pid = 4711;
	e.head.time_ns = 1;
	strcpy(e.head.comm, "ib_write_bw");
	strcpy(e.device, device);
	qp_table_event(&s->table, &e);
	e.change = BPF_QP_MODIFIED;
	e.attr_mask = 1 | 1 << 5 | 1 << 8 | 1 << 9;
	e.attr_mask |= peer ? 1 << 7 | 1 << 20 : 0;
	e.state = 3;
	e.port = 1;
	e.path_mtu = 3;
	e.timeout = 14;
	e.peer_qpn = peer_qpn;
	e.traffic_class = 106;
	if (peer)
		address(peer, e.peer_gid);
	qp_table_event(&s->table, &e);
}

static struct roce_flow *add_flow(struct scene *s, size_t port, const char *from, const char *to,
				  uint32_t qpn, uint64_t packets)
{
	struct packet_flow *f = &s->flows[s->packets.n_flows++];

	assert_true(s->packets.n_flows <= N_FLOWS);
	f->port = port;
	f->key.qpn = qpn;
	address(from, f->key.saddr);
	address(to, f->key.daddr);
	f->flow.packets = packets;
	f->flow.bytes = packets * 1000;
	f->flow.last_seen_ns = packets * 1000000;
	return &f->flow;
}

static struct rdma_dev *add_device(struct scene *s, const char *name, struct gid *gid,
				   const char *ip)
{
	struct rdma_dev *d = build_rdma(&s->host, name, "0000:03:00.0");

	address(ip, gid->raw);
	d->ports[0].gids = calloc(1, sizeof(*gid));
	d->ports[0].gids[0] = *gid;
	d->ports[0].n_gids = 1;
	return d;
}

static struct scene *scene_new(void)
{
	struct scene *s = calloc(1, sizeof(*s));

	add_device(s, "rxe_a", &s->gids[0], "10.9.0.1");
	add_device(s, "rxe_b", &s->gids[1], "10.9.0.2");
	strcpy(s->ports[0].netdev, "veth_a");
	strcpy(s->ports[0].device, "rxe_a");
	strcpy(s->ports[1].netdev, "veth_b");
	strcpy(s->ports[1].device, "rxe_b");
	strcpy(s->ports[2].netdev, "mirror0");
	strcpy(s->pod.namespace, "train");
	strcpy(s->pod.pod, "job-7");
	strcpy(s->pod.uid, "8dbc5577-d0e2-4706-8787-57d52c03ddf2");
	s->pods = (struct sandbox_list){.items = &s->pod, .n = 1, .known = true};
	s->packets.ports = s->ports;
	s->packets.n_ports = 3;
	s->packets.flows = s->flows;
	s->sources = (struct qp_sources){&s->table, &s->packets, &s->host, &s->pods};
	return s;
}

static void scene_free(struct scene *s)
{
	qp_table_done(&s->table);
	host_done(&s->host);
	free(s);
}

struct rows {
	struct qp_row items[16];
	size_t n, total;
};

static int keep(const struct qp_row *row, void *arg)
{
	struct rows *rows = arg;

	assert_true(rows->n < ARRAY_SIZE(rows->items));
	rows->items[rows->n++] = *row;
	return 0;
}

static void ask(const struct scene *s, const struct qp_query *q, struct rows *ret)
{
	*ret = (struct rows){.n = 0};
	assert_int_equal(qp_flows_each(&s->sources, q, keep, ret, &ret->total), 0);
}

static const struct qp_query all = {.limit = 100};

/* Both ends are on this host: a flow is sent by one and received by the other, each counted on its
 * own port. */
static void test_flows_between_our_queue_pairs(void **state)
{
	struct scene *s = scene_new();
	struct rows rows;

	(void)state;
	add_qp(s, "rxe_a", 17, QP_TYPE_RC, 18, "10.9.0.2");
	add_qp(s, "rxe_b", 18, QP_TYPE_RC, 17, "10.9.0.1");
	add_flow(s, 0, "10.9.0.1", "10.9.0.2", 18, 100);
	add_flow(s, 1, "10.9.0.1", "10.9.0.2", 18, 90);
	add_flow(s, 0, "10.9.0.2", "10.9.0.1", 17, 10);
	add_flow(s, 1, "10.9.0.2", "10.9.0.1", 17, 11);
	ask(s, &all, &rows);
	assert_int_equal(rows.n, 2);
	assert_int_equal(rows.items[0].sent.packets, 100);
	assert_int_equal(rows.items[0].received.packets, 10);
	assert_int_equal(rows.items[1].sent.packets, 11);
	assert_int_equal(rows.items[1].received.packets, 90);
	assert_memory_equal(rows.items[0].address, s->gids[0].raw, 16);
	assert_string_equal(rows.items[0].port->netdev, "veth_a");
	scene_free(s);
}

/* Both queue pairs are on one device. */
static void test_loopback(void **state)
{
	struct scene *s = scene_new();
	struct rows rows;

	(void)state;
	add_qp(s, "rxe_a", 17, QP_TYPE_RC, 18, "10.9.0.1");
	add_qp(s, "rxe_a", 18, QP_TYPE_RC, 17, "10.9.0.1");
	add_flow(s, 0, "10.9.0.1", "10.9.0.1", 18, 100);
	ask(s, &all, &rows);
	assert_int_equal(rows.n, 2);
	assert_true(rows.items[0].has_sent && !rows.items[0].has_received);
	assert_true(!rows.items[1].has_sent && rows.items[1].has_received);
	scene_free(s);
}

/* A QPN is unique on its device only: flows of other devices with the same QPN are not assigned. */
static void test_flows_of_other_queue_pairs(void **state)
{
	struct scene *s = scene_new();
	struct rows rows;

	(void)state;
	add_qp(s, "rxe_a", 17, QP_TYPE_RC, 18, "10.9.0.2");
	add_flow(s, 0, "10.9.0.9", "10.9.0.1", 17, 1); /* from an unknown sender */
	add_flow(s, 0, "10.9.0.2", "10.9.0.8", 17, 1); /* to an unknown receiver */
	add_flow(s, 0, "10.9.0.1", "10.9.0.9", 18, 1);
	add_flow(s, 0, "10.9.0.8", "10.9.0.2", 18, 1);
	add_flow(s, 1, "10.9.0.2", "10.9.0.1", 17, 1); /* counted on another device's port */
	add_flow(s, 2, "10.9.0.2", "10.9.0.1", 17, 1); /* mirrored */
	ask(s, &all, &rows);
	assert_int_equal(rows.n, 7);
	assert_non_null(rows.items[0].qp);
	assert_false(rows.items[0].has_received || rows.items[0].has_sent);
	for (size_t i = 1; i < 7; i++)
		assert_true(!rows.items[i].qp && rows.items[i].flow && rows.items[i].has_received);
	scene_free(s);
}

/* Dumps have no addresses. Without details of the device only numbers can be compared. */
static void test_matching_by_numbers_only(void **state)
{
	struct scene *s = scene_new();
	struct rows rows;

	(void)state;
	add_qp(s, "rxe_a", 17, QP_TYPE_RC, 18, "10.9.0.2");
	memset(s->table.items[0]->peer_gid, 0, 16);
	add_flow(s, 0, "10.9.0.1", "10.9.0.2", 18, 100);
	add_flow(s, 0, "10.9.0.2", "10.9.0.1", 17, 10);
	ask(s, &all, &rows);
	assert_int_equal(rows.n, 1);
	assert_true(rows.items[0].has_sent && rows.items[0].has_received);
	s->host.rdma[0].ports[0].n_gids = 0;
	ask(s, &all, &rows);
	assert_int_equal(rows.n, 2); /* the sender of the flow to QP 18 is ambiguous now */
	assert_true(!rows.items[0].has_sent && rows.items[0].has_received);
	address("10.9.0.2", s->table.items[0]->peer_gid);
	ask(s, &all, &rows);
	assert_int_equal(rows.n, 1);
	s->host.rdma[0].ports[0].n_gids = 1;
	scene_free(s);
}

/* Two hosts may use the same number, and the dump does not have the hosts of our queue pairs. */
static void test_an_ambiguous_peer_is_unknown(void **state)
{
	struct scene *s = scene_new();
	struct rows rows;

	(void)state;
	add_qp(s, "rxe_a", 17, QP_TYPE_RC, QP_UNKNOWN, NULL);
	add_qp(s, "rxe_a", 19, QP_TYPE_RC, QP_UNKNOWN, NULL);
	s->table.items[0]->peer_qpn = s->table.items[1]->peer_qpn = 18;
	add_flow(s, 0, "10.9.0.1", "10.9.0.2", 18, 100);
	ask(s, &all, &rows);
	assert_int_equal(rows.n, 3);
	assert_false(rows.items[0].has_sent || rows.items[1].has_sent || rows.items[2].has_sent);
	s->table.items[1]->peer_qpn = 20;
	ask(s, &all, &rows);
	assert_int_equal(rows.n, 2);
	assert_int_equal(rows.items[0].has_sent + rows.items[1].has_sent, 1);
	scene_free(s);
}

static void test_datagrams(void **state)
{
	struct scene *s = scene_new();
	struct rows rows;

	(void)state;
	add_qp(s, "rxe_a", 20, QP_TYPE_UD, 0, NULL);
	add_flow(s, 0, "10.9.0.2", "10.9.0.1", 20, 5)->rtt[3] = 1;
	add_flow(s, 0, "10.9.0.3", "10.9.0.1", 20, 7)->rtt[3] = 2;
	ask(s, &all, &rows);
	assert_int_equal(rows.n, 1);
	assert_int_equal(rows.items[0].received.packets, 12);
	assert_int_equal(rows.items[0].received.rtt[3], 3);
	assert_int_equal(rows.items[0].received.last_seen_ns, 7000000);
	scene_free(s);
}

static struct scene *many(void)
{
	struct scene *s = scene_new();
	struct roce_flow *f;

	for (uint32_t i = 0; i < 5; i++)
		add_qp(s, i < 3 ? "rxe_a" : "rxe_b", 17 + i, QP_TYPE_RC, 30 + i, "10.9.0.7");
	f = add_flow(s, 0, "10.9.0.7", "10.9.0.1", 18, 1);
	f->ce = 9;
	f->rtt_sum_ns = 100;
	f->rtt_count = 100;
	f = add_flow(s, 1, "10.9.0.7", "10.9.0.2", 20, 2);
	f->cnp = 9;
	f->rnr_naks = 1;
	f->rtt_sum_ns = 50;
	f->rtt_count = 1;
	add_flow(s, 1, "10.9.0.2", "10.9.0.7", 34, 3)->retransmissions = 2;
	add_flow(s, 2, "10.1.0.1", "10.1.0.2", 99, 4);
	strcpy(s->table.items[1]->pod_uid, s->pod.uid);
	return s;
}

static uint32_t first_of(const struct scene *s, const char *top)
{
	struct qp_query q = {.limit = 1};
	struct rows rows;

	assert_true(qp_top_parse(top, &q.top));
	ask(s, &q, &rows);
	assert_int_equal(rows.n, 1);
	assert_int_equal(rows.total, 6);
	return rows.items[0].qp ? rows.items[0].qp->qpn : rows.items[0].flow->key.qpn;
}

static void test_sort_orders(void **state)
{
	struct scene *s = many();
	enum qp_top top;

	(void)state;
	assert_int_equal(first_of(s, "ce"), 18);
	assert_int_equal(first_of(s, "cnp"), 20);
	assert_int_equal(first_of(s, "naks"), 20);
	assert_int_equal(first_of(s, "retransmissions"), 21);
	assert_int_equal(first_of(s, "rtt"), 20);
	assert_int_equal(first_of(s, "packets"), 99);
	assert_false(qp_top_parse("", &top));
	assert_false(qp_top_parse("bytes", &top));
	scene_free(s);
}

static size_t count(const struct scene *s, struct qp_query q)
{
	struct rows rows;

	q.limit = 100;
	ask(s, &q, &rows);
	assert_int_equal(rows.n, rows.total);
	return rows.n;
}

static void test_filters(void **state)
{
	struct scene *s = many();

	(void)state;
	assert_int_equal(count(s, all), 6);
	assert_int_equal(count(s, (struct qp_query){.device = "rxe_a"}), 3);
	assert_int_equal(count(s, (struct qp_query){.device = "mirror0"}), 1);
	assert_int_equal(count(s, (struct qp_query){.device = "x"}), 0);
	assert_int_equal(count(s, (struct qp_query){.device = "eth0", .function = "0000:03:00.0"}),
			 5);
	assert_int_equal(count(s, (struct qp_query){.pod = "job-7"}), 1);
	assert_int_equal(count(s, (struct qp_query){.pod = "train/job-7"}), 1);
	assert_int_equal(count(s, (struct qp_query){.pod = s->pod.uid}), 1);
	assert_int_equal(count(s, (struct qp_query){.pod = "other/job-7"}), 0);
	assert_int_equal(count(s, (struct qp_query){.pod = "train"}), 0);
	scene_free(s);
}

static void test_without_sources_there_are_no_rows(void **state)
{
	const struct qp_sources none = {0};
	struct rows rows = {0};
	size_t total = 7;

	(void)state;
	assert_int_equal(qp_flows_each(&none, &all, keep, &rows, &total), 0);
	assert_int_equal(rows.n + total, 0);
}

static void test_without_memory(void **state)
{
	struct scene *s = many();
	struct rows rows;
	long i = 0;

	(void)state;
	for (;; i++) {
		rows.n = 0;
		faults_alloc(i);
		if (qp_flows_each(&s->sources, &all, keep, &rows, &rows.total) == 0)
			break;
		assert_true(faults_end());
	}
	faults_end();
	assert_true(i > 4);
	scene_free(s);
}

static void test_quantiles(void **state)
{
	struct roce_flow f = {0};

	(void)state;
	assert_true(roce_rtt_quantile(f.rtt, 0.5) == UINT64_MAX);
	f.rtt[3] = 100; /* 4096 to 8192 ns */
	assert_int_equal(roce_rtt_quantile(f.rtt, 0.5), 6144);
	assert_int_equal(roce_rtt_quantile(f.rtt, 1), 8192);
	f.rtt[0] = 100;
	assert_int_equal(roce_rtt_quantile(f.rtt, 0.5), 1024);
	assert_int_equal(roce_rtt_quantile(f.rtt, 0.25), 512);
	f = (struct roce_flow){.rtt = {[ROCE_RTT_BUCKETS - 1] = 1}};
	assert_true(roce_rtt_quantile(f.rtt, 0.5) ==
		    UINT64_C(1) << (ROCE_RTT_SHIFT + ROCE_RTT_BUCKETS - 2));
}

/* --- the document ----------------------------------------------------------------------------- */

static void test_document(void **state)
{
	struct scene *s = many();
	struct api_qps_input scene = {.sources = s->sources,
				      .status = {.events = true},
				      .epoch_ms = 1700000000000,
				      .now_ms = 5000};
	size_t len;
	char *text, *readable;
	json_t *document;

	(void)state;
	s->table.items[0]->failed = true;
	s->table.items[0]->failed_status = 12;
	s->flows[0].flow.rtt[0] = 100;
	text = api_qps(&scene, &all, &len);
	assert_non_null(text);
	assert_int_equal(strlen(text), len);
	document = json_loadb(text, len, 0, NULL);
	assert_non_null(document);
	readable = json_dumps(document, JSON_INDENT(1));
	assert_golden_text("tests/golden/api_qps.json", readable, strlen(readable));
	free(readable);
	json_decref(document);
	free(text);
	scene_free(s);
}

static void assert_head(struct qps_status status, const char *head)
{
	struct api_qps_input scene = {.status = status, .now_ms = 5000};
	size_t len;
	char *text = api_qps(&scene, &all, &len);

	assert_string_equal(text, head);
	free(text);
}

static void test_heads(void **state)
{
	(void)state;
	assert_head(
		(struct qps_status){0},
		"{\"source\":null,\"ageSeconds\":null,\"error\":null,\"retries\":true,\"dropped\":0,"
		"\"flows\":false,\"qps\":[],\"total\":0}");
	assert_head(
		(struct qps_status){.read_ms = 2000, .error = "no \"answer\"", .given_up = true},
		"{\"source\":\"netlink\",\"ageSeconds\":3,\"error\":\"no \\\"answer\\\"\","
		"\"retries\":false,\"dropped\":0,\"flows\":false,\"qps\":[],\"total\":0}");
	assert_head(
		(struct qps_status){.events = true, .read_ms = 2000},
		"{\"source\":\"events\",\"ageSeconds\":null,\"error\":null,\"retries\":true,\"dropped\":0,"
		"\"flows\":false,\"qps\":[],\"total\":0}");
}

TEST_GROUP(qp_flows)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_flows_between_our_queue_pairs),
		cmocka_unit_test(test_loopback),
		cmocka_unit_test(test_flows_of_other_queue_pairs),
		cmocka_unit_test(test_matching_by_numbers_only),
		cmocka_unit_test(test_an_ambiguous_peer_is_unknown),
		cmocka_unit_test(test_datagrams),
		cmocka_unit_test(test_sort_orders),
		cmocka_unit_test(test_filters),
		cmocka_unit_test(test_without_sources_there_are_no_rows),
		cmocka_unit_test(test_without_memory),
		cmocka_unit_test(test_quantiles),
		cmocka_unit_test(test_document),
		cmocka_unit_test(test_heads),
	};

	return test_group_run(tests, NULL, NULL);
}

// SPDX-License-Identifier: Apache-2.0
/* The feature file for NFD: which ports count, which values are unknown, and that every label is
 * valid in Kubernetes. */
#include "node_features.h"

#include <regex.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "diagnosis_report.h"
#include "host_builder.h"
#include "test_group.h"

#define PREFIX "feature.node.kubernetes.io/rocelet."

struct fixture {
	struct host host;
	struct port_watched ports[4];
	struct verdict verdicts[2];
	struct diagnosis_report report;
	struct node_features_input in;
	char text[NODE_FEATURES_SIZE];
};

static void add_port(struct fixture *f, const char *name, const char *function, uint64_t bps,
		     enum port_watch watch)
{
	struct rdma_dev *d = build_rdma(&f->host, name, function);

	d->ports[0].rate_bps = bps;
	d->ports[0].gids = calloc(2, sizeof(*d->ports[0].gids));
	assert_non_null(d->ports[0].gids);
	d->ports[0].n_gids = 2;
	d->ports[0].gids[0].type = GID_ROCE_V1;
	d->ports[0].gids[1].type = GID_ROCE_V2;
	f->ports[f->report.n_ports++] = (struct port_watched){
		.device = name, .port = 1, .watch = watch};
}

/* Two ports of 400 and 100 Gbit/s, and a VF. */
static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	build_function(&f->host, FN_PF, "0000:03:00.0", "", -1);
	build_function(&f->host, FN_PF, "0000:04:00.0", "", -1);
	build_function(&f->host, FN_VF, "0000:03:00.2", "0000:03:00.0", 0);
	add_port(f, "mlx5_0", "0000:03:00.0", 400000000000, WATCH_JUDGED);
	add_port(f, "mlx5_1", "0000:04:00.0", 100000000000, WATCH_JUDGED);
	add_port(f, "mlx5_2", "0000:03:00.2", 400000000000, WATCH_WARMING);
	f->report.ports = f->ports;
	f->report.verdicts = f->verdicts;
	f->in = (struct node_features_input){
		.host = &f->host, .report = &f->report, .config_group = ""};
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	host_done(&f->host);
	free(f);
	return 0;
}

static void assert_label(struct fixture *f, const char *name, const char *value)
{
	char line[128];

	node_features_labels(&f->in, f->text);
	snprintf(line, sizeof(line), PREFIX "%s=%s\n", name, value);
	if (!strstr(f->text, line))
		fail_msg("%s in\n%s", line, f->text);
}

static void test_all_labels(void **state)
{
	struct fixture *f = *state;

	f->in.config_digest = 0xfedcba9876543210;
	f->in.config_group = "h100";
	node_features_labels(&f->in, f->text);
	assert_string_equal(f->text, PREFIX
			    "ports=2\n" PREFIX "ports-active=2\n" PREFIX
			    "speed-min-gbps=100\n" PREFIX "speed-max-gbps=400\n" PREFIX
			    "roce-v1=true\n" PREFIX "roce-v2=true\n" PREFIX "verdict=ok\n" PREFIX
			    "config=fedcba9876543210\n" PREFIX "config-group=h100\n");
}

/* VFs, soft-RoCE, InfiniBand, iWARP and devices in other namespaces do not count as RoCE ports of
 * the node. */
static void test_only_roce_ports_of_the_node_count(void **state)
{
	struct fixture *f = *state;

	f->host.rdma[0].ports[0].gids[0].type = f->host.rdma[0].ports[0].gids[1].type = GID_IB;
	assert_label(f, "ports", "1");
	f->host.rdma[0].ports[0].gids[0].type = GID_ROCE_V1;
	assert_label(f, "ports", "2");
	strcpy(f->host.rdma[0].driver, "rxe");
	assert_label(f, "ports", "1");
	f->host.rdma[1].nsid = 7;
	assert_label(f, "ports", "0");
	f->host.rdma[1].nsid = NSID_HOST;
	f->host.rdma[1].ports[0].link_layer = LINK_INFINIBAND;
	assert_label(f, "ports", "0");
	assert_label(f, "verdict", "unknown");
	assert_null(strstr(f->text, "speed"));
}

static void test_speed_and_version(void **state)
{
	struct fixture *f = *state;
	struct rdma_port *a = &f->host.rdma[0].ports[0], *b = &f->host.rdma[1].ports[0];

	a->gids[1].type = b->gids[1].type = GID_ROCE_V1;
	assert_label(f, "roce-v1", "true");
	assert_label(f, "roce-v2", "false");
	b->n_gids = 0;
	assert_label(f, "roce-v2", "unknown");
	assert_label(f, "roce-v1", "true");
	a->state = PORT_DOWN; /* the rate of a port that is down is meaningless */
	assert_label(f, "ports-active", "1");
	assert_label(f, "speed-max-gbps", "100");
	b->rate_bps = 0;
	assert_label(f, "speed-min-gbps", "unknown");
	assert_label(f, "speed-max-gbps", "unknown");
}

static void test_verdict(void **state)
{
	struct fixture *f = *state;

	f->verdicts[0].severity = SEVERITY_INFO;
	f->verdicts[1].severity = SEVERITY_CRITICAL;
	f->report.n_verdicts = 1;
	assert_label(f, "verdict", "info");
	f->report.n_verdicts = 2;
	assert_label(f, "verdict", "critical");
	f->verdicts[1].severity = SEVERITY_WARNING;
	assert_label(f, "verdict", "warning");
	f->ports[0].watch = WATCH_UNSEEN; /* a known problem takes precedence over unknown */
	assert_label(f, "verdict", "warning");
	f->verdicts[1].change = VERDICT_CLOSED;
	f->report.n_verdicts = 2;
	assert_label(f, "verdict", "unknown");
}

/* A port is warming up, unreadable or missing in the report; or the report is too old. */
static void test_unjudged_ports_are_unknown(void **state)
{
	static const enum port_watch unknown[] = {WATCH_WARMING, WATCH_UNSEEN,
						  WATCH_NOT_APPLICABLE};
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(unknown) / sizeof(*unknown); i++) {
		f->ports[1].watch = unknown[i];
		assert_label(f, "verdict", "unknown");
	}
	f->ports[1].watch = WATCH_DOWN;
	assert_label(f, "verdict", "ok");
	f->ports[0].watch = WATCH_DOWN;
	assert_label(f, "verdict", "down");
	f->ports[0].held = true;
	assert_label(f, "verdict", "warning");
	f->ports[0] = (struct port_watched){.device = "mlx5_9", .port = 1, .watch = WATCH_JUDGED};
	f->ports[1].watch = WATCH_JUDGED;
	assert_label(f, "verdict", "unknown");
	f->in.report = NULL;
	assert_label(f, "verdict", "unknown");
}

/* The rules of k8s.io/apimachinery/pkg/util/validation for qualified names and label values. */
static void test_valid_for_kubernetes(void **state)
{
	static const char form[] =
		"^feature\\.node\\.kubernetes\\.io/[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}"
		"[A-Za-z0-9])?=[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$";
	char group[64], *copy;
	struct fixture *f = *state;
	unsigned n = 0;
	regex_t re;

	memset(group, 'g', sizeof(group) - 1); /* the maximum length of a group's name */
	group[sizeof(group) - 1] = '\0';
	f->in.config_group = group;
	f->in.config_digest = UINT64_MAX;
	for (size_t i = 0; i < f->host.n_rdma; i++)
		f->host.rdma[i].ports[0].rate_bps = UINT64_MAX;
	node_features_labels(&f->in, f->text);
	assert_int_equal(regcomp(&re, form, REG_EXTENDED | REG_NOSUB), 0);
	copy = strdup(f->text);
	assert_non_null(copy);
	for (char *line = strtok(copy, "\n"); line; line = strtok(NULL, "\n"), n++)
		if (regexec(&re, line, 0, NULL, 0) != 0)
			fail_msg("not a label: %s", line);
	assert_int_equal(n, 9);
	free(copy);
	regfree(&re);
}

static void test_file_expires(void **state)
{
	char *text = node_features_file(PREFIX "ports=1\n", 1700000000000);

	(void)state;
	assert_non_null(text);
	assert_non_null(
		strstr(text, "\n# +expiry-time=2023-11-14T22:13:20.000Z\n" PREFIX "ports=1\n"));
	free(text);
}

TEST_GROUP(node_features)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_all_labels, setup, teardown),
		cmocka_unit_test_setup_teardown(test_only_roce_ports_of_the_node_count, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_speed_and_version, setup, teardown),
		cmocka_unit_test_setup_teardown(test_verdict, setup, teardown),
		cmocka_unit_test_setup_teardown(test_unjudged_ports_are_unknown, setup, teardown),
		cmocka_unit_test_setup_teardown(test_valid_for_kubernetes, setup, teardown),
		cmocka_unit_test(test_file_expires),
	};

	return test_group_run(tests, NULL, NULL);
}

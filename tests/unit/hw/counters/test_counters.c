// SPDX-License-Identifier: Apache-2.0
/* Counters in a tree that the test creates: valid files are exported, invalid ones are absent and
 * counted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above first */
#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cleanup.h"
#include "counters.h"
#include "statfiles.h"
#include "test_group.h"
#include "tmptree.h"

#define HW(dev) "class/infiniband/" dev "/ports/1/hw_counters/"

struct fixture {
	char *dir;
	struct hw hw;
	struct rdma_port ports[4][1];
	struct rdma_dev devs[4];
	struct host host;
	struct counters *c;
	uint64_t now;
};

static struct rdma_dev *add_dev(struct fixture *f, const char *name, const char *driver)
{
	size_t i = f->host.n_rdma++;
	struct rdma_dev *d = &f->devs[i];

	f->ports[i][0] = (struct rdma_port){.num = 1,
					    .state = PORT_ACTIVE,
					    .phys_state = PHYS_LINK_UP,
					    .rate_bps = 400000000000};
	*d = (struct rdma_dev){.nsid = NSID_HOST, .n_ports = 1, .ports = f->ports[i]};
	strcpy(d->name, name);
	strcpy(d->driver, driver);
	return d;
}

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	f->dir = tmptree_new();
	f->hw = (struct hw){.sys_fd = open(f->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC),
			    .dev_fd = -1,
			    .proc_fd = -1};
	assert_true(f->hw.sys_fd >= 0);
	f->host.rdma = f->devs;
	f->now = 1000;
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	counters_free(f->c);
	hw_close(&f->hw);
	tmptree_free(f->dir);
	free(f);
	return 0;
}

/* A counter that is 1. */
__attribute__((format(printf, 3, 4))) static void write_one(struct fixture *f, const char *device,
							    const char *counter_fmt, ...)
{
	char counter[64], path[160];
	va_list ap;

	va_start(ap, counter_fmt);
	vsnprintf(counter, sizeof(counter), counter_fmt, ap);
	va_end(ap);
	snprintf(path, sizeof(path), "class/infiniband/%s/ports/1/hw_counters/%s", device, counter);
	tmptree_write(f->dir, path, "1\n");
}

/* Sets the directory's mtime well into the past. Times have a granularity of milliseconds, so a
 * change soon after a listing might go undetected otherwise. */
static void age(struct fixture *f, const char *dir)
{
	const struct timespec old[2] = {{.tv_sec = 1}, {.tv_sec = 1}};

	assert_int_equal(utimensat(f->hw.sys_fd, dir, old, 0), 0);
}

static void start(struct fixture *f, const struct counters_opts *opts)
{
	static const struct counters_opts none;

	f->c = counters_new(&f->hw, opts ? opts : &none);
	assert_non_null(f->c);
	assert_int_equal(counters_layout(f->c, &f->host), 0);
}

static const struct sample *take(struct fixture *f)
{
	return counters_read(f->c, &f->host, f->now += 1000);
}

/* NULL = none; valid until the next call. */
static const struct reading *find(const struct sample *s, const char *device, const char *family,
				  const char *labels)
{
	static struct reading r;
	struct reading_pos pos = {0};

	while (sample_next(s, &pos, &r))
		if (!strcmp(r.family->name, family) && !strcmp(r.labels, labels) &&
		    !strcmp(s->ports[r.port].device, device))
			return &r;
	return NULL;
}

static bool has(const struct sample *s, const char *device, const char *family, const char *labels)
{
	const struct reading *r = find(s, device, family, labels);

	return r && r->state == READING_OK;
}

static void values_of_an_mlx5_port(void **state)
{
	struct fixture *f = *state;
	const struct sample *s;

	add_dev(f, "mlx5_0", "mlx5");
	tmptree_write(f->dir, HW("mlx5_0") "out_of_sequence", "7\n");
	tmptree_write(f->dir, HW("mlx5_0") "np_cnp_sent", "18446744073709551615\n");
	tmptree_write(f->dir, HW("mlx5_0") "rp_cnp_handled", "40");
	tmptree_write(f->dir, HW("mlx5_0") "rp_cnp_ignored", "2\n");
	tmptree_write(f->dir, HW("mlx5_0") "lifespan", "10\n");
	start(f, NULL);
	s = take(f);
	assert_int_equal(find(s, "mlx5_0", "roce_out_of_sequence_packets_total", "")->value, 7);
	assert_true(find(s, "mlx5_0", "roce_cnp_sent_packets_total", "")->value == UINT64_MAX);
	assert_int_equal(find(s, "mlx5_0", "roce_cnp_received_packets_total", "")->value, 42);
	assert_int_equal(s->n_readings, 5);
	assert_int_equal(s->taken_ms, f->now);
	assert_true(s->sources[SOURCE_SYSFS].used);
	assert_int_equal(s->sources[SOURCE_SYSFS].read_ms, f->now);
	assert_int_equal(s->sources[SOURCE_SYSFS].errors, 0);
	assert_false(s->sources[SOURCE_NETLINK].used);
}

static void a_bad_file_makes_only_its_own_reading_absent(void **state)
{
	static const char *const bad[] = {"",
					  "\n",
					  "-1\n",
					  "N/A (no PMA)\n",
					  "12 \n",
					  "0x10\n",
					  "18446744073709551616\n",
					  "99999999999999999999999\n",
					  "1\n2\n",
					  " 5\n"};
	struct fixture *f = *state;
	char endless[401];

	add_dev(f, "mlx5_0", "mlx5");
	tmptree_write(f->dir, HW("mlx5_0") "np_cnp_sent", "3\n");
	tmptree_write(f->dir, HW("mlx5_0") "out_of_buffer", "3\n");
	start(f, NULL);
	for (size_t i = 0; i <= ARRAY_SIZE(bad); i++) {
		const struct sample *s;

		memset(endless, '9', 400);
		endless[400] = '\0';
		tmptree_write(f->dir, HW("mlx5_0") "out_of_buffer", "%s",
			      i < ARRAY_SIZE(bad) ? bad[i] : endless);
		s = take(f);
		assert_false(has(s, "mlx5_0", "roce_receive_wqe_missing_total", ""));
		assert_true(has(s, "mlx5_0", "roce_cnp_sent_packets_total", ""));
		assert_int_equal(s->sources[SOURCE_SYSFS].errors, i + 1);
	}
	tmptree_write(f->dir, HW("mlx5_0") "out_of_buffer", "5\n");
	assert_int_equal(find(take(f), "mlx5_0", "roce_receive_wqe_missing_total", "")->value, 5);
}

static void an_unreadable_file_is_tried_again(void **state)
{
	struct fixture *f = *state;

	add_dev(f, "mlx5_0", "mlx5");
	tmptree_write(f->dir, HW("mlx5_0") "np_cnp_sent", "3\n");
	/* Root may read every file, but no user may open through a link. */
	assert_int_equal(symlinkat("/proc/version", f->hw.sys_fd, HW("mlx5_0") "out_of_buffer"), 0);
	start(f, NULL);
	assert_true(has(take(f), "mlx5_0", "roce_cnp_sent_packets_total", ""));
	assert_false(has(take(f), "mlx5_0", "roce_receive_wqe_missing_total", ""));
}

static void a_removed_file_ends_its_series(void **state)
{
	struct fixture *f = *state;
	const struct sample *s;
	uint64_t layout;

	add_dev(f, "mlx5_0", "mlx5");
	tmptree_write(f->dir, HW("mlx5_0") "np_cnp_sent", "3\n");
	tmptree_write(f->dir, HW("mlx5_0") "out_of_buffer", "4\n");
	age(f, HW("mlx5_0"));
	start(f, NULL);
	s = take(f);
	layout = s->layout;
	assert_true(has(s, "mlx5_0", "roce_receive_wqe_missing_total", ""));
	tmptree_remove(f->dir, HW("mlx5_0") "out_of_buffer");
	s = take(f);
	assert_false(has(s, "mlx5_0", "roce_receive_wqe_missing_total", ""));
	assert_true(has(s, "mlx5_0", "roce_cnp_sent_packets_total", ""));
	assert_int_equal(s->sources[SOURCE_SYSFS].errors, 1);
	assert_int_not_equal(s->layout, layout);
	age(f, HW("mlx5_0"));
	take(f);
	tmptree_write(f->dir, HW("mlx5_0") "out_of_buffer", "9\n");
	assert_int_equal(find(take(f), "mlx5_0", "roce_receive_wqe_missing_total", "")->value, 9);
}

/* The directory's mtime is unchanged since the listing, but the file's link count has dropped. */
static void a_file_removed_right_after_the_listing_is_noticed(void **state)
{
	struct fixture *f = *state;

	add_dev(f, "mlx5_0", "mlx5");
	tmptree_write(f->dir, HW("mlx5_0") "np_cnp_sent", "3\n");
	tmptree_write(f->dir, HW("mlx5_0") "out_of_buffer", "4\n");
	age(f, HW("mlx5_0"));
	start(f, NULL);
	tmptree_remove(f->dir, HW("mlx5_0") "out_of_buffer");
	age(f, HW("mlx5_0"));
	assert_false(has(take(f), "mlx5_0", "roce_receive_wqe_missing_total", ""));
}

static void a_replaced_file_is_opened_again(void **state)
{
	struct fixture *f = *state;

	add_dev(f, "mlx5_0", "mlx5");
	tmptree_write(f->dir, HW("mlx5_0") "out_of_buffer", "4\n");
	age(f, HW("mlx5_0"));
	start(f, NULL);
	take(f);
	tmptree_write(f->dir, "new", "6\n");
	assert_int_equal(renameat(f->hw.sys_fd, "new", f->hw.sys_fd, HW("mlx5_0") "out_of_buffer"),
			 0);
	assert_int_equal(find(take(f), "mlx5_0", "roce_receive_wqe_missing_total", "")->value, 6);
}

static void ports_are_added_and_removed(void **state)
{
	struct fixture *f = *state;
	const struct sample *s;
	uint64_t layout;

	add_dev(f, "mlx5_0", "mlx5");
	tmptree_write(f->dir, HW("mlx5_0") "out_of_buffer", "4294967295\n");
	tmptree_write(f->dir, HW("mlx5_1") "out_of_buffer", "1\n");
	start(f, NULL);
	layout = take(f)->layout;
	tmptree_write(f->dir, HW("mlx5_0") "out_of_buffer", "5\n");
	take(f);
	add_dev(f, "mlx5_1", "mlx5");
	assert_int_equal(counters_layout(f->c, &f->host), 0);
	s = take(f);
	assert_int_not_equal(s->layout, layout);
	assert_int_equal(find(s, "mlx5_1", "roce_receive_wqe_missing_total", "")->value, 1);
	/* The wrap before the change still counts. */
	assert_int_equal(find(s, "mlx5_0", "roce_receive_wqe_missing_total", "")->value,
			 (UINT64_C(1) << 32) + 5);
	f->host.n_rdma = 0;
	assert_int_equal(counters_layout(f->c, &f->host), 0);
	s = take(f);
	assert_int_equal(s->n_readings, 0);
	assert_int_equal(s->n_ports, 0);
	assert_false(s->sources[SOURCE_SYSFS].used);
}

static void a_device_elsewhere_or_without_counters_is_harmless(void **state)
{
	struct fixture *f = *state;
	const struct sample *s;

	add_dev(f, "mlx5_0", "mlx5")->nsid = 4;
	add_dev(f, "mlx5_1", "mlx5");
	add_dev(f, "../mlx5_0", "mlx5");
	tmptree_write(f->dir, HW("mlx5_0") "out_of_buffer", "4\n");
	start(f, NULL);
	s = take(f);
	assert_int_equal(s->n_readings, 0);
	assert_int_equal(s->sources[SOURCE_SYSFS].errors, 0);
}

static void counters_of_the_whole_device_have_no_port(void **state)
{
	struct fixture *f = *state;
	const struct sample *s;
	const struct reading *r;

	add_dev(f, "mana_0", "mana");
	tmptree_write(f->dir, "class/infiniband/mana_0/hw_counters/received_ecns", "8\n");
	tmptree_write(f->dir, "class/infiniband/mana_0/hw_counters/qp_congested_events", "9\n");
	tmptree_write(f->dir, HW("mana_0") "received_cnps", "5\n");
	start(f, NULL);
	s = take(f);
	r = find(s, "mana_0", "roce_ecn_ce_received_packets_total", "");
	assert_int_equal(r->value, 8);
	assert_int_equal(s->ports[r->port].port, 0);
	r = find(s, "mana_0", "roce_cnp_received_packets_total", "");
	assert_int_equal(s->ports[r->port].port, 1);
	assert_true(has(s, "mana_0", "roce_hw_counters_total", "name=\"qp_congested_events\""));
}

/* Drivers that vendors ship have some counters twice, under their own name and under mlx5's. Each
 * row: the files of a port, and the value of a family, which must not be their sum. */
struct twin {
	const char *driver;
	const char *files; /* "name value" and a comma each */
	const char *family, *labels;
	uint64_t value; /* NO_SERIES = none */
};

#define NO_SERIES UINT64_MAX
#define RECEIVED  "direction=\"received\""
#define SENT	  "direction=\"sent\""

static const struct twin twins[] = {
	{"bnxt_re", "dup_req 7,duplicate_request 7,", "roce_duplicate_requests_total", "", 7},
	{"bnxt_re", "oos_drop_count 5,out_of_sequence 5,", "roce_out_of_sequence_packets_total", "",
	 5},
	{"bnxt_re", "to_retransmits 3,local_ack_timeout_err 3,", "roce_ack_timeouts_total", "", 3},
	{"bnxt_re", "tx_cnp_pkts 4,np_cnp_pkts 4,np_cnp_sent 4,", "roce_cnp_sent_packets_total", "",
	 4},
	{"bnxt_re", "rx_cnp_pkts 9,rp_cnp_handled 8,rp_cnp_ignored 1,",
	 "roce_cnp_received_packets_total", "", 9},
	{"bnxt_re", "rx_ecn_marked_pkts 6,np_ecn_marked_roce_packets 6,",
	 "roce_ecn_ce_received_packets_total", "", 6},
	{"bnxt_re", "rx_out_of_buffer 2,out_of_buffer 2,", "roce_receive_wqe_missing_total", "", 2},
	{"bnxt_re", "rx_write_req 8,rx_write_requests 8,", "roce_requests_received_total",
	 "op=\"write\"", 8},
	{"bnxt_re", "rx_bytes 10,rdma_rx_bytes 10,", "roce_bytes_total", RECEIVED, 10},
	{"ionic", "resp_rx_dup_request 7,duplicate_request 7,", "roce_duplicate_requests_total", "",
	 7},
	{"ionic", "tx_rdma_ack_timeout 3,local_ack_timeout_err 3,", "roce_ack_timeouts_total", "",
	 3},
	{"irdma", "cnpHandled 8,cnpIgnored 1,rp_cnp_handled 8,rp_cnp_ignored 1,",
	 "roce_cnp_received_packets_total", "", 9},
	{"irdma", "iwInRdmaReads 4,InRdmaReads 4,rx_read_requests 4,",
	 "roce_requests_received_total", "op=\"read\"", 4},
	{"hns", "tx_cnp_pkt 4,np_cnp_sent 4,", "roce_cnp_sent_packets_total", "", 4},
	{"mana", "responder_oos 5,out_of_sequence 5,", "roce_out_of_sequence_packets_total", "", 5},
	{"rxe", "out_of_seq_request 5,out_of_sequence 5,", "roce_out_of_sequence_packets_total", "",
	 5},
	/* A counter under only the other name is kept: of a whole family, or of one set of
	 * labels. */
	{"bnxt_re", "rx_cnp_pkts 9,rp_cnp_handled 8,rp_cnp_ignored 1,",
	 "roce_cnp_handled_packets_total", "", 8},
	{"bnxt_re", "res_rx_no_perm 1,req_remote_access_errors 6,resp_remote_access_errors 1,",
	 "roce_remote_access_errors_total", "side=\"req\"", 6},
	{"bnxt_re", "res_rx_no_perm 1,req_remote_access_errors 6,resp_remote_access_errors 1,",
	 "roce_remote_access_errors_total", "side=\"resp\"", 1},
	{"bnxt_re", "rx_read_req 2,rx_dct_connect 5,", "roce_requests_received_total",
	 "op=\"dct_connect\"", 5},
	{"bnxt_re", "duplicate_request 7,", "roce_duplicate_requests_total", "", 7},
	/* Different numbers of one meaning are still added. */
	{"bnxt_re", "res_rx_no_perm 1,res_tx_no_perm 2,", "roce_remote_access_errors_total",
	 "side=\"resp\"", 3},
	{"irdma", "ip4InOctets 30,ip6InOctets 12,", "roce_bytes_total", RECEIVED, 42},
	/* A driver that no table contains. */
	{"new_ib", "dup_req 7,duplicate_request 7,resp_rx_dup_request 7,",
	 "roce_duplicate_requests_total", "", 7},
	{"new_ib", "tx_cnp_pkts 4,np_cnp_sent 4,cnpSent 4,", "roce_cnp_sent_packets_total", "", 4},
	{"new_ib", "rp_cnp_handled 8,rp_cnp_ignored 1,rx_cnp_pkts 9,",
	 "roce_cnp_received_packets_total", "", 9},
	/* Alibaba's names, and the kernel's. */
	{"erdma", "hw_tx_bytes_cnt 70,", "roce_bytes_total", SENT, 70},
	{"erdma", "hw_rx_bytes_cnt 60,rx_bytes_cnt 60,", "roce_bytes_total", RECEIVED, 60},
	{"erdma", "hw_tx_packets_cnt 7,tx_packets_cnt 7,", "roce_packets_total", SENT, 7},
	{"erdma", "hw_tx_reqs_cnt 5,", "roce_requests_sent_total", "op=\"any\"", 5},
	{"erdma", "hw_disable_drop_cnt 1,hw_bps_limit_drop_cnt 2,hw_pps_limit_drop_cnt 4,",
	 "roce_port_discards_total", SENT, 7},
	{"erdma",
	 "hw_rx_disable_drop_cnt 1,hw_rx_bps_limit_drop_cnt 2,hw_rx_pps_limit_drop_cnt 4,"
	 "rx_disable_drop_cnt 1,rx_bps_limit_drop_cnt 2,rx_pps_limit_drop_cnt 4,",
	 "roce_port_discards_total", RECEIVED, 7},
	{"erdma", "hw_tx_bytes_cnt 70,", "roce_hw_counters_total", "name=\"hw_tx_bytes_cnt\"",
	 NO_SERIES},
	{"erdma", "connect_timeout_cnt 3,", "roce_hw_counters_total",
	 "name=\"connect_timeout_cnt\"", 3},
	{"ionic", "resp_tx_rnr_retry_err 6,", "roce_rnr_nak_sent_total", "", 6},
};

static void write_files(struct fixture *f, const char *files)
{
	char name[64], path[160], value[24];
	int used;

	for (; *files; files += used) {
		used = 0;
		assert_int_equal(sscanf(files, "%63s %23[0-9],%n", name, value, &used), 2);
		assert_true(used > 0);
		snprintf(path, sizeof(path), HW("dev0") "%s", name);
		tmptree_write(f->dir, path, "%s", value);
	}
}

static void a_number_under_two_names_counts_once(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(twins); i++) {
		const struct twin *t = &twins[i];
		const struct reading *r;
		struct fixture *f;

		set_up(state);
		f = *state;
		add_dev(f, "dev0", t->driver);
		write_files(f, t->files);
		start(f, NULL);
		r = find(take(f), "dev0", t->family, t->labels);
		if ((r ? r->value : NO_SERIES) != t->value)
			fail_msg("%s with %s: %s{%s} is %lld", t->driver, t->files, t->family,
				 t->labels, r ? (long long)r->value : -1);
		tear_down(state);
	}
}

static void port_counters_only_if_enabled(void **state)
{
	struct fixture *f = *state;
	const struct counters_opts all = {.port_counters = true, .compat = true};
	const struct sample *s;

	add_dev(f, "mlx5_0", "mlx5");
	strcpy(f->devs[0].board, "MT_\"1\"");
	tmptree_write(f->dir, "class/infiniband/mlx5_0/ports/1/counters/port_rcv_data", "100\n");
	tmptree_write(f->dir, "class/infiniband/mlx5_0/ports/1/counters/port_xmit_wait",
		      "N/A (no PMA)\n");
	tmptree_write(f->dir, HW("mlx5_0") "out_of_buffer", "4\n");
	start(f, NULL);
	s = take(f);
	assert_int_equal(s->n_readings, 1);
	assert_int_equal(s->n_ports, 1);
	assert_string_equal(s->ports[0].bytes_source, "");
	counters_free(f->c);
	start(f, &all);
	s = take(f);
	assert_string_equal(s->ports[1].bytes_source, "sysfs");
	assert_true(has(s, "mlx5_0", "roce_bytes_total", "direction=\"received\""));
	assert_true(has(s, "mlx5_0", "node_infiniband_port_data_received_bytes_total", ""));
	assert_true(has(s, "mlx5_0", "node_infiniband_out_of_buffer_drops_total", ""));
	assert_false(has(s, "mlx5_0", "node_infiniband_port_transmit_wait_total", ""));
	assert_int_equal(find(s, "mlx5_0", "node_infiniband_state_id", "")->value, 4);
	assert_int_equal(find(s, "mlx5_0", "node_infiniband_rate_bytes_per_second", "")->value,
			 50000000000);
	assert_null(find(s, "mlx5_0", "node_infiniband_lifespan_seconds", ""));
	assert_true(has(s, "mlx5_0", "node_infiniband_info",
			"board_id=\"MT_\\\"1\\\"\",firmware_version=\"\",hca_type=\"\""));
}

/* node_exporter has 0 for "0: NOP" and for what it cannot read; roce_port_state has no series. */
static void node_exporter_has_a_state_for_every_port(void **state)
{
	struct fixture *f = *state;
	const struct counters_opts all = {.port_counters = true, .compat = true};
	const struct sample *s;

	add_dev(f, "mlx5_0", "mlx5");
	f->ports[0][0].state = PORT_UNKNOWN;
	f->ports[0][0].phys_state = PHYS_UNKNOWN;
	tmptree_write(f->dir, HW("mlx5_0") "lifespan", "12000\n");
	tmptree_write(f->dir, "class/infiniband/mlx5_0/ports/1/counters_ext/port_rcv_data_64",
		      "25\n");
	tmptree_write(f->dir,
		      "class/infiniband/mlx5_0/ports/1/counters_ext/port_unicast_rcv_packets",
		      "61\n");
	start(f, &all);
	s = take(f);
	assert_int_equal(find(s, "mlx5_0", "node_infiniband_state_id", "")->value, 0);
	assert_int_equal(find(s, "mlx5_0", "node_infiniband_physical_state_id", "")->value, 0);
	assert_int_equal(find(s, "mlx5_0", "node_infiniband_lifespan_seconds", "")->value, 12);
	assert_int_equal(
		find(s, "mlx5_0", "node_infiniband_legacy_data_received_bytes_total", "")->value,
		25);
	assert_int_equal(
		find(s, "mlx5_0", "node_infiniband_legacy_data_received_bytes_total", "")->unit,
		UNIT_WORDS);
	assert_int_equal(
		find(s, "mlx5_0", "node_infiniband_legacy_unicast_packets_received_total", "")
			->value,
		61);
}

static void a_reset_is_counted(void **state)
{
	struct fixture *f = *state;

	add_dev(f, "mlx5_0", "mlx5");
	tmptree_write(f->dir, HW("mlx5_0") "np_cnp_sent", "100\n");
	start(f, NULL);
	assert_int_equal(take(f)->ports[0].resets, 0);
	tmptree_write(f->dir, HW("mlx5_0") "np_cnp_sent", "1\n");
	assert_int_equal(take(f)->ports[0].resets, 1);
	assert_int_equal(take(f)->ports[0].resets, 1);
}

static size_t open_fds(void)
{
	DIR *d = opendir("/proc/self/fd");
	size_t n = 0;

	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

/* Two ports; one of them is read again. */
static void a_port_is_read_between_samples(void **state)
{
	struct fixture *f = *state;
	const struct sample *s;

	add_dev(f, "mlx5_0", "mlx5");
	add_dev(f, "mlx5_1", "mlx5");
	for (int i = 0; i < 2; i++) {
		write_one(f, i ? "mlx5_1" : "mlx5_0", "np_cnp_sent");
		write_one(f, i ? "mlx5_1" : "mlx5_0", "out_of_sequence");
	}
	start(f, NULL);
	s = take(f);
	assert_int_equal(s->n_ports, 2);
	tmptree_write(f->dir, HW("mlx5_0") "np_cnp_sent", "8\n");
	tmptree_write(f->dir, HW("mlx5_1") "np_cnp_sent", "9\n");
	assert_int_equal(counters_read_port(f->c, 1), 2);
	assert_int_equal(find(s, "mlx5_1", "roce_cnp_sent_packets_total", "")->value, 9);
	assert_int_equal(find(s, "mlx5_0", "roce_cnp_sent_packets_total", "")->value, 1);
	/* Counters that start over count as one reset, whichever source detects it. */
	tmptree_write(f->dir, HW("mlx5_1") "np_cnp_sent", "0\n");
	tmptree_write(f->dir, HW("mlx5_1") "out_of_sequence", "0\n");
	counters_read_port(f->c, 1);
	s = take(f);
	assert_int_equal(s->ports[1].resets, 1);
	assert_int_equal(s->ports[0].resets, 0);
	/* A removed counter makes only its own readings absent and counts as an error; the next
	 * sample has a new layout. */
	tmptree_write(f->dir, HW("mlx5_1") "np_cnp_sent", "x\n");
	counters_read_port(f->c, 1);
	assert_true(take(f)->sources[SOURCE_SYSFS].errors >= 2);
	assert_int_equal(counters_read_port(f->c, 2), -ESTALE);
}

static void lay_out_again(struct fixture *f, size_t times)
{
	for (size_t i = 0; i < times; i++) {
		f->host.n_rdma = 1 + i % 4;
		assert_int_equal(counters_layout(f->c, &f->host), 0);
		assert_int_equal(take(f)->n_readings, 2 * f->host.n_rdma);
	}
}

static void a_thousand_layouts_do_not_grow(void **state)
{
	struct fixture *f = *state;
	size_t fds, memory;

	for (int i = 0; i < 4; i++) {
		static const char *const names[] = {"mlx5_0", "mlx5_1", "mlx5_2", "mlx5_3"};
		const char *name = names[i];

		add_dev(f, name, "mlx5");
		write_one(f, name, "a_%d", i);
		write_one(f, name, "np_cnp_sent");
	}
	start(f, NULL);
	/* The allocator keeps some freed blocks and counts them as in use: allow 16 kB after a
	 * thousand rounds. */
	lay_out_again(f, 1000);
	fds = open_fds();
	memory = mallinfo2().uordblks;
	lay_out_again(f, 1000);
	assert_int_equal(open_fds(), fds);
	/* Sanitizers have their own heap, so this check is for builds without them; LeakSanitizer
	 * covers the others. */
	assert_true(mallinfo2().uordblks <= memory + 16384);
}

/* With few descriptors left, files are opened for each reading. Runs in a child, because the limit
 * stays. */
static void descriptors_may_run_out(void **state)
{
	struct fixture *f = *state;
	int status;
	pid_t pid;

	add_dev(f, "mlx5_0", "mlx5");
	for (int i = 0; i < 60; i++)
		write_one(f, "mlx5_0", "unknown_%d", i);
	pid = fork();
	if (pid == 0) {
		const struct rlimit lim = {40, 40};
		const struct sample *s;
		struct reading_pos pos = {0};
		struct reading r;
		size_t n = 0;

		setrlimit(RLIMIT_NOFILE, &lim);
		start(f, NULL);
		s = take(f);
		while (sample_next(s, &pos, &r))
			n += r.state == READING_OK;
		_exit(n == 60 && open_fds() < 30 ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* A lack of descriptors must not make series disappear without an error. */
static void a_directory_that_cannot_be_listed_is_an_error(void **state)
{
	struct fixture *f = *state;
	int status;
	pid_t pid;

	add_dev(f, "mlx5_0", "mlx5");
	tmptree_write(f->dir, HW("mlx5_0") "np_cnp_sent", "1\n");
	pid = fork();
	if (pid == 0) {
		const struct rlimit none = {3, 3};

		setrlimit(RLIMIT_NOFILE, &none);
		start(f, NULL);
		_exit(take(f)->sources[SOURCE_SYSFS].errors > 0 ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void numbers_are_parsed_strictly(void **state)
{
	uint64_t v = 5;

	(void)state;
	assert_true(statfile_parse("0\n", 2, &v));
	assert_int_equal(v, 0);
	assert_true(statfile_parse("18446744073709551615", 20, &v));
	assert_true(v == UINT64_MAX);
	assert_true(statfile_parse("00000000000000000000007\n", 24, &v));
	assert_int_equal(v, 7);
	assert_false(statfile_parse("18446744073709551616", 20, &v));
	assert_false(statfile_parse("184467440737095516150", 21, &v));
	assert_false(statfile_parse("1\n\n", 3, &v));
	assert_false(statfile_parse("+1", 2, &v));
	assert_false(statfile_parse("1\0", 2, &v));
	assert_int_equal(v, 7);
}

static void enabling_works_on_the_own_kernel_only(void **state)
{
	static const char *const names[] = {"cc_rx_ce_pkts"};
	struct fixture *f = *state;
	struct err e = {0};

	add_dev(f, "mlx5_0", "mlx5");
	assert_int_equal(counters_enable_optional(&f->hw, &f->host, names, 1, &e), -EOPNOTSUPP);
	assert_int_equal(e.code, -EOPNOTSUPP);
}

TEST_GROUP(counters)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(values_of_an_mlx5_port),
		TEST(a_bad_file_makes_only_its_own_reading_absent),
		TEST(an_unreadable_file_is_tried_again),
		TEST(a_removed_file_ends_its_series),
		TEST(a_file_removed_right_after_the_listing_is_noticed),
		TEST(a_replaced_file_is_opened_again),
		TEST(ports_are_added_and_removed),
		TEST(a_device_elsewhere_or_without_counters_is_harmless),
		TEST(counters_of_the_whole_device_have_no_port),
		cmocka_unit_test(a_number_under_two_names_counts_once),
		TEST(port_counters_only_if_enabled),
		TEST(node_exporter_has_a_state_for_every_port),
		TEST(a_reset_is_counted),
		TEST(a_port_is_read_between_samples),
		TEST(a_thousand_layouts_do_not_grow),
		TEST(descriptors_may_run_out),
		TEST(a_directory_that_cannot_be_listed_is_an_error),
		TEST(numbers_are_parsed_strictly),
		TEST(enabling_works_on_the_own_kernel_only),
	};

	return test_group_run(tests, NULL, NULL);
}

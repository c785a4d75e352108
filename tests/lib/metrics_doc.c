// SPDX-License-Identifier: Apache-2.0
/* metrics_doc.c - the tables of docs/reference/metrics.md.
 *
 * Families of readings come from the dictionary, with the labels and vendor names of its rows. The
 * daemon's and the host's families have no table: their writers are called once with a host that
 * has one of everything, and the resulting page is parsed. */
#include "metrics_doc.h"

#include <stdbool.h>
#include <string.h>

#include "cleanup.h"
#include "dictionary.h"
#include "doc_text.h"
#include "metrics.h"
#include "packet_series.h"
#include "pool_config.h"
#include "resource_tables.h"
#include "search.h"
#include "self_metrics.h"

#define COMPAT_PREFIX "node_infiniband_"

static void table_head(FILE *f, const char *const *heads, size_t n)
{
	for (size_t i = 0; i < n; i++)
		fprintf(f, "| %s ", heads[i]);
	fputs("|\n", f);
	for (size_t i = 0; i < n; i++)
		fputs("|---", f);
	fputs("|\n", f);
}

static void family_head(FILE *f)
{
	static const char *const heads[] = {"name", "type", "labels", "meaning"};

	table_head(f, heads, ARRAY_SIZE(heads));
}

/* --- labels and their possible values ---------------------------------- */

#define VALUES_MAX 6 /* of one label; more values are not listed */
#define LABELS_MAX 16

struct text_span {
	const char *s;
	size_t n;
};

struct label_doc {
	struct text_span name, values[VALUES_MAX];
	size_t n_values;
	bool open; /* any number of values */
};

struct labels_doc {
	struct label_doc all[LABELS_MAX];
	size_t n;
};

static bool span_is(struct text_span s, const char *text)
{
	return s.n == strlen(text) && memcmp(s.s, text, s.n) == 0;
}

static bool span_equal(struct text_span a, struct text_span b)
{
	return a.n == b.n && memcmp(a.s, b.s, a.n) == 0;
}

static struct label_doc *label_named(struct labels_doc *l, struct text_span name)
{
	for (size_t i = 0; i < l->n; i++)
		if (span_equal(l->all[i].name, name))
			return &l->all[i];
	if (l->n == LABELS_MAX)
		return NULL;
	l->all[l->n] = (struct label_doc){.name = name};
	return &l->all[l->n++];
}

/* Labels whose values are specific to a node. */
static bool is_of_the_node(struct text_span name)
{
	static const char *const names[] = {"resource", "id", "namespace", "pod", "container"};

	return any_of(ARRAY_SIZE(names), i, span_is(name, names[i]));
}

static void add_value(struct label_doc *l, struct text_span value)
{
	for (size_t i = 0; i < l->n_values; i++)
		if (span_equal(l->values[i], value))
			return;
	l->open |= l->n_values == VALUES_MAX || (value.n == 1 && *value.s == '#') ||
		   is_of_the_node(l->name);
	if (!l->open)
		l->values[l->n_values++] = value;
}

/* Parses `a="x",b="y"` up to the end or a brace; values must not contain quotation marks. */
static void add_labels(struct labels_doc *l, const char *s)
{
	while (*s != '\0' && *s != '}') {
		struct text_span name = {s, strcspn(s, "=")};
		struct text_span value = {s + name.n + 2, strcspn(s + name.n + 2, "\"")};
		struct label_doc *label = label_named(l, name);

		if (label)
			add_value(label, value);
		s = value.s + value.n + 1;
		s += *s == ',';
	}
}

static bool has_label(const struct labels_doc *l, const char *name)
{
	return any_of(l->n, i, span_is(l->all[i].name, name));
}

/* values: list the values if a label has more than one. Omits the labels of every series of a port,
 * which the page lists once. */
static void print_labels(FILE *f, const struct labels_doc *l, bool values)
{
	bool of_port = has_label(l, "device") && has_label(l, "port");
	const char *comma = "";

	for (size_t i = 0; i < l->n; i++) {
		const struct label_doc *d = &l->all[i];

		if (of_port && (span_is(d->name, "device") || span_is(d->name, "port")))
			continue;
		fprintf(f, "%s`%.*s`", comma, (int)d->name.n, d->name.s);
		comma = ", ";
		for (size_t k = 0; values && !d->open && d->n_values > 1 && k < d->n_values; k++)
			fprintf(f, "%s%.*s%s", k ? ", " : " (", (int)d->values[k].n, d->values[k].s,
				k + 1 == d->n_values ? ")" : "");
	}
}

/* --- families that are read back from a page -------------------------------------------------- */

static struct text_span head_word(const struct page *p, const struct family_block *b,
				  enum metrics_format format, const char *after)
{
	const char *head = p->heads.data + b->head_start[format];
	const char *s = memmem(head, b->head_len[format], after, strlen(after));

	s += strlen(after);
	return (struct text_span){s, strcspn(s, " \n")};
}

/* A family's row, with its OpenMetrics type and the labels of its samples. */
static void print_block(FILE *f, const struct page *p, const struct family_block *b)
{
	struct text_span name = head_word(p, b, METRICS_PROMETHEUS, "# HELP ");
	struct text_span type_name = head_word(p, b, METRICS_OPENMETRICS, "# TYPE ");
	const char *type = type_name.s + type_name.n + 1, *help = name.s + name.n + 1;
	const char *s = p->text.data + b->start, *end = s + b->len;
	struct labels_doc labels = {.n = 0};

	for (; s < end; s += strcspn(s, "\n") + 1) {
		const char *brace = s + strcspn(s, "{\n");

		if (*brace == '{')
			add_labels(&labels, brace + 1);
	}
	fprintf(f, "| `%.*s` | %.*s | ", (int)name.n, name.s, (int)strcspn(type, "\n"), type);
	print_labels(f, &labels, true);
	fprintf(f, " | %.*s |\n", (int)strcspn(help, "\n"), help);
}

static void print_page(FILE *f, struct page *p)
{
	family_head(f);
	for (size_t i = 0; i < p->n_blocks; i++)
		print_block(f, p, &p->blocks[i]);
	page_unref(p);
}

/* One function, device and port with all values known. */
static struct page *host_page(void)
{
	struct thresholds limits;
	struct bursts *bursts;
	double value[N_SERIES] = {0};
	struct function fn = {.id = "0000:18:00.0", .sriov = true, .vfs = 1, .vfs_total = 1};
	struct rdma_port port = {.num = 1,
				 .state = PORT_ACTIVE,
				 .phys_state = PHYS_LINK_UP,
				 .rate_bps = 8,
				 .active_mtu = 4096,
				 .gid_table_len = 1,
				 .n_gids = 1,
				 .netdev_ifindex = 2,
				 .netdev_nsid = NSID_HOST};
	struct netdev netdev = {.nsid = NSID_HOST, .ifindex = 2, .mtu = 9000};
	struct rdma_dev dev = {.name = "mlx5_0", .nsid = NSID_HOST, .n_ports = 1, .ports = &port};
	const struct host host = {.functions = &fn,
				  .n_functions = 1,
				  .netdevs = &netdev,
				  .n_netdevs = 1,
				  .rdma = &dev,
				  .n_rdma = 1};
	struct sampled_port sampled = {.device = "mlx5_0", .port = 1};
	struct sample sample = {.ports = &sampled, .n_ports = 1};
	struct verdict verdict = {.device = "mlx5_0",
				  .function = "0000:18:00.0",
				  .port = 1,
				  .onset_unix_ms = 1790000000000,
				  .pods = {{.namespace = "train", .name = "job-7"}},
				  .n_pods = 1};
	struct port_watched watched = {.device = "mlx5_0", .port = 1, .watch = WATCH_JUDGED};
	const struct diagnosis_report report = {
		.verdicts = &verdict, .n_verdicts = 1, .ports = &watched, .n_ports = 1};
	struct metrics *m = metrics_new();
	struct page *p = page_new();
	struct resource_table table;

	for (size_t i = 0; i < N_SOURCES; i++)
		sample.sources[i] = (struct source_state){.used = true, .read_ms = 1};
	resource_table_small(&table);
	table.devices[0].reasons = (1u << N_HEALTH_REASONS) - 1; /* all that the label can have */
	table.devices[0].unhealthy_unix_ms = 1790000000000;	 /* a pod has it */
	thresholds_init(&limits);
	bursts = bursts_new(&limits);
	bursts_follow(bursts, &sample);
	bursts_want(bursts, 0, BURST_PAUSED, 1);
	bursts_admit(bursts, 1);
	for (uint64_t ns = 0; ns < 4000000; ns += 1000000, value[SERIES_BYTES_RECEIVED]++)
		bursts_add_reading(bursts, 0, value, 1e9, 4096, 1, ns);
	metrics_render(m, p, &sample,
		       &(struct metrics_inputs){.host = &host,
						.host_generation = 1,
						.resources = &table,
						.diagnosis = &report,
						.bursts = bursts},
		       1);
	bursts_free(bursts);
	resource_table_done(&table);
	metrics_free(m);
	return p;
}

/* One port with all kinds of packets, and one in a pod. */
static struct page *packets_page(void)
{
	struct packet_port ports[2] = {
		{.netdev = "x",
		 .device = "x",
		 .device_port = 1,
		 .hook = PACKET_HOOK_TCX,
		 .flows = 1,
		 .visible = PACKET_VISIBLE_YES},
		{.netdev = "x",
		 .netns = "y",
		 .device = "x",
		 .device_port = 1,
		 .hook = PACKET_HOOK_TCX,
		 .flows = 1,
		 .visible = PACKET_VISIBLE_YES},
	};
	static struct roce_counts counts[2][N_ROCE_DIRECTIONS];
	const struct packet_sample sample = {.ports = ports, .counts = counts, .n_ports = 2};
	struct packet_text text;
	struct page *p = page_new();

	memset(counts, 1, sizeof(counts));
	packet_text_init(&text, &sample, NULL);
	packet_series(p, &text);
	packet_text_done(&text);
	return p;
}

static struct page *self_page(void)
{
	static const struct attach_record record = {.state = ATTACH_BAD};
	const struct attach_status drifted = {.record = &record, .drift = UINT32_MAX};
	const struct attach_counters counters = {.attached = 1,
						 .returned = 1,
						 .gate_questions = 1,
						 .cri_open = true,
						 .cri.socket = "x"};
	struct self_metrics about = {.tls_expires_s = 1, .rss_bytes = 1, .n_programs = 1};
	struct page *p = page_new();

	about.events = (struct event_summary){.connections = true,
					      .n_soft = 1,
					      .soft_watched = {true, true, true},
					      .n_nics = 1,
					      .faults_watched = {true, true}};
	strcpy(about.events.nics[0].device, "x");
	for (unsigned k = 0; k < BPF_REJECTS; k++)
		about.events.tally.rejects[k] = 1;
	memcpy(about.events.soft[0].key.device, "x", 2);
	attach_summary_build(&about.attach, &counters, (struct attach_list){&drifted, 1});
	about.qps = (struct qp_summary){.known = true, .n_devices = 1, .n_failures = 1};
	strcpy(about.qps.devices[0].name, "x");
	about.qps.devices[0].n[QP_STATE_ERR] = 1;
	self_metrics_render(p, &about);
	return p;
}

/* --- families of readings --------------------------------------------------------------------- */

static bool is_compat(const struct family *family)
{
	return strncmp(family->name, COMPAT_PREFIX, strlen(COMPAT_PREFIX)) == 0;
}

/* Families without rows: counters that are not in a table keep the vendor's name in this label. */
static void add_pass_through(struct labels_doc *labels, const struct family *family)
{
	static const enum dict_place places[] = {DICT_HW, DICT_PORT, DICT_RESOURCE, DICT_OPTIONAL};
	static struct meaning m[ARRAY_SIZE(places)][DICT_MEANINGS];

	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		if (dict_lookup(places[i], NIC_UNKNOWN, "#", m[i]) && m[i][0].family == family)
			add_labels(labels, m[i][0].labels);
}

static const char *type_name(const struct family *family)
{
	size_t n = strlen(family->name);

	if (family->type == METRIC_COUNTER)
		return "counter";
	return n > 5 && strcmp(family->name + n - 5, "_info") == 0 ? "info" : "gauge";
}

static bool bpf_counts_too(const struct family *family)
{
	const char *name;

	for (size_t i = 0; (name = packet_shared_name(i)); i++)
		if (strcmp(name, family->name) == 0)
			return true;
	return false;
}

static void print_family(FILE *f, const struct family *family)
{
	struct labels_doc labels = {.n = 0};
	struct dict_row row;

	for (size_t i = 0; dict_row(i, &row); i++)
		if (row.family == family)
			add_labels(&labels, row.labels);
	add_pass_through(&labels, family);
	if (bpf_counts_too(family))
		add_labels(&labels, "source=\"hw\",source=\"bpf\"");
	fprintf(f, "| `%s` | %s | ", family->name, type_name(family));
	print_labels(f, &labels, true);
	fprintf(f, " | %s |\n", family->help);
}

static void print_families(FILE *f, bool compat)
{
	const struct family *family;

	family_head(f);
	for (size_t i = 0; (family = dict_family(i)); i++)
		if (is_compat(family) == compat)
			print_family(f, family);
}

/* --- vendor names ----------------------------------------------------------------------------- */

struct vendor_column {
	const char *head;
	enum nic nic;
};

/* Rows of these places are shown together. */
struct vendor_table {
	const enum dict_place *places;
	size_t n_places;
	const struct vendor_column *columns;
	size_t n_columns;
};

static bool shows_place(const struct vendor_table *t, enum dict_place place)
{
	for (size_t i = 0; i < t->n_places; i++)
		if (t->places[i] == place)
			return true;
	return false;
}

/* True if the same counter has a row with this place and name. */
static bool has_row(enum dict_place place, const struct dict_row *like, const char *name)
{
	struct dict_row row;

	for (size_t i = 0; dict_row(i, &row); i++)
		if (row.place == place && row.nic == like->nic && row.family == like->family &&
		    strcmp(row.name, name) == 0)
			return true;
	return false;
}

/* Duplicates that the text mentions: counters of mlx5's representors and of whole devices. */
static bool is_twin(const struct dict_row *row)
{
	if (strncmp(row->name, "vport_", 6) == 0 && has_row(row->place, row, row->name + 6))
		return true;
	return row->place == DICT_HW_DEVICE && has_row(DICT_HW, row, row->name);
}

static const char *unit_note(enum unit unit)
{
	switch (unit) {
	case UNIT_MICROSECONDS:
		return " (µs)";
	case UNIT_WORDS:
		return " (4-byte words)";
	case UNIT_PERCENT:
		return " (%)";
	case UNIT_BITS:
		return " (bits)";
	case UNIT_ONE:
	case UNIT_SIGNED:
		break;
	}
	return "";
}

static void print_name(FILE *f, const struct dict_row *row)
{
	fprintf(f, "`%s`%s%s%s", row->name, row->wraps32 ? " ³²" : "", unit_note(row->unit),
		row->place == DICT_HW_DEVICE ? " (device)" : "");
}

/* The names of one driver for one series. Counters of the lowest rank and alias are added up; those
 * of the next one are used if they are missing. */
static void print_cell(FILE *f, const struct vendor_table *t, enum nic nic,
		       const struct dict_row *series)
{
	const char *before = "";
	struct dict_row row;

	for (unsigned order = 0; order < 8; order++) {
		for (size_t i = 0; dict_row(i, &row); i++) {
			if (row.nic != nic || row.rank * 2 + row.alias != order ||
			    !shows_place(t, row.place) || row.family != series->family ||
			    strcmp(row.labels, series->labels) != 0 || is_twin(&row))
				continue;
			fputs(before, f);
			print_name(f, &row);
			before = " + ";
		}
		before = *before ? ", else " : "";
	}
}

static void print_series(FILE *f, const struct dict_row *row)
{
	fprintf(f, "`%s%s%s%s`", row->family->name, *row->labels ? "{" : "", row->labels,
		*row->labels ? "}" : "");
}

/* True if it is the first row with this family and labels, in the order of the tables. */
static bool is_first(const struct vendor_table *t, size_t index, const struct dict_row *row)
{
	struct dict_row earlier;

	for (size_t i = 0; i < index && dict_row(i, &earlier); i++)
		if (shows_place(t, earlier.place) && earlier.family == row->family &&
		    strcmp(earlier.labels, row->labels) == 0)
			return false;
	return true;
}

static void print_vendor_row(FILE *f, const struct vendor_table *t, const struct dict_row *series)
{
	fputs("| ", f);
	print_series(f, series);
	for (size_t c = 0; c < t->n_columns; c++) {
		fputs(" | ", f);
		print_cell(f, t, t->columns[c].nic, series);
	}
	fputs(" |\n", f);
}

static void print_vendor_table(FILE *f, const struct vendor_table *t)
{
	const char *heads[N_NICS + 1] = {"series"};
	const struct family *family;
	struct dict_row row;

	for (size_t c = 0; c < t->n_columns; c++)
		heads[c + 1] = t->columns[c].head;
	table_head(f, heads, t->n_columns + 1);
	for (size_t k = 0; (family = dict_family(k)); k++)
		for (size_t i = 0; dict_row(i, &row); i++)
			if (row.family == family && shows_place(t, row.place) &&
			    is_first(t, i, &row))
				print_vendor_row(f, t, &row);
}

static void print_hw_counters(FILE *f)
{
	static const enum dict_place places[] = {DICT_HW, DICT_HW_DEVICE};
	static const struct vendor_column columns[] = {
		{"mlx5", NIC_MLX5}, {"bnxt_re", NIC_BNXT}, {"irdma", NIC_IRDMA},
		{"hns", NIC_HNS},   {"ionic", NIC_IONIC},  {"mana", NIC_MANA},
		{"rxe", NIC_RXE},   {"efa", NIC_EFA},	   {"erdma", NIC_ERDMA},
	};
	static const struct vendor_table table = {places, ARRAY_SIZE(places), columns,
						  ARRAY_SIZE(columns)};

	print_vendor_table(f, &table);
}

static void print_ethtool(FILE *f)
{
	static const enum dict_place places[] = {DICT_ETHTOOL};
	static const struct vendor_column columns[] = {
		{"mlx5_core", NIC_MLX5}, {"bnxt_en", NIC_BNXT}, {"ice", NIC_IRDMA},
		{"hns3", NIC_HNS},	 {"ionic", NIC_IONIC},
	};
	static const struct vendor_table table = {places, ARRAY_SIZE(places), columns,
						  ARRAY_SIZE(columns)};

	print_vendor_table(f, &table);
}

/* Places whose names are the kernel's and not a vendor's. */
static const char *place_name(const struct dict_row *row)
{
	switch (row->place) {
	case DICT_PORT:
		return "files of `ports/N/counters/`, with `--port-counters`";
	case DICT_PAUSE:
		return "ethtool netlink, pause statistics";
	case DICT_DCB:
		return row->family->type == METRIC_COUNTER ? "DCB netlink, PFC; only with bnxt"
							   : "DCB netlink, PFC";
	case DICT_NETDEV:
		return "rtnetlink, of the netdev below a software device";
	case DICT_HW:
	case DICT_HW_DEVICE:
	case DICT_PORT_EXT:
	case DICT_ETHTOOL:
	case DICT_RESOURCE:
	case DICT_OPTIONAL:
	case N_DICT_PLACES:
		break;
	}
	return "";
}

static void print_kernel_names(FILE *f)
{
	static const char *const heads[] = {"series", "name", "where"};
	struct dict_row row;

	table_head(f, heads, ARRAY_SIZE(heads));
	for (size_t i = 0; dict_row(i, &row); i++) {
		if (!*place_name(&row))
			continue;
		fputs("| ", f);
		print_series(f, &row);
		fputs(" | ", f);
		print_name(f, &row);
		fprintf(f, " | %s |\n", place_name(&row));
	}
}

void metrics_doc(FILE *f)
{
	doc_put(f, metrics_doc_conventions);
	fputs("\n## Ports, functions and sources\n\n", f);
	print_page(f, host_page());
	fputs("\n## RoCE counters\n\n", f);
	print_families(f, false);
	doc_put(f, metrics_doc_packets);
	print_page(f, packets_page());
	doc_put(f, metrics_doc_vendors);
	fputs("\n### hw_counters of each RDMA driver\n\n", f);
	print_hw_counters(f);
	fputs("\n### ethtool statistics of the netdev's driver\n\n", f);
	print_ethtool(f);
	fputs("\n### Everywhere\n\n", f);
	print_kernel_names(f);
	fputs("\n## The daemon itself\n\n", f);
	print_page(f, self_page());
	fputs("\n## node_exporter's names (`--compat node_exporter`)\n\n", f);
	print_families(f, true);
	doc_put(f, metrics_doc_queries);
}

#include "ctl_capture.h"
#include "ctl_table.h"

static const json_t *in(const json_t *object, const char *key)
{
	return json_object_get(object, key);
}

static long long number(const json_t *object, const char *key)
{
	return json_integer_value(in(object, key));
}

static const char *text(const json_t *object, const char *key)
{
	return json_string_value(in(object, key));
}

static void add_number(struct table *t, const json_t *object, const char *key)
{
	char cell[24];

	snprintf(cell, sizeof(cell), "%lld", number(object, key));
	table_add(t, cell);
}

static void print(struct table *t, FILE *f)
{
	if (t->n_cells > 0)
		fputc('\n', f);
	table_print(t, f);
	table_done(t);
}

/* --- what it is all about --------------------------------------------------------------------- */

static void put_bytes(long long n, FILE *f)
{
	static const char *const units[] = {"bytes", "kB", "MB", "GB", "TB", "PB", "EB"};
	double v = (double)n;
	size_t unit = 0;

	for (; v >= 1000; unit++)
		v /= 1000;
	fprintf(f, unit ? "%.2f %s" : "%.0f %s", v, units[unit]);
}

static void put_source(const json_t *d, FILE *f)
{
	table_put(text(d, "file")     ? text(d, "file")
		  : text(d, "netdev") ? text(d, "netdev")
				      : "",
		  f);
	fprintf(f, ": %s, %lld packets, ",
		text(d, "format")   ? text(d, "format")
		: text(d, "method") ? text(d, "method")
				    : "nothing",
		number(d, "packets"));
	put_bytes(number(d, "bytes"), f);
	if (text(d, "start"))
		fprintf(f, ", %.6f s from %s", json_real_value(in(d, "seconds")), text(d, "start"));
	fputc('\n', f);
	if (number(d, "dropped") > 0)
		fprintf(f, "%lld packets came too fast and were lost\n", number(d, "dropped"));
	if (text(d, "noFlow")) {
		fputs("what the hardware carries is not among them: ", f);
		table_put(text(d, "noFlow"), f);
		fputc('\n', f);
	}
}

/* Only what there is. */
static void put_if(const json_t *object, const char *key, const char *what, FILE *f)
{
	if (number(object, key) > 0)
		fprintf(f, ", %lld %s", number(object, key), what);
}

static void put_place(const json_t *place, FILE *f)
{
	if (!json_is_object(place))
		return;
	fprintf(f, " (the first is packet %lld", number(place, "packet"));
	if (number(place, "offset") > 0)
		fprintf(f, ", at byte %lld", number(place, "offset"));
	fputc(')', f);
}

static void put_unknown_links(const json_t *d, FILE *f)
{
	const char *name = json_string_value(in(in(d, "unknownLink"), "name"));
	char text[80];

	snprintf(text, sizeof(text), "of links that are not known (type %lld%s%s)",
		 number(in(d, "unknownLink"), "type"), name ? ", " : "", name ? name : "");
	put_if(d, "unknownLinkPackets", text, f);
}

static void put_packets(const json_t *d, const json_t *roce, FILE *f)
{
	fprintf(f, "RoCE      %lld packets, ", number(roce, "packets"));
	put_bytes(number(roce, "bytes"), f);
	put_if(roce, "ipv4", "v2 over IPv4", f);
	put_if(roce, "ipv6", "v2 over IPv6", f);
	put_if(roce, "v1", "RoCEv1", f);
	fprintf(f, "\nbeside    %lld other", number(d, "otherPackets"));
	put_if(d, "cutPackets", "captured too short to tell", f);
	put_unknown_links(d, f);
	put_if(d, "pauseFrames", "pause frames", f);
	put_if(roce, "fragments", "fragmented", f);
	put_if(roce, "malformed", "malformed", f);
	put_place(in(roce, "firstMalformed"), f);
	fputc('\n', f);
}

static void put_signs(const json_t *roce, FILE *f)
{
	const json_t *icrc = in(roce, "icrc"), *rtt = in(roce, "rtt");

	fprintf(f, "signs     %lld CE, %lld CNP, %lld retransmissions",
		number(in(roce, "ecn"), "ce"), number(roce, "cnp"),
		number(roce, "retransmissions"));
	put_if(roce, "fecn", "FECN", f);
	put_if(roce, "becn", "BECN", f);
	put_if(roce, "solicited", "solicited", f);
	fprintf(f, "\nICRC      %lld good, %lld bad, %lld cannot be verified", number(icrc, "good"),
		number(icrc, "bad"), number(icrc, "unverifiable"));
	put_place(in(icrc, "firstBad"), f);
	fputc('\n', f);
	if (json_is_object(rtt))
		fprintf(f, "RTT       p50 %.1f us, p99 %.1f us, of %lld requests\n",
			(double)number(rtt, "p50Ns") / 1e3, (double)number(rtt, "p99Ns") / 1e3,
			number(rtt, "count"));
}

/* --- tables ----------------------------------------------------------------------------------- */

static void show_dscp(const json_t *list, FILE *f)
{
	static const char *const keys[] = {"dscp", "notEct", "ect0", "ect1", "ce"};
	struct table t = {.heads = {"DSCP", "NOT-ECT", "ECT(0)", "ECT(1)", "CE"}, .n_columns = 5};
	json_t *row;
	size_t i;

	json_array_foreach ((json_t *)list, i, row)
		for (size_t k = 0; k < 5; k++)
			add_number(&t, row, keys[k]);
	print(&t, f);
}

static void show_operations(const json_t *list, FILE *f)
{
	struct table t = {.heads = {"TRANSPORT", "OPERATION", "PACKETS"}, .n_columns = 3};
	json_t *row;
	size_t i;

	json_array_foreach ((json_t *)list, i, row) {
		table_add(&t, text(row, "transport"));
		table_add(&t, text(row, "operation"));
		add_number(&t, row, "packets");
	}
	print(&t, f);
}

static void show_syndromes(const json_t *syndromes, FILE *f)
{
	struct table t = {.heads = {"ANSWER", "PACKETS"}, .n_columns = 2};
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)syndromes, key, value) {
		if (json_integer_value(value) == 0)
			continue;
		table_add(&t, key);
		add_number(&t, syndromes, key);
	}
	print(&t, f);
}

static void add_us(struct table *t, const json_t *rtt, const char *key)
{
	char cell[24] = "";

	if (json_is_object(rtt))
		snprintf(cell, sizeof(cell), "%.1f us", (double)number(rtt, key) / 1e3);
	table_add(t, cell);
}

static void show_flows(const json_t *d, FILE *f)
{
	static const char *const keys[] = {"qpn",     "packets",	"ce", "cnp", "naks",
					   "rnrNaks", "retransmissions"};
	struct table t = {.heads = {"SOURCE", "DESTINATION", "QPN", "PACKETS", "CE", "CNP", "NAK",
				    "RNR", "RETRANS", "RTT-P50", "RTT-P99"},
			  .n_columns = 11};
	const json_t *list = in(d, "flows");
	json_t *flow;
	size_t i;

	json_array_foreach ((json_t *)list, i, flow) {
		table_add(&t, text(flow, "source"));
		table_add(&t, text(flow, "destination"));
		for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++)
			add_number(&t, flow, keys[k]);
		add_us(&t, in(flow, "rtt"), "p50Ns");
		add_us(&t, in(flow, "rtt"), "p99Ns");
	}
	print(&t, f);
	if (number(d, "flowsSeen") > (long long)json_array_size(list) && json_array_size(list) > 0)
		fprintf(f, "%zu of %lld flows", json_array_size(list), number(d, "flowsSeen"));
	if (number(d, "flowsPushedOut") > 0)
		fprintf(f, "; %lld were pushed out by others and count as new when they come back",
			number(d, "flowsPushedOut"));
	if (number(d, "flowsSeen") > (long long)json_array_size(list))
		fputc('\n', f);
}

void ctl_show_capture(const json_t *d, FILE *f)
{
	const json_t *roce = in(d, "roce");

	put_source(d, f);
	put_packets(d, roce, f);
	if (number(roce, "packets") == 0)
		return;
	put_signs(roce, f);
	show_dscp(in(roce, "dscp"), f);
	show_operations(in(roce, "operations"), f);
	show_syndromes(in(roce, "syndromes"), f);
	show_flows(d, f);
}

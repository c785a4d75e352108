// SPDX-License-Identifier: Apache-2.0
/* ctl_capture.c - reads captures from files, and prints summaries of captures as text or
 * documents. */
#include "ctl_capture.h"

#include <fcntl.h>
#include <inttypes.h>
#include <unistd.h>

#include "cleanup.h"
#include "ctl_document.h"
#include "ctl_table.h"
#include "json_text.h"
#include "packet_row.h"

/* --- as text ---------------------------------------------------------------------------------- */

static const json_t *ctl_member(const json_t *object, const char *key)
{
	return json_object_get(object, key);
}

static long long ctl_number_of(const json_t *object, const char *key)
{
	return json_integer_value(ctl_member(object, key));
}

static const char *ctl_text_of(const json_t *object, const char *key)
{
	return json_string_value(ctl_member(object, key));
}

static void ctl_add_number(struct table *t, const json_t *object, const char *key)
{
	char cell[24];

	snprintf(cell, sizeof(cell), "%lld", ctl_number_of(object, key));
	table_add(t, cell);
}

static void ctl_show_table(struct table *t, FILE *f)
{
	if (t->n_rows > 0)
		fputc('\n', f);
	table_print(t, NULL, f);
	table_done(t);
}

/* --- source and totals ------------------------------------------------------------------------ */

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
	table_put(ctl_text_of(d, "file")     ? ctl_text_of(d, "file")
		  : ctl_text_of(d, "netdev") ? ctl_text_of(d, "netdev")
					     : "",
		  f);
	fprintf(f, ": %s, %lld packets, ",
		ctl_text_of(d, "format")   ? ctl_text_of(d, "format")
		: ctl_text_of(d, "method") ? ctl_text_of(d, "method")
					   : "nothing",
		ctl_number_of(d, "packets"));
	put_bytes(ctl_number_of(d, "bytes"), f);
	if (ctl_text_of(d, "start"))
		fprintf(f, ", %.6f s from %s", json_real_value(ctl_member(d, "seconds")),
			ctl_text_of(d, "start"));
	fputc('\n', f);
	if (ctl_number_of(d, "dropped") > 0)
		fprintf(f, "%lld packets were lost: they arrived too fast\n",
			ctl_number_of(d, "dropped"));
	if (ctl_text_of(d, "noFlow")) {
		fputs("traffic that bypasses the kernel is not captured: ", f);
		table_put(ctl_text_of(d, "noFlow"), f);
		fputc('\n', f);
	}
}

/* Prints a count unless it is 0. */
static void put_if(const json_t *object, const char *key, const char *what, FILE *f)
{
	if (ctl_number_of(object, key) > 0)
		fprintf(f, ", %lld %s", ctl_number_of(object, key), what);
}

static void put_place(const json_t *place, FILE *f)
{
	if (!json_is_object(place))
		return;
	fprintf(f, " (the first is packet %lld", ctl_number_of(place, "packet"));
	if (ctl_number_of(place, "offset") > 0)
		fprintf(f, ", at byte %lld", ctl_number_of(place, "offset"));
	fputc(')', f);
}

static void put_unknown_links(const json_t *d, FILE *f)
{
	const char *name = json_string_value(ctl_member(ctl_member(d, "unknownLink"), "name"));
	char text[80];

	snprintf(text, sizeof(text), "with an unknown link type (%lld%s%s)",
		 ctl_number_of(ctl_member(d, "unknownLink"), "type"), name ? ", " : "",
		 name ? name : "");
	put_if(d, "unknownLinkPackets", text, f);
}

static void put_packets(const json_t *d, const json_t *roce, FILE *f)
{
	fprintf(f, "RoCE      %lld packets, ", ctl_number_of(roce, "packets"));
	put_bytes(ctl_number_of(roce, "bytes"), f);
	put_if(roce, "ipv4", "v2 over IPv4", f);
	put_if(roce, "ipv6", "v2 over IPv6", f);
	put_if(roce, "v1", "RoCEv1", f);
	fprintf(f, "\nothers    %lld packets", ctl_number_of(d, "otherPackets"));
	put_if(d, "cutPackets", "captured too short to decode", f);
	put_unknown_links(d, f);
	put_if(d, "pauseFrames", "pause frames", f);
	put_if(roce, "fragments", "fragmented", f);
	put_if(roce, "malformed", "malformed", f);
	put_place(ctl_member(roce, "firstMalformed"), f);
	fputc('\n', f);
}

static void ctl_put_signs(const json_t *roce, FILE *f)
{
	const json_t *icrc = ctl_member(roce, "icrc"), *rtt = ctl_member(roce, "rtt");

	fprintf(f, "signs     %lld CE, %lld CNP, %lld retransmissions",
		ctl_number_of(ctl_member(roce, "ecn"), "ce"), ctl_number_of(roce, "cnp"),
		ctl_number_of(roce, "retransmissions"));
	put_if(roce, "fecn", "FECN", f);
	put_if(roce, "becn", "BECN", f);
	put_if(roce, "solicited", "solicited", f);
	fprintf(f, "\nICRC      %lld good, %lld bad, %lld cannot be verified",
		ctl_number_of(icrc, "good"), ctl_number_of(icrc, "bad"),
		ctl_number_of(icrc, "unverifiable"));
	put_place(ctl_member(icrc, "firstBad"), f);
	fputc('\n', f);
	if (json_is_object(rtt))
		fprintf(f, "RTT       p50 %.1f us, p99 %.1f us, of %lld requests\n",
			(double)ctl_number_of(rtt, "p50Ns") / 1e3,
			(double)ctl_number_of(rtt, "p99Ns") / 1e3, ctl_number_of(rtt, "count"));
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
			ctl_add_number(&t, row, keys[k]);
	ctl_show_table(&t, f);
}

static void show_operations(const json_t *list, FILE *f)
{
	struct table t = {.heads = {"TRANSPORT", "OPERATION", "PACKETS"}, .n_columns = 3};
	json_t *row;
	size_t i;

	json_array_foreach ((json_t *)list, i, row) {
		table_add(&t, ctl_text_of(row, "transport"));
		table_add(&t, ctl_text_of(row, "operation"));
		ctl_add_number(&t, row, "packets");
	}
	ctl_show_table(&t, f);
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
		ctl_add_number(&t, syndromes, key);
	}
	ctl_show_table(&t, f);
}

static void ctl_add_us(struct table *t, const json_t *rtt, const char *key)
{
	char cell[24] = "";

	if (json_is_object(rtt))
		snprintf(cell, sizeof(cell), "%.1f us", (double)ctl_number_of(rtt, key) / 1e3);
	table_add(t, cell);
}

static void show_flows(const json_t *d, FILE *f)
{
	static const char *const keys[] = {"qpn",     "packets",	"ce", "cnp", "naks",
					   "rnrNaks", "retransmissions"};
	struct table t = {.heads = {"SOURCE", "DESTINATION", "QPN", "PACKETS", "CE", "CNP", "NAK",
				    "RNR", "RETRANS", "RTT-P50", "RTT-P99"},
			  .n_columns = 11};
	const json_t *list = ctl_member(d, "flows");
	json_t *flow;
	size_t i;

	json_array_foreach ((json_t *)list, i, flow) {
		table_add(&t, ctl_text_of(flow, "source"));
		table_add(&t, ctl_text_of(flow, "destination"));
		for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++)
			ctl_add_number(&t, flow, keys[k]);
		ctl_add_us(&t, ctl_member(flow, "rtt"), "p50Ns");
		ctl_add_us(&t, ctl_member(flow, "rtt"), "p99Ns");
	}
	ctl_show_table(&t, f);
	if (ctl_number_of(d, "flowsSeen") > (long long)json_array_size(list) &&
	    json_array_size(list) > 0)
		fprintf(f, "%zu of %lld flows", json_array_size(list),
			ctl_number_of(d, "flowsSeen"));
	if (ctl_number_of(d, "flowsPushedOut") > 0)
		fprintf(f, "; %lld were evicted by others, and count as new if they return",
			ctl_number_of(d, "flowsPushedOut"));
	if (ctl_number_of(d, "flowsSeen") > (long long)json_array_size(list))
		fputc('\n', f);
}

static void show_capture(const json_t *d, FILE *f)
{
	const json_t *roce = ctl_member(d, "roce");

	put_source(d, f);
	put_packets(d, roce, f);
	if (ctl_number_of(roce, "packets") == 0)
		return;
	ctl_put_signs(roce, f);
	show_dscp(ctl_member(roce, "dscp"), f);
	show_operations(ctl_member(roce, "operations"), f);
	show_syndromes(ctl_member(roce, "syndromes"), f);
	show_flows(d, f);
}

/* --- text or document ------------------------------------------------------------------------- */

/* Adds the summary and the problem to source, and takes ownership. NULL if out of memory. */
static json_t *ctl_document_of(const struct ctl_args *a, json_t *source,
			       const struct capture_summary *s, const char *problem)
{
	json_auto_t *summary = summary_json(s, (size_t)a->flows);

	if (!source || !summary || json_object_update(source, summary) < 0 ||
	    json_object_set_new(source, "error", json_text(problem)) < 0) {
		json_decref(source);
		source = NULL;
	}
	return source;
}

static void capture_complain(const char *problem, FILE *err)
{
	fputs("rocectl: ", err);
	table_put(problem, err);
	fputc('\n', err);
}

/* In text format, only the problem is printed if there is one and no packet was read. */
enum ctl_exit ctl_capture_print(const struct ctl_args *a, json_t *source,
				const struct capture_summary *s, const char *problem, FILE *out,
				FILE *err)
{
	json_t *document = ctl_document_of(a, source, s, problem);

	if (!document ||
	    (ctl_args_want_document(a) && ctl_document_put(document, a->format, out) < 0))
		problem = "out of memory";
	else if (!ctl_args_want_document(a) && (s->packets > 0 || !problem))
		show_capture(document, out);
	json_decref(document);
	if (!problem)
		return CTL_OK;
	fflush(out);
	capture_complain(problem, err);
	return CTL_NO;
}

/* --- a capture file --------------------------------------------------------------------------- */

/* Reads a file through a window of fixed size: fill it, decode packets until none is complete, move
 * the rest to the start, repeat. Fails if the file cannot be opened or read, or is corrupt; packets
 * before the corrupt place are reported. */

/* Several times the minimum, so that little data is moved. */
#define WINDOW (4 * CAPTURE_WINDOW)

struct reading {
	const struct ctl_args *args;
	FILE *out;
	int fd;
	size_t start, end; /* of the unprocessed bytes in window */
	struct capture capture;
	struct capture_summary summary; /* unused if packets are listed */
	struct packet_filter filter;
	uint64_t first_ns; /* of the first packet with a time */
	long n_listed;
	int error;
	uint8_t window[WINDOW];
};

/* Moves the rest of the window to its start, and reads more. 1: something was read; 0: end of the
 * file. */
static int window_fill(struct reading *r, struct err *e)
{
	ssize_t n;

	memmove(r->window, r->window + r->start, r->end - r->start);
	r->end -= r->start;
	r->start = 0;
	do
		n = read(r->fd, r->window + r->end, sizeof(r->window) - r->end);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return err_set(e, -errno, "at byte %" PRIu64 ": %s", r->capture.offset + r->end,
			       strerror(errno));
	r->end += (size_t)n;
	return n > 0;
}

static void list_packet(struct reading *r, const struct capture_packet *p)
{
	struct packet_row row;
	json_auto_t *json = NULL;

	r->first_ns = r->first_ns ? r->first_ns : p->time_ns;
	if (!packet_row_of(&row, p) || !packet_matches(&r->filter, &row))
		return;
	r->n_listed++;
	if (!ctl_args_want_document(r->args)) {
		packet_row_put(&row, r->first_ns, r->out);
		return;
	}
	json = packet_row_json(&row);
	r->error = json ? ctl_document_line(json, r->out) : -ENOMEM;
}

static void take_packet(struct reading *r, const struct capture_packet *p)
{
	if (r->args->packet_list)
		list_packet(r, p);
	else
		summary_add(&r->summary, p);
}

static bool has_enough(const struct reading *r)
{
	return r->error < 0 || (r->args->limit >= 0 && r->n_listed >= r->args->limit);
}

static int ctl_read_all(struct reading *r, struct err *e)
{
	struct capture_packet p;
	size_t used;
	int more = 1, got;

	while (more == 1 && !has_enough(r)) {
		got = capture_next(&r->capture, r->window + r->start, r->end - r->start, &used, &p,
				   e);
		r->start += used;
		if (got < 0)
			return got;
		if (got == 1)
			take_packet(r, &p);
		else
			more = window_fill(r, e);
	}
	if (r->error < 0)
		return err_set(e, r->error, "out of memory");
	if (has_enough(r))
		return 0;
	return more < 0 ? more : capture_end(&r->capture, r->end - r->start, e);
}

static int ctl_open_file(const char *name, struct err *e)
{
	int fd = strcmp(name, "-") == 0 ? dup(STDIN_FILENO) : open(name, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? err_set(e, -errno, "%s", strerror(errno)) : fd;
}

static const char *format_of(const struct capture *c)
{
	switch (c->format) {
	case CAPTURE_UNKNOWN:
		break;
	case CAPTURE_PCAP:
		return "pcap";
	case CAPTURE_PCAPNG:
		return "pcapng";
	}
	return NULL;
}

static enum ctl_exit read_and_list(struct reading *r, FILE *err)
{
	const struct ctl_args *a = r->args;
	struct err e = {0};

	if (a->flow)
		packet_filter_flow(&r->filter, a->flow, NULL); /* ctl_args has checked it */
	r->filter.only = a->only;
	if (!ctl_args_want_document(a) && !a->no_headers)
		packet_row_heads(r->out);
	if (ctl_read_all(r, &e) == 0)
		return CTL_OK;
	fflush(r->out);
	err_wrap(&e, "%.120s", a->file);
	capture_complain(e.msg, err);
	return CTL_NO;
}

static enum ctl_exit read_and_print(const struct ctl_args *a, struct reading *r, FILE *out,
				    FILE *err)
{
	struct err e = {0};
	json_t *source;

	if (a->packet_list)
		return read_and_list(r, err);
	if (ctl_read_all(r, &e) < 0)
		err_wrap(&e, "%.120s", a->file);
	source = json_pack("{so ss?}", "file", json_text(a->file), "format",
			   format_of(&r->capture));
	return ctl_capture_print(a, source, &r->summary, e.code ? e.msg : NULL, out, err);
}

static enum ctl_exit summarise(const struct ctl_args *a, int fd, FILE *out, FILE *err)
{
	struct reading *r = calloc(1, sizeof(*r));
	enum ctl_exit exit_code = CTL_NO;

	if (!r || summary_init(&r->summary) < 0) {
		fputs("rocectl: out of memory\n", err);
	} else {
		r->args = a;
		r->out = out;
		r->fd = fd;
		exit_code = read_and_print(a, r, out, err);
		summary_done(&r->summary);
	}
	free(r);
	return exit_code;
}

enum ctl_exit ctl_pcap(const struct ctl_args *a, FILE *out, FILE *err)
{
	struct err e = {0};
	AUTO_FD fd = ctl_open_file(a->file, &e);

	if (fd >= 0)
		return summarise(a, fd, out, err);
	fputs("rocectl: ", err);
	table_put(a->file, err);
	fprintf(err, ": %s\n", e.msg);
	return CTL_NO;
}

/* ctl_show_qps.c - queue pairs as a table: both directions of their traffic together. Pure. */
#include <string.h>

#include "ctl_show.h"
#include "ctl_table.h"

static const char *text_of(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

static bool number_of(const json_t *object, const char *key, json_int_t *ret)
{
	const json_t *n = json_object_get(object, key);

	if (!json_is_integer(n))
		return false;
	*ret = json_integer_value(n);
	return true;
}

static void add_number(struct table *t, const json_t *object, const char *key)
{
	char text[24] = "";
	json_int_t n;

	if (number_of(object, key, &n))
		snprintf(text, sizeof(text), "%" JSON_INTEGER_FORMAT, n);
	table_add(t, text);
}

/* What it received and sent together, unknown when there is neither. */
static void add_sum(struct table *t, const json_t *qp, const char *key)
{
	json_int_t received = 0, sent = 0;
	bool known = number_of(json_object_get(qp, "received"), key, &received);
	char text[24] = "";

	known |= number_of(json_object_get(qp, "sent"), key, &sent);
	if (known)
		snprintf(text, sizeof(text), "%" JSON_INTEGER_FORMAT, received + sent);
	table_add(t, text);
}

/* Round trips belong to the flow of the requests. "12.3us" of the side that has more of them. */
static void add_rtt(struct table *t, const json_t *qp, const char *key)
{
	const json_t *received = json_object_get(json_object_get(qp, "received"), "rtt");
	const json_t *sent = json_object_get(json_object_get(qp, "sent"), "rtt");
	json_int_t n_received = 0, n_sent = 0, ns;
	char text[32] = "";

	number_of(received, "count", &n_received);
	number_of(sent, "count", &n_sent);
	if (number_of(n_received > n_sent ? received : sent, key, &ns))
		snprintf(text, sizeof(text), "%.1fus", (double)ns / 1000);
	table_add(t, text);
}

static void add_peer(struct table *t, const json_t *qp)
{
	const char *address = text_of(qp, "peerAddress");
	char text[96] = "";
	json_int_t n;

	if (number_of(qp, "peerQpn", &n))
		snprintf(text, sizeof(text), "%s%s%" JSON_INTEGER_FORMAT, address ? address : "",
			 address ? " " : "", n);
	table_add(t, text[0] ? text : address);
}

/* The pod, or at least its uid. */
static void add_pod(struct table *t, const json_t *qp)
{
	const char *namespace = text_of(qp, "namespace"), *pod = text_of(qp, "pod");
	char text[400] = "";

	if (pod)
		snprintf(text, sizeof(text), "%.64s/%.300s", namespace ? namespace : "", pod);
	table_add(t, pod ? text : text_of(qp, "podUid"));
}

static void add_qp(struct table *t, const json_t *qp)
{
	const char *failure = text_of(qp, "failure"), *device = text_of(qp, "device");

	table_add(t, device ? device : text_of(qp, "netdev"));
	add_number(t, qp, "qpn");
	add_peer(t, qp);
	table_add(t, text_of(qp, "type"));
	table_add(t, failure ? failure : text_of(qp, "state"));
	add_pod(t, qp);
	table_add(t, text_of(qp, "comm"));
	add_sum(t, qp, "packets");
	add_sum(t, qp, "ce");
	add_sum(t, qp, "cnp");
	add_sum(t, qp, "naks");
	add_sum(t, qp, "rnr");
	add_sum(t, qp, "retransmissions");
	add_rtt(t, qp, "p99Ns");
}

/* What the table alone would not say. */
static void show_notes(const json_t *document, size_t n, FILE *f)
{
	const char *error = text_of(document, "error");
	json_int_t age, total;

	if (number_of(document, "ageSeconds", &age) && age > 0)
		fprintf(f, "read %" JSON_INTEGER_FORMAT " s ago\n", age);
	if (error) {
		fputs("not read since: ", f);
		table_put(error, f);
		fputc('\n', f);
	}
	if (number_of(document, "total", &total) && (size_t)total > n)
		fprintf(f, "%zu of %" JSON_INTEGER_FORMAT "; --limit N shows more\n", n, total);
}

void ctl_show_qps(const json_t *document, FILE *f)
{
	struct table t = {.heads = {"DEVICE", "QPN", "PEER", "TYPE", "STATE", "POD", "COMMAND",
				    "PACKETS", "CE", "CNP", "NAK", "RNR", "RETRANS", "RTT-P99"},
			  .n_columns = 14};
	json_t *qp;
	size_t i;

	json_array_foreach (json_object_get(document, "qps"), i, qp) {
		add_qp(&t, qp);
	}
	if (t.failed)
		fputs("out of memory\n", f);
	else if (t.n_cells == 0)
		fputs("no queue pairs\n", f);
	table_print(&t, f);
	table_done(&t);
	show_notes(document, i, f);
}

#include "ctl_show.h"

#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "ctl_table.h"

static const char *text_of(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

/* Strings of a list, or of one key of its objects (key not NULL), with commas. Heap. */
static char *joined(const json_t *list, const char *key)
{
	char *text = NULL;
	size_t len, i;
	json_t *item;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		return NULL;
	json_array_foreach ((json_t *)list, i, item) {
		const char *s = key ? text_of(item, key) : json_string_value(item);

		if (s)
			fprintf(f, "%s%s", ftell(f) > 0 ? "," : "", s);
	}
	fclose(f);
	return text;
}

static void add_joined(struct table *t, const json_t *list, const char *key)
{
	AUTO_FREE char *text = joined(list, key);

	table_add(t, text);
}

static void show_table(struct table *t, FILE *f, const char *nothing)
{
	if (t->failed)
		fputs("out of memory\n", f);
	else if (t->n_cells == 0)
		fprintf(f, "%s\n", nothing);
	table_print(t, f);
	table_done(t);
}

static void put_text(const json_t *object, const char *key, FILE *f)
{
	const char *text = text_of(object, key);

	table_put(text ? text : "-", f);
}

/* --- pods ------------------------------------------------------------------------------------- */

static void add_pod_device(struct table *t, const json_t *pod, const json_t *container,
			   const json_t *device)
{
	const json_t *a = json_object_get(device, "attachment");
	const char *name = text_of(pod, "name");

	table_add(t, text_of(pod, "namespace"));
	table_add(t, name ? name : text_of(pod, "uid"));
	table_add(t, text_of(container, "name"));
	table_add(t, text_of(device, "resource"));
	table_add(t, text_of(device, "id"));
	table_add(t, text_of(a, "interface"));
	add_joined(t, json_object_get(a, "ips"), NULL);
	table_add(t, json_is_object(a) ? text_of(a, "state") : "held");
}

void ctl_show_pods(const json_t *document, FILE *f)
{
	struct table t = {.heads = {"NAMESPACE", "POD", "CONTAINER", "RESOURCE", "DEVICE",
				    "INTERFACE", "IPS", "STATE"},
			  .n_columns = 8};
	json_t *pod, *container, *device;
	size_t i, k, m;

	json_array_foreach (json_object_get(document, "pods"), i, pod) {
		json_array_foreach (json_object_get(pod, "containers"), k, container) {
			json_array_foreach (json_object_get(container, "devices"), m, device) {
				add_pod_device(&t, pod, container, device);
			}
		}
	}
	show_table(&t, f, "no container has a device");
}

/* --- devices ---------------------------------------------------------------------------------- */

/* A netdev in a pod bears the pod's name for it: the host's says more. */
static void add_netdevs(struct table *t, const json_t *device)
{
	const char *name = text_of(json_object_get(device, "attachment"), "name");

	if (name)
		table_add(t, name);
	else
		add_joined(t, json_object_get(device, "netdevs"), "name");
}

void ctl_show_devices(const json_t *document, FILE *f)
{
	struct table t = {.heads = {"DEVICE", "KIND", "NETDEV", "RDMA", "DRIVER", "WHY"},
			  .n_columns = 6};
	json_t *device;
	size_t i;

	json_array_foreach (json_object_get(document, "devices"), i, device) {
		table_add(&t, text_of(device, "id"));
		table_add(&t, text_of(device, "kind"));
		add_netdevs(&t, device);
		add_joined(&t, json_object_get(device, "rdma"), "name");
		table_add(&t, text_of(device, "driver"));
		table_add(&t, text_of(device, "why"));
	}
	show_table(&t, f, "this node has no devices");
}

void ctl_show_explain(const json_t *document, FILE *f)
{
	put_text(document, "device", f);
	fputs(": ", f);
	put_text(document, "why", f);
	fputc('\n', f);
}

/* --- events ----------------------------------------------------------------------------------- */

#define POD_TEXT_SIZE 400

/* "namespace/pod", "" for none. */
static void pod_text(const json_t *object, char ret[POD_TEXT_SIZE])
{
	const char *namespace = text_of(object, "namespace"), *pod = text_of(object, "pod");

	ret[0] = '\0';
	if (pod)
		snprintf(ret, POD_TEXT_SIZE, "%.64s/%.300s", namespace ? namespace : "", pod);
}

static void add_event(struct table *t, const json_t *e)
{
	char object[POD_TEXT_SIZE], count[24];

	pod_text(e, object);
	snprintf(count, sizeof(count), "%" JSON_INTEGER_FORMAT,
		 json_integer_value(json_object_get(e, "count")));
	table_add(t, text_of(e, "last"));
	table_add(t, text_of(e, "type"));
	table_add(t, text_of(e, "reason"));
	table_add(t, object);
	table_add(t, text_of(e, "device"));
	table_add(t, count);
	table_add(t, text_of(e, "message"));
}

void ctl_show_events(const json_t *document, FILE *f)
{
	struct table t = {.heads = {"LAST", "TYPE", "REASON", "POD", "DEVICE", "COUNT", "MESSAGE"},
			  .n_columns = 7};
	json_t *e;
	size_t i;

	json_array_foreach (json_object_get(document, "events"), i, e) {
		add_event(&t, e);
	}
	show_table(&t, f, "no events");
}

static void put_word(const char *text, FILE *f)
{
	table_put(text && *text ? text : "-", f);
	fputs("  ", f);
}

void ctl_show_event(const json_t *e, FILE *f)
{
	json_int_t count = json_integer_value(json_object_get(e, "count"));
	char object[POD_TEXT_SIZE];

	pod_text(e, object);
	put_word(text_of(e, "last"), f);
	put_word(text_of(e, "type"), f);
	put_word(text_of(e, "reason"), f);
	put_word(object, f);
	put_word(text_of(e, "device"), f);
	put_text(e, "message", f);
	if (count > 1)
		fprintf(f, " (%" JSON_INTEGER_FORMAT " times)", count);
	fputc('\n', f);
}

/* --- doctor ----------------------------------------------------------------------------------- */

static void show_finding(const json_t *finding, FILE *f)
{
	put_text(finding, "kind", f);
	fputs(": ", f);
	if (text_of(finding, "object")) {
		put_text(finding, "object", f);
		fputs(": ", f);
	}
	put_text(finding, "what", f);
	fputs("\n    ", f);
	put_text(finding, "help", f);
	fputs(json_is_true(json_object_get(finding, "fixable"))
		      ? "\n    `rocectl doctor --fix` works on it.\n"
		      : "\n",
	      f);
}

size_t ctl_show_doctor(const json_t *document, FILE *f)
{
	const json_t *findings = json_object_get(document, "findings");
	json_t *finding;
	size_t i;

	if (json_array_size(findings) == 0)
		fputs("nothing is wrong\n", f);
	json_array_foreach ((json_t *)findings, i, finding) {
		show_finding(finding, f);
	}
	return json_array_size(findings);
}

/* --- orders ----------------------------------------------------------------------------------- */

void ctl_show_attached(const json_t *document, FILE *f)
{
	const json_t *a = json_object_get(document, "attachment");

	put_text(document, "device", f);
	fputs(" is attached", f);
	if (text_of(a, "interface")) {
		fputs(" as ", f);
		put_text(a, "interface", f);
	}
	fputc('\n', f);
}

void ctl_show_detached(const json_t *document, FILE *f)
{
	put_text(document, "device", f);
	fputs(" is back in the host, and clean\n", f);
}

/* --- queue pairs ------------------------------------------------------------------------------ */

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
	char pod[POD_TEXT_SIZE];

	pod_text(qp, pod);
	table_add(t, pod[0] ? pod : text_of(qp, "podUid"));
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
	show_table(&t, f, "no queue pairs");
	show_notes(document, i, f);
}

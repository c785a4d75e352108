// SPDX-License-Identifier: Apache-2.0
#include "listings.h"

#include <errno.h>
#include <string.h>

#include "cleanup.h"
#include "ctl_table.h"

#define PATH(h, p) .head = (h), .path = (p)
#define WIDE(h, p) .head = (h), .path = (p), .wide = true
#define MADE(h, m) .head = (h), .make = (m)
#define AGES(h, p) .head = (h), .age = (p)
#define PODS(m)	   .head = "POD", .make = (m), .after_slash = true
#define COLUMNS(c) .columns = (c), .n_columns = ARRAY_SIZE(c)

static const char *listing_text_of(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

__attribute__((format(printf, 1, 2))) static char *text_make(const char *fmt, ...)
{
	char *text;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	va_end(ap);
	return text;
}

/* "a/b", or the non-NULL one; NULL if both are NULL. */
static char *with_slash(const char *a, const char *b)
{
	if (a && b)
		return text_make("%s/%s", a, b);
	return a || b ? strdup(a ? a : b) : NULL;
}

/* --- pods ------------------------------------------------------------------------------------- */

/* One row per device of each container. */
static json_t *pod_rows(const json_t *pod)
{
	json_t *rows = json_array(), *container, *device;
	size_t i, k;

	json_array_foreach (json_object_get(pod, "containers"), i, container) {
		json_array_foreach (json_object_get(container, "devices"), k, device) {
			json_array_append_new(
				rows,
				json_pack("{sO* sO* sO* sO* sO* sO}", "network",
					  json_object_get(pod, "network"), "namespace",
					  json_object_get(pod, "namespace"), "name",
					  json_object_get(pod, "name"), "uid",
					  json_object_get(pod, "uid"), "container",
					  json_object_get(container, "name"), "device", device));
		}
	}
	return rows;
}

/* The severity of the worst trouble, "ok", or why it is unknown. */
static char *listing_health(const json_t *object)
{
	const json_t *worst = json_array_get(json_object_get(object, "troubles"), 0);
	const char *health = listing_text_of(object, "health"),
		   *watch = listing_text_of(object, "watch");

	if (health)
		return text_make("%s%s", health,
				 json_is_true(json_object_get(worst, "ofPf")) ? " (PF)" : "");
	return watch ? strdup(watch) : NULL;
}

/* Levels of rows: unknown is worse than ok. */
enum { LEVEL_OK, LEVEL_UNKNOWN, LEVEL_INFO, LEVEL_WARNING, LEVEL_CRITICAL };

static int listing_level(const json_t *object)
{
	static const char *const words[] = {[LEVEL_OK] = "ok",
					    [LEVEL_UNKNOWN] = "",
					    [LEVEL_INFO] = "info",
					    [LEVEL_WARNING] = "warning",
					    [LEVEL_CRITICAL] = "critical"};
	const char *health = listing_text_of(object, "health");

	for (size_t i = 0; health && i < ARRAY_SIZE(words); i++)
		if (strcmp(health, words[i]) == 0)
			return (int)i;
	return LEVEL_UNKNOWN;
}

static int pod_level(const json_t *row)
{
	return listing_level(json_object_get(row, "device"));
}

static char *pod_health(const json_t *row)
{
	return listing_health(json_object_get(row, "device"));
}

static char *pod_state(const json_t *row)
{
	const json_t *attachment = json_object_get(json_object_get(row, "device"), "attachment");

	if (!json_is_object(attachment))
		return strdup("held");
	return listing_text(attachment, "state");
}

/* "no" only for a certain no: usually a fault of the network is just not visible from this node. */
static char *listing_pod_network(const json_t *row)
{
	const json_t *network = json_object_get(row, "network");
	const char *answer = listing_text_of(network, "answer"),
		   *why = listing_text_of(network, "why");

	if (answer && why && strcmp(answer, "no") == 0 && strncmp(why, "No:", 3) != 0)
		return strdup("not seen");
	return answer ? strdup(answer) : NULL;
}

static char *pod_name(const json_t *row)
{
	const char *name = listing_text_of(row, "name");

	return with_slash(name ? listing_text_of(row, "namespace") : NULL,
			  name ? name : listing_text_of(row, "uid"));
}

/* Returns the message if the kubelet has not reported the allocations, or does not now; NULL: it
 * does. */
static char *pods_unknown(const json_t *document)
{
	const char *error = listing_text_of(document, "error");

	if (json_is_null(json_object_get(document, "source")))
		return text_make("unknown: the kubelet has not reported which container has which "
				 "device%s%s",
				 error ? ": " : "", error ? error : "");
	return error ? text_make("unknown: no container had a device when the kubelet last "
				 "answered; it does not answer now: %s",
				 error)
		     : NULL;
}

static void pod_notes(const json_t *document, size_t n, FILE *f)
{
	const char *error = listing_text_of(document, "error");

	if (!error || n == 0)
		return;
	fputs("as the kubelet last reported; it does not answer now: ", f);
	table_put(error, f);
	fputc('\n', f);
}

static const struct listing_column pod_columns[] = {
	{PODS(pod_name)},
	{PATH("CONTAINER", "container")},
	{PATH("RESOURCE", "device.resource")},
	{PATH("DEVICE", "device.id")},
	{PATH("RDMA", "device.rdma|device.attachment.rdma")},
	{PATH("INTERFACE", "device.attachment.interface")},
	{PATH("IPS", "device.attachment.ips")},
	{MADE("HEALTH", pod_health), .remark = true},
	{PATH("CAUSES", "device.troubles.word")},
	{AGES("FOR", "device.troubles.since")},
	{MADE("STATE", pod_state)},
	{AGES("AGE", "device.attachment.since")},
	{.head = "NETWORK", .make = listing_pod_network, .wide = true},
	{WIDE("NAMESPACE", "namespace")},
	{WIDE("MAC", "device.attachment.mac")},
	{WIDE("VLAN", "device.attachment.vlan")},
	{WIDE("MTU", "device.attachment.mtu")},
	{WIDE("SINCE", "device.attachment.since")},
	{WIDE("DRIFT", "device.attachment.drift")},
	{WIDE("ERROR", "device.attachment.error")},
};

const struct listing listing_pods = {
	.source = "pods",
	.noun = "pods",
	.list = "pods",
	.nothing = "no container has a device",
	.unknown = pods_unknown,
	.notes = pod_notes,
	COLUMNS(pod_columns),
	.rows_of = pod_rows,
	.level = pod_level,
	.name = pod_name,
	.namespace = "namespace",
	.pod = "name|uid",
	.device = "device.id|device.attachment.function|device.attachment.name|"
		  "device.attachment.rdma|device.attachment.interface|device.rdma",
};

/* --- devices ---------------------------------------------------------------------------------- */

static char *device_name(const json_t *row)
{
	return listing_text(row, "id");
}

static char *device_pod(const json_t *row)
{
	AUTO_FREE char *namespace = listing_text(row,
						 "attachment.namespace|resources.holder.namespace");
	AUTO_FREE char *pod = listing_text(row, "attachment.pod|resources.holder.pod");

	return pod ? with_slash(namespace, pod) : NULL;
}

/* The sentence without "in use by container main of pod train/job-7, ", because container and pod
 * have columns of their own. */
static char *why_without_pod(const char *why, const char *pod)
{
	static const char prefix[] = "in use by ";
	const char *rest = strncmp(why, prefix, strlen(prefix)) == 0 ? strstr(why, pod) : NULL;

	if (!rest || strncmp(rest + strlen(pod), ", ", 2) != 0)
		return strdup(why);
	rest += strlen(pod) + 2;
	return text_make("%s%s", strncmp(rest, "as ", 3) == 0 ? "attached " : "", rest);
}

static char *device_why(const json_t *row)
{
	const char *why = listing_text_of(row, "why");
	char *pod = why ? device_pod(row) : NULL;
	char *ret = why ? why_without_pod(why, pod ? pod : "") : NULL;

	free(pod);
	return ret;
}

/* The reasons why the device is unhealthy, or "ok"; unknown for a device that only shared resources
 * offer. */
static char *device_health(const json_t *row)
{
	AUTO_FREE char *reasons = listing_text(row, "resources.reasons");
	json_t *resource;
	bool ok = false;
	size_t i;

	json_array_foreach (json_object_get(row, "resources"), i, resource) {
		ok |= json_is_true(json_object_get(resource, "healthy"));
	}
	if (reasons && *reasons)
		return strdup(reasons);
	return ok ? strdup("ok") : NULL;
}

/* As the severity of troubles: an unhealthy device is critical if a container has it. */
static int device_level(const json_t *row)
{
	const json_t *attachment = json_object_get(row, "attachment");
	const char *state = listing_text_of(attachment, "state");
	int level = listing_text_of(attachment, "error") || (state && strcmp(state, "bad") == 0)
			    ? LEVEL_WARNING
			    : LEVEL_OK;
	json_t *resource;
	size_t i;

	json_array_foreach (json_object_get(row, "resources"), i, resource) {
		const bool held = json_is_object(json_object_get(resource, "holder"));

		if (json_is_false(json_object_get(resource, "healthy")))
			level = held			? LEVEL_CRITICAL
				: level > LEVEL_WARNING ? level
							: LEVEL_WARNING;
	}
	return level;
}

/* A netdev may have another name in its pod; show its name in the host. */
static const struct listing_column device_columns[] = {
	{PATH("DEVICE", "id")},
	{PATH("KIND", "kind")},
	{PATH("NETDEV", "attachment.name|netdevs.name")},
	{PATH("RDMA", "rdma.name")},
	{PATH("DRIVER", "driver")},
	{WIDE("PARENT", "parent")},
	{WIDE("NUMA", "numaNode")},
	{WIDE("MTU", "netdevs.mtu")},
	{WIDE("STATE", "rdma.ports.state|netdevs.operstate")},
	{WIDE("FIRMWARE", "rdma.firmware")},
	{WIDE("RESOURCE", "resources.resource")},
	{.head = "HEALTH", .make = device_health, .wide = true},
	{AGES("UNHEALTHY", "resources.unhealthySince"), .wide = true},
	{PODS(device_pod)},
	{WIDE("NAMESPACE", "attachment.namespace|resources.holder.namespace")},
	{WIDE("CONTAINER", "attachment.container|resources.holder.container")},
	{AGES("AGE", "attachment.since"), .wide = true},
	{MADE("WHY", device_why)},
};

const struct listing listing_devices = {
	.source = "devices",
	.list = "devices",
	.noun = "devices",
	.nothing = "this node has no devices",
	COLUMNS(device_columns),
	.level = device_level,
	.name = device_name,
	.namespace = "attachment.namespace|resources.holder.namespace",
	.pod = "attachment.pod|resources.holder.pod",
	.device = "id|netdevs.name|netdevs.altnames|rdma.name|rdma.nodeGuid|attachment.name|"
		  "attachment.rdma",
};

/* --- events ----------------------------------------------------------------------------------- */

/* NAMESPACE/NAME of a row with "namespace" and "pod"; heap, NULL: it has no pod. */
static char *listing_pod_of(const json_t *row)
{
	const char *pod = listing_text_of(row, "pod"),
		   *namespace = listing_text_of(row, "namespace");

	return pod ? with_slash(namespace ? namespace : "", pod) : NULL;
}

static const struct listing_column event_columns[] = {
	{AGES("AGE", "last")},	    {WIDE("LAST", "last")},	{WIDE("FIRST", "first")},
	{PATH("TYPE", "type")},	    {PATH("REASON", "reason")}, {PODS(listing_pod_of)},
	{PATH("DEVICE", "device")}, {PATH("COUNT", "count")},	{PATH("MESSAGE", "message")},
};

const struct listing listing_events = {
	.source = "events",
	.noun = "events",
	.list = "events",
	.nothing = "no events",
	COLUMNS(event_columns),
	.namespace = "namespace|pods.namespace",
	.newest_last = true,
};

void listing_show_event(const json_t *event, FILE *f)
{
	json_int_t count = json_integer_value(json_object_get(event, "count"));

	for (size_t i = 0; i < ARRAY_SIZE(event_columns); i++) {
		const struct listing_column *column = &event_columns[i];
		AUTO_FREE char *text = NULL;

		if (column->age)
			text = listing_text(
				event,
				column->age); /* the time, not the age: lines are not updated */
		else if (column->wide || strcmp(column->head, "COUNT") == 0)
			continue;
		else
			text = column->make ? column->make(event)
					    : listing_text(event, column->path);
		table_put(text && *text ? text : "-", f);
		fputs(i + 1 < ARRAY_SIZE(event_columns) ? "  " : "", f);
	}
	if (count > 1)
		fprintf(f, " (%" JSON_INTEGER_FORMAT " times)", count);
	fputc('\n', f);
}

/* --- queue pairs ------------------------------------------------------------------------------ */

static bool listing_number_of(const json_t *object, const char *key, json_int_t *ret)
{
	const json_t *n = json_object_get(object, key);

	if (!json_is_integer(n))
		return false;
	*ret = json_integer_value(n);
	return true;
}

/* Sum of received and sent; unknown if both are unknown. */
static char *listing_sum_of(const json_t *qp, const char *key)
{
	json_int_t received = 0, sent = 0;
	bool known = listing_number_of(json_object_get(qp, "received"), key, &received);

	known |= listing_number_of(json_object_get(qp, "sent"), key, &sent);
	return known ? text_make("%" JSON_INTEGER_FORMAT, received + sent) : NULL;
}

#define SUM(name, key)                                                                             \
	static char *name(const json_t *qp)                                                        \
	{                                                                                          \
		return listing_sum_of(qp, key);                                                    \
	}
SUM(qp_packets, "packets")
SUM(qp_ce, "ce")
SUM(qp_cnp, "cnp")
SUM(qp_naks, "naks")
SUM(qp_rnr, "rnr")
SUM(qp_retransmissions, "retransmissions")

/* "12.3us". Round trips are measured on the flow of the requests, so use the direction with more
 * measurements. */
static char *rtt_of(const json_t *qp, const char *key)
{
	const json_t *received = json_object_get(json_object_get(qp, "received"), "rtt");
	const json_t *sent = json_object_get(json_object_get(qp, "sent"), "rtt");
	json_int_t n_received = 0, n_sent = 0, ns;

	listing_number_of(received, "count", &n_received);
	listing_number_of(sent, "count", &n_sent);
	if (!listing_number_of(n_received > n_sent ? received : sent, key, &ns))
		return NULL;
	return text_make("%.1fus", (double)ns / 1000);
}

static char *qp_rtt_p50(const json_t *qp)
{
	return rtt_of(qp, "p50Ns");
}

static char *qp_rtt_p99(const json_t *qp)
{
	return rtt_of(qp, "p99Ns");
}

static char *qp_peer(const json_t *qp)
{
	const char *address = listing_text_of(qp, "peerAddress");
	json_int_t n;

	if (!listing_number_of(qp, "peerQpn", &n))
		return address ? strdup(address) : NULL;
	return text_make("%s%s%" JSON_INTEGER_FORMAT, address ? address : "", address ? " " : "",
			 n);
}

/* The pod, or at least its uid. */
static char *qp_pod(const json_t *qp)
{
	char *pod = listing_pod_of(qp);

	return pod ? pod : listing_text(qp, "uid");
}

/* "mlx5_0/4711" */
static char *qp_name(const json_t *qp)
{
	AUTO_FREE char *device = listing_text(qp, "device|netdev");
	AUTO_FREE char *qpn = listing_text(qp, "qpn");

	return with_slash(device, qpn);
}

static const struct listing_column qp_columns[] = {
	{PATH("DEVICE", "device|netdev")},
	{PATH("QPN", "qpn")},
	{MADE("PEER", qp_peer), .remark = true},
	{PATH("TYPE", "type")},
	{PATH("STATE", "failure|state")},
	{PODS(qp_pod)},
	{PATH("COMMAND", "comm")},
	{WIDE("PID", "pid")},
	{WIDE("MTU", "mtu")},
	{WIDE("DSCP", "dscp")},
	{MADE("PACKETS", qp_packets)},
	{MADE("CE", qp_ce)},
	{MADE("CNP", qp_cnp)},
	{MADE("NAK", qp_naks)},
	{MADE("RNR", qp_rnr)},
	{MADE("RETRANS", qp_retransmissions)},
	{.head = "RTT-P50", .make = qp_rtt_p50, .wide = true},
	{MADE("RTT-P99", qp_rtt_p99)},
};

/* Returns the message if the queue pairs cannot be read, or have not been read yet; NULL: they
 * have. */
static char *qps_unknown(const json_t *document)
{
	const char *error = listing_text_of(document, "error");

	if (!json_is_null(json_object_get(document, "source")))
		return NULL;
	if (!error)
		return strdup("queue pairs have not been read yet; rocelet reads them within a few "
			      "seconds");
	return text_make(
		"queue pairs cannot be read: %s; %s", error,
		json_is_false(json_object_get(document, "retries")) ? "rocelet does not retry"
		: strstr(error, strerror(EPROTONOSUPPORT))
			? "this kernel has no RDMA: load ib_core and the NIC's RDMA driver, such as mlx5_ib"
			: "rocelet retries; with BPF (overlay native) it does not need this read");
}

static void qp_notes(const json_t *document, size_t n, FILE *f)
{
	const char *error = listing_text_of(document, "error");
	json_int_t age, total;

	if (listing_number_of(document, "ageSeconds", &age) && age > 0)
		fprintf(f, "read %" JSON_INTEGER_FORMAT " s ago\n", age);
	if (error) {
		fputs("last read failed: ", f);
		table_put(error, f);
		fputc('\n', f);
	}
	if (listing_number_of(document, "total", &total) && (size_t)total > n)
		fprintf(f, "%zu of %" JSON_INTEGER_FORMAT "; --limit N shows more\n", n, total);
}

const struct listing listing_qps = {
	.source = "qps",
	.noun = "queue pairs",
	.list = "qps",
	.nothing = "no queue pairs",
	.unknown = qps_unknown,
	COLUMNS(qp_columns),
	.name = qp_name,
	.namespace = "namespace",
	.notes = qp_notes,
};

/* --- resources -------------------------------------------------------------------------------- */

static char *resource_name(const json_t *row)
{
	return listing_text(row, "name");
}

static const struct listing_column resource_columns[] = {
	{PATH("RESOURCE", "name")},
	{PATH("TOTAL", "devices")},
	{PATH("HEALTHY", "healthy")},
	{PATH("ALLOCATED", "allocated")},
	{PATH("FREE", "free"), .zeros = true},
	{PATH("REGISTERED", "registration")},
	{WIDE("SHARED", "shared")},
	{WIDE("GIDS", "gidCapacity")},
	{WIDE("REGISTRATIONS", "registrations")},
	{WIDE("FAILURES", "registrationFailures")},
	{WIDE("LISTS", "listsSent")},
	{WIDE("ERROR", "error")},
};

const struct listing listing_resources = {
	.source = "devices",
	.list = "resources",
	.noun = "resources",
	.other = "devices",
	.nothing = "no resources are offered",
	COLUMNS(resource_columns),
	.name = resource_name,
};

/* --- ports ------------------------------------------------------------------------------------ */

/* "mlx5_0/1" */
static char *port_name(const json_t *row)
{
	AUTO_FREE char *device = listing_text(row, "device");
	AUTO_FREE char *port = listing_text(row, "port");

	return with_slash(device, port);
}

/* "400G": link rates are in bits. */
static char *port_rate(const json_t *row)
{
	json_int_t rate;

	if (!listing_number_of(row, "rateBitsPerSecond", &rate))
		return NULL;
	return text_make("%.3gG", (double)rate / 1e9);
}

/* The lossless priorities, "3,4"; "none". */
static char *port_pfc(const json_t *row)
{
	const json_t *pfc = json_object_get(row, "pfc");

	if (json_is_array(pfc) && json_array_size(pfc) == 0)
		return strdup("none");
	return listing_text(row, "pfc");
}

static char *port_trust(const json_t *row)
{
	const json_t *trusted = json_object_get(row, "dscpTrusted");

	return json_is_boolean(trusted) ? strdup(json_is_true(trusted) ? "dscp" : "pcp") : NULL;
}

static const struct listing_column port_columns[] = {
	{MADE("PORT", port_name)},
	{PATH("NETDEV", "netdev")},
	{PATH("FUNCTION", "function")},
	{PATH("KIND", "kind")},
	{PATH("STATE", "state")},
	{MADE("RATE", port_rate)},
	{PATH("MTU", "activeMtu")},
	{PODS(listing_pod_of)},
	{MADE("HEALTH", listing_health), .remark = true},
	{PATH("CAUSES", "troubles.word")},
	{AGES("FOR", "troubles.since")},
	{WIDE("DRIVER", "driver")},
	{WIDE("LINK", "linkLayer")},
	{WIDE("PARENT", "parent")},
	{WIDE("VF", "vf")},
	{WIDE("CONTAINER", "container")},
	{WIDE("NETDEV-MTU", "netdevMtu")},
	{.head = "PFC", .make = port_pfc, .wide = true},
	{.head = "TRUST", .make = port_trust, .wide = true},
};

const struct listing listing_ports = {
	.list = "ports",
	.noun = "ports",
	.nothing = "this node has no RDMA ports",
	COLUMNS(port_columns),
	.level = listing_level,
	.name = port_name,
	.namespace = "namespace",
	.pod = "pod",
	.device = "device|netdev|function|nodeGuid",
};

/* api_ports.h - the ports that diagnosis watches, and what they did in the last quarter of an hour,
 * as JSON. Pure.
 *
 * Signals are those of window.h, by the words of signal_word(): shares of time or packets, bytes a
 * second, and events a second. null is what was not seen. Documents are compact, heap, terminated;
 * NULL when out of memory. */
#pragma once

#include "json_out.h"
#include "resource_table.h"

struct diagnosis_report;

/* The document of /api/v1/ports; resources may be NULL: not known.
 * {"time":"2026-...Z","timeMs":123,"ports":[{"device":"mlx5_0","port":1,"netdev":"ens1np0",
 *  "function":"0000:03:00.0","kind":"pf","parent":null,"vf":null,"driver":"mlx5","state":"active",
 *  "linkLayer":"Ethernet","rateBps":100000000000,"mtu":4096,"watch":"judged","clearSinceMs":null,
 *  "resets":0,"ignoredRates":0,"namespace":null,"pod":null,"container":null,
 *  "now":{"bytes_received":1.5e9,...}}]}
 * now: of the newest sample; time and timeMs are that one's. */
char *api_ports(const struct diagnosis_report *, const struct host *, const struct resource_table *,
		size_t *ret_len);

/* The place in report->ports of "mlx5_0/1"; SIZE_MAX: there is no such port. */
size_t api_port_find(const struct diagnosis_report *, const char *name);
/* The document of /api/v1/history, of one port: rows after since_ms (of the monotonic clock; 0: as
 * many as there are, at most 899), the oldest first.
 * {"time":...,"timeMs":...,"device":"mlx5_0","port":1,"atMs":[121,122,123],
 *  "signals":{"bytes_received":[null,1.5e9,1.5e9],...}} */
char *api_history(const struct diagnosis_report *, size_t port, uint64_t since_ms, size_t *ret_len);

/* A port of the report, and what is known of it beside. */
struct port_row {
	size_t at;			 /* in report->ports */
	const struct rdma_dev *dev;	 /* NULL: it has just gone */
	const struct function *fn;	 /* NULL: unknown, or none */
	const struct pod_device *holder; /* NULL: not to be told, not known, or nobody */
	bool own; /* of no other device is anything told, and of this one the counters */
};

/* The port's object, as it stands in the list of api_ports(). */
void api_add_port(struct json_out *, const struct diagnosis_report *, const struct port_row *);

/* "time" and "timeMs" of the report. */
void api_add_time(struct json_out *, const struct diagnosis_report *);
/* Ends the document and gives its text away. */
char *api_text(struct json_out *, size_t *ret_len);

/* SPDX-License-Identifier: Apache-2.0 */
/* api_ports.h - the ports that diagnosis watches, and their signals of the last 15 minutes, as
 * JSON. Pure.
 *
 * Signals are those of window.h, with the names of signal_word(): shares of time or packets, bytes
 * per second, events per second; null if not measured. Documents are compact, heap, terminated;
 * NULL if out of memory. */
#pragma once

#include "api_filter.h"
#include "condition.h"
#include "json_out.h"
#include "resource_table.h"

struct diagnosis_report;

/* The document of /api/v1/ports. The report of the sources must not be NULL.
 * {"time":"2026-...Z","timeMs":123,"warmingMs":20000,
 *  "ports":[{"device":"mlx5_0","port":1,"netdev":"ens1np0",
 *  "function":"0000:03:00.0","kind":"pf","parent":null,"vf":null,"driver":"mlx5","state":"active",
 *  "linkLayer":"Ethernet","rateBitsPerSecond":100000000000,"activeMtu":4096,"bytesIncludeVfs":false,"watch":"judged","watchedSinceMs":1,"clearSinceMs":null,
 *  "resets":0,"ignoredRates":0,"namespace":null,"pod":null,"container":null,
 *  "health":"ok","troubles":[],
 *  "now":{"bytes_received":1.5e9,...}}]}
 * The members `now`, `time` and `timeMs` are of the newest sample. */
char *api_ports(const struct condition_sources *, const struct api_filter *, size_t *ret_len);

/* Index into report->ports of "mlx5_0/1"; SIZE_MAX: no such port. */
size_t api_port_find(const struct diagnosis_report *, const char *name);
/* The document of /api/v1/history, of one port: rows after since_ms (monotonic clock; 0: all, at
 * most 899), oldest first.
 * {"time":...,"timeMs":...,"device":"mlx5_0","port":1,"atMs":[121,122,123],
 *  "signals":{"bytes_received":[null,1.5e9,1.5e9],...}} */
char *api_history(const struct diagnosis_report *, size_t port, uint64_t since_ms, size_t *ret_len);

#define HISTORY_STEPS_MAX 90

struct history_query {
	uint64_t every_ms; /* length of a step; not 0 */
	uint32_t signals;  /* 1 << enum signal */
};

/* The document of /api/v1/history for all ports: means over steps of every_ms, at most
 * HISTORY_STEPS_MAX steps, oldest first.
 * {"time":...,"timeMs":...,"stepMs":15000,"atMs":[120000,135000],
 *  "ports":[{"device":"mlx5_0","port":1,"signals":{"bytes_received":[null,1.5e9],"nak":0}}]}
 * atMs is the start of a step. A signal with the same value in all steps is one number instead of a
 * list. */
char *api_histories(const struct diagnosis_report *, const struct history_query *, size_t *ret_len);

/* A port of the report, with its device, function and pod. */
struct port_row {
	size_t at;			   /* index into report->ports */
	const struct rdma_dev *dev;	   /* NULL: it was just removed */
	const struct function *fn;	   /* NULL: unknown, or none */
	const struct pod_device *holder;   /* NULL: hidden, unknown, or no holder */
	const struct condition *condition; /* NULL: left out */
	bool own; /* for the pod's own view: hide other devices, add this one's counters */
};

/* Writes the port's object, as in the list of api_ports(). */
void api_add_port(struct json_out *, const struct diagnosis_report *, const struct port_row *);

/* "time" and "timeMs" of the report. */
void api_add_time(struct json_out *, const struct diagnosis_report *);
/* Ends the document and returns its text, which the caller owns. */
char *api_text(struct json_out *, size_t *ret_len);

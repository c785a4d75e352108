/* SPDX-License-Identifier: Apache-2.0 */
/* api_live.h - the changes since the client's last request: samples, verdicts, events, and the
 * generations of the other documents. Pure.
 *
 * All clients request the same after each sample, so most of the text is rendered once and
 * cached. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct diagnosis_report;
struct event_ring;

/* Maximum rows and verdicts in a document; a reader that is further behind uses /api/v1/history. */
#define LIVE_ROWS_MAX	  10
#define LIVE_VERDICTS_MAX 64

struct live_input {
	const struct diagnosis_report *report; /* NULL: no sample has been judged yet */
	const struct event_ring *events;       /* NULL: none */
	const char *node;		       /* the host's name; NULL = unknown */
	uint64_t now_ms;		       /* the loop's time, as in samples */
	uint64_t started_unix_ms; /* when the daemon started; if it differs from the last
				     document's, the daemon has restarted */
	uint32_t every_ms;	  /* interval between samples */
	/* Generations of the documents: a new number means that the document has changed. */
	uint64_t devices, resources, attachments, settings, config;
};

struct live_query {
	uint64_t since_ms; /* timeMs of the reader's last document; 0: it has none, return only the
			      newest row */
	uint64_t events_after; /* generation of the events in the reader's last document */
};

/* True if the document would have something new. */
bool api_live_any(const struct live_input *, const struct live_query *);

/* Kept between calls; all zero: empty. */
struct live_cache {
	char *text; /* of rows and verdicts, owned */
	size_t len;
	uint64_t time_ms, since_ms; /* the report's time, and the since_ms of the request */
};

void live_cache_done(struct live_cache *);

/* The document of /api/v1/live. Compact, heap, terminated; NULL when out of memory.
 * {"node":"node-17","nowMs":130,"started":"2026-...Z","startedMs":1764090245123,"everyMs":1000,
 *  "version":"0.1.0",
 *  "generations":{"devices":7,"resources":2,"attachments":0,"settings":3,"config":1},
 *  "events":{"generation":17,"events":[...]},
 *  "time":"2026-...Z","timeMs":129,"portsDigest":12345,"signals":["phy_errors",...],
 *  "complete":true,
 *  "rows":[{"atMs":129,"ports":[["mlx5_0",1,0,0.2,...],...]}],
 *  "verdictCount":1,"problemCount":1,"verdicts":[...],"ended":[...]}
 * time, started and startedMs are wall-clock time; everyMs is the interval between samples; nowMs,
 * timeMs and atMs are of the monotonic clock. timeMs is null if no sample has been judged.
 * portsDigest changes when a port is added or removed, when its watch in /api/v1/ports changes, and
 * when its clearSinceMs becomes null or is no longer null (not when it only changes its value).
 * complete: no row between since_ms and the first listed one is missing. signals names the numbers
 * of a row after device and port. events: the newest 100 after events_after, as in api_events().
 * verdicts: open ones as verdict_json(), at most LIVE_VERDICTS_MAX, by severity and then the last
 * opened first; verdictCount counts all, problemCount those that are at least a warning. ended:
 * ended_verdict_json() of verdicts that ended in the last hour, newest first. */
char *api_live(struct live_cache *, const struct live_input *, const struct live_query *,
	       size_t *ret_len);

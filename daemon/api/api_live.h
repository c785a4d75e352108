/* api_live.h - what is new since somebody asked last: samples, verdicts, events, and which other
 * documents have changed. Pure.
 *
 * Everybody who follows a node asks for the same after each sample, so most of the text is made
 * once and kept. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct diagnosis_report;
struct event_ring;

/* Rows and verdicts in one document: who is further behind reads /api/v1/history. */
#define LIVE_ROWS_MAX	  10
#define LIVE_VERDICTS_MAX 64

struct live_scene {
	const struct diagnosis_report *report; /* NULL: no sample has been judged yet */
	const struct event_ring *events;       /* NULL: none */
	const char *node;		       /* the host's name; NULL = unknown */
	uint64_t now_ms;		       /* of the loop, the clock of samples */
	uint64_t started_unix_ms;	       /* when the daemon began: who sees another
						  time there has missed a restart */
	uint32_t every_ms;		       /* between two samples */
	/* Of the documents; which number it is says nothing. */
	uint64_t devices, resources, attachments, settings, config;
};

struct live_question {
	uint64_t since_ms;     /* timeMs of what is known; 0: nothing, and only the newest row is
				  told */
	uint64_t events_after; /* their generation */
};

/* Is there anything of that? */
bool api_live_any(const struct live_scene *, const struct live_question *);

/* What is kept from one call to the next; zero-initialised it is nothing. */
struct live_cache {
	char *text; /* of rows and verdicts, owned */
	size_t len;
	uint64_t time_ms, since_ms; /* of which report, and what it leaves out */
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
 *  "nVerdicts":1,"verdicts":[...]}
 * startedMs is unix time, everyMs what lies between two samples, the others are of the monotonic
 * clock; timeMs null: no sample has been judged. portsDigest: another one when a port has come or
 * gone, or is watched in another way (watch and clearSinceMs of /api/v1/ports). complete: no row
 * between since_ms and the first one is missing. signals name the numbers that follow device and
 * port. Events are api_events()'s, those after events_after, the newest 100; verdicts
 * verdict_json()'s, of the nVerdicts that are open now the worst, among equals those that were
 * opened last. */
char *api_live(struct live_cache *, const struct live_scene *, const struct live_question *,
	       size_t *ret_len);

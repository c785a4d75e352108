/* SPDX-License-Identifier: Apache-2.0 */
/* sample.h - the contract between the readers of counters (hw/) and their rendering
 * (daemon/metrics).
 *
 * A reading is one number under its unified name. The layout, the set of readings, is built once
 * when the hardware changes; each sample only has new values and states. A thousand devices have
 * tens of thousands of readings, mostly the same for each port: they are iterated, not stored. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model.h"

enum unit {
	UNIT_ONE,	   /* plain integer */
	UNIT_MICROSECONDS, /* published as seconds */
	UNIT_WORDS,	   /* 4-byte words, published as bytes */
	UNIT_PERCENT,	   /* published as ratio 0..1 */
	UNIT_SIGNED,	   /* value is an int64_t */
	UNIT_BITS,	   /* published as bytes */
};

enum metric_type { METRIC_COUNTER, METRIC_GAUGE, METRIC_HISTOGRAM };

/* One family of the metrics page: name, type and help text. Static, from the dictionary. */
struct family {
	const char *name; /* full Prometheus name, counters end in "_total" */
	const char *help; /* one sentence */
	enum metric_type type;
};

/* Source of a number; each has its own age and error series. */
enum source {
	SOURCE_NETLINK, /* RDMA netlink STAT_GET, PORT_GET, RES_GET */
	SOURCE_SYSFS,	/* hw_counters/ and counters/ files */
	SOURCE_ETHTOOL, /* driver statistics */
	SOURCE_PAUSE,	/* ethtool netlink PAUSE_STATS */
	SOURCE_DCB,	/* DCB netlink */
	SOURCE_NETDEV,	/* rtnetlink link statistics */
	N_SOURCES,
};

enum reading_state {
	READING_ABSENT, /* not read, not readable, or not a number: no series, never 0 */
	READING_OK,
};

struct reading {
	const struct family *family;
	uint32_t port; /* index into sample.ports */
	enum unit unit;
	enum reading_state state;
	uint64_t value;
	const char *labels; /* following device and port, already escaped:
			       `direction="sent",priority="3"`; "" = none. Valid as long as the
			       layout */
};

/* A port that is sampled. */
struct sampled_port {
	char device[RDMA_NAME_SIZE];
	uint32_t port;	       /* 0 = the device as a whole: its series have no port label */
	uint64_t resets;       /* number of detected counter resets */
	bool has_moved;	       /* a counter has changed since the port was sampled first */
	char bytes_source[16]; /* which source feeds roce_bytes_total: "ethtool", "netlink",
				  "sysfs", "netdev" or "" */
};

struct source_state {
	bool used;	  /* something is configured to be read from it */
	uint64_t errors;  /* failed reads since start */
	uint64_t read_ms; /* monotonic time of the last successful read, 0 = never */
};

/* Iterator. Zeroed: before the first reading. With `port` and `one_port` set: before the first
 * reading of that port; other ports are skipped. */
struct reading_pos {
	size_t family, port, at;
	bool one_port;
};

/* Advances to the next reading. False at the end. */
typedef bool reading_next_fn(const void *readings, struct reading_pos *, struct reading *ret);

/* One sample of the node. */
struct sample {
	struct sampled_port *ports;
	size_t n_ports;
	/* The readings by family (in order of first name), then port, then labels; NULL = none. */
	reading_next_fn *next;
	const void *readings;
	size_t n_readings;
	struct source_state sources[N_SOURCES];
	uint64_t layout; /* changes whenever the layout of ports or readings was rebuilt */
	uint64_t taken_ms;
};

static inline bool sample_next(const struct sample *s, struct reading_pos *pos, struct reading *ret)
{
	return s->next && s->next(s->readings, pos, ret);
}

const char *source_name(enum source);

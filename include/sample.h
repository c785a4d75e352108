/* sample.h - the contract between what reads counters (hw/) and what renders them
 * (daemon/metrics).
 *
 * A reading is one number under its unified name. The set of readings is laid out once, when the
 * hardware changes; each sample only brings other values and states. A thousand devices have tens
 * of thousands of readings, most of them the same for each port: they are walked, not stored. */
#pragma once

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

/* Where a number comes from; each has its own age and error series. */
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
	const char *labels; /* after device and port, already escaped:
			       `direction="sent",priority="3"`; "" = none. Lives as long as the
			       layout */
};

/* A port that is sampled. */
struct sampled_port {
	char device[RDMA_NAME_SIZE];
	uint32_t port;	       /* 0 = the device as a whole: series carry no port label */
	uint64_t resets;       /* times its counters were seen to start over */
	char bytes_source[16]; /* which source feeds roce_bytes_total: "ethtool", "netlink",
				  "sysfs", "netdev" or "" */
};

struct source_state {
	bool used;	  /* something is configured to be read from it */
	uint64_t errors;  /* failed reads since start */
	uint64_t read_ms; /* monotonic time of the last read that delivered something, 0 = never */
};

/* A place among the readings; zeroed it stands before the first, with `port` and `one_port` set
 * before the first of that port, and others are passed over. */
struct reading_pos {
	size_t family, port, at;
	bool one_port;
};

/* Steps to the next reading. False past the end. */
typedef bool reading_next_fn(const void *readings, struct reading_pos *, struct reading *ret);

/* One sample of one node. */
struct sample {
	struct sampled_port *ports;
	size_t n_ports;
	/* The readings by family (in order of first name), then port, then labels; NULL = none. */
	reading_next_fn *next;
	const void *readings;
	size_t n_readings;
	struct source_state sources[N_SOURCES];
	uint64_t layout; /* changes whenever ports or readings were laid out anew */
	uint64_t taken_ms;
};

static inline bool sample_next(const struct sample *s, struct reading_pos *pos, struct reading *ret)
{
	return s->next && s->next(s->readings, pos, ret);
}

const char *source_name(enum source);

/* top_model.h - what `rocectl top` knows of the node's ports: figures of the last minutes, pods,
 * verdicts. Pure: documents in, plain values out. Texts are printable ASCII, whatever was in the
 * documents. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Seconds that are kept: five minutes. */
#define TOP_HISTORY 300

/* NAN is unknown. */
enum top_figure {
	TOP_RECEIVED, /* bytes a second */
	TOP_SENT,
	TOP_PAUSE_RECEIVED, /* share of time, 0 to 1 */
	TOP_PAUSE_SENT,
	TOP_CE,	  /* share of packets marked CE */
	TOP_CNP,  /* a second, received and sent */
	TOP_LOSS, /* a second: discards, packets out of sequence, NAKs and timeouts */
	N_TOP_FIGURES
};

struct top_port {
	char name[96]; /* "mlx5_0/1" */
	char device[80], netdev[24], pod[160], state[16], watch[24];
	double line; /* bytes a second that its link carries; NAN = unknown */
	double now[N_TOP_FIGURES];
	int level; /* of the worst verdict, as in the diagnosis; 0 = none */
	char cause[48], sentence[200];
	float history[TOP_HISTORY]; /* received and sent, the most of each second; second s is at
				     * s % TOP_HISTORY; NAN = unknown */
	uint64_t second;	    /* the newest of them */
	bool seen;
};

/* Zero-initialised it is empty; ports are owned. */
struct top_model {
	struct top_port *ports;
	size_t n_ports;
	json_int_t time_ms;	/* of the newest sample, CLOCK_MONOTONIC; 0 = there is none */
	json_int_t apart_ms[2]; /* how far the last samples were apart; 0 = unknown */
	char time[32];
};

/* What /api/v1/ports and /api/v1/diagnosis say now; either may be NULL. -ENOMEM. */
int top_model_update(struct top_model *, const json_t *ports, const json_t *diagnosis);
/* The past of a port, of /api/v1/history, beside what is known of it. */
void top_model_past(struct top_model *, const json_t *history);
void top_model_done(struct top_model *);

/* For how long there has been no new sample, once that is longer than it should be; else 0. */
uint64_t top_silence_ms(const struct top_model *, uint64_t now_ms);

/* Of what its link carries in the busier direction, 0 to 1; NAN = unknown. */
double top_use(const struct top_port *);
/* Received and sent, bytes a second, so many seconds before the newest sample; NAN: unknown. */
double top_second(const struct top_port *, size_t back);

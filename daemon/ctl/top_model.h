/* SPDX-License-Identifier: Apache-2.0 */
/* top_model.h - the data of `rocectl top`: pod, verdict and rates of each port, and its last five
 * minutes. Pure: documents in, plain values out. Texts are reduced to printable ASCII. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vf_bytes.h"

/* Seconds of history: five minutes. */
#define TOP_HISTORY 300

/* NAN = unknown. */
enum top_figure {
	TOP_RECEIVED, /* bytes per second */
	TOP_SENT,
	TOP_PAUSE_RECEIVED, /* share of time, 0 to 1 */
	TOP_PAUSE_SENT,
	TOP_CE,	  /* share of packets marked CE */
	TOP_CNP,  /* per second, received and sent */
	TOP_LOSS, /* per second: discards and packets out of sequence */
	TOP_RETR, /* per second: NAKs and timeouts, after which packets are sent again */
	N_TOP_FIGURES
};

#define TOP_WIRE 2

struct top_port {
	char name[96]; /* "mlx5_0/1" */
	json_int_t number;
	char device[80], netdev[24], pod[160], state[16], watch[24];
	char function[80], parent[80]; /* parent: a VF's PF; "" = none */
	/* Does the PF's byte counter include its VFs? */
	enum vf_bytes vf_bytes;
	double line; /* link rate in bytes per second; NAN = unknown */
	double now[N_TOP_FIGURES];
	bool least[N_TOP_FIGURES]; /* only some of the figure's signals are known */
	double wire[TOP_WIRE];	   /* received and sent; of a PF with its VFs */
	/* Level of the port's worst trouble, the first in `troubles` of /api/v1/ports; 0 = none.
	 * The members down to more_pods describe that trouble. */
	int level;
	char kind[16]; /* "verdict", "device", "link", ... */
	bool of_pf;    /* it is a verdict on the port of its PF, and affects the pod */
	char cause[48], sentence[200];
	json_int_t onset_ms; /* CLOCK_MONOTONIC; 0 = unknown */
	bool before_start;   /* the fault existed before it was first judged */
	char pods[200];	     /* that the verdict concerns; "" = none */
	char first_pod[160]; /* the first of them, and the number of the others */
	json_int_t more_pods;
	/* A trouble of at least a warning that is no verdict, even if a verdict is worse: the link
	 * is down; the device or its attachment is unhealthy. */
	bool is_down, is_unhealthy;
	float history[TOP_HISTORY]; /* received + sent of second s at s % TOP_HISTORY, or NAN */
	uint64_t second;	    /* the newest second in history */
	bool seen;		    /* in the current update; ports that are not seen are removed */
};

/* All zero: empty. Owns the ports. */
struct top_model {
	struct top_port *ports;
	size_t n_ports;
	json_int_t time_ms;	/* time of the newest sample, CLOCK_MONOTONIC; 0 = none */
	json_int_t apart_ms[2]; /* the last two sampling intervals; 0 = unknown */
	/* Verdicts by severity, without symptoms. Problems are those of warning or worse, as in
	 * `rocectl status` and on the page. */
	size_t critical, warnings, information;
	size_t ports_down; /* ports of pods that are down, without a verdict that explains it */
	size_t unhealthy;  /* ports whose device or attachment is unhealthy, also if they have a
			      verdict */
	bool judged;	   /* at least one port is judged or down */
	char time[32];
	char node[80], version[32]; /* of the daemon; "" = unknown */
	int64_t up_s;		    /* the daemon's uptime at up_at_ms; -1 = unknown */
	uint64_t up_at_ms;
};

/* Updates from the documents of /api/v1/ports and /api/v1/diagnosis; either may be NULL.
 * -ENOMEM. */
int top_model_update(struct top_model *, const json_t *ports, const json_t *diagnosis);
/* Updates from the document of /api/v1 (NULL: unknown), received at now_ms (CLOCK_MONOTONIC). */
void top_model_identity(struct top_model *, const json_t *index, uint64_t now_ms);
/* Adds a port's history from a document of /api/v1/history. */
void top_model_past(struct top_model *, const json_t *history);
void top_model_done(struct top_model *);

/* Time since the newest sample if the next one is overdue; else 0. */
uint64_t top_silence_ms(const struct top_model *, uint64_t now_ms);

/* Names of the signals of /api/v1/ports whose sum is this figure: TOP_CNP, TOP_LOSS, TOP_RETR. The
 * page sums the same ones (daemon/web/model.js). */
const char *const *top_parts(enum top_figure, size_t *ret_n);
/* A sum over ports. It is a lower bound if a port's figure is unknown or is one, or if it is
 * unknown whether a PF's counter includes its VFs. */
struct top_sum {
	double value; /* NAN = unknown for all ports */
	bool least;
	size_t unseen; /* number of ports whose figure is unknown */
};

/* Sums a figure over the n ports in `order`. VFs are not added if their PF's counter includes them.
 */
struct top_sum top_total(const struct top_model *, const size_t *order, size_t n, enum top_figure);
/* Utilization of the link in the busier direction, 0 to 1; NAN = unknown. */
double top_use(const struct top_port *);
/* Seconds since the port's worst trouble began; -1 = unknown, or it has none. */
int64_t top_trouble_age(const struct top_model *, const struct top_port *);
/* Bytes received plus sent per second, `back` seconds before the newest sample; NAN = unknown. */
double top_second(const struct top_port *, size_t back);

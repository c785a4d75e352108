/* SPDX-License-Identifier: Apache-2.0 */
/* network_answer.h - is it the network? One sentence about a pod, from the conditions of its
 * devices. Pure.
 *
 * "yes" needs a fault of the network of at least a warning. "no" needs every port of the pod's
 * devices to be judged, and no evidence that is doubtful. All else is "unknown". */
#pragma once

#include "condition.h"

enum network_word { NETWORK_UNKNOWN, NETWORK_NO, NETWORK_YES, N_NETWORK_WORDS };

const char *network_word_name(enum network_word); /* "unknown", "no", "yes" */

#define NETWORK_ANSWER_SIZE  1024
#define NETWORK_UNJUDGED_MAX 16

/* What the devices of a pod show, collected; all zero: no device. */
struct network_answer {
	size_t n_devices, n_ports, n_judged, n_clear;
	/* The worst trouble of each side that decides, and its device. */
	struct network_fault {
		bool is_set;
		struct trouble trouble;
		char device[DEV_ID_SIZE];
	} network, doubt, other;
	size_t more; /* further faults of the network */
	/* The first device whose ports are not all judged, and how its first port is watched (NULL:
	 * it has none). */
	bool has_unjudged;
	char unjudged[DEV_ID_SIZE];
	const char *watch;
	/* What could not be decided on them, each cause with each reason once. */
	struct network_unjudged {
		struct undecided what;
		size_t n_devices;
		char device[DEV_ID_SIZE]; /* the first one */
	} blind[NETWORK_UNJUDGED_MAX];
	size_t n_blind;
};

/* Adds a device of the pod. device: its RDMA device, or its ID. */
void network_answer_add(struct network_answer *, const char *device, const struct condition *);
/* Writes the sentence, which ends without a full stop; "no" names what could not be judged: "Yes:
 * mlx5_3: the link went down (link_flap, critical) since 2026-01-02T03:04:05Z". */
enum network_word network_answer_text(const struct network_answer *, char *ret, size_t size);

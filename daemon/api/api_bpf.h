/* SPDX-License-Identifier: Apache-2.0 */
/* api_bpf.h - the document of /api/v1/config: the active configuration, and the state of its BPF
 * programs and ports. Pure. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "packet_sample.h"

struct api_bpf_program {
	const char *name;
	const char *hook;  /* "none": not loaded */
	const char *error; /* why it is not loaded; NULL or "" = unknown */
};

/* All pointers are borrowed. All zero: BPF is not in use. */
struct api_bpf {
	bool on;
	const struct api_bpf_program *programs;
	size_t n_programs;
	const struct packet_port *ports;
	size_t n_ports;
	uint64_t memory_budget; /* bytes */
};

/* config_json with an additional member "bpf", which is null without BPF:
 * {"programs":[{"name":"netdev_moves","hook":"kprobe","error":null}],
 *  "ports":[{"netdev":"net1","netns":"cni-1234","nsid":3,"device":"rxe0","port":1,
 *   "function":"0000:03:00.2","role":"pod","hook":"tcx","flows":4096,"memory":1400000,
 *   "error":null}],
 *  "memory":1400000,"memoryBudget":33554432}
 * Heap, terminated; NULL if out of memory or if config_json is not a JSON object. */
char *api_config(const char *config_json, const struct api_bpf *, size_t *ret_len);

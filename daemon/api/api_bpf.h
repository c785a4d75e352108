/* api_bpf.h - the document of /api/v1/config: the configuration in use, and what became of what it
 * says of BPF. Pure. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "packet_sample.h"

struct api_bpf_program {
	const char *name;
	const char *hook;  /* "none": not loaded */
	const char *error; /* why; NULL or "" = none known */
};

/* Everything is borrowed. Zero-initialised: there is no BPF here. */
struct api_bpf {
	bool on;
	const struct api_bpf_program *programs;
	size_t n_programs;
	const struct packet_port *ports;
	size_t n_ports;
	uint64_t memory_budget; /* bytes */
};

/* The configuration with one member more, "bpf"; null without BPF:
 * {"programs":[{"name":"netdev_moves","hook":"kprobe","error":null}],
 *  "ports":[{"netdev":"net1","netns":"cni-1234","nsid":3,"device":"rxe0","port":1,
 *   "function":"0000:03:00.2","role":"pod","hook":"tcx","flows":4096,"memory":1400000,
 *   "error":null}],
 *  "memory":1400000,"memoryBudget":33554432}
 * Heap, terminated; NULL: out of memory, or the configuration is no JSON object. */
char *api_config(const char *config_json, const struct api_bpf *, size_t *ret_len);

/* SPDX-License-Identifier: Apache-2.0 */
/* cni_ipam.h - runs a network's IPAM plugin for CHECK, GC and STATUS (specification, section 4).
 * ADD and DEL run it as a part of attach and return (daemon/attach/operation.h). A plugin without
 * the command is not an error: containernetworking/plugins have no GC and STATUS, and whereabouts'
 * CHECK always fails. */
#pragma once

#include "cni.h"
#include "engine.h"

/* Runs the plugin of the record's plan with CHECK or GC. Returns 1: calls fn later, with the
 * plugin's error or code 0; 0: nothing to run (no plugin, or a CHECK without prevResult); negative
 * errno: the plugin cannot be started. */
int cni_ipam_run(struct attach_engine *, enum ipam_verb, const struct attach_record *,
		 const struct cni_request *, attach_request_fn *fn, void *arg, struct err *);
/* Makes the record of a network for GC and STATUS, without an attachment. False: the network has no
 * IPAM plugin, or a configuration that ADD rejects. */
bool cni_ipam_network(struct attach_record *ret, const struct cni_request *);

/* Cached results of STATUS. Runtimes send STATUS often and block on it, and plugins are slow: each
 * call returns the result of the previous run, and starts a new run unless one is in progress. */
struct cni_ipam_cache;

/* Creates an empty cache; NULL: out of memory. */
struct cni_ipam_cache *cni_ipam_cache_new(struct attach_engine *);
/* Frees the cache; close the engine before. May be NULL. */
void cni_ipam_cache_free(struct cni_ipam_cache *);
/* Returns 0, or the error of the last run; starts a new run. */
int cni_ipam_status(struct cni_ipam_cache *, const struct attach_record *network, struct err *);

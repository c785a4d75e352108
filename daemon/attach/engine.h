/* SPDX-License-Identifier: Apache-2.0 */
/* engine.h - attaches devices to pods and returns them: one struct attachment for each device that
 * is in a pod or in transit.
 *
 * Whenever an input may have changed (the inventory, the kubelet's list, the runtime's list, a
 * PreStartContainer request, the end of a step), the engine decides again what to do (decide.h).
 * Worker threads do the work: at most four operations at a time, one per device (steps.h). At the
 * start, the engine first reads the journal, finds every recorded device and begins repairs;
 * nothing is advertised to the kubelet before that. */
#pragma once

#include "attach_status.h"
#include "event.h"
#include "holders.h"
#include "inventory.h"
#include "ipam.h"
#include "pod_devices.h"
#include "pools.h"
#include "steps.h"

struct uv_loop_s;
struct attach_engine;
struct attach_ops;

struct attach_engine_opts {
	const char *state_dir; /* copied */
	struct ipam_host ipam; /* its folders must outlive the engine */
	struct holders *holders;
	bool dry_run;	       /* logs the actions without executing them */
	uint32_t cni_add_ms;   /* time limit of a CNI ADD; 0 = CNI_ADD_ATTACH_MS */
	uint32_t cni_early_ms; /* until an ADD's device is free and granted; 0 = CNI_EARLY_MS */
	uint32_t cni_wait_ms;  /* of a CNI DEL or CHECK; 0 = CNI_WAIT_MS */
	const struct attach_ops *ops; /* NULL: the real ones (attach_ops.h) */
};

struct attach_hooks {
	/* attach_engine_list() has changed, or the engine became ready. */
	void (*changed)(void *arg);
	void (*event)(const struct event *, void *arg);
	/* Called with true when devices begin to be attached or returned, with false when none is
	 * in transit any more. May be NULL. */
	void (*moving)(bool, void *arg);
	void *arg;
};

/* hw, inventory and holders must outlive the engine. If the journal cannot be written, this is
 * reported and no device is attached; devices in pods are still returned. */
int attach_engine_open(struct attach_engine **ret, struct uv_loop_s *, const struct hw *,
		       const struct inventory *, const struct attach_engine_opts *,
		       const struct attach_hooks *, struct err *);
/* Call when any input may have changed. The engine decides in the next iteration of the loop. */
void attach_engine_inputs_changed(struct attach_engine *);
/* Call when the device plugin has decided which devices to offer, or has allocated a device. The
 * pools are borrowed until the next call; NULL: unknown. */
void attach_engine_offer(struct attach_engine *, const struct pools *);
/* The pools that attach_engine_offer() was called with last; NULL: unknown. */
const struct pools *attach_engine_pools(const struct attach_engine *);
/* True once the journal was read, every recorded device was searched for, and repairs have
 * begun. */
bool attach_engine_is_ready(const struct attach_engine *);
/* The engine may be NULL. Completes running returns, except for their IPAM plugins; other
 * operations stop after the current step. Answers all waiting requests, and removes the records of
 * free devices. The engine is freed when the loop has no handles left. */
void attach_engine_close(struct attach_engine *);

/* --- the gate --------------------------------------------------------------------------------- */

struct attach_gate;

/* code 0: all devices are in their pod. Otherwise the message is for the pod's status. */
typedef void attach_gate_fn(const struct err *, void *arg);

/* Handles a PreStartContainer request for these devices of a resource. fn is called exactly once,
 * possibly before this function returns (then *ret is NULL): with success as soon as the devices
 * are attached to their current pod; with an error if that is impossible, or after the pool's
 * timeout. Returns 0 or -ENOMEM. */
int attach_engine_gate(struct attach_engine *, struct attach_gate **ret, const char *resource,
		       struct id_list ids, attach_gate_fn *, void *arg);
/* Cancels the request: fn is not called. The gate may be NULL. */
void attach_gate_cancel(struct attach_gate *);

/* --- admin requests --------------------------------------------------------------------------- */

typedef void attach_request_fn(const struct err *, void *arg);

/* Attaches a function with this plan (DOOR_ADMIN) to the namespace owner.netns.path; if that is "",
 * to the namespace of the running pod owner.namespace/owner.pod. Waits up to a few seconds for the
 * journal and the runtime. fn is called exactly once, never before this returns. Errors are
 * returned here or, if it had to wait, passed to fn: -EBUSY: the device is in use; -ENODEV: no such
 * function; -ENOENT: no such pod; -EAGAIN: the wait timed out; -ENOMEM. */
int attach_engine_attach(struct attach_engine *, const char *function, const struct attach_owner *,
			 const struct net_plan *, attach_request_fn *, void *arg, struct err *);
/* Returns a device that an admin request has attached or, with force, any attached device. -ENOENT:
 * it is not attached. */
int attach_engine_detach(struct attach_engine *, const char *function, bool force,
			 attach_request_fn *, void *arg, struct err *);
/* Implements doctor --fix: retries every bad device at once, returns orphans, checks every
 * attachment and repairs drift. */
void attach_engine_fix(struct attach_engine *);

/* --- requests of CNI plugins (daemon/cni) -------------------------------------------------------
 *
 * An attachment is identified by (owner.sandbox, plan.ifname): the container's ID and its
 * interface. */

/* Is the client still waiting for the answer? */
typedef bool attach_wanted_fn(void *arg);

/* Like attach_engine_attach(), for DOOR_CNI. Also waits up to a few seconds until the kubelet's
 * list shows whether the device was granted to owner's pod, and until a returning device is free.
 * If the client disconnects or the attach takes too long (-ETIMEDOUT), the attach is undone.
 * Additional errors: -EBADF: not a namespace, or the host's; -EEXIST: the container already has an
 * interface of that name. */
int attach_engine_cni_add(struct attach_engine *, const char *function, const struct attach_owner *,
			  const struct net_plan *, attach_wanted_fn *, attach_request_fn *,
			  void *arg, struct err *);
/* Returns the attachment, if it exists. fn is called exactly once, never before this returns. Code
 * 0 also if the return needs long or fails at first: the engine retries it. -EAGAIN: the
 * attachments are not known yet. fn NULL: the caller does not wait. */
int attach_engine_cni_del(struct attach_engine *, const char *container, const char *ifname,
			  attach_request_fn *fn, void *arg, struct err *);
/* Compares the attachment with its plan; afterwards attach_engine_cni_find() has the drift.
 * -ENOENT: no such attachment; -ESTALE: it is returning, or its interface is not in the namespace;
 * -EBADF: the namespace was removed; -ENODEV: the function was removed from the bus. fn is called
 * exactly once, never before this returns. */
int attach_engine_cni_check(struct attach_engine *, const char *container, const char *ifname,
			    attach_request_fn *fn, void *arg, struct err *);
/* The current state; borrowed until the next iteration of the loop. NULL: no such attachment. */
const struct attach_status *attach_engine_cni_find(const struct attach_engine *,
						   const char *container, const char *ifname);
/* Iterates over the attachments of a network; *at starts at 0. NULL: no more. */
const struct attach_record *attach_engine_cni_next(const struct attach_engine *,
						   const char *network, size_t *at);
/* Runs the IPAM plugin of the record's plan with CHECK, GC or STATUS. more: additional members of
 * its configuration, NULL: none. fn is called exactly once, never before this returns. -EOPNOTSUPP:
 * the plugin does not support the command; -ECANCELED: rocelet is stopping. */
int attach_engine_cni_ipam(struct attach_engine *, enum ipam_verb, const struct attach_record *,
			   const struct json_t *more, attach_request_fn *fn, void *arg,
			   struct err *);
/* The IPAM plugin's result of ADD for that attachment; borrowed. NULL: no result, or rocelet was
 * restarted since. */
const char *attach_engine_cni_ipam_answer(const struct attach_engine *, const char *container,
					  const char *ifname);
/* Returns 0 if devices can be attached. -EROFS: they cannot (dry run, the start is not complete, no
 * journal, parts of the host are hidden); the message has the reason. */
int attach_engine_cni_status(const struct attach_engine *, struct err *);

/* --- status ----------------------------------------------------------------------------------- */

/* The published attachments, sorted by function, then resource and ID; borrowed until the next
 * `changed` hook has returned, or the engine is closed. An attachment in state free is a failed
 * attach; it is retried after a pause, when the kubelet requests it, or when its sandbox or plan
 * changes. */
size_t attach_engine_list(const struct attach_engine *, const struct attach_status **ret);
/* Returns the attachment of a function of an exclusive pool. NULL: the function is free. */
const struct attach_status *attach_engine_find(const struct attach_engine *, const char *function);
/* May the function be allocated to a container?
 *    ATTACH_LEAVING  it is still in a pod that no longer owns it, or it is returning. It will be
 *                    clean, and PreStartContainer waits for that.
 *    ATTACH_UNFIT    it was attached without a grant of the kubelet, it has no RDMA device in its
 *                    pod any more, or it could not be cleaned. */
enum attach_fitness { ATTACH_FIT, ATTACH_LEAVING, ATTACH_UNFIT };
enum attach_fitness attach_engine_fitness(const struct attach_engine *, const char *function);

void attach_engine_counters(const struct attach_engine *, struct attach_counters *ret);

/* engine.h - every attachment of this node: one struct for each device on its way or in a pod.
 *
 * Decides (desired.h, reconcile.h) whenever something may have changed: the inventory, the
 * kubelet's list, the runtime's list, a question at the gate, a finished step. Works on a worker
 * thread, one operation for a device at a time and four in all (steps.h). On start: reads the
 * journal, finds every device, repairs; only then the kubelet is told anything. */
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
	struct ipam_host ipam; /* what it points to must outlive the engine */
	struct holders *holders;
	bool dry_run;		      /* says what it would do, does nothing */
	const struct attach_ops *ops; /* NULL: the real ones (attach_ops.h) */
};

struct attach_hooks {
	/* attach_engine_list() has changed, or the engine became ready. */
	void (*changed)(void *arg);
	void (*event)(const struct event *, void *arg);
	void *arg;
};

/* hw, inventory and holders must outlive it. A journal that cannot be written is told; then nothing
 * is attached, and what is away is still returned. */
int attach_engine_open(struct attach_engine **ret, struct uv_loop_s *, const struct hw *,
		       const struct inventory *, const struct attach_engine_opts *,
		       const struct attach_hooks *, struct err *);
/* Something may have changed: decides soon. */
void attach_engine_look(struct attach_engine *);
/* The device plugin has decided what is offered, or given something away: decides soon. The pools
 * are borrowed until the next call; NULL: nobody knows them. */
void attach_engine_offer(struct attach_engine *, const struct pools *);
/* The journal is read, every device in it was looked for, and repairs have begun. */
bool attach_engine_is_ready(const struct attach_engine *);
/* NULL is fine. Returns that have begun are finished, unless a plugin has to be asked; what else is
 * under way up to its next step. Waiters are told, and records of free devices removed. Gone
 * when the loop has run out of handles. */
void attach_engine_close(struct attach_engine *);

/* --- the gate --------------------------------------------------------------------------------- */

struct attach_gate;

/* code 0: all devices are in their pod. Otherwise the sentence is for the pod's status. */
typedef void attach_gate_fn(const struct err *, void *arg);

/* PreStartContainer asks for these devices of a resource. fn is called exactly once, possibly from
 * within (then *ret is NULL): at once when they are attached to the pod that holds them now, or as
 * soon as they are; with an error when that cannot be, or after the pool's time-out. -ENOMEM. */
int attach_engine_gate(struct attach_engine *, struct attach_gate **ret, const char *resource,
		       struct id_list ids, attach_gate_fn *, void *arg);
/* Nobody waits any more; fn is not called. NULL is fine. */
void attach_gate_cancel(struct attach_gate *);

/* --- orders of a person ------------------------------------------------------------------------
 */

typedef void attach_order_fn(const struct err *, void *arg);

/* Attaches a function as the plan says (DOOR_ADMIN), to the namespace of owner.netns.path, or ""
 * to that of the running pod owner.namespace/owner.pod. fn exactly once, never from within. Waits
 * for the journal to be read and the runtime to answer, some seconds at most. What is wrong is
 * returned or, after such a wait, told: -EBUSY: it is somebody's; -ENODEV: no such function;
 * -ENOENT: no such pod; -EAGAIN: in vain; -ENOMEM. */
int attach_engine_attach(struct attach_engine *, const char *function, const struct attach_owner *,
			 const struct net_plan *, attach_order_fn *, void *arg, struct err *);
/* Returns it, whoever has it (force), or only what a person attached. -ENOENT: it is not attached.
 */
int attach_engine_detach(struct attach_engine *, const char *function, bool force,
			 attach_order_fn *, void *arg, struct err *);
/* What doctor --fix does: tries every BAD device again at once, returns orphans, checks every
 * attachment and sets right what differs. */
void attach_engine_fix(struct attach_engine *);

/* --- what others see ---------------------------------------------------------------------------
 */

/* Sorted by function, then resource and ID; borrowed until the next `changed` has returned, or the
 * engine is closed. Those of state free could not be attached, and are not tried again until the
 * kubelet asks or something changes. */
size_t attach_engine_list(const struct attach_engine *, const struct attach_status **ret);
/* NULL: it is free. Exclusive pools: by function. */
const struct attach_status *attach_engine_find(const struct attach_engine *, const char *function);
/* May a function be given to a container? One that is leaving is still in a pod that does not hold
 * it any more, or on its way back from one: it will be clean, and the gate waits for that. Unfit is
 * what a person has attached, and what could not be cleaned. */
enum attach_fitness { ATTACH_FIT, ATTACH_LEAVING, ATTACH_UNFIT };
enum attach_fitness attach_engine_fitness(const struct attach_engine *, const char *function);

void attach_engine_counters(const struct attach_engine *, struct attach_counters *ret);

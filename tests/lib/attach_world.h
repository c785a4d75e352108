/* SPDX-License-Identifier: Apache-2.0 */
/* attach_world.h - a simulated node for the attach engine: VFs, namespaces, a kubelet, a runtime
 * and a journal, all controlled by the test. Steps run on real workers and may fail or wait; the
 * simulation asserts that a device has one owner at a time. All functions assert success. */
#pragma once

#include <pthread.h>
#include <uv.h>

#include "attach_ops.h"
#include "engine.h"
#include "lock.h"

#define WORLD_VFS	 8
#define WORLD_NAMESPACES 256
#define WORLD_ROCE	 "rocelet.dev/roce"
/* The pool's timeoutMs. */
#define WORLD_TIMEOUT_MS 400

/* WORLD_IPAM_PROGRAM: runs the script of world_plugin(). The others are simulated without a
 * process. */
enum world_ipam {
	WORLD_IPAM_PROGRAM,
	WORLD_IPAM_WORKS,
	WORLD_IPAM_FAILS,
	WORLD_IPAM_HANGS,
	WORLD_IPAM_IS_GONE,
};

/* An address allocated for a device, and how often its release failed. */
struct world_lease {
	bool held;
	char sandbox[SANDBOX_ID_SIZE];
	unsigned n_refused;
};

struct world_device {
	char function[DEV_ID_SIZE];
	uint64_t ns;		  /* 0 = the host */
	bool marked, dirty;	  /* has our alias; its settings differ from the original ones */
	bool settled;		  /* its attach was completed */
	bool taken_out;		  /* removed from its pod by an administrator */
	uint16_t vlan, home_vlan; /* current VLAN, and the one that the administrator has set */
	uint8_t traces;		  /* residual state of its pod, as bits */
	bool upper;		  /* an interface on top of it */
	/* Name of the netdev in its pod, "" = the one that we set; and how often its index has
	 * changed. */
	char called[IFNAMSIZ];
	unsigned renumbered;
	struct world_lease lease;
	struct attach_record record; /* the journal's record */
	bool rewriting; /* the record was lost, and the engine will write it to the new journal */
	bool bad;	/* the record's file is unreadable */
	bool busy;	/* a step is working on it */
	/* As in reservations: time of Allocate, and since when a container waits (0 = unknown). */
	uint64_t reserved_ms, start_ms;
};

struct world {
	uv_loop_t loop;
	/* The kubelet's checkpoint; and the device node for new soft-RoCE devices, "" = the lowest
	 * free one. */
	struct granted_list granted;
	char number[CHARDEV_NAME_SIZE];
	char *dir; /* IPAM plugins */
	struct hw hw;
	struct inventory inventory;
	struct pool_config config;
	struct pools pools;
	struct attach_engine *engine;
	bool view_known; /* the device plugin has decided */
	bool moving;	 /* as reported by the engine */
	unsigned n_moving;

	/* The actual lists (kubelet, runtime), and those that the engine has seen (held, shown). */
	struct pod_list kubelet, held;
	struct sandbox_list runtime, shown;
	bool kubelet_dead, runtime_dead;
	uv_timer_t kubelet_timer;
	unsigned pods_asked;
	uint64_t sandboxes_asked_ms; /* when the kubelet was queried about a new sandbox */
	int64_t clock_set_ns;	     /* how far the wall clock was set */

	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct world_device devices[WORLD_VFS];
	bool alive[WORLD_NAMESPACES]; /* namespace i is "/ns/i" */
	/* Its pod runs, so its completed attachments must not be returned. */
	bool entitled[WORLD_NAMESPACES];
	bool moved[WORLD_NAMESPACES];  /* moved to "/moved/i": only a search finds it */
	bool in_use[WORLD_NAMESPACES]; /* a process is in it */
	/* The runtime's list is another runtime's and lacks all of our sandboxes; or a proxy's,
	 * which lacks those of odd namespaces and reports the others as not ready. */
	bool runtime_lies, runtime_halves;
	bool blind; /* searches cannot read all processes */
	unsigned n_searches;
	bool dim; /* some state of netdevs cannot be read */
	enum world_ipam ipam;
	struct lock state_lock; /* the daemon's */
	bool hidden;		/* the engine's container does not see the host */
	uint64_t n_namespaces;
	/* Inodes of the namespaces: like the kernel, a new one gets the lowest free number. */
	uint64_t ino[WORLD_NAMESPACES];
	char boot[BOOT_ID_SIZE];				/* the node's current boot */
	int fail_in[N_ATTACH_STEPS], fail_back[N_RETURN_STEPS]; /* errors of steps; 0 = success */
	unsigned n_fail_back; /* steps of returns fail this often, then succeed; 0 = always fail */
	int fail_check;	      /* error of every check */
	int fail_journal;     /* error of opening the journal */
	uint32_t cni_add_ms, cni_early_ms, cni_wait_ms; /* of attach_engine_opts */
	int fail_probe;					/* error of the journal's write test */
	unsigned n_probed;
	bool journal_gone;	   /* its folder was removed, and not opened again yet */
	unsigned n_journal_opened; /* tried */
	unsigned drift;		   /* found by every check */
	bool hold;		   /* steps wait */
	unsigned n_stuck;	   /* steps of the first n_stuck devices wait */
	unsigned n_inside, n_inside_max, n_checks, n_repairs, n_announced;

	struct event events[128]; /* the first events */
	unsigned n_events, n_changed;
};

/* Only one can exist, because the engine's steps have no argument for it. network: of the pool, as
 * JSON. */
struct world *world_new(const char *network, bool dry_run);
void world_open(struct world *, bool dry_run);
/* Closes everything and asserts that the loop is empty. */
void world_close(struct world *);
/* Replaces the daemon by a new one, which has no list of the node or its allocations until it
 * has scanned and queried. */
void world_restart(struct world *);
void world_free(struct world *);

/* The wall clock, which the runtime uses for creation times of sandboxes. */
#define WORLD_EPOCH_NS INT64_C(1700000000000000000)
int64_t world_clock_ns(const struct world *);

/* Creates a pod's sandbox with its own namespace; returns the namespace. networks: the annotation,
 * or NULL. */
uint64_t world_add_sandbox(struct world *, const char *pod, const char *networks);
/* Ends a sandbox: its processes exit, and the runtime lists it as not ready. world_remove_sandbox()
 * removes it from the list. */
void world_end_sandbox(struct world *, uint64_t ns);
void world_remove_sandbox(struct world *, uint64_t ns);
/* Ends the namespace: its netdevs move to the host unchanged. */
void world_end_namespace(struct world *, uint64_t ns);
/* world_hold() allocates VF i to a pod in the kubelet's list; pod "": only reserved. The time of
 * the allocation is unknown, as for one before the daemon's start, unless world_reserve() sets it.
 * world_unhold() frees the VF. */
void world_hold(struct world *, unsigned i, const char *pod);
void world_reserve(struct world *, unsigned i);
void world_unhold(struct world *, unsigned i);

/* Pass the current lists of the kubelet, the runtime and the inventory to the engine. */
void world_show_pods(struct world *);
void world_show_sandboxes(struct world *);
void world_show_devices(struct world *);
void world_show_all(struct world *);
/* The device plugin passes its offer to the engine, if view_known. */
void world_offer(struct world *);

const char *world_vf(unsigned i);
unsigned world_vf_of(const struct world *, const char *function);
/* The engine's state of VF i; ATTACH_FREE if it has none. */
enum attach_state world_state(const struct world *, unsigned i);
/* Run the loop until the condition is true; fail after a generous timeout. */
void world_until_state(struct world *, unsigned i, enum attach_state);
void world_until_ready(struct world *);
void world_until_events(struct world *, const char *reason, unsigned n);
unsigned world_events(const struct world *, const char *reason);
/* The last event message with that reason, "" = none. */
const char *world_message(const struct world *, const char *reason);
/* Lets waiting steps continue. */
void world_let_go(struct world *);
bool world_is_clean(struct world *);
/* Runs the loop until nothing has changed for a few iterations. */
void world_settle(struct world *);

/* One request at the gate, or an admin request. */
struct world_gate {
	struct attach_gate *gate;
	struct world *w;
	unsigned i, answers; /* answers: calls of the callback */
	struct err err;
};
void world_ask(struct world *, struct world_gate *, unsigned i);
/* Notes that a container starts or stops waiting for its start, as world_ask() does. */
void world_note_start(struct world *, unsigned i, bool waits);
/* Callback for a test's own requests to the engine; arg is a struct world_gate. */
void world_on_answer(const struct err *, void *arg);
void world_until_answered(struct world *, struct world_gate *);

/* attach_world.h - a node for the attach engine: VFs, namespaces, a kubelet, a runtime and a
 * journal that do what a test says. The steps run on real workers and may fail or wait; what they
 * do is checked: a device has one owner at a time. Everything asserts that it works. */
#pragma once

#include <pthread.h>
#include <uv.h>

#include "attach_ops.h"
#include "engine.h"
#include "lock.h"

#define WORLD_VFS	 8
#define WORLD_NAMESPACES 256
#define WORLD_ROCE	 "rocelet.dev/roce"
/* Its timeoutMs. */
#define WORLD_TIMEOUT_MS 400

/* WORLD_IPAM_PROGRAM: world_plugin(); the others are none, and quick. */
enum world_ipam {
	WORLD_IPAM_PROGRAM,
	WORLD_IPAM_WORKS,
	WORLD_IPAM_FAILS,
	WORLD_IPAM_HANGS,
	WORLD_IPAM_IS_GONE,
};

/* An address that was given for a device; and how often it was not taken back. */
struct world_lease {
	bool held;
	char sandbox[SANDBOX_ID_SIZE];
	unsigned n_refused;
};

struct world_device {
	char function[DEV_ID_SIZE];
	uint64_t ns;		  /* 0 = the host */
	bool marked, dirty;	  /* bears our mark; settings are not as they were */
	bool settled;		  /* was attached to the end */
	bool taken_out;		  /* by an administrator, of where it was attached to */
	uint16_t vlan, home_vlan; /* set through its PF now, and by its administrator */
	uint8_t traces;		  /* what its pod has left on the netdev, as bits */
	bool upper;		  /* an interface on top of it */
	/* What its pod calls its netdev, "" = as we do; and how often that got another index. */
	char called[IFNAMSIZ];
	unsigned renumbered;
	struct world_lease lease;
	struct attach_record record; /* the journal's */
	bool bad;		     /* its file cannot be read */
	bool busy;		     /* somebody works on it */
	/* As reservations have them: of Allocate, and since when a container waits (0 = unknown).
	 */
	uint64_t reserved_ms, start_ms;
};

struct world {
	uv_loop_t loop;
	/* The kubelet's checkpoint; and the node of each soft-RoCE device that is made, "" = the
	 * lowest that is not taken. */
	struct granted_list granted;
	char number[CHARDEV_NAME_SIZE];
	char *dir; /* IPAM plugins */
	struct hw hw;
	struct inventory inventory;
	struct pool_config config;
	struct pools pools;
	struct attach_engine *engine;
	bool view_known; /* the device plugin has decided */

	/* What is, and what the engine is shown of it. */
	struct pod_list kubelet, held;
	struct sandbox_list runtime, shown;
	bool kubelet_dead, runtime_dead;
	uv_timer_t kubelet_timer;
	unsigned pods_asked;
	uint64_t whose_ms;    /* when the kubelet was asked about a new sandbox */
	int64_t clock_set_ns; /* the wall clock was set by that much */

	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct world_device devices[WORLD_VFS];
	bool alive[WORLD_NAMESPACES]; /* namespace i is "/ns/i" */
	/* Its pod runs, and what is settled in it may not be taken away. */
	bool entitled[WORLD_NAMESPACES];
	bool moved[WORLD_NAMESPACES];  /* only a search finds it, at "/moved/i" */
	bool in_use[WORLD_NAMESPACES]; /* a process is in it */
	/* The runtime's list is another's: it lacks all of ours; or a proxy's: those of odd
	 * namespaces, and it calls the others not ready. */
	bool runtime_lies, runtime_halves;
	bool blind; /* a search does not see everything */
	unsigned n_searches;
	bool dim; /* not all of a netdev can be looked at */
	enum world_ipam ipam;
	struct lock state_lock; /* the daemon's */
	bool hidden;		/* the host cannot be seen from where the engine runs */
	uint64_t n_namespaces;
	/* Inodes of the namespaces: the kernel gives a new one the lowest that is free. */
	uint64_t ino[WORLD_NAMESPACES];
	char boot[BOOT_ID_SIZE];				/* which the node is in */
	int fail_in[N_ATTACH_STEPS], fail_back[N_RETURN_STEPS]; /* 0 = it works */
	unsigned n_fail_back;	   /* times that steps back fail, then they work; 0 = always */
	int fail_check;		   /* of every check */
	int fail_journal;	   /* of opening it */
	bool journal_gone;	   /* its folder was removed; until it is opened */
	unsigned n_journal_opened; /* tried */
	unsigned drift;		   /* found by every check */
	bool hold;		   /* steps wait */
	unsigned n_stuck;	   /* so do those of so many devices, the first ones */
	unsigned n_inside, n_inside_max, n_checks, n_repairs, n_announced;

	struct event events[128]; /* the first ones */
	unsigned n_events, n_changed;
};

/* The world is one: the engine's steps know no argument of ours. network: of the pool, as JSON. */
struct world *world_new(const char *network, bool dry_run);
void world_open(struct world *, bool dry_run);
/* Everything is closed and nothing is left in the loop. */
void world_close(struct world *);
/* The daemon ends and another one starts, which knows nothing of the node and of who holds what
 * before it has looked and asked. */
void world_restart(struct world *);
void world_free(struct world *);

/* The wall clock, by which the runtime tells when a sandbox was made. */
#define WORLD_EPOCH_NS INT64_C(1700000000000000000)
int64_t world_clock_ns(const struct world *);

/* A pod's sandbox with a namespace of its own; returns that. networks: the annotation or NULL. */
uint64_t world_add_sandbox(struct world *, const char *pod, const char *networks);
/* The same, which ends: as the runtime, the kernel and the kubelet tell. Its processes end with it,
 * and it is listed as not ready; then it is removed, and not listed any more. */
void world_end_sandbox(struct world *, uint64_t ns);
void world_remove_sandbox(struct world *, uint64_t ns);
/* The netdevs in it go to the host, as they are. */
void world_end_namespace(struct world *, uint64_t ns);
/* The kubelet gives VF i away, says to whom, and forgets it. pod "": only reserved. When it was
 * given away is not known, as of what was before the daemon started, but after world_reserve(). */
void world_hold(struct world *, unsigned i, const char *pod);
void world_reserve(struct world *, unsigned i);
void world_unhold(struct world *, unsigned i);

/* The engine is told: by the kubelet, the runtime, the inventory. */
void world_show_pods(struct world *);
void world_show_sandboxes(struct world *);
void world_show_devices(struct world *);
void world_show_all(struct world *);
/* The device plugin tells what is offered, if view_known. */
void world_offer(struct world *);

const char *world_vf(unsigned i);
unsigned world_vf_of(const struct world *, const char *function);
/* As the engine says; ATTACH_FREE: it does not know of it. */
enum attach_state world_state(const struct world *, unsigned i);
/* Within a generous limit. */
void world_until_state(struct world *, unsigned i, enum attach_state);
void world_until_ready(struct world *);
void world_until_events(struct world *, const char *reason, unsigned n);
unsigned world_events(const struct world *, const char *reason);
/* The last message of that reason, "" = none. */
const char *world_message(const struct world *, const char *reason);
/* The steps that wait go on. */
void world_let_go(struct world *);
bool world_is_clean(struct world *);
/* Nothing is on its way and no event comes for a few turns of the loop. */
void world_settle(struct world *);

/* One question at the gate, or an order. */
struct world_gate {
	struct attach_gate *gate;
	struct world *w;
	unsigned i, told;
	struct err err;
};
void world_ask(struct world *, struct world_gate *, unsigned i);
/* A container waits to be started, or does not any more: as world_ask() does it. */
void world_note_start(struct world *, unsigned i, bool waits);
/* The answer to what a test asks the engine by itself; arg is a struct world_gate. */
void world_tell(const struct err *, void *arg);
void world_until_told(struct world *, struct world_gate *);

/* SPDX-License-Identifier: Apache-2.0 */
/* daemon.h - the daemon's complete state, for the files that compose it: loop.c (start and stop),
 * modules.c, the ..._wiring.c (each part's start and stop) and reload.c (the configuration).
 * Private to them: modules get only the parts they need. */
#pragma once

#include <uv.h>

#include "bpf_tally.h"
#include "bucket.h"
#include "capabilities.h"
#include "confinement.h"
#include "event_ring.h"
#include "hand_over.h"
#include "http_wiring.h"
#include "hw.h"
#include "job_watch.h"
#include "lock.h"
#include "loop.h"
#include "node_lock.h"
#include "packet_plan.h"
#include "plugin_sandbox.h"
#include "pool_config.h"
#include "pools_lost.h"
#include "port_events.h"
#include "qp_ports.h"
#include "readiness.h"
#include "routes.h"
#include "self_counters.h"
#include "self_metrics.h"
#include "timer.h"

/* The file that a configuration is from. */
struct config_source {
	uint64_t digest; /* 0 = none */
	char group[CONFIG_GROUP_SIZE];
	bool has_groups;
};

struct daemon {
	const struct launch *launch;
	const struct options *options; /* borrowed from the launch */
	uv_loop_t loop;
	struct hw hw;
	struct lock state_lock, run_lock;
	struct node_lock node_lock;
	/* Our pod, that of the predecessor that handed the node to us, and that of the successor to
	 * which we hand it. */
	char own_pod[HAND_OVER_POD_SIZE], predecessor[HAND_OVER_POD_SIZE],
		successor[HAND_OVER_POD_SIZE];
	bool asked_predecessor;
	bool hands_over;	/* stopping for a successor */
	bool holds;		/* an edit with a loss waits for the pods */
	struct timer hand_over; /* delays the stop until the answer has been sent */
	/* The kubelet sockets and connections: from a predecessor at the start, for a successor at
	 * the end. */
	struct kubelet_sockets at_kubelet;
	int successor_fd; /* socket on which a predecessor sends them; -1 = not open */
	struct self_counters self;
	uint64_t start_unix_ms;
	char host_name[65]; /* the host's name */
	char confinement[CONFINEMENT_SIZE];
	char *config_json;
	size_t n_pools; /* of the configuration in use */
	struct config_state config;
	uint64_t config_checked_ms;  /* loop time of the last config_checks_again() */
	struct config_source source; /* of the configuration in use */
	struct pool_loss loss;	     /* what the last edit would take from this node */
	struct thresholds limits;    /* of the diagnosis, from the configuration in use */
	struct missing_capability
		missing[MISSING_CAPABILITIES_MAX]; /* capabilities that the configuration
					     needs and we lack; logged */
	const char *optional[OPTION_LIST_MAX];

	uv_signal_t sigint, sigterm, sighup;
	struct job_watch job_watch;
	struct routes routes;
	struct http *http;
	struct http_wiring http_wiring;
	struct node *node;
	struct link_events *links;
	struct uevents *kernel_uevents, *udev_uevents;
	struct bpf_source *bpf;
	struct api_bpf_program bpf_programs[SELF_PROGRAMS_MAX]; /* for the API */
	struct packet_ports *packet_ports;			/* NULL: packets are not counted */
	struct packet_plan packet_plan;
	bool watches_packets; /* packets are counted or, in a dry run, would be */
	bool page_counts;     /* the devices had been scanned when the current sample was started */
	struct bpf_tally bpf_tally;
	struct netns_exits netns_exits;
	struct bucket bpf_event_rate, bpf_cm_event_rate; /* rate limits for publishing its events */
	struct sampler *sampler;
	struct settings_watch *settings;
	struct holders *holders;
	struct resources *resources;
	struct attach_engine *engine; /* NULL: devices are not attached by this daemon */
	struct cni_door *cni;	      /* exists together with the engine */
	struct cni_left *cni_left;    /* NULL: files with DELs are not processed */
	/* Paths hidden from IPAM plugins, NULL-terminated; the folder of the runtime's socket. */
	const char *hidden[PLUGIN_SANDBOX_HIDDEN_MAX + 1];
	char runtime_folder[OPTION_TEXT_SIZE];
	struct event_ring events;
	struct event_watch *event_watch;
	struct sample_watch *sample_watch;
	struct counters_watch *counters_watch;
	struct live_watch *live_watch;
	struct owners *owners;
	struct qps *qps;	  /* NULL: queue pairs are unknown */
	struct qp_ports qp_ports; /* built at this generation of the table, and at this time */
	uint64_t qp_ports_generation, qp_ports_ns;
	struct config_watch *config_watch;
	struct features *features;   /* NULL: no file is written for Node Feature Discovery */
	struct err features_error;   /* of its last write; code 0: none */
	struct dir_watch *dev_watch; /* /dev/infiniband */
	uint64_t page_wanted_ms;     /* last request for the metrics page; 0 = none */
	struct not_ready {
		uint64_t since_ms;	   /* loop time; 0 = it is ready */
		uint64_t told_ms;	   /* of the last event */
		char told[READINESS_TEXT]; /* its text, "" = none */
	} not_ready;
};

struct module {
	const char *name;
	bool optional; /* if it fails to start, that is logged, and the daemon runs without it */
	int (*start)(struct daemon *, struct err *);
	void (*stop)(struct daemon *);
};

/* --- loop.c ----------------------------------------------------------------------------------- */

/* Locks the run folder again if the folder was replaced. Errors of lock_take(). */
int loop_lock_run_folder(struct daemon *, struct err *);

/* --- http_wiring.c ---------------------------------------------------------------------------- */

int http_start(struct daemon *, struct err *);
void http_stop(struct daemon *);

/* --- attach_wiring.c -------------------------------------------------------------------------- */

int holders_start(struct daemon *, struct err *);
void holders_stop(struct daemon *);
int engine_start(struct daemon *, struct err *);
void engine_stop(struct daemon *);
int resources_start(struct daemon *, struct err *);
void resources_stop(struct daemon *);
/* A sample of that loop time was judged, so status files for pods may be written. */
void attach_wiring_sampled(struct daemon *, uint64_t sample_ms);
/* Do pods need the counters, for their status files? */
bool attach_wiring_wants_counters(void *arg);
/* Fills in the attach engine's part of the page. */
void attach_wiring_describe(const struct daemon *, struct self_metrics *);

/* --- qp_wiring.c ------------------------------------------------------------------------------ */

int sample_watch_start(struct daemon *, struct err *);
void sample_watch_stop(struct daemon *);
bool diagnosis_wiring_wants_line(void *arg);
void diagnosis_wiring_line(const char *line, void *arg);
struct port_counters_set;
struct port_name;
int counters_watch_start(struct daemon *, struct err *);
void counters_watch_stop(struct daemon *);
size_t diagnosis_wiring_wants_ports(struct port_name *ret, void *arg);
void diagnosis_wiring_ports_read(const struct port_counters_set *, void *arg);
int live_watch_start(struct daemon *, struct err *);
void live_watch_stop(struct daemon *);
int event_watch_start(struct daemon *, struct err *);
void event_watch_stop(struct daemon *);
int owners_start(struct daemon *, struct err *);
void owners_stop(struct daemon *);
int qps_start(struct daemon *, struct err *);
void qps_stop(struct daemon *);
/* Fills in the queue pairs' part of the page. */
void qp_wiring_describe(struct daemon *, struct self_metrics *);
/* For the sampler; arg is the daemon. */
const struct qp_ports *qp_wiring_ports(void *arg);
/* Adds the event to the ring and the log, and wakes waiting clients. */
void daemon_event(struct daemon *, const struct event *);

/* --- packet_wiring.c -------------------------------------------------------------------------- */

struct packet_view;

int packets_start(struct daemon *, struct err *);
void packets_stop(struct daemon *);
/* Call when the inventory or the attachments have changed. */
void packet_wiring_update(struct daemon *);
/* For the sampler; arg is the daemon. */
struct packet_view *packet_wiring_view(void *arg);

/* --- diagnosis_wiring.c ----------------------------------------------------------------------- */

struct diagnosis_report;

/* For the sampler; arg is the daemon. */
void diagnosis_wiring_publish(const struct diagnosis_report *, void *arg);

/* --- features_wiring.c ----------------------------------------------------------------------- */

int features_start(struct daemon *, struct err *);
void features_stop(struct daemon *);

/* --- ready_wiring.c --------------------------------------------------------------------------- */

/* Call with each sample. */
void ready_wiring_check(struct daemon *, uint64_t now_ms);

/* --- config_checks.c -------------------------------------------------------------------------- */

/* Call when another configuration is in use; its readers have logged what is missing. */
void config_checks_begin(struct daemon *);
/* Call with each sample. */
void config_checks_again(struct daemon *, uint64_t now_ms);

/* --- bpf_wiring.c ---------------------------------------------------------------------------- */

int bpf_start(struct daemon *, struct err *);
void bpf_stop(struct daemon *);
/* Decides which programs to load; call when the inventory has changed, and from time to time. */
void bpf_wiring_update(struct daemon *);
/* Fills in the programs' part of the page. */
void bpf_wiring_describe(struct daemon *, struct self_metrics *);

/* In the order of their start. */
extern const struct module modules[];
extern const size_t n_modules;

/* Uses these resources, of which it takes ownership, and limits of the diagnosis from now on. */
int reload_use(struct daemon *, struct pool_config *, const struct thresholds *,
	       const struct config_source *, struct err *);
/* Call when the allocations have changed: reads the file again if it was held and need not be any
 * more. */
void reload_held(struct daemon *);
/* The configuration was wrong at the start: nothing is offered until it is corrected. */
void reload_refused(struct daemon *, const struct err *);
/* Reads the configuration again; if it is wrong, logs that and keeps the one in use. */
void reload_now(struct daemon *);

/* SPDX-License-Identifier: Apache-2.0 */
/* daemon.h - the daemon's complete state, for the files that compose it: loop.c (start and stop),
 * modules.c, the ..._wiring.c (each part's start and stop) and reload.c (the configuration).
 * Private to them: modules get only the parts they need. */
#pragma once

#include <uv.h>

#include "bpf_tally.h"
#include "bucket.h"
#include "capabilities.h"
#include "config_beside.h"
#include "config_file.h"
#include "event_ring.h"
#include "hand_over.h"
#include "http_wiring.h"
#include "hw.h"
#include "job.h"
#include "job_watch.h"
#include "lock.h"
#include "loop.h"
#include "missing_plugins.h"
#include "node_lock.h"
#include "packet_plan.h"
#include "plugin_sandbox.h"
#include "pool_config.h"
#include "pools_lost.h"
#include "port_events.h"
#include "privileges.h"
#include "qp_ports.h"
#include "readiness.h"
#include "routes.h"
#include "self_counters.h"
#include "self_metrics.h"
#include "timer.h"

/* The source file of a configuration. */
struct config_source {
	uint64_t digest; /* 0 = none */
	char group[CONFIG_GROUP_SIZE];
	bool can_match;
};

/* The state of config_checks.c: the searches on a worker. */
struct config_checks {
	struct job job;
	bool is_old;		     /* another configuration is in use since the job has started */
	uint64_t checked_ms;	     /* loop time of the last start */
	struct pool_plugin *plugins; /* of the configuration in use; owned */
	size_t n_plugins;
	bool of_folder; /* there is no configuration file: its folder is searched */
	/* Result of the job. */
	int result;
	struct missing_plugin *lacks;
	size_t n_lacks;
	char beside[CONFIG_BESIDE_SIZE];
};

struct config_read;

struct daemon {
	const struct launch *launch;
	const struct options *options; /* borrowed from the launch */
	uv_loop_t loop;
	struct hw hw;
	struct lock state_lock, run_lock;
	struct node_lock node_lock;
	/* The pods of this daemon, of the predecessor that handed the node over to us, and of the
	 * successor. */
	char own_pod[HAND_OVER_POD_SIZE], predecessor[HAND_OVER_POD_SIZE],
		successor[HAND_OVER_POD_SIZE];
	bool requested_node;	/* from the predecessor, which has answered */
	bool hands_over;	/* stopping for a successor */
	bool holds;		/* an edit that would remove a pool's devices waits for the pods */
	bool keeps_config;	/* config_keep.c writes the last good configuration */
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
	struct config_checks config_checks;
	struct config_read *config_read; /* the read in progress, on a worker; NULL: none */
	struct config_file keep_next;	 /* written after keeps_config; no text: nothing is */
	struct config_source source;	 /* of the configuration in use */
	struct pool_loss loss;		 /* the devices that the last edit would remove from a
					  * pool on this node */
	struct thresholds limits;	 /* of the diagnosis, from the configuration in use */
	struct missing_capability
		missing[MISSING_CAPABILITIES_MAX]; /* capabilities that the configuration needs and
						      we do not have; already logged */
	const char *optional[OPTION_LIST_MAX];

	uv_signal_t sigint, sigterm, sighup;
	struct job_watch job_watch;
	struct timer quiet; /* expires when nothing has happened for a while (quiet.c) */
	struct routes routes;
	struct http *http;
	struct http_wiring http_wiring;
	struct node *node;
	struct link_events *links;
	struct uevents *kernel_uevents, *udev_uevents;
	struct bpf_source *bpf;
	struct api_bpf_program bpf_programs[SELF_PROGRAMS_MAX]; /* descriptions for the API */
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
	struct cni_left *cni_left;    /* NULL: the DELs in files are not executed */
	/* Paths hidden from IPAM plugins, NULL-terminated; the folder of the runtime's socket. */
	const char *hidden[PLUGIN_SANDBOX_HIDDEN_MAX + 1];
	char runtime_folder[OPTION_TEXT_SIZE];
	struct event_ring events;
	struct event_watch *event_watch;
	struct sample_watch *sample_watch;
	struct counters_watch *counters_watch;
	struct live_watch *live_watch;
	struct owners *owners;
	struct qps *qps;      /* NULL: queue pairs are unknown */
	struct err qps_error; /* why they are not read; code 0: they are */
	struct qp_ports
		qp_ports; /* built at the generation of the table and the time that follow */
	uint64_t qp_ports_generation, qp_ports_ns;
	struct config_watch *config_watch;
	struct features *features;   /* NULL: no file is written for Node Feature Discovery */
	struct err features_error;   /* of its last write; code 0: none */
	struct dir_watch *dev_watch; /* /dev/infiniband */
	uint64_t page_wanted_ms;     /* last request for the metrics page; 0 = none */
	struct not_ready {
		uint64_t since_ms;	       /* loop time; 0 = it is ready */
		uint64_t reported_ms;	       /* time of the last event */
		char reported[READINESS_TEXT]; /* text of the last event, "" = none */
	} not_ready;
};

struct module {
	const char *name;
	bool optional; /* if its start fails, this is logged, and the daemon runs without the module
			*/
	int (*start)(struct daemon *, struct err *);
	void (*stop)(struct daemon *);
};

/* --- loop.c ----------------------------------------------------------------------------------- */

/* Locks the run folder again if the folder was replaced. Errors of lock_take(). */
int loop_lock_run_folder(struct daemon *, struct err *);

/* --- quiet.c ---------------------------------------------------------------------------------- */

int quiet_start(struct daemon *, struct err *);
void quiet_stop(struct daemon *);
/* Postpones the release of memory. Call when something has happened that needs memory or code that
 * is not used otherwise. */
void quiet_later(struct daemon *);

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
/* Writes status files for pods. Call when the sample of that loop time was judged. */
void attach_wiring_sampled(struct daemon *, uint64_t sample_ms);
/* True if pods need the counters for their status files. */
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
/* Returns the current queue pairs by port, for the sampler; arg is the daemon. */
const struct qp_ports *qp_wiring_ports(void *arg);
/* Adds the event to the ring and the log, and wakes waiting clients. */
void daemon_event(struct daemon *, const struct event *);

/* --- packet_wiring.c -------------------------------------------------------------------------- */

struct packet_view;

int packets_start(struct daemon *, struct err *);
void packets_stop(struct daemon *);
/* Decides which interfaces to count. Call when the inventory or the attachments have changed. */
void packet_wiring_update(struct daemon *);
/* Returns the current packet counters, for the sampler; arg is the daemon. */
struct packet_view *packet_wiring_view(void *arg);

/* --- diagnosis_wiring.c ----------------------------------------------------------------------- */

struct diagnosis_report;

/* Publishes the report of a sample; called by the sampler, arg is the daemon. */
void diagnosis_wiring_publish(const struct diagnosis_report *, void *arg);
/* Updates the readiness. Call with each sample. */
void ready_wiring_check(struct daemon *, uint64_t now_ms);

/* --- features_wiring.c ----------------------------------------------------------------------- */

int features_start(struct daemon *, struct err *);
void features_stop(struct daemon *);

/* --- config_keep.c ---------------------------------------------------------------------------- */

/* Keeps the text as the last good configuration, unless there is none, or a part of it is not in
 * use. Takes the text. */
void config_keep(struct daemon *, struct config_file *);
/* Removes it if the next start needs none: the file is correct, and no pod has a device. Call when
 * the daemon stops, before its resources. */
void config_keep_end(struct daemon *);

/* --- config_checks.c -------------------------------------------------------------------------- */

/* Starts the checks of another configuration. Call when it is in use. */
void config_checks_begin(struct daemon *);
/* Repeats the checks if they are due. Call with each sample. */
void config_checks_again(struct daemon *, uint64_t now_ms);
/* Frees the state. Call when the resources are closed. */
void config_checks_done(struct daemon *);

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

/* Makes these resources and limits of the diagnosis the current ones. Takes ownership of the
 * resources. */
int reload_use(struct daemon *, struct pool_config *, const struct thresholds *,
	       const struct config_source *, struct err *);
/* Reads the file again if its edit waited for pods and can be applied now. Call when the
 * allocations have changed. */
void reload_held(struct daemon *);
/* Reports that the configuration was wrong at the start: nothing is offered until it is corrected.
 */
void reload_refused(struct daemon *, const struct err *);
/* Publishes and logs an event about the configuration. */
void reload_report(struct daemon *, const char *reason, const char *sentence);
/* Reads the configuration again, on a worker; if it is wrong, logs that and keeps the current
 * configuration. */
void reload_now(struct daemon *);

/* daemon.h - the whole daemon's state, for the files that compose it: loop.c (order), modules.c,
 * the ..._wing.c (each part's start and stop) and reload.c (the configuration). For nobody else:
 * modules get the parts they need. */
#pragma once

#include <uv.h>

#include "bpf_tally.h"
#include "bucket.h"
#include "cage.h"
#include "capabilities.h"
#include "due.h"
#include "event_ring.h"
#include "hand_over.h"
#include "http_wing.h"
#include "hw.h"
#include "job_watch.h"
#include "lock.h"
#include "loop.h"
#include "node_lock.h"
#include "packet_plan.h"
#include "pool_config.h"
#include "port_events.h"
#include "qp_ports.h"
#include "routes.h"
#include "self_counters.h"
#include "self_metrics.h"

struct daemon {
	const struct launch *launch;
	const struct options *options; /* the launch's */
	uv_loop_t loop;
	struct hw hw;
	struct lock state_lock, run_lock;
	struct node_lock node_lock;
	/* Our pod, the one from which we took the node over, and the one to which we give it. */
	char own_pod[HAND_OVER_POD_SIZE], predecessor[HAND_OVER_POD_SIZE],
		successor[HAND_OVER_POD_SIZE];
	bool asked_predecessor;
	bool hands_over;      /* stopping for a successor */
	struct due hand_over; /* the stop, when the answer is on its way */
	/* What a predecessor has left, at the start; what is left to a successor, at the end. */
	struct kubelet_estate at_kubelet;
	int heir_fd; /* where a predecessor leaves it; -1 = nowhere */
	struct self_counters self;
	uint64_t start_unix_ms;
	char host_name[65]; /* the host's name */
	char *config_json;
	size_t n_pools; /* of the configuration in use */
	struct config_state config;
	struct thresholds limits; /* of the diagnosis, as the configuration in use says */
	struct capability_lack lacks[CAPABILITY_LACKS_MAX]; /* of what it asks; told */
	const char *optional[OPTION_LIST_MAX];

	uv_signal_t sigint, sigterm, sighup;
	struct job_watch job_watch;
	struct routes routes;
	struct http *http;
	struct http_wing http_wing;
	struct node *node;
	struct link_events *links;
	struct uevents *kernel_uevents, *udev_uevents;
	struct bpf_source *bpf;
	struct api_bpf_program bpf_programs[SELF_PROGRAMS_MAX]; /* as the API shows them */
	struct packet_ports *packet_ports;			/* NULL: no packets are counted */
	struct packet_plan packet_plan;
	bool watches_packets; /* or, in a dry run, would */
	struct bpf_tally bpf_tally;
	struct netns_exits netns_exits;
	struct bucket bpf_told, bpf_told_cm; /* how many of its events may still be told */
	struct sampler *sampler;
	struct settings_watch *settings;
	struct holders *holders;
	struct resources *resources;
	struct attach_engine *engine; /* NULL: nothing is attached here */
	/* What IPAM plugins do not see, ended by NULL; the folder of the runtime's socket. */
	const char *hidden[CAGE_HIDDEN_MAX + 1];
	char runtime_folder[OPTION_TEXT_SIZE];
	struct event_ring events;
	struct event_watch *event_watch;
	struct sample_watch *sample_watch;
	struct live_watch *live_watch;
	struct owners *owners;
	struct qps *qps;	  /* NULL: nobody knows the queue pairs */
	struct qp_ports qp_ports; /* of this generation of the table, and as it was then */
	uint64_t qp_ports_generation, qp_ports_ns;
	struct config_watch *config_watch;
	struct dir_watch *dev_watch; /* /dev/infiniband */
	bool page_counts; /* the sample that is being taken is of devices we have looked for */
};

struct module {
	const char *name;
	bool optional; /* the daemon runs without it, and says so */
	int (*start)(struct daemon *, struct err *);
	void (*stop)(struct daemon *);
};

/* --- loop.c -----------------------------------------------------------------------------------
 */

/* Takes the lock of the run folder anew if that is another one than it was. Errors of lock_take().
 */
int loop_lock_run_folder(struct daemon *, struct err *);

/* --- http_wing.c: one of the modules -----------------------------------------------------------
 */

int http_start(struct daemon *, struct err *);
void http_stop(struct daemon *);

/* --- vf_wing.c: three of the modules ---------------------------------------------------------- */

int holders_start(struct daemon *, struct err *);
void holders_stop(struct daemon *);
int engine_start(struct daemon *, struct err *);
void engine_stop(struct daemon *);
int resources_start(struct daemon *, struct err *);
void resources_stop(struct daemon *);
/* A sample of that loop time was judged: pods may be told. */
void vf_wing_sampled(struct daemon *, uint64_t sample_ms);
/* Pods are told what their devices count. */
bool vf_wing_wants_counters(void *arg);
/* The attach engine's part of the page. */
void vf_wing_describe(const struct daemon *, struct self_metrics *);

/* --- qp_wing.c: three more ----------------------------------------------------------------------
 */

int sample_watch_start(struct daemon *, struct err *);
void sample_watch_stop(struct daemon *);
bool diagnosis_wing_wants_line(void *arg);
void diagnosis_wing_line(const char *line, void *arg);
int live_watch_start(struct daemon *, struct err *);
void live_watch_stop(struct daemon *);
int event_watch_start(struct daemon *, struct err *);
void event_watch_stop(struct daemon *);
int owners_start(struct daemon *, struct err *);
void owners_stop(struct daemon *);
int qps_start(struct daemon *, struct err *);
void qps_stop(struct daemon *);
/* The queue pairs' part of the page. */
void qp_wing_describe(struct daemon *, struct self_metrics *);
/* For the sampler; arg is the daemon. */
const struct qp_ports *qp_wing_ports(void *arg);
/* Into the ring, the log, and to those who wait for it. */
void daemon_event(struct daemon *, const struct event *);

/* --- packet_wing.c: another one --------------------------------------------------------------- */

struct packet_view;

int packets_start(struct daemon *, struct err *);
void packets_stop(struct daemon *);
/* The inventory, or what is attached to pods, has changed. */
void packet_wing_look(struct daemon *);
/* For the sampler; arg is the daemon. */
struct packet_view *packet_wing_view(void *arg);

/* --- diagnosis_wing.c ---------------------------------------------------------------------------
 */

struct diagnosis_report;

/* For the sampler; arg is the daemon. */
void diagnosis_wing_tell(const struct diagnosis_report *, void *arg);

/* --- bpf_wing.c: and one more ----------------------------------------------------------------- */

int bpf_start(struct daemon *, struct err *);
void bpf_stop(struct daemon *);
/* The inventory has changed, or time has passed: which programs should there be? */
void bpf_wing_look(struct daemon *);
/* The programs' part of the page. */
void bpf_wing_describe(struct daemon *, struct self_metrics *);

/* In the order of their start. */
extern const struct module modules[];
extern const size_t n_modules;

/* Puts these resources, which it takes over, and limits of the diagnosis into use. */
int reload_use(struct daemon *, struct pool_config *, const struct thresholds *, struct err *);
/* The file was wrong at the start: nothing is offered until it is right. */
void reload_refused(struct daemon *, const struct err *);
/* Reads the configuration anew; what is wrong with it is told in the log, and the one in use stays.
 */
void reload_now(struct daemon *);

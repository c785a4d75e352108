/* SPDX-License-Identifier: Apache-2.0 */
/* routes.h - answers requests with the document of their path. Pure: reads state that other modules
 * keep up to date through the pointers in struct routes; no clock, no I/O. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "admin_request.h"
#include "api_bpf.h"
#include "api_qps.h"
#include "attach_status.h"
#include "http.h"
#include "job_status.h"

struct condition_sources;
struct missing_capability;
struct config_state;
struct counters_watch;
struct diagnosis_report;
struct event_ring;
struct event_watch;
struct inventory;
struct live_watch;
struct report_reader;
struct resource_table;
struct sample_watch;
struct self_counters;
struct settings_table;

/* Reports the end of a request; code 0: it succeeded. */
typedef void admin_done_fn(const struct err *, void *done_arg);

/* Carries out admin requests. A hook with `done` returns 0 and calls it exactly once, never from
 * within; or it returns a negative errno with its message, and does not call it. All NULL: admin
 * requests are not possible. */
struct admin_hooks {
	/* If owner.netns.path of the request is "", the hook finds the namespace of the request's
	 * pod. */
	int (*attach)(const char *function, const struct admin_request *, admin_done_fn *done,
		      void *done_arg, struct err *, void *arg);
	int (*detach)(const char *function, bool force, admin_done_fn *done, void *done_arg,
		      struct err *, void *arg);
	/* Starts the repairs of doctor's findings that can be repaired; doctor reports their
	 * progress. */
	void (*fix)(void *arg);
	/* Returns the counters that doctor evaluates. */
	void (*counters)(struct attach_counters *ret, void *arg);
	void *arg;
};

/* Hands the node over to a successor daemon; NULL: not supported. Returns 0, and the daemon stops
 * soon, or a negative errno with its message. *ret_pod: "namespace/name" of this daemon's own pod,
 * "" = none; borrowed. */
struct hand_over_hook {
	int (*begin)(const struct attach_owner *successor, const char **ret_pod, struct err *,
		     void *arg);
	void *arg;
};

/* Handles requests of CNI plugins (daemon/cni/cni.h); NULL: this daemon attaches no devices. */
typedef void cni_reply_fn(char *text, void *reply_arg); /* frees text; NULL = no memory */
struct cni_hook {
	/* Handles one request. 1: calls reply exactly once, later; 0: *ret_text is the reply, owned
	 * by the caller, NULL = out of memory. is_wanted: is the client still connected? */
	int (*request)(const char *text, size_t len, cni_reply_fn *reply,
		       bool (*is_wanted)(void *reply_arg), void *reply_arg, char **ret_text,
		       void *arg);
	void *arg;
};
#define ROUTES_CNI_PATH "/api/v1/cni"

/* Access to the table of queue pairs. All NULL: not available. */
struct qp_hooks {
	/* Fills in everything except the host; borrowed until the next iteration of the loop. */
	void (*fill)(struct qp_sources *ret, struct qps_status *ret_status, void *arg);
	/* Reads the data that is only read on request: the flows, and the table if BPF events do
	 * not maintain it. 1: calls done exactly once, later; 0: nothing to wait for. */
	int (*refresh)(void (*done)(uint64_t now_ms, void *done_arg), void *done_arg, void *arg);
	void *arg;
};

/* A deferred request for the metrics page. */
struct page_waiter {
	struct http_deferred *deferred; /* held by http_keep() */
	int format;			/* enum metrics_format */
};

/* All zero, then filled in by daemon/compose. Everything above `devices`, except page_waiters, is
 * borrowed and may change between requests. */
struct routes {
	const struct inventory *inventory;
	const struct resource_table *resources; /* NULL: not decided yet */
	struct page *page;	    /* of the last sample; NULL: none, or not requested recently */
	const char *config_json;    /* the active configuration as JSON */
	uint64_t config_generation; /* changes with config_json */
	const struct config_state *config; /* is the file active? NULL: yes */
	const struct err *guard_error;	   /* why the TCP listener's certificates or passwords are
					      missing or outdated */
	const struct err *port_error;	   /* why the TCP listener is not open */
	const bool *serves_tcp;		   /* NULL: no TCP listener is configured */
	const struct err *features_error;  /* of the file for NFD; NULL: none is written */
	const struct err *socket_error;	   /* of rocelet.sock; NULL: none */
	/* Number of configured resources to register; 0 in a dry run. */
	size_t n_to_register;
	uint64_t (*tls_expires_s)(void); /* unix time at which the listener's certificate expires; 0
					    = none. NULL: none */
	const struct missing_capability *missing; /* missing capabilities */
	size_t n_missing;
	const char *confinement; /* by a security module (privileges.h); NULL or "" = none known */
	bool unprivileged;	 /* --unprivileged: the daemon cannot attach */
	const char *own_pod;	 /* namespace/name of the daemon's pod; NULL or "" = not in a pod */
	/* Fills in the state of BPF; NULL: no BPF. *ret is borrowed until the next iteration of the
	 * loop. */
	void (*report_bpf)(struct api_bpf *ret, void *report_bpf_arg);
	void *report_bpf_arg;
	const struct event_ring *events; /* NULL: none */
	struct event_watch *event_watch; /* NULL: clients cannot wait for events */
	struct qp_hooks qp_hooks;
	const struct diagnosis_report *diagnosis; /* of the last sample; NULL: none yet */
	bool is_sampled;			  /* the first sample has been taken */
	/* Called for each request for the metrics page: renders the following samples for a while,
	 * and takes a sample if there is no page yet. NULL: the page must exist already. */
	void (*want_page)(void *want_page_arg);
	void *want_page_arg;
	struct page_waiter *page_waiters; /* owned, see routes_metrics_done() */
	size_t n_page_waiters;
	/* Reads the report on a worker (report_reader.h); NULL: read it on the loop. */
	void (*read_report)(struct report_reader *, void *read_report_arg);
	void *read_report_arg;
	struct sample_watch *sample_watch;     /* NULL: clients cannot wait for samples */
	struct counters_watch *counters_watch; /* NULL: the counters of a port are not available */
	struct live_watch *live_watch;	       /* NULL: clients cannot wait for changes */
	const struct self_counters *self;      /* NULL: unknown */
	job_list_fn *jobs;		       /* NULL: unknown */
	struct admin_hooks admin;
	struct hand_over_hook hand_over;
	struct cni_hook cni;
	uint64_t epoch_ms;	  /* unix time at the loop's time 0, to convert monotonic times */
	uint64_t started_unix_ms; /* when the daemon started */
	uint32_t every_ms;	  /* interval between samples */
	const char *node;	  /* the host's name; NULL = unknown */
	/* Set both together: a new list has a new generation. */
	struct attach_list attachments;
	uint64_t attachments_generation;
	const struct settings_table *settings; /* NULL: not read */
	uint64_t settings_generation;	       /* a new table has a new generation */

	/* The cached document of /api/v1/devices, and the generations of the inventory, resources,
	 * attachments and settings from which it was made; owned. */
	char *devices;
	size_t devices_len;
	uint64_t devices_generation, devices_resources, devices_attachments, devices_settings;
	bool devices_refused;
};

/* Returns the function named by the parameter "device", which may have any of its names. NULL:
 * there is no parameter, or, with -ENODEV in err, no such device. */
const char *routes_wanted_device(const struct routes *, const struct http_request *, struct err *);
/* -ENOENT with a message: the parameter "pod" names a pod that is certainly not on this node: it
 * has no device and no attachment here, no event is about it, and the runtime does not know it. A
 * request with the parameter "wait" may wait for such a pod. */
int routes_check_pod(const struct routes *, const struct http_request *, struct err *);
/* Fills in the inputs of conditions; to be freed with routes_conditions_done(). -ENOMEM. */
int routes_conditions(const struct routes *, uint64_t now_ms, struct condition_sources *ret);
void routes_conditions_done(struct condition_sources *);
/* An http_handler_fn; arg is the struct routes. */
void routes_answer(const struct http_request *, struct http_reply *, void *routes);
void routes_done(struct routes *);

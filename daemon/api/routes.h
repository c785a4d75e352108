/* routes.h - which document lives under which path. Pure: pointers to what others keep up to date
 * in, bodies out; no clock, no I/O. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "api_bpf.h"
#include "api_qps.h"
#include "attach_status.h"
#include "http.h"
#include "job_status.h"
#include "order.h"

struct capability_lack;
struct config_state;
struct diagnosis_report;
struct event_ring;
struct event_watch;
struct inventory;
struct live_watch;
struct resource_table;
struct sample_watch;
struct settings_table;

/* code 0: done. */
typedef void order_done_fn(const struct err *, void *done_arg);

/* Who carries out what people order. A hook with `done` returns 0 and calls it exactly once, never
 * from within; or a negative errno with its sentence, and never. All NULL: nobody does. */
struct order_hooks {
	/* owner.netns.path "" in the order: the namespace of its pod, which is still to be found.
	 */
	int (*attach)(const char *function, const struct order *, order_done_fn *done,
		      void *done_arg, struct err *, void *arg);
	int (*detach)(const char *function, bool force, order_done_fn *done, void *done_arg,
		      struct err *, void *arg);
	/* Begins to set right what doctor found, as far as that can be done; doctor tells how it
	 * goes. */
	void (*fix)(void *arg);
	/* For doctor. */
	void (*counters)(struct attach_counters *ret, void *arg);
	void *arg;
};

/* Who gives the node to a successor; NULL: nobody does. Returns 0 and stops soon, or a negative
 * errno with its sentence. *ret_pod: "namespace/name" of its own pod, "" = none; borrowed. */
struct hand_over_hook {
	int (*begin)(const struct attach_owner *successor, const char **ret_pod, struct err *,
		     void *arg);
	void *arg;
};

/* Who keeps the table of queue pairs. All NULL: nobody does. */
struct qp_hooks {
	/* What there is, but for the host; borrowed until the loop goes on. */
	void (*look)(struct qp_sources *ret, struct qps_status *ret_status, void *arg);
	/* Reads what is read only when somebody asks: the flows, and the table where no events
	 * come. 1: done is called exactly once, never from within; 0: there is nothing to wait for.
	 */
	int (*refresh)(void (*done)(uint64_t now_ms, void *done_arg), void *done_arg, void *arg);
	void *arg;
};

/* Set up by the composer, zero-initialised before; everything above `devices` is borrowed and may
 * be changed between two requests. */
struct routes {
	const struct inventory *inventory;
	const struct resource_table *resources; /* NULL: not decided yet */
	struct page *page;			/* the last sample's, NULL until there is one */
	const char *config_json;		/* the configuration in use, a JSON document */
	uint64_t config_generation;		/* another one, another number */
	const struct config_state *config;	/* whether the file is that; NULL: it is */
	const struct err *guard_error;	     /* why nothing, or what was right before, guards TCP */
	const struct err *port_error;	     /* why nothing listens there */
	uint64_t (*tls_expires_s)(void);     /* of its certificate; 0 = none. NULL: none */
	const struct capability_lack *lacks; /* what the daemon may not do */
	size_t n_lacks;
	const char *own_pod; /* namespace/name of the daemon's; NULL or "" = it is in none */
	/* What is shown with it; NULL: no BPF. What it tells is borrowed until the next event. */
	void (*tell_bpf)(struct api_bpf *ret, void *tell_bpf_arg);
	void *tell_bpf_arg;
	const struct event_ring *events; /* NULL: none */
	struct event_watch *event_watch; /* NULL: nobody may wait for events */
	struct qp_hooks qp_hooks;
	const struct diagnosis_report *diagnosis; /* of the last sample; NULL: none yet */
	struct sample_watch *sample_watch;	  /* NULL: nobody may wait for samples */
	struct live_watch *live_watch;		  /* NULL: nobody may wait for what is new */
	job_list_fn *jobs;			  /* NULL: unknown */
	struct order_hooks orders;
	struct hand_over_hook hand_over;
	uint64_t epoch_ms;	  /* unix time at the loop's time 0, to tell since when */
	uint64_t started_unix_ms; /* when the daemon began */
	uint32_t every_ms;	  /* between two samples */
	const char *node;	  /* the host's name; NULL = unknown */
	/* To be set together: a new list is another generation. */
	struct attach_list attachments;
	uint64_t attachments_generation;
	const struct settings_table *settings; /* NULL: none were read */
	uint64_t settings_generation;	       /* likewise */

	/* /api/v1/devices of these generations of the inventory, the resources, the attachments
	 * and the settings, owned. */
	char *devices;
	size_t devices_len;
	uint64_t devices_generation, devices_resources, devices_attachments, devices_settings;
};

/* An http_handler_fn; arg is the struct routes. */
void routes_answer(const struct http_request *, struct http_reply *, void *routes);
void routes_done(struct routes *);

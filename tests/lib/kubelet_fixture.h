/* kubelet_fixture.h - a resource with two devices, served to a fake_kubelet.h in the same loop.
 * Everything asserts that it works. */
#pragma once

#include <uv.h>

#include "fake_kubelet.h"
#include "kubelet.h"

#define RESOURCE    "rocelet.dev/roce"
#define SOCKET	    "rocelet.dev_roce.sock"
/* In the legacy registration. */
#define SOCKET_PATH "device-plugins/" SOCKET

extern const struct plugin_device two_devices[2], one_ill[2];

struct kubelet_fixture {
	uv_loop_t loop;
	char *dir; /* the kubelet's */
	struct fake_kubelet fake;
	struct kubelet_opts opts;
	struct plugin_hooks hooks;
	struct kubelet *kubelet;
	struct kubelet_plugin *plugin;
	unsigned swept, allocations; /* how often that was told */
	bool close_when_swept;
	bool (*until)(struct kubelet_fixture *); /* of kubelet_until() */
};

/* The kubelet's folder, empty; opts of the legacy registration; hooks that fail the test when they
 * are asked. The fake kubelet is not started. */
void kubelet_fixture_init(struct kubelet_fixture *);
void kubelet_fixture_make_dir(struct kubelet_fixture *, const char *name);
/* kubelet_open() alone, with the opts; to be closed by the caller, or kept in f->kubelet. */
struct kubelet *kubelet_fixture_open(struct kubelet_fixture *);
/* kubelet_serve() alone, with the hooks; the kubelet owns it. */
struct kubelet_plugin *kubelet_fixture_serve(struct kubelet_fixture *, struct kubelet *);
/* After init: the folders of its registration, and the resource with two_devices. */
void kubelet_fixture_serve_two(struct kubelet_fixture *);
/* The same, in the legacy registration, with a kubelet that knows of it. */
void kubelet_fixture_register(struct kubelet_fixture *);
/* The two above, from init on. */
void kubelet_fixture_start(struct kubelet_fixture *, enum registration);
void kubelet_fixture_start_registered(struct kubelet_fixture *);
/* Closes what is open and asserts that the loop is empty then. */
void kubelet_fixture_stop(struct kubelet_fixture *);

/* Its socket is the plugin's. */
struct plugin_status plugin_status_of(const struct kubelet_plugin *);

/* Runs the loop until one of these, or a function like them, is true; or fails the test. */
#define kubelet_until(f, cond) kubelet_fixture_until(f, cond, #cond)
void kubelet_fixture_until(struct kubelet_fixture *, bool (*)(struct kubelet_fixture *),
			   const char *name);

/* And the kubelet watches, and has a list. */
bool plugin_is_registered(struct kubelet_fixture *);
bool plugin_is_waiting(struct kubelet_fixture *);
bool plugin_has_failed(struct kubelet_fixture *);
/* At SOCKET_PATH. */
bool plugin_has_socket(struct kubelet_fixture *);
bool plugin_has_no_socket(struct kubelet_fixture *);
bool sockets_were_swept(struct kubelet_fixture *);
/* Register, by the plugin; and the kubelet does not watch its list. */
bool register_was_called(struct kubelet_fixture *);
bool watch_has_ended(struct kubelet_fixture *);

/* SPDX-License-Identifier: Apache-2.0 */
/* kubelet_fixture.h - a resource with two devices, served to a fake kubelet (fake_kubelet.h) in the
 * same loop. All functions assert success. */
#pragma once

#include <uv.h>

#include "fake_kubelet.h"
#include "kubelet.h"

#define RESOURCE    "rocelet.dev/roce"
#define SOCKET	    "rocelet.dev_roce.sock"
/* Path in the legacy registration. */
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
	unsigned swept, allocations; /* number of callbacks */
	bool close_when_swept;
	bool (*until)(struct kubelet_fixture *); /* of kubelet_until() */
};

/* Creates the kubelet's folder, empty; options for legacy registration; hooks that fail the test if
 * called. Does not start the fake kubelet. */
void kubelet_fixture_init(struct kubelet_fixture *);
void kubelet_fixture_make_dir(struct kubelet_fixture *, const char *name);
/* Calls kubelet_open() with the options; the caller closes the result, or stores it in
 * f->kubelet. */
struct kubelet *kubelet_fixture_open(struct kubelet_fixture *);
/* Calls kubelet_serve() with the hooks; the kubelet owns the result. */
struct kubelet_plugin *kubelet_fixture_serve(struct kubelet_fixture *, struct kubelet *);
/* After init: creates the folder for its way of registration, and serves a resource with
 * two_devices. */
void kubelet_fixture_serve_two(struct kubelet_fixture *);
/* The same, registered with a started kubelet by legacy registration. */
void kubelet_fixture_register(struct kubelet_fixture *);
/* The two above, including kubelet_fixture_init(). */
void kubelet_fixture_start(struct kubelet_fixture *, enum registration);
void kubelet_fixture_start_registered(struct kubelet_fixture *);
/* Closes everything and asserts that the loop is empty. */
void kubelet_fixture_stop(struct kubelet_fixture *);

/* Its text `socket` is borrowed from the plugin. */
struct plugin_status plugin_status_of(const struct kubelet_plugin *);

/* Runs the loop until a condition, such as the functions below, is true; fails the test on a
 * timeout. */
#define kubelet_until(f, cond) kubelet_fixture_until(f, cond, #cond)
void kubelet_fixture_until(struct kubelet_fixture *, bool (*)(struct kubelet_fixture *),
			   const char *name);

/* Registered, and the kubelet watches and has received a list. */
bool plugin_is_registered(struct kubelet_fixture *);
bool plugin_is_waiting(struct kubelet_fixture *);
bool plugin_has_failed(struct kubelet_fixture *);
/* At SOCKET_PATH. */
bool plugin_has_socket(struct kubelet_fixture *);
bool plugin_has_no_socket(struct kubelet_fixture *);
bool sockets_were_swept(struct kubelet_fixture *);
/* The plugin has called Register; the kubelet no longer watches its list. */
bool register_was_called(struct kubelet_fixture *);
bool watch_has_ended(struct kubelet_fixture *);

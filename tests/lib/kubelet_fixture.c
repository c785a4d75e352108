// SPDX-License-Identifier: Apache-2.0
#include "kubelet_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "cleanup.h"
#include "loop_helpers.h"
#include "tmptree.h"

const struct plugin_device two_devices[2] = {{"0000:03:00.1", true, 1}, {"0000:03:00.2", true, -1}};
const struct plugin_device one_ill[2] = {{"0000:03:00.1", false, 1}, {"0000:03:00.2", true, -1}};

/* --- hooks ----------------------------------------------------------------------------------- */

static void on_swept(void *arg)
{
	struct kubelet_fixture *f = arg;

	f->swept++;
	if (f->close_when_swept)
		kubelet_close(take_ptr(f->kubelet));
}

static void on_allocations(void *arg)
{
	((struct kubelet_fixture *)arg)->allocations++;
}

static void no_allocate(struct plugin_answer *a, const struct id_list *containers, size_t n,
			void *arg)
{
	(void)a, (void)containers, (void)n, (void)arg;
	fail_msg("Allocate was called");
}

static void no_preferred(struct plugin_answer *a, const struct preference_request *containers,
			 size_t n, void *arg)
{
	(void)a, (void)containers, (void)n, (void)arg;
	fail_msg("GetPreferredAllocation was called");
}

static void no_pre_start(struct plugin_answer *a, const struct id_list *ids, void *arg)
{
	(void)a, (void)ids, (void)arg;
	fail_msg("PreStartContainer was called");
}

/* --- life ------------------------------------------------------------------------------------ */

static char home[] = "/dev/shm/rocelet-test-XXXXXX";

static void remove_home(void)
{
	rmdir(home);
}

/* The product watches the folders above, too, so activity there would wake it up: avoid /tmp, which
 * compilers use, and create the folder once per program, because other test programs watch
 * /dev/shm, too. */
static char *quiet_dir(void)
{
	static bool made;
	char *dir = NULL;

	if (!made) {
		if (!mkdtemp(home))
			return tmptree_new();
		made = true;
		atexit(remove_home);
	}
	assert_true(asprintf(&dir, "%s/XXXXXX", home) > 0);
	assert_non_null(mkdtemp(dir));
	return dir;
}

void kubelet_fixture_init(struct kubelet_fixture *f)
{
	*f = (struct kubelet_fixture){
		.dir = quiet_dir(),
		.hooks = {.allocate = no_allocate,
			  .preferred = no_preferred,
			  .pre_start = no_pre_start},
	};
	f->opts = (struct kubelet_opts){.dir = f->dir, .registration = REGISTRATION_LEGACY};
	assert_int_equal(uv_loop_init(&f->loop), 0);
	fake_kubelet_init(&f->fake, &f->loop, f->dir);
}

static char *path_of(const struct kubelet_fixture *f, const char *name)
{
	char *path = NULL;

	assert_true(asprintf(&path, "%s/%s", f->dir, name) > 0);
	return path;
}

void kubelet_fixture_make_dir(struct kubelet_fixture *f, const char *name)
{
	AUTO_FREE char *path = path_of(f, name);

	assert_int_equal(mkdir(path, 0755), 0);
}

struct kubelet *kubelet_fixture_open(struct kubelet_fixture *f)
{
	struct kubelet_hooks hooks = {
		.sockets_swept = on_swept, .allocations_changed = on_allocations, .arg = f};
	struct kubelet *k = NULL;
	struct err e = {0};

	assert_int_equal(kubelet_open(&k, &f->loop, &f->opts, &hooks, &e), 0);
	return k;
}

struct kubelet_plugin *kubelet_fixture_serve(struct kubelet_fixture *f, struct kubelet *k)
{
	struct kubelet_plugin *p = NULL;
	struct err e = {0};

	assert_int_equal(kubelet_serve(&p, k, RESOURCE, &f->hooks, &e), 0);
	return p;
}

void kubelet_fixture_serve_two(struct kubelet_fixture *f)
{
	kubelet_fixture_make_dir(f, "device-plugins");
	if (f->opts.registration == REGISTRATION_REGISTRY)
		kubelet_fixture_make_dir(f, "plugins_registry");
	f->kubelet = kubelet_fixture_open(f);
	f->plugin = kubelet_fixture_serve(f, f->kubelet);
	assert_int_equal(plugin_set_devices(f->plugin, two_devices, 2), 0);
}

void kubelet_fixture_register(struct kubelet_fixture *f)
{
	kubelet_fixture_serve_two(f);
	fake_kubelet_start(&f->fake);
	kubelet_until(f, plugin_is_registered);
}

void kubelet_fixture_start(struct kubelet_fixture *f, enum registration registration)
{
	kubelet_fixture_init(f);
	f->opts.registration = registration;
	kubelet_fixture_serve_two(f);
}

void kubelet_fixture_start_registered(struct kubelet_fixture *f)
{
	kubelet_fixture_init(f);
	kubelet_fixture_register(f);
}

void kubelet_fixture_stop(struct kubelet_fixture *f)
{
	if (f->fake.server)
		fake_kubelet_stop(&f->fake, false);
	else
		fake_kubelet_drop(&f->fake);
	kubelet_close(f->kubelet);
	assert_int_equal(loop_end(&f->loop), 0);
	tmptree_free(f->dir);
}

/* --- conditions ------------------------------------------------------------------------------ */

struct plugin_status plugin_status_of(const struct kubelet_plugin *p)
{
	struct plugin_status status;

	plugin_status(p, &status);
	return status;
}

static bool is_met(void *arg)
{
	struct kubelet_fixture *f = arg;

	return f->until(f);
}

void kubelet_fixture_until(struct kubelet_fixture *f, bool (*until)(struct kubelet_fixture *),
			   const char *name)
{
	f->until = until;
	if (!loop_until(&f->loop, is_met, f, PATIENCE_MS))
		fail_msg("%s did not become true", name);
}

bool plugin_is_registered(struct kubelet_fixture *f)
{
	return f->fake.watching && f->fake.lists > 0 &&
	       plugin_status_of(f->plugin).state == PLUGIN_REGISTERED;
}

bool plugin_is_waiting(struct kubelet_fixture *f)
{
	return plugin_status_of(f->plugin).state == PLUGIN_WAITING;
}

bool plugin_has_failed(struct kubelet_fixture *f)
{
	return plugin_status_of(f->plugin).failures > 0;
}

bool plugin_has_socket(struct kubelet_fixture *f)
{
	AUTO_FREE char *path = path_of(f, SOCKET_PATH);

	return access(path, F_OK) == 0;
}

bool plugin_has_no_socket(struct kubelet_fixture *f)
{
	return !plugin_has_socket(f);
}

bool sockets_were_swept(struct kubelet_fixture *f)
{
	return f->swept > 0;
}

bool register_was_called(struct kubelet_fixture *f)
{
	return f->fake.registers > 0;
}

bool watch_has_ended(struct kubelet_fixture *f)
{
	return !f->fake.watching;
}

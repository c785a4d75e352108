// SPDX-License-Identifier: Apache-2.0
/* Both ways of registering a resource with a kubelet, and the lists it receives. The kubelet is
 * tests/lib/fake_kubelet.h; tests/kubelet runs real ones. */
#include "kubelet.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "kubelet_fixture.h"
#include "list_watch.h"
#include "loop_helpers.h"
#include "test_group.h"
#include "tmptree.h"

/* --- legacy ---------------------------------------------------------------------------------- */

static void test_registers(void **state)
{
	struct plugin_status status;
	struct kubelet_fixture f;

	(void)state;
	kubelet_fixture_start_registered(&f);
	assert_string_equal(f.fake.version, "v1beta1");
	assert_string_equal(f.fake.endpoint, SOCKET);
	assert_string_equal(f.fake.resource, RESOURCE);
	assert_true(f.fake.pre_start);
	assert_true(f.fake.preferred);
	assert_int_equal(f.fake.n_devices, 2);
	assert_int_equal(f.fake.n_healthy, 2);
	assert_string_equal(f.fake.first_id, "0000:03:00.1");
	assert_int_equal(f.fake.first_numa, 1);
	status = plugin_status_of(f.plugin);
	assert_int_equal(status.registrations, 1);
	assert_int_equal(status.failures, 0);
	assert_int_equal(status.watchers, 1);
	assert_int_equal(status.lists, 1);
	assert_non_null(strstr(status.socket, "/device-plugins/" SOCKET));
	assert_string_equal(status.error, "");
	kubelet_fixture_stop(&f);
}

static void test_without_a_list_nothing_is_registered(void **state)
{
	struct kubelet_fixture f;

	(void)state;
	kubelet_fixture_init(&f);
	kubelet_fixture_make_dir(&f, "device-plugins");
	fake_kubelet_start(&f.fake);
	f.kubelet = kubelet_fixture_open(&f);
	f.plugin = kubelet_fixture_serve(&f, f.kubelet);
	loop_wakeups(&f.loop, 60);
	assert_int_equal(f.fake.registers, 0);
	assert_int_equal(plugin_set_devices(f.plugin, NULL, 0), 0);
	kubelet_until(&f, plugin_is_registered);
	assert_int_equal(f.fake.n_devices, 0);
	kubelet_fixture_stop(&f);
}

static bool is_refused(struct kubelet_fixture *f)
{
	return plugin_status_of(f->plugin).state == PLUGIN_REFUSED;
}

static void test_refused_then_accepted(void **state)
{
	struct plugin_status status;
	struct kubelet_fixture f;

	(void)state;
	kubelet_fixture_start(&f, REGISTRATION_LEGACY);
	f.fake.manner = MANNER_REFUSING;
	fake_kubelet_start(&f.fake);
	kubelet_until(&f, is_refused);
	status = plugin_status_of(f.plugin);
	assert_non_null(strstr(status.error, "INVALID_ARGUMENT"));
	assert_non_null(strstr(status.error, "unsupported"));
	assert_true(status.failures >= 1);
	f.fake.manner = MANNER_GOOD;
	kubelet_until(&f, plugin_is_registered);
	assert_string_equal(plugin_status_of(f.plugin).error, "");
	kubelet_fixture_stop(&f);
}

static void test_unavailable_then_accepted(void **state)
{
	struct kubelet_fixture f;

	(void)state;
	kubelet_fixture_start(&f, REGISTRATION_LEGACY);
	f.fake.manner = MANNER_UNAVAILABLE;
	fake_kubelet_start(&f.fake);
	kubelet_until(&f, plugin_has_failed);
	assert_non_null(strstr(plugin_status_of(f.plugin).error, "starting"));
	f.fake.manner = MANNER_GOOD;
	kubelet_until(&f, plugin_is_registered);
	kubelet_fixture_stop(&f);
}

static void assert_refused(struct kubelet_fixture *f, const char *resource, int code)
{
	struct kubelet_plugin *p = NULL;
	struct err e = {0};

	assert_int_equal(kubelet_serve(&p, f->kubelet, resource, &f->hooks, &e), code);
	assert_null(p);
	assert_non_null(strstr(e.msg, resource));
}

static void test_names_that_cannot_be_served(void **state)
{
	struct kubelet_fixture f;

	(void)state;
	kubelet_fixture_start(&f, REGISTRATION_LEGACY);
	assert_refused(&f, RESOURCE, -EEXIST);
	assert_refused(&f, "", -EINVAL);
	assert_refused(&f, "roce", -EINVAL);
	assert_refused(&f, "rocelet.dev/", -EINVAL);
	assert_refused(&f, "/roce", -EINVAL);
	assert_refused(&f, "a/b/c", -EINVAL);
	assert_refused(&f, "../x", -EINVAL);
	assert_refused(&f, "a/..", -EINVAL);
	assert_refused(&f, "a/b c", -EINVAL);
	kubelet_fixture_stop(&f);
}

/* A socket path has at most 107 bytes; a longer name ends in a hash. */
static void test_names_that_are_too_long_for_a_socket(void **state)
{
	struct kubelet_plugin *first, *second;
	char longest[200], path[UDS_PATH_SIZE];
	struct kubelet_fixture f;
	struct err e = {0};

	(void)state;
	kubelet_fixture_start(&f, REGISTRATION_LEGACY);
	memset(longest, 'a', sizeof(longest));
	longest[100] = '/';
	longest[110] = '\0';
	assert_int_equal(kubelet_serve(&first, f.kubelet, longest, &f.hooks, &e), 0);
	assert_int_equal(plugin_set_devices(first, two_devices, 2), 0);
	plugin_withdraw(f.plugin);
	fake_kubelet_start(&f.fake);
	f.plugin = first;
	kubelet_until(&f, plugin_is_registered);
	assert_string_equal(f.fake.resource, longest);
	snprintf(path, sizeof(path), "%s", plugin_status_of(first).socket);
	assert_int_equal(strlen(path), sizeof(path) - 1);
	assert_string_equal(strrchr(path, '/') + 1, f.fake.endpoint);
	assert_refused(&f, longest, -EEXIST);
	longest[109] = 'b'; /* another name with the same beginning */
	assert_int_equal(kubelet_serve(&second, f.kubelet, longest, &f.hooks, &e), 0);
	kubelet_fixture_stop(&f);
}

/* --- lists ----------------------------------------------------------------------------------- */

static bool is_ill(struct kubelet_fixture *f)
{
	return f->fake.n_healthy == 1;
}

static void test_only_changed_lists_are_sent(void **state)
{
	struct kubelet_fixture f;
	unsigned i;

	(void)state;
	kubelet_fixture_start_registered(&f);
	for (i = 0; i < 10; i++)
		assert_int_equal(plugin_set_devices(f.plugin, two_devices, 2), 0);
	assert_int_equal(plugin_set_devices(f.plugin, one_ill, 2), 0);
	kubelet_until(&f, is_ill);
	assert_int_equal(f.fake.lists, 2);
	/* Changed and changed back before the list was sent. */
	assert_int_equal(plugin_set_devices(f.plugin, two_devices, 2), 0);
	assert_int_equal(plugin_set_devices(f.plugin, one_ill, 2), 0);
	loop_wakeups(&f.loop, 30);
	assert_int_equal(f.fake.lists, 2);
	assert_int_equal(plugin_status_of(f.plugin).lists, 2);
	kubelet_fixture_stop(&f);
}

static bool has_big_list(struct kubelet_fixture *f)
{
	return f->fake.n_devices > 2;
}

static void test_a_list_that_is_too_long_is_cut(void **state)
{
	enum { N = 100000 };
	struct plugin_device *devices = calloc(N, sizeof(*devices));
	struct kubelet_fixture f;
	size_t i;

	(void)state;
	assert_non_null(devices);
	for (i = 0; i < N; i++) {
		snprintf(devices[i].id, sizeof(devices[i].id), "device-%055zu", i);
		devices[i].healthy = true;
		devices[i].numa = -1;
	}
	kubelet_fixture_start_registered(&f);
	assert_int_equal(plugin_set_devices(f.plugin, devices, N), 0);
	kubelet_until(&f, has_big_list);
	assert_true(f.fake.list_len <= LIST_WATCH_MAX);
	assert_true(f.fake.list_len > LIST_WATCH_MAX - 200);
	assert_string_equal(f.fake.first_id, devices[0].id);
	kubelet_fixture_stop(&f);
	free(devices);
}

/* --- registry -------------------------------------------------------------------------------- */

#define REGISTRY_SOCKET "plugins_registry/" SOCKET

/* The result is valid until the next call. */
static const char *registry_socket(const struct kubelet_fixture *f)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/" REGISTRY_SOCKET, f->dir);
	return path;
}

static bool has_registry_socket(struct kubelet_fixture *f)
{
	return access(registry_socket(f), F_OK) == 0;
}

static void test_registry(void **state)
{
	struct kubelet_fixture f;

	(void)state;
	kubelet_fixture_start(&f, REGISTRATION_REGISTRY);
	kubelet_until(&f, has_registry_socket);
	fake_kubelet_start(&f.fake);
	fake_kubelet_find(&f.fake, registry_socket(&f), NULL);
	kubelet_until(&f, plugin_is_registered);
	assert_string_equal(f.fake.version, "v1beta1");
	assert_string_equal(f.fake.resource, RESOURCE);
	assert_string_equal(f.fake.endpoint, "");
	assert_int_equal(plugin_status_of(f.plugin).registrations, 1);
	assert_string_equal(plugin_status_of(f.plugin).socket, registry_socket(&f));
	assert_int_equal(f.fake.registers, 0);

	/* When the kubelet restarts, it leaves our socket alone; we keep it, too. */
	fake_kubelet_stop(&f.fake, true);
	f.swept = 0;
	f.fake.lists = 0;
	kubelet_until(&f, plugin_is_waiting);
	fake_kubelet_start(&f.fake);
	kubelet_until(&f, sockets_were_swept);
	assert_true(has_registry_socket(&f));
	fake_kubelet_find(&f.fake, registry_socket(&f), NULL);
	kubelet_until(&f, plugin_is_registered);

	tmptree_remove(f.dir, REGISTRY_SOCKET);
	kubelet_until(&f, has_registry_socket);
	kubelet_fixture_stop(&f);
}

static void test_registry_refusal(void **state)
{
	struct kubelet_fixture f;

	(void)state;
	kubelet_fixture_start(&f, REGISTRATION_REGISTRY);
	kubelet_until(&f, has_registry_socket);
	fake_kubelet_find(&f.fake, registry_socket(&f), "no handler");
	kubelet_until(&f, is_refused);
	assert_string_equal(plugin_status_of(f.plugin).error, "no handler");
	fake_kubelet_find(&f.fake, registry_socket(&f), NULL);
	kubelet_until(&f, plugin_is_registered);
	kubelet_fixture_stop(&f);
}

/* --- auto ------------------------------------------------------------------------------------ */

static void test_auto_prefers_the_registry(void **state)
{
	struct kubelet_fixture f;

	(void)state;
	kubelet_fixture_init(&f);
	kubelet_fixture_make_dir(&f, "device-plugins");
	kubelet_fixture_make_dir(&f, "plugins_registry");
	f.opts.registration = REGISTRATION_AUTO;
	f.kubelet = kubelet_fixture_open(&f);
	f.plugin = kubelet_fixture_serve(&f, f.kubelet);
	loop_wakeups(&f.loop, 30);
	/* an existing socket would already register the resource */
	assert_false(has_registry_socket(&f));
	assert_int_equal(plugin_set_devices(f.plugin, two_devices, 2), 0);
	kubelet_until(&f, has_registry_socket);
	assert_false(plugin_has_socket(&f));
	kubelet_fixture_stop(&f);
}

static void test_auto_waits_for_a_kubelet(void **state)
{
	struct kubelet_fixture f;

	(void)state;
	kubelet_fixture_init(&f);
	f.opts.registration = REGISTRATION_AUTO;
	f.kubelet = kubelet_fixture_open(&f);
	f.plugin = kubelet_fixture_serve(&f, f.kubelet);
	assert_int_equal(plugin_set_devices(f.plugin, two_devices, 2), 0);
	loop_wakeups(&f.loop, 30);
	assert_null(plugin_status_of(f.plugin).socket);
	kubelet_fixture_make_dir(&f, "device-plugins");
	kubelet_until(&f, plugin_has_socket);
	fake_kubelet_start(&f.fake);
	kubelet_until(&f, plugin_is_registered);
	kubelet_fixture_make_dir(&f, "plugins_registry"); /* too late: Register is in use already */
	loop_wakeups(&f.loop, 30);
	assert_int_equal(f.fake.registers, 1);
	kubelet_fixture_stop(&f);
}

TEST_GROUP(kubelet_registration)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_registers),
		cmocka_unit_test(test_without_a_list_nothing_is_registered),
		cmocka_unit_test(test_refused_then_accepted),
		cmocka_unit_test(test_unavailable_then_accepted),
		cmocka_unit_test(test_names_that_cannot_be_served),
		cmocka_unit_test(test_names_that_are_too_long_for_a_socket),
		cmocka_unit_test(test_only_changed_lists_are_sent),
		cmocka_unit_test(test_a_list_that_is_too_long_is_cut),
		cmocka_unit_test(test_registry),
		cmocka_unit_test(test_registry_refusal),
		cmocka_unit_test(test_auto_prefers_the_registry),
		cmocka_unit_test(test_auto_waits_for_a_kubelet),
	};

	return test_group_run(tests, NULL, NULL);
}

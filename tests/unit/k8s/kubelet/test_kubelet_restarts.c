// SPDX-License-Identifier: Apache-2.0
/* The kubelet exits, starts, hangs or is replaced; sockets and folders disappear. The resource is
 * always registered again, and waiting for that causes few wakeups. */
#include "kubelet.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "cleanup.h"
#include "faults.h"
#include "kubelet_fixture.h"
#include "loop_helpers.h"
#include "test_group.h"
#include "tmptree.h"
#include "uds.h"

/* --- restarts -------------------------------------------------------------------------------- */

static void test_fifty_restarts(void **state)
{
	uint64_t began_ms, worst_ms = 0, took_ms;
	struct kubelet_fixture f;
	int i;

	(void)state;
	kubelet_fixture_start_registered(&f);
	for (i = 0; i < 50; i++) {
		fake_kubelet_stop(&f.fake, i % 2);
		f.fake.lists = 0;
		kubelet_until(&f, plugin_is_waiting);
		fake_kubelet_start(&f.fake);
		began_ms = uv_now(&f.loop);
		kubelet_until(&f, plugin_is_registered);
		took_ms = f.fake.list_ms - began_ms;
		worst_ms = took_ms > worst_ms ? took_ms : worst_ms;
	}
	print_message("worst of 50 restarts: list after %u ms\n", (unsigned)worst_ms);
	assert_true(plugin_status_of(f.plugin).registrations >= 51);
	assert_int_equal(plugin_status_of(f.plugin).failures, 0);
	assert_true(f.swept >= 50);
	kubelet_fixture_stop(&f);
}

/* The next kubelet starts before the end of the previous one is noticed. */
static void test_restarts_without_a_pause(void **state)
{
	struct kubelet_fixture f;
	int i;

	(void)state;
	kubelet_fixture_start_registered(&f);
	for (i = 0; i < 50; i++) {
		fake_kubelet_stop(&f.fake, false);
		f.fake.lists = 0;
		fake_kubelet_start(&f.fake);
		if (i % 5 == 0)
			kubelet_until(&f, plugin_is_registered);
	}
	kubelet_until(&f, plugin_is_registered);
	kubelet_fixture_stop(&f);
}

/* A Register that hangs in the old kubelet must not delay registration with the new one. */
static void test_a_restart_in_the_middle_of_register(void **state)
{
	struct uds_server *hung;
	struct kubelet_fixture f;

	(void)state;
	kubelet_fixture_start(&f, REGISTRATION_LEGACY);
	f.fake.manner = MANNER_SILENT;
	fake_kubelet_start(&f.fake);
	kubelet_until(&f, register_was_called);
	hung = f.fake.server; /* keeps our connection open */
	f.fake.manner = MANNER_GOOD;
	fake_kubelet_start(&f.fake);
	kubelet_until(&f, plugin_is_registered);
	assert_int_equal(f.fake.registers, 2);
	assert_int_equal(plugin_status_of(f.plugin).registrations, 1);
	uds_server_close(hung);
	loop_wakeups(&f.loop, 30);
	assert_true(plugin_is_registered(&f));
	kubelet_fixture_stop(&f);
}

/* Register is not sent a second time only because our socket had to be created again. */
static void test_our_socket_is_deleted_during_register(void **state)
{
	struct kubelet_fixture f;

	(void)state;
	kubelet_fixture_start(&f, REGISTRATION_LEGACY);
	f.fake.manner = MANNER_SILENT;
	fake_kubelet_start(&f.fake);
	kubelet_until(&f, register_was_called);
	tmptree_remove(f.dir, SOCKET_PATH);
	kubelet_until(&f, plugin_has_socket);
	loop_wakeups(&f.loop, 200);
	assert_int_equal(f.fake.registers, 1);
	kubelet_fixture_stop(&f);
}

/* A starting kubelet empties the folder, then listens; meanwhile, until the file event arrives, we
 * retry its old socket. */
static void test_called_before_its_socket_was_seen(void **state)
{
	struct kubelet_fixture f;

	(void)state;
	kubelet_fixture_start_registered(&f);
	for (int i = 0; i < 20; i++) {
		fake_kubelet_stop(&f.fake, true);
		kubelet_until(&f, plugin_is_waiting);
		loop_wakeups(&f.loop, (unsigned)(20 + i));
		f.fake.registers = f.fake.lists = 0;
		fake_kubelet_start(&f.fake);
		kubelet_until(&f, plugin_is_registered);
		loop_wakeups(&f.loop, 30);
		assert_int_equal(f.fake.registers, 1);
	}
	kubelet_fixture_stop(&f);
}

/* The kubelet binds its socket and listens later. */
static void test_a_socket_that_does_not_listen_yet(void **state)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), peer = -1;
	uint64_t began_ms;
	struct kubelet_fixture f;

	(void)state;
	kubelet_fixture_start(&f, REGISTRATION_LEGACY);
	kubelet_until(&f, plugin_has_socket);
	snprintf(sa.sun_path, sizeof(sa.sun_path), "%s/device-plugins/kubelet.sock", f.dir);
	assert_int_equal(bind(fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
	loop_wakeups(&f.loop, 300);
	assert_int_equal(listen(fd, 8), 0);
	uv_update_time(&f.loop);
	began_ms = uv_now(&f.loop);
	while (peer < 0 && uv_now(&f.loop) - began_ms < PATIENCE_MS) {
		uv_run(&f.loop, UV_RUN_ONCE);
		peer = accept(fd, NULL, NULL);
	}
	assert_true(peer >= 0);
	print_message("tried again after %u ms\n", (unsigned)(uv_now(&f.loop) - began_ms));
	close(peer);
	close(fd);
	kubelet_fixture_stop(&f);
}

static void test_dropped_by_a_running_kubelet(void **state)
{
	struct kubelet_fixture f;

	(void)state;
	kubelet_fixture_start_registered(&f);
	f.fake.lists = 0;
	fake_kubelet_drop(&f.fake);
	kubelet_until(&f, plugin_is_waiting);
	kubelet_until(&f, plugin_is_registered);
	assert_int_equal(plugin_status_of(f.plugin).registrations, 2);
	kubelet_fixture_stop(&f);
}

/* Two daemons serve one resource during an update: the newer one wins, and the older one does not
 * register again. */
static void test_a_successor_takes_over(void **state)
{
	struct kubelet_plugin *first, *second;
	struct kubelet *successor;
	struct kubelet_fixture f;
	unsigned n;

	(void)state;
	kubelet_fixture_start_registered(&f);
	first = f.plugin;
	f.fake.lists = 0;
	successor = kubelet_fixture_open(&f);
	second = kubelet_fixture_serve(&f, successor);
	assert_int_equal(plugin_set_devices(second, one_ill, 2), 0);
	f.plugin = second;
	kubelet_until(&f, plugin_is_registered);
	f.plugin = first;
	kubelet_until(&f, plugin_has_failed);
	assert_non_null(strstr(plugin_status_of(first).error, "another process"));
	n = f.fake.registers;
	loop_wakeups(&f.loop, 200);
	assert_int_equal(plugin_status_of(second).state, PLUGIN_REGISTERED);
	assert_int_equal(f.fake.registers, n);

	kubelet_close(successor);
	kubelet_until(&f, plugin_is_registered);
	kubelet_fixture_stop(&f);
}

/* --- files that are deleted and replaced ----------------------------------------------------- */

static bool is_registered_again(struct kubelet_fixture *f)
{
	return f->fake.registers > 1 && plugin_is_registered(f);
}

static void test_our_socket_is_deleted(void **state)
{
	struct kubelet_fixture f;

	(void)state;
	kubelet_fixture_start_registered(&f);
	f.fake.lists = 0;
	f.swept = 0;
	tmptree_remove(f.dir, SOCKET_PATH);
	kubelet_until(&f, is_registered_again);
	assert_true(plugin_has_socket(&f));
	assert_true(f.swept > 0);
	kubelet_fixture_stop(&f);
}

/* An earlier event is read first; when the deletion's own event is read, the socket exists
 * again. */
static void test_our_socket_is_deleted_behind_another_event(void **state)
{
	AUTO_FREE char *sock = NULL;
	struct kubelet_fixture f;

	(void)state;
	kubelet_fixture_start_registered(&f);
	loop_wakeups(&f.loop, 30);
	f.fake.lists = 0;
	f.swept = 0;
	assert_true(asprintf(&sock, "%s/device-plugins/kubelet.sock", f.dir) > 0);
	assert_int_equal(chmod(sock, 0700), 0);
	tmptree_remove(f.dir, SOCKET_PATH);
	kubelet_until(&f, is_registered_again);
	assert_true(f.swept > 0);
	kubelet_fixture_stop(&f);
}

static bool allocations_were_hinted(struct kubelet_fixture *f)
{
	return f->allocations > 0;
}

static void test_changes_of_other_files(void **state)
{
	struct kubelet_fixture f;

	(void)state;
	kubelet_fixture_start_registered(&f);
	f.swept = 0;
	f.allocations = 0;
	tmptree_write(f.dir, "device-plugins/rocelet-metrics.sock", "not ours");
	tmptree_write(f.dir, "device-plugins/kubelet_internal_checkpoint", "{}");
	kubelet_until(&f, allocations_were_hinted); /* for the file written last */
	assert_int_equal(f.swept, 0);
	tmptree_remove(f.dir, "device-plugins/rocelet-metrics.sock");
	kubelet_until(&f, sockets_were_swept);
	assert_int_equal(f.fake.registers, 1);
	kubelet_fixture_stop(&f);
}

static void test_the_folder_is_replaced(void **state)
{
	AUTO_FREE char *old = NULL, *away = NULL;
	struct kubelet_fixture f;

	(void)state;
	kubelet_fixture_start_registered(&f);
	fake_kubelet_stop(&f.fake, false);
	f.fake.lists = 0;
	assert_true(asprintf(&old, "%s/device-plugins", f.dir) > 0);
	assert_true(asprintf(&away, "%s/away", f.dir) > 0);
	assert_int_equal(rename(old, away), 0);
	kubelet_until(&f, plugin_has_failed); /* without a folder there is no socket to serve */
	assert_non_null(strstr(plugin_status_of(f.plugin).error, SOCKET));
	kubelet_fixture_make_dir(&f, "device-plugins");
	kubelet_until(&f, plugin_has_socket);
	fake_kubelet_start(&f.fake);
	kubelet_until(&f, plugin_is_registered);
	kubelet_fixture_stop(&f);
}

/* --- wakeups and attempts -------------------------------------------------------------------- */

static void test_a_dead_socket_costs_little(void **state)
{
	struct kubelet_fixture f;
	unsigned wakeups;

	(void)state;
	kubelet_fixture_start_registered(&f);
	fake_kubelet_stop(&f.fake, true);
	kubelet_until(&f, plugin_is_waiting);
	wakeups = loop_wakeups(&f.loop, 1000);
	assert_true(wakeups < 150); /* about 25 attempts; each connects, fails and pauses */
	assert_non_null(strstr(plugin_status_of(f.plugin).error, "does not watch"));
	assert_int_equal(plugin_status_of(f.plugin).failures, 0);
	fake_kubelet_start(&f.fake);
	kubelet_until(&f, plugin_is_registered);
	kubelet_fixture_stop(&f);
}

static void test_an_idle_plugin_does_not_wake_up(void **state)
{
	struct kubelet_fixture f;

	(void)state;
	kubelet_fixture_start_registered(&f);
	assert_true(loop_sleeps(&f.loop, 300, 2));
	kubelet_fixture_stop(&f);
}

static void test_without_a_kubelet_it_does_not_wake_up(void **state)
{
	struct kubelet_fixture f;

	(void)state;
	kubelet_fixture_start(&f, REGISTRATION_LEGACY);
	kubelet_until(&f, plugin_has_socket);
	assert_true(loop_sleeps(&f.loop, 300, 2));
	kubelet_fixture_stop(&f);
}

/* --- out of memory --------------------------------------------------------------------------- */

/* If the kubelet's watch failed before our service saw it, the next check is 10 s later. */
static bool is_registered_or_lost(struct kubelet_fixture *f)
{
	return plugin_is_registered(f) || (f->fake.watch_ends > 0 && !f->fake.watching);
}

/* Whichever allocation fails, nothing leaks and the plugin registers in the end. */
static void test_out_of_memory(void **state)
{
	struct kubelet_fixture f;
	bool failed;
	long n = 0;

	(void)state;
	do {
		kubelet_fixture_start(&f, REGISTRATION_LEGACY);
		fake_kubelet_start(&f.fake);
		faults_alloc(n++);
		kubelet_until(&f, is_registered_or_lost);
		failed = faults_end();
		if (!plugin_is_registered(&f)) {
			fake_kubelet_stop(&f.fake, false);
			fake_kubelet_start(&f.fake);
		}
		kubelet_until(&f, plugin_is_registered);
		kubelet_fixture_stop(&f);
	} while (failed && n < 1000);
	print_message("%ld allocations failed, one at a time\n", n - 1);
	assert_true(n > 20 && n < 1000);
}

TEST_GROUP(kubelet_restarts)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fifty_restarts),
		cmocka_unit_test(test_restarts_without_a_pause),
		cmocka_unit_test(test_a_restart_in_the_middle_of_register),
		cmocka_unit_test(test_our_socket_is_deleted_during_register),
		cmocka_unit_test(test_called_before_its_socket_was_seen),
		cmocka_unit_test(test_a_socket_that_does_not_listen_yet),
		cmocka_unit_test(test_dropped_by_a_running_kubelet),
		cmocka_unit_test(test_a_successor_takes_over),
		cmocka_unit_test(test_our_socket_is_deleted),
		cmocka_unit_test(test_our_socket_is_deleted_behind_another_event),
		cmocka_unit_test(test_changes_of_other_files),
		cmocka_unit_test(test_the_folder_is_replaced),
		cmocka_unit_test(test_a_dead_socket_costs_little),
		cmocka_unit_test(test_an_idle_plugin_does_not_wake_up),
		cmocka_unit_test(test_without_a_kubelet_it_does_not_wake_up),
		cmocka_unit_test(test_out_of_memory),
	};

	return test_group_run(tests, NULL, NULL);
}

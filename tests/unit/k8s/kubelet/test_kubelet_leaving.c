// SPDX-License-Identifier: Apache-2.0
/* Closing or withdrawing a plugin at any moment, with or without sending an empty list. */
#include "kubelet.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cleanup.h"
#include "kubelet_fixture.h"
#include "test_group.h"
#include "tmptree.h"

static void leave(struct kubelet_fixture *f, bool zero)
{
	kubelet_fixture_init(f);
	f->opts.zero_on_close = zero;
	kubelet_fixture_register(f);
	kubelet_close(take_ptr(f->kubelet));
	kubelet_until(f, watch_has_ended);
	kubelet_until(f, plugin_has_no_socket);
}

static void test_closing_keeps_the_devices(void **state)
{
	struct kubelet_fixture f;

	(void)state;
	leave(&f, false);
	assert_int_equal(f.fake.lists, 1);
	assert_int_equal(f.fake.n_devices, 2);
	kubelet_fixture_stop(&f);
}

static void test_closing_with_zero(void **state)
{
	struct kubelet_fixture f;

	(void)state;
	leave(&f, true);
	assert_int_equal(f.fake.lists, 2);
	assert_int_equal(f.fake.n_devices, 0);
	kubelet_fixture_stop(&f);
}

static void test_withdrawn_and_served_again(void **state)
{
	struct kubelet_fixture f;

	(void)state;
	kubelet_fixture_start_registered(&f);
	plugin_withdraw(f.plugin);
	kubelet_until(&f, watch_has_ended);
	assert_int_equal(f.fake.n_devices, 0);
	f.fake.lists = 0;
	f.plugin = kubelet_fixture_serve(&f, f.kubelet);
	assert_int_equal(plugin_set_devices(f.plugin, two_devices, 2), 0);
	kubelet_until(&f, plugin_is_registered);
	assert_int_equal(f.fake.n_devices, 2);
	plugin_withdraw(NULL);
	kubelet_close(NULL);
	kubelet_fixture_stop(&f);
}

static void test_closed_before_anything_happened(void **state)
{
	struct kubelet_fixture f;

	(void)state;
	kubelet_fixture_init(&f);
	f.opts.registration = REGISTRATION_AUTO;
	f.opts.zero_on_close = true;
	f.kubelet = kubelet_fixture_open(&f);
	f.plugin = kubelet_fixture_serve(&f, f.kubelet);
	kubelet_fixture_stop(&f);

	kubelet_fixture_start(&f, REGISTRATION_LEGACY);
	f.fake.manner = MANNER_SILENT;
	fake_kubelet_start(&f.fake);
	kubelet_until(&f, register_was_called);
	kubelet_fixture_stop(&f);
}

static void test_everything_may_be_done_in_hooks(void **state)
{
	struct kubelet_fixture f;

	(void)state;
	kubelet_fixture_start_registered(&f);
	f.close_when_swept = true;
	tmptree_remove(f.dir, SOCKET_PATH);
	kubelet_until(&f, sockets_were_swept);
	kubelet_until(&f, watch_has_ended);
	kubelet_fixture_stop(&f);
}

TEST_GROUP(kubelet_leaving)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_closing_keeps_the_devices),
		cmocka_unit_test(test_closing_with_zero),
		cmocka_unit_test(test_withdrawn_and_served_again),
		cmocka_unit_test(test_closed_before_anything_happened),
		cmocka_unit_test(test_everything_may_be_done_in_hooks),
	};

	return test_group_run(tests, NULL, NULL);
}

// SPDX-License-Identifier: Apache-2.0
/* Socket paths of a container runtime: one or several, behind a link, or none. */
#include "cri.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "cri_fixture.h"
#include "cri_internal.h"
#include "loop_helpers.h"
#include "test_group.h"
#include "tmptree.h"

static bool is_refused(struct cri_fixture *f)
{
	return cri_status_of(f).failed >= 3;
}

static void test_a_socket_without_a_listener(void **state)
{
	struct cri_fixture f;

	(void)state;
	cri_fixture_init(&f);
	cri_fixture_start(&f);
	cri_until(&f, cri_is_detailed);
	fake_cri_stop(&f.fake, true);
	cri_until(&f, is_refused);
	assert_true(cri_sandboxes(f.cri)->known);
	cri_until(&f, cri_is_unknown);
	fake_cri_start(&f.fake);
	cri_until(&f, cri_is_known);
	cri_fixture_stop(&f);
}

/* As on distributions with a containerd of their own. */
static void test_a_link_to_the_socket(void **state)
{
	char path[sizeof(((struct cri_fixture *)0)->path)];
	struct cri_fixture f;

	(void)state;
	cri_fixture_init(&f);
	memcpy(path, f.path, sizeof(path));
	fake_cri_start(&f.fake);
	tmptree_link(f.dir, "link.sock", f.path);
	snprintf(f.path, sizeof(f.path), "%s/link.sock", f.dir);
	f.fake.path = path;
	cri_fixture_open(&f);
	cri_until(&f, cri_is_detailed);
	cri_fixture_stop(&f);
}

static void test_no_socket(void **state)
{
	struct cri_fixture f;

	(void)state;
	cri_fixture_init(&f);
	cri_fixture_open(&f);
	cri_until(&f, cri_has_failed);
	loop_wakeups(&f.loop, 300);
	assert_int_equal(f.failures, 1); /* no further attempts without a request */
	cri_refresh(f.cri);
	f.failures = 0;
	cri_until(&f, cri_has_failed); /* a refresh tries again and reports the failure */
	fake_cri_start(&f.fake);
	cri_until(&f, cri_is_detailed);
	cri_fixture_stop(&f);
}

static void test_bad_paths(void **state)
{
	char path[200];
	struct cri_fixture f;
	struct err e = {0};

	(void)state;
	cri_fixture_init(&f);
	memset(path, 'x', sizeof(path) - 1);
	path[0] = '/';
	path[sizeof(path) - 1] = '\0';
	assert_int_equal(cri_fixture_try(&f, path, &e), -EINVAL);
	assert_int_equal(cri_fixture_try(&f, "cri.sock", &e), -EINVAL);
	assert_non_null(strstr(e.msg, "cri.sock: not an absolute path"));
	assert_null(f.cri);
	cri_close(NULL);
	cri_fixture_stop(&f);
}

/* The default paths; the test does not depend on a runtime on this machine. */
static void test_the_usual_sockets(void **state)
{
	struct cri_fixture f;
	struct err e = {0};

	(void)state;
	cri_fixture_init(&f);
	assert_int_equal(cri_fixture_try(&f, NULL, &e), 0);
	cri_fixture_stop(&f);
}

/* Do not switch to another, idle runtime: its empty list would mean that all pods have ended. */
static void test_the_first_runtime_with_a_list_is_kept(void **state)
{
	struct fake_cri other;
	char path[sizeof(((struct cri_fixture *)0)->path)];
	struct cri_fixture f;

	(void)state;
	cri_fixture_init(&f);
	snprintf(path, sizeof(path), "%s/other.sock", f.dir);
	fake_cri_init(&other, &f.loop, path);
	fake_cri_start(&other);
	cri_fixture_open(&f);
	f.cri->sockets[f.cri->n_sockets++] = strdup(path);
	fake_cri_start(&f.fake);
	cri_until(&f, cri_is_detailed);
	for (int dead_file = 0; dead_file < 2; dead_file++) {
		fake_cri_stop(&f.fake, dead_file);
		f.failures = 0;
		cri_until(&f, cri_is_unknown);
		assert_true(f.failures > 0);
		assert_int_equal(cri_sandboxes(f.cri)->n, 3);
		fake_cri_start(&f.fake);
		cri_until(&f, cri_is_known);
	}
	assert_int_equal(other.greetings, 0);
	fake_cri_done(&other);
	cri_fixture_stop(&f);
}

TEST_GROUP(cri_socket)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_socket_without_a_listener),
		cmocka_unit_test(test_a_link_to_the_socket),
		cmocka_unit_test(test_no_socket),
		cmocka_unit_test(test_bad_paths),
		cmocka_unit_test(test_the_usual_sockets),
		cmocka_unit_test(test_the_first_runtime_with_a_list_is_kept),
	};

	return test_group_run(tests, NULL, NULL);
}

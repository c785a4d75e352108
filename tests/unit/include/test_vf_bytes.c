// SPDX-License-Identifier: Apache-2.0
/* Bytes of a PF and of its VFs. */
#include "vf_bytes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above first */
#include <cmocka.h>

#include <math.h>

#include "test_group.h"

/* Known only for drivers whose documentation states it. */
static void test_drivers(void **state)
{
	(void)state;
	assert_int_equal(vf_bytes_of("mlx5", "ethtool"), VF_BYTES_SEPARATE);
	assert_int_equal(vf_bytes_of("mlx5_core", "sysfs"), VF_BYTES_SEPARATE);
	assert_int_equal(vf_bytes_of("mlx5", "netdev"), VF_BYTES_UNKNOWN);
	assert_int_equal(vf_bytes_of("mlx5", ""), VF_BYTES_UNKNOWN);
	assert_int_equal(vf_bytes_of("rdma_rxe", "bpf"), VF_BYTES_SEPARATE);
	assert_int_equal(vf_bytes_of("bnxt_re", "netlink"), VF_BYTES_UNKNOWN);
	assert_int_equal(vf_bytes_of("", "ethtool"), VF_BYTES_UNKNOWN);
}

static void test_the_wire(void **state)
{
	const double unknown = (double)NAN;

	(void)state;
	assert_true(vf_bytes_wire(VF_BYTES_SEPARATE, 2, 3) == 5);
	assert_true(vf_bytes_wire(VF_BYTES_CONTAINED, 2, 3) == 2);
	assert_true(vf_bytes_wire(VF_BYTES_UNKNOWN, 2, 3) == 3);
	assert_true(vf_bytes_wire(VF_BYTES_CONTAINED, unknown, 3) == 3);
	assert_true(vf_bytes_wire(VF_BYTES_SEPARATE, 2, unknown) == 2);
	assert_true(isnan(vf_bytes_wire(VF_BYTES_UNKNOWN, unknown, unknown)));
}

TEST_GROUP(vf_bytes)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_drivers),
		cmocka_unit_test(test_the_wire),
	};

	return test_group_run(tests, NULL, NULL);
}

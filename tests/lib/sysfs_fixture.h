/* SPDX-License-Identifier: Apache-2.0 */
/* sysfs_fixture.h - a separate root for each test of hw/, initially empty: the test fills it with
 * tmptree.h or sysfs_tree.h, and reads it. All functions assert success. */
#pragma once

#include "hw.h"

struct sysfs_fixture {
	char *dir; /* used for all roots of hw */
	struct hw hw;
	struct scan scan; /* the test's last scan, freed by the teardown */
};

int sysfs_fixture_setup(void **state);
int sysfs_fixture_teardown(void **state);

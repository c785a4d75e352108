/* sysfs_fixture.h - for each test of hw/ a root of its own, empty at first: the test fills it with
 * tmptree.h or sysfs_tree.h, and reads it. Everything asserts that it works. */
#pragma once

#include "hw.h"

struct sysfs_fixture {
	char *dir; /* every root of hw */
	struct hw hw;
	struct scan scan; /* what the test has read last, freed at its end */
};

int sysfs_fixture_setup(void **state);
int sysfs_fixture_teardown(void **state);

// SPDX-License-Identifier: Apache-2.0
#include "sysfs_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "sysfs_tree.h"
#include "tmptree.h"

int sysfs_fixture_setup(void **state)
{
	struct sysfs_fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	f->dir = tmptree_new();
	f->hw = sysfs_tree_open(f->dir);
	*state = f;
	return 0;
}

int sysfs_fixture_teardown(void **state)
{
	struct sysfs_fixture *f = *state;

	scan_done(&f->scan);
	hw_close(&f->hw);
	tmptree_free(f->dir);
	free(f);
	return 0;
}

// SPDX-License-Identifier: Apache-2.0
#include "node_scan.h"

#include <stdio.h>

#include "options.h"

static unsigned node_report_problems(const struct scan *scan)
{
	unsigned n = 0;

	for (int i = 0; i < N_SCAN_SOURCES; i++) {
		if (scan->problem[i].code == 0)
			continue;
		n++;
		fprintf(stderr, "rocelet: %s: %s\n", scan_source_name((enum scan_source)i),
			scan->problem[i].msg);
	}
	return n;
}

int node_scan_once(struct scan *ret, const struct options *o, unsigned *ret_problems)
{
	struct err e = {0};
	struct hw hw;

	*ret = (struct scan){0};
	*ret_problems = 0;
	if (hw_open(&hw, o->sysfs_root, o->dev_root, o->proc_root, &e) < 0) {
		fprintf(stderr, "rocelet: %s\n", e.msg);
		return -EIO;
	}
	hw_scan(&hw, SCAN_ALL, ret);
	hw_close(&hw);
	*ret_problems = node_report_problems(ret);
	if (ret->problem[SRC_SYSFS].code < 0) {
		fputs("rocelet: there is no sysfs to scan (--sysfs-root)\n", stderr);
		return -EIO;
	}
	return 0;
}

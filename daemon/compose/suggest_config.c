// SPDX-License-Identifier: Apache-2.0
#include "suggest_config.h"

#include <stdio.h>

#include "cleanup.h"
#include "node_scan.h"
#include "options.h"
#include "proposal.h"

int suggest_config(const struct options *o)
{
	AUTO_FREE char *text = NULL;
	unsigned n_problems;
	struct scan scan;
	int r = node_scan_once(&scan, o, &n_problems);

	if (r == 0)
		text = proposal_of(&scan.host);
	scan_done(&scan);
	if (r < 0)
		return 1;
	if (!text) {
		fputs("rocelet: out of memory\n", stderr);
		return 1;
	}
	fputs(text, stdout);
	return 0;
}

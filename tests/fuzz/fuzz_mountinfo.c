// SPDX-License-Identifier: Apache-2.0
/* Any line of mountinfo, as pods can choose paths in it: it is a mount or rejected, and no field
 * reaches beyond the line.
 *
 * proves: hw/ops
 * when: turns 4
 * when: soak 120 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "host_view.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void must_be_within(const char *part, const char *line, size_t n)
{
	if (!part || part < line || part > line + n || part + strlen(part) > line + n)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct mount_line m;
	uint64_t ino;
	char *line = malloc(n + 1);

	if (!line)
		return 0;
	memcpy(line, data, n);
	line[n] = '\0';
	nsfs_inode(line, "net", &ino);
	if (mountinfo_parse(line, &m)) {
		must_be_within(m.root, line, n);
		must_be_within(m.point, line, n);
		must_be_within(m.type, line, n);
		nsfs_inode(m.root, "net", &ino);
	}
	free(line);
	return 0;
}

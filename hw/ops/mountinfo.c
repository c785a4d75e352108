// SPDX-License-Identifier: Apache-2.0
#include "mountinfo.h"

#include <stddef.h>
#include <string.h>

#include "sysfs.h"

/* Returns the next field, terminated and unescaped: a blank is "\040" (mangle() in
 * linux/fs/seq_file.c). */
static char *next_field(char **line)
{
	char *field = strsep(line, " \n"), *to = field;

	for (const char *from = field; from && *from; to++) {
		bool escaped = from[0] == '\\' && strspn(from + 1, "01234567") >= 3;

		*to = escaped ? (char)((from[1] - '0') << 6 | (from[2] - '0') << 3 |
				       (from[3] - '0'))
			      : *from;
		from += escaped ? 4 : 1;
	}
	if (to)
		*to = '\0';
	return field;
}

/* "36 35 0:4 net:[4026532001] /run/netns/a rw shared:1 master:2 - nsfs nsfs rw" */
bool mountinfo_parse(char *line, struct mount_line *ret)
{
	struct mount_line m = {0};
	const char *field = "";

	for (int i = 0; i < 6 && field; i++) {
		field = next_field(&line);
		m.root = i == 3 ? field : m.root;
		m.point = i == 4 ? field : m.point;
	}
	while (field && (field = next_field(&line)) && strcmp(field, "-") != 0) {
		m.shared |= strncmp(field, "shared:", 7) == 0;
		m.slave |= strncmp(field, "master:", 7) == 0;
	}
	m.type = field ? next_field(&line) : NULL;
	if (!m.type || !m.type[0])
		return false;
	*ret = m;
	return true;
}

bool nsfs_inode(const char *name, const char *kind, uint64_t *ret)
{
	size_t n = strlen(kind), digits;
	char number[24];

	if (strncmp(name, kind, n) != 0 || strncmp(name + n, ":[", 2) != 0)
		return false;
	name += n + 2;
	digits = strspn(name, "0123456789");
	if (digits >= sizeof(number) || strcmp(name + digits, "]") != 0)
		return false;
	memcpy(number, name, digits);
	number[digits] = '\0';
	return parse_u64(number, ret) == 0;
}

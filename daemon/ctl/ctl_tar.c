// SPDX-License-Identifier: Apache-2.0
#include "ctl_tar.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#define BLOCK 512

/* POSIX.1-1988, 10.1.1 (pax(1), "ustar Interchange Format"): numbers are octal digits. */
struct header {
	char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], checksum[8], type;
	char linkname[100], magic[6], version[2], user[32], group[32], major[8], minor[8];
	char prefix[155], pad[12];
};
_Static_assert(sizeof(struct header) == BLOCK, "a header is a block");

int tar_open(struct tar *t, int fd, int64_t mtime)
{
	*t = (struct tar){.gz = gzdopen(fd, "wb6"), .mtime = mtime};
	if (t->gz)
		return 0;
	close(fd);
	return -ENOMEM;
}

static void tar_write(struct tar *t, const void *data, size_t len)
{
	int code = Z_OK;

	if (t->error || len == 0 || gzwrite(t->gz, data, (unsigned)len) > 0)
		return;
	t->error = -EIO;
	gzerror(t->gz, &code);
	if (code == Z_ERRNO && errno)
		t->error = -errno;
}

static void put_octal(char *field, size_t size, uint64_t value)
{
	field[--size] = '\0';
	while (size > 0) {
		field[--size] = (char)('0' + value % 8);
		value /= 8;
	}
}

static void checksum_set(struct header *h)
{
	const unsigned char *bytes = (const unsigned char *)h;
	unsigned sum = 0;

	memset(h->checksum, ' ', sizeof(h->checksum));
	for (size_t i = 0; i < sizeof(*h); i++)
		sum += bytes[i];
	put_octal(h->checksum, 7, sum);
}

void tar_add(struct tar *t, const char *name, const void *data, size_t len)
{
	static const char zeros[BLOCK];
	struct header h = {.type = '0', .magic = "ustar", .version = {'0', '0'}};

	snprintf(h.name, sizeof(h.name), "%s", name);
	put_octal(h.mode, sizeof(h.mode), 0600);
	put_octal(h.uid, sizeof(h.uid), 0);
	put_octal(h.gid, sizeof(h.gid), 0);
	put_octal(h.size, sizeof(h.size), len);
	put_octal(h.mtime, sizeof(h.mtime), (uint64_t)t->mtime);
	checksum_set(&h);
	tar_write(t, &h, sizeof(h));
	tar_write(t, data, len);
	tar_write(t, zeros, (BLOCK - len % BLOCK) % BLOCK);
}

int tar_close(struct tar *t)
{
	static const char end[2 * BLOCK];
	int r;

	tar_write(t, end, sizeof(end));
	errno = 0;
	r = gzclose(t->gz);
	t->gz = NULL;
	if (t->error == 0 && r != Z_OK)
		t->error = r == Z_ERRNO && errno ? -errno : -EIO;
	return t->error;
}

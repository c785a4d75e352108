// SPDX-License-Identifier: Apache-2.0
#include "file_io.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "cleanup.h"

int file_write_all(int fd, const void *bytes, size_t len)
{
	const char *at = bytes;

	while (len > 0) {
		ssize_t n = write(fd, at, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n == 0)
			errno = EIO;
		if (n <= 0)
			return -errno;
		at += n;
		len -= (size_t)n;
	}
	return 0;
}

static ssize_t file_fill(int fd, char *bytes, size_t size, bool stream)
{
	size_t len = 0;
	ssize_t n;

	do {
		n = stream ? read(fd, bytes + len, size - len)
			   : pread(fd, bytes + len, size - len, (off_t)len);
		if (n > 0)
			len += (size_t)n;
	} while ((n > 0 && len < size) || (n < 0 && errno == EINTR));
	return n < 0 ? -errno : (ssize_t)len;
}

ssize_t file_read_all(int fd, void *bytes, size_t size)
{
	return file_fill(fd, bytes, size, false);
}

ssize_t file_read_stream(int fd, void *bytes, size_t size)
{
	return file_fill(fd, bytes, size, true);
}

int file_read_heap(int fd, size_t max, char **ret, size_t *ret_len)
{
	AUTO_FREE char *bytes = NULL;
	struct stat st;
	ssize_t n;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	if ((size_t)st.st_size > max)
		return -EFBIG;
	bytes = malloc((size_t)st.st_size + 1);
	if (!bytes)
		return -ENOMEM;
	n = file_read_all(fd, bytes, (size_t)st.st_size);
	if (n < 0)
		return (int)n;
	*ret = take_ptr(bytes);
	*ret_len = (size_t)n;
	return 0;
}

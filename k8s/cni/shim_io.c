// SPDX-License-Identifier: Apache-2.0
#include "shim_io.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client.h"
#include "output.h"

#define READ_SIZE    65536
/* Limit for dropped input, so that an endless input ends. */
#define DROP_AT_MOST ((size_t)64 << 20)

void shim_io_begin(void)
{
	/* Opened for writing only, so that reading it fails. */
	if (fcntl(STDIN_FILENO, F_GETFD) < 0 && errno == EBADF)
		(void)!open("/dev/null", O_WRONLY);
	output_begin();
}

/* Bytes read, 0 = the end; -errno. */
static ssize_t shim_read_some(char *to, size_t size, uint64_t deadline)
{
	struct pollfd p = {.fd = STDIN_FILENO, .events = POLLIN};

	while (true) {
		uint64_t now = client_now_ms();
		int r = now < deadline ? poll(&p, 1, (int)(deadline - now)) : 0;
		ssize_t n;

		if (r == 0)
			return -ETIMEDOUT;
		n = r < 0 ? -1 : read(STDIN_FILENO, to, size);
		if (n >= 0)
			return n;
		if (errno != EINTR && errno != EAGAIN)
			return -errno;
	}
}

static int shim_make_room(struct shim_input *in, size_t *size, size_t max)
{
	size_t wanted = *size ? *size * 2 : READ_SIZE;
	char *text;

	if (*size - in->len > 1 || *size > max)
		return 0;
	if (wanted > max)
		wanted = max + 1; /* for the terminator */
	text = realloc(in->text, wanted);
	if (!text)
		return -ENOMEM;
	in->text = text;
	*size = wanted;
	return 0;
}

static ssize_t shim_read_more(struct shim_input *in, size_t *size, size_t max, uint64_t deadline)
{
	char dropped[READ_SIZE];
	int r = shim_make_room(in, size, max);
	ssize_t n;

	if (r < 0)
		return r;
	if (in->len == max) {
		n = shim_read_some(dropped, sizeof(dropped), deadline);
		in->too_long |= n > 0;
		return n;
	}
	n = shim_read_some(in->text + in->len, *size - in->len - 1, deadline);
	if (n > 0)
		in->len += (size_t)n;
	return n;
}

int shim_io_read(struct shim_input *ret, size_t max, uint64_t deadline, struct shim_error *e)
{
	struct shim_input in = {0};
	size_t size = 0, total = 0;
	ssize_t n;

	do {
		n = shim_read_more(&in, &size, max, deadline);
		total += n > 0 ? (size_t)n : 0;
	} while (n > 0 && total < max + DROP_AT_MOST);
	if (n < 0) {
		free(in.text);
		return shim_fail(e, SHIM_IO, "error reading from stdin: %s",
				 n == -ETIMEDOUT ? "it was not closed in time"
						 : shim_errno((int)n));
	}
	in.text[in.len] = '\0';
	*ret = in;
	return 0;
}

static int shim_write(const char *text, size_t len)
{
	while (len > 0) {
		ssize_t n = write(STDOUT_FILENO, text, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		text += n;
		len -= (size_t)n;
	}
	return 0;
}

int shim_io_print(const char *text)
{
	int r = shim_write(text, strlen(text));

	return r < 0 ? r : shim_write("\n", 1);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* output.h - reliable standard output: a write error makes the program fail with one message. */
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Opens /dev/null for closed standard descriptors: otherwise the first file or socket opened would
 * get such a descriptor and receive the output. It is read-only, so writes still fail. */
static inline void output_begin(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
			(void)!open("/dev/null", O_RDONLY);
}

/* True if the reader of a pipe or socket has closed it (POLLERR of poll(2)). */
static inline bool output_has_no_reader(FILE *out)
{
	struct pollfd p = {.fd = fileno(out)};

	return p.fd >= 0 && poll(&p, 1, 0) == 1 && p.revents & POLLERR;
}

/* Flushes the output and returns the exit status: `status`, or EXIT_FAILURE if not all was written.
 * No message if the reader closed the pipe. */
static inline int output_end(const char *program, FILE *out, FILE *err, int status)
{
	bool failed = ferror(out);
	int r, code;

	errno = 0;
	r = fflush(out);
	if (r == 0 && !failed)
		return status;
	code = errno;
	if (!output_has_no_reader(out))
		fprintf(err, "%s: cannot write: %s\n", program,
			code ? strerror(code) : "output is incomplete");
	return EXIT_FAILURE;
}

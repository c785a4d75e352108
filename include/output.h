/* output.h - standard output as what a program was asked for: what cannot be written is a failure,
 * and said once. */
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A standard descriptor that is closed would be given to the first file or socket that is opened,
 * and what is printed would go there. Writing to the one that takes its place fails, as before. */
static inline void output_begin(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
			(void)!open("/dev/null", O_RDONLY);
}

/* poll(2) of a pipe or socket that nobody reads any more. */
static inline bool output_has_no_reader(FILE *out)
{
	struct pollfd p = {.fd = fileno(out)};

	return p.fd >= 0 && poll(&p, 1, 0) == 1 && p.revents & POLLERR;
}

/* The program's exit status: the one it was about to end with, unless not all was written, which is
 * a failure whatever was to be said. A reader who has gone is told nothing. */
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
			code ? strerror(code) : "a part of it is lost");
	return EXIT_FAILURE;
}

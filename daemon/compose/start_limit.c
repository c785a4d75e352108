// SPDX-License-Identifier: Apache-2.0
/* start_limit.c - see start_limit.h. Uses a thread and not SIGALRM, because a thread that waits for
 * a FUSE server runs no signal handler. */
#include "start_limit.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define STACK_SIZE (4 * PTHREAD_STACK_MIN)

static struct {
	pthread_t thread;
	sem_t ended;
	bool running;
} limit;

static void *start_limit_run(void *arg)
{
	const char *doing = arg;
	struct timespec until;
	int r;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += START_LIMIT_S;
	do
		r = sem_clockwait(&limit.ended, CLOCK_MONOTONIC, &until);
	while (r < 0 && errno == EINTR);
	if (r == 0)
		return NULL;
	dprintf(STDERR_FILENO,
		"rocelet: %s has not ended after %d s: a file system does not answer, giving up\n",
		doing, START_LIMIT_S);
	_exit(EXIT_FAILURE);
}

void start_limit_begin(const char *doing)
{
	pthread_attr_t attr;

	if (sem_init(&limit.ended, 0, 0) < 0 || pthread_attr_init(&attr) != 0)
		return;
	pthread_attr_setstacksize(&attr, STACK_SIZE);
	limit.running = pthread_create(&limit.thread, &attr, start_limit_run, (void *)doing) == 0;
	pthread_attr_destroy(&attr);
}

void start_limit_end(void)
{
	if (!limit.running)
		return;
	sem_post(&limit.ended);
	pthread_join(limit.thread, NULL);
	limit.running = false;
}

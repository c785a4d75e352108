// SPDX-License-Identifier: Apache-2.0
/* bench_start.c - how long a program takes from its start to its end, as a runtime starts it.
 *
 *   bench_start ROUNDS STDIN BEFORE PROGRAM [ARGS...]
 *
 * STDIN: file for its standard input. BEFORE: a shell command that runs before each round and is
 * not measured, "" = none. One more round comes first and is not counted: it reads the program from
 * the disk. Fails if the program does, and shows its output.
 *
 * A shell would measure its own fork, too, which an emulated processor makes dearer than the
 * program. */
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS_MAX 1000

static double now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

static int cmp(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void show(const char *program, int status, int fd)
{
	char text[4096];
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);

	text[n > 0 ? n : 0] = '\0';
	fprintf(stderr, "bench_start: %s: status %#x: %s\n", program, status, text);
	exit(1);
}

static double run(char **argv, const char *input, int output)
{
	posix_spawn_file_actions_t files;
	int status = 0, r;
	double start;
	pid_t pid;

	if (ftruncate(output, 0) < 0 || lseek(output, 0, SEEK_SET) < 0)
		show(argv[0], 0, output);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, STDIN_FILENO, input, O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
	start = now_ms();
	r = posix_spawn(&pid, argv[0], &files, NULL, argv, environ);
	if (r == 0)
		waitpid(pid, &status, 0);
	start = now_ms() - start;
	posix_spawn_file_actions_destroy(&files);
	if (r != 0 || status != 0)
		show(argv[0], r ? r : status, output);
	return start;
}

int main(int argc, char **argv)
{
	static double ms[ROUNDS_MAX];
	int rounds = argc > 4 ? atoi(argv[1]) : 0;
	FILE *output = tmpfile();

	if (rounds <= 0 || rounds > ROUNDS_MAX || !output) {
		fprintf(stderr, "usage: bench_start ROUNDS STDIN BEFORE PROGRAM [ARGS...]\n");
		return 2;
	}
	for (int i = -1; i < rounds; i++) {
		double took;

		if (argv[3][0] && system(argv[3]) != 0)
			return 1;
		took = run(argv + 4, argv[2], fileno(output));
		if (i >= 0)
			ms[i] = took;
	}
	qsort(ms, (size_t)rounds, sizeof(*ms), cmp);
	printf("start    median %8.3f ms   best %8.3f   worst %8.3f\n", ms[rounds / 2], ms[0],
	       ms[rounds - 1]);
	fclose(output);
	return 0;
}

// SPDX-License-Identifier: Apache-2.0
#include "test_group.h"

#include <errno.h>
#include <fnmatch.h>
#include <getopt.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define EXIT_USAGE 2

/* Results of one group; shared with the process that runs it. */
struct tally {
	int n_selected, n_failed, n_skipped;
	bool begun; /* the group's setup succeeded */
	bool ended; /* cmocka has returned */
	bool nothing_selected;
};

static struct test_group *groups; /* by name */
static const char *filter;	  /* NULL: every test */
static struct tally *tally;
static CMFixtureFunction real_setup;

void test_group_add(struct test_group *group)
{
	struct test_group **at = &groups;

	while (*at && strcmp((*at)->name, group->name) < 0)
		at = &(*at)->next;
	group->next = *at;
	*at = group;
}

static struct test_group *find(const char *name)
{
	struct test_group *g = groups;

	while (g && strcmp(g->name, name) != 0)
		g = g->next;
	return g;
}

/* The linker sends cmocka's skip() here (--wrap, see the Makefile): cmocka does not return how many
 * tests were skipped. */
_Noreturn void __real__skip(const char *file, int line);
_Noreturn void __wrap__skip(const char *file, int line);

void __wrap__skip(const char *file, int line)
{
	tally->n_skipped++;
	__real__skip(file, line);
}

static int begin(void **state)
{
	int r = real_setup ? real_setup(state) : 0;

	tally->begun = r == 0;
	return r;
}

static bool is_selected(const char *test)
{
	return !filter || fnmatch(filter, test, FNM_NOESCAPE) == 0;
}

int test_group_run_array(const struct CMUnitTest *tests, size_t n_tests, CMFixtureFunction setup,
			 CMFixtureFunction teardown)
{
	for (size_t i = 0; i < n_tests; i++)
		tally->n_selected += is_selected(tests[i].name);
	if (tally->n_selected == 0) {
		tally->nothing_selected = true;
		return 0;
	}
	real_setup = setup;
	tally->n_failed = _cmocka_run_group_tests("tests", tests, n_tests, begin, teardown);
	tally->ended = true;
	return tally->n_failed;
}

static int exit_status(int n_failed)
{
	if (tally->nothing_selected) {
		fprintf(stderr, "no test matches \"%s\"\n", filter ? filter : "*");
		return EXIT_USAGE;
	}
	return n_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* exit(), not _exit(): LeakSanitizer checks there, and sets the status. */
_Noreturn static void run_in_child(const struct test_group *group)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	exit(exit_status(group->run()));
}

/* Failures in addition to the group's tests: 1 if it crashed, or failed without a failed test, such
 * as by a leak. */
static int failure_of_end(const char *name, int status)
{
	if (WIFSIGNALED(status))
		printf("[  FAILED  ] group %s: killed by signal %d (%s)\n", name, WTERMSIG(status),
		       strsignal(WTERMSIG(status)));
	else if (!tally->ended)
		printf("[  FAILED  ] group %s: exited with status %d before its end\n", name,
		       WEXITSTATUS(status));
	else if (status != 0 && tally->n_failed == 0)
		printf("[  FAILED  ] group %s: exited with status %d after its tests passed\n",
		       name, WEXITSTATUS(status));
	else
		return 0;
	return 1;
}

struct totals {
	int passed, failed, skipped;
};

static void run_forked(const struct test_group *group, struct totals *totals)
{
	int status = 0;
	pid_t child;

	memset(tally, 0, sizeof(*tally));
	printf("[  GROUP   ] %s\n", group->name);
	fflush(NULL);
	child = fork();
	if (child < 0) {
		printf("[  FAILED  ] group %s: fork: %s\n", group->name, strerror(errno));
		totals->failed++;
		return;
	}
	if (child == 0)
		run_in_child(group);
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		continue;
	totals->failed += tally->n_failed + failure_of_end(group->name, status);
	if (!tally->ended || !tally->begun)
		return;
	totals->skipped += tally->n_skipped;
	totals->passed += tally->n_selected - tally->n_failed - tally->n_skipped;
}

static int run_several(char **names, int n_names)
{
	struct totals totals = {0};

	if (n_names == 0)
		for (struct test_group *g = groups; g; g = g->next)
			run_forked(g, &totals);
	for (int i = 0; i < n_names; i++)
		run_forked(find(names[i]), &totals);
	printf("%d passed, %d failed", totals.passed, totals.failed);
	if (totals.skipped)
		printf(", %d skipped", totals.skipped);
	printf("\n");
	return totals.failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

static void print_help(const char *program)
{
	printf("usage: %s [GROUP...] [--filter PATTERN]\n"
	       "       %s --list\n"
	       "\n"
	       "Run the unit tests of a folder of tests/unit; a group is one of its files, test_GROUP.c.\n"
	       "\n"
	       "  (no group)         run every group\n"
	       "  GROUP...           run these groups\n"
	       "  --filter PATTERN   run the tests of one group whose names match; * and ? are wildcards\n"
	       "  --list             print the groups, one per line\n"
	       "  --help             print this\n"
	       "\n"
	       "One group runs in this process, for gdb and valgrind; of several, each runs in a child\n"
	       "process, and the last line counts. Exit status: 0, 1 if a test failed, 2 if a group is\n"
	       "unknown or no test matches.\n",
	       program, program);
}

static int usage(const char *fmt, const char *what)
{
	fprintf(stderr, fmt, what);
	fputc('\n', stderr);
	return EXIT_USAGE;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{"filter", required_argument, NULL, 'f'},
		{"list", no_argument, NULL, 'l'},
		{"help", no_argument, NULL, 'h'},
		{0},
	};
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (option) {
		case 'f':
			filter = optarg;
			break;
		case 'l':
			for (struct test_group *g = groups; g; g = g->next)
				puts(g->name);
			return EXIT_SUCCESS;
		case 'h':
			print_help(argv[0]);
			return EXIT_SUCCESS;
		default: /* getopt_long() has reported it */
			return EXIT_USAGE;
		}
	}
	argv += optind;
	argc -= optind;
	for (int i = 0; i < argc; i++)
		if (!find(argv[i]))
			return usage("unknown group \"%s\"; --list prints the groups", argv[i]);
	if (filter && argc != 1)
		return usage("--filter %s needs exactly one group", filter);
	tally = mmap(NULL, sizeof(*tally), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	if (tally == MAP_FAILED)
		return usage("mmap: %s", strerror(errno));
	if (filter)
		cmocka_set_test_filter(filter);
	return argc == 1 ? exit_status(find(argv[0])->run()) : run_several(argv, argc);
}

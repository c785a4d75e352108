// SPDX-License-Identifier: Apache-2.0
/* The program's output and exit codes. */
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "golden.h"
#include "sysfs_tree.h"
#include "test_group.h"
#include "tmptree.h"
#include "version.h"

static char *tree;
static char text[1 << 16];
static size_t len;

/* Returns the program's path, beside the tests' folder. */
static const char *program(void)
{
	static char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	char *slash;

	assert_true(n > 0);
	path[n] = '\0';
	for (int i = 0; i < 2; i++) {
		slash = strrchr(path, '/');
		assert_non_null(slash);
		*slash = '\0';
	}
	assert_true(strlen(path) + sizeof("/rocelet") <= PATH_MAX);
	return strcat(path, "/rocelet");
}

static void append(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static void append(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	len += (size_t)vsnprintf(text + len, sizeof(text) - len, fmt, ap);
	va_end(ap);
	assert_true(len < sizeof(text));
}

static void append_file(const char *name)
{
	char path[PATH_MAX];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", tree, name);
	f = fopen(path, "re");
	assert_non_null(f);
	len += fread(text + len, 1, sizeof(text) - 1 - len, f);
	text[len] = '\0';
	fclose(f);
}

static void into(const char *name, int fd)
{
	int file = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (file < 0 || dup2(file, fd) < 0)
		_exit(126);
}

/* Runs it in the tree's folder, so that the output does not depend on the tree's path. */
static int run(char *const argv[])
{
	const char *path = program();
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0) {
		if (chdir(tree) < 0)
			_exit(126);
		into("out", STDOUT_FILENO);
		into("err", STDERR_FILENO);
		execv(path, argv);
		_exit(127);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

#define WORD(s) ((char *)(uintptr_t)(s))

static int check(const char *config, const char *flag)
{
	char *argv[] = {WORD("rocelet"),      WORD("--check-config"),
			WORD("--config"),     WORD(config),
			WORD("--sysfs-root"), WORD("sys"),
			WORD("--dev-root"),   WORD("dev"),
			WORD(flag),	      NULL};
	int code = run(argv);

	append("$ rocelet --config %s --check-config%s%s\n", config, flag ? " " : "",
	       flag ? flag : "");
	append_file("out");
	append_file("err");
	append("exit code %d\n\n", code);
	return code;
}

/* Two PFs with two VFs each; one VF lacks a device node. */
static void make_node(void)
{
	char sys[PATH_MAX], name[64];

	snprintf(sys, sizeof(sys), "%s/sys", tree);
	tmptree_write(tree, "sys/keep", "\n");
	setenv("BUS", "1", 1);
	sysfs_tree_generate(sys, 2, 4);
	unsetenv("BUS");
	tmptree_write(tree, "dev/infiniband/rdma_cm", "%s", "");
	for (int i = 0; i < 5; i++) {
		snprintf(name, sizeof(name), "dev/infiniband/uverbs%d", i);
		tmptree_write(tree, name, "%s", "");
	}
}

static void test_check_config(void **state)
{
	(void)state;
	tree = tmptree_new();
	make_node();
	tmptree_write(tree, "good.json",
		      "{\"pools\": [\n"
		      "  {\"resourceName\": \"roce\", \"selectors\": {\"pfNames\": "
		      "[\"ens1np0#1\"], \"isRdma\": true}},\n"
		      "  {\"resourceName\": \"hca\", \"kind\": \"shared\", \"slots\": 2, "
		      "\"selectors\": {\"ifNames\": [\"ens1np0\", \"ens2np0\"]}},\n"
		      "  {\"resourceName\": \"none\", \"selectors\": {\"vendors\": [\"8086\"]}},\n"
		      "  {\"resourceName\": \"rest\", \"selectors\": {}}\n"
		      "]}\n");
	tmptree_write(tree, "odd.json",
		      "{\"resourceList\": [{\"resourceName\": \"vf\", \"selektors\": 1,\n"
		      "\"selectors\": {\"pfNames\": [\"ens1np0\"]}}], \"lissten\": \":1\"}\n");
	tmptree_write(tree, "bad.json",
		      "{\"pools\": [\n"
		      "  {\"resourceName\": \"roce\", \"selectors\": {\"pfName\": [\"ens1np0\"]}}\n"
		      "]}\n");
	tmptree_write(tree, "cut.json", "{\"pools\": [\n");
	tmptree_write(tree, "empty.json", "{}\n");
	tmptree_write(tree, "no-pools.json", "{\"pools\": []}\n");
	tmptree_write(tree, "some.json",
		      "{\"configList\": [{\"resourceName\": \"a\", \"devices\": [\"ens1np0\"]},\n"
		      "{\"resourceName\": \"b\", \"resourcePrefix\": \"example_prefix\", "
		      "\"devices\": [\"ens2np0\"]}]}\n");
	tmptree_write(tree, "none.json",
		      "{\"resourceList\": [{\"resourceName\": \"a\", \"selectors\": 5}]}\n");
	tmptree_write(tree, "pool.json",
		      "{\"pool\": [{\"resourceName\": \"a\", \"selectors\": {}}]}\n");
	assert_int_equal(check("good.json", NULL), 0);
	assert_int_equal(check("odd.json", NULL), 0);
	assert_int_equal(check("empty.json", NULL), 0);
	assert_int_equal(check("bad.json", NULL), 2);
	assert_int_equal(check("cut.json", NULL), 2);
	assert_int_equal(check("missing.json", NULL), 2);
	assert_int_equal(check("odd.json", "--strict"), 1);
	assert_int_equal(check("empty.json", "--strict"), 0);
	assert_int_equal(check("empty.json", "--listen=localhost:http"), 2);
	assert_int_equal(check("empty.json", "--listen=300.1.1.1:80"), 2);
	assert_int_equal(check("some.json", NULL), 0);
	assert_int_equal(check("some.json", "--strict"), 1);
	assert_int_equal(check("none.json", NULL), 2);
	assert_int_equal(check("pool.json", NULL), 2);
	assert_int_equal(check("pool.json", "--strict"), 2);
	assert_int_equal(check("no-pools.json", NULL), 0);
	assert_int_equal(check("good.json", "--sysfs-root=dev"), 1);
	assert_golden_text("tests/golden/check_config.txt", text, len);
	tmptree_free(tree);
}

/* The check reports the missing folder, not only the file's errors. */
static void test_a_missing_root(void **state)
{
	char *argv[] = {WORD("rocelet"),
			WORD("--check-config"),
			WORD("--config"),
			WORD("c.json"),
			WORD("--sysfs-root"),
			WORD("nowhere"),
			NULL};

	(void)state;
	tree = tmptree_new();
	tmptree_write(tree, "c.json", "{}\n");
	assert_int_equal(run(argv), 1);
	len = 0;
	append_file("out");
	append_file("err");
	assert_non_null(strstr(text, "c.json: not ok\n"));
	assert_non_null(strstr(text, "nowhere: No such file or directory\n"));
	tmptree_free(tree);
}

static void test_other_exit_codes(void **state)
{
	static const struct {
		const char *flag;
		int code;
		const char *out, *err;
	} cases[] = {
		{"--version", 0, "rocelet " ROCELET_VERSION "\n", ""},
		{"--help", 0, "--check-config", ""},
		{"-h", 0, "--check-config", ""},
		{"-V", 0, "rocelet " ROCELET_VERSION "\n", ""},
		{"--print-config", 0, "\"sample-interval\"", ""},
		{"--no-such-flag", 2, "", "--no-such-flag"},
	};

	(void)state;
	tree = tmptree_new();
	tmptree_write(tree, "c.json", "{}\n");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *argv[] = {WORD("rocelet"), WORD("--config"), WORD("c.json"),
				WORD(cases[i].flag), NULL};

		assert_int_equal(run(argv), cases[i].code);
		len = 0;
		text[0] = '\0';
		append_file("out");
		assert_non_null(strstr(text, cases[i].out));
		assert_true(cases[i].out[0] || len == 0);
		len = 0;
		text[0] = '\0';
		append_file("err");
		assert_non_null(strstr(text, cases[i].err));
		assert_true(cases[i].err[0] || len == 0);
	}
	tmptree_free(tree);
}

TEST_GROUP(main)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_check_config),
		cmocka_unit_test(test_a_missing_root),
		cmocka_unit_test(test_other_exit_codes),
	};

	return test_group_run(tests, NULL, NULL);
}

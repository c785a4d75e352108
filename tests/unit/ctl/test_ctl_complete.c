// SPDX-License-Identifier: Apache-2.0
/* Completion candidates for shells. */
#include "ctl_complete.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cleanup.h"
#include "golden.h"
#include "test_group.h"

/* Completes words separated by one blank; a blank at the end begins a new word. */
static void complete(struct ctl_completion *c, const char *line)
{
	static char words[256], *list[32];
	int n = 0;

	snprintf(words, sizeof(words), "%s", line);
	for (char *at = words, *word; (word = strsep(&at, " "));)
		list[n++] = word;
	ctl_complete(c, n, list);
}

static void test_types_of_words(void **state)
{
	static const struct {
		const char *line;
		enum ctl_type type;
		enum ctl_command command;
		bool flags;
	} rows[] = {
		{"", TYPE_COMMAND, CTL_HELP, false},
		{"po", TYPE_COMMAND, CTL_HELP, false},
		{"--json ", TYPE_COMMAND, CTL_HELP, false},
		{"--socket ", TYPE_FILE, CTL_HELP, false},
		{"--socket /x ", TYPE_COMMAND, CTL_HELP, false},
		{"pods ", TYPE_POD, CTL_PODS, false},
		{"ports ", TYPE_DEVICE, CTL_PORTS, false},
		{"resources ", TYPE_NONE, CTL_RESOURCES, false},
		{"pods --", TYPE_NONE, CTL_PODS, true},
		{"pods -", TYPE_NONE, CTL_PODS, true},
		{"pods -o ", TYPE_FORMAT, CTL_PODS, false},
		{"pods --output=w", TYPE_FORMAT, CTL_PODS, false},
		{"pods -o wide --sort-by ", TYPE_COLUMN, CTL_PODS, false},
		{"pods --field-selector ", TYPE_SELECTOR, CTL_PODS, false},
		{"pods -n ", TYPE_NAMESPACE, CTL_PODS, false},
		{"support-bundle -o ", TYPE_FILE, CTL_SUPPORT_BUNDLE, false},
		{"explain ", TYPE_DEVICE, CTL_EXPLAIN, false},
		{"explain d ", TYPE_NONE, CTL_EXPLAIN, false},
		{"attach --vlan 7 ", TYPE_DEVICE, CTL_ATTACH, false},
		{"attach d --pod ", TYPE_POD, CTL_ATTACH, false},
		{"pcap ", TYPE_FILE, CTL_PCAP, false},
		{"completion ", TYPE_CHOICE, CTL_COMPLETION, false},
		{"help ", TYPE_COMMAND, CTL_HELP, false},
		{"bogus ", TYPE_NONE, CTL_HELP, false},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct ctl_completion c;

		complete(&c, rows[i].line);
		if (c.type != rows[i].type || c.command != rows[i].command ||
		    c.flags != rows[i].flags)
			fail_msg("%s: type %d, command %d", rows[i].line, c.type, c.command);
	}
}

static void test_which_daemon(void **state)
{
	struct ctl_completion c;

	(void)state;
	complete(&c, "--socket /x pods --pod ");
	assert_string_equal(c.socket, "/x");
	assert_string_equal(ctl_complete_source(&c), "/api/v1/pods");
	complete(&c, "explain --socket=/y d");
	assert_string_equal(c.socket, "/y");
	assert_string_equal(ctl_complete_source(&c), "/api/v1/devices");
	complete(&c, "explain --");
	assert_null(ctl_complete_source(&c));
	ctl_complete(&c, 0, NULL);
	assert_int_equal(c.type, TYPE_COMMAND);
}

static void assert_candidates(const char *line, const char *document, const char *want)
{
	json_t *json = document ? json_loads(document, 0, NULL) : NULL;
	struct ctl_completion c;
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	complete(&c, line);
	ctl_complete_put(&c, f);
	ctl_complete_put_live(&c, json, f);
	fclose(f);
	assert_string_equal(text, want);
	free(text);
	json_decref(json);
}

static void test_candidates(void **state)
{
	(void)state;
	assert_candidates("completion ", NULL, "bash\t\nzsh\t\nfish\t\n");
	assert_candidates(
		"qps --top=c", NULL,
		"--top=ce\t\n--top=cnp\t\n--top=naks\t\n--top=retransmissions\t\n--top=rtt\t\n"
		"--top=packets\t\n");
	assert_candidates("explain d -o ", NULL, "text\t\njson\t\nyaml\t\n");
	assert_candidates("pcap ", NULL, ":files\n");
	assert_candidates("attach d --vlan ", NULL, "");
	assert_candidates("attach d --pod=", "{\"pods\":[{\"namespace\":\"a\",\"name\":\"b\"}]}",
			  "--pod=a/b\t\n");
	assert_candidates("pods -n ", "{\"pods\":[{\"namespace\":\"a\",\"name\":\"b\"},{}]}",
			  "a\t\n");
}

/* Names that a shell or rocectl would interpret are not offered, because shells insert candidates
 * unquoted. */
static void test_names_are_no_commands(void **state)
{
	(void)state;
	assert_candidates(
		"explain ",
		"{\"devices\":[{\"id\":\"$(reboot)\",\"kind\":\"\\u001b[31m\"},"
		"{\"id\":\"0000:03:00.2\",\"kind\":\"v\\tf\\n\",\"netdevs\":[{\"name\":\"a;b\"},"
		"{\"name\":\"--fix\"},{\"name\":\"e v\"},{\"name\":\"eth0\"}],\"rdma\":7}]}",
		"0000:03:00.2\t\neth0\t0000:03:00.2\n");
}

static void print_scripts(FILE *f)
{
	ctl_completion_script("bash", f);
	ctl_completion_script("zsh", f);
	ctl_completion_script("fish", f);
}

static void test_scripts(void **state)
{
	(void)state;
	assert_golden("tests/golden/rocectl_completion.txt", print_scripts);
}

TEST_GROUP(ctl_complete)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_types_of_words), cmocka_unit_test(test_which_daemon),
		cmocka_unit_test(test_candidates),     cmocka_unit_test(test_names_are_no_commands),
		cmocka_unit_test(test_scripts),
	};

	return test_group_run(tests, NULL, NULL);
}

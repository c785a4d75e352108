// SPDX-License-Identifier: Apache-2.0
/* rocectl's table of commands: parsing of command lines, and the help that is generated from it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cleanup.h"
#include "client.h"
#include "ctl_args.h"
#include "ctl_examples.h"
#include "ctl_help.h"
#include "golden.h"
#include "test_group.h"

static char words[512], *argv[64];

/* Parses words separated by blanks; results stay valid until the next call. */
static int parse(struct ctl_args *a, const char *line, struct err *e)
{
	int argc = 0;

	snprintf(words, sizeof(words), "rocectl %s", line);
	for (char *word = strtok(words, " "); word; word = strtok(NULL, " "))
		argv[argc++] = word;
	argv[argc] = NULL;
	return ctl_args_parse(a, argc, argv, e);
}

static void test_every_option(void **state)
{
	struct ctl_args a;
	struct err e = {0};

	(void)state;
	assert_int_equal(
		parse(&a,
		      "attach eth5 --netns /n --interface x --ip 10.0.0.1/24 --ip=fd00::1/64 "
		      "--mac m --vlan 7 --mtu 1500 --soft-roce --json --socket s",
		      &e),
		0);
	assert_int_equal(a.command, CTL_ATTACH);
	assert_string_equal(a.device, "eth5");
	assert_string_equal(a.netns, "/n");
	assert_null(a.pod);
	assert_string_equal(a.interface, "x");
	assert_int_equal(a.n_ips, 2);
	assert_string_equal(a.ips[1], "fd00::1/64");
	assert_string_equal(a.mac, "m");
	assert_int_equal(a.vlan, 7);
	assert_int_equal(a.mtu, 1500);
	assert_true(a.soft_roce && ctl_args_want_document(&a));
	assert_string_equal(a.socket, "s");
	assert_int_equal(parse(&a, "--fix doctor", &e), 0);
	assert_true(a.fix);
	assert_string_equal(a.socket, CLIENT_SOCKET);
	assert_int_equal(a.vlan, -1);
	assert_int_equal(parse(&a, "events --limit 3 --device d --pod p", &e), 0);
	assert_int_equal(a.limit, 3);
	assert_int_equal(parse(&a, "qps --top ce --limit 3 --device d --pod p", &e), 0);
	assert_int_equal(a.command, CTL_QPS);
	assert_string_equal(a.top, "ce");
	assert_int_equal(parse(&a, "watch --device d --pod p", &e), 0);
	assert_int_equal(a.command, CTL_WATCH);
	assert_int_equal(parse(&a, "diagnose", &e), 0);
	assert_null(a.device);
	assert_int_equal(parse(&a, "diagnose d --pod p -o json", &e), 0);
	assert_int_equal(a.command, CTL_DIAGNOSE);
	assert_string_equal(a.device, "d");
	assert_string_equal(a.pod, "p");
	assert_string_equal(a.format, "json");
	assert_int_equal(parse(&a,
			       "qps -o wide -n train --no-headers --sort-by -ce "
			       "--field-selector=state=RTS,qpn!=17",
			       &e),
			 0);
	assert_string_equal(a.format, "wide");
	assert_string_equal(a.namespace, "train");
	assert_true(a.no_headers && !ctl_args_want_document(&a));
	assert_string_equal(a.sort_by, "-ce");
	assert_string_equal(a.selector, "state=RTS,qpn!=17");
	assert_int_equal(parse(&a, "support-bundle -o f", &e), 0);
	assert_string_equal(a.output, "f");
	assert_null(a.format);
	assert_int_equal(parse(&a, "completion zsh", &e), 0);
	assert_string_equal(a.choice, "zsh");
	assert_int_equal(parse(&a, "-V", &e), 0);
	assert_int_equal(a.command, CTL_VERSION);
}

static void test_invalid_command_lines(void **state)
{
	static const struct {
		const char *line, *names;
	} bad[] = {
		{"", "no command given; see --help"},
		{"devicess", "did you mean \"devices\"?"},
		{"bogus", "unknown command \"bogus\"; --help lists the commands"},
		{"\x1b[31m", "unknown command"},
		{"attach", "attach: DEVICE is missing"},
		{"attach d", "--netns or --pod"},
		{"attach d --netns /n --pod p", "--netns or --pod"},
		{"attach d e --netns /n", "attach takes one argument, got \"e\" as well"},
		{"resources x", "resources takes no arguments, got \"x\""},
		{"pods x y", "pods takes one argument, got \"y\" as well"},
		{"pods x --pod y", "pods: give x or --pod, not both"},
		{"ports x --device y", "ports: give x or --device, not both"},
		{"events --since 10", "--since 10: not an age"},
		{"events --until 24:00", "--until 24:00: not an age"},
		{"diagnose --since 10", "--since 10: not an age"},
		{"diagnose --replay f --since 02:10",
		 "diagnose: --since is not used with --replay"},
		{"diagnose --record 3 --until 02:10",
		 "diagnose: --until is not used with --record"},
		{"diagnose --undecided --since 02:10",
		 "diagnose: give --undecided or --since, not both"},
		{"pods --force", "pods has no flag --force"},
		{"detach d --fix", "detach has no flag --fix"},
		{"detach d --colour", "unknown flag --colour; --help lists the flags"},
		{"detach d --forse", "unknown flag --forse; did you mean --force?"},
		{"--jsn=1 pods", "unknown flag --jsn=1; did you mean --json?"},
		{"pods -x", "unknown flag -x"},
		{"attach d --netns", "--netns needs a value"},
		{"attach d --netns /n --vlan x", "--vlan x"},
		{"attach d --netns /n --mtu -5", "--mtu -5"},
		{"events --limit 99999999999", "--limit"},
		{"events --top ce", "events has no flag --top"},
		{"watch --limit 3", "watch has no flag --limit"},
		{"pcap", "pcap: FILE is missing"},
		{"pcap a b", "takes one argument, got \"b\" as well"},
		{"pcap a --seconds 1", "pcap has no flag --seconds"},
		{"pcap a --flows 65537", "--flows 65537"},
		{"pcap a --limit 3", "--limit needs --packets"},
		{"pcap a --packets -o yaml", "text or json"},
		{"pcap a --only drops", "--only drops: not one of cnp, ce, nak, bad-icrc"},
		{"pcap a --flow x", "--flow: x is neither an address nor a QPN"},
		{"pcap a --flow 1,16777216", "16777216 is neither"},
		{"pcap a --flow 1,2", "2 is neither"},
		{"pcap a --flow ::1,::2,::3", "more than two addresses"},
		{"sniff d --packets", "--packets needs a value"},
		{"sniff d --only cnp", "sniff has no flag --only"},
		{"sniff", "sniff: DEVICE is missing"},
		{"sniff d --seconds 0", "--seconds: must be at least 1"},
		{"sniff d --seconds 86401", "more than 86400"},
		{"sniff d --packets -1", "--packets -1"},
		{"sniff d --bytes 1e9", "--bytes 1e9"},
		{"sniff d --netns /n --pod p", "not both"},
		{"sniff d --force", "sniff has no flag --force"},
		{"attach d --pod p --ip 10.0.0.1/24 --ip 1\xff", "--ip is not valid UTF-8"},
		{"attach d --pod p --mac \xc0\x80", "--mac is not valid UTF-8"},
		{"attach d --pod p --interface \xff", "--interface is not valid UTF-8"},
		{"attach d --pod \xff", "--pod is not valid UTF-8"},
		{"attach d --netns /\xed\xa0\x80", "--netns is not valid UTF-8"},
		{"detach \xff", "the device is not valid UTF-8"},
		{"diagnose a b", "takes one argument, got \"b\" as well"},
		{"diagnose d --replay f", "a scenario is replayed for all devices"},
		{"diagnose --replay f --pod p", "a scenario is replayed for all devices"},
		{"diagnose -o xml", "-o xml: not one of text, json, yaml"},
		{"diagnose -o wide", "-o wide: not one of text, json, yaml"},
		{"diagnose --replay f -o yaml", "text or json"},
		{"pods -o text", "-o text: not one of table, wide, json, yaml, name"},
		{"events -o name", "-o name: not one of table, wide, json, yaml"},
		{"pods -w -o yaml", "--watch cannot print YAML"},
		{"resources --pod x", "resources has no flag --pod"},
		{"suggest -o text", "-o text: not one of json, yaml"},
		{"top -o json", "top has no flag --output"},
		{"top --json", "top has no flag --json"},
		{"completion bash --json", "completion has no flag --json"},
		{"help --json pods", "help has no flag --json"},
		{"support-bundle --json", "support-bundle has no flag --json"},
		{"watch -o yaml", "-o yaml: not one of text, json"},
		{"pods --timeout 0", "--timeout: must be at least 1"},
		{"pcap f --timeout 3", "pcap has no flag --timeout"},
		{"diagnose --trace f", "--trace needs --record"},
		{"pods --columns pod,stat", "unknown column STAT; did you mean STATE?"},
		{"pods --columns X:", "X:: not HEAD:PATH"},
		{"pods --columns pod -o json", "pods: --columns is only for tables"},
		{"pods --columns pod -o name", "pods: --columns is only for tables"},
		{"qps --no-headers -o yaml", "qps: --no-headers is only for tables"},
		{"pcap a --no-headers", "pcap: --no-headers needs --packets"},
		{"pcap a --packets --no-headers --json", "pcap: --no-headers is only for tables"},
		{"pcap a --packets --flows 3", "pcap: --flows is not used with --packets"},
		{"pcap a --only ce --flows 3", "pcap: --flows is not used with --packets"},
		{"diagnose --write f", "diagnose: --write needs --record"},
		{"diagnose --replay f --trace t", "diagnose: --trace needs --record"},
		{"diagnose --replay f --undecided",
		 "diagnose: --undecided is not used with --replay"},
		{"diagnose --replay f --timeout 3",
		 "diagnose: --timeout is not used with --replay"},
		{"diagnose --record 3 --ended", "diagnose: --ended is not used with --record"},
		{"diagnose --record 3 -o json", "diagnose: --output is not used with --record"},
		{"diagnose --record 3 --json", "diagnose: --json is not used with --record"},
		{"suggest --merge d --timeout 3", "suggest: --timeout is not used with --merge"},
		{"suggest --configmap n --json", "suggest: --configmap is always YAML"},
		{"suggest --configmap n --merge d -o json", "suggest: --configmap is always YAML"},
		{"sniff d --timeout 3", "sniff: --timeout needs --pod"},
		{"explain link_down --pod p", "explain: --pod is not used with a cause"},
		{"explain link_down --timeout 3", "explain: --timeout is not used with a cause"},
		{"node-problem rocelet --severity warning",
		 "node-problem: --severity is only for rdma"},
		{"ports --columns a:b,a:b,a:b,a:b,a:b,a:b,a:b,a:b,a:b,a:b,a:b,a:b", "too many"},
		{"qps --top speed", "--top speed: not one of ce, cnp"},
		{"pods --sort-by stat", "unknown column STAT; did you mean STATE?"},
		{"pods --sort-by -bogus", "unknown column BOGUS"},
		{"pods --field-selector state", "state: not COLUMN=TEXT"},
		{"pods --field-selector state=x,y", "y: not COLUMN=TEXT"},
		{"pods --field-selector stat=x", "did you mean STATE?"},
		{"pods -n a --pod b/c", "--pod b/c is not in namespace a"},
		{"attach d --netns /n -n a", "--namespace needs --pod"},
		{"pods -n \xff", "--namespace is not valid UTF-8"},
		{"completion", "completion: bash|zsh|fish is missing"},
		{"completion csh", "completion csh: not one of bash, zsh, fish"},
		{"help bogus", "unknown command \"bogus\""},
		{"podz --help", "unknown command \"podz\"; did you mean \"pods\"?"},
	};
	struct ctl_args a = {.limit = 42};
	struct err e = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(parse(&a, bad[i].line, &e), -EINVAL);
		if (!strstr(e.msg, bad[i].names))
			fail_msg("%s: %s", bad[i].line, e.msg);
		assert_int_equal(a.limit, 42);
	}
}

/* Singular and short names of commands. */
static void test_other_names(void **state)
{
	static const struct {
		const char *line;
		enum ctl_command command;
	} rows[] = {
		{"pod", CTL_PODS},	{"po -n a", CTL_PODS},	{"device", CTL_DEVICES},
		{"dev", CTL_DEVICES},	{"port", CTL_PORTS},	{"event", CTL_EVENTS},
		{"ev", CTL_EVENTS},	{"qp", CTL_QPS},	{"resource", CTL_RESOURCES},
		{"res", CTL_RESOURCES}, {"diag", CTL_DIAGNOSE}, {"st", CTL_STATUS},
	};
	struct ctl_args a;
	struct err e = {0};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_int_equal(parse(&a, rows[i].line, &e), 0);
		assert_int_equal(a.command, rows[i].command);
	}
}

/* Queries wait 5 s, requests that change something longer; --timeout applies to both. */
static void test_timeout(void **state)
{
	struct ctl_args a;
	struct err e = {0};

	(void)state;
	assert_int_equal(parse(&a, "pods", &e), 0);
	assert_int_equal(ctl_args_wait_ms(&a), 5000);
	assert_int_equal(ctl_args_long_wait_ms(&a), CLIENT_WAIT_MS);
	assert_int_equal(parse(&a, "pods --timeout 60", &e), 0);
	assert_int_equal(ctl_args_wait_ms(&a), 60000);
	assert_int_equal(ctl_args_long_wait_ms(&a), 60000);
}

/* Every command has an example, and every example is a valid command line. */
static void test_examples(void **state)
{
	const struct ctl_example *example;
	bool has[N_CTL_COMMANDS] = {false};
	struct ctl_args a;
	struct err e = {0};

	(void)state;
	for (size_t i = 0; (example = ctl_example(i)); i++) {
		if (parse(&a, example->line, &e) != 0)
			fail_msg("%s: %s", example->line, e.msg);
		assert_int_equal(a.command, example->command);
		has[a.command] = true;
	}
	for (int i = 0; i < N_CTL_COMMANDS; i++)
		if (!has[i])
			fail_msg("%s has no example", ctl_command_row((enum ctl_command)i)->name);
}

static void test_captures(void **state)
{
	struct ctl_args a;
	struct err e = {0};

	(void)state;
	assert_int_equal(parse(&a, "pcap - --flows 0 --json", &e), 0);
	assert_int_equal(a.command, CTL_PCAP);
	assert_string_equal(a.file, "-");
	assert_int_equal(a.flows, 0);
	assert_int_equal(parse(&a, "pcap f --packets --limit 3", &e), 0);
	assert_true(a.packet_list);
	assert_string_equal(a.file, "f");
	assert_int_equal(parse(&a, "--packets pcap --only nak f --flow 10.0.0.1,17", &e), 0);
	assert_string_equal(a.file, "f");
	assert_string_equal(a.only, "nak");
	assert_int_equal(parse(&a, "pcap f --flow 17", &e), 0);
	assert_true(a.packet_list);
	assert_int_equal(parse(&a, "--packets 7 sniff d", &e), 0);
	assert_int_equal(a.packets, 7);
	assert_int_equal(parse(&a, "sniff mlx5_0", &e), 0);
	assert_string_equal(a.device, "mlx5_0");
	assert_int_equal(a.seconds, 10);
	assert_int_equal(a.packets, 1000000);
	assert_int_equal(a.bytes, 1000000000);
	assert_int_equal(a.flows, 10);
	assert_null(a.write);
	assert_int_equal(
		parse(&a,
		      "sniff net1 --pod ns/p --seconds 1 --packets 2 --bytes 1000000000000 "
		      "--write x.pcap",
		      &e),
		0);
	assert_int_equal(a.packets, 2);
	assert_int_equal(a.bytes, 1000000000000);
	assert_string_equal(a.write, "x.pcap");
	assert_string_equal(a.pod, "ns/p");
}

/* All ways to request help. */
static void test_topics(void **state)
{
	static const struct {
		const char *line;
		int topic;
	} rows[] = {
		{"--help", -1},
		{"help", -1},
		{"help pods", CTL_PODS},
		{"pods --help", CTL_PODS},
		{"-h attach", CTL_ATTACH},
		{"attach d --vlan x -h", CTL_ATTACH},
		{"help --help", -1},
		{"help --help qps", CTL_QPS},
	};
	struct ctl_args a;
	struct err e = {0};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_int_equal(parse(&a, rows[i].line, &e), 0);
		assert_int_equal(a.command, CTL_HELP);
		assert_int_equal(a.topic, rows[i].topic);
	}
}

/* Short addresses are completed in the copy that the caller gets; so are pods of a namespace. */
static void test_short_addresses_and_pods_are_completed(void **state)
{
	static const struct {
		const char *line, *device, *pod;
	} rows[] = {
		{"detach 03:00.2", "0000:03:00.2", NULL},
		{"detach 0A:1f.7", "0000:0a:1f.7", NULL},
		{"detach 0000:03:00.2", "0000:03:00.2", NULL},
		{"detach 03:00.8", "03:00.8", NULL},
		{"detach 03:00.22", "03:00.22", NULL},
		{"detach 03:00", "03:00", NULL},
		{"events --device 03:00.2 --pod p -n train", "0000:03:00.2", "train/p"},
		{"events -n train --pod train/p", NULL, "train/p"},
		{"events --pod p", NULL, "p"},
		{"events -n train", NULL, NULL},
	};
	struct ctl_args a;
	struct err e = {0};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_int_equal(parse(&a, rows[i].line, &e), 0);
		if (rows[i].device)
			assert_string_equal(a.device, rows[i].device);
		if (rows[i].pod)
			assert_string_equal(a.pod, rows[i].pod);
		else
			assert_null(a.pod);
	}
}

static void help_of_all(FILE *f)
{
	ctl_help(-1, f);
}

static void help_of_each(FILE *f)
{
	for (int i = 0; i < N_CTL_COMMANDS; i++) {
		ctl_help(i, f);
		fputc('\n', f);
	}
}

static void test_help(void **state)
{
	(void)state;
	assert_golden("tests/golden/rocectl_help.txt", help_of_all);
	assert_golden("tests/golden/rocectl_help_each.txt", help_of_each);
	assert_golden("tests/golden/rocectl.8", ctl_man);
}

/* A command has each flag once, and no two flags share a letter. */
static void test_the_table_is_consistent(void **state)
{
	const struct ctl_flag *a, *b;

	(void)state;
	for (size_t i = 0; (a = ctl_flag(i)); i++) {
		assert_true(a->help && a->help[0]);
		assert_int_equal(a->type == TYPE_NONE, a->value == NULL);
		for (size_t k = 0; k < i && (b = ctl_flag(k)); k++) {
			bool same = strcmp(a->name, b->name) == 0;

			assert_false(same && (a->commands & b->commands));
			assert_true(!a->letter || a->letter != b->letter || same);
		}
	}
	for (int i = 0; i < N_CTL_COMMANDS; i++) {
		const struct ctl_command_row *row = ctl_command_row((enum ctl_command)i);

		assert_true(row->name && row->brief);
		assert_int_equal(row->type == TYPE_NONE, row->word == NULL);
		assert_int_equal(ctl_command_find(row->name), i);
		assert_int_equal(row->formats != NULL,
				 ctl_flag_find((enum ctl_command)i, "output", 6) != NULL &&
					 i != CTL_SUPPORT_BUNDLE);
	}
}

/* The page; on the heap. */
static char *page_text(void)
{
	FILE *f = fopen("docs/reference/rocectl.md", "r");
	char *text = calloc(1, 1 << 18);

	assert_non_null(f);
	assert_true(fread(text, 1, (1 << 18) - 1, f) > 0);
	fclose(f);
	return text;
}

/* docs/reference/rocectl.md names every command and every flag. */
static void test_the_page_names_commands_and_flags(void **state)
{
	char *page = page_text(), word[64];
	const struct ctl_flag *flag;

	(void)state;
	for (int i = 0; i < N_CTL_COMMANDS; i++) {
		snprintf(word, sizeof(word), "| `%s", ctl_command_row((enum ctl_command)i)->name);
		if (!strstr(page, word))
			fail_msg("%s is missing", word);
	}
	for (size_t i = 0; (flag = ctl_flag(i)); i++) {
		snprintf(word, sizeof(word), "--%s", flag->name);
		if (!strstr(page, word))
			fail_msg("%s is missing", word);
	}
	free(page);
}

TEST_GROUP(ctl_args)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_option),
		cmocka_unit_test(test_invalid_command_lines),
		cmocka_unit_test(test_other_names),
		cmocka_unit_test(test_timeout),
		cmocka_unit_test(test_examples),
		cmocka_unit_test(test_captures),
		cmocka_unit_test(test_topics),
		cmocka_unit_test(test_short_addresses_and_pods_are_completed),
		cmocka_unit_test(test_help),
		cmocka_unit_test(test_the_table_is_consistent),
		cmocka_unit_test(test_the_page_names_commands_and_flags),
	};

	return test_group_run(tests, NULL, NULL);
}

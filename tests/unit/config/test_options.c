// SPDX-License-Identifier: Apache-2.0
/* The table of options: defaults, flags, the configuration file, and texts generated from it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "cleanup.h"
#include "config_file.h"
#include "golden.h"
#include "name_list.h"
#include "options.h"
#include "test_group.h"

struct warnings {
	unsigned n;
	char last[256];
};

static void on_warning(const char *sentence, void *arg)
{
	struct warnings *w = arg;

	w->n++;
	snprintf(w->last, sizeof(w->last), "%s", sentence);
}

static int load(struct options *o, enum option_action *action, struct warnings *w, struct err *e,
		const char *const *args)
{
	char *argv[16] = {(char *)"rocelet"};
	int argc = 1;

	while (args[argc - 1]) {
		argv[argc] = (char *)args[argc - 1];
		argc++;
	}
	return options_load(o, action, NULL, argc, argv, on_warning, w, e);
}

#define LOAD(...) load(&o, &action, &w, &e, (const char *const[]){__VA_ARGS__, NULL})
#define VARS                                                                                       \
	struct options o;                                                                          \
	enum option_action action;                                                                 \
	struct warnings w = {0};                                                                   \
	struct err e = {0};                                                                        \
	(void)w, (void)action, (void)e

static void test_defaults_are_the_documented_ones(void **state)
{
	VARS;
	(void)state;
	options_defaults(&o);
	assert_string_equal(o.sysfs_root, "/sys");
	assert_string_equal(o.listen, ":9907");
	assert_string_equal(o.kubelet_dir, "/var/lib/kubelet");
	assert_int_equal(o.sample_interval_ms, 1000);
	assert_false(o.dry_run);
	assert_int_equal(o.optional_counters.n, 0);
	assert_int_equal(o.mirrors.n + o.packet_ports.n, 0);
	assert_int_equal(o.packet_flows, 4096);
	assert_int_equal(o.mirror_flows, 0);
	assert_int_equal(o.bpf_memory, 32);
}

static void test_names_of_netdevs_are_not_changed(void **state)
{
	VARS;
	(void)state;
	assert_int_equal(LOAD("--mirrors", "eth0,fifteen-letters,a.b@c", "--packet-ports=..."), 0);
	assert_int_equal(o.mirrors.n, 3);
	assert_string_equal(o.mirrors.items[1], "fifteen-letters");
	assert_string_equal(o.packet_ports.items[0], "...");
}

static void test_flags_take_their_value_in_both_forms(void **state)
{
	VARS;
	(void)state;
	assert_int_equal(LOAD("--listen=[::1]:80", "--sample-interval", "0.25", "--dry-run"), 0);
	assert_string_equal(o.listen, "[::1]:80");
	assert_int_equal(o.sample_interval_ms, 250);
	assert_true(o.dry_run);
	assert_int_equal(action, ACTION_RUN);
}

static void test_bad_flags_are_named_in_the_error(void **state)
{
	static const struct {
		const char *args[3], *sentence;
	} cases[] = {
		{{"--lissten", ":1"}, "unknown flag --lissten, did you mean --listen?"},
		{{"--zzzzzzzz"}, "unknown flag --zzzzzzzz, see --help"},
		{{"stray"}, "unexpected argument 'stray', see --help"},
		{{"--sample-interval"}, "--sample-interval needs a value"},
		{{"--sample-interval", "soon"}, "--sample-interval: 'soon' is not a number"},
		{{"--sample-interval", "-1"}, "--sample-interval: '-1' is not a number"},
		{{"--sample-interval", "nan"}, "--sample-interval: 'nan' is not a number"},
		{{"--sample-interval", "1e9"},
		 "--sample-interval: 1e9 is not between 0.01 and 3600"},
		{{"--max-connections", "9.5"}, "--max-connections: '9.5' is not a whole number"},
		{{"--log-level", "loud"},
		 "--log-level: 'loud' is none of error, warn, info, debug"},
		{{"--dry-run=maybe"}, "--dry-run: 'maybe' is neither true nor false"},
		{{"--mirrors", "eth0,not a name"},
		 "--mirrors: 'not a name' cannot be the name of a netdev"},
		{{"--mirrors", "eth0,,eth1"}, "--mirrors: item 2 is empty or longer than 63 bytes"},
		{{"--packet-ports", "sixteen-letters-"},
		 "--packet-ports: 'sixteen-letters-' cannot be the name of a netdev"},
		{{"--packet-ports", ".."}, "--packet-ports: '..' cannot be the name of a netdev"},
		{{"--packet-flows", "-1"}, "--packet-flows: '-1' is not a number"},
		{{"--mirror-flows", "1048577"},
		 "--mirror-flows: 1048577 is not between 0 and 1048576"},
		{{"--event-buffer", "1"}, "--event-buffer: 1 is not between 1024 and 1073741824"},
		{{"-x"}, "unexpected argument '-x', see --help"},
		{{"--bpf-memory", "0"}, "--bpf-memory: 0 is not between 1 and 65536"},
		{{"--help=1"}, "--help takes no value"},
		{{"--listen", "9907"}, "--listen: '9907' is not ADDR:PORT, [V6]:PORT or :PORT"},
		{{"--resource-prefix", "kubernetes.io"},
		 "--resource-prefix: 'kubernetes.io' belongs to Kubernetes"},
		{{"--config", "/nonexistent/rocelet.json"},
		 "/nonexistent/rocelet.json: No such file or directory"},
	};
	(void)state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		VARS;
		memset(&o, 0x5a, sizeof(o));
		assert_true(load(&o, &action, &w, &e, cases[i].args) < 0);
		assert_string_equal(e.msg, cases[i].sentence);
		assert_int_equal(((unsigned char *)&o)[0], 0x5a); /* untouched */
	}
}

static int parse(struct options *o, const char *text, struct warnings *w, struct err *e)
{
	options_defaults(o);
	return options_parse_json(o, text, strlen(text), "c.json", on_warning, w, e);
}

static void test_a_config_file_sets_keys_of_every_type(void **state)
{
	VARS;
	(void)state;
	assert_int_equal(
		parse(&o,
		      "{\"listen\":\"\",\"sample-interval\":0.5,\"dry-run\":true,\"log-format\":\"json\","
		      "\"max-connections\":10,\"optional-counters\":[\"cc_rx_ce_pkts\",\"cc_tx_cnp_pkts\"]}",
		      &w, &e),
		0);
	assert_string_equal(o.listen, "");
	assert_int_equal(o.sample_interval_ms, 500);
	assert_true(o.dry_run);
	assert_int_equal(o.log_format, 1);
	assert_int_equal(o.max_connections, 10);
	assert_int_equal(o.optional_counters.n, 2);
	assert_string_equal(o.optional_counters.items[1], "cc_tx_cnp_pkts");
	assert_int_equal(w.n, 0);
}

static void test_stdin_is_read_only_for_checks(void **state)
{
	VARS;
	int null = dup(STDIN_FILENO), ends[2];
	(void)state;

	assert_int_equal(LOAD("--config", "-"), -EINVAL);
	assert_string_equal(
		e.msg, "--config -: stdin is read with --check-config and --print-config only");
	assert_int_equal(LOAD("--config=-", "--help"), 0);
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], "{\"lissten\": 1}", 14), 14);
	close(ends[1]);
	assert_int_equal(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
	assert_int_equal(LOAD("--config", "-", "--check-config"), 0);
	assert_int_equal(w.n, 1);
	assert_ptr_equal(strstr(w.last, "stdin:1: unknown key"), w.last);
	assert_string_equal(o.config, "stdin");
	dup2(null, STDIN_FILENO);
	close(null);
	close(ends[0]);
}

static void test_a_bad_config_names_file_line_and_key_and_changes_nothing(void **state)
{
	static const struct {
		const char *text, *sentence;
	} cases[] = {
		{"{\n\"listen\": 5}", "c.json:2: \"listen\": is not a string"},
		{"{\"dry-run\": true,\n\n \"max-connections\" : \"many\"}",
		 "c.json:3: \"max-connections\": is not a number"},
		{"{\"log-level\": \"loud\"}",
		 "c.json:1: \"log-level\": 'loud' is none of error, warn, info, debug"},
		{"{\"optional-counters\": [\"a\", 1]}",
		 "c.json:1: \"optional-counters\": item 2 is not a string"},
		{"{\"mirrors\": [\"eth0\", \"a/b\"]}",
		 "c.json:1: \"mirrors\": 'a/b' cannot be the name of a netdev"},
		{"{\"mirrors\": \"eth0\"}", "c.json:1: \"mirrors\": is not a list of strings"},
		{"{\n\"tls_cert\": \"/x\"}",
		 "c.json:2: unknown key \"tls_cert\", write \"tls-cert\""},
		{"{\"tlsKey\": 1}", "c.json:1: unknown key \"tlsKey\", write \"tls-key\""},
		{"{\"authTokenFile\": 1}",
		 "c.json:1: unknown key \"authTokenFile\", write \"auth-token-file\""},
		{"{\"BASIC-AUTH-FILE\": 1}",
		 "c.json:1: unknown key \"BASIC-AUTH-FILE\", write \"basic-auth-file\""},
		{"[]", "c.json:1: the file is not a JSON object"},
		{"null", "c.json:1: the file is not a JSON object"},
		{" \n", "c.json:1: the file is empty; write {} to offer nothing"},
		{"{\n\"listen\": \":99999\"}",
		 "c.json:2: \"listen\": ':99999' is not ADDR:PORT, [V6]:PORT or :PORT"},
		{"{\"listen\": \"node-1:80\"}",
		 "c.json:1: \"listen\": 'node-1' is not an IP address"},
		{"{\"state-dir\": \"a/b\"}",
		 "c.json:1: \"state-dir\": 'a/b' does not begin with \"/\""},
		{"{\"state-dir\": \"\"}", "c.json:1: \"state-dir\": is empty"},
		{"{\"cni-path\": \"/a::b\"}",
		 "c.json:1: \"cni-path\": 'b' does not begin with \"/\""},
		{"{\"sysfs-root\": \"/nonexistent\"}",
		 "c.json:1: \"sysfs-root\": there is no folder /nonexistent"},
		{"{\"resource-prefix\": \"a_b\"}",
		 "c.json:1: \"resource-prefix\": 'a_b' is not a resource prefix: a DNS name in lower "
		 "case"},
		{"{\"kind\": \"Pod\",\n\"apiVersion\": \"v1\"}",
		 "c.json:1: \"kind\": the file is a manifest (Pod), not a configuration; write what is "
		 "below \"data\" of a ConfigMap"},
	};
	(void)state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		VARS;
		assert_true(parse(&o, cases[i].text, &w, &e) < 0);
		assert_string_equal(e.msg, cases[i].sentence);
		assert_false(o.dry_run);
	}
}

static void test_broken_json_names_line_and_column(void **state)
{
	VARS;
	(void)state;
	assert_true(parse(&o, "{\n \"listen\" \"x\"}", &w, &e) < 0);
	assert_true(strncmp(e.msg, "c.json:2:", 9) == 0);
	assert_true(parse(&o, "{\"listen\":\"\xff\xfe\"}", &w, &e) < 0);
	assert_true(parse(&o, "{\"listen\":\"a\",\"listen\":\"b\"}", &w, &e) < 0);
	assert_true(parse(&o, "", &w, &e) < 0);
}

static void test_other_formats_are_named(void **state)
{
	static const struct {
		const char *text, *hint;
	} cases[] = {
		{"listen: 5\n", "; YAML is not supported, write JSON"},
		{"- a\n", "; YAML is not supported, write JSON"},
		{"{\n// why\n\"listen\": \"\"}",
		 "; JSON has no comments, write a key \"_comment\""},
		{"{\n\"listen\": \"\" # why\n}",
		 "; JSON has no comments, write a key \"_comment\""},
		{"{\n\"listen\": /* why */ \"\"}",
		 "; JSON has no comments, write a key \"_comment\""},
		{"{\n\"listen\" \"http://x#y\"}", ""},
		{"{\n\"a\": \"\\\"//\" 5}", ""},
		{"{\"dry-run\": True}", "; write true"},
		{"{\"dry-run\": False, \"a\": 1}", "; write false"},
		{"{\"a\": [None]}", "; write null"},
		{"{\"dry-run\": yes\n}", "; write true"},
		{"{\"dry-run\": off}", "; write false"},
		{"{'listen': ''}", "; keys and strings need double quotes"},
		{"{\"listen\": ':9907'}", "; keys and strings need double quotes"},
		{"{listen: \"\"}", "; keys and strings need double quotes"},
		{"{\"listen\": any}", "; keys and strings need double quotes"},
		{"{true: 1}", ""},
		{"{\"a\": \"it's\n\"}", ""},
		{"{\"a\": \"it's", ""},
		{"{\"a\": @}", ""},
		{"{\"a\":", ""},
	};
	(void)state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		VARS;
		const char *at;
		assert_true(parse(&o, cases[i].text, &w, &e) < 0);
		at = strstr(e.msg, "; ");
		assert_string_equal(at ? at : "", cases[i].hint);
	}
}

static void test_broken_json_is_not_quoted(void **state)
{
	static const char *const texts[] = {
		"{\"a\": {\"b\": \"hunter2secret}}",
		"{\"a\": \"x\" \"hunter2secret\"}",
		"{\"a\": hunter2secret}",
		"{\"a\": \"hunter2secret\\q\"}",
		"{\"a\": \"hunter2secret\\ud800\"}",
		"{\"a\": \"hunter2secret\n\"}",
		"{\"a\": \"hunter2secret\xff\"}",
		"\"hunter2secret\"",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		VARS;
		assert_true(parse(&o, texts[i], &w, &e) < 0);
		assert_true(strncmp(e.msg, "c.json:1:", 9) == 0);
		assert_null(strstr(e.msg, "hunter"));
	}
}

static void test_unknown_keys_are_warned_about_with_a_suggestion(void **state)
{
	VARS;
	(void)state;
	assert_int_equal(parse(&o, "{\n\"lisen\": \":1\", \"dry-run\": true}", &w, &e), 0);
	assert_int_equal(w.n, 1);
	assert_string_equal(
		w.last, "c.json:2: unknown key \"lisen\" (did you mean \"listen\"?), ignoring it");
	assert_true(o.dry_run);
	assert_int_equal(parse(&o, "{\"config\": \"x\"}", &w, &e), 0); /* flag only */
	assert_int_equal(w.n, 2);
}

static void test_misplaced_keys_are_named(void **state)
{
	static const struct {
		const char *text, *sentence;
	} cases[] = {
		{"{\"network\": []}", "c.json:1: unknown key \"network\" (did you mean \"pools\"? "
				      "\"network\" is a key of its items), ignoring it"},
		{"{\"networks\": []}",
		 "c.json:1: unknown key \"networks\" (did you mean \"pools\"? "
		 "\"network\" is a key of its items), ignoring it"},
		{"{\n\"config\": \"x\"}",
		 "c.json:2: \"config\" is a flag, not a key of the file, ignoring it"},
		{"{\"proc-root\": \"/nonexistent\"}",
		 "c.json:1: \"proc-root\": there is no folder /nonexistent"},
	};
	(void)state;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		VARS;
		assert_int_equal(parse(&o, cases[i].text, &w, &e), 0);
		assert_int_equal(w.n, 1);
		assert_string_equal(w.last, cases[i].sentence);
	}
}

/* A flag's path is relative to the current folder; the file must contain absolute paths. */
static void test_a_flag_may_be_relative(void **state)
{
	char here[PATH_MAX], expected[PATH_MAX + 64], *text;
	VARS;
	(void)state;
	assert_int_equal(LOAD("--state-dir", "a/b", "--cni-path", "bin:/bin", "--sysfs-root", "x"),
			 0);
	assert_string_equal(o.state_dir, "a/b");
	text = options_json(&o, NULL);
	assert_non_null(getcwd(here, sizeof(here)));
	snprintf(expected, sizeof(expected), "\"cni-path\": \"%s/bin:/bin\"", here);
	assert_non_null(strstr(text, expected));
	assert_int_equal(parse(&o, text, &w, &e), -EINVAL); /* the sysfs root does not exist */
	assert_non_null(strstr(e.msg, "there is no folder"));
	free(text);
}

static int load_text(struct options *o, struct err *e, const char *text, const char *const *flags)
{
	char path[] = "/tmp/rocelet-options-XXXXXX";
	const char *args[8] = {"--config", path};
	struct warnings w = {0};
	enum option_action action;
	int fd = mkstemp(path), r;

	for (size_t i = 0; flags[i]; i++)
		args[2 + i] = flags[i];
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
	r = load(o, &action, &w, e, args);
	unlink(path);
	return r;
}

static void test_a_certificate_needs_its_key(void **state)
{
	static const char *const none[] = {NULL}, *const key[] = {"--tls-key", "/k", NULL},
				 *const cert[] = {"--tls-cert", "/c", NULL};
	VARS;
	(void)state;

	assert_int_equal(load_text(&o, &e, "{\n\"tls-cert\": \"/c\"}", none), -EINVAL);
	assert_non_null(strstr(e.msg, ":2: \"tls-cert\": is given without tls-key"));
	assert_int_equal(load_text(&o, &e,
				   "{\"groups\": [{\"name\": \"g\", \"match\": {},\n\n\"tls-key\": "
				   "\"/k\"}]}",
				   none),
			 -EINVAL);
	assert_non_null(strstr(e.msg, ":3: \"tls-key\": is given without tls-cert"));
	assert_int_equal(load_text(&o, &e, "{\"tls-cert\": \"/c\"}", key), 0);
	assert_int_equal(load_text(&o, &e, "{}", cert), 0); /* nothing is served over TCP */
}

static void test_keys_of_pools_are_ignored_by_the_option_parser(void **state)
{
	VARS;
	(void)state;
	assert_int_equal(
		parse(&o,
		      "{\"pools\":[{\"listen\":\"x\"}],\"resourceList\":[],\"configList\":[],\n"
		      "\"periodicUpdateInterval\":60,\"mode\":\"hca\",\"pfNetdevices\":[],\n"
		      "\"listen\": 5}",
		      &w, &e),
		-EINVAL);
	assert_int_equal(w.n, 0);
	assert_string_equal(e.msg, "c.json:3: \"listen\": is not a string");
}

static void test_flags_override_the_file(void **state)
{
	char path[] = "/tmp/rocelet-options-XXXXXX";
	int fd = mkstemp(path);
	const char text[] = "{\"listen\": \":1\", \"run-dir\": \"/file\"}";
	VARS;
	(void)state;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, sizeof(text) - 1), sizeof(text) - 1);
	assert_int_equal(LOAD("--config", path, "--listen", ":2"), 0);
	assert_int_equal(w.n, 0);
	assert_string_equal(o.listen, ":2");
	assert_string_equal(o.run_dir, "/file");
	assert_string_equal(o.config, path);
	close(fd);
	unlink(path);
	assert_true(LOAD("--config=/tmp") < 0);
	assert_string_equal(e.msg, "/tmp: not a file");
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_true(LOAD("--config", path) < 0); /* without blocking for a writer */
	unlink(path);
}

static void test_options_overridden_by_flags(void **state)
{
	char text[] =
		"{\"listen\": \":9907\", \"run-dir\": \"/file\", \"dry-run\": true, \"x\": 1}";
	const struct config_file file = {.text = text, .len = sizeof(text) - 1}, none = {0};
	char names[64];
	VARS;
	(void)state;

	assert_int_equal(LOAD("--listen", ":2", "--run-dir", "/file", "--state-dir", "/flag",
			      "--dry-run=false"),
			 0);
	assert_int_equal(options_overridden(&o, &file, names, sizeof(names)), 2);
	assert_string_equal(names, "listen, dry-run");
	assert_int_equal(options_overridden(&o, &none, names, sizeof(names)), 0);
	assert_string_equal(names, "");
}

static void test_a_printed_config_is_read_back_unchanged(void **state)
{
	struct options again;
	char *text;
	VARS;
	(void)state;

	assert_int_equal(LOAD("--state-dir", "/x\"y", "--sample-interval", "0.125", "--compat",
			      "node_exporter", "--optional-counters", "a,b"),
			 0);
	text = options_json(&o, NULL);
	assert_non_null(text);
	assert_int_equal(parse(&again, text, &w, &e), 0);
	memcpy(again.config, o.config, sizeof(o.config));
	assert_memory_equal(&again, &o, sizeof(o));
	assert_int_equal(w.n, 0);
	free(text);
}

static void test_changed_options(void **state)
{
	struct options a, b;
	char names[256], few[NAME_LIST_LEAST + 8];

	(void)state;
	options_defaults(&a);
	b = a;
	assert_int_equal(options_changed(&a, &b, names, sizeof(names)), 0);
	assert_string_equal(names, "");
	memset(a.listen + strlen(a.listen) + 1, 'x', 3); /* bytes after the end of the text */
	assert_int_equal(options_changed(&a, &b, names, sizeof(names)), 0);
	strcpy(b.listen, ":1");
	b.dry_run = true;
	b.sample_interval_ms = 1500;
	b.registration = REGISTRATION_LEGACY;
	b.settle_ms++;
	b.optional_counters.n = 1;
	strcpy(b.optional_counters.items[0], "cc_rx_ce_pkts");
	assert_int_equal(options_changed(&a, &b, names, sizeof(names)), 6);
	assert_non_null(strstr(names, "listen"));
	assert_non_null(strstr(names, "dry-run"));
	assert_non_null(strstr(names, "sample-interval"));
	assert_non_null(strstr(names, "registration"));
	assert_non_null(strstr(names, "settle-ms"));
	assert_non_null(strstr(names, "optional-counters"));
	assert_non_null(strstr(names, ", "));
	assert_int_equal(options_changed(&b, &a, few, sizeof(few)), 6);
	assert_non_null(strstr(few, " more"));
	b = a;
	b.diagnosis.value[0]++; /* they take effect at once */
	b.diagnosis.expected = CC_LOSSY;
	assert_int_equal(options_changed(&a, &b, names, sizeof(names)), 0);
	strcpy(a.optional_counters.items[0], "gone"); /* only the first n items count */
	b = a;
	strcpy(b.optional_counters.items[0], "other");
	assert_int_equal(options_changed(&a, &b, names, sizeof(names)), 0);
}

static void test_limits_of_the_diagnosis(void **state)
{
	VARS;
	(void)state;
	assert_int_equal(parse(&o,
			       "{\"expect-congestion-control\":\"pfc_only\",\"diagnosis\":{"
			       "\"_comment\":\"x\",\"ce_share_warning\":0.02,\"hold_seconds\":0}}",
			       &w, &e),
			 0);
	assert_int_equal(w.n, 0);
	assert_int_equal(o.diagnosis.expected, CC_PFC_ONLY);
	assert_true(o.diagnosis.value[LIMIT_ce_share_warning] == 0.02);
	assert_true(o.diagnosis.value[LIMIT_hold_seconds] == 0);
	assert_true(o.diagnosis.value[LIMIT_settle_seconds] == 30);
	assert_int_equal(LOAD("--expect-congestion-control", "dcqcn"), 0);
	assert_int_equal(o.diagnosis.expected, CC_DCQCN);
	assert_true(o.diagnosis.value[LIMIT_hold_seconds] == 60);
	assert_true(LOAD("--diagnosis", "x") < 0); /* it is not a flag */
}

static void test_invalid_limits(void **state)
{
	static const struct {
		const char *text, *sentence;
	} bad[] = {
		{"{\n\"diagnosis\":{\"hold_second\":1}}",
		 "c.json:2: \"diagnosis.hold_second\": unknown key, did you mean \"hold_seconds\"?"},
		{"{\"diagnosis\":{\n\"qwertyuiop\":1}}",
		 "c.json:2: \"diagnosis.qwertyuiop\": unknown key"},
		{"{\"diagnosis\":{\"hold_seconds\":\"1\"}}",
		 "c.json:1: \"diagnosis.hold_seconds\": is not a number"},
		{"{\"diagnosis\":{\"ce_share_warning\":0.5,\n\n\"hold_seconds\":-1}}",
		 "c.json:3: \"diagnosis.hold_seconds\": -1 is not between 0 and 3600"},
		{"{\"diagnosis\":{\"hold_seconds\":3600.5}}",
		 "c.json:1: \"diagnosis.hold_seconds\": 3600.5 is not between 0 and 3600"},
		{"{\"diagnosis\":{\"hold_seconds\":NaN}}", "c.json:1:"},
		{"{\"diagnosis\":{\"hold_seconds\":1e999}}", "c.json:1:"},
		{"{\"diagnosis\":[]}", "c.json:1: \"diagnosis\": is not an object"},
		{"{\"expect-congestion-control\":\"x\"}",
		 "c.json:1: \"expect-congestion-control\": 'x' is none of unknown, dcqcn"},
	};
	VARS;
	(void)state;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_int_equal(parse(&o, bad[i].text, &w, &e), -EINVAL);
		if (strncmp(e.msg, bad[i].sentence, strlen(bad[i].sentence)) != 0)
			fail_msg("%s: %s", bad[i].text, e.msg);
		assert_true(o.diagnosis.value[LIMIT_ce_share_warning] == 0.01);
		assert_true(o.diagnosis.value[LIMIT_hold_seconds] == 60);
	}
}

/* Congestion control modes are stored as enum values. */
static void test_fabrics(void **state)
{
	VARS;
	(void)state;
	for (int cc = 0; cc < N_CC; cc++) {
		char text[64];

		snprintf(text, sizeof(text), "{\"expect-congestion-control\":\"%s\"}",
			 congestion_control_name((enum congestion_control)cc));
		assert_int_equal(parse(&o, text, &w, &e), 0);
		assert_int_equal(o.diagnosis.expected, cc);
	}
}

static void test_windows_have_two_samples(void **state)
{
	VARS;
	(void)state;
	assert_int_equal(LOAD("--sample-interval", "30"), 0);
	assert_true(o.diagnosis.value[LIMIT_stale_source_seconds] == 60); /* at least two samples */
	assert_true(o.diagnosis.value[LIMIT_release_storm_seconds] == 300);
	assert_true(o.diagnosis.value[LIMIT_settle_seconds] == 30); /* not a window */
	assert_int_equal(LOAD("--sample-interval", "3600"), 0);
	assert_true(o.diagnosis.value[LIMIT_longest_gap_seconds] == 7200);
	assert_true(o.diagnosis.value[LIMIT_release_seconds] == 3600); /* its maximum */
}

static void test_help_and_docs_match_the_table(void **state)
{
	(void)state;
	assert_golden("tests/golden/help.txt", options_help);
	assert_golden("docs/reference/options.md", options_markdown);
}

TEST_GROUP(options)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults_are_the_documented_ones),
		cmocka_unit_test(test_flags_take_their_value_in_both_forms),
		cmocka_unit_test(test_names_of_netdevs_are_not_changed),
		cmocka_unit_test(test_bad_flags_are_named_in_the_error),
		cmocka_unit_test(test_a_config_file_sets_keys_of_every_type),
		cmocka_unit_test(test_stdin_is_read_only_for_checks),
		cmocka_unit_test(test_a_bad_config_names_file_line_and_key_and_changes_nothing),
		cmocka_unit_test(test_broken_json_names_line_and_column),
		cmocka_unit_test(test_other_formats_are_named),
		cmocka_unit_test(test_broken_json_is_not_quoted),
		cmocka_unit_test(test_unknown_keys_are_warned_about_with_a_suggestion),
		cmocka_unit_test(test_misplaced_keys_are_named),
		cmocka_unit_test(test_a_flag_may_be_relative),
		cmocka_unit_test(test_a_certificate_needs_its_key),
		cmocka_unit_test(test_keys_of_pools_are_ignored_by_the_option_parser),
		cmocka_unit_test(test_flags_override_the_file),
		cmocka_unit_test(test_options_overridden_by_flags),
		cmocka_unit_test(test_a_printed_config_is_read_back_unchanged),
		cmocka_unit_test(test_changed_options),
		cmocka_unit_test(test_limits_of_the_diagnosis),
		cmocka_unit_test(test_invalid_limits),
		cmocka_unit_test(test_fabrics),
		cmocka_unit_test(test_windows_have_two_samples),
		cmocka_unit_test(test_help_and_docs_match_the_table),
	};

	return test_group_run(tests, NULL, NULL);
}

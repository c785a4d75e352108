// SPDX-License-Identifier: Apache-2.0
/* Log lines: one line per event and valid JSON, whatever the text; a call site that logs too often
 * is rate-limited, and the number of dropped lines is logged. Tests change the site's time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above first */
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "log.h"
#include "test_group.h"

/* Much more than a test writes, but less than the capacity of a pipe. */
#define CAPTURE_SIZE 32768

/* Collects what is written to stderr between capture_start() and capture_end(). */
struct capture {
	int saved_fd, read_fd;
	char text[CAPTURE_SIZE];
};

static void capture_start(struct capture *c)
{
	int fds[2];

	assert_int_equal(pipe2(fds, O_CLOEXEC | O_NONBLOCK), 0);
	c->saved_fd = dup(STDERR_FILENO);
	assert_true(c->saved_fd >= 0);
	assert_int_equal(dup2(fds[1], STDERR_FILENO), STDERR_FILENO);
	close(fds[1]);
	c->read_fd = fds[0];
}

static const char *capture_end(struct capture *c)
{
	ssize_t n = read(c->read_fd, c->text, sizeof(c->text) - 1);

	dup2(c->saved_fd, STDERR_FILENO);
	close(c->saved_fd);
	close(c->read_fd);
	c->text[n > 0 ? n : 0] = '\0';
	return c->text;
}

static struct capture captured;

/* Returns one line, logged by its own call site. */
static const char *line_of(enum log_format format, enum log_level level, int err, const char *msg)
{
	struct log_site site = {0};

	log_init(LOG_LVL_DEBUG, format);
	capture_start(&captured);
	log_at(&site, level, "mod", err, "%s", msg);
	return capture_end(&captured);
}

static void assert_matches(const char *text, const char *pattern)
{
	regex_t re;

	assert_int_equal(regcomp(&re, pattern, REG_EXTENDED | REG_NOSUB), 0);
	if (regexec(&re, text, 0, NULL, 0) != 0)
		fail_msg("'%s' does not match '%s'", text, pattern);
	regfree(&re);
}

static unsigned count_lines(const char *text)
{
	unsigned n = 0;

	for (; *text != '\0'; text++)
		n += *text == '\n';
	return n;
}

/* Parses the line, which must be one complete line. */
static json_t *parse_line(const char *line)
{
	json_error_t where;
	json_t *object = json_loads(line, 0, &where);

	if (!object)
		fail_msg("not JSON (%s): %s", where.text, line);
	assert_int_equal(count_lines(line), 1);
	assert_int_equal(line[strlen(line) - 1], '\n');
	return object;
}

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	assert_non_null(text);
	return text;
}

#define TIME "[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z"

/* --- text ------------------------------------------------------------------------------------- */

static void test_fields_of_a_text_line_in_order(void **state)
{
	(void)state;
	assert_matches(line_of(LOG_FORMAT_TEXT, LOG_LVL_INFO, 0, "all is well"),
		       "^" TIME " info  mod: all is well\n$");
	assert_matches(line_of(LOG_FORMAT_TEXT, LOG_LVL_ERROR, -ENOENT, "no file"),
		       "^" TIME " error mod: no file: No such file or directory\n$");
}

static void test_text_cannot_start_a_new_line(void **state)
{
	(void)state;
	assert_matches(line_of(LOG_FORMAT_TEXT, LOG_LVL_WARN, 0, "a\nb\rc\td\033[1me\177f"),
		       "^" TIME " warn  mod: a\\?b\\?c\\?d\\?\\[1me\\?f\n$");
}

static void test_a_long_text_is_truncated_to_one_line(void **state)
{
	char *msg = calloc(1, 5001);
	const char *line;
	(void)state;

	memset(msg, 'x', 5000);
	line = line_of(LOG_FORMAT_TEXT, LOG_LVL_INFO, -EILSEQ, msg);
	assert_int_equal(count_lines(line), 1);
	assert_int_equal(line[strlen(line) - 1], '\n');
	assert_true(strlen(line) > 500 && strlen(line) < 2000);
	free(msg);
}

static void log_like_a_library(struct log_site *site, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	log_v(site, LOG_LVL_INFO, "lib", 0, fmt, ap);
	va_end(ap);
}

static void test_trailing_newlines_of_libraries_are_dropped(void **state)
{
	struct log_site site = {0};
	(void)state;

	log_init(LOG_LVL_INFO, LOG_FORMAT_TEXT);
	capture_start(&captured);
	log_like_a_library(&site, "libbpf: %d\n\n", 7);
	assert_matches(capture_end(&captured), "^" TIME " info  lib: libbpf: 7\n$");
}

/* --- JSON ------------------------------------------------------------------------------------- */

static void test_a_json_line_has_the_same_fields(void **state)
{
	json_t *o = parse_line(line_of(LOG_FORMAT_JSON, LOG_LVL_WARN, -ENODEV, "mlx5_0 went away"));
	(void)state;

	assert_matches(text_of(o, "time"), "^" TIME "$");
	assert_string_equal(text_of(o, "level"), "warn");
	assert_string_equal(text_of(o, "module"), "mod");
	assert_string_equal(text_of(o, "msg"), "mlx5_0 went away");
	assert_int_equal(json_integer_value(json_object_get(o, "errno")), ENODEV);
	assert_string_equal(text_of(o, "error"), "No such device");
	json_decref(o);
	o = parse_line(line_of(LOG_FORMAT_JSON, LOG_LVL_DEBUG, 0, ""));
	assert_string_equal(text_of(o, "msg"), "");
	assert_null(json_object_get(o, "errno"));
	assert_null(json_object_get(o, "error"));
	json_decref(o);
}

static void test_any_message_is_valid_json(void **state)
{
	json_t *o = parse_line(line_of(LOG_FORMAT_JSON, LOG_LVL_INFO, 0,
				       "\"},{\"level\":\"x\\\n\001\177\xff\xc3\xa9"));
	(void)state;

	assert_string_equal(text_of(o, "msg"), "\"},{\"level\":\"x\\??????");
	assert_string_equal(text_of(o, "level"), "info");
	json_decref(o);
}

/* A line may contain an interface name that a pod has chosen. */
static void test_any_message_is_one_line_of_text(void **state)
{
	const char *line = line_of(LOG_FORMAT_TEXT, LOG_LVL_INFO, 0, "n\x01x \xff\xc3\xa9\xc3.");
	(void)state;

	assert_non_null(strstr(line, "mod: n?x ?\xc3\xa9?.\n"));
}

/* Lengths around the buffers' sizes, with the longest escapes and the longest error text. */
static void test_a_long_json_line_is_truncated_and_valid(void **state)
{
	char *msg = calloc(1, 1101);
	(void)state;

	for (size_t n = 300; n <= 1100; n++) {
		memset(msg, n % 2 ? '"' : '\\', n);
		json_decref(parse_line(line_of(LOG_FORMAT_JSON, LOG_LVL_ERROR, -ESHUTDOWN, msg)));
		msg[0] = 'x'; /* shifts the escapes by one byte */
		json_decref(parse_line(line_of(LOG_FORMAT_JSON, LOG_LVL_ERROR, -ESHUTDOWN, msg)));
	}
	free(msg);
}

/* --- levels and rate limits ------------------------------------------------------------------- */

static void test_only_levels_at_or_above_the_threshold_are_logged(void **state)
{
	uint64_t dropped = log_dropped();
	(void)state;

	log_init(LOG_LVL_WARN, LOG_FORMAT_TEXT);
	capture_start(&captured);
	log_error("m", 0, "one");
	log_warn("m", 0, "two");
	log_info("m", 0, "three");
	log_debug("m", 0, "four");
	assert_matches(capture_end(&captured), "^" TIME " error m: one\n" TIME " warn  m: two\n$");
	assert_int_equal(log_dropped(), dropped); /* a line below the level is not dropped */
}

static const char *fields_of(enum log_format format, const char *msg, const char *value)
{
	const struct log_field fields[] = {
		{"reason", "Attached"}, {"device", ""}, {"object", value}};
	struct log_site site = {0};

	log_init(LOG_LVL_DEBUG, format);
	capture_start(&captured);
	log_fields(&site, LOG_LVL_INFO, "event", msg, fields, 3);
	return capture_end(&captured);
}

static void test_fields_of_a_text_line(void **state)
{
	(void)state;
	assert_matches(fields_of(LOG_FORMAT_TEXT, "it is there", "pod/a/b"),
		       "^[^ ]+ info  event: it is there reason=\"Attached\" "
		       "object=\"pod/a/b\"\n$");
	assert_matches(fields_of(LOG_FORMAT_TEXT, "a\nb", "c\n\"d"),
		       ": a\\?b reason=\"Attached\" object=\"c\\?\\\\\"d\"\n$");
}

static void test_fields_of_a_json_line(void **state)
{
	json_t *object = parse_line(fields_of(LOG_FORMAT_JSON, "it is there", "a \"b\"\n"));

	(void)state;
	assert_string_equal(text_of(object, "msg"), "it is there");
	assert_string_equal(text_of(object, "reason"), "Attached");
	assert_string_equal(text_of(object, "object"), "a \"b\"?");
	assert_null(json_object_get(object, "device"));
	json_decref(object);
}

static void test_long_fields_are_truncated_and_the_line_stays_valid(void **state)
{
	static char value[8192], msg[8192];
	json_t *object;

	(void)state;
	memset(value, '"', sizeof(value) - 1);
	memset(msg, 'x', sizeof(msg) - 1);
	object = parse_line(fields_of(LOG_FORMAT_JSON, msg, value));
	assert_string_equal(text_of(object, "reason"), "Attached");
	json_decref(object);
	assert_int_equal(count_lines(fields_of(LOG_FORMAT_TEXT, msg, value)), 1);
}

static const char *log_many(struct log_site *site, unsigned n)
{
	capture_start(&captured);
	for (unsigned i = 0; i < n; i++)
		log_at(site, LOG_LVL_INFO, "m", 0, "again");
	return capture_end(&captured);
}

/* A site with is_answer only drops a text that equals the previous one. */
static void test_answers_are_not_dropped(void **state)
{
	struct log_site site = {.is_answer = true};
	char msg[32];
	(void)state;

	log_init(LOG_LVL_DEBUG, LOG_FORMAT_TEXT);
	capture_start(&captured);
	for (unsigned i = 0; i < 4 * LOG_BURST; i++) {
		snprintf(msg, sizeof(msg), "edit %u", i);
		log_fields(&site, LOG_LVL_WARN, "m", msg, NULL, 0);
	}
	assert_int_equal(count_lines(capture_end(&captured)), 4 * LOG_BURST);
	capture_start(&captured);
	log_fields(&site, LOG_LVL_WARN, "m", msg, NULL, 0);
	assert_string_equal(capture_end(&captured), "");
	capture_start(&captured);
	log_fields(&site, LOG_LVL_WARN, "m", "another", NULL, 0);
	assert_non_null(strstr(capture_end(&captured), "another (1 such lines dropped before)"));
}

static void test_a_call_site_is_rate_limited(void **state)
{
	struct log_site site = {0}, other = {0};
	uint64_t dropped = log_dropped();
	const char *text;
	(void)state;

	log_init(LOG_LVL_INFO, LOG_FORMAT_TEXT);
	assert_int_equal(count_lines(log_many(&site, LOG_BURST)), LOG_BURST);
	assert_string_equal(log_many(&site, 5), "");
	assert_int_equal(log_dropped(), dropped + 5);
	assert_int_equal(count_lines(log_many(&other, 1)), 1); /* other sites are not limited */

	site.last_ms -= 2000; /* two seconds later: two lines more */
	text = log_many(&site, 3);
	assert_matches(text, "^" TIME " info  m: again \\(5 such lines dropped before\\)\n" TIME
			     " info  m: again\n$");
	assert_int_equal(log_dropped(), dropped + 6);
}

static void test_a_long_silence_allows_no_more_than_a_burst(void **state)
{
	struct log_site site = {0};
	(void)state;

	log_init(LOG_LVL_INFO, LOG_FORMAT_TEXT);
	assert_int_equal(count_lines(log_many(&site, 1)), 1);
	site.last_ms -= 3600 * 1000;
	assert_int_equal(count_lines(log_many(&site, 2 * LOG_BURST)), LOG_BURST);
}

TEST_GROUP(log)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fields_of_a_text_line_in_order),
		cmocka_unit_test(test_text_cannot_start_a_new_line),
		cmocka_unit_test(test_a_long_text_is_truncated_to_one_line),
		cmocka_unit_test(test_trailing_newlines_of_libraries_are_dropped),
		cmocka_unit_test(test_a_json_line_has_the_same_fields),
		cmocka_unit_test(test_any_message_is_valid_json),
		cmocka_unit_test(test_any_message_is_one_line_of_text),
		cmocka_unit_test(test_a_long_json_line_is_truncated_and_valid),
		cmocka_unit_test(test_only_levels_at_or_above_the_threshold_are_logged),
		cmocka_unit_test(test_fields_of_a_text_line),
		cmocka_unit_test(test_fields_of_a_json_line),
		cmocka_unit_test(test_long_fields_are_truncated_and_the_line_stays_valid),
		cmocka_unit_test(test_answers_are_not_dropped),
		cmocka_unit_test(test_a_call_site_is_rate_limited),
		cmocka_unit_test(test_a_long_silence_allows_no_more_than_a_burst),
	};

	return test_group_run(tests, NULL, NULL);
}

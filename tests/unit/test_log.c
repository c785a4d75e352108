/* Lines as they leave the process: whole, one each, also when the message is too long. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above first */
#include <cmocka.h>

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "log.h"

static char line[8192];
static int pipe_fds[2], real_stderr;

static void begin(void)
{
	assert_int_equal(pipe(pipe_fds), 0);
	real_stderr = dup(STDERR_FILENO);
	dup2(pipe_fds[1], STDERR_FILENO);
}

/* What was written since begin(). */
static size_t end(void)
{
	ssize_t n;

	dup2(real_stderr, STDERR_FILENO);
	close(real_stderr);
	close(pipe_fds[1]);
	n = read(pipe_fds[0], line, sizeof(line) - 1);
	close(pipe_fds[0]);
	assert_true(n >= 0);
	line[n] = '\0';
	return (size_t)n;
}

static size_t log_one(enum log_format format, int err, const char *message)
{
	struct log_site site = {0};

	log_init(LOG_LVL_INFO, format);
	begin();
	log_at(&site, LOG_LVL_WARN, "test", err, "%s", message);
	return end();
}

static void a_line_says_level_module_message_and_error(void **state)
{
	(void)state;
	log_one(LOG_FORMAT_TEXT, -ENOENT, "what");
	assert_non_null(strstr(line, "Z warn  test: what: No such file or directory\n"));
	log_one(LOG_FORMAT_JSON, -ENOENT, "say \"x\"");
	assert_non_null(strstr(line, "\"level\":\"warn\",\"module\":\"test\",\"msg\":\"say "
				     "\\\"x\\\"\",\"errno\":2,\"error\":\"No such file"));
}

static void control_bytes_start_no_line_of_their_own(void **state)
{
	(void)state;
	log_one(LOG_FORMAT_TEXT, 0, "a\nb\x1b[0m");
	assert_non_null(strstr(line, "test: a?b?[0m\n"));
}

/* Every length around the limit, in both formats, with the errno of the longest words. */
static void a_line_that_is_cut_is_still_a_line(void **state)
{
	(void)state;
	for (size_t n = 400; n <= 800; n++) {
		char message[801];
		size_t len;

		memset(message, '"', n); /* two bytes each in JSON */
		memset(message, 'x', n & 1);
		message[n] = '\0';
		len = log_one(LOG_FORMAT_JSON, -ESHUTDOWN, message);
		assert_int_equal(strlen(line), len);
		assert_string_equal(line + len - 3, "\"}\n");
		len = log_one(LOG_FORMAT_TEXT, -ESHUTDOWN, message);
		assert_int_equal(strlen(line), len);
		assert_int_equal(line[len - 1], '\n');
	}
}

static void a_site_that_says_too_much_is_counted(void **state)
{
	uint64_t before = log_dropped();
	struct log_site site = {0};
	(void)state;

	log_init(LOG_LVL_INFO, LOG_FORMAT_TEXT);
	begin();
	for (int i = 0; i < LOG_BURST + 5; i++)
		log_at(&site, LOG_LVL_INFO, "test", 0, "line %d", i);
	end();
	assert_true(log_dropped() > before);
	assert_non_null(strstr(line, "line 0\n"));
	assert_null(strstr(line, "line 14\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_says_level_module_message_and_error),
		cmocka_unit_test(control_bytes_start_no_line_of_their_own),
		cmocka_unit_test(a_line_that_is_cut_is_still_a_line),
		cmocka_unit_test(a_site_that_says_too_much_is_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: Apache-2.0
#include "scenario_lines.h"

#include <stdlib.h>
#include <string.h>

#include "search.h"

#define MESSAGE_SIZE 512

/* --- mistakes --------------------------------------------------------------------------------- */

void scenario_report(enum scenario_mistake m, const char *what, void *arg)
{
	static const char *const texts[N_MISTAKES] = {
		[MISTAKE_NOT_JSON] = "not JSON: %.120s; line ignored",
		[MISTAKE_NOT_OBJECT] = "not a JSON object; line ignored%.0s",
		[MISTAKE_TOO_LONG] = "longer than 8 MiB; line ignored%.0s",
		[MISTAKE_NO_TIME] = "\"t\" missing or negative; line ignored%.0s",
		[MISTAKE_TIME_BACK] = "time goes backwards; line ignored%.0s",
		[MISTAKE_TWICE] = "%.120s occurs twice at this time; line ignored",
		[MISTAKE_NO_DEVICE] = "port without \"device\" ignored%.0s",
		[MISTAKE_TOO_MANY_PORTS] = "more than 1024 ports; %.120s ignored",
		[MISTAKE_UNKNOWN_KEY] = "unknown key %.120s ignored",
		[MISTAKE_UNKNOWN_SERIES] = "unknown series %.120s ignored",
		[MISTAKE_WRONG_TYPE] = "%.120s: invalid value ignored",
		[MISTAKE_THRESHOLD] = "%.200s; ignored",
		[MISTAKE_LATE_HEADER] = "second header ignored%.0s",
	};
	struct scenario_lines *s = arg;
	char text[MESSAGE_SIZE], message[2 * MESSAGE_SIZE];

	if (s->mistakes[m]++ > 0)
		return;
	snprintf(text, sizeof(text), texts[m], what ? what : "");
	snprintf(message, sizeof(message), "%.200s: line %llu: %s", s->name,
		 (unsigned long long)s->line_number, text);
	s->complain(message, s->arg);
}

void scenario_lines_sum_up(struct scenario_lines *s)
{
	uint64_t again = 0;
	char message[MESSAGE_SIZE];

	for (int i = 0; i < N_MISTAKES; i++)
		again += s->mistakes[i] > 1 ? s->mistakes[i] - 1 : 0;
	if (!again)
		return;
	snprintf(message, sizeof(message), "%.200s: %llu more mistakes like these", s->name,
		 (unsigned long long)again);
	s->complain(message, s->arg);
}

/* --- lines ------------------------------------------------------------------------------------ */

/* Reads a line; the part beyond SCENARIO_LINE_MAX is dropped. 1: a line; 0: end of file. */
static int read_line(struct scenario_lines *s, size_t *ret_len, bool *ret_too_long, struct err *e)
{
	size_t len = 0;
	int c;

	*ret_too_long = false;
	while ((c = getc_unlocked(s->file)) != EOF && c != '\n') {
		if (len == s->line_size && s->line_size < SCENARIO_LINE_MAX) {
			size_t size = s->line_size ? 2 * s->line_size : 4096;
			char *line = realloc(s->line, size);

			if (!line)
				return err_set(e, -ENOMEM, "out of memory");
			s->line = line;
			s->line_size = size;
		}
		if (len < s->line_size)
			s->line[len++] = (char)c;
		else
			*ret_too_long = true;
	}
	if (ferror(s->file))
		return err_set(e, -EIO, "cannot be read: %s", strerror(errno));
	*ret_len = len;
	s->line_number++;
	return c != EOF || len > 0;
}

static bool scenario_is_blank(const char *line, size_t len)
{
	return !any_of(len, i, line[i] != ' ' && line[i] != '\t' && line[i] != '\r');
}

int scenario_lines_next(struct scenario_lines *s, json_t **ret, struct err *e)
{
	size_t len = 0;
	bool too_long;
	int r;

	*ret = NULL;
	while ((r = read_line(s, &len, &too_long, e)) > 0) {
		json_error_t error;
		json_t *object;

		if (too_long) {
			scenario_report(MISTAKE_TOO_LONG, NULL, s);
			continue;
		}
		if (scenario_is_blank(s->line, len))
			continue;
		object = json_loadb(s->line, len, JSON_DECODE_ANY, &error);
		if (json_is_object(object)) {
			*ret = object;
			return 1;
		}
		scenario_report(object ? MISTAKE_NOT_OBJECT : MISTAKE_NOT_JSON, error.text, s);
		json_decref(object);
	}
	return r;
}

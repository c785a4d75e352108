#include "scenario_lines.h"

#include <stdlib.h>
#include <string.h>

#define MESSAGE_SIZE 512

/* --- complaints ------------------------------------------------------------------------------- */

void scenario_tell(enum scenario_mistake m, const char *what, void *arg)
{
	static const char *const texts[N_MISTAKES] = {
		[MISTAKE_NOT_JSON] = "no JSON: %.120s; the line is passed over",
		[MISTAKE_NOT_OBJECT] = "no JSON object; the line is passed over%.0s",
		[MISTAKE_TOO_LONG] = "longer than 8 MiB; the line is passed over%.0s",
		[MISTAKE_NO_TIME] = "no \"t\" from 0 on; the line is passed over%.0s",
		[MISTAKE_TIME_BACK] = "time goes backwards; the line is passed over%.0s",
		[MISTAKE_TWICE] = "%.120s was told of at this time before; the line is passed over",
		[MISTAKE_NO_DEVICE] = "no \"device\"; what it says of a port is passed over%.0s",
		[MISTAKE_TOO_MANY_PORTS] = "more than 1024 ports; %.120s is passed over",
		[MISTAKE_UNKNOWN_KEY] = "%.120s is no key; it is passed over",
		[MISTAKE_UNKNOWN_SERIES] = "%.120s is no series; it is passed over",
		[MISTAKE_WRONG_TYPE] = "%.120s: not a value that it can have; it is passed over",
		[MISTAKE_THRESHOLD] = "%.200s; it is passed over",
		[MISTAKE_LATE_HEADER] = "a second header; it is passed over%.0s",
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

/* A line of any length into what memory there is for one. 1: a line; 0: the end. */
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
	for (size_t i = 0; i < len; i++)
		if (line[i] != ' ' && line[i] != '\t' && line[i] != '\r')
			return false;
	return true;
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
			scenario_tell(MISTAKE_TOO_LONG, NULL, s);
			continue;
		}
		if (scenario_is_blank(s->line, len))
			continue;
		object = json_loadb(s->line, len, JSON_DECODE_ANY, &error);
		if (json_is_object(object)) {
			*ret = object;
			return 1;
		}
		scenario_tell(object ? MISTAKE_NOT_OBJECT : MISTAKE_NOT_JSON, error.text, s);
		json_decref(object);
	}
	return r;
}

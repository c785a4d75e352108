// SPDX-License-Identifier: Apache-2.0
/* log.c - the sink behind log.h: one write(2) per line, so that lines of threads never mix. */
#include "log.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "fnv.h"
#include "utf8.h"

#define LINE_SIZE 1024
/* Room for the text after a message in JSON: braces, names, an int, 40 bytes of strerror(). */
#define JSON_TAIL 96

static enum log_level threshold = LOG_LVL_INFO;
static enum log_format line_format = LOG_FORMAT_TEXT;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t dropped_total;

void log_init(enum log_level level, enum log_format format)
{
	threshold = level;
	line_format = format;
}

uint64_t log_dropped(void)
{
	return __atomic_load_n(&dropped_total, __ATOMIC_RELAXED);
}

static const char *level_name(enum log_level level)
{
	static const char *const names[] = {"error", "warn", "info", "debug"};

	return names[level];
}

static uint64_t monotonic_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

/* True if the rate limit allows this line. *ret_missed: number of lines of this call site that were
 * dropped since its last one. */
static bool site_take(struct log_site *site, uint64_t now_ms, uint32_t *ret_missed)
{
	uint64_t refill = site->used ? (now_ms - site->last_ms) / 1000 : LOG_BURST;

	if (refill > 0) {
		site->tokens = refill + site->tokens > LOG_BURST ? LOG_BURST
								 : site->tokens + (uint32_t)refill;
		site->last_ms = now_ms;
		site->used = 1;
	}
	if (site->tokens == 0) {
		site->dropped++;
		return false;
	}
	site->tokens--;
	*ret_missed = site->dropped;
	site->dropped = 0;
	return true;
}

/* RFC 3339 in UTC with milliseconds. */
static void timestamp(char *buf, size_t size)
{
	struct timespec ts;
	struct tm tm;
	size_t n;

	clock_gettime(CLOCK_REALTIME, &ts);
	gmtime_r(&ts.tv_sec, &tm);
	n = strftime(buf, size, "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(buf + n, size - n, ".%03ldZ", ts.tv_nsec / 1000000);
}

/* Appends s as the content of a JSON string; bytes that JSON forbids become '?'. */
static size_t add_json(char *out, size_t size, size_t n, const char *s)
{
	for (; *s != '\0' && n + 3 < size; s++) {
		if (*s == '"' || *s == '\\')
			out[n++] = '\\';
		out[n++] = (unsigned char)*s < 0x20 || (unsigned char)*s > 0x7e ? '?' : *s;
	}
	out[n] = '\0';
	return n;
}

static size_t format_json(char *line, size_t size, enum log_level level, const char *module,
			  const char *msg, int err)
{
	char when[40];
	size_t n;

	timestamp(when, sizeof(when));
	n = (size_t)snprintf(line, size,
			     "{\"time\":\"%s\",\"level\":\"%s\",\"module\":\"%s\",\"msg\":\"", when,
			     level_name(level), module);
	n = add_json(line, size - JSON_TAIL, n, msg);
	if (err == 0)
		return n + (size_t)snprintf(line + n, size - n, "\"}\n");
	return n + (size_t)snprintf(line + n, size - n, "\",\"errno\":%d,\"error\":\"%.40s\"}\n",
				    -err, strerror(-err));
}

/* Replaces control bytes and invalid UTF-8 by '?'. A name from the kernel or a message from a peer
 * must not start a new line, and log collectors expect UTF-8. */
static void make_printable(char *s)
{
	for (size_t n; *s != '\0'; s += n ? n : 1) {
		n = utf8_char(s);
		if (n == 0 || (unsigned char)*s < 0x20 || *s == 0x7f)
			*s = '?';
	}
}

static size_t format_text(char *line, size_t size, enum log_level level, const char *module,
			  const char *msg, int err)
{
	char when[40];
	int n;

	timestamp(when, sizeof(when));
	n = snprintf(line, size, "%s %-5s %s: %s%s%s\n", when, level_name(level), module, msg,
		     err ? ": " : "", err ? strerror(-err) : "");
	if ((size_t)n < size)
		return (size_t)n;
	line[size - 2] = '\n';
	return size - 1;
}

/* Allows one line beyond the rate limit if the text differs from the call site's last one. */
static void site_answer(struct log_site *site, const char *msg)
{
	uint64_t text = fnv1a(FNV1A_START, msg, strlen(msg));

	pthread_mutex_lock(&lock);
	if (text != site->text && site->tokens == 0 && site->used)
		site->tokens = 1;
	site->text = text;
	pthread_mutex_unlock(&lock);
}

/* False if the line must not be written: it is below the log level or, which is counted, beyond the
 * rate limit. */
static bool passes(struct log_site *site, enum log_level level, uint32_t *ret_missed)
{
	bool pass;

	*ret_missed = 0;
	if (level > threshold)
		return false;
	pthread_mutex_lock(&lock);
	pass = site_take(site, monotonic_ms(), ret_missed);
	pthread_mutex_unlock(&lock);
	if (!pass)
		__atomic_add_fetch(&dropped_total, 1, __ATOMIC_RELAXED);
	return pass;
}

static void line_put(const char *line, size_t n)
{
	if (write(STDERR_FILENO, line, n) < 0)
		return; /* stderr is closed: the failure cannot be reported */
}

void log_v(struct log_site *site, enum log_level level, const char *module, int err,
	   const char *fmt, va_list ap)
{
	char msg[LINE_SIZE - 256], line[LINE_SIZE];
	uint32_t missed;
	size_t n;

	if (!passes(site, level, &missed))
		return;
	vsnprintf(msg, sizeof(msg), fmt, ap);
	n = strlen(msg);
	while (n > 0 && msg[n - 1] == '\n')
		msg[--n] = '\0';
	if (missed > 0)
		snprintf(msg + n, sizeof(msg) - n, " (%u such lines dropped before)", missed);
	make_printable(msg);
	n = line_format == LOG_FORMAT_JSON
		    ? format_json(line, sizeof(line), level, module, msg, err)
		    : format_text(line, sizeof(line), level, module, msg, err);
	line_put(line, n);
}

/* Inserts the fields as members before the end of the object; omits those that do not fit. */
static size_t add_fields_json(char *line, size_t size, size_t n, const struct log_field *f,
			      size_t n_fields)
{
	n -= 2; /* "}\n" */
	for (size_t i = 0; i < n_fields && n + JSON_TAIL < size; i++) {
		if (f[i].value[0] == '\0')
			continue;
		n += (size_t)snprintf(line + n, size - n, ",\"%.32s\":\"", f[i].key);
		n = add_json(line, size - 8, n, f[i].value);
		line[n++] = '"';
	}
	return n + (size_t)snprintf(line + n, size - n, "}\n");
}

/* Appends the fields as key="value", with the values escaped as in JSON. */
static void add_fields_text(char *msg, size_t size, const struct log_field *f, size_t n_fields)
{
	size_t n = strlen(msg);

	for (size_t i = 0; i < n_fields && n + JSON_TAIL < size; i++) {
		if (f[i].value[0] == '\0')
			continue;
		n += (size_t)snprintf(msg + n, size - n, " %.32s=\"", f[i].key);
		n = add_json(msg, size - 8, n, f[i].value);
		msg[n++] = '"';
		msg[n] = '\0';
	}
}

void log_fields(struct log_site *site, enum log_level level, const char *module, const char *msg,
		const struct log_field *fields, size_t n_fields)
{
	char text[LINE_SIZE * 2 - 256], line[LINE_SIZE * 2];
	uint32_t missed;
	size_t n;

	if (site->is_answer)
		site_answer(site, msg);
	if (!passes(site, level, &missed))
		return;
	snprintf(text, sizeof(text), missed ? "%.512s (%u such lines dropped before)" : "%.512s",
		 msg, missed);
	make_printable(text);
	if (line_format == LOG_FORMAT_JSON) {
		n = format_json(line, LINE_SIZE, level, module, text, 0);
		n = add_fields_json(line, sizeof(line), n, fields, n_fields);
	} else {
		add_fields_text(text, sizeof(text), fields, n_fields);
		n = format_text(line, sizeof(line), level, module, text, 0);
	}
	line_put(line, n);
}

void log_at(struct log_site *site, enum log_level level, const char *module, int err,
	    const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	log_v(site, level, module, err, fmt, ap);
	va_end(ap);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* log.h - one line per event on stderr, as text or JSON, rate-limited per call site.
 *
 * Only the daemon's outermost callers log, once per event, and state what happens next. hw/ and the
 * pure files never log. Any thread may log. */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum log_level { LOG_LVL_ERROR, LOG_LVL_WARN, LOG_LVL_INFO, LOG_LVL_DEBUG };
enum log_format { LOG_FORMAT_TEXT, LOG_FORMAT_JSON };

/* Rate limit of one call site: a token bucket of LOG_BURST lines, refilled at one line per second.
 */
struct log_site {
	uint64_t last_ms;
	uint32_t tokens;
	uint32_t dropped; /* lines dropped since the last written one, which the next one reports */
	uint8_t used;
	/* Only repeated texts are limited. For lines that a user causes, such as the answer to an
	 * edit of the configuration. Used by log_fields() only. */
	bool is_answer;
	uint64_t text; /* hash of the last one */
};

#define LOG_BURST 10

void log_init(enum log_level, enum log_format);

/* Logs a line. err: negative errno whose text is appended, or 0. */
__attribute__((format(printf, 5, 6))) void
log_at(struct log_site *, enum log_level, const char *module, int err, const char *fmt, ...);
/* Logs a line of a library that passes a va_list; fmt may end in a newline. */
void log_v(struct log_site *, enum log_level, const char *module, int err, const char *fmt,
	   va_list ap);

/* Extra fields of a log line: members of the object in JSON, key="value" after the message in text.
 * Fields with an empty value are omitted. Keys must not need escaping. */
struct log_field {
	const char *key, *value;
};
void log_fields(struct log_site *, enum log_level, const char *module, const char *msg,
		const struct log_field *, size_t n);

#define log_site_(lvl, module, err, ...)                                                           \
	do {                                                                                       \
		static struct log_site site_;                                                      \
		log_at(&site_, lvl, module, err, __VA_ARGS__);                                     \
	} while (0)
#define log_error(module, err, ...) log_site_(LOG_LVL_ERROR, module, err, __VA_ARGS__)
#define log_warn(module, err, ...)  log_site_(LOG_LVL_WARN, module, err, __VA_ARGS__)
#define log_info(module, err, ...)  log_site_(LOG_LVL_INFO, module, err, __VA_ARGS__)
#define log_debug(module, err, ...) log_site_(LOG_LVL_DEBUG, module, err, __VA_ARGS__)

/* Lines dropped by all call sites together. */
uint64_t log_dropped(void);

// SPDX-License-Identifier: Apache-2.0
#include "bpf_log.h"

#include <bpf/libbpf.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"

/* Markers printed by libbpf.c, bpf_object_load_prog(). Between them, the last line but one is the
 * reason; the last one is from print_verification_stats() (kernel/bpf/verifier.c). */
#define LOG_BEGIN  "-- BEGIN PROG LOAD LOG --\n"
#define LOG_END	   "-- END PROG LOAD LOG --"
#define STATISTICS "processed "

static _Thread_local char last_words[BPF_WORDS_SIZE];

static bool starts_with(const char *text, const char *what)
{
	return strncmp(text, what, strlen(what)) == 0;
}

static void copy_line(char ret[static BPF_WORDS_SIZE], const char *line, size_t n)
{
	size_t i;

	for (i = 0; i < n && i < BPF_WORDS_SIZE - 1; i++)
		ret[i] = isprint((unsigned char)line[i]) ? line[i] : '?';
	ret[i] = '\0';
}

void bpf_log_words(const char *text, char ret[static BPF_WORDS_SIZE])
{
	const char *line = strstr(text, LOG_BEGIN);

	if (!line)
		return;
	line += strlen(LOG_BEGIN);
	while (*line && !starts_with(line, LOG_END)) {
		size_t n = strcspn(line, "\n");

		if (n > 0 && !starts_with(line, STATISTICS))
			copy_line(ret, line, n);
		line += n + (line[n] == '\n');
	}
}

static void keep_words(const char *fmt, va_list ap)
{
	char *text;

	if (vasprintf(&text, fmt, ap) < 0)
		return;
	bpf_log_words(text, last_words);
	free(text);
}

/* Handles a message of libbpf. Everything is logged at debug level, because the caller of the load
 * logs a rejection once. */
static int on_libbpf(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	static struct log_site site;
	va_list again;

	va_copy(again, ap);
	if (level == LIBBPF_WARN) /* the level of verifier logs */
		keep_words(fmt, again);
	va_end(again);
	log_v(&site, LOG_LVL_DEBUG, "libbpf", 0, fmt, ap);
	return 0;
}

void bpf_log_follow(void)
{
	libbpf_set_print(on_libbpf);
}

const char *bpf_log_take_words(void)
{
	static _Thread_local char words[BPF_WORDS_SIZE];

	memcpy(words, last_words, sizeof(words));
	last_words[0] = '\0';
	return words;
}

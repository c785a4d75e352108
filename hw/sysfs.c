// SPDX-License-Identifier: Apache-2.0
/* sysfs.c - reads attribute files below a directory descriptor and parses them strictly: the whole
 * text must match. */
#include "sysfs.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cleanup.h"

/* Formats the path; -ENAMETOOLONG instead of reading another file with a truncated name. */
static int format_path(char path[SYSFS_PATH_MAX], const char *fmt, va_list ap)
{
	int n = vsnprintf(path, SYSFS_PATH_MAX, fmt, ap);

	return n < 0 || n >= SYSFS_PATH_MAX ? -ENAMETOOLONG : 0;
}

#define FORMAT_PATH(path, fmt)                                                                     \
	({                                                                                         \
		va_list ap_;                                                                       \
		int r_;                                                                            \
		va_start(ap_, fmt);                                                                \
		r_ = format_path(path, fmt, ap_);                                                  \
		va_end(ap_);                                                                       \
		r_;                                                                                \
	})

static _Thread_local int starved;

/* Returns -errno of a failed open, and remembers exhausted resources for sysfs_exhausted(). */
static int open_failed(void)
{
	if (errno == EMFILE || errno == ENFILE || errno == ENOMEM)
		starved = -errno;
	return -errno;
}

int sysfs_exhausted(void)
{
	int code = starved;

	starved = 0;
	return code;
}

/* Reads once, which is enough: an attribute, like any regular file, returns as much as fits at
 * once. */
static ssize_t sysfs_read_once(int fd, char *buf, size_t size)
{
	ssize_t n;

	do
		n = read(fd, buf, size);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

static int read_attr(int dir, const char *path, char *ret, size_t size)
{
	char buf[SYSFS_ATTR_MAX + 1];
	/* Attributes are never symbolic links; one in a copied tree could lead outside of it. */
	AUTO_FD fd = openat(dir, path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW);
	const char *p = buf;
	ssize_t n;

	if (fd < 0)
		return open_failed();
	n = sysfs_read_once(fd, buf, sizeof(buf));
	if (n < 0)
		return (int)n;
	if ((size_t)n == sizeof(buf))
		return -EOVERFLOW;
	if (memchr(buf, 0, (size_t)n))
		return -EINVAL;
	while (n && isspace((unsigned char)p[n - 1]))
		n--;
	for (; n && isspace((unsigned char)*p); n--)
		p++;
	if ((size_t)n >= size)
		return -EOVERFLOW;
	memcpy(ret, p, (size_t)n);
	ret[n] = '\0';
	return (int)n;
}

int sysfs_str(int dir, char *ret, size_t size, const char *fmt, ...)
{
	char path[SYSFS_PATH_MAX];
	int r = FORMAT_PATH(path, fmt);

	return r < 0 ? r : read_attr(dir, path, ret, size);
}

/* Longer than any 64-bit number, so that a file of 400 digits is rejected at once. */
#define NUMBER_MAX 32

static int read_u64(int dir, const char *path, uint64_t *ret)
{
	char text[NUMBER_MAX];
	int r = read_attr(dir, path, text, sizeof(text));

	if (r == -EOVERFLOW)
		return -ERANGE;
	return r < 0 ? r : parse_u64(text, ret);
}

int sysfs_u64(int dir, uint64_t *ret, const char *fmt, ...)
{
	char path[SYSFS_PATH_MAX];
	int r = FORMAT_PATH(path, fmt);

	return r < 0 ? r : read_u64(dir, path, ret);
}

int sysfs_u32(int dir, uint32_t *ret, const char *fmt, ...)
{
	char path[SYSFS_PATH_MAX];
	uint64_t v;
	int r = FORMAT_PATH(path, fmt);

	if (r == 0)
		r = read_u64(dir, path, &v);
	if (r == 0 && v > UINT32_MAX)
		r = -ERANGE;
	if (r == 0)
		*ret = (uint32_t)v;
	return r;
}

int sysfs_int(int dir, int *ret, const char *fmt, ...)
{
	char path[SYSFS_PATH_MAX], text[NUMBER_MAX] = "";
	int r = FORMAT_PATH(path, fmt);

	if (r == 0)
		r = read_attr(dir, path, text, sizeof(text));
	if (r == -EOVERFLOW)
		return -ERANGE;
	return r < 0 ? r : parse_int(text, ret);
}

static int read_target(int dir, const char *path, char *ret, size_t size)
{
	ssize_t n = readlinkat(dir, path, ret, size);

	if (n < 0)
		return -errno;
	if ((size_t)n >= size)
		return -EOVERFLOW;
	ret[n] = '\0';
	return 0;
}

int sysfs_target(int dir, char *ret, size_t size, const char *fmt, ...)
{
	char path[SYSFS_PATH_MAX], target[PATH_MAX];
	int r = FORMAT_PATH(path, fmt);

	if (r == 0)
		r = read_target(dir, path, target, sizeof(target));
	if (r == 0 && strlen(target) >= size)
		r = -EOVERFLOW;
	if (r == 0)
		memcpy(ret, target, strlen(target) + 1);
	return r;
}

int sysfs_link(int dir, char *ret, size_t size, const char *fmt, ...)
{
	char path[SYSFS_PATH_MAX], target[PATH_MAX];
	const char *base;
	int r = FORMAT_PATH(path, fmt);

	if (r == 0)
		r = read_target(dir, path, target, sizeof(target));
	if (r < 0)
		return r;
	base = strrchr(target, '/');
	base = base ? base + 1 : target;
	if (!*base)
		return -EINVAL;
	if (strlen(base) >= size)
		return -EOVERFLOW;
	memcpy(ret, base, strlen(base) + 1);
	return 0;
}

bool sysfs_exists(int dir, const char *fmt, ...)
{
	char path[SYSFS_PATH_MAX];

	return FORMAT_PATH(path, fmt) == 0 && faccessat(dir, path, F_OK, 0) == 0;
}

int sysfs_open_dir(int dir, const char *fmt, ...)
{
	char path[SYSFS_PATH_MAX];
	int r = FORMAT_PATH(path, fmt), fd;

	if (r < 0)
		return r;
	fd = openat(dir, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? open_failed() : fd;
}

/* Handles the entries of one getdents64() call. */
static int each_entry(int dir, const uint8_t *entries, size_t n, sysfs_entry_fn *fn, void *arg)
{
	const struct dirent64 *entry;
	int count = 0, r;

	for (size_t at = 0; at < n; at += entry->d_reclen) {
		entry = (const void *)(entries + at);
		if (entry->d_name[0] == '.')
			continue;
		r = fn(dir, entry->d_name, arg);
		if (r < 0)
			return r;
		count++;
	}
	return count;
}

/* Does not use readdir(), whose allocated stream costs more than reading the few entries of most
 * folders. */
int sysfs_list(int dir, const char *path, sysfs_entry_fn *fn, void *arg)
{
	uint8_t entries[4096] __attribute__((aligned(alignof(struct dirent64))));
	AUTO_FD fd = sysfs_open_dir(dir, "%s", path);
	int count = 0, r = fd;
	ssize_t n = 1;

	while (r >= 0 && n > 0) {
		n = getdents64(fd, entries, sizeof(entries));
		if (n < 0 && errno != ENOENT) /* folder removed during the read: end of the list */
			return -errno;
		r = n > 0 ? each_entry(fd, entries, (size_t)n, fn, arg) : 0;
		count += r;
	}
	return r < 0 ? r : count;
}

/* --- parsing ---------------------------------------------------------------------------------- */

static int digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)(c | 0x20);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : INT_MAX;
}

/* Parses digits of the base up to the first other character. Returns their number, or -ERANGE. */
static int take_digits(const char *s, unsigned base, uint64_t *ret)
{
	uint64_t v = 0;
	int n = 0;

	for (; digit_value(s[n]) < (int)base; n++) {
		unsigned digit = (unsigned)digit_value(s[n]);

		if (n == NAME_MAX || v > (UINT64_MAX - digit) / base)
			return -ERANGE;
		v = v * base + digit;
	}
	*ret = v;
	return n;
}

int parse_u64(const char *s, uint64_t *ret)
{
	bool hex = s[0] == '0' && (s[1] | 0x20) == 'x';
	const char *digits = hex ? s + 2 : s;
	uint64_t v;
	int n = take_digits(digits, hex ? 16 : 10, &v);

	if (n < 0)
		return n;
	if (n == 0 || digits[n])
		return -EINVAL;
	*ret = v;
	return 0;
}

int parse_int(const char *s, int *ret)
{
	bool negative = *s == '-';
	uint64_t v;
	int r = parse_u64(s + negative, &v);

	if (r < 0)
		return r;
	if (v > (uint64_t)INT_MAX + negative)
		return -ERANGE;
	*ret = negative ? (int)-(int64_t)v : (int)v;
	return 0;
}

int parse_leading_u32(const char *s, uint32_t *ret)
{
	uint64_t v;
	int n = take_digits(s, 10, &v);

	if (n <= 0 || s[n] != ':')
		return n < 0 ? n : -EINVAL;
	if (v > UINT32_MAX)
		return -ERANGE;
	*ret = (uint32_t)v;
	return 0;
}

/* Parses a number with at most one decimal, in tenths, and moves *s past it. */
static int take_tenths(const char **s, uint64_t *ret)
{
	uint64_t whole, tenths = 0;
	int n = take_digits(*s, 10, &whole);

	if (n <= 0)
		return n < 0 ? n : -EINVAL;
	*s += n;
	if (**s == '.') {
		if (!isdigit((unsigned char)(*s)[1]))
			return -EINVAL;
		tenths = (uint64_t)((*s)[1] - '0');
		*s += 2;
	}
	if (whole > UINT64_MAX / 10 - 1)
		return -ERANGE;
	*ret = whole * 10 + tenths;
	return 0;
}

int parse_rate(const char *s, uint64_t *ret_bps)
{
	uint64_t tenths;
	int r = take_tenths(&s, &tenths);

	if (r < 0)
		return r;
	if (strncmp(s, " Gb/sec", 7) != 0 || (s[7] && s[7] != ' '))
		return -EINVAL;
	if (tenths > UINT64_MAX / 100000000)
		return -ERANGE;
	*ret_bps = tenths * 100000000;
	return 0;
}

int parse_link_speed(const char *s, uint32_t *ret_mt_s)
{
	uint64_t tenths;
	int r = take_tenths(&s, &tenths);

	if (r < 0)
		return r;
	if (strncmp(s, " GT/s", 5) != 0 || (s[5] && strcmp(s + 5, " PCIe") != 0) || tenths == 0)
		return -EINVAL;
	if (tenths > UINT32_MAX / 100)
		return -ERANGE;
	*ret_mt_s = (uint32_t)tenths * 100;
	return 0;
}

/* Parses n groups of four hexadecimal digits, separated by colons. */
static int parse_groups(const char *s, uint8_t *ret, int n)
{
	for (int i = 0; i < n; i++, s += 5) {
		for (int k = 0; k < 4; k++)
			if (!isxdigit((unsigned char)s[k]))
				return -EINVAL;
		if (s[4] != (i == n - 1 ? '\0' : ':'))
			return -EINVAL;
		ret[2 * i] = (uint8_t)(digit_value(s[0]) << 4 | digit_value(s[1]));
		ret[2 * i + 1] = (uint8_t)(digit_value(s[2]) << 4 | digit_value(s[3]));
	}
	return 0;
}

int parse_guid(const char *s, uint64_t *ret)
{
	uint8_t raw[8];
	uint64_t v = 0;
	int r = parse_groups(s, raw, 4);

	if (r < 0)
		return r;
	for (int i = 0; i < 8; i++)
		v = v << 8 | raw[i];
	*ret = v;
	return 0;
}

int parse_gid(const char *s, uint8_t ret[16])
{
	uint8_t raw[16];
	int r = parse_groups(s, raw, 8);

	if (r == 0)
		memcpy(ret, raw, sizeof(raw));
	return r;
}

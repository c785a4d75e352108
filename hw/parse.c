/* parse.c - the texts of sysfs attributes to numbers. Pure, strict: the whole text or nothing. */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <string.h>

#include "sysfs.h"

static int digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)(c | 0x20);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : INT_MAX;
}

/* Digits of the base up to the first other character. Returns how many, or -ERANGE. */
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

int parse_rate(const char *s, uint64_t *ret_bps)
{
	uint64_t whole, tenths = 0;
	int n = take_digits(s, 10, &whole);

	if (n <= 0)
		return n < 0 ? n : -EINVAL;
	s += n;
	if (*s == '.') {
		if (!isdigit((unsigned char)s[1]))
			return -EINVAL;
		tenths = (uint64_t)(s[1] - '0');
		s += 2;
	}
	if (strncmp(s, " Gb/sec", 7) != 0 || (s[7] && s[7] != ' '))
		return -EINVAL;
	if (whole > UINT64_MAX / 1000000000 - 1)
		return -ERANGE;
	*ret_bps = whole * 1000000000 + tenths * 100000000;
	return 0;
}

/* n groups of four hexadecimal digits between colons. */
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

// SPDX-License-Identifier: Apache-2.0
#include "number.h"

#include <string.h>

static const char two_digits[] = "00010203040506070809101112131415161718192021222324"
				 "25262728293031323334353637383940414243444546474849"
				 "50515253545556575859606162636465666768697071727374"
				 "75767778798081828384858687888990919293949596979899";

size_t number_u64(char *dst, uint64_t v)
{
	char buf[20];
	size_t at = sizeof(buf);

	while (v >= 100) {
		at -= 2;
		memcpy(buf + at, two_digits + 2 * (v % 100), 2);
		v /= 100;
	}
	if (v >= 10) {
		at -= 2;
		memcpy(buf + at, two_digits + 2 * v, 2);
	} else {
		buf[--at] = (char)('0' + v);
	}
	memcpy(dst, buf + at, sizeof(buf) - at);
	return sizeof(buf) - at;
}

size_t number_decimal(char *dst, uint64_t v, unsigned digits)
{
	uint64_t scale = 1, rest;
	size_t n, end;

	for (unsigned i = 0; i < digits; i++)
		scale *= 10;
	n = number_u64(dst, v / scale);
	rest = v % scale;
	if (!rest)
		return n;
	dst[n++] = '.';
	for (end = n; scale > 1 && rest; rest %= scale) {
		scale /= 10;
		dst[end++] = (char)('0' + rest / scale);
	}
	return end;
}

double number_in_base_unit(uint64_t v, enum unit unit)
{
	switch (unit) {
	case UNIT_MICROSECONDS:
		return (double)v / 1e6;
	case UNIT_WORDS:
		return (double)v * 4;
	case UNIT_PERCENT:
		return (double)v / 100;
	case UNIT_BITS:
		return (double)v / 8;
	case UNIT_SIGNED:
		return (double)(int64_t)v;
	case UNIT_ONE:
		break;
	}
	return (double)v;
}

size_t number_reading(char *dst, uint64_t v, enum unit unit)
{
	switch (unit) {
	case UNIT_ONE:
		break;
	case UNIT_MICROSECONDS:
		return number_decimal(dst, v, 6);
	case UNIT_WORDS:
		return number_u64(dst, v * 4);
	case UNIT_PERCENT:
		return number_decimal(dst, v, 2);
	case UNIT_BITS: /* an incomplete byte is counted later */
		return number_u64(dst, v / 8);
	case UNIT_SIGNED:
		if ((int64_t)v >= 0)
			break;
		*dst = '-';
		return 1 + number_u64(dst + 1, -v);
	}
	return number_u64(dst, v);
}

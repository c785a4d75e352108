// SPDX-License-Identifier: Apache-2.0
/* record_json.c - encodes and decodes records by the tables of record_fields.h. */
#include "record_json.h"

#include <arpa/inet.h>

#include "ifname.h"
#include "member.h"
#include "record_fields.h"
#include "sysfs.h"
#include "utf8.h"

/* --- members as texts and numbers ------------------------------------------------------------- */

/* The buffer also fits the longest text of a record. */
static json_t *hex_text(const void *bytes, size_t n)
{
	char text[2 * PLAN_IPAM_SIZE + 1] = "";

	for (size_t i = 0; i < n && i < PLAN_IPAM_SIZE; i++)
		snprintf(text + 2 * i, 3, "%02x", ((const uint8_t *)bytes)[i]);
	return json_string(text);
}

static bool is_utf8(const char *s)
{
	size_t n;

	while ((n = utf8_char(s)) > 0)
		s += n;
	return *s == '\0';
}

static json_t *any_text(const char *s)
{
	json_t *o;

	if (is_utf8(s))
		return json_string(s);
	o = json_object();
	if (json_object_set_new(o, "hex", hex_text(s, strlen(s))) < 0) {
		json_decref(o);
		return NULL;
	}
	return o;
}

static json_t *prefix_text(const struct ip_prefix *p)
{
	char addr[INET6_ADDRSTRLEN], text[INET6_ADDRSTRLEN + 4] = "";

	if (p->family != AF_UNSPEC && inet_ntop(p->family, p->addr, addr, sizeof(addr)))
		snprintf(text, sizeof(text), "%s/%u", addr, p->len);
	return json_string(text);
}

static json_t *hex64_text(const void *p)
{
	char text[20];
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	snprintf(text, sizeof(text), "0x%llx", (unsigned long long)v);
	return json_string(text);
}

/* --- encode ----------------------------------------------------------------------------------- */

static json_t *encode_object(const struct field *table, const uint8_t *base);
static json_t *encode_list(const struct field *f, const uint8_t *base);

static size_t byte_count(const struct field *f, const uint8_t *base)
{
	return f->count_at == FIELD_ALL ? f->size
					: member_load(base + f->count_at, sizeof(unsigned));
}

static json_t *encode_field(const struct field *f, const uint8_t *base)
{
	const uint8_t *p = base + f->at;

	switch (f->form) {
	case FORM_TEXT:
		return any_text((const char *)p);
	case FORM_NUMBER:
		return json_integer(member_load(p, f->size));
	case FORM_INT:
		return json_integer(*(const int *)(const void *)p);
	case FORM_HEX64:
		return hex64_text(p);
	case FORM_BOOL:
		return json_boolean(*(const bool *)p);
	case FORM_WORD:
		return json_string(f->words[member_load(p, f->size)]);
	case FORM_BYTES:
		return hex_text(p, byte_count(f, base));
	case FORM_PREFIX:
		return prefix_text((const void *)p);
	case FORM_OBJECT:
		return encode_object(f->items, p);
	case FORM_LIST:
		return encode_list(f, base);
	}
	return NULL;
}

static json_t *encode_list(const struct field *f, const uint8_t *base)
{
	size_t n;
	json_t *list = json_array();

	memcpy(&n, base + f->count_at, sizeof(n));
	for (size_t i = 0; i < n && i < f->max; i++)
		if (json_array_append_new(list,
					  encode_field(f->items, base + f->at + i * f->size)) < 0) {
			json_decref(list);
			return NULL;
		}
	return list;
}

/* Is the member zero? Then its key is omitted. Words are always written, for readers of the
 * file. */
static bool is_unset(const struct field *f, const uint8_t *base)
{
	const uint8_t *p = base + f->at;
	size_t n = f->size;

	if (f->form == FORM_WORD)
		return false;
	if (f->form == FORM_BYTES && f->count_at != FIELD_ALL)
		return byte_count(f, base) == 0;
	if (f->form == FORM_TEXT)
		n = 1;
	else if (f->form == FORM_LIST)
		p = base + f->count_at, n = sizeof(size_t);
	while (n > 0 && !p[n - 1])
		n--;
	return n == 0;
}

static json_t *encode_object(const struct field *table, const uint8_t *base)
{
	json_t *o = json_object();

	for (const struct field *f = table; f->key; f++)
		if (!is_unset(f, base) &&
		    json_object_set_new(o, f->key, encode_field(f, base)) < 0) {
			json_decref(o);
			return NULL;
		}
	return o;
}

/* --- decode ----------------------------------------------------------------------------------- */

static int decode_object(const struct field *table, const json_t *o, uint8_t *base, struct err *e);
static int decode_field(const struct field *f, const json_t *v, uint8_t *base, struct err *e);

static int record_json_bad(const struct field *f, const char *what, struct err *e)
{
	return err_set(e, -EBADMSG, "\"%s\" is not %s", f->key, what);
}

/* Returns the number of bytes, at most `size`. */
static int decode_hex(const char *s, uint8_t *ret, size_t size)
{
	const size_t len = s ? strlen(s) : 1;

	if (len % 2 || len / 2 > size)
		return -EINVAL;
	for (size_t i = 0; i < len / 2; i++) {
		const char digits[] = {'0', 'x', s[2 * i], s[2 * i + 1], '\0'};
		uint64_t v;

		if (parse_u64(digits, &v) < 0)
			return -EINVAL;
		ret[i] = (uint8_t)v;
	}
	return (int)(len / 2);
}

static int decode_text(const struct field *f, const json_t *v, uint8_t *p, struct err *e)
{
	uint8_t bytes[PLAN_IPAM_SIZE];
	const char *s = json_string_value(v);
	int n = s ? (int)strlen(s)
		  : decode_hex(json_string_value(json_object_get(v, "hex")), bytes, sizeof(bytes));

	if (n < 0 || (size_t)n >= f->size || (!s && memchr(bytes, 0, (size_t)n)))
		return record_json_bad(f, "a text that fits", e);
	memcpy(p, s ? (const void *)s : bytes, (size_t)n);
	p[n] = '\0';
	return 0;
}

static int decode_number(const struct field *f, const json_t *v, uint8_t *p, struct err *e)
{
	json_int_t n = json_integer_value(v);

	if (!json_is_integer(v) || n < 0 || n >= (json_int_t)1 << (8 * f->size))
		return record_json_bad(f, "a number that fits", e);
	member_store(p, f->size, (uint32_t)n);
	return 0;
}

/* Also decodes the unsigned form of older versions. */
static int decode_int(const struct field *f, const json_t *v, void *p, struct err *e)
{
	json_int_t n = json_integer_value(v);
	int i = (int)n;

	if (!json_is_integer(v) || n < INT32_MIN || n > UINT32_MAX)
		return record_json_bad(f, "a number that fits", e);
	memcpy(p, &i, sizeof(i));
	return 0;
}

static int decode_hex64(const struct field *f, const char *s, uint8_t *p, struct err *e)
{
	uint64_t v;

	if (!s || parse_u64(s, &v) < 0)
		return record_json_bad(f, "a number of 64 bits", e);
	memcpy(p, &v, sizeof(v));
	return 0;
}

static int decode_word(const struct field *f, const char *s, uint8_t *p, struct err *e)
{
	for (unsigned i = 0; s && f->words[i]; i++)
		if (strcmp(f->words[i], s) == 0) {
			member_store(p, f->size, i);
			return 0;
		}
	return record_json_bad(f, "a known word", e);
}

static int decode_bytes(const struct field *f, const char *s, uint8_t *base, struct err *e)
{
	int n = decode_hex(s, base + f->at, f->size);

	if (n < 0 || (f->count_at == FIELD_ALL && (size_t)n != f->size))
		return record_json_bad(f, "an address in hexadecimal that fits", e);
	if (f->count_at != FIELD_ALL)
		memcpy(base + f->count_at, &n, sizeof(n));
	return 0;
}

static int decode_prefix(const struct field *f, const char *s, struct ip_prefix *ret, struct err *e)
{
	struct ip_prefix p = {.family = s && strchr(s, ':') ? AF_INET6 : AF_INET};
	char addr[INET6_ADDRSTRLEN];
	const char *slash = s ? strchr(s, '/') : NULL;
	uint64_t len;

	if (s && !*s) { /* no prefix */
		*ret = (struct ip_prefix){0};
		return 0;
	}
	if (!slash || (size_t)(slash - s) >= sizeof(addr) || parse_u64(slash + 1, &len) < 0 ||
	    len > (p.family == AF_INET ? 32 : 128))
		return record_json_bad(f, "ADDRESS/LENGTH", e);
	snprintf(addr, sizeof(addr), "%.*s", (int)(slash - s), s);
	if (inet_pton(p.family, addr, p.addr) != 1)
		return record_json_bad(f, "ADDRESS/LENGTH", e);
	p.len = (uint8_t)len;
	*ret = p;
	return 0;
}

static int decode_list(const struct field *f, const json_t *list, uint8_t *base, struct err *e)
{
	const json_t *v;
	size_t i;
	int r;

	if (!json_is_array(list) || json_array_size(list) > f->max)
		return record_json_bad(f, "a list that fits", e);
	json_array_foreach (list, i, v) {
		r = decode_field(f->items, v, base + f->at + i * f->size, e);
		if (r < 0)
			return err_wrap(e, "%s[%zu]", f->key, i);
	}
	memcpy(base + f->count_at, &i, sizeof(i));
	return 0;
}

static int decode_bool(const struct field *f, const json_t *v, uint8_t *p, struct err *e)
{
	if (!json_is_boolean(v))
		return record_json_bad(f, "true or false", e);
	*(bool *)p = json_is_true(v);
	return 0;
}

static int decode_field(const struct field *f, const json_t *v, uint8_t *base, struct err *e)
{
	const char *s = json_string_value(v);
	uint8_t *p = base + f->at;

	switch (f->form) {
	case FORM_TEXT:
		return decode_text(f, v, p, e);
	case FORM_NUMBER:
		return decode_number(f, v, p, e);
	case FORM_INT:
		return decode_int(f, v, p, e);
	case FORM_HEX64:
		return decode_hex64(f, s, p, e);
	case FORM_BOOL:
		return decode_bool(f, v, p, e);
	case FORM_WORD:
		return decode_word(f, s, p, e);
	case FORM_BYTES:
		return decode_bytes(f, s, base, e);
	case FORM_PREFIX:
		return decode_prefix(f, s, (void *)p, e);
	case FORM_OBJECT:
		return decode_object(f->items, v, p, e) < 0 ? err_wrap(e, "%s", f->key) : 0;
	case FORM_LIST:
		return decode_list(f, v, base, e);
	}
	return -EBADMSG;
}

static int decode_object(const struct field *table, const json_t *o, uint8_t *base, struct err *e)
{
	if (!json_is_object(o))
		return err_set(e, -EBADMSG, "not an object");
	for (const struct field *f = table; f->key; f++) {
		const json_t *v = json_object_get(o, f->key);
		int r = v ? decode_field(f, v, base, e) : 0;

		if (r < 0)
			return r;
	}
	return 0;
}

/* --- impossible records ----------------------------------------------------------------------- */

/* True if the name can be part of a path, which a bus name becomes. */
static bool is_bus_name(const char *s)
{
	return strcmp(s, ".") != 0 && strcmp(s, "..") != 0 && !strpbrk(s, "/ \t\n");
}

static bool is_ifname(const char *s)
{
	return !*s || ifname_is_valid(s);
}

static int record_json_judge(const struct attach_record *r, struct err *e)
{
	const struct link_origin *o = &r->origin;

	if (!r->function[0] || !is_bus_name(r->function) || !is_bus_name(o->pf))
		return err_set(e, -EBADMSG, "it has an invalid bus name");
	if (!is_ifname(r->plan.ifname) || !is_ifname(o->name) || !is_ifname(o->parent))
		return err_set(e, -EBADMSG, "it has an invalid interface name");
	if (o->vf_index < (o->pf[0] ? 0 : -1))
		return err_set(e, -EBADMSG, "origin: \"vf_index\" is %d", o->vf_index);
	return 0;
}

static int check_object(const struct field *table, const uint8_t *base, struct err *e);

static bool is_prefix(const struct ip_prefix *p)
{
	return p->family == AF_UNSPEC || (p->family == AF_INET && p->len <= 32) ||
	       (p->family == AF_INET6 && p->len <= 128);
}

static bool record_json_is_word(const struct field *f, unsigned v)
{
	unsigned n = 0;

	while (f->words[n])
		n++;
	return v < n;
}

static int check_list(const struct field *f, const uint8_t *base, struct err *e);

/* Checks that the member has a value that its format can represent. */
static int check_field(const struct field *f, const uint8_t *base, struct err *e)
{
	const uint8_t *p = base + f->at;
	bool ok = true;

	switch (f->form) {
	case FORM_TEXT:
		ok = memchr(p, 0, f->size);
		break;
	case FORM_WORD:
		ok = record_json_is_word(f, member_load(p, f->size));
		break;
	case FORM_BYTES:
		ok = byte_count(f, base) <= f->size;
		break;
	case FORM_PREFIX:
		ok = is_prefix((const void *)p);
		break;
	case FORM_OBJECT:
		return check_object(f->items, p, e);
	case FORM_LIST:
		return check_list(f, base, e);
	case FORM_NUMBER:
	case FORM_INT:
	case FORM_HEX64:
	case FORM_BOOL:
		break;
	}
	return ok ? 0 : record_json_bad(f, "a valid value", e);
}

static int check_list(const struct field *f, const uint8_t *base, struct err *e)
{
	size_t n;
	int r = 0;

	memcpy(&n, base + f->count_at, sizeof(n));
	if (n > f->max)
		return record_json_bad(f, "a list that fits", e);
	for (size_t i = 0; i < n && r == 0; i++) {
		r = check_field(f->items, base + f->at + i * f->size, e);
		if (r < 0)
			err_wrap(e, "%s[%zu]", f->key, i);
	}
	return r;
}

static int check_object(const struct field *table, const uint8_t *base, struct err *e)
{
	int r = 0;

	for (const struct field *f = table; f->key && r == 0; f++)
		r = check_field(f, base, e);
	return r;
}

/* --- whole records ---------------------------------------------------------------------------- */

int record_encode(json_t **ret, const struct attach_record *r, struct err *e)
{
	json_t *o;

	if (check_object(record_fields, (const uint8_t *)r, e) < 0 || record_json_judge(r, e) < 0)
		return -EINVAL;
	o = encode_object(record_fields, (const uint8_t *)r);
	if (!o)
		return err_set(e, -ENOMEM, "out of memory");
	*ret = o;
	return 0;
}

int record_decode(struct attach_record *ret, const json_t *o, struct err *e)
{
	struct attach_record r = {0};
	int code = decode_object(record_fields, o, (uint8_t *)&r, e);

	if (code == 0 && record_json_judge(&r, e) < 0)
		code = -EBADMSG;
	if (code == 0)
		*ret = r;
	return code;
}

bool plan_equal(const struct net_plan *a, const struct net_plan *b)
{
	struct net_plan like = *a;
	json_auto_t *x = NULL, *y = NULL;

	like.in_host = b->in_host;
	like.clean = b->clean;
	x = encode_object(plan_fields, (const uint8_t *)&like);
	y = encode_object(plan_fields, (const uint8_t *)b);
	return json_equal(x, y);
}

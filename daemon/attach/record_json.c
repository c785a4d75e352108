/* record_json.c - two walks over the tables of record_fields.h. */
#include "record_json.h"

#include <arpa/inet.h>

#include "record_fields.h"
#include "sysfs.h"
#include "utf8.h"

/* --- members as texts and numbers ------------------------------------------------------------- */

static uint32_t load_number(const void *p, size_t size)
{
	switch (size) {
	case 1:
		return *(const uint8_t *)p;
	case 2:
		return *(const uint16_t *)p;
	default:
		return *(const uint32_t *)p;
	}
}

static void store_number(void *p, size_t size, uint32_t v)
{
	switch (size) {
	case 1:
		*(uint8_t *)p = (uint8_t)v;
		break;
	case 2:
		*(uint16_t *)p = (uint16_t)v;
		break;
	default:
		*(uint32_t *)p = v;
	}
}

static json_t *hex_text(const uint8_t *bytes, size_t n)
{
	char text[2 * HW_ADDR_MAX + 1] = "";

	for (size_t i = 0; i < n && i < HW_ADDR_MAX; i++)
		snprintf(text + 2 * i, 3, "%02x", bytes[i]);
	return json_string(text);
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
					: load_number(base + f->count_at, sizeof(unsigned));
}

static json_t *encode_field(const struct field *f, const uint8_t *base)
{
	const uint8_t *p = base + f->at;

	switch (f->form) {
	case FORM_TEXT:
		return json_string((const char *)p);
	case FORM_NUMBER:
		return json_integer(load_number(p, f->size));
	case FORM_HEX64:
		return hex64_text(p);
	case FORM_BOOL:
		return json_boolean(*(const bool *)p);
	case FORM_WORD:
		return json_string(f->words[load_number(p, f->size)]);
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

static json_t *encode_object(const struct field *table, const uint8_t *base)
{
	json_t *o = json_object();

	for (const struct field *f = table; f->key; f++)
		if (json_object_set_new(o, f->key, encode_field(f, base)) < 0) {
			json_decref(o);
			return NULL;
		}
	return o;
}

static bool is_text(const char *s)
{
	size_t n;

	while ((n = utf8_char(s)) > 0)
		s += n;
	return *s == '\0';
}

/* json_string() has one answer for two failures. */
static bool is_utf8(const struct field *table, const uint8_t *base)
{
	for (const struct field *f = table; f->key; f++) {
		if (f->form == FORM_OBJECT && !is_utf8(f->items, base + f->at))
			return false;
		if (f->form == FORM_TEXT && !is_text((const char *)base + f->at))
			return false;
	}
	return true;
}

int record_encode(json_t **ret, const struct attach_record *r)
{
	json_t *o;

	if (!is_utf8(record_fields, (const uint8_t *)r))
		return -EINVAL;
	o = encode_object(record_fields, (const uint8_t *)r);
	if (!o)
		return -ENOMEM;
	*ret = o;
	return 0;
}

/* --- decode ----------------------------------------------------------------------------------- */

static int decode_object(const struct field *table, const json_t *o, uint8_t *base, struct err *e);
static int decode_field(const struct field *f, const json_t *v, uint8_t *base, struct err *e);

static int bad(const struct field *f, const char *what, struct err *e)
{
	return err_set(e, -EBADMSG, "\"%s\" is not %s", f->key, what);
}

static int decode_text(const struct field *f, const char *s, uint8_t *p, struct err *e)
{
	if (!s || strlen(s) >= f->size)
		return bad(f, "a text that fits", e);
	memcpy(p, s, strlen(s) + 1);
	return 0;
}

static int decode_number(const struct field *f, const json_t *v, uint8_t *p, struct err *e)
{
	json_int_t n = json_integer_value(v);

	if (!json_is_integer(v) || n < 0 || n >= (json_int_t)1 << (8 * f->size))
		return bad(f, "a number that fits", e);
	store_number(p, f->size, (uint32_t)n);
	return 0;
}

static int decode_hex64(const struct field *f, const char *s, uint8_t *p, struct err *e)
{
	uint64_t v;

	if (!s || parse_u64(s, &v) < 0)
		return bad(f, "a number of 64 bits", e);
	memcpy(p, &v, sizeof(v));
	return 0;
}

static int decode_word(const struct field *f, const char *s, uint8_t *p, struct err *e)
{
	for (unsigned i = 0; s && f->words[i]; i++)
		if (strcmp(f->words[i], s) == 0) {
			store_number(p, f->size, i);
			return 0;
		}
	return bad(f, "a word that is known here", e);
}

static int decode_bytes(const struct field *f, const char *s, uint8_t *base, struct err *e)
{
	uint8_t bytes[HW_ADDR_MAX];
	size_t len = s ? strlen(s) : 1;
	unsigned n = (unsigned)(len / 2);

	if (len % 2 || len / 2 > f->size || (f->count_at == FIELD_ALL && len / 2 != f->size))
		return bad(f, "an address that fits", e);
	for (unsigned i = 0; i < n; i++) {
		const char digits[] = {'0', 'x', s[2 * i], s[2 * i + 1], '\0'};
		uint64_t v;

		if (parse_u64(digits, &v) < 0)
			return bad(f, "an address in hexadecimal", e);
		bytes[i] = (uint8_t)v;
	}
	memcpy(base + f->at, bytes, n);
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

	if (s && !*s) { /* none */
		*ret = (struct ip_prefix){0};
		return 0;
	}
	if (!slash || (size_t)(slash - s) >= sizeof(addr) || parse_u64(slash + 1, &len) < 0 ||
	    len > (p.family == AF_INET ? 32 : 128))
		return bad(f, "ADDRESS/LENGTH", e);
	snprintf(addr, sizeof(addr), "%.*s", (int)(slash - s), s);
	if (inet_pton(p.family, addr, p.addr) != 1)
		return bad(f, "ADDRESS/LENGTH", e);
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
		return bad(f, "a list that fits", e);
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
		return bad(f, "true or false", e);
	*(bool *)p = json_is_true(v);
	return 0;
}

static int decode_field(const struct field *f, const json_t *v, uint8_t *base, struct err *e)
{
	const char *s = json_string_value(v);
	uint8_t *p = base + f->at;

	switch (f->form) {
	case FORM_TEXT:
		return decode_text(f, s, p, e);
	case FORM_NUMBER:
		return decode_number(f, v, p, e);
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

/* --- what cannot be true ---------------------------------------------------------------------- */

/* Names that become parts of paths, or interfaces. */
static bool is_name(const char *s)
{
	return strcmp(s, ".") != 0 && strcmp(s, "..") != 0 && !strpbrk(s, "/ \t\n");
}

static int judge(const struct attach_record *r, struct err *e)
{
	if (!r->function[0] || !is_name(r->function) || !is_name(r->origin.pf))
		return err_set(e, -EBADMSG, "a function in it has no bus name");
	if (!is_name(r->plan.ifname) || !is_name(r->origin.name) || !is_name(r->origin.parent))
		return err_set(e, -EBADMSG, "a name in it is no name for an interface");
	if (r->origin.vf_index < 0)
		return err_set(e, -EBADMSG, "origin: \"vf_index\" is negative");
	return 0;
}

int record_decode(struct attach_record *ret, const json_t *o, struct err *e)
{
	struct attach_record r = {0};
	int code = decode_object(record_fields, o, (uint8_t *)&r, e);

	if (code == 0)
		code = judge(&r, e);
	if (code == 0)
		*ret = r;
	return code;
}

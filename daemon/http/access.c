// SPDX-License-Identifier: Apache-2.0
#include "access.h"

#include <crypt.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cleanup.h"

/* Size of a remembered "NAME:PASSWORD". */
#define CREDENTIALS_MAX                                                                            \
	(sizeof(((struct access_claim *)0)->user) + sizeof(((struct access_claim *)0)->password))

struct access_user {
	char name[sizeof(((struct access_claim *)0)->user)];
	char hash[sizeof(((struct access_claim *)0)->hash)];
	char correct[CREDENTIALS_MAX]; /* as sent; "" = none yet */
};

struct access {
	char tokens[ACCESS_ENTRIES_MAX][ACCESS_TOKEN_MAX + 1];
	size_t n_tokens;
	struct access_user users[ACCESS_ENTRIES_MAX];
	size_t n_users;
};

/* --- the files -------------------------------------------------------------------------------- */

/* Returns the next line, without blanks around it; false at the end. */
static bool access_next_line(const char **at, const char *end, const char **ret, size_t *ret_len)
{
	const char *line = *at, *stop;

	if (line >= end)
		return false;
	stop = memchr(line, '\n', (size_t)(end - line));
	stop = stop ? stop : end;
	*at = stop < end ? stop + 1 : end;
	while (line < stop && isspace((unsigned char)*line))
		line++;
	while (stop > line && isspace((unsigned char)stop[-1]))
		stop--;
	*ret = line;
	*ret_len = (size_t)(stop - line);
	return true;
}

static int add_token(struct access *a, const char *line, size_t len, struct err *e)
{
	if (len < ACCESS_TOKEN_MIN || len > ACCESS_TOKEN_MAX)
		return err_set(e, -EINVAL, "a token has %d to %d characters", ACCESS_TOKEN_MIN,
			       ACCESS_TOKEN_MAX);
	for (size_t i = 0; i < len; i++)
		if (!isgraph((unsigned char)line[i]))
			return err_set(
				e, -EINVAL,
				"a token consists of printable ASCII characters without blanks");
	memcpy(a->tokens[a->n_tokens++], line, len);
	return 0;
}

/* True for a salted hash that crypt(3) considers secure: a hash that can be checked fast does not
 * protect the password. */
static bool is_hash(const char *s)
{
	return s[0] == '$' && crypt_checksalt(s) == CRYPT_SALT_OK;
}

static int add_user(struct access *a, const char *line, size_t len, struct err *e)
{
	const char *colon = memchr(line, ':', len);
	struct access_user *u = &a->users[a->n_users];
	size_t name = colon ? (size_t)(colon - line) : 0, hash = colon ? len - name - 1 : 0;

	if (name == 0 || name >= sizeof(u->name) || hash >= sizeof(u->hash))
		return err_set(e, -EINVAL, "expected NAME:HASH");
	memcpy(u->name, line, name);
	memcpy(u->hash, colon + 1, hash);
	if (!is_hash(u->hash))
		return err_set(e, -EINVAL,
			       "crypt(3) does not consider the hash strong: try htpasswd -B");
	a->n_users++;
	return 0;
}

typedef int add_fn(struct access *, const char *line, size_t len, struct err *);

static int read_lines(struct access *a, const struct access_source *s, add_fn *add, struct err *e)
{
	const char *at = s->text, *end = s->text ? s->text + s->len : NULL, *line;
	unsigned number = 0, n = 0;
	size_t len;
	int r = 0;

	if (!s->text)
		return 0;
	while (r == 0 && access_next_line(&at, end, &line, &len)) {
		number++;
		if (len == 0 || *line == '#')
			continue;
		r = n++ < ACCESS_ENTRIES_MAX ? add(a, line, len, e)
					     : err_set(e, -EINVAL, "too many entries");
	}
	if (r < 0)
		return err_wrap(e, "%s:%u", s->name, number);
	return n ? 0 : err_set(e, -EINVAL, "%s: it has no entries", s->name);
}

int access_new(struct access **ret, const struct access_source *tokens,
	       const struct access_source *users, struct err *e)
{
	struct access *a = calloc(1, sizeof(*a));
	int r;

	if (!a)
		return err_set(e, -ENOMEM, "out of memory");
	r = read_lines(a, tokens, add_token, e);
	if (r == 0)
		r = read_lines(a, users, add_user, e);
	if (r == 0)
		*ret = a;
	else
		access_free(a);
	return r;
}

void access_free(struct access *a)
{
	if (a)
		explicit_bzero(a, sizeof(*a));
	free(a);
}

/* --- comparing -------------------------------------------------------------------------------- */

/* Compares two texts in arrays of that size, padded with zeroes, in constant time. */
static bool access_is_same(const char *a, const char *b, size_t size)
{
	unsigned char different = 0;

	for (size_t i = 0; i < size; i++)
		different |= (unsigned char)(a[i] ^ b[i]);
	return different == 0;
}

/* Compares with all tokens, so that the time does not depend on the result. */
static bool has_token(const struct access *a, const char *token)
{
	char padded[ACCESS_TOKEN_MAX + 1] = "";
	bool found = false;

	if (strlen(token) > ACCESS_TOKEN_MAX)
		return false;
	snprintf(padded, sizeof(padded), "%s", token);
	for (size_t i = 0; i < a->n_tokens; i++)
		found |= access_is_same(a->tokens[i], padded, sizeof(padded));
	return found;
}

static bool is_remembered(const struct access *a, const char credentials[CREDENTIALS_MAX])
{
	bool found = false;

	for (size_t i = 0; i < a->n_users; i++)
		found |= access_is_same(a->users[i].correct, credentials, CREDENTIALS_MAX);
	return found && credentials[0];
}

/* --- the header ------------------------------------------------------------------------------- */

/* Returns the text after the scheme, or NULL if it is another scheme. */
static const char *after_scheme(const char *header, const char *scheme)
{
	size_t n = strlen(scheme);

	if (strncasecmp(header, scheme, n) != 0 || header[n] != ' ')
		return NULL;
	header += n;
	return header + strspn(header, " ");
}

static int base64_value(char c)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *at = c ? strchr(digits, c) : NULL;

	return at ? (int)(at - digits) : -1;
}

/* Decodes base64 into a zero-padded string; false: invalid, or too long. */
static bool base64_text(const char *s, char *ret, size_t size)
{
	unsigned bits = 0, n_bits = 0;
	size_t n = 0;

	memset(ret, 0, size);
	for (; *s && *s != '='; s++) {
		int v = base64_value(*s);

		if (v < 0)
			return false;
		bits = bits << 6 | (unsigned)v;
		n_bits += 6;
		if (n_bits < 8)
			continue;
		n_bits -= 8;
		if (n + 1 >= size || (bits >> n_bits & 0xff) == 0)
			return false;
		ret[n++] = (char)(bits >> n_bits & 0xff);
	}
	return strspn(s, "=") == strlen(s) && n > 0;
}

static bool access_split(const char *credentials, struct access_claim *ret)
{
	const char *colon = strchr(credentials, ':');

	if (!colon || (size_t)(colon - credentials) >= sizeof(ret->user) ||
	    strlen(colon + 1) >= sizeof(ret->password))
		return false;
	*ret = (struct access_claim){.known = false};
	memcpy(ret->user, credentials, (size_t)(colon - credentials));
	strcpy(ret->password, colon + 1);
	return true;
}

/* Fills in the claim. For an unknown user it has the first user's hash, so that the check takes as
 * long as for a wrong password. */
static enum access_verdict claim(const struct access *a, const char *credentials,
				 struct access_claim *ret)
{
	if (a->n_users == 0 || !access_split(credentials, ret))
		return ACCESS_REFUSED;
	memcpy(ret->hash, a->users[0].hash, sizeof(ret->hash));
	for (size_t i = 0; i < a->n_users; i++) {
		if (strcmp(a->users[i].name, ret->user) != 0)
			continue;
		memcpy(ret->hash, a->users[i].hash, sizeof(ret->hash));
		ret->known = true;
	}
	return ACCESS_TO_CHECK;
}

enum access_verdict access_judge(const struct access *a, const char *header,
				 struct access_claim *ret)
{
	const char *token = after_scheme(header, "Bearer"), *basic = after_scheme(header, "Basic");
	char credentials[CREDENTIALS_MAX];

	if (token)
		return has_token(a, token) ? ACCESS_GRANTED : ACCESS_REFUSED;
	if (!basic || !base64_text(basic, credentials, sizeof(credentials)))
		return ACCESS_REFUSED;
	return is_remembered(a, credentials) ? ACCESS_GRANTED : claim(a, credentials, ret);
}

/* --- passwords -------------------------------------------------------------------------------- */

bool access_check(const struct access_claim *c)
{
	struct crypt_data *data = calloc(1, sizeof(*data));
	char hash[sizeof(c->hash)] = "";
	const char *made = data ? crypt_r(c->password, c->hash, data) : NULL;
	bool correct;

	if (made && strlen(made) < sizeof(hash))
		strcpy(hash, made);
	correct = made && made[0] != '*' && access_is_same(hash, c->hash, sizeof(hash)) && c->known;
	if (data)
		explicit_bzero(data, sizeof(*data));
	free(data);
	return correct;
}

void access_remember(struct access *a, const struct access_claim *c)
{
	for (size_t i = 0; i < a->n_users; i++) {
		struct access_user *u = &a->users[i];

		if (strcmp(u->name, c->user) != 0 || strcmp(u->hash, c->hash) != 0)
			continue;
		memset(u->correct, 0, sizeof(u->correct));
		snprintf(u->correct, sizeof(u->correct), "%s:%s", c->user, c->password);
	}
}

void access_carry(struct access *a, const struct access *from)
{
	for (size_t i = 0; i < a->n_users; i++)
		for (size_t j = 0; j < from->n_users; j++)
			if (strcmp(a->users[i].name, from->users[j].name) == 0 &&
			    strcmp(a->users[i].hash, from->users[j].hash) == 0)
				memcpy(a->users[i].correct, from->users[j].correct,
				       sizeof(a->users[i].correct));
}

// SPDX-License-Identifier: Apache-2.0
#include "cni.h"

#include <ctype.h>
#include <jansson.h>
#include <strings.h>

#include "cleanup.h"
#include "json_text.h"

/* --- errors ----------------------------------------------------------------------------------- */

int cni_fail(struct cni_error *e, enum cni_code code, const char *fmt, ...)
{
	va_list ap;

	e->code = code;
	e->err.code = -EINVAL;
	va_start(ap, fmt);
	vsnprintf(e->err.msg, sizeof(e->err.msg), fmt, ap);
	va_end(ap);
	return -EINVAL;
}

static enum cni_code code_of(int error)
{
	switch (-error) {
	case 0:
		return CNI_OK;
	case EAGAIN:
	case ETIMEDOUT:
	case ENOMEM:
	case ECANCELED:
		return CNI_TRY_LATER;
	case EINVAL:
		return CNI_BAD_CONFIG;
	case ENODEV:
	case ENOTUNIQ:
		return CNI_NO_DEVICE;
	case EBUSY:
	case EEXIST:
		return CNI_IN_USE;
	case EBADF:
		return CNI_BAD_NETNS;
	case EROFS:
		return CNI_UNAVAILABLE;
	}
	return CNI_FAILED;
}

void cni_error_from(struct cni_error *e, const struct err *err)
{
	e->err = *err;
	e->code = code_of(err->code);
}

/* --- texts ------------------------------------------------------------------------------------ */

/* True if the text matches the specification's regular expression for IDs and names. */
static bool cni_is_name(const char *s)
{
	if (!isalnum((unsigned char)*s))
		return false;
	for (; *s; s++)
		if (!isalnum((unsigned char)*s) && *s != '_' && *s != '.' && *s != '-')
			return false;
	return true;
}

static bool is_printable(const char *s)
{
	for (; *s; s++)
		if (*s <= ' ' || *s > '~')
			return false;
	return true;
}

/* Reads a string member, "" if absent. -EINVAL: it has another type, or is too long. */
static int cni_text(const json_t *root, const char *key, char *ret, size_t size,
		    struct cni_error *e)
{
	const json_t *value = json_object_get(root, key);
	const char *text = json_string_value(value);

	ret[0] = '\0';
	if (!value || json_is_null(value))
		return 0;
	if (!text)
		return cni_fail(e, CNI_NOT_DECODED, "%s is not a string", key);
	if (strlen(text) >= size)
		return cni_fail(e, CNI_BAD_ENVIRONMENT, "%s is longer than %zu bytes", key,
				size - 1);
	strcpy(ret, text);
	return 0;
}

/* --- CNI_ARGS --------------------------------------------------------------------------------- */

struct cni_arg {
	const char *key;
	size_t at, size;
};

#define ARG(key, field)                                                                            \
	{                                                                                          \
		key, offsetof(struct cni_request, field), sizeof(((struct cni_request *)0)->field) \
	}

static const struct cni_arg known_args[] = {
	ARG("K8S_POD_NAMESPACE", owner.namespace),
	ARG("K8S_POD_NAME", owner.pod),
	ARG("K8S_POD_UID", owner.uid),
	ARG("MAC", mac),
	ARG("GUID", guid),
	ARG("IP", ip),
	ARG("GATEWAY", gateway),
};

static int take_arg(struct cni_request *r, const char *item, size_t len, struct cni_error *e)
{
	const char *is = memchr(item, '=', len);
	const size_t n_key = is ? (size_t)(is - item) : len, n = is ? len - n_key - 1 : 0;

	if (!is)
		return cni_fail(e, CNI_BAD_ENVIRONMENT, "CNI_ARGS: \"%.*s\" has no '='",
				(int)(len < 60 ? len : 60), item);
	for (size_t i = 0; i < ARRAY_SIZE(known_args); i++) {
		const struct cni_arg *a = &known_args[i];
		char *to = (char *)r + a->at;

		if (strncmp(a->key, item, n_key) != 0 || a->key[n_key])
			continue;
		if (n >= a->size)
			return cni_fail(e, CNI_BAD_ENVIRONMENT,
					"CNI_ARGS: %s is longer than %zu bytes", a->key,
					a->size - 1);
		memcpy(to, is + 1, n);
		to[n] = '\0';
		if (!is_printable(to))
			return cni_fail(e, CNI_BAD_ENVIRONMENT,
					"CNI_ARGS: %s has unprintable characters", a->key);
		return 0;
	}
	return 0; /* keys of other plugins are ignored */
}

static int read_args(struct cni_request *r, const json_t *root, struct cni_error *e)
{
	const json_t *value = json_object_get(root, "args");
	const char *at = json_string_value(value);
	int error = 0;

	if (value && !json_is_null(value) && !at)
		return cni_fail(e, CNI_NOT_DECODED, "args is not a string");
	while (at && *at && error == 0) {
		size_t n = strcspn(at, ";");

		if (n > 0)
			error = take_arg(r, at, n, e);
		at += n + (at[n] == ';');
	}
	return error;
}

/* --- the environment -------------------------------------------------------------------------- */

static int read_command(struct cni_request *r, const json_t *root, struct cni_error *e)
{
	static const char *const words[] = {
		[CNI_ADD] = "ADD", [CNI_DEL] = "DEL",	    [CNI_CHECK] = "CHECK",
		[CNI_GC] = "GC",   [CNI_STATUS] = "STATUS",
	};
	const char *word = json_string_value(json_object_get(root, "command"));

	for (unsigned i = 0; word && i < ARRAY_SIZE(words); i++)
		if (strcmp(word, words[i]) == 0) {
			r->command = (enum cni_command)i;
			return 0;
		}
	return cni_fail(e, CNI_BAD_ENVIRONMENT, "unknown CNI_COMMAND: %.40s", word ? word : "");
}

static int check_container(const struct cni_request *r, struct cni_error *e)
{
	const char *id = r->owner.sandbox;

	if (!id[0])
		return cni_fail(e, CNI_BAD_ENVIRONMENT,
				"required env variables [CNI_CONTAINERID] missing");
	return cni_is_name(id) ? 0
			       : cni_fail(e, CNI_BAD_ENVIRONMENT,
					  "invalid characters in containerID: %s", id);
}

/* Rejects the names that the specification (section 2) forbids: "." and "..", and names with '/',
 * ':' or blanks. */
static int check_ifname(const struct cni_request *r, struct cni_error *e)
{
	const char *s = r->ifname;

	if (!s[0])
		return cni_fail(e, CNI_BAD_ENVIRONMENT,
				"required env variables [CNI_IFNAME] missing");
	if (strcmp(s, ".") == 0 || strcmp(s, "..") == 0)
		return cni_fail(e, CNI_BAD_ENVIRONMENT, "interface name is . or ..");
	for (; *s; s++)
		if (*s == '/' || *s == ':' || *s == '%' || isspace((unsigned char)*s) || *s < ' ' ||
		    *s > '~')
			return cni_fail(e, CNI_BAD_ENVIRONMENT,
					"interface name contains / or : or whitespace characters");
	return 0;
}

static int check_netns(const struct cni_request *r, struct cni_error *e)
{
	const char *path = r->owner.netns.path;

	if (!path[0])
		return cni_fail(e, CNI_BAD_ENVIRONMENT,
				"required env variables [CNI_NETNS] missing");
	return path[0] == '/'
		       ? 0
		       : cni_fail(e, CNI_BAD_NETNS, "%s is not a path that begins with /", path);
}

static bool has_attachment(enum cni_command command)
{
	return command == CNI_ADD || command == CNI_DEL || command == CNI_CHECK;
}

static int read_environment(struct cni_request *r, const json_t *root, struct cni_error *e)
{
	struct attach_owner *o = &r->owner;
	/* A DEL must not fail because of members that it does not need: runtimes would retry it
	 * forever. */
	const bool rest = r->command != CNI_DEL;
	int error = cni_text(root, "containerID", o->sandbox, sizeof(o->sandbox), e);

	if (error == 0 && rest)
		error = cni_text(root, "netns", o->netns.path, sizeof(o->netns.path), e);
	if (error == 0)
		error = cni_text(root, "ifname", r->ifname, sizeof(r->ifname), e);
	if (error == 0)
		error = check_container(r, e);
	if (error == 0 && rest)
		error = check_netns(r, e);
	if (error == 0)
		error = check_ifname(r, e);
	return error < 0 || !rest ? error : read_args(r, root, e);
}

/* --- the configuration ------------------------------------------------------------------------ */

static int cni_read_config(struct cni_request *r, const json_t *root, struct cni_error *e)
{
	json_t *config = json_object_get(root, "config");
	int error;

	if (!json_is_object(config))
		return cni_fail(e, CNI_NOT_DECODED,
				"the network configuration is not a JSON object");
	r->config = json_incref(config);
	if (r->command == CNI_DEL)
		return 0;
	error = cni_text(config, "name", r->owner.network, sizeof(r->owner.network), e);
	if (error < 0)
		return error;
	if (!r->owner.network[0])
		return cni_fail(e, CNI_BAD_CONFIG, "missing network name");
	if (!cni_is_name(r->owner.network))
		return cni_fail(e, CNI_BAD_CONFIG, "invalid characters found in network name: %s",
				r->owner.network);
	return 0;
}

static int read_request(struct cni_request *r, const json_t *root, struct cni_error *e)
{
	int error = read_command(r, root, e);

	if (error == 0 && has_attachment(r->command))
		error = read_environment(r, root, e);
	return error < 0 ? error : cni_read_config(r, root, e);
}

int cni_request_parse(struct cni_request *ret, const char *text, size_t len, struct cni_error *e)
{
	struct cni_request r = {.owner.door = DOOR_CNI};
	json_t *root = json_text_load(text ? text : "", len, 0, NULL);
	int error;

	if (!json_is_object(root))
		error = cni_fail(e, CNI_NOT_DECODED, "the request is not a JSON object");
	else
		error = read_request(&r, root, e);
	json_decref(root);
	if (error == 0)
		*ret = r;
	else
		cni_request_done(&r);
	return error;
}

void cni_request_done(struct cni_request *r)
{
	json_decref(r->config);
	json_decref(r->ipam_needs);
	r->config = r->ipam_needs = NULL;
}

/* --- replies ---------------------------------------------------------------------------------- */

static char *cni_print(json_t *root)
{
	char *text = root ? json_dumps(root, JSON_COMPACT) : NULL;

	json_decref(root);
	return text;
}

char *cni_answer_result(json_t *result, json_t *device_info)
{
	return cni_print(json_pack("{s:o, s:O*}", "result", result, "deviceInfo", device_info));
}

char *cni_answer_empty(void)
{
	return cni_print(json_object());
}

/* Replaces every `from` in place; `to` must not be longer. */
static void replace_phrase(char *text, const char *from, const char *to)
{
	const size_t n = strlen(from), len = strlen(to);
	char *at;

	while ((at = strcasestr(text, from))) {
		memmove(at + len, at + n, strlen(at + n) + 1);
		for (size_t i = 0; i < len; i++)
			at[i] = to[i];
	}
}

char *cni_answer_error(enum cni_command command, const struct cni_error *e)
{
	char msg[sizeof(e->err.msg)];

	memcpy(msg, e->err.msg, sizeof(msg));
	if (command == CNI_DEL) {
		replace_phrase(msg, "not found", "missing");
		replace_phrase(msg, "no such file or directory", "the path is missing");
	}
	return cni_print(json_pack("{s:{s:i, s:o, s:s}}", "error", "code", (int)e->code, "msg",
				   json_text(msg), "details", ""));
}

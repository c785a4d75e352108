// SPDX-License-Identifier: Apache-2.0
#include "ipam_needs.h"

#include <jansson.h>
#include <linux/capability.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cleanup.h"

/* host-local's default folder for leases (plugins/ipam/host-local/backend/disk in
 * containernetworking/plugins). */
#define LEASES "/var/lib/cni/networks"
#define LETTERS                                                                                    \
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_." /* allowed in a        \
									       plugin's file name  \
									     */

typedef int read_fn(struct ipam_needs *, const json_t *, struct err *);

static int read_type(struct ipam_needs *n, const json_t *value, struct err *e)
{
	const char *type = json_string_value(value);

	if (!type || *type == '\0')
		return err_set(e, -EINVAL, "has no \"type\"");
	if (strchr(type, '/'))
		return err_set(e, -EINVAL, "type '%.40s' is a path, not a plugin's name", type);
	if (*type == '.' || type[strspn(type, LETTERS)] || strlen(type) >= sizeof(n->type))
		return err_set(e, -EINVAL, "type '%.40s' is not the name of a plugin", type);
	strcpy(n->type, type);
	return 0;
}

static int ipam_needs_read_network(struct ipam_needs *n, const json_t *value, struct err *e)
{
	const char *word = json_string_value(value);

	if (!word || (strcmp(word, "none") != 0 && strcmp(word, "host") != 0))
		return err_set(e, -EINVAL, "needs: network: is neither \"none\" nor \"host\"");
	n->host_network = strcmp(word, "host") == 0;
	return 0;
}

/* Reads a capability. An IPAM plugin may need those that are accepted; with any other one it would
 * effectively be root on the host. */
static int read_capability(struct ipam_needs *n, const char *word, struct err *e)
{
	static const struct {
		const char *name;
		unsigned cap;
	} known[] = {
		{"NET_ADMIN", CAP_NET_ADMIN},
		{"NET_RAW", CAP_NET_RAW},
		{"NET_BIND_SERVICE", CAP_NET_BIND_SERVICE},
	};

	for (size_t i = 0; word && i < ARRAY_SIZE(known); i++) {
		if (strcasecmp(word, known[i].name) != 0)
			continue;
		n->capabilities |= UINT64_C(1) << known[i].cap;
		return 0;
	}
	return err_set(e, -EINVAL,
		       "needs: capabilities: '%.40s' is none of NET_ADMIN, NET_RAW, "
		       "NET_BIND_SERVICE",
		       word ? word : "");
}

static int read_capabilities(struct ipam_needs *n, const json_t *list, struct err *e)
{
	int r = 0;

	if (!json_is_array(list))
		return err_set(e, -EINVAL, "needs: capabilities: is not a list");
	for (size_t i = 0; i < json_array_size(list) && r == 0; i++)
		r = read_capability(n, json_string_value(json_array_get(list, i)), e);
	return r;
}

static bool ipam_needs_is_folder(const char *path)
{
	size_t n = strlen(path);

	return n > 1 && n < IPAM_FOLDER_MAX && path[0] == '/' && !strstr(path, "/../") &&
	       (n < 3 || strcmp(path + n - 3, "/..") != 0);
}

static int add_folder(struct ipam_needs *n, const char *key, const json_t *value, struct err *e)
{
	const char *path = json_string_value(value);

	if (!path || !ipam_needs_is_folder(path))
		return err_set(e, -EINVAL,
			       "%s: '%.80s' is not the absolute path of a folder other than /", key,
			       path ? path : "");
	strcpy(n->write[n->n_write++], path);
	return 0;
}

static int read_write(struct ipam_needs *n, const json_t *list, struct err *e)
{
	int r = 0;

	if (!json_is_array(list) || json_array_size(list) > IPAM_WRITE_MAX)
		return err_set(e, -EINVAL, "needs: write: is not a list of at most %d folders",
			       IPAM_WRITE_MAX);
	for (size_t i = 0; i < json_array_size(list) && r == 0; i++)
		r = add_folder(n, "needs: write", json_array_get(list, i), e);
	n->unix_sockets = n->n_write > 0;
	return r;
}

static int read_needs(struct ipam_needs *n, const json_t *object, struct err *e)
{
	static const struct {
		const char *name;
		read_fn *read;
	} keys[] = {
		{"network", ipam_needs_read_network},
		{"capabilities", read_capabilities},
		{"write", read_write},
	};
	const char *name;
	json_t *value;

	if (!json_is_object(object))
		return err_set(e, -EINVAL, "needs: is not an object");
	json_object_foreach ((json_t *)object, name, value) {
		size_t i = 0;
		int r;

		while (i < ARRAY_SIZE(keys) && strcmp(keys[i].name, name) != 0)
			i++;
		if (i == ARRAY_SIZE(keys))
			return err_set(e, -EINVAL, "needs: %.40s: unknown key", name);
		r = json_is_null(value) ? 0 : keys[i].read(n, value, e);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Adds the folder of host-local's leases. The other known plugins write no files. */
static int read_leases(struct ipam_needs *n, const json_t *ipam, struct err *e)
{
	const json_t *folder = json_object_get(ipam, "dataDir");

	if (strcmp(n->type, "host-local") != 0)
		return 0;
	if (folder && !(json_is_string(folder) && *json_string_value(folder) == '\0'))
		return add_folder(n, "dataDir", folder, e);
	strcpy(n->write[n->n_write++], LEASES);
	return 0;
}

int ipam_needs_read(struct ipam_needs *ret, const json_t *ipam, struct err *e)
{
	const json_t *needs = json_object_get(ipam, "needs");
	struct ipam_needs n = {0};
	int r;

	if (!json_is_object(ipam))
		return err_set(e, -EINVAL, "is not an object");
	r = read_type(&n, json_object_get(ipam, "type"), e);
	if (r == 0 && needs && !json_is_null(needs))
		r = read_needs(&n, needs, e);
	if (r == 0)
		r = read_leases(&n, ipam, e);
	if (r == 0)
		*ret = n;
	return r;
}

const char *ipam_needs_missing(const struct ipam_needs *n)
{
	/* nv-ipam and dhcp send requests to a daemon of the node, over a unix socket in that
	 * folder; whereabouts sends them to the API server. */
	static const struct {
		const char *type, *text;
		bool host_network, unix_sockets;
	} known[] = {
		{"nv-ipam", "\"write\": [\"/var/lib/cni/nv-ipam\"]", false, true},
		{"dhcp", "\"write\": [\"/run/cni\"]", false, true},
		{"whereabouts", "\"network\": \"host\"", true, false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (strcmp(n->type, known[i].type) == 0 &&
		    ((known[i].host_network && !n->host_network) ||
		     (known[i].unix_sockets && !n->unix_sockets)))
			return known[i].text;
	return NULL;
}

/* Writes FOLDER/NAME; false: it is too long. */
static bool ipam_plugin_path(char ret[IPAM_PATH_SIZE], const char *folder, size_t len,
			     const char *name)
{
	size_t n = strlen(name);

	if (len + n + 2 > IPAM_PATH_SIZE)
		return false;
	memcpy(ret, folder, len);
	ret[len] = '/';
	memcpy(ret + len + 1, name, n + 1);
	return true;
}

bool ipam_plugin_find(char ret[IPAM_PATH_SIZE], const char *folders, const char *type)
{
	for (const char *at = folders; *at;) {
		size_t len = strcspn(at, ":");
		struct stat st;

		if (*at == '/' && ipam_plugin_path(ret, at, len, type) && stat(ret, &st) == 0 &&
		    S_ISREG(st.st_mode) && access(ret, X_OK) == 0)
			return true;
		at += len + (at[len] == ':');
	}
	return false;
}

bool ipam_plugin_exists(const char *folders, const char *type)
{
	char path[IPAM_PATH_SIZE];

	return ipam_plugin_find(path, folders, type);
}

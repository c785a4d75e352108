// SPDX-License-Identifier: Apache-2.0
#include "shim_env.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/nsfs.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "cleanup.h"
#include "ifname.h"
#include "search.h"

/* --- variables -------------------------------------------------------------------------------- */

enum { CONTAINERID = 1, NETNS = 2, IFNAME = 4, PATH = 8 };

static const struct {
	const char *name;
	unsigned needs;
} shim_verbs[N_SHIM_VERBS] = {
	[SHIM_ADD] = {"ADD", CONTAINERID | NETNS | IFNAME | PATH},
	[SHIM_DEL] = {"DEL", CONTAINERID | IFNAME | PATH},
	[SHIM_CHECK] = {"CHECK", CONTAINERID | NETNS | IFNAME | PATH},
	[SHIM_GC] = {"GC", PATH},
	[SHIM_STATUS] = {"STATUS", PATH},
	[SHIM_VERSION_VERB] = {"VERSION", 0},
	[SHIM_UNKNOWN] = {"", 0},
};

static const char *shim_variable(const char *name)
{
	const char *value = getenv(name);

	return value ? value : "";
}

static enum shim_verb shim_verb_named(const char *command)
{
	unsigned verb = 0;

	while (verb < SHIM_UNKNOWN && strcmp(shim_verbs[verb].name, command) != 0)
		verb++;
	return (enum shim_verb)verb;
}

/* Checks that no variable is missing. The message lists all missing ones in the order of the table.
 */
static int shim_check_missing(const struct shim_env *env, struct shim_error *e)
{
	const struct {
		const char *name, *value;
		unsigned need;
	} variables[] = {
		{"CNI_CONTAINERID", env->container_id, CONTAINERID},
		{"CNI_NETNS", env->netns, NETNS},
		{"CNI_IFNAME", env->ifname, IFNAME},
		{"CNI_PATH", env->path, PATH},
	};
	char names[80] = "";

	for (size_t i = 0; i < ARRAY_SIZE(variables); i++)
		if (shim_verbs[env->verb].needs & variables[i].need && !*variables[i].value) {
			strcat(names, *names ? "," : "");
			strcat(names, variables[i].name);
		}
	return *names ? shim_fail(e, SHIM_ENV, "required env variables [%s] missing", names) : 0;
}

/* --- their values ----------------------------------------------------------------------------- */

static int shim_check_container_id(const char *id, struct shim_error *e)
{
	const char *at = id;

	while (isalnum((unsigned char)*at) || (at > id && *at && strchr("_.-", *at)))
		at++;
	if (*at == '\0')
		return 0;
	shim_fail(e, SHIM_ENV, "invalid characters in containerID");
	return shim_details(e, "%s", id);
}

static int shim_check_ifname(const char *name, struct shim_error *e)
{
	if (ifname_is_valid(name))
		return 0;
	if (strlen(name) >= IFNAMSIZ) {
		shim_fail(e, SHIM_ENV, "interface name is too long");
		return shim_details(e, "interface name should be less than %d characters",
				    IFNAMSIZ);
	}
	if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return shim_fail(e, SHIM_ENV, "interface name is . or ..");
	return shim_fail(e, SHIM_ENV, "interface name contains / or : or whitespace characters");
}

int shim_env_read(struct shim_env *ret, struct shim_error *e)
{
	const char *override = shim_variable("CNI_NETNS_OVERRIDE");
	struct shim_env env = {
		.command = shim_variable("CNI_COMMAND"),
		.container_id = shim_variable("CNI_CONTAINERID"),
		.netns = shim_variable("CNI_NETNS"),
		.ifname = shim_variable("CNI_IFNAME"),
		.args = shim_variable("CNI_ARGS"),
		.path = shim_variable("CNI_PATH"),
		.netns_override = strcasecmp(override, "true") == 0 || strcmp(override, "1") == 0,
	};
	int r;

	env.verb = shim_verb_named(env.command);
	r = shim_check_missing(&env, e);
	if (r == 0 && shim_verbs[env.verb].needs & CONTAINERID)
		r = shim_check_container_id(env.container_id, e);
	if (r == 0 && shim_verbs[env.verb].needs & IFNAME)
		r = shim_check_ifname(env.ifname, e);
	if (r == 0)
		*ret = env;
	return r;
}

/* --- CNI_ARGS --------------------------------------------------------------------------------- */

static bool shim_key_is_known(const char *pair, size_t len)
{
	static const char *const known[] = {
		"IP",	       "MAC",	       "GATEWAY",	    "SUBNET",
		"GUID",	       "K8S_POD_NAME", "K8S_POD_NAMESPACE", "K8S_POD_INFRA_CONTAINER_ID",
		"K8S_POD_UID",
	};

	return any_of(ARRAY_SIZE(known), i,
		      strlen(known[i]) == len && memcmp(known[i], pair, len) == 0);
}

/* Parses the value of IgnoreUnknown; -EPROTO. */
static int shim_boolean(const char *value, size_t len, struct shim_error *e)
{
	if (len == 1 && (*value == '0' || *value == '1'))
		return *value == '1';
	if (len == 4 && strncasecmp(value, "true", len) == 0)
		return 1;
	if (len == 5 && strncasecmp(value, "false", len) == 0)
		return 0;
	return shim_fail(e, SHIM_ENV, "ARGS: IgnoreUnknown: invalid boolean \"%.*s\"",
			 (int)(len < 100 ? len : 100), value);
}

struct shim_args {
	bool ignore_unknown;
	const char *unknown; /* the first such pair; NULL = none */
	size_t unknown_len;
};

static int shim_read_pair(struct shim_args *a, const char *pair, size_t len, struct shim_error *e)
{
	static const char ignore[] = "IgnoreUnknown";
	const char *equals = memchr(pair, '=', len);
	size_t key = equals ? (size_t)(equals - pair) : 0, rest = len - key - 1;
	int r;

	if (!equals || memchr(equals + 1, '=', rest))
		return shim_fail(e, SHIM_ENV, "ARGS: invalid pair \"%.*s\"",
				 (int)(len < 100 ? len : 100), pair);
	if (key == sizeof(ignore) - 1 && memcmp(pair, ignore, key) == 0) {
		r = shim_boolean(equals + 1, rest, e);
		a->ignore_unknown = r > 0;
		return r < 0 ? r : 0;
	}
	if (!a->unknown && !shim_key_is_known(pair, key)) {
		a->unknown = pair;
		a->unknown_len = len;
	}
	return 0;
}

int shim_env_check_args(const char *args, struct shim_error *e)
{
	struct shim_args a = {0};
	int r = 0;

	while (r == 0 && *args) {
		size_t len = strcspn(args, ";");

		r = shim_read_pair(&a, args, len, e);
		args += len;
		if (*args == ';' && *++args == '\0' && r == 0)
			r = shim_fail(e, SHIM_ENV, "ARGS: invalid pair \"\"");
	}
	if (r == 0 && a.unknown && !a.ignore_unknown)
		r = shim_fail(e, SHIM_ENV, "ARGS: unknown args [\"%.*s\"]",
			      (int)(a.unknown_len < 100 ? a.unknown_len : 100), a.unknown);
	return r;
}

/* --- CNI_NETNS -------------------------------------------------------------------------------- */

/* Opens CNI_NETNS if it is a file on nsfs: opening a device node or a pipe may have side effects.
 */
static int shim_open_netns(const char *path, struct shim_error *e)
{
	struct statfs fs;
	int fd, type;

	if (statfs(path, &fs) < 0)
		return shim_fail(e, SHIM_NETNS, "CNI_NETNS %.512s cannot be opened: %s", path,
				 shim_errno(errno));
	fd = fs.f_type == NSFS_MAGIC ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
	type = fd < 0 ? -1 : ioctl(fd, NS_GET_NSTYPE);
	if (type == CLONE_NEWNET)
		return fd;
	if (fd >= 0)
		close(fd);
	return shim_fail(e, SHIM_NETNS, "CNI_NETNS %.512s is not a network namespace", path);
}

int shim_env_check_netns(const struct shim_env *env, struct shim_error *e)
{
	AUTO_FD fd = shim_open_netns(env->netns, e);
	struct stat theirs, ours;

	if (fd < 0)
		return fd;
	if (env->netns_override || fstat(fd, &theirs) < 0 || stat("/proc/self/ns/net", &ours) < 0 ||
	    theirs.st_ino != ours.st_ino || theirs.st_dev != ours.st_dev)
		return 0;
	return shim_fail(e, SHIM_NETNS,
			 "plugin's netns and netns from CNI_NETNS should not be the same");
}

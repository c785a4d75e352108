// SPDX-License-Identifier: Apache-2.0
#include "shim_devinfo.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cleanup.h"
#include "file_io.h"
#include "folders.h"
#include "json_text.h"

/* Maximum size of a device-info file. */
#define DEVINFO_MAX  65536
/* Size of a temporary name: '.' and the name. */
#define DEVINFO_NAME (NAME_MAX + 2)

/* --- the name --------------------------------------------------------------------------------- */

static bool devinfo_ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), n_end = strlen(end);

	return n > n_end && strcmp(text + n - n_end, end) == 0;
}

static bool devinfo_is_name(const char *name, const struct shim_env *env)
{
	char end[NAME_MAX + 1];

	if (snprintf(end, sizeof(end), "-%s_%s", env->container_id, env->ifname) >=
	    (int)sizeof(end))
		return false;
	return name[0] != '.' && strlen(name) < NAME_MAX && !strchr(name, '/') &&
	       devinfo_ends_with(name, end);
}

int shim_devinfo_name(const char **ret, const char *dir, const struct shim_env *env,
		      const json_t *config, struct shim_error *e)
{
	const json_t *value = json_object_get(json_object_get(config, "runtimeConfig"),
					      "CNIDeviceInfoFile");
	const char *path = json_string_value(value);
	const size_t n = strlen(dir);

	*ret = NULL;
	if (!value || json_is_null(value) || (path && !path[0]))
		return 0;
	/* The parser rejects strings with NUL bytes. */
	if (!path || strncmp(path, dir, n) != 0 || path[n] != '/' ||
	    !devinfo_is_name(path + n + 1, env))
		return shim_fail(e, SHIM_CONFIG,
				 "runtimeConfig.CNIDeviceInfoFile: is not %.200s/NAME-%.100s_%s",
				 dir, env->container_id, env->ifname);
	*ret = path + n + 1;
	return 0;
}

/* --- the file --------------------------------------------------------------------------------- */

static void devinfo_part_name(const char *name, char ret[DEVINFO_NAME])
{
	snprintf(ret, DEVINFO_NAME, ".%.*s", NAME_MAX, name);
}

static int devinfo_open_dir(const char *dir)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* Reads a device-info file. NULL: there is none, or it is malformed. */
static json_t *devinfo_read(int dir, const char *name)
{
	AUTO_FD fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	char text[DEVINFO_MAX];
	struct stat st;
	ssize_t n;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return NULL;
	n = read(fd, text, sizeof(text));
	return n > 0 ? json_text_load(text, (size_t)n, 0, NULL) : NULL;
}

static const char *devinfo_address(const json_t *info)
{
	const char *type = json_string_value(json_object_get(info, "type"));
	const json_t *details = type ? json_object_get(info, type) : NULL;
	const char *address = json_string_value(json_object_get(details, "pci-address"));

	return address ? address : "";
}

static bool devinfo_is_there(int dir, const char *name, const json_t *info)
{
	json_auto_t *other = devinfo_read(dir, name);
	const char *address = devinfo_address(info);

	return address[0] && strcmp(devinfo_address(other), address) == 0;
}

static int devinfo_write_part(int dir, const char *part, const char *text)
{
	const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
	AUTO_FD fd = -1;

	(void)unlinkat(dir, part, 0);
	fd = openat(dir, part, flags, 0444);
	return fd < 0 ? -errno : file_write_all(fd, text, strlen(text));
}

static int devinfo_put(int dir, const char *name, const char *text)
{
	char part[DEVINFO_NAME];
	int r;

	devinfo_part_name(name, part);
	r = devinfo_write_part(dir, part, text);
	if (r == 0 && renameat(dir, part, dir, name) < 0)
		r = -errno;
	if (r < 0)
		unlinkat(dir, part, 0);
	return r;
}

int shim_devinfo_write(const char *dir, const char *name, const json_t *info, struct shim_error *e)
{
	AUTO_FREE char *text = json_dumps(info, JSON_COMPACT);
	char path[PATH_MAX];
	AUTO_FD fd = -1;
	int r;

	if (!text)
		return shim_fail(e, SHIM_INTERNAL, "out of memory");
	snprintf(path, sizeof(path), "%s", dir);
	(void)make_folders(path, 0755); /* the next call reports a failure */
	r = fd = devinfo_open_dir(path);
	if (r >= 0)
		r = devinfo_is_there(fd, name, info) ? 0 : devinfo_put(fd, name, text);
	return r < 0 ? shim_fail(e, SHIM_IO, "cannot write %.300s/%.300s: %s", dir, name,
				 shim_errno(r))
		     : 0;
}

void shim_devinfo_remove(const char *dir, const char *name)
{
	char part[DEVINFO_NAME];
	AUTO_FD fd = devinfo_open_dir(dir);

	if (fd < 0)
		return;
	devinfo_part_name(name, part);
	(void)unlinkat(fd, part, 0);
	(void)unlinkat(fd, name, 0);
}

// SPDX-License-Identifier: Apache-2.0
#include "config_beside.h"

#include <dirent.h>
#include <string.h>
#include <sys/stat.h>

#include "cleanup.h"
#include "options.h"
#include "search.h"

/* Maximum number of names in the message. */
#define NAMES_MAX 3

struct beside {
	size_t n; /* of all files */
	char names[NAMES_MAX][64];
};

static bool is_named_by_option(const struct options *o, const char *path)
{
	const char *const named[] = {o->tls_cert, o->tls_key, o->auth_token_file,
				     o->basic_auth_file};

	return any_of(ARRAY_SIZE(named), i, strcmp(named[i], path) == 0);
}

/* Keeps the names that are first in the alphabet. */
static void beside_add(struct beside *b, const char *name)
{
	size_t at = b->n < NAMES_MAX ? b->n : NAMES_MAX;

	b->n++;
	while (at > 0 && strcmp(name, b->names[at - 1]) < 0)
		at--;
	if (at == NAMES_MAX)
		return;
	memmove(b->names[at + 1], b->names[at], (NAMES_MAX - 1 - at) * sizeof(b->names[0]));
	snprintf(b->names[at], sizeof(b->names[at]), "%.60s", name);
}

/* Collects the files of the folder, without hidden ones, which are those of a ConfigMap's update
 * ("..data"), or of an editor. */
static void beside_scan(const struct options *o, const char *folder, struct beside *b)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	struct stat st;

	while (dir && (entry = readdir(dir)) != NULL) {
		char path[OPTION_TEXT_SIZE + sizeof(entry->d_name)];

		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		if (entry->d_name[0] != '.' && stat(path, &st) == 0 && S_ISREG(st.st_mode) &&
		    !is_named_by_option(o, path))
			beside_add(b, entry->d_name);
	}
	if (dir)
		closedir(dir);
}

bool config_beside(const struct options *o, char ret[CONFIG_BESIDE_SIZE])
{
	const char *slash = strrchr(o->config, '/');
	char folder[OPTION_TEXT_SIZE];
	struct beside b = {0};
	size_t len;

	*ret = '\0';
	if (!slash || slash == o->config)
		return false;
	snprintf(folder, sizeof(folder), "%.*s", (int)(slash - o->config), o->config);
	beside_scan(o, folder, &b);
	if (b.n == 0)
		return false;
	len = (size_t)snprintf(ret, CONFIG_BESIDE_SIZE, "%.100s has %s", folder, b.names[0]);
	for (size_t i = 1; i < b.n && i < NAMES_MAX; i++)
		len += (size_t)snprintf(ret + len, CONFIG_BESIDE_SIZE - len, ", %s", b.names[i]);
	snprintf(ret + len, CONFIG_BESIDE_SIZE - len, "%s, but no %.30s",
		 b.n > NAMES_MAX ? ", ..." : "", slash + 1);
	return true;
}

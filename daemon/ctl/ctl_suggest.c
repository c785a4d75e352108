// SPDX-License-Identifier: Apache-2.0
#include "ctl_suggest.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "cleanup.h"
#include "config_file.h"
#include "config_json.h"
#include "ctl_args.h"
#include "ctl_config_map.h"
#include "ctl_document.h"
#include "suggest_merge.h"

struct suggestions {
	struct node_suggestion *list;
	size_t n;
};

static void suggestions_done(struct suggestions *s)
{
	for (size_t i = 0; i < s->n; i++) {
		free((char *)(uintptr_t)s->list[i].node);
		json_decref((json_t *)(uintptr_t)s->list[i].config);
	}
	free(s->list);
}

/* Length of NODE in NODE.json; 0: the name does not end in ".json". */
static size_t suggestion_node_len(const char *file)
{
	static const char end[] = ".json";
	size_t len = strlen(file);

	if (file[0] == '.' || len < sizeof(end) || strcmp(file + len + 1 - sizeof(end), end) != 0)
		return 0;
	return len + 1 - sizeof(end);
}

static int suggestion_read(struct suggestions *s, const char *dir, const char *name, struct err *e)
{
	struct config_file file = {0};
	struct node_suggestion *slot;
	char path[4096];
	json_t *config;
	int r;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	r = config_file_read(&file, path, e);
	if (r < 0)
		return r;
	config = json_loadb(file.text, file.len, 0, NULL);
	config_file_done(&file);
	if (!config)
		return err_set(e, -EINVAL, "%s: is not JSON", path);
	slot = array_push(s->list, s->n);
	if (!slot) {
		json_decref(config);
		return err_set(e, -ENOMEM, "out of memory");
	}
	slot->config = config;
	slot->node = strndup(name, suggestion_node_len(name));
	return slot->node ? 0 : err_set(e, -ENOMEM, "out of memory");
}

static int suggestions_by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int suggestion_is_file(const struct dirent *entry)
{
	return suggestion_node_len(entry->d_name) > 0;
}

/* Reads the files sorted by name, so that the result does not depend on the file system. */
static int suggestions_read(struct suggestions *s, const char *dir, struct err *e)
{
	struct dirent **entries = NULL;
	int n = scandir(dir, &entries, suggestion_is_file, suggestions_by_name), r = 0;

	if (n < 0)
		return err_set(e, -errno, "%s: %s", dir, strerror(errno));
	for (int i = 0; i < n; i++) {
		if (r == 0)
			r = suggestion_read(s, dir, entries[i]->d_name, e);
		free(entries[i]);
	}
	free(entries);
	if (r == 0 && n == 0)
		return err_set(e, -ENOENT, "%s: has no files NODE.json", dir);
	return r;
}

/* Prints as JSON with line breaks, so that a person can read and edit it. */
static int suggestions_print_json(const struct ctl_args *a, const json_t *merged, FILE *out)
{
	AUTO_FREE char *text = json_dumps(merged, JSON_INDENT(2));
	AUTO_FREE char *lines = NULL;

	if (!text || asprintf(&lines, "%s\n", text) < 0) {
		lines = NULL;
		return -ENOMEM;
	}
	if (a->configmap)
		config_map_print(a->configmap, lines, out);
	else
		fputs(lines, out);
	return 0;
}

static int suggestions_print(const struct ctl_args *a, const json_t *merged, FILE *out)
{
	if (!a->configmap && a->format && strcmp(a->format, "yaml") == 0)
		return ctl_document_put(merged, "yaml", out);
	return suggestions_print_json(a, merged, out);
}

enum ctl_exit ctl_suggest_merge(const struct ctl_args *a, FILE *out, FILE *err)
{
	struct suggestions s = {0};
	json_t *merged = NULL;
	struct err e = {0};

	if (suggestions_read(&s, a->merge, &e) == 0)
		merged = suggest_merge(s.list, s.n, &e);
	if (merged && suggestions_print(a, merged, out) < 0)
		err_set(&e, -ENOMEM, "out of memory");
	if (e.code)
		fprintf(err, "rocectl: %s\n", e.msg);
	json_decref(merged);
	suggestions_done(&s);
	return e.code ? CTL_NO : CTL_OK;
}

// SPDX-License-Identifier: Apache-2.0
#include "suggest_merge.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config_json.h"

/* At most this many names of nodes are listed in a group's comment. */
#define NAMED_MAX 8

/* A copy without comments: they may differ between nodes with equal pools. */
static json_t *merge_without_comments(const json_t *value)
{
	json_t *copy = NULL, *item;
	const char *key;

	if (json_is_object(value)) {
		copy = json_object();
		json_object_foreach ((json_t *)(uintptr_t)value, key, item)
			if (strcmp(key, CONFIG_COMMENT) != 0)
				json_object_set_new(copy, key, merge_without_comments(item));
	} else if (json_is_array(value)) {
		copy = json_array();
		for (size_t i = 0; i < json_array_size(value); i++)
			json_array_append_new(copy,
					      merge_without_comments(json_array_get(value, i)));
	} else {
		copy = json_deep_copy(value);
	}
	return copy;
}

struct merge_group {
	json_t *pools; /* without comments */
	size_t first;  /* index of its first node */
	size_t n_nodes;
};

struct merge {
	const struct node_suggestion *nodes;
	size_t n;
	struct merge_group *groups;
	size_t n_groups;
	size_t *group_of; /* of each node: index in groups */
};

static int merge_check(const struct merge *m, struct err *e)
{
	for (size_t i = 0; i < m->n; i++) {
		if (!json_is_array(json_object_get(m->nodes[i].config, "pools")))
			return err_set(e, -EINVAL, "%.200s: not a suggestion, it has no \"pools\"",
				       m->nodes[i].node);
		for (size_t j = 0; j < i; j++)
			if (strcmp(m->nodes[i].node, m->nodes[j].node) == 0)
				return err_set(e, -EINVAL, "%.200s: two suggestions",
					       m->nodes[i].node);
	}
	return 0;
}

static void merge_assign(struct merge *m)
{
	for (size_t i = 0; i < m->n; i++) {
		json_t *pools = merge_without_comments(
			json_object_get(m->nodes[i].config, "pools"));
		size_t g = 0;

		while (g < m->n_groups && !json_equal(m->groups[g].pools, pools))
			g++;
		if (g == m->n_groups) {
			m->groups[g] = (struct merge_group){json_incref(pools), i, 0};
			m->n_groups++;
		}
		json_decref(pools);
		m->group_of[i] = g;
		m->groups[g].n_nodes++;
	}
}

/* Length of the longest prefix that all names of the group share and no other node has; 0 =
 * none. */
static size_t merge_prefix(const struct merge *m, size_t g)
{
	const char *first = m->nodes[m->groups[g].first].node;
	size_t len = strlen(first);

	for (size_t i = 0; i < m->n; i++)
		while (m->group_of[i] == g && strncmp(m->nodes[i].node, first, len) != 0)
			len--;
	for (size_t i = 0; i < m->n; i++)
		if (m->group_of[i] != g && strncmp(m->nodes[i].node, first, len) == 0)
			return 0;
	return len;
}

static json_t *merge_patterns(const struct merge *m, size_t g)
{
	size_t len = m->groups[g].n_nodes > 1 ? merge_prefix(m, g) : 0;
	json_t *list = json_array();
	char pattern[256];

	if (len > 0) {
		snprintf(pattern, sizeof(pattern), "%.*s*", (int)(len < 250 ? len : 250),
			 m->nodes[m->groups[g].first].node);
		json_array_append_new(list, json_string(pattern));
		return list;
	}
	for (size_t i = 0; i < m->n; i++)
		if (m->group_of[i] == g)
			json_array_append_new(list, json_string(m->nodes[i].node));
	return list;
}

/* Returns the comment of a group, "3 nodes: a, b, c". */
static json_t *merge_comment(const struct merge *m, size_t g)
{
	const struct merge_group *group = &m->groups[g];
	char text[512];
	size_t n = 0;
	int len = snprintf(text, sizeof(text), "%zu node%s", group->n_nodes,
			   group->n_nodes == 1 ? "" : "s");

	for (size_t i = 0; i < m->n && n < NAMED_MAX && len < (int)sizeof(text); i++)
		if (m->group_of[i] == g)
			len += snprintf(text + len, sizeof(text) - (size_t)len, "%s%.40s",
					n++ ? ", " : ": ", m->nodes[i].node);
	if (n < group->n_nodes && len < (int)sizeof(text))
		snprintf(text + len, sizeof(text) - (size_t)len, ", ...");
	return json_string(text);
}

/* Largest group first, then by the first node. */
static int merge_compare(const void *a, const void *b)
{
	const struct merge_group *x = a, *y = b;

	if (x->n_nodes != y->n_nodes)
		return x->n_nodes > y->n_nodes ? -1 : 1;
	return x->first < y->first ? -1 : x->first > y->first;
}

static void merge_sort(struct merge *m)
{
	qsort(m->groups, m->n_groups, sizeof(*m->groups), merge_compare);
	for (size_t i = 0; i < m->n; i++) {
		json_t *pools = merge_without_comments(
			json_object_get(m->nodes[i].config, "pools"));
		size_t g = 0;

		while (g + 1 < m->n_groups && !json_equal(m->groups[g].pools, pools))
			g++;
		m->group_of[i] = g;
		json_decref(pools);
	}
}

static json_t *merge_print(const struct merge *m)
{
	json_t *list = json_array();
	char name[32];

	for (size_t g = 0; g < m->n_groups; g++) {
		const json_t *config = m->nodes[m->groups[g].first].config;

		snprintf(name, sizeof(name), "group%zu", g + 1);
		json_array_append_new(list, json_pack("{s:s, s:o, s:{s:o}, s:O}", "name", name,
						      CONFIG_COMMENT, merge_comment(m, g), "match",
						      "nodes", merge_patterns(m, g), "pools",
						      json_object_get(config, "pools")));
	}
	return json_pack(
		"{s:s, s:o}", CONFIG_COMMENT,
		"Merged from the suggestions of the nodes. Give the groups names of your own; "
		"\"products\" and \"devices\" of \"match\" also match nodes that are added later.",
		"groups", list);
}

json_t *suggest_merge(const struct node_suggestion *nodes, size_t n, struct err *e)
{
	struct merge m = {.nodes = nodes, .n = n};
	json_t *merged = NULL;

	if (merge_check(&m, e) < 0)
		return NULL;
	m.groups = calloc(n + 1, sizeof(*m.groups));
	m.group_of = calloc(n + 1, sizeof(*m.group_of));
	if (m.groups && m.group_of) {
		merge_assign(&m);
		merge_sort(&m);
		merged = merge_print(&m);
	}
	for (size_t g = 0; g < m.n_groups; g++)
		json_decref(m.groups[g].pools);
	free(m.groups);
	free(m.group_of);
	if (!merged)
		err_set(e, -ENOMEM, "out of memory");
	return merged;
}

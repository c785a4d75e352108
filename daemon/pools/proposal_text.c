// SPDX-License-Identifier: Apache-2.0
/* proposal_text.c - prints a proposal as a configuration file; explanations are comments. */
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "config_json.h"
#include "json_text.h"
#include "proposal.h"
#include "search.h"

/* Prints a value on one line, and frees it. */
static void proposal_put_json(FILE *f, json_t *value)
{
	if (value)
		json_dumpf(value, f, JSON_ENCODE_ANY);
	json_decref(value);
}

static void put_string(FILE *f, const char *text)
{
	char line[512];

	snprintf(line, sizeof(line), "%s", text);
	text_printable(line); /* the kernel allows any characters in names */
	proposal_put_json(f, json_string(line));
}

/* --- the file's own comment ------------------------------------------------------------------- */

struct comment {
	FILE *f;
	bool begun;
};

static void proposal_print(struct comment *c, const char *line)
{
	fputs(c->begun ? ",\n    " : "    ", c->f);
	put_string(c->f, line);
	c->begun = true;
}

static bool proposal_is_exclusive(const struct proposed_pool *p)
{
	return p->kind == PROPOSED_VFS || p->kind == PROPOSED_SFS || p->kind == PROPOSED_SOFT_VFS;
}

static bool any_exclusive(const struct proposal *p)
{
	return any_of(p->n_pools, i, proposal_is_exclusive(&p->pools[i]));
}

static bool any_of_several(const struct proposal *p)
{
	for (size_t i = 1; i < p->n_pools; i++)
		if (p->pools[i].kind == p->pools[i - 1].kind)
			return true;
	return false;
}

static void put_comment(FILE *f, const struct proposal *p)
{
	struct comment c = {f, false};

	fputs("  \"" CONFIG_COMMENT "\": [\n", f);
	proposal_print(&c,
		       "Proposed by rocelet after a scan of this node. Keys named " CONFIG_COMMENT
		       " are comments.");
	if (p->n_pools)
		proposal_print(
			&c,
			"It fits all nodes of this kind: devices are selected by the names of their "
			"netdevs, which udev derives from slots and ports, or by PCI address if the "
			"kernel has numbered the names (eth0, ib0).");
	else
		proposal_print(&c,
			       "No device can be offered. Without pools, rocelet only observes.");
	if (any_of_several(p))
		proposal_print(
			&c,
			"One pool per PF, because each rail of a cluster is a network of its own. "
			"The pools are numbered by PCI address, so use the proposal of a node whose "
			"NICs all work. If a pod may get a device of any PF, list all names in one "
			"pool.");
	if (any_exclusive(p) && p->attaches)
		proposal_print(
			&c,
			"With \"network\": {}, rocelet attaches the device to the pod as net1. Remove "
			"it if Multus and a CNI plugin do that, and for the overlay device-plugin "
			"(--unprivileged), which cannot attach.");
	else if (any_exclusive(p))
		proposal_print(
			&c,
			"For a daemon with --unprivileged, which cannot attach: a pod gets the "
			"device and its nodes, and a CNI plugin moves the netdev. With the overlay "
			"native, run this again: the pools get \"network\": {} then.");
	if (p->n_left_out)
		proposal_print(&c, "Left out:");
	for (size_t i = 0; i < p->n_left_out; i++)
		proposal_print(&c, p->left_out[i]);
	fputs("\n  ]", f);
}

/* --- pools ------------------------------------------------------------------------------------ */

static json_t *selectors_of(const struct proposed_pool *p)
{
	json_t *selectors = json_pack("{s[s]}", p->selector, p->word);

	if (p->kind == PROPOSED_SFS)
		json_object_set_new(selectors, "auxTypes", json_pack("[s]", "sf"));
	if (p->kind == PROPOSED_VFS || p->kind == PROPOSED_SFS)
		json_object_set_new(selectors, "isRdma", json_true());
	if (p->kind == PROPOSED_SOFT_VFS)
		json_object_set_new(selectors, "drivers", json_pack("[s]", p->driver));
	return selectors;
}

static void put_pool(FILE *f, const struct proposed_pool *p, bool attaches)
{
	fputs("    {\n      \"" CONFIG_COMMENT "\": ", f);
	put_string(f, p->about);
	fprintf(f, ",\n      \"resourceName\": \"%s\",\n", p->name);
	if (!proposal_is_exclusive(p))
		fputs("      \"kind\": \"shared\",\n", f);
	if (p->kind == PROPOSED_SFS)
		fputs("      \"deviceType\": \"auxNetDevice\",\n", f);
	fputs("      \"selectors\": ", f);
	proposal_put_json(f, selectors_of(p));
	if (attaches && proposal_is_exclusive(p))
		fputs(",\n      \"network\": {}", f);
	if (p->kind == PROPOSED_SOFT_VFS)
		fputs(",\n      \"softRoce\": true", f);
	fputs("\n    }", f);
}

static void put_pools(FILE *f, const struct proposal *p)
{
	fputs(",\n  \"pools\": [", f);
	for (size_t i = 0; i < p->n_pools; i++) {
		fputs(i ? ",\n" : "\n", f);
		put_pool(f, &p->pools[i], p->attaches);
	}
	fputs("\n  ]", f);
}

char *proposal_text(const struct proposal *p)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		return NULL;
	json_text_watch();
	fputs("{\n", f);
	put_comment(f, p);
	if (p->n_pools)
		put_pools(f, p);
	fputs("\n}\n", f);
	if (fclose(f) == 0 && !json_text_failed())
		return text;
	free(text);
	return NULL;
}

char *proposal_of(const struct host *h, bool attaches)
{
	struct proposal p;
	char *text;

	if (proposal_build(&p, h, attaches) < 0)
		return NULL;
	text = proposal_text(&p);
	proposal_done(&p);
	return text;
}

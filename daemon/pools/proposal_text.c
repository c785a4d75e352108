/* proposal_text.c - a proposal as a configuration file: what there is to say stands in comments. */
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "config_json.h"
#include "json_text.h"
#include "proposal.h"

/* As one value, on one line. */
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
	text_printable(line); /* names are anything that the kernel takes */
	proposal_put_json(f, json_string(line));
}

/* --- the file's own comment ------------------------------------------------------------------- */

struct comment {
	FILE *f;
	bool begun;
};

static void proposal_say(struct comment *c, const char *line)
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
	for (size_t i = 0; i < p->n_pools; i++)
		if (proposal_is_exclusive(&p->pools[i]))
			return true;
	return false;
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
	proposal_say(&c,
		     "What rocelet proposes after a look at this node. Keys named " CONFIG_COMMENT
		     " are comments.");
	if (p->n_pools)
		proposal_say(
			&c,
			"It fits every node like this one: devices are named by their netdevs, which "
			"udev makes of slots and ports, or by PCI address where the kernel has numbered "
			"them (eth0, ib0).");
	else
		proposal_say(&c, "There is nothing to offer: without pools rocelet observes.");
	if (any_of_several(p))
		proposal_say(
			&c,
			"One pool for each PF, as the rails of a cluster are networks of their own; "
			"numbered by PCI address, so ask a node whose NICs all work. Where pods may "
			"have any of them, put all names into the list of one pool.");
	if (any_exclusive(p))
		proposal_say(
			&c,
			"\"network\": {} has rocelet itself put the device into the pod as net1. Take "
			"it out where Multus and a CNI plugin do that.");
	if (p->n_left_out)
		proposal_say(&c, "Left out:");
	for (size_t i = 0; i < p->n_left_out; i++)
		proposal_say(&c, p->left_out[i]);
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

static void put_pool(FILE *f, const struct proposed_pool *p)
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
	if (proposal_is_exclusive(p))
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
		put_pool(f, &p->pools[i]);
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

char *proposal_of(const struct host *h)
{
	struct proposal p;
	char *text;

	if (proposal_build(&p, h) < 0)
		return NULL;
	text = proposal_text(&p);
	proposal_done(&p);
	return text;
}

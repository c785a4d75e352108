// SPDX-License-Identifier: Apache-2.0
/* options_print.c - prints and compares all options: --print-config, --help,
 * docs/reference/options.md and the schema. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "config_file.h"
#include "config_schema.h"
#include "json_text.h"
#include "name_list.h"
#include "option_value.h"
#include "options_file.h"

/* --- as a file, and differences --------------------------------------------------------------- */

char *options_json(const struct options *o, json_t *pools)
{
	json_t *root;
	char *text;

	json_text_watch();
	root = json_object();
	for (size_t i = 0; i < n_options; i++)
		if (!option_table[i].flag_only)
			json_object_set_new(root, option_table[i].name,
					    option_value_json(o, &option_table[i]));
	if (json_array_size(pools) > 0)
		json_object_set(root, "pools", pools);
	json_decref(pools);
	text = json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
	json_decref(root);
	if (!json_text_failed())
		return text;
	free(text);
	return NULL;
}

size_t options_changed(const struct options *a, const struct options *b, char *names, size_t size)
{
	struct name_list list = name_list_in(names, size);

	for (size_t i = 0; i < n_options; i++) {
		const struct option_def *d = &option_table[i];
		bool compared = d->type != OPT_ACTION && !d->followed;
		json_t *x = compared ? option_value_json(a, d) : NULL;
		json_t *y = compared ? option_value_json(b, d) : NULL;

		if (x && y && !json_equal(x, y))
			name_list_add(&list, d->name);
		json_decref(x);
		json_decref(y);
	}
	return list.n;
}

static void ignore_warning(const char *sentence, void *arg)
{
	(void)sentence, (void)arg;
}

size_t options_overridden(const struct options *o, const struct config_file *file, char *names,
			  size_t size)
{
	struct options by_file = *o;
	struct config_file copy = *file;

	names[0] = '\0';
	if (!file->text ||
	    options_read_file(&by_file, o->sysfs_root, &copy, ignore_warning, NULL, NULL) < 0)
		return 0;
	return options_changed(o, &by_file, names, size);
}

/* --- --help and docs/reference/options.md ----------------------------------------------------- */

void options_help(FILE *f)
{
	fputs("usage: rocelet [FLAGS]\n\nThe node agent for RoCE clusters. Every flag is also a key of the "
	      "configuration file,\nunless marked with *.\n\n",
	      f);
	for (size_t i = 0; i < n_options; i++) {
		const struct option_def *d = &option_table[i];
		char flag[64];

		if (d->key_only)
			continue;
		snprintf(flag, sizeof(flag), "--%s%s%s%s", d->name, d->arg ? " " : "",
			 d->arg ? d->arg : "", d->flag_only ? " *" : "");
		fprintf(f, "  %-30s %s", flag, d->help);
		if (d->choices) {
			fputs(": ", f);
			for (unsigned c = 0; d->choices[c]; c++)
				fprintf(f, "%s%s", c ? ", " : "", d->choices[c]);
		}
		if (d->arg)
			fprintf(f, " [%s]", d->def);
		fputc('\n', f);
	}
}

void options_markdown(FILE *f)
{
	fputs("# Options\n\nEvery option is a flag of `rocelet`. Unless it is marked \"flag only\", it is also a key of the JSON\n"
	      "configuration file, without the two dashes. A flag takes precedence over the file, and the file\n"
	      "over the default. Paths in the file must begin with `/`; those of flags may be relative. This page\n"
	      "is made from the option table in the code (`make golden`).\n\n"
	      "| option | value | default | meaning |\n|---|---|---|---|\n",
	      f);
	for (size_t i = 0; i < n_options; i++) {
		const struct option_def *d = &option_table[i];

		if (d->key_only)
			continue;
		fprintf(f, "| `--%s` | ", d->name);
		for (unsigned c = 0; d->choices && d->choices[c]; c++)
			fprintf(f, "%s`%s`", c ? ", " : "", d->choices[c]);
		if (!d->choices)
			fputs(d->arg ? d->arg : d->type == OPT_BOOL ? "true, false" : "", f);
		if (d->type == OPT_NUMBER || d->type == OPT_SECONDS)
			fprintf(f, " (%.10g to %.10g)", d->min, d->max);
		fprintf(f, " | %s%s%s | %s%s |\n", *d->def ? "`" : "", d->def, *d->def ? "`" : "",
			d->help, d->flag_only ? " (flag only)" : "");
	}
	fputs("\n## diagnosis\n\nThe key `diagnosis` of the configuration file is an object with the limits of the diagnosis; it is\n"
	      "not a flag. [diagnosis.md](diagnosis.md#thresholds) lists the limits with their ranges and defaults.\n"
	      "rocelet applies changes of this key, of `expect-congestion-control` and of `lost-pool` without a\n"
	      "restart. Changes of other options take effect at the next start.\n\n"
	      "rocelet rejects a time (`release_..._seconds`, `longest_gap_seconds`, `stale_source_seconds`,\n"
	      "`clear_seconds`) that is less than two sample intervals. If `sample-interval` is long, their\n"
	      "defaults are longer, too.\n",
	      f);
}

/* --- schema ----------------------------------------------------------------------------------- */

json_t *config_schema_of_options(void)
{
	json_t *object = config_schema_object();
	struct options defaults;

	options_defaults(&defaults);
	for (size_t i = 0; i < n_options; i++) {
		const struct option_def *d = &option_table[i];
		json_t *one;

		if (d->flag_only)
			continue;
		one = option_schema(d);
		json_object_set_new(one, "description", json_string(d->help));
		if (d->type != OPT_THRESHOLDS)
			json_object_set_new(one, "default", option_value_json(&defaults, d));
		config_schema_property(object, d->name, one);
	}
	return object;
}

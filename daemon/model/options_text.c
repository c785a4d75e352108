/* options_text.c - texts made from the option table: --help, docs/options.md, --print-config. */
#include <jansson.h>
#include <string.h>

#include "options_table.h"

void options_help(FILE *f)
{
	fputs("usage: rocelet [FLAGS]\n\nThe node agent for RoCE clusters. Every flag is also a key of the "
	      "configuration file,\nunless marked with *.\n\n",
	      f);
	for (size_t i = 0; i < options_table_len; i++) {
		const struct option_def *d = &options_table[i];
		char flag[64];

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
	fputs("# Options\n\nEvery option is a flag of `rocelet` and, unless marked \"flag only\", a key of the JSON "
	      "configuration file\n(the flag's name without the dashes). A flag wins over the file, the file over "
	      "the default.\nThis page is made from the option table in the code (`make docs`).\n\n"
	      "| option | value | default | meaning |\n|---|---|---|---|\n",
	      f);
	for (size_t i = 0; i < options_table_len; i++) {
		const struct option_def *d = &options_table[i];

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
}

static json_t *list_json(const struct option_list *list)
{
	json_t *array = json_array();

	for (unsigned i = 0; i < list->n; i++)
		json_array_append_new(array, json_string(list->items[i]));
	return array;
}

static json_t *value_json(const struct options *o, const struct option_def *d)
{
	const void *field = (const char *)o + d->offset;
	uint32_t number;

	switch (d->type) {
	case OPT_TEXT:
		return json_string(field);
	case OPT_BOOL:
		return json_boolean(*(const bool *)field);
	case OPT_NUMBER:
		return json_integer(*(const uint32_t *)field);
	case OPT_SECONDS:
		number = *(const uint32_t *)field;
		return number % 1000 ? json_real(number / 1000.0) : json_integer(number / 1000);
	case OPT_CHOICE:
		return json_string(d->choices[*(const uint32_t *)field]);
	case OPT_LIST:
		return list_json(field);
	case OPT_ACTION:
		break;
	}
	return NULL;
}

char *options_json(const struct options *o)
{
	json_t *root = json_object();
	char *text;

	for (size_t i = 0; i < options_table_len; i++)
		if (!options_table[i].flag_only)
			json_object_set_new(root, options_table[i].name,
					    value_json(o, &options_table[i]));
	text = json_dumps(root, JSON_INDENT(2));
	json_decref(root);
	return text;
}

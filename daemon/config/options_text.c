/* options_text.c - --help and docs/options.md, from the table. Pure. */
#include <stdio.h>

#include "options_table.h"

void options_help(FILE *f)
{
	fputs("usage: rocelet [FLAGS]\n\nThe node agent for RoCE clusters. Every flag is also a key of the "
	      "configuration file,\nunless marked with *.\n\n",
	      f);
	for (size_t i = 0; i < n_options; i++) {
		const struct option_def *d = &option_table[i];
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
	for (size_t i = 0; i < n_options; i++) {
		const struct option_def *d = &option_table[i];

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

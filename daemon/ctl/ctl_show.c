#include "ctl_show.h"

#include "ctl_table.h"

static const char *ctl_show_text_of(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

static void ctl_show_put_text(const json_t *object, const char *key, FILE *f)
{
	const char *text = ctl_show_text_of(object, key);

	table_put(text ? text : "-", f);
}

void ctl_show_explain(const json_t *document, FILE *f)
{
	ctl_show_put_text(document, "device", f);
	fputs(": ", f);
	ctl_show_put_text(document, "why", f);
	fputc('\n', f);
}

/* --- doctor ----------------------------------------------------------------------------------- */

static void show_finding(const json_t *finding, FILE *f)
{
	ctl_show_put_text(finding, "kind", f);
	fputs(": ", f);
	if (ctl_show_text_of(finding, "object")) {
		ctl_show_put_text(finding, "object", f);
		fputs(": ", f);
	}
	ctl_show_put_text(finding, "what", f);
	fputs("\n    ", f);
	ctl_show_put_text(finding, "help", f);
	fputs(json_is_true(json_object_get(finding, "fixable"))
		      ? "\n    `rocectl doctor --fix` works on it.\n"
		      : "\n",
	      f);
}

void ctl_show_doctor(const json_t *document, FILE *f)
{
	const json_t *findings = json_object_get(document, "findings");
	json_t *finding;
	size_t i;

	if (json_array_size(findings) == 0)
		fputs("nothing is wrong\n", f);
	json_array_foreach ((json_t *)findings, i, finding) {
		show_finding(finding, f);
	}
}

/* --- orders ----------------------------------------------------------------------------------- */

void ctl_show_attached(const json_t *document, FILE *f)
{
	const json_t *a = json_object_get(document, "attachment");

	ctl_show_put_text(document, "device", f);
	fputs(" is attached", f);
	if (ctl_show_text_of(a, "interface")) {
		fputs(" as ", f);
		ctl_show_put_text(a, "interface", f);
	}
	fputc('\n', f);
}

void ctl_show_detached(const json_t *document, FILE *f)
{
	ctl_show_put_text(document, "device", f);
	fputs(" is back in the host, and clean\n", f);
}

#include "ctl_capture.h"

#include "ctl_table.h"
#include "json_text.h"

/* NULL when out of memory. */
static json_t *document_of(const struct ctl_args *a, json_t *source,
			   const struct capture_summary *s, const char *problem)
{
	json_t *summary = summary_json(s, (size_t)a->flows);

	if (!source || !summary || json_object_update(source, summary) < 0 ||
	    json_object_set_new(source, "error", json_text(problem)) < 0) {
		json_decref(source);
		source = NULL;
	}
	json_decref(summary);
	return source;
}

static void complain(const char *problem, FILE *err)
{
	fputs("rocectl: ", err);
	table_put(problem, err);
	fputc('\n', err);
}

/* Of a file without a packet there is nothing to tell beside why. */
enum ctl_exit ctl_capture_tell(const struct ctl_args *a, json_t *source,
			       const struct capture_summary *s, const char *problem, FILE *out,
			       FILE *err)
{
	json_t *document = document_of(a, source, s, problem);

	if (!document)
		problem = "out of memory";
	else if (a->json && json_dumpf(document, out, JSON_INDENT(1)) == 0)
		fputc('\n', out);
	else if (!a->json && (s->packets > 0 || !problem))
		ctl_show_capture(document, out);
	json_decref(document);
	if (!problem)
		return CTL_OK;
	fflush(out);
	complain(problem, err);
	return CTL_NO;
}

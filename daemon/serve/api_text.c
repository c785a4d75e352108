#include "api_text.h"

/* json_dump_callback_t. */
static int add(const char *s, size_t n, void *text)
{
	text_add(text, s, n);
	return ((struct text *)text)->failed ? -1 : 0;
}

void api_add_json(struct text *t, json_t *value)
{
	if (!value || json_dump_callback(value, add, t, JSON_COMPACT | JSON_ENCODE_ANY) < 0)
		t->failed = true;
	json_decref(value);
}

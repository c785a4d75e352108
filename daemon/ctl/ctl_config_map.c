// SPDX-License-Identifier: Apache-2.0
#include "ctl_config_map.h"

#include <string.h>

/* True for lower-case letters and digits, with '-' (and '.', if `dots`) between them:
 * IsDNS1123Subdomain() and IsDNS1123Label() in k8s.io/apimachinery/pkg/util/validation. */
static bool is_dns_name(const char *name, size_t len, size_t max, bool dots)
{
	static const char ends[] = "abcdefghijklmnopqrstuvwxyz0123456789";
	char before = '.';

	for (size_t i = 0; i < len; before = name[i++]) {
		bool end = strchr(ends, name[i]) != NULL;

		if (!end && name[i] != '-' && !(dots && name[i] == '.'))
			return false;
		if (!end && (before == '.' || (before == '-' && name[i] == '.')))
			return false;
	}
	return len > 0 && len <= max && before != '.' && before != '-';
}

bool config_map_name_is_valid(const char *name)
{
	const char *slash = strchr(name, '/');

	if (slash && !is_dns_name(name, (size_t)(slash - name), 63, false))
		return false;
	name = slash ? slash + 1 : name;
	return is_dns_name(name, strlen(name), 253, true);
}

void config_map_print(const char *name, const char *text, FILE *f)
{
	const char *slash = strchr(name, '/');

	/* Quoted, because a name may look like a number. */
	fprintf(f, "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: \"%s\"\n",
		slash ? slash + 1 : name);
	if (slash)
		fprintf(f, "  namespace: \"%.*s\"\n", (int)(slash - name), name);
	fputs("data:\n  config.json: |\n", f);
	for (size_t len; *text; text += len) {
		len = strcspn(text, "\n");
		len += text[len] == '\n';
		fprintf(f, "    %.*s", (int)len, text);
	}
}

// SPDX-License-Identifier: Apache-2.0
#include "ipam_grants.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "ipam_needs.h"
#include "options.h"

/* Splits an item into its parts, in place. False: a part is missing. */
static bool ipam_grant_split(char *item, char **ret_key, char **ret_value)
{
	char *key = strchr(item, ':'), *value = key ? strchr(key, '=') : NULL;

	if (!value || key == item || value == key + 1 || value[1] == '\0')
		return false;
	*key = *value = '\0';
	*ret_key = key + 1;
	*ret_value = value + 1;
	return true;
}

/* Adds a value to "needs": "network" is a word, the others are lists. */
static int ipam_grant_add(json_t *needs, const char *key, const char *value)
{
	json_t *list = json_object_get(needs, key);

	if (strcmp(key, "network") == 0)
		return json_object_set_new(needs, key, json_string(value));
	if (list)
		return json_array_append_new(list, json_string(value));
	return json_object_set_new(needs, key, json_pack("[s]", value));
}

int ipam_grant_check(const char *item, struct err *e)
{
	char text[OPTION_LIST_ITEM], *key, *value;
	struct ipam_needs ignored;
	json_t *needs, *ipam;
	int r;

	snprintf(text, sizeof(text), "%s", item);
	if (!ipam_grant_split(text, &key, &value))
		return err_set(e, -EINVAL, "'%.63s' is not TYPE:KEY=VALUE", item);
	needs = json_object();
	r = ipam_grant_add(needs, key, value);
	ipam = json_pack("{s:s, s:o}", "type", text, "needs", needs);
	r = r < 0 || !ipam ? err_set(e, -ENOMEM, "out of memory")
			   : ipam_needs_read(&ignored, ipam, e);
	json_decref(ipam);
	return r < 0 ? err_wrap(e, "'%.63s'", item) : 0;
}

int ipam_grants_of(json_t **ret, const struct option_list *list, const char *type)
{
	json_t *needs = NULL;
	int r = 0;

	for (unsigned i = 0; list && i < list->n && r == 0; i++) {
		char text[OPTION_LIST_ITEM], *key, *value;

		memcpy(text, list->items[i], sizeof(text));
		if (!ipam_grant_split(text, &key, &value) || strcmp(text, type) != 0)
			continue;
		needs = needs ? needs : json_object();
		r = needs ? ipam_grant_add(needs, key, value) : -ENOMEM;
	}
	if (r < 0) {
		json_decref(needs);
		return -ENOMEM;
	}
	*ret = needs;
	return 0;
}

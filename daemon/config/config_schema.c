// SPDX-License-Identifier: Apache-2.0
/* config_schema.c - the schema of the file and of its groups, which have no table of their own. */
#include "config_schema.h"

#include <stdlib.h>

#include "cleanup.h"
#include "groups.h"
#include "json_text.h"

/* --- the file --------------------------------------------------------------------------------- */

/* Uses references, so that each kind of pool occurs only once in the text. */
static json_t *config_schema_pools_of(const char *name)
{
	char ref[64];

	snprintf(ref, sizeof(ref), "#/$defs/%s", name);
	return config_schema_list(json_pack("{s:s}", "$ref", ref), 0);
}

static void config_schema_add_resources(json_t *object)
{
	static const char *const modes[] = {"hca", "sriov"};

	config_schema_property(object, pool_config_keys[KEY_POOLS], config_schema_pools_of("pool"));
	config_schema_property(object, pool_config_keys[KEY_RESOURCE_LIST],
			       config_schema_pools_of("resource"));
	config_schema_property(object, pool_config_keys[KEY_CONFIG_LIST],
			       config_schema_pools_of("sharedResource"));
	config_schema_property(object, pool_config_keys[KEY_INTERVAL],
			       config_schema_integer(0, INT32_MAX));
	config_schema_property(object, pool_config_keys[KEY_MODE],
			       config_schema_words(modes, ARRAY_SIZE(modes)));
	config_schema_property(object, pool_config_keys[KEY_PF_NETDEVICES],
			       config_schema_json(SCHEMA_WORDS));
}

/* Returns the schema of a group. A group has all keys of the file except two. */
static json_t *config_schema_of_group(void)
{
	json_t *group = config_schema_of_options();

	config_schema_add_resources(group);
	json_object_del(json_object_get(group, "properties"), "sysfs-root");
	config_schema_property(
		group, "name",
		config_schema_json("{\"type\": \"string\", \"maxLength\": 63, \"pattern\": "
				   "\"^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$\"}"));
	config_schema_property(group, "match", config_schema_of_match());
	config_schema_require(group, "name");
	return group;
}

static json_t *config_schema_of_file(void)
{
	json_t *file = config_schema_of_options(), *defs = json_object();

	config_schema_add_resources(file);
	config_schema_property(file, pool_config_keys[KEY_GROUPS],
			       config_schema_list(json_pack("{s:s}", "$ref", "#/$defs/group"), 0));
	config_schema_property(file, "$schema", config_schema_json("{\"type\": \"string\"}"));
	json_object_set_new(defs, "group", config_schema_of_group());
	json_object_set_new(defs, "pool", config_schema_of_native());
	json_object_set_new(defs, "resource", config_schema_of_resource());
	json_object_set_new(defs, "sharedResource", config_schema_of_shared());
	json_object_set_new(file, "$defs", defs);
	json_object_set_new(file, "$schema",
			    json_string("https://json-schema.org/draft/2020-12/schema"));
	json_object_set_new(file, "title", json_string("Configuration of rocelet"));
	return file;
}

char *config_schema_text(void)
{
	json_t *file;
	char *text;

	config_schema_begin();
	json_text_watch();
	file = config_schema_of_file();
	text = json_dumps(file, JSON_INDENT(1) | JSON_SORT_KEYS | JSON_REAL_PRECISION(15));
	json_decref(file);
	if (!json_text_failed() && !config_schema_missing())
		return text;
	free(text);
	return NULL;
}

// SPDX-License-Identifier: Apache-2.0
/* api_bpf.c - the state of BPF as JSON. Allocation failures need no checks here: a NULL value makes
 * the enclosing json_pack() fail. */
#include "api_bpf.h"

#include <jansson.h>
#include <string.h>

#include "api_attachments.h"
#include "json_text.h"

static json_t *programs(const struct api_bpf *b)
{
	json_t *a = json_array();

	for (size_t i = 0; a && i < b->n_programs; i++)
		a = api_push(a, json_pack("{so so so}", "name", json_text(b->programs[i].name),
					  "hook", json_text(b->programs[i].hook), "error",
					  json_text(b->programs[i].error)));
	return a;
}

static json_t *packet_port_json(const struct packet_port *p)
{
	return json_pack("{so so so so so so ss ss sI sI so}", "netdev", json_text(p->netdev),
			 "netns", json_text(p->nsid == NSID_HOST ? "host" : p->netns), "nsid",
			 p->nsid >= 0 ? json_integer(p->nsid) : json_null(), "device",
			 json_text(p->device), "port", json_above_zero(p->device_port), "function",
			 json_text(p->function), "role", packet_role_name(p->role), "hook",
			 packet_hook_name(p->hook), "flows", (json_int_t)p->flows, "memory",
			 (json_int_t)p->memory, "error",
			 json_text(p->error ? strerror(-p->error) : NULL));
}

static json_t *ports(const struct api_bpf *b)
{
	json_t *a = json_array();

	for (size_t i = 0; a && i < b->n_ports; i++)
		a = api_push(a, packet_port_json(&b->ports[i]));
	return a;
}

static json_t *bpf(const struct api_bpf *b)
{
	uint64_t memory = 0;

	if (!b->on)
		return json_null();
	for (size_t i = 0; i < b->n_ports; i++)
		memory += b->ports[i].memory;
	return json_pack("{so so sI sI}", "programs", programs(b), "ports", ports(b), "memory",
			 (json_int_t)memory, "memoryBudget", (json_int_t)b->memory_budget);
}

char *api_config(const char *config_json, const struct api_bpf *b, size_t *ret_len)
{
	json_t *root = json_text_load(config_json, strlen(config_json), 0, NULL);
	char *text = NULL;

	if (json_object_set_new(root, "bpf", bpf(b)) == 0)
		text = json_dumps(root, JSON_INDENT(2));
	json_decref(root);
	if (text)
		*ret_len = strlen(text);
	return text;
}

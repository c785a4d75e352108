/* cri_status.c - one sandbox's details: what CRI tells, and where the runtime's own JSON tells what
 * CRI does not, the network namespace. Pure. */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "cri.pb-c.h"
#include "cri_wire.h"
#include "proto_budget.h"

/* --- JSON ------------------------------------------------------------------------------------ */

static bool take_path(char ret[SANDBOX_NETNS_SIZE], const json_t *path)
{
	const char *text = json_string_value(path);

	if (!text || text[0] != '/' || strlen(text) >= SANDBOX_NETNS_SIZE)
		return false;
	memcpy(ret, text, strlen(text) + 1);
	return true;
}

/* Of the OCI specification's list; NULL = not there. */
static const json_t *network_of(const json_t *namespaces)
{
	const json_t *ns;
	size_t i;

	json_array_foreach (namespaces, i, ns) {
		const char *type = json_string_value(json_object_get(ns, "type"));

		if (type && strcmp(type, "network") == 0)
			return ns;
	}
	return NULL;
}

static void look_up(char ret[SANDBOX_NETNS_SIZE], bool *ret_host, const json_t *info)
{
	const json_t *spec = json_object_get(info, "runtimeSpec");
	const json_t *list = json_object_get(json_object_get(spec, "linux"), "namespaces");
	const json_t *network = network_of(list);
	const json_t *meta = json_object_get(json_object_get(info, "sandboxMetadata"), "Metadata");

	if (!take_path(ret, json_object_get(network, "path")) &&
	    !take_path(ret, json_object_get(meta, "NetNSPath")))
		*ret_host = json_array_size(list) > 0 && !network;
}

int cri_info_netns(char ret[SANDBOX_NETNS_SIZE], bool *ret_host, const char *text, size_t len)
{
	json_t *info;

	if (len > CRI_INFO_MAX)
		return -EMSGSIZE;
	info = json_loadb(text, len, 0, NULL);
	if (!json_is_object(info)) {
		json_decref(info);
		return -EBADMSG;
	}
	ret[0] = '\0';
	*ret_host = false;
	look_up(ret, ret_host, info);
	json_decref(info);
	return 0;
}

/* --- the message ----------------------------------------------------------------------------- */

static bool is_node_network(const Runtime__V1__PodSandboxStatus *s)
{
	return s->linux_status && s->linux_status->namespaces &&
	       s->linux_status->namespaces->options &&
	       s->linux_status->namespaces->options->network == RUNTIME__V1__NAMESPACE_MODE__NODE;
}

static int take_networks(char **ret, const Runtime__V1__PodSandboxStatus *s)
{
	const char *text = NULL;

	for (size_t i = 0; i < s->n_annotations; i++)
		if (strcmp(s->annotations[i]->key, CRI_NETWORKS) == 0)
			text = s->annotations[i]->value;
	if (!text)
		return 0;
	*ret = strndup(text, SANDBOX_NETWORKS_MAX + 1);
	return *ret ? 0 : -ENOMEM;
}

/* A runtime that tells nothing of its own is no failure. */
static int take_info(struct cri_detail *d, const Runtime__V1__PodSandboxStatusResponse *m)
{
	const char *text = NULL;
	bool host = false;
	int r;

	for (size_t i = 0; i < m->n_info; i++)
		if (strcmp(m->info[i]->key, "info") == 0)
			text = m->info[i]->value;
	if (!text || !text[0])
		return 0;
	r = cri_info_netns(d->netns, &host, text, strlen(text));
	d->host_network |= host;
	return r;
}

static int take(struct cri_detail *d, const Runtime__V1__PodSandboxStatusResponse *m)
{
	int r;

	if (!m->status)
		return -ENODATA;
	r = take_info(d, m);
	if (is_node_network(m->status))
		d->host_network = true;
	if (d->host_network)
		d->netns[0] = '\0';
	return r < 0 ? r : take_networks(&d->networks, m->status);
}

int cri_status_decode(struct cri_detail *ret, const uint8_t *bytes, size_t len)
{
	struct proto_budget budget;
	struct cri_detail d = {0};
	int r = 0;
	ProtobufCMessage *m = proto_decode(
		&budget, &runtime__v1__pod_sandbox_status_response__descriptor, bytes, len, &r);

	if (!m)
		return r;
	r = take(&d, (Runtime__V1__PodSandboxStatusResponse *)m);
	protobuf_c_message_free_unpacked(m, &budget.allocator);
	if (r == 0)
		*ret = d;
	return r;
}

// SPDX-License-Identifier: Apache-2.0
/* api.c - writes /api/v1/devices directly into one buffer: as a tree of values, a thousand devices
 * would need tens of megabytes. */
#include "api.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "api_attachments.h"
#include "api_resources.h"
#include "api_settings.h"
#include "explain.h"
#include "host_index.h"
#include "json_out.h"

/* --- values ----------------------------------------------------------------------------------- */

/* Adds a number; 0 means unknown, and is written as null. */
static void add_count(struct json_out *o, const char *key, uint64_t n)
{
	json_out_known(o, key, n > 0, n);
}

/* As add_count(), in hex. */
static void json_hex(struct json_out *o, const char *key, uint32_t n, int digits)
{
	char s[16] = "";

	if (n)
		snprintf(s, sizeof(s), "0x%0*x", digits, n);
	json_out_text(o, key, s);
}

/* As add_count(), in sysfs format: "a088:c203:0000:0001". */
static void guid(struct json_out *o, const char *key, uint64_t g)
{
	char s[24] = "";

	if (g)
		snprintf(s, sizeof(s), "%04x:%04x:%04x:%04x", (unsigned)(g >> 48),
			 (unsigned)(g >> 32 & 0xffff), (unsigned)(g >> 16 & 0xffff),
			 (unsigned)(g & 0xffff));
	json_out_text(o, key, s);
}

/* "00:11:22:33:44:55", or twenty bytes for IP over InfiniBand. */
static void netdev_mac_json(struct json_out *o, const char *key, const struct netdev *nd)
{
	char s[HW_ADDR_MAX * 3 + 1] = "";
	unsigned i;

	for (i = 0; i < nd->addr_len && i < HW_ADDR_MAX; i++)
		snprintf(s + i * 3, sizeof(s) - i * 3, "%02x%s", nd->addr[i],
			 i + 1 < nd->addr_len ? ":" : "");
	json_out_text(o, key, s);
}

static void namespace(struct json_out *o, const struct host *host, int nsid)
{
	json_out_text(o, "netns", nsid == NSID_HOST ? "host" : host_netns_name(host, nsid));
	json_out_known(o, "nsid", nsid >= 0, (uint64_t)nsid);
}

static void carrier(struct json_out *o, enum carrier c)
{
	if (c == CARRIER_UNKNOWN)
		json_out_null(o, "carrier");
	else
		json_out_bool(o, "carrier", c == CARRIER_ON);
}

/* --- objects ---------------------------------------------------------------------------------- */

static void altnames(struct json_out *o, const struct netdev *nd)
{
	json_out_open(o, "altnames", '[');
	for (const char *name = NULL; (name = netdev_altname(nd, name));)
		json_out_text(o, NULL, name);
	json_out_close(o, ']');
}

static void netdev(struct json_out *o, const struct host *host, const struct netdev *nd)
{
	json_out_open(o, NULL, '{');
	json_out_text(o, "name", nd->name);
	altnames(o, nd);
	add_count(o, "ifindex", (unsigned)nd->ifindex);
	namespace(o, host, nd->nsid);
	netdev_mac_json(o, "mac", nd);
	add_count(o, "mtu", nd->mtu);
	json_out_text(o, "operstate", nd->operstate);
	carrier(o, nd->carrier);
	json_out_bool(o, "up", nd->flags & IFF_UP);
	json_out_text(o, "master", nd->master_name);
	json_out_text(o, "portName", nd->port_name);
	if (nd->nsid == NSID_HOST)
		json_out_bool(o, "defaultRoute", nd->default_route);
	else
		json_out_null(o, "defaultRoute");
	json_out_close(o, '}');
}

static void gid(struct json_out *o, const struct gid *g)
{
	char s[INET6_ADDRSTRLEN];

	inet_ntop(AF_INET6, g->raw, s, sizeof(s));
	json_out_open(o, NULL, '{');
	json_out_number(o, "index", g->index);
	json_out_text(o, "gid", s);
	json_out_text(o, "type", g->type == GID_UNKNOWN ? "" : gid_type_name(g->type));
	json_out_text(o, "netdev", g->netdev);
	json_out_close(o, '}');
}

static void states(struct json_out *o, const struct rdma_port *p)
{
	json_out_text(o, "state", p->state == PORT_UNKNOWN ? "" : port_state_name(p->state));
	json_out_text(o, "physicalState",
		      p->phys_state == PHYS_UNKNOWN ? "" : phys_state_name(p->phys_state));
	json_out_text(o, "linkLayer",
		      p->link_layer == LINK_UNKNOWN ? "" : link_layer_name(p->link_layer));
}

static void rdma_port_json(struct json_out *o, const struct rdma_port *p,
			   const struct port_settings *settings)
{
	json_out_open(o, NULL, '{');
	json_out_number(o, "port", p->num);
	states(o, p);
	add_count(o, "rateBitsPerSecond", p->rate_bps);
	add_count(o, "activeMtu", p->active_mtu);
	add_count(o, "maxMtu", p->max_mtu);
	json_out_text(o, "netdev", p->netdev);
	json_hex(o, "pkey", p->pkey, 4);
	add_count(o, "gidTableLength", p->gid_table_len);
	json_out_open(o, "gids", '[');
	for (unsigned i = 0; i < p->n_gids; i++)
		gid(o, &p->gids[i]);
	json_out_close(o, ']');
	api_settings(o, settings);
	json_out_close(o, '}');
}

static void char_devices(struct json_out *o, const struct rdma_dev *rd)
{
	json_out_open(o, "charDevices", '{');
	json_out_text(o, "uverbs", rd->uverbs);
	json_out_text(o, "umad", rd->umad);
	json_out_text(o, "issm", rd->issm);
	json_out_text(o, "ucm", rd->ucm);
	json_out_close(o, '}');
}

static void rdma(struct json_out *o, const struct api_input *input, const struct rdma_dev *rd)
{
	json_out_open(o, NULL, '{');
	json_out_text(o, "name", rd->name);
	json_out_known(o, "index", rd->index != RDMA_INDEX_NONE, rd->index);
	json_out_text(o, "driver", rd->driver);
	json_out_text(o, "firmware", rd->fw);
	json_out_text(o, "board", rd->board);
	json_out_text(o, "hcaType", rd->hca_type);
	guid(o, "nodeGuid", rd->node_guid);
	guid(o, "sysImageGuid", rd->sys_image_guid);
	char_devices(o, rd);
	namespace(o, input->host, rd->nsid);
	json_out_open(o, "ports", '[');
	for (unsigned i = 0; i < rd->n_ports; i++)
		rdma_port_json(o, &rd->ports[i],
			       input->settings
				       ? settings_of(input->settings, rd->name, rd->ports[i].num)
				       : NULL);
	json_out_close(o, ']');
	json_out_close(o, '}');
}

static void vdpa(struct json_out *o, const struct function *fn)
{
	if (fn->vdpa_driver[0] == '\0') {
		json_out_null(o, "vdpa");
		return;
	}
	json_out_open(o, "vdpa", '{');
	json_out_text(o, "driver", fn->vdpa_driver);
	json_out_text(o, "node", fn->vdpa_node);
	json_out_close(o, '}');
}

/* --- a device --------------------------------------------------------------------------------- */

/* Inputs of the document, with indexes for look-ups. */
struct view {
	const struct api_input *input;
	const struct resource_table *table;
	struct host_index host;
	struct resource_index *resources;
};

static void why(struct json_out *o, const struct view *v, const struct function *fn,
		const struct fn_parts *parts, const struct attach_status *attachment)
{
	const struct explain_input in = {
		.function = fn->id,
		.rdma = parts->n_rdma ? part_rdma(parts, 0)->name : "",
		.resources = v->resources,
		.attachment = attachment,
		.epoch_ms = v->input->epoch_ms,
		.refused = v->input->refused,
	};
	char text[EXPLAIN_SIZE];

	explain_device(&in, text);
	json_out_text(o, "why", text);
}

static void function(struct json_out *o, const struct function *fn)
{
	json_out_text(o, "id", fn->id);
	json_out_text(o, "kind", fn_kind_name(fn->kind));
	json_out_text(o, "parent", fn->parent);
	json_out_known(o, "vf", fn->vf >= 0, (uint64_t)fn->vf);
	json_out_known(o, "sf", fn->sfnum >= 0, (uint64_t)fn->sfnum);
	json_out_text(o, "driver", fn->driver);
	json_hex(o, "vendor", fn->vendor, 4);
	json_hex(o, "device", fn->device, 4);
	json_hex(o, "class", fn->class, 6);
	json_out_known(o, "numaNode", fn->numa >= 0, (uint64_t)fn->numa);
	json_out_known(o, "numVfs", fn->sriov, fn->vfs);
	json_out_known(o, "totalVfs", fn->sriov, fn->vfs_total);
	json_out_text(o, "pciPath", fn->path);
	add_count(o, "acpiIndex", fn->acpi_index);
	json_out_text(o, "vfio", fn->vfio);
	json_out_text(o, "uio", fn->uio);
	vdpa(o, fn);
	json_out_text(o, "vfLinkState",
		      fn->vf_link == VF_LINK_UNKNOWN ? "" : vf_link_name(fn->vf_link));
	json_out_bool(o, "unreachable", fn->unreachable);
	json_out_text(o, "devlinkError", fn->devlink_error);
}

static void parts(struct json_out *o, const struct api_input *input, const struct fn_parts *p)
{
	json_out_open(o, "netdevs", '[');
	for (size_t i = 0; i < p->n_netdevs; i++)
		netdev(o, input->host, part_netdev(p, i));
	json_out_close(o, ']');
	json_out_open(o, "rdma", '[');
	for (size_t i = 0; i < p->n_rdma; i++)
		rdma(o, input, part_rdma(p, i));
	json_out_close(o, ']');
}

/* True if the filter selects the device's pod: that of the attachment, else the one that the
 * kubelet reports. */
static bool has_chosen_pod(const struct view *v, const struct function *fn,
			   const struct fn_parts *p, const struct attach_status *a)
{
	const struct api_filter *filter = v->input->filter;
	const struct pod_device *holder;

	if (api_filter_has_no_pod(filter))
		return true;
	if (a)
		return api_filter_pod(filter, a->record->owner.namespace, a->record->owner.pod);
	holder = resource_table_holder(v->table, fn->id, p->n_rdma ? part_rdma(p, 0)->name : "");
	return holder && api_filter_pod(filter, holder->namespace, holder->pod);
}

static void device(struct json_out *o, const struct view *v, const struct function *fn)
{
	const struct attach_status *a = attach_list_function(v->input->attachments, fn->id);
	struct fn_parts p = host_index_parts(&v->host, fn->id);

	if (!api_filter_device(v->input->filter, fn->id) ||
	    !api_filter_kind(v->input->filter, fn_kind_name(fn->kind)) ||
	    !has_chosen_pod(v, fn, &p, a))
		return;
	json_out_open(o, NULL, '{');
	function(o, fn);
	parts(o, v->input, &p);
	json_out_value(o, "resources", api_resources_of(v->resources, fn->id));
	json_out_value(o, "notOffered", api_why_not(v->resources, fn->id));
	json_out_value(o, "attachment", api_attachment(a, v->input->epoch_ms));
	why(o, v, fn, &p, a);
	json_out_close(o, '}');
}

/* --- the document ----------------------------------------------------------------------------- */

static void view_done(struct view *v)
{
	resource_index_free(v->resources);
	host_index_done(&v->host);
}

static int view_init(struct view *v, const struct api_input *input)
{
	static const struct resource_table none;

	*v = (struct view){.input = input, .table = input->resources ? input->resources : &none};
	if (host_index_init(&v->host, input->host) < 0)
		return -ENOMEM;
	v->resources = resource_index_new(v->table);
	if (v->resources)
		return 0;
	host_index_done(&v->host);
	return -ENOMEM;
}

/* RDMA devices whose function is not in the host's list are listed below a placeholder function
 * that has only an id; each such function has one entry, written when its first RDMA device is
 * reached. */
static void unlisted_functions(struct json_out *o, const struct view *v)
{
	const struct host_index *ix = &v->host;
	struct function fn = {.kind = FN_VIRTUAL, .vf = -1, .sfnum = -1, .numa = -1};

	for (size_t i = 0; i < ix->host->n_rdma; i++) {
		const struct rdma_dev *rd = &ix->host->rdma[i];
		struct fn_parts p = host_index_parts(ix, rdma_function_id(rd));

		if (p.fn || p.n_rdma == 0 || part_rdma(&p, 0) != rd)
			continue;
		snprintf(fn.id, sizeof(fn.id), "%s", rdma_function_id(rd));
		device(o, v, &fn);
	}
}

static void document(struct json_out *o, const struct view *v)
{
	const struct host *host = v->host.host;
	enum rdma_netns_mode mode = host->rdma_mode;

	json_out_open(o, NULL, '{');
	json_out_number(o, "generation", v->input->generation);
	json_out_text(o, "rdmaNetnsMode",
		      mode == RDMA_NETNS_UNKNOWN ? "" : rdma_netns_mode_name(mode));
	json_out_open(o, "devices", '[');
	for (size_t i = 0; i < host->n_functions; i++)
		device(o, v, &host->functions[i]);
	unlisted_functions(o, v);
	json_out_close(o, ']');
	json_out_value(o, "resources", api_resources(v->table, NULL));
	json_out_close(o, '}');
	text_add(&o->text, "", 1); /* terminator */
}

char *api_devices(const struct api_input *input, size_t *ret_len)
{
	struct json_out o = {0};
	struct view v;

	if (view_init(&v, input) < 0)
		return NULL;
	document(&o, &v);
	view_done(&v);
	if (o.text.failed) {
		text_done(&o.text);
		return NULL;
	}
	*ret_len = o.text.len - 1;
	return o.text.data;
}

/* api.c - builds /api/v1/devices with jansson and prints it into one buffer.
 *
 * A value that cannot be made for want of memory fails the json_pack() around it, and so the
 * document. */
#include "api.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "api_attachments.h"
#include "api_resources.h"
#include "api_text.h"
#include "explain.h"
#include "host_index.h"
#include "json_text.h"
#include "page.h"

/* --- values ----------------------------------------------------------------------------------- */

/* 0 means unknown. */
static json_t *count(uint64_t n)
{
	return n ? json_integer((json_int_t)n) : json_null();
}

static json_t *known(bool is_known, int64_t n)
{
	return is_known ? json_integer(n) : json_null();
}

static json_t *hex(uint32_t n, int digits)
{
	char s[16];

	snprintf(s, sizeof(s), "0x%0*x", digits, n);
	return n ? json_string_nocheck(s) : json_null();
}

/* As the kernel's sysfs spells them: "a088:c203:0000:0001". */
static json_t *guid(uint64_t g)
{
	char s[24];

	snprintf(s, sizeof(s), "%04x:%04x:%04x:%04x", (unsigned)(g >> 48),
		 (unsigned)(g >> 32 & 0xffff), (unsigned)(g >> 16 & 0xffff),
		 (unsigned)(g & 0xffff));
	return g ? json_string_nocheck(s) : json_null();
}

/* "00:11:22:33:44:55", or twenty bytes for IP over InfiniBand. */
static json_t *mac(const struct netdev *nd)
{
	char s[HW_ADDR_MAX * 3 + 1] = "";
	unsigned i;

	for (i = 0; i < nd->addr_len && i < HW_ADDR_MAX; i++)
		snprintf(s + i * 3, sizeof(s) - i * 3, "%02x%s", nd->addr[i],
			 i + 1 < nd->addr_len ? ":" : "");
	return json_text(s);
}

static json_t *netns(const struct host *host, int nsid)
{
	return nsid == NSID_HOST ? json_string_nocheck("host")
				 : json_text(host_netns_name(host, nsid));
}

static json_t *carrier(enum carrier c)
{
	switch (c) {
	case CARRIER_OFF:
		return json_false();
	case CARRIER_ON:
		return json_true();
	case CARRIER_UNKNOWN:
		break;
	}
	return json_null();
}

/* --- objects ---------------------------------------------------------------------------------- */

static json_t *altnames(const struct netdev *nd)
{
	json_t *a = json_array();

	for (const char *name = NULL; a && (name = netdev_altname(nd, name));)
		a = api_push(a, json_text(name));
	return a;
}

static json_t *netdev(const struct host *host, const struct netdev *nd)
{
	return json_pack("{so so so so so so so so so sb so so so}", "name", json_text(nd->name),
			 "altnames", altnames(nd), "ifindex", count((unsigned)nd->ifindex), "netns",
			 netns(host, nd->nsid), "nsid", known(nd->nsid >= 0, nd->nsid), "mac",
			 mac(nd), "mtu", count(nd->mtu), "operstate", json_text(nd->operstate),
			 "carrier", carrier(nd->carrier), "up", (nd->flags & IFF_UP) != 0, "master",
			 json_text(nd->master_name), "portName", json_text(nd->port_name),
			 "defaultRoute",
			 nd->nsid == NSID_HOST ? json_boolean(nd->default_route) : json_null());
}

static json_t *gid(const struct gid *g)
{
	char s[INET6_ADDRSTRLEN];
	const char *type = g->type == GID_UNKNOWN ? "" : gid_type_name(g->type);

	inet_ntop(AF_INET6, g->raw, s, sizeof(s));
	return json_pack("{sI ss so so}", "index", (json_int_t)g->index, "gid", s, "type",
			 json_text(type), "netdev", json_text(g->netdev));
}

static json_t *gids(const struct rdma_port *p)
{
	json_t *a = json_array();
	unsigned i;

	for (i = 0; a && i < p->n_gids; i++)
		a = api_push(a, gid(&p->gids[i]));
	return a;
}

static json_t *port(const struct rdma_port *p)
{
	const char *state = p->state == PORT_UNKNOWN ? "" : port_state_name(p->state);
	const char *phys = p->phys_state == PHYS_UNKNOWN ? "" : phys_state_name(p->phys_state);
	const char *link = p->link_layer == LINK_UNKNOWN ? "" : link_layer_name(p->link_layer);

	return json_pack("{sI so so so so so so so so so so}", "port", (json_int_t)p->num, "state",
			 json_text(state), "physicalState", json_text(phys), "linkLayer",
			 json_text(link), "rateBitsPerSecond", count(p->rate_bps), "activeMtu",
			 count(p->active_mtu), "maxMtu", count(p->max_mtu), "netdev",
			 json_text(p->netdev), "pkey", hex(p->pkey, 4), "gidTableLength",
			 count(p->gid_table_len), "gids", gids(p));
}

static json_t *ports(const struct rdma_dev *rd)
{
	json_t *a = json_array();
	unsigned i;

	for (i = 0; a && i < rd->n_ports; i++)
		a = api_push(a, port(&rd->ports[i]));
	return a;
}

static json_t *char_devices(const struct rdma_dev *rd)
{
	return json_pack("{so so so so}", "uverbs", json_text(rd->uverbs), "umad",
			 json_text(rd->umad), "issm", json_text(rd->issm), "ucm",
			 json_text(rd->ucm));
}

static json_t *rdma(const struct host *host, const struct rdma_dev *rd)
{
	return json_pack("{so so so so so so so so so so so so}", "name", json_text(rd->name),
			 "index", known(rd->index != RDMA_INDEX_NONE, rd->index), "driver",
			 json_text(rd->driver), "firmware", json_text(rd->fw), "board",
			 json_text(rd->board), "hcaType", json_text(rd->hca_type), "nodeGuid",
			 guid(rd->node_guid), "sysImageGuid", guid(rd->sys_image_guid),
			 "charDevices", char_devices(rd), "netns", netns(host, rd->nsid), "nsid",
			 known(rd->nsid >= 0, rd->nsid), "ports", ports(rd));
}

static json_t *vdpa(const struct function *fn)
{
	return fn->vdpa_driver[0] == '\0'
		       ? json_null()
		       : json_pack("{so so}", "driver", json_text(fn->vdpa_driver), "node",
				   json_text(fn->vdpa_node));
}

/* What the document is made from, and what finds things in it. */
struct view {
	const struct api_scene *scene;
	const struct resource_table *table;
	struct host_index host;
	struct resource_index *resources;
};

static json_t *why(const struct view *v, const struct function *fn, const struct fn_parts *parts,
		   const struct attach_status *attachment)
{
	const struct explain_input in = {
		.function = fn->id,
		.rdma = parts->n_rdma ? part_rdma(parts, 0)->name : "",
		.resources = v->resources,
		.attachment = attachment,
		.epoch_ms = v->scene->epoch_ms,
	};
	char text[EXPLAIN_SIZE];

	explain_device(&in, text);
	return json_text(text);
}

/* Takes netdevs and rdma. */
static json_t *device(const struct view *v, const struct function *fn, const struct fn_parts *parts,
		      json_t *netdevs, json_t *rdma_devices)
{
	const struct attach_status *a = attach_list_function(v->scene->attachments, fn->id);
	const char *link = fn->vf_link == VF_LINK_UNKNOWN ? "" : vf_link_name(fn->vf_link);

	return json_pack(
		"{so so so so so so so so so so so so so so so so so so sb so so so so so so so}",
		"id", json_text(fn->id), "kind", json_text(fn_kind_name(fn->kind)), "parent",
		json_text(fn->parent), "vf", known(fn->vf >= 0, fn->vf), "sf",
		known(fn->sfnum >= 0, fn->sfnum), "driver", json_text(fn->driver), "vendor",
		hex(fn->vendor, 4), "device", hex(fn->device, 4), "class", hex(fn->class, 6),
		"numaNode", known(fn->numa >= 0, fn->numa), "numVfs", known(fn->sriov, fn->vfs),
		"totalVfs", known(fn->sriov, fn->vfs_total), "pciPath", json_text(fn->path),
		"acpiIndex", count(fn->acpi_index), "vfio", json_text(fn->vfio), "uio",
		json_text(fn->uio), "vdpa", vdpa(fn), "vfLinkState", json_text(link), "unreachable",
		fn->unreachable, "devlinkError", json_text(fn->devlink_error), "netdevs", netdevs,
		"rdma", rdma_devices, "resources", api_resources_of(v->resources, fn->id),
		"notOffered", api_why_not(v->resources, fn->id), "attachment",
		api_attachment(a, v->scene->epoch_ms), "why", why(v, fn, parts, a));
}

static void view_done(struct view *v)
{
	resource_index_free(v->resources);
	host_index_done(&v->host);
}

static int view_init(struct view *v, const struct api_scene *scene)
{
	static const struct resource_table none;

	*v = (struct view){.scene = scene, .table = scene->resources ? scene->resources : &none};
	if (host_index_init(&v->host, scene->host) < 0)
		return -ENOMEM;
	v->resources = resource_index_new(v->table);
	if (v->resources)
		return 0;
	host_index_done(&v->host);
	return -ENOMEM;
}

/* --- devices ---------------------------------------------------------------------------------- */

static json_t *netdevs_of(const struct host *host, const struct fn_parts *p)
{
	json_t *a = json_array();

	for (size_t i = 0; a && i < p->n_netdevs; i++)
		a = api_push(a, netdev(host, part_netdev(p, i)));
	return a;
}

static json_t *rdma_of(const struct host *host, const struct fn_parts *p)
{
	json_t *a = json_array();

	for (size_t i = 0; a && i < p->n_rdma; i++)
		a = api_push(a, rdma(host, part_rdma(p, i)));
	return a;
}

/* --- printing --------------------------------------------------------------------------------- */

static void add_device(struct text *t, const struct view *v, const struct function *fn)
{
	struct fn_parts p = host_index_parts(&v->host, fn->id);

	if (t->data[t->len - 1] != '[')
		text_add(t, ",", 1);
	api_add_json(t, device(v, fn, &p, netdevs_of(v->host.host, &p), rdma_of(v->host.host, &p)));
}

/* RDMA devices of a function that the host does not list: shown all the same, as devices of which
 * only the id is known. The first of each stands for all. */
static void add_strays(struct text *t, const struct view *v)
{
	const struct host_index *ix = &v->host;
	struct function fn = {.kind = FN_VIRTUAL, .vf = -1, .sfnum = -1, .numa = -1};

	for (size_t i = 0; !t->failed && i < ix->host->n_rdma; i++) {
		const struct rdma_dev *rd = &ix->host->rdma[i];
		struct fn_parts p = host_index_parts(ix, rdma_function_id(rd));

		if (p.fn || p.n_rdma == 0 || part_rdma(&p, 0) != rd)
			continue;
		snprintf(fn.id, sizeof(fn.id), "%s", rdma_function_id(rd));
		add_device(t, v, &fn);
	}
}

/* Only one device is a tree at a time: a thousand of them would take tens of megabytes. */
static void add_document(struct text *t, const struct view *v)
{
	enum rdma_netns_mode mode = v->host.host->rdma_mode;
	char head[64];
	size_t i;

	snprintf(head, sizeof(head),
		 "{\"generation\":%" PRIu64 ",\"rdmaNetnsMode\":", v->scene->generation);
	text_add(t, head, strlen(head));
	api_add_json(t, json_text(mode == RDMA_NETNS_UNKNOWN ? "" : rdma_netns_mode_name(mode)));
	text_add(t, ",\"devices\":[", 12);
	for (i = 0; !t->failed && i < v->host.host->n_functions; i++)
		add_device(t, v, &v->host.host->functions[i]);
	add_strays(t, v);
	text_add(t, "],\"resources\":", 14);
	api_add_json(t, api_resources(v->table));
	text_add(t, "}", 2); /* its end, too: the document is terminated */
}

char *api_devices(const struct api_scene *scene, size_t *ret_len)
{
	struct text t = {0};
	struct view v;

	if (view_init(&v, scene) == 0) {
		add_document(&t, &v);
		view_done(&v);
	} else {
		t.failed = true;
	}
	if (t.failed) {
		text_done(&t);
		return NULL;
	}
	*ret_len = t.len - 1;
	return t.data;
}

// SPDX-License-Identifier: Apache-2.0
/* record_fields.c - the tables of the journal's format, one per struct. */
#include "record_fields.h"

#include "attachment.h"
#include "cleanup.h"
#include "vf_fields.h"

#define MEMBER(type, member) offsetof(type, member), sizeof(((type *)0)->member)
#define FIELD(...)                                                                                 \
	{                                                                                          \
		__VA_ARGS__                                                                        \
	}
#define PLAIN(form, type, key, member) FIELD(key, form, MEMBER(type, member), NULL, NULL, 0, 0)
#define TEXT(type, key, member)	       PLAIN(FORM_TEXT, type, key, member)
#define NUMBER(type, key, member)      PLAIN(FORM_NUMBER, type, key, member)
#define HEX64(type, key, member)       PLAIN(FORM_HEX64, type, key, member)
#define BOOL(type, key, member)	       PLAIN(FORM_BOOL, type, key, member)
#define PREFIX(type, key, member)      PLAIN(FORM_PREFIX, type, key, member)
#define BYTES(type, key, member, count)                                                            \
	FIELD(key, FORM_BYTES, MEMBER(type, member), NULL, NULL, count, 0)
#define MAC(type, key, member) BYTES(type, key, member, FIELD_ALL)
#define WORD(type, key, member, words)                                                             \
	FIELD(key, FORM_WORD, MEMBER(type, member), NULL, words, 0, 0)
#define OBJECT(type, key, member, table)                                                           \
	FIELD(key, FORM_OBJECT, MEMBER(type, member), table, NULL, 0, 0)
#define LIST(type, key, member, count, table)                                                      \
	FIELD(key, FORM_LIST, offsetof(type, member), sizeof(((type *)0)->member[0]), table, NULL, \
	      offsetof(type, count), ARRAY_SIZE(((type *)0)->member))
#define END FIELD(NULL, FORM_TEXT, 0, 0, NULL, NULL, 0, 0)

static const char *const states[] = {"free", "attaching", "in_pod", "returning", "bad", NULL};
static const char *const doors[] = {"native", "cni", "admin", NULL};
static const char *const cleans[] = {"auto", "always-reset", "restore", NULL};
static const char *const kinds[] = {"vf", "macvlan", "ipvlan", NULL};
static const char *const links[] = {"unknown", "auto", "enable", "disable", NULL};

#define VF_NUMBER(member)			NUMBER(struct vf_settings, #member, member)
#define VF_PROTO(member)			NUMBER(struct vf_settings, #member, member)
#define VF_SWITCH(member)			BOOL(struct vf_settings, #member, member)
#define VF_LINK(member)				WORD(struct vf_settings, #member, member, links)
#define VF_KEY(id, member, key, bit, kind, ...) VF_##kind(member)

static const struct field vf_table[] = {
	NUMBER(struct vf_settings, "fields", fields),
	MAC(struct vf_settings, "mac", mac),
	VF_KEYS(VF_KEY),
	HEX64(struct vf_settings, "node_guid", node_guid),
	HEX64(struct vf_settings, "port_guid", port_guid),
	END,
};

static const struct field prefix_item[] = {
	FIELD("", FORM_PREFIX, 0, sizeof(struct ip_prefix), NULL, NULL, 0, 0), END};

static const struct field route_fields[] = {
	PREFIX(struct net_route, "dst", dst),
	PREFIX(struct net_route, "gateway", gateway),
	NUMBER(struct net_route, "priority", priority),
	END,
};

static const struct field route_item[] = {
	{"", FORM_OBJECT, 0, sizeof(struct net_route), route_fields, NULL, 0, 0}, END};

#define PLAN_LINK(id, name, ...)   NUMBER(struct net_plan, #name, name)
#define ORIGIN_LINK(id, name, ...) NUMBER(struct link_origin, #name, name)

const struct field plan_fields[] = {
	WORD(struct net_plan, "kind", kind, kinds),
	TEXT(struct net_plan, "ifname", ifname),
	LINK_FIELDS(PLAN_LINK),
	BOOL(struct net_plan, "has_mac", has_mac),
	MAC(struct net_plan, "mac", mac),
	OBJECT(struct net_plan, "vf", vf, vf_table),
	LIST(struct net_plan, "ips", ips, n_ips, prefix_item),
	LIST(struct net_plan, "routes", routes, n_routes, route_item),
	TEXT(struct net_plan, "ipam", ipam),
	BOOL(struct net_plan, "soft_roce", soft_roce),
	BOOL(struct net_plan, "in_host", in_host),
	BOOL(struct net_plan, "no_netdev", no_netdev),
	WORD(struct net_plan, "clean", clean, cleans),
	END,
};

static const struct field netns_fields[] = {
	TEXT(struct netns_id, "path", path),
	HEX64(struct netns_id, "dev", dev),
	HEX64(struct netns_id, "ino", ino),
	END,
};

static const struct field owner_fields[] = {
	WORD(struct attach_owner, "door", door, doors),
	TEXT(struct attach_owner, "namespace", namespace),
	TEXT(struct attach_owner, "pod", pod),
	TEXT(struct attach_owner, "container", container),
	TEXT(struct attach_owner, "uid", uid),
	TEXT(struct attach_owner, "sandbox", sandbox),
	TEXT(struct attach_owner, "network", network),
	OBJECT(struct attach_owner, "netns", netns, netns_fields),
	END,
};

static const struct field identity_fields[] = {
	NUMBER(struct function_identity, "vendor", vendor),
	NUMBER(struct function_identity, "device", device),
	BYTES(struct function_identity, "pf_mac", pf_mac,
	      offsetof(struct function_identity, pf_mac_len)),
	HEX64(struct function_identity, "folder", folder),
	END,
};

#define SECTION(id, key, words) HEX64(struct netdev_state, #key, digest[STATE_##id])

static const struct field state_fields[] = {
	HEX64(struct netdev_state, "key0", key[0]),
	HEX64(struct netdev_state, "key1", key[1]),
	NETDEV_SECTIONS(SECTION),
	END,
};

static const struct field rdma_identity_fields[] = {
	BOOL(struct rdma_identity, "known", known),
	NUMBER(struct rdma_identity, "index", index),
	HEX64(struct rdma_identity, "node_guid", node_guid),
	END,
};

static const struct field origin_fields[] = {
	TEXT(struct link_origin, "name", name),
	TEXT(struct link_origin, "alias", alias),
	TEXT(struct link_origin, "altnames", altnames),
	BYTES(struct link_origin, "addr", addr, offsetof(struct link_origin, addr_len)),
	LINK_FIELDS(ORIGIN_LINK),
	BOOL(struct link_origin, "up", up),
	TEXT(struct link_origin, "rdma", rdma),
	OBJECT(struct link_origin, "rdma_id", rdma_id, rdma_identity_fields),
	TEXT(struct link_origin, "pf", pf),
	PLAIN(FORM_INT, struct link_origin, "vf_index", vf_index),
	OBJECT(struct link_origin, "vf", vf, vf_table),
	OBJECT(struct link_origin, "state", state, state_fields),
	TEXT(struct link_origin, "parent", parent),
	OBJECT(struct link_origin, "identity", identity, identity_fields),
	END,
};

const struct field record_fields[] = {
	WORD(struct attach_record, "state", state, states),
	HEX64(struct attach_record, "serial", serial),
	TEXT(struct attach_record, "resource", resource),
	TEXT(struct attach_record, "id", id),
	TEXT(struct attach_record, "function", function),
	OBJECT(struct attach_record, "owner", owner, owner_fields),
	OBJECT(struct attach_record, "plan", plan, plan_fields),
	OBJECT(struct attach_record, "origin", origin, origin_fields),
	LIST(struct attach_record, "ips", ips, n_ips, prefix_item),
	LIST(struct attach_record, "routes", routes, n_routes, route_item),
	TEXT(struct attach_record, "rdma", rdma),
	OBJECT(struct attach_record, "rdma_id", rdma_id, rdma_identity_fields),
	TEXT(struct attach_record, "uverbs", uverbs),
	TEXT(struct attach_record, "boot", boot),
	HEX64(struct attach_record, "link_id", link_id),
	BOOL(struct attach_record, "renewing", renewing),
	END,
};

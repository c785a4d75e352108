// SPDX-License-Identifier: Apache-2.0
#include "attach_records.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct ip_prefix prefix(int family, const char *text, uint8_t len)
{
	struct ip_prefix p = {.family = family, .len = len};

	inet_pton(family, text, p.addr);
	return p;
}

static void fill_vf(struct vf_settings *vf, uint8_t seed)
{
	*vf = (struct vf_settings){
		.fields = 0x1ff,
		.mac = {2, 0, 0, 0, 0, seed},
		.vlan = (uint16_t)(4000 + seed),
		.vlan_qos = 7,
		.vlan_proto = 0x88a8,
		.spoofchk = true,
		.trust = true,
		.link_state = VF_LINK_DISABLE,
		.min_rate = 100u + seed,
		.max_rate = 4000000000u + seed,
		.node_guid = 0xfedcba9876543200 + seed,
		.port_guid = 0xfedcba9876543300 + seed,
	};
}

static void fill_plan(struct net_plan *p)
{
	p->kind = PLAN_VF;
	snprintf(p->ifname, sizeof(p->ifname), "net1");
	p->mtu = 9000;
	p->has_mac = true;
	memcpy(p->mac, "\x02\x01\x02\x03\x04\x05", 6);
	fill_vf(&p->vf, 1);
	p->n_ips = PLAN_IPS_MAX;
	for (size_t i = 0; i < p->n_ips; i++)
		p->ips[i] = i % 2 ? prefix(AF_INET6, "fd00::17", 64)
				  : prefix(AF_INET, "10.1.2.3", (uint8_t)(8 + i));
	p->n_routes = PLAN_ROUTES_MAX;
	for (size_t i = 0; i < p->n_routes; i++)
		p->routes[i] = (struct net_route){prefix(AF_INET, "0.0.0.0", 0),
						  prefix(AF_INET, "10.1.2.1", 32),
						  (uint32_t)(100 + i)};
	snprintf(p->ipam, sizeof(p->ipam), "{\"type\":\"host-local\",\"ranges\":[[\"\\\"\"]]}");
	p->soft_roce = true;
}

static void fill_owner(struct attach_owner *o)
{
	o->door = DOOR_ADMIN;
	snprintf(o->namespace, sizeof(o->namespace), "team-a");
	snprintf(o->pod, sizeof(o->pod), "trainer-0");
	snprintf(o->container, sizeof(o->container), "main");
	snprintf(o->uid, sizeof(o->uid), "5b3e1f7a-0c43-4c5e-9f0a-3f5d6a0d8a11");
	snprintf(o->sandbox, sizeof(o->sandbox), "%064x", 77);
	snprintf(o->netns.path, sizeof(o->netns.path), "/run/netns/cni-1234");
	o->netns.dev = 4;
	o->netns.ino = 0xfffffffffffffff0;
}

static void fill_origin(struct link_origin *o)
{
	snprintf(o->name, sizeof(o->name), "ens1f0v3");
	snprintf(o->alias, sizeof(o->alias), "rack 7, left \xc3\xbc");
	o->addr_len = 20;
	for (unsigned i = 0; i < o->addr_len; i++)
		o->addr[i] = (uint8_t)(0xf0 + i);
	o->mtu = 4092;
	o->up = true;
	snprintf(o->rdma, sizeof(o->rdma), "mlx5_3");
	snprintf(o->pf, sizeof(o->pf), "0000:03:00.0");
	o->vf_index = 126;
	fill_vf(&o->vf, 2);
	snprintf(o->parent, sizeof(o->parent), "ens1f0");
	o->identity = (struct function_identity){
		.vendor = 0x15b3, .device = 0x101e, .pf_mac = {2, 0, 0, 0, 0, 9}, .pf_mac_len = 6};
}

void attach_record_fill(struct attach_record *r)
{
	memset(r, 0, sizeof(*r));
	r->state = ATTACH_RETURNING;
	r->serial = 0xffffffffffffffff;
	snprintf(r->resource, sizeof(r->resource), "rocelet.dev/roce");
	snprintf(r->id, sizeof(r->id), "0000:03:10.7");
	snprintf(r->function, sizeof(r->function), "0000:03:10.7");
	fill_owner(&r->owner);
	fill_plan(&r->plan);
	fill_origin(&r->origin);
	r->n_ips = 2;
	r->ips[0] = prefix(AF_INET, "192.0.2.1", 32);
	r->ips[1] = prefix(AF_INET6, "2001:db8::1", 128);
	r->n_routes = 1;
	r->routes[0] = (struct net_route){prefix(AF_INET6, "::", 0), {0}, 0};
	snprintf(r->rdma, sizeof(r->rdma), "rxe_x");
	snprintf(r->boot, sizeof(r->boot), "6e5f7a0c-0c43-4c5e-9f0a-3f5d6a0d8a11");
}

/* --- random ----------------------------------------------------------------------------------- */

static unsigned seed;

static unsigned below(unsigned n)
{
	return (unsigned)rand_r(&seed) % n;
}

static void random_bytes(void *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		((uint8_t *)p)[i] = (uint8_t)below(256);
}

/* Plain text, characters that JSON escapes, two-byte characters, or any bytes. */
static void random_text(char *s, size_t size)
{
	const unsigned kind = below(8);
	size_t n = below(4) ? below((unsigned)size) : size - 1;

	for (size_t i = 0; i < n; i++)
		s[i] = kind < 5	   ? (char)('!' + below(94))
		       : kind == 5 ? (char)(1 + below(31))
		       : kind == 6 ? "\xc3\xbc"[i % 2]
				   : (char)(1 + below(255));
	s[n] = '\0';
}

#define RANDOM_TEXT(member) random_text(member, sizeof(member))
#define RANDOM_NAME(member) random_name(member, sizeof(member))

/* Mostly valid names of netdevs or functions. */
static void random_name(char *s, size_t size)
{
	random_text(s, size);
	for (char *c = s; *c && below(64); c++)
		if (strchr("/: \t\n\v\f\r\xa0.", *c))
			*c = '_';
}

static bool random_bool(void)
{
	return below(2);
}

static struct ip_prefix random_prefix(void)
{
	struct ip_prefix p = {.family = AF_UNSPEC};

	if (below(8) == 0)
		return p;
	p.family = random_bool() ? AF_INET : AF_INET6;
	random_bytes(p.addr, p.family == AF_INET ? 4 : 16);
	p.len = (uint8_t)below(p.family == AF_INET ? 33 : 129);
	return p;
}

static size_t random_routes(struct net_route routes[PLAN_ROUTES_MAX])
{
	size_t n = below(PLAN_ROUTES_MAX + 1);

	for (size_t i = 0; i < n; i++) {
		routes[i].dst = random_prefix();
		routes[i].gateway = random_prefix();
		random_bytes(&routes[i].priority, sizeof(routes[i].priority));
	}
	return n;
}

static size_t random_ips(struct ip_prefix ips[PLAN_IPS_MAX])
{
	size_t n = below(PLAN_IPS_MAX + 1);

	for (size_t i = 0; i < n; i++)
		ips[i] = random_prefix();
	return n;
}

static void random_vf(struct vf_settings *vf)
{
	random_bytes(&vf->fields, sizeof(vf->fields));
	random_bytes(vf->mac, sizeof(vf->mac));
	random_bytes(&vf->vlan, sizeof(vf->vlan));
	random_bytes(&vf->vlan_qos, sizeof(vf->vlan_qos));
	random_bytes(&vf->vlan_proto, sizeof(vf->vlan_proto));
	vf->spoofchk = random_bool();
	vf->trust = random_bool();
	vf->link_state = (enum vf_link)below(below(32) ? 4 : 9);
	random_bytes(&vf->min_rate, sizeof(vf->min_rate));
	random_bytes(&vf->max_rate, sizeof(vf->max_rate));
	random_bytes(&vf->node_guid, sizeof(vf->node_guid));
	random_bytes(&vf->port_guid, sizeof(vf->port_guid));
}

static void random_owner(struct attach_owner *o)
{
	o->door = (enum attach_door)below(below(32) ? 3 : 5);
	RANDOM_TEXT(o->namespace);
	RANDOM_TEXT(o->pod);
	RANDOM_TEXT(o->container);
	RANDOM_TEXT(o->uid);
	RANDOM_TEXT(o->sandbox);
	RANDOM_TEXT(o->netns.path);
	random_bytes(&o->netns.dev, sizeof(o->netns.dev));
	random_bytes(&o->netns.ino, sizeof(o->netns.ino));
}

static void random_plan(struct net_plan *p)
{
	p->kind = (enum plan_kind)below(below(32) ? 3 : 5);
	RANDOM_NAME(p->ifname);
	random_bytes(&p->mtu, sizeof(p->mtu));
	p->has_mac = random_bool();
	random_bytes(p->mac, sizeof(p->mac));
	random_vf(&p->vf);
	p->n_ips = random_ips(p->ips);
	p->n_routes = random_routes(p->routes);
	RANDOM_TEXT(p->ipam);
	p->soft_roce = random_bool();
}

static void random_origin(struct link_origin *o)
{
	RANDOM_NAME(o->name);
	RANDOM_TEXT(o->alias);
	RANDOM_TEXT(o->altnames);
	o->addr_len = below(sizeof(o->addr) + 1 + !below(32));
	random_bytes(o->addr, o->addr_len <= sizeof(o->addr) ? o->addr_len : 0);
	random_bytes(&o->mtu, sizeof(o->mtu));
	o->up = random_bool();
	RANDOM_TEXT(o->rdma);
	if (random_bool())
		RANDOM_NAME(o->pf);
	o->vf_index = o->pf[0] ? (int)below(INT32_MAX) : -1;
	if (below(32) == 0)
		random_bytes(&o->vf_index, sizeof(o->vf_index));
	random_vf(&o->vf);
	RANDOM_NAME(o->parent);
	random_bytes(&o->identity.vendor, sizeof(o->identity.vendor));
	random_bytes(&o->identity.device, sizeof(o->identity.device));
	o->identity.pf_mac_len = below(sizeof(o->identity.pf_mac) + 1);
	random_bytes(o->identity.pf_mac, o->identity.pf_mac_len);
	random_bytes(&o->identity.folder, sizeof(o->identity.folder));
}

void attach_record_random(struct attach_record *r, unsigned from)
{
	seed = from;
	memset(r, 0, sizeof(*r));
	r->state = (enum attach_state)below(below(32) ? 5 : 9);
	random_bytes(&r->serial, sizeof(r->serial));
	RANDOM_TEXT(r->resource);
	RANDOM_TEXT(r->id);
	RANDOM_NAME(r->function);
	random_owner(&r->owner);
	random_plan(&r->plan);
	random_origin(&r->origin);
	r->n_ips = random_ips(r->ips);
	r->n_routes = random_routes(r->routes);
	RANDOM_TEXT(r->rdma);
	RANDOM_TEXT(r->boot);
}

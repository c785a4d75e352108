#include "attach_records.h"

#include <arpa/inet.h>
#include <stdio.h>
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
}

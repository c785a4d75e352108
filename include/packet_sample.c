#include "packet_sample.h"

#include <stdlib.h>

const char *packet_hook_name(enum packet_hook hook)
{
	switch (hook) {
	case PACKET_HOOK_NONE:
	case N_PACKET_HOOKS:
		break;
	case PACKET_HOOK_TCX:
		return "tcx";
	case PACKET_HOOK_CLSACT:
		return "clsact";
	case PACKET_HOOK_XDP:
		return "xdp";
	}
	return "none";
}

const char *packet_role_name(enum packet_role role)
{
	switch (role) {
	case PACKET_SOFT_ROCE:
		break;
	case PACKET_MIRROR:
		return "mirror";
	case PACKET_POD:
		return "pod";
	case PACKET_PORT:
		return "port";
	}
	return "soft-roce";
}

/* RFC 3168: the low two bits of the traffic class */
#define ECN_CE 3

uint64_t roce_counts_marked(const struct roce_counts *c)
{
	uint64_t n = 0;

	for (size_t i = ECN_CE; i < sizeof(c->traffic_class) / sizeof(c->traffic_class[0]); i += 4)
		n += c->traffic_class[i];
	return n;
}

void packet_sample_done(struct packet_sample *s)
{
	free(s->ports);
	free(s->counts);
	free(s->flows);
	*s = (struct packet_sample){0};
}

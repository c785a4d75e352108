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

void packet_sample_done(struct packet_sample *s)
{
	free(s->ports);
	free(s->counts);
	free(s->flows);
	*s = (struct packet_sample){0};
}

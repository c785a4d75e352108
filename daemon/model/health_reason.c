/* health_reason.c - the words for reasons: pool_config.h. Pure. */
#include "pool_config.h"

const char *health_reason_name(enum health_reason reason)
{
	static const char *const names[N_HEALTH_REASONS] = {
		[HEALTH_GONE] = "gone",
		[HEALTH_NO_DRIVER] = "no_driver",
		[HEALTH_NO_CHARDEV] = "no_chardev",
		[HEALTH_NO_RDMA] = "no_rdma",
		[HEALTH_LINK_DOWN] = "link_down",
		[HEALTH_PORT_DOWN] = "port_down",
		[HEALTH_PCI] = "pci",
		[HEALTH_DEVLINK] = "devlink",
	};

	return (unsigned)reason < N_HEALTH_REASONS ? names[reason] : "unknown";
}

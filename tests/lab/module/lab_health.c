// SPDX-License-Identifier: Apache-2.0
#include "lab_health.h"

#define GRACE_MS 3600000

static int recover(struct devlink_health_reporter *reporter, void *context,
		   struct netlink_ext_ack *extack)
{
	return 0;
}

static const struct devlink_health_reporter_ops reporter_ops = {.name = "fw", .recover = recover};
static const struct devlink_ops devlink_ops;

struct devlink *health_alloc(size_t size, struct device *dev)
{
	return devlink_alloc(&devlink_ops, size, dev);
}

int health_make(struct lab_nic *nic)
{
	nic->reporter = devlink_health_reporter_create(priv_to_devlink(nic), &reporter_ops,
						       GRACE_MS, nic);
	return PTR_ERR_OR_ZERO(nic->reporter);
}

void health_unmake(struct lab_nic *nic)
{
	devlink_health_reporter_destroy(nic->reporter);
}

static ssize_t fault_store(struct device *dev, struct device_attribute *attr, const char *text,
			   size_t n)
{
	struct lab_nic *nic = dev_get_drvdata(dev);
	char message[64];

	strscpy(message, text, sizeof(message));
	devlink_health_report(nic->reporter, strim(message), NULL);
	return n;
}

static DEVICE_ATTR_WO(fault);

static struct attribute *attributes[] = {&dev_attr_fault.attr, NULL};
const struct attribute_group health_group = {.name = "lab", .attrs = attributes};

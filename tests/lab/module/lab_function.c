// SPDX-License-Identifier: Apache-2.0
/* lab_function.c - a function from bind to unbind: its parts, and the order of their creation and
 * removal. */
#include <linux/module.h>

#include "lab_config_space.h"
#include "lab_dcb.h"
#include "lab_function.h"
#include "lab_health.h"
#include "lab_netdev.h"
#include "lab_rdma.h"

#define DEFAULT_SPEED 200000

static void take_devices_down(struct lab_nic *nic)
{
	rdma_unmake(nic);
	netdev_unmake(nic);
}

static ssize_t device_store(struct device *dev, struct device_attribute *attr, const char *text,
			    size_t n)
{
	struct lab_nic *nic = dev_get_drvdata(dev);
	char name[IB_DEVICE_NAME_MAX];
	int r;

	if (nic->netdev)
		return -EBUSY;
	if (strscpy(name, text, sizeof(name)) < 0)
		return -EINVAL;
	r = netdev_make(nic);
	if (r == 0)
		r = rdma_make(nic, strim(name));
	if (r < 0)
		take_devices_down(nic);
	return r < 0 ? r : n;
}

static DEVICE_ATTR_WO(device);

static struct attribute *nic_attributes[] = {&dev_attr_device.attr, NULL};
static const struct attribute_group nic_group = {.name = "lab", .attrs = nic_attributes};

/* --- from bind to unbind ---------------------------------------------------------------------- */

/* Merged into the folder `lab`, which nic_group creates. */
static const struct attribute_group *const groups[] = {
	&counters_group, &script_group, &health_group, &config_space_group,
	&dcb_group,	 &netdev_group, NULL};

static int make_files(struct lab_nic *nic)
{
	struct kobject *kobj = &nic->pci->dev.kobj;
	int r = sysfs_create_group(kobj, &nic_group);

	for (int i = 0; r == 0 && groups[i]; i++)
		r = sysfs_merge_group(kobj, groups[i]);
	return r;
}

static int lab_probe(struct pci_dev *pci, const struct pci_device_id *id)
{
	struct devlink *devlink = health_alloc(sizeof(struct lab_nic), &pci->dev);
	struct lab_nic *nic;
	int r;

	if (!devlink)
		return -ENOMEM;
	nic = devlink_priv(devlink);
	nic->pci = pci;
	nic->speed = DEFAULT_SPEED;
	nic->plugged = true;
	pci_set_drvdata(pci, nic);
	script_init(nic);
	r = health_make(nic);
	if (r < 0)
		goto no_health;
	config_space_add(nic);
	r = make_files(nic);
	if (r < 0)
		goto no_files;
	devlink_register(devlink);
	return 0;
no_files:
	sysfs_remove_group(&pci->dev.kobj, &nic_group);
	config_space_remove(nic);
	health_unmake(nic);
no_health:
	script_done(nic);
	devlink_free(devlink);
	return r;
}

static void lab_remove(struct pci_dev *pci)
{
	struct lab_nic *nic = pci_get_drvdata(pci);
	struct devlink *devlink = priv_to_devlink(nic);

	pci_disable_sriov(pci);
	devlink_unregister(devlink);
	sysfs_remove_group(&pci->dev.kobj, &nic_group);
	take_devices_down(nic);
	config_space_remove(nic);
	script_done(nic);
	counters_done(&nic->hw);
	counters_done(&nic->eth);
	health_unmake(nic);
	devlink_free(devlink);
}

/* Functions are bound by driver_override only. */
static struct pci_driver drivers[] = {
	{.name = "mlx5_core",
	 .probe = lab_probe,
	 .remove = lab_remove,
	 .sriov_configure = pci_sriov_configure_simple},
	{.name = "bnxt_en",
	 .probe = lab_probe,
	 .remove = lab_remove,
	 .sriov_configure = pci_sriov_configure_simple},
};

static int __init lab_nic_init(void)
{
	int r = pci_register_driver(&drivers[0]);

	if (r < 0)
		return r;
	r = pci_register_driver(&drivers[1]);
	if (r < 0)
		pci_unregister_driver(&drivers[0]);
	return r;
}

static void __exit lab_nic_exit(void)
{
	pci_unregister_driver(&drivers[1]);
	pci_unregister_driver(&drivers[0]);
	config_space_end();
}

module_init(lab_nic_init);
module_exit(lab_nic_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("A NIC with counters, settings and health of its own, for rocelet's lab");

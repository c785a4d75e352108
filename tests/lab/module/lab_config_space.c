// SPDX-License-Identifier: Apache-2.0
#include "lab_config_space.h"

#define PLACES_MAX 64

/* A function whose reads are intercepted. Configuration spaces are read at any time, with
 * interrupts off and without a lock: its members only change as whole words. */
struct place {
	struct pci_bus *bus;
	unsigned devfn;
	u8 express; /* offset of the PCI Express capability */
	struct place_says {
		u16 status;	  /* LNKSTA's speed and width; 0: its own */
		u16 capabilities; /* LNKCAP's */
		u32 speeds;	  /* LNKCAP2's, one bit for each */
		bool gone;
	} says;
};

struct taken_bus {
	struct pci_bus *bus;
	struct pci_ops *own;
};

static struct place places[PLACES_MAX];
static struct taken_bus buses[PLACES_MAX];
static DEFINE_MUTEX(lock);

#define SPEED_AND_WIDTH (PCI_EXP_LNKSTA_CLS | PCI_EXP_LNKSTA_NLW)

static_assert((PCI_EXP_LNKCAP_SLS | PCI_EXP_LNKCAP_MLW) == SPEED_AND_WIDTH);

static struct pci_ops *own_ops(const struct pci_bus *bus)
{
	for (int i = 0; i < PLACES_MAX; i++)
		if (buses[i].bus == bus)
			return buses[i].own;
	return NULL;
}

static struct place *place_of(const struct pci_bus *bus, unsigned devfn)
{
	for (int i = 0; i < PLACES_MAX; i++)
		if (places[i].bus == bus && places[i].devfn == devfn)
			return &places[i];
	return NULL;
}

static void replace(u32 *value, u16 by)
{
	if (by)
		*value = (*value & ~SPEED_AND_WIDTH) | by;
}

static int read_config(struct pci_bus *bus, unsigned devfn, int where, int size, u32 *value)
{
	const struct place *p = place_of(bus, devfn);
	int r = own_ops(bus)->read(bus, devfn, where, size, value);

	if (p && p->says.gone)
		*value = ~0u >> (32 - 8 * size);
	else if (p && size == 2 && where == p->express + PCI_EXP_LNKSTA)
		replace(value, p->says.status);
	else if (p && size == 4 && where == p->express + PCI_EXP_LNKCAP)
		replace(value, p->says.capabilities);
	else if (p && size == 4 && where == p->express + PCI_EXP_LNKCAP2 && p->says.speeds)
		*value = p->says.speeds;
	return r;
}

static int write_config(struct pci_bus *bus, unsigned devfn, int where, int size, u32 value)
{
	return own_ops(bus)->write(bus, devfn, where, size, value);
}

static struct pci_ops ops = {.read = read_config, .write = write_config};

/* --- which functions -------------------------------------------------------------------------- */

static void take_bus(struct pci_bus *bus)
{
	for (int i = 0; i < PLACES_MAX; i++) {
		if (buses[i].bus)
			continue;
		buses[i].own = bus->ops;
		buses[i].bus = bus;
		pci_bus_set_ops(bus, &ops);
		return;
	}
}

static void add(struct pci_dev *pci)
{
	if (!pci || place_of(pci->bus, pci->devfn))
		return;
	for (int i = 0; i < PLACES_MAX; i++) {
		if (places[i].bus)
			continue;
		places[i] = (struct place){.devfn = pci->devfn, .express = pci->pcie_cap};
		places[i].bus = pci->bus;
		break;
	}
	if (!own_ops(pci->bus))
		take_bus(pci->bus);
}

static void remove(struct pci_dev *pci)
{
	struct place *p = pci ? place_of(pci->bus, pci->devfn) : NULL;

	if (p)
		*p = (struct place){};
}

void config_space_add(struct lab_nic *nic)
{
	mutex_lock(&lock);
	add(nic->pci);
	/* The link of a VF is its PF's. */
	if (!nic->pci->is_virtfn)
		add(pci_upstream_bridge(nic->pci));
	mutex_unlock(&lock);
}

void config_space_remove(struct lab_nic *nic)
{
	mutex_lock(&lock);
	remove(nic->pci);
	if (!nic->pci->is_virtfn)
		remove(pci_upstream_bridge(nic->pci));
	mutex_unlock(&lock);
}

/* An intercepted bus stays so until no function is bound: a read may be in progress. */
void config_space_end(void)
{
	for (int i = 0; i < PLACES_MAX && buses[i].bus; i++)
		pci_bus_set_ops(buses[i].bus, buses[i].own);
}

/* --- files ------------------------------------------------------------------------------------ */

static u16 word_of(unsigned width, unsigned speed)
{
	return width << PCI_EXP_LNKSTA_NLW_SHIFT | speed;
}

static void say_link(struct pci_dev *pci, u16 status, u16 capabilities)
{
	struct place *p = pci ? place_of(pci->bus, pci->devfn) : NULL;
	u16 fastest = capabilities & PCI_EXP_LNKCAP_SLS;

	if (!p)
		return;
	WRITE_ONCE(p->says.status, status);
	WRITE_ONCE(p->says.capabilities, capabilities);
	WRITE_ONCE(p->says.speeds, ((1u << fastest) - 1) << 1);
}

static ssize_t link_store(struct device *dev, struct device_attribute *attr, const char *text,
			  size_t n)
{
	struct lab_nic *nic = dev_get_drvdata(dev);
	unsigned width, max_width, speed, max_speed;

	if (sscanf(text, "%u %u %u %u", &width, &max_width, &speed, &max_speed) != 4 ||
	    width > 32 || max_width > 32 || speed > 15 || max_speed > 15)
		return -EINVAL;
	mutex_lock(&lock);
	say_link(nic->pci, word_of(width, speed), word_of(max_width, max_speed));
	say_link(pci_upstream_bridge(nic->pci), word_of(width, speed),
		 word_of(max_width, max_speed));
	mutex_unlock(&lock);
	return n;
}

static DEVICE_ATTR_WO(link);

static ssize_t gone_store(struct device *dev, struct device_attribute *attr, const char *text,
			  size_t n)
{
	struct lab_nic *nic = dev_get_drvdata(dev);
	struct place *p;
	bool gone;
	int r = kstrtobool(text, &gone);

	mutex_lock(&lock);
	p = place_of(nic->pci->bus, nic->pci->devfn);
	if (r == 0 && p)
		WRITE_ONCE(p->says.gone, gone);
	mutex_unlock(&lock);
	return r < 0 ? r : n;
}

static DEVICE_ATTR_WO(gone);

static struct attribute *attributes[] = {&dev_attr_link.attr, &dev_attr_gone.attr, NULL};
const struct attribute_group config_space_group = {.name = "lab", .attrs = attributes};

// SPDX-License-Identifier: Apache-2.0
#include "lab_counters.h"

#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/slab.h>

#include "lab_function.h"

/* One lock for all functions: a step is atomic for all of them. */
static DEFINE_SPINLOCK(lock);

void counters_lock(void)
{
	spin_lock(&lock);
}

void counters_unlock(void)
{
	spin_unlock(&lock);
}

static u64 value_at(const struct lab_counters *c, int i, u64 now)
{
	return c->items[i].base +
	       mul_u64_u64_div_u64(c->items[i].rate, now - c->since, NSEC_PER_SEC);
}

int counters_look(struct lab_counters *c, u64 *ret)
{
	int r;

	spin_lock(&lock);
	c->looked = ktime_get_ns();
	for (int i = 0; i < c->n; i++)
		if (!c->items[i].gone)
			*ret++ = c->items[i].zero ? 0 : value_at(c, i, c->looked);
	r = c->fails ? -EIO : 0;
	spin_unlock(&lock);
	return r;
}

int counters_listed(const struct lab_counters *c)
{
	int n = 0;

	for (int i = 0; i < c->n; i++)
		n += !c->items[i].gone;
	return n;
}

/* Before the first read no counter has grown. */
void counters_rebase(struct lab_counters *c)
{
	u64 now = c->looked ? c->looked : c->since;

	for (int i = 0; i < c->n; i++)
		c->items[i].base = value_at(c, i, now);
	c->since = c->looked ? c->looked : ktime_get_ns();
}

int counters_find(const struct lab_counters *c, const char *name)
{
	for (int i = 0; i < c->n; i++)
		if (strcmp(c->items[i].name, name) == 0)
			return i;
	return -ENOENT;
}

void counters_done(struct lab_counters *c)
{
	kfree(c->items);
	*c = (struct lab_counters){};
}

/* --- names ------------------------------------------------------------------------------------ */

static int add_name(struct lab_counters *c, const char *name)
{
	if (!c->items)
		c->items = kcalloc(COUNTERS_MAX, sizeof(*c->items), GFP_KERNEL);
	if (!c->items)
		return -ENOMEM;
	if (c->n == COUNTERS_MAX ||
	    strscpy(c->items[c->n].name, name, sizeof(c->items[0].name)) < 0)
		return -ENOSPC;
	c->n++;
	return 0;
}

static int add_line(struct lab_nic *nic, char *line)
{
	if (strncmp(line, "hw ", 3) == 0)
		return add_name(&nic->hw, line + 3);
	return strncmp(line, "eth ", 4) == 0 ? add_name(&nic->eth, line + 4) : -EINVAL;
}

static ssize_t names_store(struct device *dev, struct device_attribute *attr, const char *text,
			   size_t n)
{
	struct lab_nic *nic = dev_get_drvdata(dev);
	char *copy = kstrndup(text, n, GFP_KERNEL), *at = copy, *line;
	int r = copy ? 0 : -ENOMEM;

	if (nic->netdev)
		r = -EBUSY;
	while (r == 0 && (line = strsep(&at, "\n")))
		if (*line)
			r = add_line(nic, line);
	kfree(copy);
	return r < 0 ? r : n;
}

static DEVICE_ATTR_WO(names);

static struct attribute *attributes[] = {&dev_attr_names.attr, NULL};
const struct attribute_group counters_group = {.name = "lab", .attrs = attributes};

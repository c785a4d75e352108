// SPDX-License-Identifier: Apache-2.0
#include "lab_script.h"

#include <linux/ktime.h>
#include <linux/slab.h>

#include "lab_function.h"

/* Reads closer together than this belong to one sample, or to the time between two. */
#define APART_NS (500 * NSEC_PER_MSEC)

struct change {
	bool hw;
	u8 op;
	int counter;
	u64 amount;
};

struct step {
	struct list_head node;
	int n;
	struct change changes[];
};

static LIST_HEAD(all);
static DEFINE_MUTEX(all_lock);
static int n_steps;
static u64 stepped; /* time of the last step, ns */

/* --- a step ----------------------------------------------------------------------------------- */

static void apply(struct lab_nic *nic, const struct change *c)
{
	struct lab_counters *all_of = c->hw ? &nic->hw : &nic->eth;
	struct lab_counter *counter = &all_of->items[c->counter];

	switch (c->op) {
	case '=':
		counter->base = c->amount;
		break;
	case '+':
		counter->base += c->amount;
		break;
	case '~':
		counter->rate = c->amount;
		break;
	case '0':
		counter->zero = c->amount;
		break;
	case '-':
		counter->gone = c->amount;
		break;
	case '!':
		all_of->fails = c->amount;
		break;
	}
}

static void take_step(struct lab_nic *nic)
{
	struct step *step = list_first_entry_or_null(&nic->script.steps, struct step, node);

	if (!step)
		return;
	counters_lock();
	counters_rebase(&nic->hw);
	counters_rebase(&nic->eth);
	for (int i = 0; i < step->n; i++)
		apply(nic, &step->changes[i]);
	counters_unlock();
	list_del(&step->node);
	kfree(step);
}

static void step_all(struct lab_nic *beating)
{
	struct lab_nic *nic;

	list_for_each_entry(nic, &all, script.nics) take_step(nic);
	n_steps++;
	stepped = ktime_get_ns();
	sysfs_notify(&beating->pci->dev.kobj, "lab", "step");
}

void script_beat(struct lab_nic *nic)
{
	if (!nic->beats)
		return;
	mutex_lock(&all_lock);
	if (ktime_get_ns() - stepped >= APART_NS)
		step_all(nic);
	mutex_unlock(&all_lock);
}

void script_init(struct lab_nic *nic)
{
	INIT_LIST_HEAD(&nic->script.steps);
	mutex_lock(&all_lock);
	list_add_tail(&nic->script.nics, &all);
	mutex_unlock(&all_lock);
}

void script_done(struct lab_nic *nic)
{
	struct step *step, *next;

	mutex_lock(&all_lock);
	list_del(&nic->script.nics);
	list_for_each_entry_safe(step, next, &nic->script.steps, node) kfree(step);
	mutex_unlock(&all_lock);
}

/* --- writing it ------------------------------------------------------------------------------- */

static int parse(const struct lab_nic *nic, const char *line, struct change *ret)
{
	char kind[4], name[COUNTER_NAME_MAX], op;
	unsigned long long amount;

	if (sscanf(line, "%3s %39s %c %llu", kind, name, &op, &amount) != 4 ||
	    !strchr("=+~0-!", op))
		return -EINVAL;
	ret->hw = strcmp(kind, "hw") == 0;
	ret->op = op;
	ret->amount = amount;
	/* ethtool cannot fail, and RDMA's core never changes its list of names. */
	if (op == (ret->hw ? '-' : '!'))
		return -EINVAL;
	ret->counter = op == '!' ? 0 : counters_find(ret->hw ? &nic->hw : &nic->eth, name);
	return min(ret->counter, 0);
}

static int fill(const struct lab_nic *nic, struct step *step, char *text)
{
	char *line;
	int r = 0;

	while (r == 0 && (line = strsep(&text, "\n"))) {
		if (!*line)
			continue;
		r = parse(nic, line, &step->changes[step->n++]);
	}
	return r;
}

static int count_lines(const char *text)
{
	int n = 1;

	for (; *text; text++)
		n += *text == '\n';
	return n;
}

static ssize_t script_store(struct device *dev, struct device_attribute *attr, const char *text,
			    size_t n)
{
	struct lab_nic *nic = dev_get_drvdata(dev);
	char *copy = kstrndup(text, n, GFP_KERNEL);
	struct step *step = copy ? kzalloc(struct_size(step, changes, count_lines(copy)),
					   GFP_KERNEL)
				 : NULL;
	int r = step ? fill(nic, step, copy) : -ENOMEM;

	kfree(copy);
	if (r < 0) {
		kfree(step);
		return r;
	}
	mutex_lock(&all_lock);
	list_add_tail(&step->node, &nic->script.steps);
	mutex_unlock(&all_lock);
	return n;
}

static DEVICE_ATTR_WO(script);

static ssize_t beat_store(struct device *dev, struct device_attribute *attr, const char *text,
			  size_t n)
{
	struct lab_nic *nic = dev_get_drvdata(dev);

	return kstrtobool(text, &nic->beats) ?: n;
}

static DEVICE_ATTR_WO(beat);

static ssize_t step_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%d\n", READ_ONCE(n_steps));
}

static DEVICE_ATTR_RO(step);

static struct attribute *attributes[] = {&dev_attr_script.attr, &dev_attr_beat.attr,
					 &dev_attr_step.attr, NULL};
const struct attribute_group script_group = {.name = "lab", .attrs = attributes};

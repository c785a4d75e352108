/* chardev.c - character devices of RDMA devices from their classes in sysfs.
 *
 * Each class device has a file `ibdev` with the RDMA device's name and, for umad and issm, a file
 * `port`: linux/drivers/infiniband/core/{uverbs_main,user_mad}.c. RDMA netlink's GET_CHARDEV says
 * the same, but it loads a kernel module where a device has no such client, which a look must not.
 */
#include "chardev.h"

#include "array.h"
#include "sysfs.h"

enum chardev_kind { CHARDEV_UVERBS, CHARDEV_UMAD, CHARDEV_ISSM, CHARDEV_UCM };

struct chardev {
	char rdma[RDMA_NAME_SIZE];
	char name[CHARDEV_NAME_SIZE];
	uint32_t port;
	enum chardev_kind kind;
};

static bool kind_of(const char *name, enum chardev_kind *ret)
{
	static const char *const prefixes[] = {[CHARDEV_UVERBS] = "uverbs",
					       [CHARDEV_UMAD] = "umad",
					       [CHARDEV_ISSM] = "issm",
					       [CHARDEV_UCM] = "ucm"};

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		size_t n = strlen(prefixes[i]);

		if (strncmp(name, prefixes[i], n) == 0 && name[n] >= '0' && name[n] <= '9') {
			*ret = (enum chardev_kind)i;
			return true;
		}
	}
	return false;
}

static int on_chardev(int class_dir, const char *name, void *arg)
{
	struct chardev_table *t = arg;
	struct chardev c = {0}, *new;

	if (strlen(name) >= sizeof(c.name) || !kind_of(name, &c.kind) ||
	    sysfs_str(class_dir, c.rdma, sizeof(c.rdma), "%s/ibdev", name) <= 0)
		return 0;
	memcpy(c.name, name, strlen(name) + 1);
	if (c.kind == CHARDEV_UMAD || c.kind == CHARDEV_ISSM)
		sysfs_u32(class_dir, &c.port, "%s/port", name);
	new = array_push(t->items, t->n);
	if (!new)
		return -ENOMEM;
	*new = c;
	return 0;
}

static int cmp_chardev(const void *pa, const void *pb)
{
	const struct chardev *a = pa, *b = pb;
	int r = strcmp(a->rdma, b->rdma);

	if (r == 0)
		r = (a->port > b->port) - (a->port < b->port);
	return r ? r : natural_cmp(a->name, b->name);
}

int chardevs_read(const struct hw *hw, struct chardev_table *ret)
{
	static const char *const classes[] = {"class/infiniband_verbs", "class/infiniband_mad",
					      "class/infiniband_cm"};

	*ret = (struct chardev_table){0};
	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
		if (sysfs_list(hw->sys_fd, classes[i], on_chardev, ret) == -ENOMEM) {
			chardevs_done(ret);
			return -ENOMEM;
		}
	if (ret->n)
		qsort(ret->items, ret->n, sizeof(*ret->items), cmp_chardev);
	return 0;
}

void chardevs_done(struct chardev_table *t)
{
	free(t->items);
	*t = (struct chardev_table){0};
}

/* First item of that RDMA device, or where it would stand. */
static size_t first_of(const struct chardev_table *t, const char *rdma)
{
	size_t low = 0, high = t->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (strcmp(t->items[mid].rdma, rdma) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static char *slot(struct rdma_dev *d, enum chardev_kind kind)
{
	switch (kind) {
	case CHARDEV_UVERBS:
		return d->uverbs;
	case CHARDEV_UMAD:
		return d->umad;
	case CHARDEV_ISSM:
		return d->issm;
	case CHARDEV_UCM:
		return d->ucm;
	}
	return NULL;
}

void chardevs_assign(const struct chardev_table *t, struct rdma_dev *d)
{
	for (size_t i = first_of(t, d->name); i < t->n && !strcmp(t->items[i].rdma, d->name); i++) {
		char *name = slot(d, t->items[i].kind);

		if (name && !name[0])
			memcpy(name, t->items[i].name, sizeof(t->items[i].name));
	}
}

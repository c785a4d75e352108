/* vdpa.c - see vdpa.h. A host without such devices has no such bus, which costs one open. */
#include "vdpa.h"

#include <string.h>

#include "functions.h"
#include "sysfs.h"

static int on_child(int dir, const char *name, void *arg)
{
	struct function *f = arg;

	(void)dir;
	if (strncmp(name, "vhost-vdpa-", 11) == 0 && strlen(name) < sizeof(f->vdpa_node))
		memcpy(f->vdpa_node, name, strlen(name) + 1);
	return 0;
}

static struct function *find_function(struct host *h, const char *id)
{
	for (size_t i = 0; i < h->n_functions; i++)
		if (strcmp(h->functions[i].id, id) == 0)
			return &h->functions[i];
	return NULL;
}

static int on_vdpa(int bus, const char *name, void *arg)
{
	char target[SYSFS_PATH_MAX], id[DEV_ID_SIZE];
	struct function *f;

	if (sysfs_target(bus, target, sizeof(target), "%s", name) < 0 ||
	    !function_id_from_path(target, id))
		return 0;
	f = find_function(arg, id);
	if (!f || f->vdpa_driver[0])
		return 0;
	sysfs_link(bus, f->vdpa_driver, sizeof(f->vdpa_driver), "%s/driver", name);
	sysfs_list(bus, name, on_child, f);
	return 0;
}

void vdpa_read(const struct hw *hw, struct host *h)
{
	sysfs_list(hw->sys_fd, "bus/vdpa/devices", on_vdpa, h);
}

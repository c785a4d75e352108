// SPDX-License-Identifier: Apache-2.0
/* node_facts.c - reads a few files of sysfs. It cannot use the inventory, whose options may depend
 * on the group. */
#include "node_facts.h"

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cleanup.h"

/* Reads a line without blanks at its end; "" if that fails. */
static void node_facts_line(int dir_fd, const char *path, char *ret, size_t size)
{
	AUTO_FD fd = openat(dir_fd, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t n = fd < 0 ? 0 : read(fd, ret, size - 1);

	ret[n < 0 ? 0 : n] = '\0';
	ret[strcspn(ret, "\n")] = '\0';
	for (size_t len = strlen(ret); len > 0 && ret[len - 1] == ' '; len--)
		ret[len - 1] = '\0';
}

/* Reads "0x15b3" as "15b3"; false: not such a number. */
static bool node_facts_id(int dir_fd, const char *function, const char *file, char ret[5])
{
	char path[NAME_MAX + 16], line[16];

	snprintf(path, sizeof(path), "%s/%s", function, file);
	node_facts_line(dir_fd, path, line, sizeof(line));
	if (strncmp(line, "0x", 2) != 0 || strlen(line) != 6)
		return false;
	memcpy(ret, line + 2, 5);
	return true;
}

/* True for a function of a NIC that is not a VF. PCI base class 02 is network, 0c06 is InfiniBand
 * (pci.ids). */
static bool node_facts_is_nic(int dir_fd, const char *function)
{
	char path[NAME_MAX + 16], class[16];

	snprintf(path, sizeof(path), "%s/class", function);
	node_facts_line(dir_fd, path, class, sizeof(class));
	if (strncmp(class, "0x02", 4) != 0 && strncmp(class, "0x0c06", 6) != 0)
		return false;
	snprintf(path, sizeof(path), "%s/physfn", function);
	return faccessat(dir_fd, path, F_OK, AT_SYMLINK_NOFOLLOW) < 0;
}

static void node_facts_count(struct node_facts *f, const char *id)
{
	size_t i = 0;

	while (i < f->n_models && strcmp(f->models[i].id, id) != 0)
		i++;
	if (i == NODE_MODELS_MAX)
		return;
	if (i == f->n_models) {
		snprintf(f->models[i].id, sizeof(f->models[i].id), "%s", id);
		f->n_models++;
	}
	f->models[i].n++;
}

static void node_facts_nics(struct node_facts *f, const char *sysfs_root)
{
	char path[PATH_MAX], vendor[5], device[5], id[10];
	const struct dirent *entry;
	AUTO_DIR dir = NULL;

	snprintf(path, sizeof(path), "%s/bus/pci/devices", sysfs_root);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		int fd = dirfd(dir);

		if (entry->d_name[0] == '.' || !node_facts_is_nic(fd, entry->d_name) ||
		    !node_facts_id(fd, entry->d_name, "vendor", vendor) ||
		    !node_facts_id(fd, entry->d_name, "device", device))
			continue;
		snprintf(id, sizeof(id), "%s:%s", vendor, device);
		node_facts_count(f, id);
	}
}

void node_facts_read(struct node_facts *ret, const char *sysfs_root)
{
	const char *name = getenv("NODE_NAME");
	char path[PATH_MAX];

	memset(ret, 0, sizeof(*ret));
	if (name && *name)
		snprintf(ret->node, sizeof(ret->node), "%s", name);
	else
		gethostname(ret->node, sizeof(ret->node) - 1);
	snprintf(path, sizeof(path), "%s/class/dmi/id/product_name", sysfs_root);
	node_facts_line(AT_FDCWD, path, ret->product, sizeof(ret->product));
	node_facts_nics(ret, sysfs_root);
}

void node_facts_text(const struct node_facts *f, char ret[NODE_FACTS_TEXT])
{
	size_t len = (size_t)snprintf(ret, NODE_FACTS_TEXT, "node %s, product %s", f->node,
				      f->product[0] ? f->product : "unknown");

	for (size_t i = 0; i < f->n_models && len < NODE_FACTS_TEXT; i++)
		len += (size_t)snprintf(ret + len, NODE_FACTS_TEXT - len, ", %u x %s",
					f->models[i].n, f->models[i].id);
}

// SPDX-License-Identifier: Apache-2.0
/* functions.c - reads functions from the PCI and auxiliary buses, or, in trees without bus/, from
 * the `device` links in class/net and class/infiniband.
 *
 * VF numbers are only in the PF's virtfnN links, so they are filled in after all functions are
 * known; the same walk finds the VFs in a tree without bus/. */
#include "functions.h"

#include <ctype.h>
#include <string.h>

#include "array.h"
#include "cleanup.h"
#include "search.h"
#include "sysfs.h"

/* PCI class codes, linux/include/linux/pci_ids.h. */
#define CLASS_BASE(c)	      ((c) >> 16)
#define BASE_NETWORK	      0x02 /* includes 0x0207, InfiniBand controller */
#define BASE_ACCELERATOR      0x12
#define CLASS_SUB(c)	      ((c) >> 8)
#define SUB_SERIAL_INFINIBAND 0x0c06

bool function_id_from_path(const char *path, char ret[DEV_ID_SIZE])
{
	const char *end = path + strlen(path);

	while (end > path) {
		const char *start = end;
		char part[DEV_ID_SIZE];

		while (start > path && start[-1] != '/')
			start--;
		if ((size_t)(end - start) < sizeof(part)) {
			memcpy(part, start, (size_t)(end - start));
			part[end - start] = '\0';
			if (is_function_id(part)) {
				memcpy(ret, part, sizeof(part));
				return true;
			}
		}
		end = start > path ? start - 1 : path;
	}
	return false;
}

/* Returns the last root complex in `path` before `at`: "pci0000:00" of
 * "../../../devices/platform/pci0000:00/0000:00:01.0/..."; NULL = none. */
static const char *root_complex(const char *path, const char *at)
{
	for (const char *p = strstr(path, "/pci"); p && p < at; p = strstr(p + 1, "/pci"))
		if (isxdigit((unsigned char)p[4]))
			return p + 1;
	return NULL;
}

bool function_path(const char *path, const char *id, char ret[PCI_PATH_SIZE])
{
	const char *at = strstr(path, id), *root;
	size_t n = strlen(id);

	/* The match must be a whole component: one id may be the end of another. */
	while (at && (at == path || at[-1] != '/' || (at[n] && at[n] != '/')))
		at = strstr(at + 1, id);
	root = at ? root_complex(path, at) : NULL;
	if (!root || (size_t)(at - root) > PCI_PATH_SIZE)
		return false;
	memcpy(ret, root, (size_t)(at - root) - 1);
	ret[at - root - 1] = '\0';
	return true;
}

/* --- one function ------------------------------------------------------------------------- */

/* A link "virtfn3" of a PF, and its target. */
struct virtfn {
	char id[DEV_ID_SIZE];
	char pf[DEV_ID_SIZE];
	int index;
};

struct walk {
	struct host *h;
	struct virtfn *links;
	size_t n_links;
};

struct pf_entries {
	struct walk *w;
	const char *pf;
	unsigned n_vfs;
};

static int functions_on_pf_entry(int dir, const char *name, void *arg)
{
	struct pf_entries *p = arg;
	struct virtfn link = {0}, *new;
	int r = strncmp(name, "virtfn", 6) == 0 ? parse_int(name + 6, &link.index) : -EINVAL;

	if (r < 0 || link.index < 0 || sysfs_link(dir, link.id, sizeof(link.id), "%s", name) < 0)
		return 0;
	snprintf(link.pf, sizeof(link.pf), "%s", p->pf);
	new = array_push(p->w->links, p->w->n_links);
	if (!new)
		return -ENOMEM;
	*new = link;
	p->n_vfs++;
	return 0;
}

/* Reads the driver's name. One that is too long is truncated, because "" would mean unbound. */
static void read_driver(int dir, struct function *f)
{
	char name[64]; /* MODULE_NAME_LEN, linux/include/linux/module.h */

	if (sysfs_link(dir, name, sizeof(name), "driver") == 0)
		snprintf(f->driver, sizeof(f->driver), "%.31s", name);
}

static void read_ids(int dir, struct function *f)
{
	uint32_t v;

	if (sysfs_u32(dir, &v, "vendor") == 0)
		f->vendor = (uint16_t)v;
	if (sysfs_u32(dir, &v, "device") == 0)
		f->device = (uint16_t)v;
	f->numa = -1;
	sysfs_int(dir, &f->numa, "numa_node");
	read_driver(dir, f);
}

/* Sets the vfio node: /dev/vfio/N of an IOMMU group, /dev/vfio/noiommu-N without IOMMU
 * (linux/drivers/vfio/group.c). Variants of vfio-pci: "mlx5_vfio_pci", "hisi-acc-vfio-pci". */
static void read_vfio(int dir, struct function *f)
{
	char group[16], name[16] = "";

	if (sysfs_link(dir, group, sizeof(group), "iommu_group") < 0)
		return;
	sysfs_str(dir, name, sizeof(name), "iommu_group/name");
	snprintf(f->vfio, sizeof(f->vfio), "vfio/%s%s",
		 strcmp(name, "vfio-noiommu") == 0 ? "noiommu-" : "", group);
}

static int on_uio(int dir, const char *name, void *arg)
{
	struct function *f = arg;

	(void)dir;
	if (strncmp(name, "uio", 3) == 0 && strlen(name) < sizeof(f->uio))
		memcpy(f->uio, name, strlen(name) + 1);
	return 0;
}

/* Sets the vfio and uio nodes. Only user-space drivers create them; functions with other drivers
 * are skipped. */
static void read_user_space(int dir, struct function *f)
{
	if (strstr(f->driver, "vfio"))
		read_vfio(dir, f);
	else if (strstr(f->driver, "uio"))
		sysfs_list(dir, "uio", on_uio, f);
}

static int functions_read_pf(struct walk *w, int dir, struct function *f)
{
	struct pf_entries p = {w, f->id, 0};
	int r = 0;

	sysfs_u32(dir, &f->acpi_index, "acpi_index");

	/* VFs are counted by their links, because reading sriov_numvfs blocks while another process
	 * writes it (sriov_numvfs_show(), linux/drivers/pci/iov.c), which can take seconds. */
	f->sriov = sysfs_u32(dir, &f->vfs_total, "sriov_totalvfs") == 0;
	if (f->sriov)
		r = sysfs_list(dir, ".", functions_on_pf_entry, &p);
	f->vfs = p.n_vfs;
	return r == -ENOMEM ? r : 0;
}

static uint32_t read_class(int dir)
{
	uint32_t class = 0;

	sysfs_u32(dir, &class, "class");
	return class;
}

/* Gets the parent function from the path of the function `id`. */
static bool parent_from_path(const char *path, const char *id, char ret[DEV_ID_SIZE])
{
	char above[SYSFS_PATH_MAX];
	const char *at = strstr(path, id);

	snprintf(above, sizeof(above), "%.*s", at ? (int)(at - path) : 0, path);
	return function_id_from_path(above, ret);
}

static struct function *function_add(struct walk *w, const char *id, enum fn_kind kind)
{
	struct function *f = array_push(w->h->functions, w->h->n_functions);

	if (!f)
		return NULL;
	*f = (struct function){.kind = kind, .vf = -1, .sfnum = -1, .numa = -1};
	snprintf(f->id, sizeof(f->id), "%s", id);
	return f;
}

static int functions_add_pci(struct walk *w, int dir, const char *id, const char *target)
{
	struct function *f = function_add(w, id, FN_PF);

	if (!f)
		return -ENOMEM;
	f->class = read_class(dir);
	function_path(target, id, f->path);
	read_ids(dir, f);
	read_user_space(dir, f);
	if (sysfs_link(dir, f->parent, sizeof(f->parent), "physfn") < 0)
		return functions_read_pf(w, dir, f);
	f->kind = FN_VF;
	return 0;
}

/* Adds a sub-function. Its number is chosen by the user and is not the number in the bus name;
 * without an sfnum file it stays unknown. */
static int add_aux(struct walk *w, int dir, const char *id, const char *target)
{
	struct function *f;
	char parent[DEV_ID_SIZE];
	uint32_t sfnum;

	if (!parent_from_path(target, id, parent))
		return 0;
	f = function_add(w, id, FN_SF);
	if (!f)
		return -ENOMEM;
	memcpy(f->parent, parent, sizeof(f->parent));
	function_path(target, id, f->path);
	read_ids(dir, f);
	if (sysfs_u32(dir, &sfnum, "sfnum") == 0 && sfnum <= INT32_MAX)
		f->sfnum = (int)sfnum;
	return 0;
}

static bool is_our_class(uint32_t class)
{
	return CLASS_BASE(class) == BASE_NETWORK || CLASS_SUB(class) == SUB_SERIAL_INFINIBAND ||
	       CLASS_BASE(class) == BASE_ACCELERATOR;
}

static bool has_children(int dir)
{
	return sysfs_exists(dir, "net") || sysfs_exists(dir, "infiniband");
}

/* --- walks ------------------------------------------------------------------------------------ */

bool is_function(int dir)
{
	return is_our_class(read_class(dir)) || has_children(dir);
}

bool function_sleeps(int dir)
{
	char status[32];

	return sysfs_str(dir, status, sizeof(status), "power/runtime_status") > 0 &&
	       strncmp(status, "suspend", 7) == 0;
}

static int functions_on_pci(int bus, const char *name, void *arg)
{
	char target[SYSFS_PATH_MAX] = "";
	struct pci_addr a;
	AUTO_FD dir = pci_addr_parse(name, &a) ? sysfs_open_dir(bus, "%s", name) : -1;

	if (dir < 0 || !is_function(dir))
		return 0;
	sysfs_target(bus, target, sizeof(target), "%s", name);
	return functions_add_pci(arg, dir, name, target);
}

static int on_aux(int bus, const char *name, void *arg)
{
	char target[SYSFS_PATH_MAX];
	AUTO_FD dir = strlen(name) < DEV_ID_SIZE ? sysfs_open_dir(bus, "%s", name) : -1;

	if (dir < 0 || !(sysfs_exists(dir, "sfnum") || has_children(dir)) ||
	    sysfs_target(bus, target, sizeof(target), "%s", name) < 0)
		return 0;
	return add_aux(arg, dir, name, target);
}

static bool functions_is_known(const struct walk *w, const char *id)
{
	return host_function(w->h, id) != NULL;
}

/* Adds the function of a class device, for trees without bus/: the link `device` points to the
 * function. */
static int functions_on_class_device(int class_dir, const char *name, void *arg)
{
	struct walk *w = arg;
	char id[DEV_ID_SIZE], target[SYSFS_PATH_MAX] = "";
	struct pci_addr a;
	AUTO_FD dir = -1;

	if (sysfs_link(class_dir, id, sizeof(id), "%s/device", name) < 0 || !is_function_id(id) ||
	    functions_is_known(w, id))
		return 0;
	dir = sysfs_open_dir(class_dir, "%s/device", name);
	if (dir < 0)
		return 0;
	sysfs_target(class_dir, target, sizeof(target), "%s", name);
	return pci_addr_parse(id, &a) ? functions_add_pci(w, dir, id, target)
				      : add_aux(w, dir, id, target);
}

/* --- VF numbers --------------------------------------------------------------------------- */

static int cmp_link(const void *a, const void *b)
{
	return strcmp(((const struct virtfn *)a)->id, ((const struct virtfn *)b)->id);
}

static void number_vfs(struct walk *w)
{
	if (w->n_links)
		qsort(w->links, w->n_links, sizeof(*w->links), cmp_link);
	for (size_t i = 0; i < w->h->n_functions && w->n_links; i++) {
		struct function *f = &w->h->functions[i];
		struct virtfn key = {0}, *link;

		memcpy(key.id, f->id, sizeof(key.id));
		link = bsearch(&key, w->links, w->n_links, sizeof(key), cmp_link);
		if (!link)
			continue;
		/* The kernel creates the PF's link before the VF's own (pci_iov_sysfs_link()), so a
		 * function with a PF's link is a VF. */
		if (f->kind == FN_PF) {
			f->kind = FN_VF;
			memcpy(f->parent, link->pf, sizeof(f->parent));
		}
		if (f->kind == FN_VF && strcmp(link->pf, f->parent) == 0)
			f->vf = link->index;
	}
}

/* Reads the buses, or the classes if there is no PCI bus. It is normal that the auxiliary bus or
 * one of the classes is missing (no RDMA); it is an error if both classes are missing. */
static int functions_walk_all(const struct hw *hw, struct walk *w)
{
	int r = sysfs_list(hw->sys_fd, "bus/pci/devices", functions_on_pci, w), r2;

	if (r >= 0) {
		r2 = sysfs_list(hw->sys_fd, "bus/auxiliary/devices", on_aux, w);
		return r2 == -ENOMEM ? r2 : 0;
	}
	if (r == -ENOMEM)
		return r;
	r = sysfs_list(hw->sys_fd, "class/net", functions_on_class_device, w);
	r2 = sysfs_list(hw->sys_fd, "class/infiniband", functions_on_class_device, w);
	if (r == -ENOMEM || r2 == -ENOMEM)
		return -ENOMEM;
	return r < 0 && r2 < 0 ? r : 0;
}

int functions_read(const struct hw *hw, struct host *h, struct err *e)
{
	struct walk w = {.h = h};
	int r = functions_walk_all(hw, &w);

	number_vfs(&w);
	free(w.links);
	vdpa_read(hw, h);
	return r < 0 ? err_set(e, r, "sysfs: listing devices: %s", strerror(-r)) : 0;
}

/* --- vDPA ------------------------------------------------------------------------------------- */

static int on_child(int dir, const char *name, void *arg)
{
	struct function *f = arg;

	(void)dir;
	if (strncmp(name, "vhost-vdpa-", 11) == 0 && strlen(name) < sizeof(f->vdpa_node))
		memcpy(f->vdpa_node, name, strlen(name) + 1);
	return 0;
}

static struct function *functions_find_function(struct host *h, const char *id)
{
	return find_first(h->functions, h->n_functions, i, strcmp(h->functions[i].id, id) == 0);
}

static int on_vdpa(int bus, const char *name, void *arg)
{
	char target[SYSFS_PATH_MAX], id[DEV_ID_SIZE];
	struct function *f;

	if (sysfs_target(bus, target, sizeof(target), "%s", name) < 0 ||
	    !function_id_from_path(target, id))
		return 0;
	f = functions_find_function(arg, id);
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

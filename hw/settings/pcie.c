// SPDX-License-Identifier: Apache-2.0
/* pcie.c - reads the PCIe links between a function and its root port.
 *
 * The lower end of a link is a function or the upstream port of a switch, its upper end a root port
 * or a downstream port of a switch; the two ports of a switch are connected internally. So the
 * number of bridges above a function is odd, and of the pairs of neighbours on the path, every
 * second one is a link. */
#include "pcie.h"

#include <errno.h>
#include <string.h>

#include "cleanup.h"
#include "functions.h"
#include "sysfs.h"

#define LANES_MAX 32

/* --- one link --------------------------------------------------------------------------------- */

static int read_speed(int dir, const char *file, uint32_t *ret)
{
	char text[64];
	int r = sysfs_str(dir, text, sizeof(text), "%s", file);

	return r < 0 ? r : parse_link_speed(text, ret);
}

/* Reads a link width. A link that is down has width 0; a device without the capability shows 255.
 */
static int read_width(int dir, const char *file, uint8_t *ret)
{
	uint32_t lanes = 0;
	int r = sysfs_u32(dir, &lanes, "%s", file);

	if (r < 0)
		return r;
	if (lanes == 0 || lanes > LANES_MAX)
		return -ERANGE;
	*ret = (uint8_t)lanes;
	return 0;
}

/* Reads the current link and this end's own maximum. */
static bool read_end(const struct hw *hw, const char *id, struct pcie_link *ret)
{
	AUTO_FD dir = sysfs_open_dir(hw->sys_fd, "bus/pci/devices/%s", id);

	return dir >= 0 && !function_sleeps(dir) &&
	       read_speed(dir, "current_link_speed", &ret->mt_s) == 0 &&
	       read_speed(dir, "max_link_speed", &ret->max_mt_s) == 0 &&
	       read_width(dir, "current_link_width", &ret->width) == 0 &&
	       read_width(dir, "max_link_width", &ret->max_width) == 0;
}

/* Pure: combines what two devices report into one link: its current state, and the maximum that
 * both support. False, *ret untouched: their reports do not match. */
static bool pcie_join(const struct pcie_link *lower, const struct pcie_link *upper,
		      struct pcie_link *ret)
{
	if (lower->mt_s != upper->mt_s || lower->width != upper->width)
		return false;
	*ret = *lower;
	if (upper->max_mt_s < ret->max_mt_s)
		ret->max_mt_s = upper->max_mt_s;
	if (upper->max_width < ret->max_width)
		ret->max_width = upper->max_width;
	return true;
}

static bool pcie_read_link(const struct hw *hw, const char *lower, const char *upper,
			   struct pcie_link *ret)
{
	struct pcie_link low = {0}, up = {0};

	return read_end(hw, lower, &low) && read_end(hw, upper, &up) && pcie_join(&low, &up, ret);
}

/* --- path to the root ------------------------------------------------------------------------- */

/* Removes the last bus name from a function's path; false if it is not a device, but the root
 * complex, or if the path is empty. */
static bool take_last_function(char *path, char ret[DEV_ID_SIZE])
{
	char *slash = strrchr(path, '/');
	struct pci_addr a;

	if (!slash || strlen(slash + 1) >= DEV_ID_SIZE || !pci_addr_parse(slash + 1, &a))
		return false;
	memcpy(ret, slash + 1, strlen(slash + 1) + 1);
	*slash = '\0';
	return true;
}

static bool has_odd_bridges(const struct function *f)
{
	char path[PCI_PATH_SIZE], bridge[DEV_ID_SIZE];
	bool odd = false;

	memcpy(path, f->path, sizeof(path));
	while (take_last_function(path, bridge))
		odd = !odd;
	return odd;
}

static uint32_t bandwidth(const struct pcie_link *l)
{
	return l->mt_s * l->width;
}

static bool is_below_maximum(const struct pcie_link *l)
{
	return l->mt_s < l->max_mt_s || l->width < l->max_width;
}

static void note_slow_link(const char *bridge, const struct pcie_link *l, struct port_settings *ret)
{
	if (!is_below_maximum(l) ||
	    (ret->segment[0] && bandwidth(l) >= bandwidth(&ret->segment_link)))
		return;
	memcpy(ret->segment, bridge, strlen(bridge) + 1);
	ret->segment_link = *l;
}

void pcie_read(const struct hw *hw, const struct function *f, struct port_settings *ret)
{
	char path[PCI_PATH_SIZE], lower[DEV_ID_SIZE], upper[DEV_ID_SIZE];
	struct pcie_link link;
	bool whole = true;

	if (!has_odd_bridges(f))
		return;
	memcpy(path, f->path, sizeof(path));
	take_last_function(path, upper);
	if (pcie_read_link(hw, f->id, upper, &ret->pcie))
		ret->seen |= SETTINGS_PCIE;
	while (take_last_function(path, lower) && take_last_function(path, upper)) {
		if (pcie_read_link(hw, lower, upper, &link))
			note_slow_link(upper, &link, ret);
		else
			whole = false;
	}
	if (whole || ret->segment[0])
		ret->seen |= SETTINGS_PCIE_SEGMENT;
}

// SPDX-License-Identifier: Apache-2.0
/* reports.c - reads the reports about functions.
 *
 * Success: for every function on the PCI bus that we list and that is not a VF, read its ids; if it
 * has VFs, query its netdev for them; then one devlink dump. Errors: no netlink (a copied tree, a
 * kernel without devlink: no reports), a device that is removed meanwhile. */

#include <fcntl.h>
#include <linux/netlink.h>
#include <string.h>
#include <unistd.h>

#include "array.h"
#include "cleanup.h"
#include "functions.h"
#include "genl.h"
#include "nlsock.h"
#include "rtnl_vf.h"
#include "scan.h"
#include "sysfs.h"

struct reading {
	struct host *h;
	struct nlsock route; /* closed if netlink must not be used */
	struct err *e;
};

static struct report *report_add(struct host *h, const char *function, int vf)
{
	struct report *r = array_push(h->reports, h->n_reports);

	if (!r)
		return NULL;
	r->vf = vf;
	snprintf(r->function, sizeof(r->function), "%s", function);
	return r;
}

/* --- configuration space ---------------------------------------------------------------------- */

/* True if the configuration space reads all ones. Vendor and device id are the first four bytes;
 * 0xffff is not a valid vendor. */
static bool reads_all_ones(int dir)
{
	AUTO_FD fd = openat(dir, "config",
			    O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW);
	uint32_t ids = 0;

	return fd >= 0 && read(fd, &ids, sizeof(ids)) == sizeof(ids) && ids == UINT32_MAX;
}

static int read_bus(int dir, const char *id, struct reading *rd)
{
	struct report *r;

	if (function_sleeps(dir) || !reads_all_ones(dir))
		return 0;
	r = report_add(rd->h, id, -1);
	if (!r)
		return -ENOMEM;
	r->unreachable = true;
	return 0;
}

/* --- link states of VFs ------------------------------------------------------------------- */

struct pf {
	struct reading *rd;
	const char *id;
	int n_vfs; /* number reported by one of its netdevs, or negative errno */
};

static int on_vf(int vf, enum vf_link link, uint64_t settings, void *arg)
{
	const struct pf *pf = arg;
	struct report *r = report_add(pf->rd->h, pf->id, vf);

	if (!r)
		return -ENOMEM;
	r->vf_link = link;
	r->vf_settings = settings;
	return 0;
}

static int reports_on_link(const struct nlmsghdr *h, void *arg)
{
	struct pf *pf = arg;

	pf->n_vfs = rtnl_decode_vfs(h, on_vf, pf);
	return pf->n_vfs == -ENOMEM ? -ENOMEM : 0;
}

/* True if the netdev is a representor of a VF or SF, "pf0vf3", which reports no VFs. The uplink's
 * port name, if any, is "p0". */
static bool reports_is_representor(int net, const char *name)
{
	char port[16];

	return sysfs_str(net, port, sizeof(port), "%s/phys_port_name", name) > 0 &&
	       strstr(port, "pf");
}

static int on_pf_netdev(int net, const char *name, void *arg)
{
	struct pf *pf = arg;
	int ifindex, r;

	if (pf->n_vfs > 0 || reports_is_representor(net, name) ||
	    sysfs_int(net, &ifindex, "%s/ifindex", name) < 0)
		return 0;
	r = nlsock_query(&pf->rd->route, rtnl_get_vfs(ifindex), reports_on_link, pf, pf->rd->e);
	if (err_is_not_found(r) && pf->rd->e) /* index changed or removed meanwhile */
		*pf->rd->e = (struct err){0};
	/* Transient errors, such as a device in reset, make the scan fail, so that earlier reports
	 * stay valid. */
	return r == -ENOMEM || err_is_transient(r) ? r : 0;
}

static int read_vfs(int dir, const char *id, struct reading *rd)
{
	struct pf pf = {rd, id, 0};
	int r = 0;

	if (rd->route.fd >= 0 && sysfs_exists(dir, "virtfn0"))
		r = sysfs_list(dir, "net", on_pf_netdev, &pf);
	return r == -ENOMEM || err_is_transient(r) ? r : 0;
}

static int reports_on_pci(int bus, const char *name, void *arg)
{
	struct pci_addr a;
	AUTO_FD dir = -1;
	int r;

	/* Skip VFs with one look-up: they are most functions of a full host. */
	if (!pci_addr_parse(name, &a) || sysfs_exists(bus, "%s/physfn", name))
		return 0;
	dir = sysfs_open_dir(bus, "%s", name);
	if (dir < 0 || !is_function(dir))
		return 0;
	r = read_bus(dir, name, arg);
	return r < 0 ? r : read_vfs(dir, name, arg);
}

static int read_pfs(const struct hw *hw, struct host *h, struct err problem[N_SCAN_SOURCES])
{
	struct reading rd = {h, NLSOCK_CLOSED, problem_slot(problem, SRC_RTNETLINK)};
	int r;

	if (hw->live)
		nlsock_open(&rd.route, NETLINK_ROUTE, rd.e);
	r = sysfs_list(hw->sys_fd, "bus/pci/devices", reports_on_pci, &rd);
	nlsock_close(&rd.route);
	return r == -ENOMEM || err_is_transient(r) ? r : 0;
}

/* --- devlink ------------------------------------------------------------------------------ */

struct dump {
	struct host *h;
	uint16_t family;
};

static int on_reporter(const struct nlmsghdr *h, void *arg)
{
	const struct dump *d = arg;
	struct devlink_reporter reporter;
	struct report *r;

	if (devlink_decode_reporter(h, d->family, &reporter) < 0 || !reporter.error ||
	    !reporter.function[0])
		return 0;
	r = report_add(d->h, reporter.function, -1);
	if (!r)
		return -ENOMEM;
	/* An error without a reporter name is reported, too. */
	snprintf(r->devlink_error, sizeof(r->devlink_error), "%s",
		 reporter.name[0] ? reporter.name : "error");
	return 0;
}

static int read_devlink(struct host *h, struct err *e)
{
	struct dump d = {.h = h};
	struct nl_msg *req = NULL;
	struct nlsock s;
	int r = nlsock_open(&s, NETLINK_GENERIC, NULL);

	if (r < 0)
		return 0;
	d.family = nlsock_family(&s, DEVLINK_FAMILY);
	if (d.family)
		req = devlink_dump_reporters(d.family);
	if (req)
		r = nlsock_call(&s, req, on_reporter, &d, e);
	nlmsg_free(req);
	nlsock_close(&s);
	/* -EOPNOTSUPP: no reporters in this kernel. -EAGAIN: keep the reports received. */
	if ((r == -EOPNOTSUPP || r == -EAGAIN) && e)
		*e = (struct err){0};
	return r == -ENOMEM || (err_is_transient(r) && r != -EAGAIN) ? r : 0;
}

int reports_read(const struct hw *hw, struct host *h, struct err problem[N_SCAN_SOURCES])
{
	int r = read_pfs(hw, h, problem);

	return r < 0 || !hw->live ? r : read_devlink(h, problem_slot(problem, SRC_DEVLINK));
}

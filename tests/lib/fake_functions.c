// SPDX-License-Identifier: Apache-2.0
#include "fake_functions.h"

#include <linux/sockios.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cleanup.h"
#include "fake_netlink.h"
#include "function_files.h"
#include "netdev_ops.h"
#include "netns.h"
#include "rdma_netlink.h"
#include "rdma_ops.h"

#define FUNCTIONS_MAX 8

static struct {
	char function[DEV_ID_SIZE], altname[ALTNAME_SIZE];
} functions[FUNCTIONS_MAX];
static size_t n_functions;

void (*fake_meanwhile)(const struct netdev_seen *);
struct fake_driver *fake_driver;
struct fake_pf *fake_pf;
struct fake_rdma *fake_rdma;

void fake_function(const char *function, const char *altname)
{
	snprintf(functions[n_functions].function, DEV_ID_SIZE, "%s", function);
	snprintf(functions[n_functions++].altname, ALTNAME_SIZE, "%s", altname);
}

void fake_functions_end(void)
{
	n_functions = 0;
	fake_meanwhile = NULL;
	fake_driver = NULL;
	fake_pf = NULL;
	fake_rdma = NULL;
}

/* --- netdevs ---------------------------------------------------------------------------------- */

int __real_netdev_by_function(struct nlsock *, const char *, int, struct netdev_seen *,
			      struct err *);
int __wrap_netdev_by_function(struct nlsock *, const char *, int, struct netdev_seen *,
			      struct err *);

static void set_perm_addr(const char *function, struct netdev_seen *seen)
{
	if (!fake_pf || strcmp(function, fake_pf->function) != 0)
		return;
	memcpy(seen->perm_addr, fake_pf->mac, sizeof(fake_pf->mac));
	seen->perm_addr_len = sizeof(fake_pf->mac);
}

static int found(const char *function, struct netdev_seen *seen, int r)
{
	void (*meanwhile)(const struct netdev_seen *) = fake_meanwhile;

	if (r == 0)
		set_perm_addr(function, seen);
	if (r < 0 || !meanwhile)
		return r;
	fake_meanwhile = NULL;
	meanwhile(seen);
	return r;
}

int __wrap_netdev_by_function(struct nlsock *s, const char *function, int guess,
			      struct netdev_seen *ret, struct err *e)
{
	for (size_t i = 0; i < n_functions; i++)
		if (strcmp(functions[i].function, function) == 0)
			return found(function, ret,
				     netdev_by_name(s, functions[i].altname, ret, e));
	return __real_netdev_by_function(s, function, guess, ret, e);
}

/* --- drivers ---------------------------------------------------------------------------------- */

int __real_function_unbind(const struct hw *, const char *, struct err *);
int __wrap_function_unbind(const struct hw *, const char *, struct err *);
int __real_function_bind(const struct hw *, const char *, struct err *);
int __wrap_function_bind(const struct hw *, const char *, struct err *);

int __wrap_function_unbind(const struct hw *hw, const char *function, struct err *e)
{
	if (!fake_driver)
		return __real_function_unbind(hw, function, e);
	fake_driver->unbind();
	fake_driver->n_unbound++;
	return 0;
}

int __wrap_function_bind(const struct hw *hw, const char *function, struct err *e)
{
	if (!fake_driver)
		return __real_function_bind(hw, function, e);
	fake_driver->bind();
	return 0;
}

static int pf_failed(struct err *e)
{
	int code = fake_pf->failure;

	if (fake_pf->n_failures > 0 && --fake_pf->n_failures == 0)
		fake_pf->failure = 0;
	return err_set(e, code, "the PF is resetting");
}

/* --- settings of VFs -------------------------------------------------------------------------- */

int __real_vf_settings_get(struct nlsock *, int, int, struct vf_settings *, struct err *);
int __wrap_vf_settings_get(struct nlsock *, int, int, struct vf_settings *, struct err *);
int __real_vf_settings_set(struct nlsock *, int, int, const struct vf_settings *, struct err *);
int __wrap_vf_settings_set(struct nlsock *, int, int, const struct vf_settings *, struct err *);

int __wrap_vf_settings_get(struct nlsock *s, int ifindex, int vf, struct vf_settings *ret,
			   struct err *e)
{
	if (!fake_pf)
		return __real_vf_settings_get(s, ifindex, vf, ret, e);
	if (fake_pf->failure)
		return pf_failed(e);
	*ret = fake_pf->vfs[vf];
	return 0;
}

static void copy_fields(struct vf_settings *to, const struct vf_settings *from)
{
	if (from->fields & VF_MAC)
		memcpy(to->mac, from->mac, sizeof(to->mac));
	if (from->fields & VF_VLAN) {
		to->vlan = from->vlan;
		to->vlan_qos = from->vlan_qos;
		to->vlan_proto = from->vlan_proto;
	}
	if (from->fields & VF_SPOOFCHK)
		to->spoofchk = from->spoofchk;
	if (from->fields & VF_TRUST)
		to->trust = from->trust;
	if (from->fields & VF_LINK_STATE)
		to->link_state = from->link_state;
	if (from->fields & VF_MIN_RATE)
		to->min_rate = from->min_rate;
	if (from->fields & VF_MAX_RATE)
		to->max_rate = from->max_rate;
	if (from->fields & VF_NODE_GUID)
		to->node_guid = from->node_guid;
	if (from->fields & VF_PORT_GUID)
		to->port_guid = from->port_guid;
}

int __wrap_vf_settings_set(struct nlsock *s, int ifindex, int vf, const struct vf_settings *want,
			   struct err *e)
{
	if (!fake_pf)
		return __real_vf_settings_set(s, ifindex, vf, want, e);
	if (fake_pf->failure)
		return pf_failed(e);
	if (want->fields & fake_pf->unsupported)
		return err_set(e, -EOPNOTSUPP, "trust: Operation not supported");
	fake_pf->n_set++;
	copy_fields(&fake_pf->vfs[vf], want);
	return 0;
}

/* --- RDMA ------------------------------------------------------------------------------------- */

int __real_nlsock_open(struct nlsock *, int, struct err *);
int __wrap_nlsock_open(struct nlsock *, int, struct err *);
int __real_netns_nlsock(struct nlsock *, int, int, struct err *);
int __wrap_netns_nlsock(struct nlsock *, int, int, struct err *);

/* The fake only needs the socket's namespace, so any protocol will do. */
static int protocol_for(int protocol)
{
	return fake_rdma && protocol == NETLINK_RDMA ? NETLINK_ROUTE : protocol;
}

int __wrap_nlsock_open(struct nlsock *s, int protocol, struct err *e)
{
	return fake_netlink_open(s) ? 0 : __real_nlsock_open(s, protocol_for(protocol), e);
}

int __wrap_netns_nlsock(struct nlsock *s, int netns_fd, int protocol, struct err *e)
{
	return __real_netns_nlsock(s, netns_fd, protocol_for(protocol), e);
}

static ino_t inode(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 ? st.st_ino : 0;
}

ino_t fake_rdma_netns(int socket_fd)
{
	struct stat st;
	AUTO_FD fd = socket_fd < 0 ? -1 : ioctl(socket_fd, SIOCGSKNS);

	if (socket_fd >= 0)
		return inode(fd);
	return stat("/proc/thread-self/ns/net", &st) == 0 ? st.st_ino : 0;
}

int __real_rdma_netlink_mode(struct nlsock *, enum rdma_netns_mode *, struct err *);
int __wrap_rdma_netlink_mode(struct nlsock *, enum rdma_netns_mode *, struct err *);
int __real_rdma_by_name(struct nlsock *, const char *, struct nldev_dev *, struct err *);
int __wrap_rdma_by_name(struct nlsock *, const char *, struct nldev_dev *, struct err *);
int __real_rdma_move(struct nlsock *, uint32_t, int, struct err *);
int __wrap_rdma_move(struct nlsock *, uint32_t, int, struct err *);
int __real_rdma_rename(struct nlsock *, uint32_t, const char *, struct err *);
int __wrap_rdma_rename(struct nlsock *, uint32_t, const char *, struct err *);
int __real_rdma_make_rxe(struct nlsock *, const char *, const char *, struct err *);
int __wrap_rdma_make_rxe(struct nlsock *, const char *, const char *, struct err *);
int __real_rdma_delete(struct nlsock *, uint32_t, struct err *);
int __wrap_rdma_delete(struct nlsock *, uint32_t, struct err *);
int __real_rdma_uverbs(struct nlsock *, uint32_t, struct nldev_chardev *, struct err *);
int __wrap_rdma_uverbs(struct nlsock *, uint32_t, struct nldev_chardev *, struct err *);
int __real_rdma_by_index(struct nlsock *, uint32_t, struct nldev_dev *, struct err *);
int __wrap_rdma_by_index(struct nlsock *, uint32_t, struct nldev_dev *, struct err *);
int __real_rdma_netdev(struct nlsock *, uint32_t, int *, struct err *);
int __wrap_rdma_netdev(struct nlsock *, uint32_t, int *, struct err *);
int __real_rdma_soft_on(struct nlsock *, int, const char *, struct nldev_dev *, struct err *);
int __wrap_rdma_soft_on(struct nlsock *, int, const char *, struct nldev_dev *, struct err *);

int __wrap_rdma_netlink_mode(struct nlsock *s, enum rdma_netns_mode *ret, struct err *e)
{
	if (!fake_rdma)
		return __real_rdma_netlink_mode(s, ret, e);
	*ret = fake_rdma->mode;
	return 0;
}

static uint32_t index_of(uint32_t place)
{
	return 100 * fake_rdma->devices[place].bound + place;
}

static bool is_shown(const struct nlsock *s, uint32_t place)
{
	return fake_rdma->devices[place].netns &&
	       (fake_rdma->mode == RDMA_NETNS_SHARED ||
		fake_rdma->devices[place].netns == fake_rdma_netns(s->fd));
}

/* -ENODEV: no device has that index, or no longer. */
static int place_of(const struct nlsock *s, uint32_t index, struct err *e)
{
	const uint32_t place = index % 100;

	if (place >= ARRAY_SIZE(fake_rdma->devices) || index_of(place) != index ||
	    !is_shown(s, place))
		return err_set(e, -ENODEV, "no RDMA device with index %u in this namespace", index);
	return (int)place;
}

static int fill_dev(uint32_t place, struct nldev_dev *ret)
{
	*ret = (struct nldev_dev){.index = index_of(place), .node_guid = 0xabc0 + index_of(place)};
	memcpy(ret->name, fake_rdma->devices[place].name, RDMA_NAME_SIZE);
	if (fake_rdma->devices[place].dies && --fake_rdma->devices[place].dies == 0)
		fake_rdma->devices[place].netns = 0;
	return 0;
}

int __wrap_rdma_by_name(struct nlsock *s, const char *name, struct nldev_dev *ret, struct err *e)
{
	if (!fake_rdma)
		return __real_rdma_by_name(s, name, ret, e);
	for (uint32_t i = 0; i < ARRAY_SIZE(fake_rdma->devices); i++)
		if (is_shown(s, i) && strcmp(fake_rdma->devices[i].name, name) == 0)
			return fill_dev(i, ret);
	return err_set(e, -ENODEV, "%s: no RDMA device of that name in this namespace", name);
}

int __wrap_rdma_by_index(struct nlsock *s, uint32_t index, struct nldev_dev *ret, struct err *e)
{
	int place;

	if (!fake_rdma)
		return __real_rdma_by_index(s, index, ret, e);
	place = place_of(s, index, e);
	return place < 0 ? place : fill_dev((uint32_t)place, ret);
}

static int netdev_below(const struct nlsock *s, uint32_t place)
{
	return fake_rdma->devices[place].netns == fake_rdma_netns(s->fd)
		       ? fake_rdma->devices[place].netdev
		       : 0;
}

int __wrap_rdma_netdev(struct nlsock *s, uint32_t index, int *ret, struct err *e)
{
	int place;

	if (!fake_rdma)
		return __real_rdma_netdev(s, index, ret, e);
	place = place_of(s, index, e);
	if (place < 0)
		return place;
	*ret = netdev_below(s, (uint32_t)place);
	return 0;
}

int __wrap_rdma_soft_on(struct nlsock *s, int ifindex, const char *guess, struct nldev_dev *ret,
			struct err *e)
{
	if (!fake_rdma)
		return __real_rdma_soft_on(s, ifindex, guess, ret, e);
	for (uint32_t i = 0; i < ARRAY_SIZE(fake_rdma->devices); i++)
		if (is_shown(s, i) && fake_rdma->devices[i].soft && netdev_below(s, i) == ifindex)
			return fill_dev(i, ret);
	return err_set(e, -ENODEV, "the interface has no soft-RoCE device");
}

int __wrap_rdma_move(struct nlsock *s, uint32_t index, int netns_fd, struct err *e)
{
	if (!fake_rdma)
		return __real_rdma_move(s, index, netns_fd, e);
	if (place_of(s, index, e) < 0)
		return -ENODEV;
	fake_rdma->devices[index % 100].netns = inode(netns_fd);
	return 0;
}

int __wrap_rdma_rename(struct nlsock *s, uint32_t index, const char *name, struct err *e)
{
	if (!fake_rdma)
		return __real_rdma_rename(s, index, name, e);
	if (place_of(s, index, e) < 0)
		return -ENODEV;
	snprintf(fake_rdma->devices[index % 100].name, RDMA_NAME_SIZE, "%s", name);
	return 0;
}

int __real_rdma_contexts(struct nlsock *, uint32_t, uint64_t *, struct err *);
int __wrap_rdma_contexts(struct nlsock *, uint32_t, uint64_t *, struct err *);

int __wrap_rdma_contexts(struct nlsock *s, uint32_t index, uint64_t *ret, struct err *e)
{
	int place;

	if (!fake_rdma)
		return __real_rdma_contexts(s, index, ret, e);
	place = place_of(s, index, e);
	if (place < 0)
		return place;
	*ret = fake_rdma->devices[place].contexts;
	if (fake_rdma->devices[place].closes > 0) {
		fake_rdma->devices[place].closes--;
		fake_rdma->devices[place].contexts--;
	}
	return 0;
}

uint32_t fake_rdma_add(const char *name, ino_t netns, int netdev, bool soft)
{
	uint32_t i = 0;

	while (fake_rdma->devices[i].netns)
		i++;
	snprintf(fake_rdma->devices[i].name, RDMA_NAME_SIZE, "%s", name);
	fake_rdma->devices[i].netns = netns;
	fake_rdma->devices[i].netdev = netdev;
	fake_rdma->devices[i].soft = soft;
	fake_rdma->devices[i].bound++;
	return i;
}

/* Fails like the kernel: a netdev has at most one rxe device, and names are unique over all
 * namespaces. */
int __wrap_rdma_make_rxe(struct nlsock *s, const char *name, const char *ifname, struct err *e)
{
	struct netdev_seen seen;
	struct nldev_dev other;
	int r;

	if (!fake_rdma)
		return __real_rdma_make_rxe(s, name, ifname, e);
	r = netdev_by_name(s, ifname, &seen, e);
	if (r < 0)
		return r;
	if (__wrap_rdma_soft_on(s, seen.netdev.ifindex, "", &other, NULL) == 0)
		return err_set(e, -EEXIST, "already configured on %s", ifname);
	for (uint32_t i = 0; i < ARRAY_SIZE(fake_rdma->devices); i++)
		if (fake_rdma->devices[i].netns && strcmp(fake_rdma->devices[i].name, name) == 0)
			return err_set(e, -ENFILE, "%s: the name is taken", name);
	fake_rdma_add(name, fake_rdma_netns(s->fd), seen.netdev.ifindex, true);
	return 0;
}

int __wrap_rdma_delete(struct nlsock *s, uint32_t index, struct err *e)
{
	if (!fake_rdma)
		return __real_rdma_delete(s, index, e);
	if (place_of(s, index, e) < 0)
		return -ENODEV;
	fake_rdma->devices[index % 100].netns = 0;
	fake_rdma->n_deleted++;
	return 0;
}

int __wrap_rdma_uverbs(struct nlsock *s, uint32_t index, struct nldev_chardev *ret, struct err *e)
{
	if (!fake_rdma)
		return __real_rdma_uverbs(s, index, ret, e);
	/* The lowest free number, as in the kernel. */
	*ret = (struct nldev_chardev){.dev = 231 << 8 | (199 + index % 100)};
	snprintf(ret->name, sizeof(ret->name), "uverbs%u", 7 + index % 100);
	return 0;
}

// SPDX-License-Identifier: Apache-2.0
/* soft_roce_nodes.c - see soft_roce_nodes.h.
 *
 * The nodes with the names of the plugin's devices, and the host's own folder, are the reference: a
 * node with any other number is stale, from a device that was deleted with its namespace or from
 * before a crash. */
#include "soft_roce_nodes.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "attachment.h"
#include "cleanup.h"
#include "search.h"
#include "sysfs.h"

bool soft_roce_number_is_taken(const struct attach_job *job, const char *uverbs)
{
	return any_of(job->n_taken, i, strcmp(job->taken[i], uverbs) == 0);
}

/* The name is random, because names of RDMA devices are unique over all namespaces. */
static int make_device(struct placeholder *p, struct nlsock *s, const char *ifname, struct err *e)
{
	char name[RDMA_NAME_SIZE];
	struct nldev_dev dev;
	uint32_t random[2];
	int r;

	if (getrandom(random, sizeof(random), 0) != sizeof(random))
		return err_set(e, -EAGAIN, "no random numbers");
	snprintf(name, sizeof(name), SOFT_ROCE_PLACEHOLDER "%08x%08x", random[0], random[1]);
	r = rdma_make_rxe(s, name, ifname, e);
	if (r == 0)
		r = rdma_soft_on(s, p->ifindex, name, &dev, e);
	if (r == 0)
		p->index = dev.index;
	return r;
}

int placeholders_add(struct placeholders *h)
{
	struct placeholder *p = &h->items[h->n];
	struct nlsock *rtnl = NULL, *rdma = NULL;
	char ifname[IFNAMSIZ];
	int r;

	if (h->n == PLACEHOLDERS_MAX)
		return err_set(h->run->err, -EBUSY,
			       "containers of other pods may open the lowest %d numbers of device "
			       "nodes that are free",
			       PLACEHOLDERS_MAX);
	snprintf(ifname, sizeof(ifname), "rl-hold%u", h->n);
	r = netns_sockets_rtnl(&h->run->pod, &rtnl, h->run->err);
	if (r == 0)
		r = netns_sockets_rdma(&h->run->pod, &rdma, h->run->err);
	if (r == 0)
		r = netdev_make_veth(rtnl, ifname, &p->ifindex, h->run->err);
	if (r < 0)
		return r;
	p->index = RDMA_INDEX_NONE;
	h->n++;
	return make_device(p, rdma, ifname, h->run->err);
}

/* Deletes each device before its netdev: if both were deleted at once, the device's sockets would
 * be released twice (attach_rdma.c). */
void placeholders_end(struct placeholders *h)
{
	struct nlsock *rtnl = NULL, *rdma = NULL;

	if (h->n == 0 || netns_sockets_rtnl(&h->run->pod, &rtnl, NULL) < 0 ||
	    netns_sockets_rdma(&h->run->pod, &rdma, NULL) < 0)
		return;
	for (unsigned i = 0; i < h->n; i++) {
		const struct placeholder *p = &h->items[i];

		if (p->index == RDMA_INDEX_NONE || rdma_delete(rdma, p->index, NULL) == 0)
			netdev_delete(rtnl, p->ifindex, NULL);
	}
	h->n = 0;
}

/* As in udev's rules: rdma-core, rdma-hw-modules.rules and rdma-umad.rules. */
#define NODE_MODE 0666

struct folder {
	int all, by_name; /* descriptors */
	int host;	  /* /dev/infiniband; -1: it does not exist */
};

static int soft_roce_nodes_failed(const char *what, const char *name, int r, struct err *e)
{
	return err_set(e, r, "device nodes: %s %s: %s", what, name, strerror(-r));
}

/* Opens one path component, never through a link. */
static int open_one(int dir, const char *name, bool make)
{
	int fd;

	if (make && mkdirat(dir, name, 0755) < 0 && errno != EEXIST)
		return -errno;
	fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* Nodes for all devices are created with the first device and removed with the last, so only one
 * worker at a time may change the folder. A file lock is not used: every pod with a soft-RoCE
 * device can open the folder, and could block the workers for ever with a lock (flock(2), a lease).
 * No other process changes the folder: only one rocelet runs on a host (lock.h). */
static pthread_mutex_t folder_lock = PTHREAD_MUTEX_INITIALIZER;

/* Opens and locks the folder; close_folder() unlocks it. */
static int soft_roce_nodes_open_folder(const struct hw *hw, bool make, struct folder *ret)
{
	AUTO_FD all = open_one(hw->dev_fd, SOFT_ROCE_DIR, make);
	int by_name = all < 0 ? all : open_one(all, "by-name", make);

	if (by_name < 0)
		return by_name;
	pthread_mutex_lock(&folder_lock);
	*ret = (struct folder){take_fd(&all), by_name, open_one(hw->dev_fd, "infiniband", false)};
	return 0;
}

static void close_folder(const struct folder *f)
{
	close(f->all);
	close(f->by_name);
	if (f->host >= 0)
		close(f->host);
	pthread_mutex_unlock(&folder_lock);
}

/* Returns the file name of soft_roce_node(), without the folder. */
static void soft_roce_nodes_name_of(const char *id, char ret[SOFT_ROCE_NODE_SIZE])
{
	char path[SOFT_ROCE_NODE_SIZE];

	soft_roce_node(id, path);
	snprintf(ret, SOFT_ROCE_NODE_SIZE, "%s", strrchr(path, '/') + 1);
}

/* --- one node --------------------------------------------------------------------------------- */

static int remove_node(int dir, const char *name)
{
	return unlinkat(dir, name, 0) < 0 && errno != ENOENT ? -errno : 0;
}

static bool is_node(int dir, const char *name, dev_t dev)
{
	struct stat st;

	return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISCHR(st.st_mode) &&
	       st.st_rdev == dev;
}

static int make_like(int dir, const char *name, const struct stat *like)
{
	if (mknodat(dir, name, S_IFCHR | (like->st_mode & 0777), like->st_rdev) < 0 ||
	    fchownat(dir, name, like->st_uid, like->st_gid, AT_SYMLINK_NOFOLLOW) < 0 ||
	    fchmodat(dir, name, like->st_mode & 0777, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	return 0;
}

/* Creates the node atomically: under a temporary name, since mknod(2) applies the umask to the
 * mode, and then renamed. The temporary name contains the device's, since workers handle several
 * devices at the same time. */
static int put_node(int dir, const char *name, const char *owner, const struct stat *like)
{
	char fresh[sizeof(".new-") + SOFT_ROCE_NODE_SIZE];
	int r;

	snprintf(fresh, sizeof(fresh), ".new-%s", owner);
	r = remove_node(dir, fresh);
	if (r == 0)
		r = make_like(dir, fresh, like);
	if (r == 0 && renameat(dir, fresh, dir, name) < 0)
		r = -errno;
	return r;
}

static int make_node(int dir, const char *name, const char *owner, dev_t dev)
{
	const struct stat st = {.st_mode = NODE_MODE, .st_rdev = dev};

	return put_node(dir, name, owner, &st);
}

/* Parses "10:123" (linux/Documentation/ABI/stable/sysfs-devices). */
static int read_dev(const struct hw *hw, dev_t *ret)
{
	char text[32], *colon;
	int major_nr, minor_nr;
	int r = sysfs_str(hw->sys_fd, text, sizeof(text), "class/misc/rdma_cm/dev");

	if (r < 0)
		return r;
	colon = strchr(text, ':');
	if (!colon)
		return -EINVAL;
	*colon = '\0';
	if (parse_int(text, &major_nr) < 0 || parse_int(colon + 1, &minor_nr) < 0)
		return -EINVAL;
	*ret = makedev(major_nr, minor_nr);
	return 0;
}

/* --- stale nodes ------------------------------------------------------------------------------ */

static int is_of_dev(int dir, const char *name, void *arg)
{
	const dev_t *dev = arg;

	return is_node(dir, name, *dev) ? -EEXIST : 0;
}

static bool is_of_plugin(const struct folder *f, dev_t dev)
{
	return sysfs_list(f->by_name, ".", is_of_dev, &dev) == -EEXIST;
}

/* Does the node belong to all devices of the plugin? rdma_cm and the copies of the host's nodes do,
 * as long as there is a device. */
static bool soft_roce_nodes_is_of_all(const struct folder *f, const char *name, dev_t dev)
{
	return strcmp(name, "rdma_cm") == 0 || (f->host >= 0 && is_node(f->host, name, dev));
}

static int count_one(int dir, const char *name, void *arg)
{
	(void)dir;
	(void)name;
	++*(unsigned *)arg;
	return 0;
}

struct sweep {
	const struct folder *folder;
	unsigned n_devices;
};

static int sweep_one(int dir, const char *name, void *arg)
{
	const struct sweep *s = arg;
	struct stat st;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISCHR(st.st_mode) ||
	    name[0] == '.' ||
	    (s->n_devices && soft_roce_nodes_is_of_all(s->folder, name, st.st_rdev)) ||
	    is_of_plugin(s->folder, st.st_rdev))
		return 0;
	return remove_node(dir, name);
}

static int sweep(const struct folder *f)
{
	struct sweep s = {.folder = f};
	int r = sysfs_list(f->by_name, ".", count_one, &s.n_devices);

	r = r < 0 ? r : sysfs_list(f->all, ".", sweep_one, &s);
	return r < 0 ? r : 0;
}

/* --- the host's nodes ------------------------------------------------------------------------- */

struct mirror {
	const struct folder *folder;
	const char *owner;
};

/* Are the nodes equal, including mode and owner? This folder is visible on the host, so its node
 * must not give more access than the host's node. */
static bool is_alike(int dir, const char *name, const struct stat *like)
{
	struct stat st;

	return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_mode == like->st_mode &&
	       st.st_rdev == like->st_rdev && st.st_uid == like->st_uid &&
	       st.st_gid == like->st_gid;
}

static int mirror_one(int host, const char *name, void *arg)
{
	const struct mirror *m = arg;
	struct stat st;

	if (fstatat(host, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISCHR(st.st_mode) ||
	    is_of_plugin(m->folder, st.st_rdev) || is_alike(m->folder->all, name, &st))
		return 0;
	return put_node(m->folder->all, name, m->owner, &st);
}

/* Copies the host's nodes, except those of the plugin's own devices. */
static int mirror_host(const struct folder *f, const char *owner)
{
	struct mirror m = {f, owner};

	return f->host < 0 ? 0 : sysfs_list(f->host, ".", mirror_one, &m);
}

/* --- interface -------------------------------------------------------------------------------- */

static int soft_roce_nodes_make_all(const struct hw *hw, const struct folder *f, const char *id,
				    const struct nldev_chardev *uverbs)
{
	char name[SOFT_ROCE_NODE_SIZE];
	dev_t rdma_cm;
	int r;

	soft_roce_nodes_name_of(id, name);
	r = make_node(f->by_name, name, name, (dev_t)uverbs->dev);
	if (r == 0)
		r = mirror_host(f, name);
	if (r >= 0)
		r = make_node(f->all, uverbs->name, name, (dev_t)uverbs->dev);
	if (r == 0 && read_dev(hw, &rdma_cm) == 0)
		r = make_node(f->all, "rdma_cm", name, rdma_cm);
	return r;
}

int soft_roce_nodes_make(const struct hw *hw, const char *id, const struct nldev_chardev *uverbs,
			 struct err *e)
{
	struct folder f;
	int r;

	if (strchr(uverbs->name, '/') || uverbs->name[0] == '.' || !uverbs->name[0])
		return err_set(e, -EINVAL, "\"%s\" is no name for a device node", uverbs->name);
	r = soft_roce_nodes_open_folder(hw, true, &f);
	if (r < 0)
		return soft_roce_nodes_failed("opening", SOFT_ROCE_DIR, r, e);
	r = soft_roce_nodes_make_all(hw, &f, id, uverbs);
	close_folder(&f);
	return r < 0 ? soft_roce_nodes_failed("making those of", id, r, e) : 0;
}

int soft_roce_nodes_check(const struct hw *hw, const char *id, const struct nldev_chardev *uverbs,
			  struct err *e)
{
	const dev_t dev = (dev_t)uverbs->dev;
	char name[SOFT_ROCE_NODE_SIZE];
	struct folder f;
	int r = soft_roce_nodes_open_folder(hw, false, &f);

	if (r < 0)
		return soft_roce_nodes_failed("opening", SOFT_ROCE_DIR, r, e);
	soft_roce_nodes_name_of(id, name);
	if (!is_node(f.by_name, name, dev) || !is_node(f.all, uverbs->name, dev))
		r = err_set(e, -EUCLEAN, "device nodes: those of %s do not lead to %s", id,
			    uverbs->name);
	close_folder(&f);
	return r;
}

int soft_roce_nodes_remove(const struct hw *hw, const char *id, struct err *e)
{
	char name[SOFT_ROCE_NODE_SIZE];
	struct folder f;
	int r = soft_roce_nodes_open_folder(hw, false, &f);

	if (r < 0)
		return r == -ENOENT ? 0 : soft_roce_nodes_failed("opening", SOFT_ROCE_DIR, r, e);
	soft_roce_nodes_name_of(id, name);
	r = remove_node(f.by_name, name);
	if (r == 0)
		r = sweep(&f);
	close_folder(&f);
	return r < 0 ? soft_roce_nodes_failed("removing those of", id, r, e) : 0;
}

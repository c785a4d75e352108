/* work.c - places and the search for a netdev. */
#include "work.h"

#include <fcntl.h>
#include <time.h>

#include "cleanup.h"
#include "function_files.h"
#include "netns.h"

/* 2, 4, 8 ... 256, 256 ms: about two seconds in all. */
#define FIRST_WAIT_MS 2
#define LONG_WAIT_MS  256
#define LOOKS_MAX     14

#define PLACE_CLOSED ((struct place){.netns_fd = -1, .rtnl = NLSOCK_CLOSED, .rdma = NLSOCK_CLOSED})

/* --- places ----------------------------------------------------------------------------------- */

static void place_close(struct place *p)
{
	nlsock_close(&p->rtnl);
	nlsock_close(&p->rdma);
	if (p->netns_fd >= 0)
		close(p->netns_fd);
	*p = PLACE_CLOSED;
}

void work_begin(struct work *w, struct attach_job *job)
{
	*w = (struct work){.job = job,
			   .hw = job->hw,
			   .record = &job->record,
			   .err = &job->err,
			   .host = PLACE_CLOSED,
			   .pod = PLACE_CLOSED,
			   .elsewhere = PLACE_CLOSED,
			   .rdma_mode = RDMA_NETNS_UNKNOWN};
}

void work_end(struct work *w)
{
	place_close(&w->host);
	place_close(&w->pod);
	place_close(&w->elsewhere);
}

int work_open_host(struct work *w)
{
	int fd;

	if (w->host.netns_fd >= 0)
		return 0;
	fd = netns_open_own();
	if (fd < 0)
		return err_set(w->err, fd, "opening the host's network namespace: %s",
			       strerror(-fd));
	w->host.netns_fd = fd;
	w->host.is_host = true;
	return 0;
}

int work_open_pod(struct work *w)
{
	int fd;

	if (w->pod.netns_fd >= 0)
		return 0;
	fd = netns_open_anywhere(w->hw, &w->record->owner.netns, w->err);
	if (fd < 0)
		return fd;
	w->pod.netns_fd = fd;
	return 0;
}

/* Where it was; for who looks everywhere else anyway. */
static bool is_at_its_path(struct work *w)
{
	if (w->pod.netns_fd < 0)
		w->pod.netns_fd = netns_open_id(w->hw, &w->record->owner.netns, NULL);
	return w->pod.netns_fd >= 0;
}

static int open_socket(struct place *p, struct nlsock *s, int protocol, struct err *e)
{
	if (s->fd >= 0)
		return 0;
	return p->is_host ? nlsock_open(s, protocol, e) : netns_nlsock(s, p->netns_fd, protocol, e);
}

int place_rtnl(struct place *p, struct nlsock **ret, struct err *e)
{
	*ret = &p->rtnl;
	return open_socket(p, &p->rtnl, NETLINK_ROUTE, e);
}

int place_rdma(struct place *p, struct nlsock **ret, struct err *e)
{
	*ret = &p->rdma;
	return open_socket(p, &p->rdma, NETLINK_RDMA, e);
}

/* --- the netdev ------------------------------------------------------------------------------- */

bool work_is_vf(const struct work *w)
{
	return w->record->plan.kind == PLAN_VF;
}

static bool is_stacked(const struct work *w, const struct netdev_seen *seen)
{
	const char *kind = w->record->plan.kind == PLAN_MACVLAN ? "macvlan" : "ipvlan";

	return strcmp(seen->netdev.kind, kind) == 0;
}

void work_alias(const struct work *w, char ret[ATTACH_ALIAS_SIZE])
{
	const char *ifname = w->record->plan.ifname;
	size_t n, most = ATTACH_ALIAS_SIZE - 2 - strlen(ifname);

	attach_alias(w->record, ret);
	if (work_is_vf(w))
		return;
	n = strlen(ret);
	n = n < most ? n : most;
	snprintf(ret + n, ATTACH_ALIAS_SIZE - n, " %s", ifname);
}

/* A name alone may be that of anything, outside of the pod of anybody's; and the pod may have given
 * it another. */
static int look_for_stacked(struct work *w, struct nlsock *s, bool in_pod)
{
	char alias[ATTACH_ALIAS_SIZE];
	int r = in_pod ? netdev_by_name(s, w->record->plan.ifname, &w->seen, w->err) : -ENODEV;

	if (r != -ENODEV && (r < 0 || is_stacked(w, &w->seen)))
		return r;
	work_alias(w, alias);
	r = netdev_by_alias(s, alias, &w->seen, w->err);
	if (r == 0 && !is_stacked(w, &w->seen))
		return err_set(w->err, -ENODEV, "%s in the pod is another interface",
			       w->seen.netdev.name);
	return r;
}

/* Most often it has the index with which it was seen last, also in another namespace. */
static int look_for_vf(struct work *w, struct place *p, struct nlsock *s)
{
	const char *function = w->record->function;
	int guess = w->seen.netdev.ifindex;

	if (!guess && p->is_host)
		guess = function_ifindex(w->hw, function);
	return netdev_by_function(s, function, guess, &w->seen, w->err);
}

int work_look(struct work *w, struct place *p)
{
	struct nlsock *s = NULL;
	int r = place_rtnl(p, &s, w->err);

	w->at = NULL;
	if (r == 0)
		r = work_is_vf(w) ? look_for_vf(w, p, s) : look_for_stacked(w, s, p == &w->pod);
	if (r == 0)
		w->at = p;
	return r;
}

int work_find(struct work *w)
{
	int r = work_open_host(w);

	if (r == 0 && work_is_vf(w))
		r = work_look(w, &w->host);
	else if (r == 0)
		r = -ENODEV;
	if (r != -ENODEV)
		return r;
	r = work_open_pod(w);
	return r < 0 ? r : work_look(w, &w->pod);
}

/* Keeps a place that has it open. A namespace that cannot be entered has not got it, as far as
 * anybody can tell. */
static int look_elsewhere(int netns_fd, const char *path, void *arg)
{
	struct work *w = arg;
	int r;

	(void)path;
	w->elsewhere.netns_fd = fcntl(netns_fd, F_DUPFD_CLOEXEC, 0);
	if (w->elsewhere.netns_fd < 0)
		return -errno;
	r = work_look(w, &w->elsewhere);
	if (r == 0)
		return -ECANCELED;
	place_close(&w->elsewhere);
	return 0;
}

static int search_namespaces(struct work *w)
{
	int r;

	place_close(&w->elsewhere);
	r = netns_each(w->hw, look_elsewhere, w);
	if (r == -ECANCELED)
		return 0;
	if (r < 0)
		return err_set(w->err, r, "%s: searching the network namespaces: %s",
			       w->record->function, strerror(-r));
	w->at = NULL;
	if (r == NETNS_INCOMPLETE && function_has(w->hw, w->record->function, "driver"))
		return err_set(w->err, -EAGAIN,
			       "%s: its netdev is nowhere to be seen, and not everything could be "
			       "looked at",
			       w->record->function);
	return err_set(w->err, -ENODEV, "%s has no netdev", w->record->function);
}

int work_find_anywhere(struct work *w, const struct patience *p)
{
	const bool everywhere = p->looks == 0 || p->looks == LOOKS_MAX - 1;
	int r = work_open_host(w);

	if (r == 0)
		r = work_is_vf(w) ? work_look(w, &w->host) : -ENODEV;
	if (r != -ENODEV)
		return r;
	if (is_at_its_path(w) && work_look(w, &w->pod) == 0)
		return 0;
	if (w->elsewhere.netns_fd >= 0 && work_look(w, &w->elsewhere) == 0)
		return 0;
	r = everywhere ? search_namespaces(w) : -ENODEV;
	if (r == -ENODEV && function_has(w->hw, w->record->function, "net"))
		return err_set(w->err, -EAGAIN,
			       "%s: its netdev is in a namespace that is on its way out",
			       w->record->function);
	return r;
}

bool work_wait(struct patience *p)
{
	const long ms = FIRST_WAIT_MS << p->looks;
	const struct timespec moment = {.tv_nsec = (ms < LONG_WAIT_MS ? ms : LONG_WAIT_MS) *
						   1000000L};

	if (++p->looks >= LOOKS_MAX)
		return false;
	nanosleep(&moment, NULL);
	return true;
}

/* counters_optional.c - optional counters: which there are, which are on, and switching them on.
 *
 * The kernel replaces the whole set, so what is on already stays in it. */
#include <stdlib.h>

#include "counters_setup.h"
#include "nldev.h"

struct collect {
	struct optional_counter *counters;
	size_t n, size;
};

static void on_status(const struct nldev_stat_status *st, void *arg)
{
	struct collect *c = arg;
	struct optional_counter *oc = &c->counters[c->n];

	if (!st->optional || c->n == c->size || strlen(st->name) >= sizeof(oc->name))
		return;
	strcpy(oc->name, st->name);
	oc->index = st->index;
	oc->enabled = st->enabled;
	c->n++;
}

static int on_answer(const struct nlmsghdr *h, void *arg)
{
	return nldev_decode_stat_status(h, on_status, arg);
}

int optional_counters(struct nlsock *s, uint32_t dev, uint32_t port, struct optional_counter *ret,
		      size_t size)
{
	struct collect c = {ret, 0, size};
	struct nl_msg *msg = nldev_request(RDMA_NLDEV_CMD_STAT_GET_STATUS, 0, dev, port);
	int r = msg ? nlsock_call(s, msg, on_answer, &c, NULL) : -ENOMEM;

	nlmsg_free(msg);
	return r < 0 ? r : (int)c.n;
}

static bool is_wanted(const char *name, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(names[i], name))
			return true;
	return false;
}

static int send_set(struct nlsock *s, uint32_t dev, uint32_t port, const uint32_t *indices,
		    size_t n, struct err *e)
{
	struct nl_msg *msg = nldev_stat_set(dev, port, indices, n);
	int r = msg ? nlsock_call(s, msg, NULL, NULL, e) : err_set(e, -ENOMEM, "out of memory");

	nlmsg_free(msg);
	return r;
}

/* A port without optional counters, or a kernel that does not know them, is no failure. */
static int enable_on_port(struct nlsock *s, uint32_t dev, uint32_t port, const char *const *names,
			  size_t n_names, struct err *e)
{
	struct optional_counter counters[OPTIONAL_MAX];
	uint32_t set[OPTIONAL_MAX];
	size_t n_set = 0;
	bool change = false;
	int n = optional_counters(s, dev, port, counters, OPTIONAL_MAX);

	for (int i = 0; i < n; i++) {
		bool wanted = is_wanted(counters[i].name, names, n_names);

		change |= wanted && !counters[i].enabled;
		if (wanted || counters[i].enabled)
			set[n_set++] = counters[i].index;
	}
	return change ? send_set(s, dev, port, set, n_set, e) : 0;
}

struct indices {
	const struct host *host;
	uint32_t *of; /* by device of the host, NLDEV_ANY = none */
};

static void on_device(const char *name, uint32_t index, void *arg)
{
	struct indices *x = arg;

	for (size_t i = 0; i < x->host->n_rdma; i++)
		if (!strcmp(x->host->rdma[i].name, name))
			x->of[i] = index;
}

static int enable_all(struct nlsock *s, const struct indices *x, const char *const *names, size_t n,
		      struct err *e)
{
	int first = 0;

	for (size_t i = 0; i < x->host->n_rdma; i++) {
		const struct rdma_dev *dev = &x->host->rdma[i];

		for (unsigned k = 0; x->of[i] != NLDEV_ANY && k < dev->n_ports; k++) {
			struct err own = {0};
			int r = enable_on_port(s, x->of[i], dev->ports[k].num, names, n, &own);

			if (r < 0 && first == 0)
				first = err_set(e, r, "%s/%u: enabling optional counters: %s",
						dev->name, dev->ports[k].num, own.msg);
		}
	}
	return first;
}

int counters_enable_optional(const struct hw *hw, const struct host *host, const char *const *names,
			     size_t n, struct err *e)
{
	struct indices x = {host, malloc((host->n_rdma + 1) * sizeof(uint32_t))};
	struct nlpoll p;
	int r;

	if (!x.of)
		return err_set(e, -ENOMEM, "out of memory");
	for (size_t i = 0; i < host->n_rdma; i++)
		x.of[i] = NLDEV_ANY;
	nlpoll_init(&p);
	r = hw->live ? nlpoll_devices(&p, on_device, &x) : -EOPNOTSUPP;
	if (r < 0)
		err_set(e, r, "optional counters: RDMA netlink: %s", strerror(-r));
	else
		r = enable_all(&p.rdma, &x, names, n, e);
	nlpoll_done(&p);
	free(x.of);
	return r;
}

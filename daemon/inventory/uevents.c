// SPDX-License-Identifier: Apache-2.0
/* uevents.c - a libudev monitor in the loop.
 *
 * Success: readable -> receive until empty, or up to EVENTS_MAX -> one hint for the whole burst.
 * Failures: ENOBUFS (reported as lost). libudev's BPF filter drops devices of other subsystems in
 * the kernel. */
#include "uevents.h"

#include <libudev.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

#include "cleanup.h"
#include "hw.h"
#include "self_counters.h"

/* Maximum per wake-up, so that an event storm cannot block the loop. */
#define EVENTS_MAX 256

struct uevents {
	struct udev *udev;
	struct udev_monitor *monitor;
	uv_poll_t poll;
	struct self_counters *self;
	uevents_hint_fn *hint;
	void *arg;
};

/* The parts that a device of this subsystem can change. */
static const struct {
	const char *subsystem;
	unsigned parts;
} watched[] = {
	{"pci", SCAN_ALL},	   {"auxiliary", SCAN_ALL},	    {"net", SCAN_NETDEVS},
	{"infiniband", SCAN_RDMA}, {"infiniband_verbs", SCAN_RDMA}, {"infiniband_mad", SCAN_RDMA},
};

bool uevents_udev_runs(void)
{
	return access("/run/udev/control", F_OK) == 0;
}

static unsigned uevents_parts_of(struct udev_device *dev)
{
	const char *subsystem = udev_device_get_subsystem(dev);

	for (size_t i = 0; subsystem && i < ARRAY_SIZE(watched); i++)
		if (strcmp(subsystem, watched[i].subsystem) == 0)
			return watched[i].parts;
	return 0;
}

static void uevents_on_readable(uv_poll_t *poll, int status, int events)
{
	struct uevents *u = poll->data;
	struct udev_device *dev;
	unsigned parts = 0;
	bool lost = false;
	int code = 0;

	(void)status, (void)events;
	for (int i = 0; i < EVENTS_MAX; i++) {
		errno = 0;
		dev = udev_monitor_receive_device(u->monitor);
		if (!dev) {
			code = errno;
			break;
		}
		u->self->events_uevent++;
		parts |= uevents_parts_of(dev);
		udev_device_unref(dev);
	}
	if (code == ENOBUFS) {
		u->self->overruns_uevent++;
		lost = true;
	} else if (code != 0 && code != EAGAIN && code != EINTR) {
		u->self->malformed_uevent++;
	}
	if (parts != 0 || lost)
		u->hint(parts, lost, u->arg);
}

static void uevents_free(struct uevents *u)
{
	udev_monitor_unref(u->monitor);
	udev_unref(u->udev);
	free(u);
}

static int start_monitor(struct uevents *u, bool kernel_source, unsigned buffer_bytes)
{
	u->udev = udev_new();
	if (!u->udev)
		return -ENOMEM;
	u->monitor = udev_monitor_new_from_netlink(u->udev, kernel_source ? "kernel" : "udev");
	if (!u->monitor)
		return errno ? -errno : -ENOMEM;
	for (size_t i = 0; i < ARRAY_SIZE(watched); i++)
		udev_monitor_filter_add_match_subsystem_devtype(u->monitor, watched[i].subsystem,
								NULL);
	udev_monitor_set_receive_buffer_size(u->monitor, (int)buffer_bytes);
	return udev_monitor_enable_receiving(u->monitor);
}

int uevents_open(struct uevents **ret, struct uv_loop_s *loop, bool kernel_source,
		 unsigned buffer_bytes, struct self_counters *self, uevents_hint_fn *hint,
		 void *arg, struct err *e)
{
	struct uevents *u = calloc(1, sizeof(*u));
	int r;

	if (!u)
		return err_set(e, -ENOMEM, "out of memory");
	u->self = self;
	u->hint = hint;
	u->arg = arg;
	r = start_monitor(u, kernel_source, buffer_bytes);
	if (r == 0)
		r = uv_poll_init(loop, &u->poll, udev_monitor_get_fd(u->monitor));
	if (r < 0) {
		uevents_free(u);
		return err_set(e, r, "opening the %s uevent monitor: %s",
			       kernel_source ? "kernel" : "udev", strerror(-r));
	}
	u->poll.data = u;
	uv_poll_start(&u->poll, UV_READABLE, uevents_on_readable);
	*ret = u;
	return 0;
}

static void uevents_on_closed(uv_handle_t *h)
{
	uevents_free(h->data);
}

void uevents_close(struct uevents *u)
{
	if (u)
		uv_close((uv_handle_t *)&u->poll, uevents_on_closed);
}

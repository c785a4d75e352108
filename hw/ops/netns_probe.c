// SPDX-License-Identifier: Apache-2.0
/* netns_probe.c - checks whether an address is in use on a netdev's network.
 *
 * Success: sends one probe per address, then reads all frames until the time is over; usually
 * there is no answer. Errors: the netdev is down (-ENETDOWN) or was removed (-ENODEV, -ENXIO). A
 * station that answers later or not at all is not detected. */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "cleanup.h"
#include "host_view.h"
#include "netns.h"
#include "netns_announce.h"
#include "sysfs.h"

/* Finds out which network namespaces have processes.
 *
 * Success: the link ns/net of each process contains an inode, which is compared with the given
 * ones. Errors: a process exits during the pass (it uses no namespace), or is not readable (then
 * the use of namespaces that were not found is unknown). */

struct users {
	const struct netns_id *ids;
	size_t n;
	enum netns_use *use;
	unsigned *pid;
	bool missed;
};

static void users_note(struct users *u, uint64_t ino, unsigned pid)
{
	for (size_t i = 0; i < u->n; i++)
		if (u->ids[i].ino == ino && u->use[i] != NETNS_IN_USE) {
			u->use[i] = NETNS_IN_USE;
			u->pid[i] = pid;
		}
}

/* Compares a process's namespace with the given ones. A zombie has no namespaces any more, so
 * ENOENT is not an error. */
static int netns_on_process(int proc_fd, const char *name, void *arg)
{
	struct users *u = arg;
	char path[32], link[64];
	uint64_t ino;
	ssize_t n;

	if (strlen(name) > 9 || strspn(name, "0123456789") != strlen(name))
		return 0;
	snprintf(path, sizeof(path), "%s/ns/net", name);
	n = readlinkat(proc_fd, path, link, sizeof(link));
	if (n < 0 && errno != ENOENT && errno != ESRCH)
		u->missed = true;
	if (n < 0 || n == sizeof(link))
		return 0;
	link[n] = '\0';
	if (nsfs_inode(link, "net", &ino))
		users_note(u, ino, (unsigned)strtoul(name, NULL, 10));
	return 0;
}

void netns_users(const struct hw *hw, const struct netns_id *ids, size_t n, enum netns_use *ret_use,
		 unsigned *ret_pid)
{
	struct users u = {.ids = ids, .n = n, .use = ret_use, .pid = ret_pid};

	for (size_t i = 0; i < n; i++) {
		ret_use[i] = NETNS_USE_UNKNOWN;
		ret_pid[i] = 0;
	}
	if (hw->proc_fd < 0 || sysfs_list(hw->proc_fd, ".", netns_on_process, &u) < 0 || u.missed)
		return;
	for (size_t i = 0; i < n; i++)
		if (u.use[i] != NETNS_IN_USE)
			u.use[i] = NETNS_EMPTY;
}

#define VLAN_NUMBER_BITS 0xfff

struct probe {
	int fd;
	const uint8_t *mac;
	const struct ip_prefix *ips;
	size_t n;
	size_t which;
	uint8_t by[6];
};

static uint64_t netns_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* Opens a socket that receives nothing before it is bound, because its protocol is 0. */
static int netns_open_packet_socket(void *arg)
{
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	(void)arg;
	return fd < 0 ? -errno : fd;
}

/* Drops frames with a VLAN tag: frames of VLANs that the host does not have are delivered, too,
 * without their tag. VLAN 0 (priority tag only) is accepted. */
static int probe_drop_vlans(int fd)
{
	static const struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)(SKF_AD_OFF + SKF_AD_VLAN_TAG)),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, VLAN_NUMBER_BITS, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, 0),
		BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
	};
	const struct sock_fprog program = {ARRAY_SIZE(code), (struct sock_filter *)code};
	int r = setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program));

	return r < 0 ? -errno : 0;
}

static int probe_send(const struct probe *p)
{
	uint8_t frame[ANNOUNCE_FRAME_MAX];

	for (size_t i = 0; i < p->n; i++) {
		size_t len = probe_frame(p->mac, &p->ips[i], frame);

		if (len && send(p->fd, frame, len, 0) < 0 && errno != EINTR)
			return -errno;
	}
	return 0;
}

/* Reads the next frame; returns 1 if it is an answer. */
static int probe_read(struct probe *p)
{
	uint8_t frame[128];
	struct sockaddr_ll from = {0};
	socklen_t from_len = sizeof(from);
	ssize_t n = recvfrom(p->fd, frame, sizeof(frame), 0, (struct sockaddr *)&from, &from_len);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	if (from.sll_pkttype == PACKET_OUTGOING)
		return 0;
	for (p->which = 0; p->which < p->n; p->which++)
		if (probe_is_answered(frame, (size_t)n, p->mac, &p->ips[p->which], p->by))
			return 1;
	return 0;
}

static int probe_listen(struct probe *p, uint64_t until_ms)
{
	struct pollfd poll_fd = {.fd = p->fd, .events = POLLIN};
	uint64_t now;
	int r = 0;

	while (r == 0 && (now = netns_now_ms()) < until_ms) {
		r = poll(&poll_fd, 1, (int)(until_ms - now));
		if (r < 0)
			r = errno == EINTR ? 0 : -errno;
		else if (r > 0)
			r = probe_read(p);
	}
	return r;
}

int netns_probe(int netns_fd, int ifindex, const uint8_t mac[6], const struct ip_prefix *ips,
		size_t n, unsigned wait_ms, size_t *ret_which, uint8_t ret_mac[6])
{
	const struct sockaddr_ll at = {
		.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL), .sll_ifindex = ifindex};
	AUTO_FD fd = netns_run(netns_fd, netns_open_packet_socket, NULL);
	struct probe p = {.fd = fd, .mac = mac, .ips = ips, .n = n};
	int r = fd < 0 ? fd : 0;

	if (r == 0)
		r = probe_drop_vlans(fd);
	if (r == 0 && bind(fd, (const struct sockaddr *)&at, sizeof(at)) < 0)
		r = -errno;
	if (r == 0)
		r = probe_send(&p);
	if (r == 0)
		r = probe_listen(&p, netns_now_ms() + wait_ms);
	if (r == 1) {
		*ret_which = p.which;
		memcpy(ret_mac, p.by, sizeof(p.by));
	}
	return r;
}

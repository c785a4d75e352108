/* netns_announce.c - sends the frames of announce.h from inside a namespace.
 *
 * Can fail by: a netdev that is down (-ENETDOWN) or gone (-ENODEV, -ENXIO). */
#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <sys/socket.h>

#include "announce.h"
#include "cleanup.h"
#include "netns.h"

/* Protocol 0: it only sends. */
static int open_packet_socket(void *arg)
{
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);

	(void)arg;
	return fd < 0 ? -errno : fd;
}

static int send_frame(int fd, const uint8_t *frame, size_t len)
{
	ssize_t n;

	do
		n = send(fd, frame, len, 0);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : 0;
}

static int send_all(int fd, const uint8_t mac[6], const struct ip_prefix *ips, size_t n)
{
	uint8_t frame[ANNOUNCE_FRAME_MAX];
	int r = 0;

	for (size_t i = 0; i < n && r == 0; i++) {
		size_t len = announce_frame(mac, &ips[i], frame);

		if (len)
			r = send_frame(fd, frame, len);
	}
	return r;
}

int netns_announce(int netns_fd, int ifindex, const uint8_t mac[6], const struct ip_prefix *ips,
		   size_t n, struct err *e)
{
	const struct sockaddr_ll to = {.sll_family = AF_PACKET, .sll_ifindex = ifindex};
	AUTO_FD fd = netns_run(netns_fd, open_packet_socket, NULL);
	int r = fd < 0 ? fd : 0;

	if (r == 0 && bind(fd, (const struct sockaddr *)&to, sizeof(to)) < 0)
		r = -errno;
	if (r == 0)
		r = send_all(fd, mac, ips, n);
	return r < 0 ? err_set(e, r, "telling the neighbours: %s", strerror(-r)) : 0;
}

// SPDX-License-Identifier: Apache-2.0
/* netns_announce.c - announcements and probes of addresses, sent from inside a namespace.
 *
 * Errors: the netdev is down (-ENETDOWN) or was removed (-ENODEV, -ENXIO). */
#include "netns_announce.h"

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <netinet/icmp6.h>
#include <netinet/if_ether.h>
#include <netinet/ip6.h>
#include <string.h>
#include <sys/socket.h>

#include "cleanup.h"
#include "netns.h"

/* --- frames ----------------------------------------------------------------------------------- */

/* Computes the checksum of RFC 1071; sum: the initial value, from the pseudo header. */
static uint16_t inet_checksum(const uint8_t *p, size_t n, uint32_t sum)
{
	for (size_t i = 0; i + 1 < n; i += 2)
		sum += (uint32_t)p[i] << 8 | p[i + 1];
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum;
}

/* Builds an ARP request; sender: 0.0.0.0 in a probe. */
static size_t arp_frame(const uint8_t mac[6], const uint8_t sender[4], const uint8_t addr[4],
			uint8_t *ret)
{
	struct ether_header eth = {.ether_type = htons(ETH_P_ARP)};
	struct ether_arp arp = {
		.ea_hdr = {.ar_hrd = htons(ARPHRD_ETHER),
			   .ar_pro = htons(ETH_P_IP),
			   .ar_hln = 6,
			   .ar_pln = 4,
			   .ar_op = htons(ARPOP_REQUEST)},
	};

	memset(eth.ether_dhost, 0xff, sizeof(eth.ether_dhost));
	memcpy(eth.ether_shost, mac, 6);
	memcpy(arp.arp_sha, mac, 6);
	memcpy(arp.arp_spa, sender, 4);
	memcpy(arp.arp_tpa, addr, 4);
	memcpy(ret, &eth, sizeof(eth));
	memcpy(ret + sizeof(eth), &arp, sizeof(arp));
	return sizeof(eth) + sizeof(arp);
}

/* The advertisement and its only option, of 8 bytes. */
struct advertisement {
	struct nd_neighbor_advert na;
	struct nd_opt_hdr opt;
	uint8_t mac[6];
};
_Static_assert(sizeof(struct advertisement) == 32, "no padding");
_Static_assert(sizeof(struct ether_header) + sizeof(struct ip6_hdr) +
			       sizeof(struct advertisement) ==
		       ANNOUNCE_FRAME_MAX,
	       "ANNOUNCE_FRAME_MAX is the length of the longest frame");

/* Computes the checksum of RFC 8200, section 8.1: the addresses form a pseudo header before the n
 * bytes of the message. */
static uint16_t icmp6_checksum(const struct ip6_hdr *ip, const void *message, size_t n)
{
	uint8_t pseudo[2 * sizeof(ip->ip6_src)];

	memcpy(pseudo, &ip->ip6_src, sizeof(ip->ip6_src));
	memcpy(pseudo + sizeof(ip->ip6_src), &ip->ip6_dst, sizeof(ip->ip6_dst));
	return inet_checksum(message, n,
			     (uint16_t)~inet_checksum(pseudo, sizeof(pseudo), 0) + (uint32_t)n +
				     IPPROTO_ICMPV6);
}

/* Builds a frame with an ICMPv6 message of n bytes to a multicast address. checksum: the checksum
 * field of the message, which is 0 so far. */
static size_t icmp6_frame(const uint8_t mac[6], const uint8_t from[16], const uint8_t group[16],
			  void *message, size_t n, uint16_t *checksum, uint8_t *ret)
{
	struct ether_header eth = {.ether_dhost = {0x33, 0x33}, .ether_type = htons(ETH_P_IPV6)};
	struct ip6_hdr ip = {0};

	memcpy(eth.ether_dhost + 2, group + 12, 4);
	memcpy(eth.ether_shost, mac, 6);
	ip.ip6_flow = htonl(UINT32_C(6) << 28);
	ip.ip6_plen = htons((uint16_t)n);
	ip.ip6_nxt = IPPROTO_ICMPV6;
	ip.ip6_hlim = 255;
	memcpy(&ip.ip6_src, from, 16);
	memcpy(&ip.ip6_dst, group, 16);
	*checksum = htons(icmp6_checksum(&ip, message, n));
	memcpy(ret, &eth, sizeof(eth));
	memcpy(ret + sizeof(eth), &ip, sizeof(ip));
	memcpy(ret + sizeof(eth) + sizeof(ip), message, n);
	return sizeof(eth) + sizeof(ip) + n;
}

static size_t advertisement_frame(const uint8_t mac[6], const uint8_t addr[16], uint8_t *ret)
{
	static const uint8_t all_nodes[16] = {0xff, 0x02, [15] = 1};
	struct advertisement a = {.opt = {ND_OPT_TARGET_LINKADDR, 1}};

	a.na.nd_na_type = ND_NEIGHBOR_ADVERT;
	a.na.nd_na_flags_reserved = ND_NA_FLAG_OVERRIDE;
	memcpy(&a.na.nd_na_target, addr, 16);
	memcpy(a.mac, mac, 6);
	return icmp6_frame(mac, addr, all_nodes, &a, sizeof(a), &a.na.nd_na_cksum, ret);
}

size_t announce_frame(const uint8_t mac[6], const struct ip_prefix *ip,
		      uint8_t ret[ANNOUNCE_FRAME_MAX])
{
	switch (ip->family) {
	case AF_INET:
		return arp_frame(mac, ip->addr, ip->addr, ret);
	case AF_INET6:
		return advertisement_frame(mac, ip->addr, ret);
	}
	return 0;
}

/* --- probes ----------------------------------------------------------------------------------- */

/* Builds a neighbour solicitation to the solicited-node multicast address (RFC 4291, section
 * 2.7.1). */
static size_t solicitation_frame(const uint8_t mac[6], const uint8_t addr[16], uint8_t *ret)
{
	static const uint8_t unspecified[16];
	uint8_t group[16] = {0xff, 0x02, [11] = 1, [12] = 0xff};
	struct nd_neighbor_solicit s = {.nd_ns_type = ND_NEIGHBOR_SOLICIT};

	memcpy(group + 13, addr + 13, 3);
	memcpy(&s.nd_ns_target, addr, 16);
	return icmp6_frame(mac, unspecified, group, &s, sizeof(s), &s.nd_ns_cksum, ret);
}

size_t probe_frame(const uint8_t mac[6], const struct ip_prefix *ip,
		   uint8_t ret[ANNOUNCE_FRAME_MAX])
{
	static const uint8_t unspecified[4];

	switch (ip->family) {
	case AF_INET:
		return arp_frame(mac, unspecified, ip->addr, ret);
	case AF_INET6:
		return solicitation_frame(mac, ip->addr, ret);
	}
	return 0;
}

static bool is_arp_of(const uint8_t *p, size_t len, const uint8_t addr[4])
{
	struct ether_arp arp;

	if (len < sizeof(arp))
		return false;
	memcpy(&arp, p, sizeof(arp));
	return arp.ea_hdr.ar_pro == htons(ETH_P_IP) && arp.ea_hdr.ar_hln == 6 &&
	       arp.ea_hdr.ar_pln == 4 && memcmp(arp.arp_spa, addr, 4) == 0;
}

static bool is_advertisement_of(const uint8_t *p, size_t len, const uint8_t addr[16])
{
	struct ip6_hdr ip;
	struct nd_neighbor_advert na;

	if (len < sizeof(ip) + sizeof(na))
		return false;
	memcpy(&ip, p, sizeof(ip));
	memcpy(&na, p + sizeof(ip), sizeof(na));
	return ip.ip6_nxt == IPPROTO_ICMPV6 && ip.ip6_hlim == 255 &&
	       na.nd_na_type == ND_NEIGHBOR_ADVERT && memcmp(&na.nd_na_target, addr, 16) == 0;
}

bool probe_is_answered(const uint8_t *frame, size_t len, const uint8_t mac[6],
		       const struct ip_prefix *ip, uint8_t ret_mac[6])
{
	struct ether_header eth;
	bool answered = false;

	if (len < sizeof(eth))
		return false;
	memcpy(&eth, frame, sizeof(eth));
	if (memcmp(eth.ether_shost, mac, 6) == 0)
		return false;
	if (ip->family == AF_INET && eth.ether_type == htons(ETH_P_ARP))
		answered = is_arp_of(frame + sizeof(eth), len - sizeof(eth), ip->addr);
	else if (ip->family == AF_INET6 && eth.ether_type == htons(ETH_P_IPV6))
		answered = is_advertisement_of(frame + sizeof(eth), len - sizeof(eth), ip->addr);
	if (answered)
		memcpy(ret_mac, eth.ether_shost, 6);
	return answered;
}

/* --- sending ---------------------------------------------------------------------------------- */

/* Opens a socket that only sends: with protocol 0 it receives nothing. */
static int netns_announce_open_packet_socket(void *arg)
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

static int netns_announce_send_all(int fd, const uint8_t mac[6], const struct ip_prefix *ips,
				   size_t n)
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
	AUTO_FD fd = netns_run(netns_fd, netns_announce_open_packet_socket, NULL);
	int r = fd < 0 ? fd : 0;

	if (r == 0 && bind(fd, (const struct sockaddr *)&to, sizeof(to)) < 0)
		r = -errno;
	if (r == 0)
		r = netns_announce_send_all(fd, mac, ips, n);
	return r < 0 ? err_set(e, r, "cannot send gratuitous ARP or unsolicited NA: %s",
			       strerror(-r))
		     : 0;
}

// SPDX-License-Identifier: Apache-2.0
/* packet_socket.c - captures RoCE packets with a packet socket.
 *
 * Success: open a socket that receives nothing yet, set its filter and its ring, then bind it to
 * the netdev, so that no unfiltered packet arrives. A block of packets belongs to the kernel until
 * the kernel marks it as ours, then to us until we return it. Errors: no permission for packet
 * sockets, no memory for the ring, a netdev that does not exist or is removed. */
#include "packet_socket.h"

#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cleanup.h"
#include "roce_decode.h"
#include "sysfs.h"

/* True if the name can be a part of a path; it comes from the command line. */
static bool is_one_component(const char *name)
{
	return name[0] && strlen(name) < DEV_ID_SIZE && !strchr(name, '/') &&
	       strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

struct first {
	char *ret;
	size_t size;
};

/* Takes the first name in alphabetical order, for a stable result. */
static int sniff_target_on_entry(int dir, const char *name, void *arg)
{
	struct first *f = arg;

	(void)dir;
	if (strlen(name) < f->size && (f->ret[0] == '\0' || strcmp(name, f->ret) < 0))
		snprintf(f->ret, f->size, "%s", name);
	return 0;
}

static void sniff_target_first_of(const struct hw *hw, const char *folder, const char *name,
				  const char *below, char *ret, size_t size)
{
	struct first f = {ret, size};
	char path[SYSFS_PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s/%s", folder, name, below);
	sysfs_list(hw->sys_fd, path, sniff_target_on_entry, &f);
}

/* Finds the netdev of an RDMA device. The file `parent` of a soft-RoCE device names it; otherwise
 * it is the netdev of the first port's first GID, or of the function. */
static void netdev_of_rdma(const struct hw *hw, const char *name, struct sniff_target *t)
{
	if (sysfs_str(hw->sys_fd, t->netdev, sizeof(t->netdev), "class/infiniband/%s/parent",
		      name) > 0 ||
	    sysfs_str(hw->sys_fd, t->netdev, sizeof(t->netdev),
		      "class/infiniband/%s/ports/1/gid_attrs/ndevs/0", name) > 0)
		return;
	sniff_target_first_of(hw, "class/infiniband", name, "device/net", t->netdev,
			      sizeof(t->netdev));
}

bool sniff_target_is_soft(const struct hw *hw, const char *rdma)
{
	return rdma[0] && sysfs_exists(hw->sys_fd, "class/infiniband/%s", rdma) &&
	       !sysfs_exists(hw->sys_fd, "class/infiniband/%s/device", rdma);
}

int sniff_target_find(const struct hw *hw, const char *name, struct sniff_target *ret)
{
	struct sniff_target t = {0};

	if (!is_one_component(name))
		return -ENODEV;
	if (strlen(name) < sizeof(t.netdev) && sysfs_exists(hw->sys_fd, "class/net/%s", name)) {
		memcpy(t.netdev, name, strlen(name));
		sniff_target_first_of(hw, "class/net", name, "device/infiniband", t.rdma,
				      sizeof(t.rdma));
	} else if (sysfs_exists(hw->sys_fd, "class/infiniband/%s", name)) {
		memcpy(t.rdma, name, strlen(name));
		netdev_of_rdma(hw, name, &t);
	} else {
		sniff_target_first_of(hw, "bus/pci/devices", name, "net", t.netdev,
				      sizeof(t.netdev));
		sniff_target_first_of(hw, "bus/pci/devices", name, "infiniband", t.rdma,
				      sizeof(t.rdma));
	}
	if (t.netdev[0] == '\0' && t.rdma[0] == '\0')
		return -ENODEV;
	t.soft = sniff_target_is_soft(hw, t.rdma);
	*ret = t;
	return 0;
}

#define BLOCK_SIZE (1u << 20)
#define N_BLOCKS   32
#define FRAME_SIZE 2048 /* unused by V3, which packs frames, but must divide the block size */
#define BLOCK_MS   20	/* timeout after which a partly filled block is passed on */
#define VLAN_SIZE  4

/* --- the filter ------------------------------------------------------------------------------- */

/* Instruction indices, used as jump targets. */
enum { FRAGMENT = 9, PORT4 = 11, IPV6 = 14, PORT6 = 16, OTHER6 = 18, ACCEPT = 20, REJECT = 21 };

#define LOAD(size, mode, k)  BPF_STMT(BPF_LD | (size) | (mode), k)
#define JUMP(at, k, yes, no) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, k, (yes) - (at)-1, (no) - (at)-1)
#define JUMP_SET(at, k, yes, no)                                                                   \
	BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, k, (yes) - (at)-1, (no) - (at)-1)

/* The kernel has removed the outer VLAN tag; a frame with a second one is accepted and checked in
 * user space. */
static struct sock_filter roce_only[] = {
	[0] = LOAD(BPF_H, BPF_ABS, 12),
	[1] = JUMP(1, ROCE_V1_TYPE, ACCEPT, 2),
	[2] = JUMP(2, ROCE_TYPE_IP6, IPV6, 3),
	[3] = JUMP(3, 0x8100, ACCEPT, 4),
	[4] = JUMP(4, 0x88a8, ACCEPT, 5),
	[5] = JUMP(5, 0x9100, ACCEPT, 6),
	[6] = JUMP(6, ROCE_TYPE_IP4, 7, REJECT),
	[7] = LOAD(BPF_B, BPF_ABS, 23),
	[8] = JUMP(8, ROCE_PROTOCOL_UDP, FRAGMENT, REJECT),
	[FRAGMENT] = LOAD(BPF_H, BPF_ABS, 20),
	[10] = JUMP_SET(10, 0x1fff, REJECT, PORT4),
	[PORT4] = BPF_STMT(BPF_LDX | BPF_B | BPF_MSH, 14),
	[12] = LOAD(BPF_H, BPF_IND, 16),
	[13] = JUMP(13, ROCE_UDP_PORT, ACCEPT, REJECT),
	[IPV6] = LOAD(BPF_B, BPF_ABS, 20),
	[15] = JUMP(15, ROCE_PROTOCOL_UDP, PORT6, OTHER6),
	[PORT6] = LOAD(BPF_H, BPF_ABS, 56),
	[17] = JUMP(17, ROCE_UDP_PORT, ACCEPT, REJECT),
	[OTHER6] = JUMP(OTHER6, IPPROTO_TCP, REJECT, 19),
	[19] = JUMP(19, IPPROTO_ICMPV6, REJECT, ACCEPT),
	[ACCEPT] = BPF_STMT(BPF_RET | BPF_K, 0xffffffff),
	[REJECT] = BPF_STMT(BPF_RET | BPF_K, 0),
};

/* --- opening ---------------------------------------------------------------------------------- */

static int set_up_ring(struct packet_socket *s)
{
	int version = TPACKET_V3;
	unsigned reserve = VLAN_SIZE;
	struct sock_fprog filter = {ARRAY_SIZE(roce_only), roce_only};
	struct tpacket_req3 ring = {
		.tp_block_size = BLOCK_SIZE,
		.tp_block_nr = N_BLOCKS,
		.tp_frame_size = FRAME_SIZE,
		.tp_frame_nr = N_BLOCKS * (BLOCK_SIZE / FRAME_SIZE),
		.tp_retire_blk_tov = BLOCK_MS,
	};
	void *memory;

	if (setsockopt(s->fd, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof(filter)) < 0 ||
	    setsockopt(s->fd, SOL_PACKET, PACKET_VERSION, &version, sizeof(version)) < 0 ||
	    setsockopt(s->fd, SOL_PACKET, PACKET_RESERVE, &reserve, sizeof(reserve)) < 0 ||
	    setsockopt(s->fd, SOL_PACKET, PACKET_RX_RING, &ring, sizeof(ring)) < 0)
		return -errno;
	memory = mmap(NULL, (size_t)BLOCK_SIZE * N_BLOCKS, PROT_READ | PROT_WRITE, MAP_SHARED,
		      s->fd, 0);
	if (memory == MAP_FAILED)
		return -errno;
	s->ring = memory;
	return 0;
}

/* Reads the netdev's index and flags in the socket's namespace. */
static int netdev_query(const struct packet_socket *s, const char *netdev, struct ifreq *ret,
			int *ret_flags)
{
	if (strlen(netdev) >= sizeof(ret->ifr_name))
		return -ENODEV;
	*ret = (struct ifreq){0};
	memcpy(ret->ifr_name, netdev, strlen(netdev));
	if (ioctl(s->fd, SIOCGIFFLAGS, ret) < 0)
		return -errno;
	*ret_flags = ret->ifr_flags;
	return ioctl(s->fd, SIOCGIFINDEX, ret) < 0 ? -errno : 0;
}

static int bind_to(struct packet_socket *s, const char *netdev)
{
	struct sockaddr_ll to = {.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL)};
	struct packet_mreq promiscuous = {.mr_type = PACKET_MR_PROMISC};
	struct ifreq request;
	int flags = 0, r = netdev_query(s, netdev, &request, &flags);

	if (r < 0)
		return r;
	s->loopback = flags & IFF_LOOPBACK;
	to.sll_ifindex = promiscuous.mr_ifindex = request.ifr_ifindex;
	if (setsockopt(s->fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &promiscuous,
		       sizeof(promiscuous)) < 0 ||
	    bind(s->fd, (struct sockaddr *)&to, sizeof(to)) < 0)
		return -errno;
	return 0;
}

int packet_socket_open(struct packet_socket *ret, const char *netdev, struct err *e)
{
	/* Protocol 0 receives nothing. */
	struct packet_socket s = {.fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0)};
	int r = s.fd < 0 ? -errno : set_up_ring(&s);

	if (r == 0)
		r = bind_to(&s, netdev);
	if (r < 0) {
		packet_socket_close(&s);
		return err_set(e, r, "cannot open a packet socket on %.32s: %s", netdev,
			       strerror(-r));
	}
	*ret = s;
	return 0;
}

void packet_socket_close(struct packet_socket *s)
{
	if (s->ring)
		munmap(s->ring, (size_t)BLOCK_SIZE * N_BLOCKS);
	if (s->fd >= 0)
		close(s->fd);
	*s = (struct packet_socket){.fd = -1};
}

/* --- reading ---------------------------------------------------------------------------------- */

static struct tpacket_block_desc *block_of(const struct packet_socket *s)
{
	return (void *)(s->ring + s->block * BLOCK_SIZE);
}

static bool packet_socket_is_ours(const struct tpacket_block_desc *b)
{
	return __atomic_load_n(&b->hdr.bh1.block_status, __ATOMIC_ACQUIRE) & TP_STATUS_USER;
}

static void packet_socket_release(struct packet_socket *s)
{
	__atomic_store_n(&block_of(s)->hdr.bh1.block_status, TP_STATUS_KERNEL, __ATOMIC_RELEASE);
	s->block = (s->block + 1) % N_BLOCKS;
}

static void put16(uint8_t *at, unsigned v)
{
	at[0] = (uint8_t)(v >> 8);
	at[1] = (uint8_t)v;
}

/* Re-inserts the VLAN tag that the kernel removed: moves the addresses forward into the space
 * reserved by PACKET_RESERVE. */
static void restore_tag(struct sniffed *p, uint8_t *frame, const struct tpacket3_hdr *h)
{
	uint8_t *at = frame - VLAN_SIZE;
	bool has_type = h->tp_status & TP_STATUS_VLAN_TPID_VALID;

	if (!(h->tp_status & TP_STATUS_VLAN_VALID) || p->captured < ROCE_MAC_SIZE)
		return;
	memmove(at, frame, ROCE_MAC_SIZE);
	put16(at + ROCE_MAC_SIZE, has_type ? h->hv1.tp_vlan_tpid : ETH_P_8021Q);
	put16(at + ROCE_MAC_SIZE + 2, h->hv1.tp_vlan_tci);
	p->bytes = at;
	p->captured += VLAN_SIZE;
	p->length += VLAN_SIZE;
}

static bool packet_deliver(const struct packet_socket *s, struct tpacket3_hdr *h, sniffed_fn *fn,
			   void *arg)
{
	const struct sockaddr_ll *from = (void *)((uint8_t *)h + TPACKET_ALIGN(sizeof(*h)));
	uint8_t *frame = (uint8_t *)h + h->tp_mac;
	struct sniffed p = {frame, h->tp_snaplen, h->tp_len,
			    (uint64_t)h->tp_sec * 1000000000 + h->tp_nsec};

	if (s->loopback && from->sll_pkttype == PACKET_OUTGOING)
		return true;
	restore_tag(&p, frame, h);
	return fn(&p, arg);
}

static bool block_deliver(struct packet_socket *s, sniffed_fn *fn, void *arg)
{
	struct tpacket_block_desc *b = block_of(s);
	uint8_t *at = (uint8_t *)b + b->hdr.bh1.offset_to_first_pkt;
	bool more = true;

	for (uint32_t i = 0; more && i < b->hdr.bh1.num_pkts; i++) {
		struct tpacket3_hdr *h = (void *)at;

		more = packet_deliver(s, h, fn, arg);
		at += h->tp_next_offset;
	}
	packet_socket_release(s);
	return more;
}

static int wait_for_block(const struct packet_socket *s, int wait_ms)
{
	struct pollfd p = {.fd = s->fd, .events = POLLIN};
	int error = 0, r = poll(&p, 1, wait_ms);
	socklen_t size = sizeof(error);

	if (r < 0)
		return errno == EINTR ? 0 : -errno;
	if (r > 0 && p.revents & POLLERR) {
		getsockopt(s->fd, SOL_SOCKET, SO_ERROR, &error, &size);
		return error ? -error : -EIO;
	}
	return 0;
}

int packet_socket_next(struct packet_socket *s, int wait_ms, sniffed_fn *fn, void *arg,
		       struct err *e)
{
	int r = packet_socket_is_ours(block_of(s)) ? 0 : wait_for_block(s, wait_ms);

	if (r < 0)
		return err_set(e, r, "%s", strerror(-r));
	for (size_t i = 0; i < N_BLOCKS && packet_socket_is_ours(block_of(s)); i++)
		if (!block_deliver(s, fn, arg))
			return 0;
	return 1;
}

uint64_t packet_socket_drops(const struct packet_socket *s)
{
	struct tpacket_stats_v3 stats = {0};
	socklen_t size = sizeof(stats);

	if (getsockopt(s->fd, SOL_PACKET, PACKET_STATISTICS, &stats, &size) < 0)
		return 0;
	return stats.tp_drops;
}

// SPDX-License-Identifier: Apache-2.0
/* mk_sysfs.c - writes a synthetic sysfs tree of a RoCE node (mlx5-like), for tests and benchmarks.
 *
 *   mk_sysfs DIR [NPF=8] [NVF=0] [PROFILE=brief|upstream]
 *
 * NPF physical functions with one RDMA device, port and netdev each; NVF virtual functions like
 * them, distributed evenly over the PFs. PROFILE upstream has the files of Linux 6.12's mlx5 on
 * Ethernet: 21 counters/, 31 hw_counters/ and lifespan; brief pads them to 24 and 44. The
 * environment's TICK=n adds n steps to every counter, so that a second run over the same tree makes
 * a second sample with known deltas. Without clock or randomness: two runs write the same bytes.
 *
 * The layout is the kernel's as far as readers need it: directories below devices/, relative links
 * below class/, virtfnN and physfn, the character devices of each RDMA device. A VF is on its PF's
 * NUMA node, of which there are two. With BUS=1 in the environment also bus/pci, with classes,
 * drivers, IOMMU groups, configuration spaces and the files of network devices that a scan reads;
 * without it the tree is as small as a copied one. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define DEVICES	      "devices/pci0000:00"
#define LINE_MAX_LEN  256

/* linux/drivers/infiniband/core/sysfs.c, pma_attrs_ext[] */
static const char *const counters[] = {
	"symbol_error",
	"link_error_recovery",
	"link_downed",
	"port_rcv_errors",
	"port_rcv_remote_physical_errors",
	"port_rcv_switch_relay_errors",
	"port_xmit_discards",
	"port_xmit_constraint_errors",
	"port_rcv_constraint_errors",
	"local_link_integrity_errors",
	"excessive_buffer_overrun_errors",
	"VL15_dropped",
	"port_xmit_data",
	"port_rcv_data",
	"port_xmit_packets",
	"port_xmit_wait",
	"port_rcv_packets",
	"unicast_rcv_packets",
	"unicast_xmit_packets",
	"multicast_rcv_packets",
	"multicast_xmit_packets",
	/* padding of the profile `brief`, not from a kernel */
	"port_rcv_discards",
	"qp1_dropped",
	"pad_counter",
};
#define N_UPSTREAM_COUNTERS 21

/* linux/drivers/infiniband/hw/mlx5/counters.c */
static const char *const hw_counters[] = {
	"rx_write_requests",
	"rx_read_requests",
	"rx_atomic_requests",
	"rx_dct_connect",
	"out_of_buffer",
	"out_of_sequence",
	"duplicate_request",
	"rnr_nak_retry_err",
	"packet_seq_err",
	"implied_nak_seq_err",
	"local_ack_timeout_err",
	"resp_local_length_error",
	"resp_cqe_error",
	"req_cqe_error",
	"req_remote_invalid_request",
	"req_remote_access_errors",
	"resp_remote_access_errors",
	"resp_cqe_flush_error",
	"req_cqe_flush_error",
	"req_transport_retries_exceeded",
	"req_rnr_retries_exceeded",
	"roce_adp_retrans",
	"roce_adp_retrans_to",
	"roce_slow_restart",
	"roce_slow_restart_cnps",
	"roce_slow_restart_trans",
	"rp_cnp_ignored",
	"rp_cnp_handled",
	"np_ecn_marked_roce_packets",
	"np_cnp_sent",
	"rx_icrc_encapsulated",
	/* padding of the profile `brief`: counters of a switchdev representor */
	"vport_rx_write_requests",
	"vport_rx_read_requests",
	"vport_rx_atomic_requests",
	"vport_rx_dct_connect",
	"vport_out_of_buffer",
	"vport_out_of_sequence",
	"vport_duplicate_request",
	"vport_rnr_nak_retry_err",
	"vport_packet_seq_err",
	"vport_implied_nak_seq_err",
	"vport_local_ack_timeout_err",
	"vport_roce_adp_retrans",
	"vport_roce_slow_restart",
};
#define N_UPSTREAM_HW_COUNTERS 31

struct device {
	char name[32], pci[32], netdev[32];
	char pf[32]; /* PCI address of the VF's PF; "" = is a PF itself */
	unsigned seed, ifindex, numa;
	unsigned index; /* in the names of its character devices */
};

static unsigned n_counters = ARRAY_SIZE(counters), n_hw_counters = ARRAY_SIZE(hw_counters);
static uint64_t tick;
static bool with_bus;
static unsigned n_files;

static void die(const char *what)
{
	fprintf(stderr, "mk_sysfs: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* Creates the directory with its parents and opens it. */
__attribute__((format(printf, 2, 3))) static int enter(int dir, const char *fmt, ...)
{
	char path[LINE_MAX_LEN];
	va_list ap;
	int fd;

	va_start(ap, fmt);
	vsnprintf(path, sizeof(path), fmt, ap);
	va_end(ap);
	for (char *p = strchr(path + 1, '/'); p; p = strchr(p + 1, '/')) {
		*p = '\0';
		mkdirat(dir, path, 0755);
		*p = '/';
	}
	mkdirat(dir, path, 0755);
	fd = openat(dir, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		die(path);
	return fd;
}

__attribute__((format(printf, 3, 4))) static void put(int dir, const char *file, const char *fmt,
						      ...)
{
	char text[LINE_MAX_LEN];
	int fd = openat(dir, file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644), n;
	va_list ap;

	va_start(ap, fmt);
	n = vsnprintf(text, sizeof(text) - 1, fmt, ap);
	va_end(ap);
	text[n++] = '\n';
	if (fd < 0 || write(fd, text, (size_t)n) != n)
		die(file);
	close(fd);
	n_files++;
}

__attribute__((format(printf, 3, 4))) static void put_link(int dir, const char *name,
							   const char *fmt, ...)
{
	char target[LINE_MAX_LEN];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(target, sizeof(target), fmt, ap);
	va_end(ap);
	if (symlinkat(target, dir, name) < 0 && errno != EEXIST)
		die(name);
}

static void put_counters(int port, const struct device *d)
{
	int dir = enter(port, "counters");

	for (unsigned i = 0; i < n_counters; i++) {
		size_t len = strlen(counters[i]);
		uint64_t v = d->seed * 1000003ull + (i + 1) * 7919ull + tick * (i + 1) * 100;

		if (len > 5 && strcmp(counters[i] + len - 5, "_data") == 0)
			v *= 100000;
		put(dir, counters[i], "%llu", (unsigned long long)v);
	}
	close(dir);
}

static void put_hw_counters(int port, const struct device *d)
{
	int dir = enter(port, "hw_counters");

	for (unsigned i = 0; i < n_hw_counters; i++)
		put(dir, hw_counters[i], "%llu",
		    (unsigned long long)(d->seed * 101ull + (i + 1) * 31ull + tick * (i + 1)));
	put(dir, "lifespan", "10");
	close(dir);
}

/* A link-local GID and one of an IPv4 address, as on a RoCE port. */
static void put_gids(int port, const struct device *d)
{
	int gids = enter(port, "gids"), types = enter(port, "gid_attrs/types");
	int ndevs = enter(port, "gid_attrs/ndevs");

	put(gids, "0", "fe80:0000:0000:0000:a288:c2ff:fe03:%04x", d->seed);
	put(types, "0", "IB/RoCE v1");
	put(ndevs, "0", "%s", d->netdev);
	put(gids, "3", "0000:0000:0000:0000:0000:ffff:0a%02x:%02x01", d->seed / 256 % 256,
	    d->seed % 256);
	put(types, "3", "RoCE v2");
	put(ndevs, "3", "%s", d->netdev);
	close(gids);
	close(types);
	close(ndevs);
}

static void put_port(int rdma, const struct device *d)
{
	int port = enter(rdma, "ports/1");

	put(port, "link_layer", "Ethernet");
	put(port, "state", "4: ACTIVE");
	put(port, "phys_state", "5: LinkUp");
	put(port, "rate", "400 Gb/sec (4X NDR)");
	put(port, "lid", "0x0");
	put(port, "sm_lid", "0x0");
	put(port, "cap_mask", "0x04010000");
	put_gids(port, d);
	put_counters(port, d);
	put_hw_counters(port, d);
	close(port);
}

static void put_rdma(int function, const struct device *d)
{
	int dir = enter(function, "infiniband/%s", d->name);

	put(dir, "fw_ver", "28.39.3004");
	put(dir, "board_id", "MT_0000000838");
	put(dir, "hca_type", "MT4129");
	put(dir, "hw_rev", "0");
	put(dir, "node_type", "1: CA");
	put(dir, "node_desc", "gpu-node %s", d->name);
	put(dir, "node_guid", "a088:c203:%04x:%04x", d->seed / 65536, d->seed % 65536);
	put(dir, "sys_image_guid", "a088:c203:%04x:0000", d->seed / 65536);
	put_link(dir, "device", "../../../%s", d->pci);
	put_port(dir, d);
	close(dir);
}

static void put_netdev(int function, const struct device *d)
{
	int dir = enter(function, "net/%s", d->netdev);

	put(dir, "ifindex", "%u", d->ifindex);
	put(dir, "operstate", "up");
	put(dir, "flags", "0x1003");
	put(dir, "carrier", "1");
	put(dir, "mtu", "9000");
	put(dir, "speed", "400000");
	put(dir, "dev_port", "0");
	put(dir, "address", "a0:88:c2:03:%02x:%02x", d->seed / 256 % 256, d->seed % 256);
	put_link(dir, "device", "../../../%s", d->pci);
	close(enter(dir, "statistics"));
	if (with_bus) {
		put(dir, "flags", "0x1003");
		put(dir, "carrier", "1");
		put(dir, "carrier_changes", "2");
		put(dir, "type", "1");
		put(dir, "iflink", "%u", d->ifindex);
		put(dir, "phys_port_name", "p0");
	}
	close(dir);
}

/* The beginning of a configuration space: vendor and device ID, which read as ones in a VF. */
static void put_config(int function, const struct device *d)
{
	static const uint8_t pf[64] = {0xb3, 0x15, 0x21, 0x10}, vf[64] = {0xff, 0xff, 0xff, 0xff};
	int fd = openat(function, "config", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	if (fd < 0 || write(fd, d->pf[0] ? vf : pf, sizeof(pf)) != sizeof(pf))
		die("config");
	close(fd);
	n_files++;
}

static void put_bus(int root, int function, const struct device *d)
{
	int dir = enter(root, "bus/pci/devices");

	put_link(dir, d->pci, "../../../" DEVICES "/%s", d->pci);
	close(dir);
	close(enter(root, "bus/pci/drivers/mlx5_core"));
	close(enter(root, "kernel/iommu_groups/%u", d->seed));
	put_link(function, "iommu_group", "../../../kernel/iommu_groups/%u", d->seed);
	put_config(function, d);
	dir = enter(function, "power");
	put(dir, "runtime_status", "active");
	close(dir);
}

/* One character device and its entry in the class. */
static void put_chardev(int root, const struct device *d, const char *class, const char *kind,
			unsigned minor)
{
	int dir = enter(root, DEVICES "/%s/%s/%s%u", d->pci, class, kind, d->index);
	int class_dir = enter(root, "class/%s", class);
	char name[32];

	snprintf(name, sizeof(name), "%s%u", kind, d->index);
	put(dir, "ibdev", "%s", d->name);
	put(dir, "dev", "231:%u", minor);
	if (strcmp(class, "infiniband_mad") == 0)
		put(dir, "port", "1");
	put_link(class_dir, name, "../../" DEVICES "/%s/%s/%s", d->pci, class, name);
	close(dir);
	close(class_dir);
}

/* Minor numbers as in linux/drivers/infiniband/core/{uverbs_main,user_mad}.c (IB_UVERBS_BASE_MINOR
 * etc.); from the 33rd device on the kernel allocates them dynamically. */
static void put_chardevs(int root, const struct device *d)
{
	put_chardev(root, d, "infiniband_verbs", "uverbs", 192 + d->index);
	put_chardev(root, d, "infiniband_mad", "umad", d->index);
	put_chardev(root, d, "infiniband_mad", "issm", 64 + d->index);
}

static void put_function(int dir, const struct device *d)
{
	put(dir, "vendor", "0x15b3");
	put(dir, "class", "0x020000");
	put_link(dir, "driver", "../../../bus/pci/drivers/mlx5_core");
	put(dir, "numa_node", "%u", d->numa);
	put(dir, "device", d->pf[0] ? "0x101e" : "0x1021");
	if (d->pf[0]) {
		put_link(dir, "physfn", "../%s", d->pf);
		return;
	}
	put(dir, "sriov_totalvfs", "16");
	put(dir, "sriov_numvfs", "0");
}

static void put_device(int root, const struct device *d)
{
	int function = enter(root, DEVICES "/%s", d->pci), class;

	put_function(function, d);
	if (with_bus)
		put_bus(root, function, d);
	put_rdma(function, d);
	put_netdev(function, d);
	put_chardevs(root, d);
	close(function);
	class = enter(root, "class/infiniband");
	put_link(class, d->name, "../../" DEVICES "/%s/infiniband/%s", d->pci, d->name);
	close(class);
	class = enter(root, "class/net");
	put_link(class, d->netdev, "../../" DEVICES "/%s/net/%s", d->pci, d->netdev);
	close(class);
}

/* PFs are 18 bus numbers apart; when a domain is full, the next one is used. */
static void pf_address(unsigned pf, unsigned slot, char ret[32])
{
	unsigned bus = 24 + pf % 12 * 18;

	snprintf(ret, 32, "%04x:%02x:%02x.%x", pf / 12, bus, slot / 8 % 32, slot % 8);
}

static void make_pf(int root, unsigned pf)
{
	struct device d = {.seed = pf + 1, .ifindex = 10 + pf, .numa = pf % 2, .index = pf};

	snprintf(d.name, sizeof(d.name), "mlx5_%u", pf);
	snprintf(d.netdev, sizeof(d.netdev), "ens%unp0", pf + 1);
	pf_address(pf, 0, d.pci);
	put_device(root, &d);
}

static void make_vf(int root, unsigned vf, unsigned n_pfs)
{
	unsigned pf = vf % n_pfs, index = vf / n_pfs;
	struct device d = {
		.seed = 1000 + vf, .ifindex = 10 + n_pfs + vf, .numa = pf % 2, .index = n_pfs + vf};
	char link[32];
	int dir;

	snprintf(d.name, sizeof(d.name), "mlx5_%u", n_pfs + vf);
	snprintf(d.netdev, sizeof(d.netdev), "ens%uv%u", pf + 1, index);
	pf_address(pf, 0, d.pf);
	pf_address(pf, index + 1, d.pci);
	put_device(root, &d);
	dir = enter(root, DEVICES "/%s", d.pf);
	snprintf(link, sizeof(link), "virtfn%u", index);
	put_link(dir, link, "../%s", d.pci);
	put(dir, "sriov_numvfs", "%u", index + 1);
	close(dir);
}

static unsigned number(const char *text, unsigned max)
{
	char *end;
	unsigned long v = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || v > max) {
		fprintf(stderr, "mk_sysfs: %s: not a number up to %u\n", text, max);
		exit(2);
	}
	return (unsigned)v;
}

int main(int argc, char **argv)
{
	unsigned n_pfs = argc > 2 ? number(argv[2], 1000) : 8;
	unsigned n_vfs = argc > 3 ? number(argv[3], 100000) : 0;
	int root;

	if (argc < 2 || argc > 5 || argv[1][0] == '-' ||
	    (n_vfs && (!n_pfs || n_vfs / n_pfs > 254))) {
		fprintf(stderr, "usage: mk_sysfs DIR [NPF] [NVF, up to 254 per PF] "
				"[brief|upstream]\n");
		return 2;
	}
	if (argc > 4 && strcmp(argv[4], "upstream") == 0) {
		n_counters = N_UPSTREAM_COUNTERS;
		n_hw_counters = N_UPSTREAM_HW_COUNTERS;
	}
	if (getenv("TICK"))
		tick = number(getenv("TICK"), 1000000000);
	with_bus = getenv("BUS") && number(getenv("BUS"), 1);
	root = enter(AT_FDCWD, "%s", argv[1]);
	close(enter(root, "class/infiniband"));
	close(enter(root, "class/net"));
	for (unsigned i = 0; i < n_pfs; i++)
		make_pf(root, i);
	for (unsigned i = 0; i < n_vfs; i++)
		make_vf(root, i, n_pfs);
	printf("%s: %u PFs and %u VFs in %u files\n", argv[1], n_pfs, n_vfs, n_files);
	return 0;
}

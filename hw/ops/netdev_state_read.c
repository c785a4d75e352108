// SPDX-License-Identifier: Apache-2.0
/* netdev_state_read.c - takes a snapshot of a netdev's state from all sources.
 *
 * Success: rtnetlink, the BPF system call, ethtool netlink (most requests in one datagram), its
 * ioctls, netdev and net-shaper netlink, sysfs. An error of any source makes its sections unknown,
 * not the others. */
#include "netdev_state_read.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/ethtool.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <linux/net_tstamp.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <netlink/attr.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cleanup.h"
#include "genl.h"
#include "own_programs.h"
#include "rtnl.h"
#include "search.h"
#include "sysfs.h"

struct state_reader {
	struct netdev_state *state;
	const struct hw *hw;
	int ifindex;
	const char *name;
	struct nlsock genl;
	int ioctl_fd;
};

static void sections_unknown(struct state_reader *l, enum netdev_section from,
			     enum netdev_section to)
{
	for (unsigned i = from; i <= to; i++)
		netdev_state_unknown(l->state, (enum netdev_section)i);
}

/* --- rtnetlink -------------------------------------------------------------------------------- */

static int netdev_state_on_link(const struct nlmsghdr *h, void *arg)
{
	return netdev_state_link(arg, h);
}

static void read_link(struct state_reader *l, struct nlsock *rtnl)
{
	if (nlsock_query(rtnl, rtnl_get_link(l->ifindex, NULL), netdev_state_on_link, l->state,
			 NULL) < 0)
		sections_unknown(l, STATE_LINK, STATE_XDP);
}

/* --- tcx -------------------------------------------------------------------------------------- */

/* linux/bpf.h since v6.6; headers may be older than the kernel. */
#define TCX_INGRESS  46
#define TCX_EGRESS   47
#define PROGRAMS_MAX 64 /* BPF_MPROG_MAX, linux/include/linux/bpf_mprog.h */

/* Adds the ids of the tcx programs. -EINVAL: kernels before 6.6 have no tcx. -ENOENT: no program
 * was ever attached. */
static void read_tcx(struct state_reader *l, uint32_t type)
{
	uint32_t ids[PROGRAMS_MAX] = {0};
	union bpf_attr a = {.query = {.target_fd = (uint32_t)l->ifindex,
				      .attach_type = type,
				      .prog_ids = (uintptr_t)ids,
				      .prog_cnt = PROGRAMS_MAX}};

	if (syscall(SYS_bpf, BPF_PROG_QUERY, &a, sizeof(a)) < 0) {
		if (errno != EINVAL && errno != ENOENT)
			netdev_state_unknown(l->state, STATE_TCX);
		return;
	}
	for (uint32_t i = 0; i < a.query.prog_cnt && i < PROGRAMS_MAX; i++)
		if (!own_program_is(ids[i]))
			netdev_state_add(l->state, STATE_TCX, type, &ids[i], sizeof(ids[i]));
}

/* --- ethtool ---------------------------------------------------------------------------------- */

/* These families are built into the kernel, so their ids are valid until reboot. */
enum family { FAMILY_ETHTOOL, FAMILY_NETDEV, FAMILY_SHAPER, N_FAMILIES };

/* Returns the family's id, 0 if the kernel has no such family or the request failed. */
static uint16_t family_of(struct state_reader *l, enum family which)
{
	/* linux/include/uapi/linux/{ethtool_netlink,netdev,net_shaper}.h */
	static const char *const names[N_FAMILIES] = {"ethtool", "netdev", "net-shaper"};
	static _Atomic uint16_t known[N_FAMILIES];
	uint16_t family = known[which];

	if (!family)
		known[which] = family = nlsock_family(&l->genl, names[which]);
	return family;
}

static void netdev_on_answer(size_t i, const struct nlmsghdr *h, int error, void *arg)
{
	netdev_state_answer(arg, i, h, error);
}

static int on_rss(const struct nlmsghdr *h, void *arg)
{
	netdev_state_rss(arg, h);
	return 0;
}

static void read_ethtool(struct state_reader *l)
{
	uint16_t family = family_of(l, FAMILY_ETHTOOL);
	uint8_t questions[4096] __attribute__((aligned(NLMSG_ALIGNTO)));
	enum netdev_section section;
	size_t n = 0, len = 0;
	struct nl_msg *msg;
	int r;

	if (!family) {
		sections_unknown(l, STATE_OFFLOADS, STATE_RSS);
		return;
	}
	for (; (msg = netdev_state_question(n, family, l->ifindex, &section)); n++) {
		const struct nlmsghdr *h = nlmsg_hdr(msg);

		memcpy(questions + len, h, h->nlmsg_len);
		len += NLMSG_ALIGN(h->nlmsg_len);
		nlmsg_free(msg);
	}
	nlsock_batch(&l->genl, questions, len, n, netdev_on_answer, l->state);
	r = nlsock_query(&l->genl, netdev_state_rss_dump(family, l->ifindex), on_rss, l->state,
			 NULL);
	if (r < 0 && r != -EOPNOTSUPP)
		netdev_state_unknown(l->state, STATE_RSS);
}

/* --- netdev netlink, net-shaper netlink ------------------------------------------------------- */

static struct nl_msg *dump_of(uint16_t family, uint8_t command, int attr, int ifindex)
{
	struct nl_msg *msg = genl_request(family, command, 1, NLM_F_DUMP);

	if (msg && nla_put_u32(msg, attr, (uint32_t)ifindex) < 0) {
		nlmsg_free(msg);
		return NULL;
	}
	return msg;
}

/* linux/include/uapi/linux/netdev.h */
#define NETDEV_NAPI_GET	    11
#define NETDEV_NAPI_IFINDEX 1

static int on_napi(const struct nlmsghdr *h, void *arg)
{
	return netdev_state_napi(arg, h);
}

static void read_napi(struct state_reader *l)
{
	uint16_t family = family_of(l, FAMILY_NETDEV);
	int r;

	if (!family)
		return;
	r = nlsock_query(&l->genl,
			 dump_of(family, NETDEV_NAPI_GET, NETDEV_NAPI_IFINDEX, l->ifindex), on_napi,
			 l->state, NULL);
	if (r < 0 && r != -EOPNOTSUPP)
		netdev_state_unknown(l->state, STATE_NAPI);
}

/* linux/include/uapi/linux/net_shaper.h */
#define SHAPER_GET     1
#define SHAPER_IFINDEX 8

static int on_shaper(const struct nlmsghdr *h, void *arg)
{
	netdev_state_add(arg, STATE_QUEUES, SHAPER_IFINDEX, nlmsg_data(h),
			 (size_t)nlmsg_datalen(h));
	return 0;
}

static void read_shapers(struct state_reader *l)
{
	uint16_t family = family_of(l, FAMILY_SHAPER);
	int r;

	if (!family)
		return;
	r = nlsock_query(&l->genl, dump_of(family, SHAPER_GET, SHAPER_IFINDEX, l->ifindex),
			 on_shaper, l->state, NULL);
	if (r < 0 && r != -EOPNOTSUPP)
		netdev_state_unknown(l->state, STATE_QUEUES);
}

/* --- sysfs ------------------------------------------------------------------------------------ */

/* True for queue attributes that change with traffic; they are not compared. */
static bool is_volatile(const char *name)
{
	static const char *const names[] = {"tx_timeout", "inflight", "limit", "stall_cnt",
					    "stall_max"};

	return any_of(ARRAY_SIZE(names), i, strcmp(names[i], name) == 0);
}

/* Returns the section of a queue's file. Drivers set xps_cpus by themselves, so it has its own
 * section. */
static enum netdev_section file_section(const char *name)
{
	return strcmp(name, "xps_cpus") == 0   ? STATE_XPS
	       : strncmp(name, "rps_", 4) == 0 ? STATE_RPS
					       : STATE_QUEUES;
}

/* True for "00000000,00000000" and "0", which mean "not set". */
static bool netdev_is_zero(const char *text)
{
	return text[strspn(text, "0,")] == '\0';
}

/* Adds one file, or a folder of files. A file that the driver does not support is skipped. */
static int on_file(int dir, const char *name, void *arg)
{
	enum netdev_section section = file_section(name);
	struct state_reader *l = arg;
	char text[SYSFS_ATTR_MAX];
	int r;

	if (is_volatile(name))
		return 0;
	r = sysfs_str(dir, text, sizeof(text), "%s", name);
	if (r == -EISDIR)
		r = sysfs_list(dir, name, on_file, l);
	else if (r >= 0 && (section == STATE_QUEUES || !netdev_is_zero(text))) {
		netdev_state_add(l->state, section, 0, name, strlen(name));
		netdev_state_add(l->state, section, 0, text, strlen(text));
	}
	if (r == -ENOMEM || r == -EMFILE || r == -ENFILE || r == -ENODEV)
		netdev_state_unknown(l->state, section);
	return 0;
}

static int on_queue(int dir, const char *name, void *arg)
{
	sysfs_list(dir, name, on_file, arg);
	return 0;
}

static void read_state_file(struct state_reader *l, int dir, enum netdev_section section,
			    const char *name)
{
	char text[SYSFS_ATTR_MAX];
	int r = sysfs_str(dir, text, sizeof(text), "%s", name);

	if (r >= 0)
		netdev_state_add(l->state, section, 0, text, strlen(text));
	else if (r != -ENOENT)
		netdev_state_unknown(l->state, section);
}

/* Adds the files of the netdev and its queues. If another netdev has the name afterwards, all
 * sections read by name are unknown. */
static void read_sysfs_files(struct state_reader *l)
{
	AUTO_FD dir = sysfs_open_dir(l->hw->sys_fd, "class/net/%s", l->name);
	int index = 0;

	if (dir >= 0) {
		read_state_file(l, dir, STATE_NAPI, "threaded");
		read_state_file(l, dir, STATE_NAPI, "napi_defer_hard_irqs");
		read_state_file(l, dir, STATE_NAPI, "gro_flush_timeout");
		read_state_file(l, dir, STATE_LINK, "power/control");
		read_state_file(l, dir, STATE_LINK, "power/async");
		if (sysfs_list(dir, "queues", on_queue, l) < 0)
			dir = (close(dir), -1);
	}
	if (dir < 0 || sysfs_int(dir, &index, "ifindex") < 0 || index != l->ifindex)
		sections_unknown(l, STATE_RULES, STATE_QUEUES);
}

static int netdev_on_entry(int dir, const char *entry, void *arg)
{
	(void)dir;
	if (strncmp(entry, "upper_", 6) == 0)
		snprintf(arg, IFNAMSIZ, "%.15s", entry + 6);
	return 0;
}

bool netdev_upper_here(const struct hw *hw, const char *name, char ret[IFNAMSIZ])
{
	char path[64];

	ret[0] = '\0';
	snprintf(path, sizeof(path), "class/net/%.15s", name);
	sysfs_list(hw->sys_fd, path, netdev_on_entry, ret);
	return ret[0];
}

/* --- ioctls ----------------------------------------------------------------------------------- */

/* Runs one ethtool ioctl; returns a negative errno. */
static int ethtool_ioctl(struct state_reader *l, void *question)
{
	struct ifreq ifr = {.ifr_data = question};

	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", l->name);
	return ioctl(l->ioctl_fd, SIOCETHTOOL, &ifr) < 0 ? -errno : 0;
}

/* Adds the value or the error code; -EOPNOTSUPP adds nothing. */
static void netdev_add_answer(struct state_reader *l, enum netdev_section section, uint32_t what,
			      int r, uint32_t value)
{
	if (r == -EPERM || r == -ENODEV || r == -ENOMEM || r == -EBADF)
		netdev_state_unknown(l->state, section);
	else if (r != -EOPNOTSUPP)
		netdev_state_add(l->state, section, what, r < 0 ? (void *)&r : (void *)&value,
				 r < 0 ? sizeof(r) : sizeof(value));
}

/* Reads only the number of classification rules. If there are any, the section is unknown, as they
 * cannot be compared. */
static void read_rules(struct state_reader *l)
{
	struct ethtool_rxnfc rules = {.cmd = ETHTOOL_GRXCLSRLCNT};
	int r = ethtool_ioctl(l, &rules);

	if ((r < 0 && r != -EOPNOTSUPP) || rules.rule_cnt)
		netdev_state_unknown(l->state, STATE_RULES);
}

/* Adds the hash fields for every flow type. A driver that does not support TCP supports none. */
static void read_hash_fields(struct state_reader *l)
{
	for (uint32_t kind = TCP_V4_FLOW; kind <= ETHER_FLOW; kind++) {
		struct ethtool_rxnfc hash = {.cmd = ETHTOOL_GRXFH, .flow_type = kind};
		int r = ethtool_ioctl(l, &hash);

		if (kind == TCP_V4_FLOW && r == -EOPNOTSUPP)
			return;
		netdev_add_answer(l, STATE_RSS, kind, r, (uint32_t)hash.data);
	}
}

/* Adds the tunables of linux/include/uapi/linux/ethtool.h: rx_copybreak, tx_copybreak,
 * pfc_prevention_tout, tx_copybreak_buf_size. */
static void read_tunables(struct state_reader *l)
{
	static const uint32_t types[] = {ETHTOOL_TUNABLE_U32, ETHTOOL_TUNABLE_U32,
					 ETHTOOL_TUNABLE_U16, ETHTOOL_TUNABLE_U32};

	for (uint32_t i = 0; i < ARRAY_SIZE(types); i++) {
		const struct ethtool_tunable question = {
			.cmd = ETHTOOL_GTUNABLE,
			.id = i + 1,
			.type_id = types[i],
			.len = types[i] == ETHTOOL_TUNABLE_U16 ? 2 : 4};
		uint32_t q[sizeof(question) / 4 + 1] = {0};
		int r;

		memcpy(q, &question, sizeof(question));
		r = ethtool_ioctl(l, q);
		netdev_add_answer(l, STATE_QUEUES, i, r, q[sizeof(question) / 4]);
	}
}

static void read_time_stamps(struct state_reader *l)
{
	struct hwtstamp_config stamps = {0};
	struct ifreq ifr = {.ifr_data = (void *)&stamps};

	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", l->name);
	if (ioctl(l->ioctl_fd, SIOCGHWTSTAMP, &ifr) == 0)
		netdev_state_add(l->state, STATE_TIMESTAMPS, 0, &stamps, sizeof(stamps));
	else if (errno != EOPNOTSUPP)
		netdev_state_unknown(l->state, STATE_TIMESTAMPS);
}

static void read_by_ioctl(struct state_reader *l)
{
	AUTO_FD fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	l->ioctl_fd = fd;
	read_rules(l);
	read_hash_fields(l);
	read_tunables(l);
	read_time_stamps(l);
}

/* --- snapshot --------------------------------------------------------------------------------- */

void netdev_state_read(struct netdev_state *ret, const struct hw *hw, struct nlsock *rtnl,
		       int ifindex, const char *name)
{
	struct state_reader l = {.state = ret, .hw = hw, .ifindex = ifindex, .name = name};

	netdev_state_begin(ret);
	read_link(&l, rtnl);
	read_tcx(&l, TCX_INGRESS);
	read_tcx(&l, TCX_EGRESS);
	if (nlsock_open(&l.genl, NETLINK_GENERIC, NULL) == 0) {
		read_ethtool(&l);
		read_napi(&l);
		read_shapers(&l);
		nlsock_close(&l.genl);
	} else {
		sections_unknown(&l, STATE_OFFLOADS, STATE_NAPI);
		netdev_state_unknown(l.state, STATE_QUEUES);
	}
	read_by_ioctl(&l);
	read_sysfs_files(&l);
}

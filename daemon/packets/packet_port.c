// SPDX-License-Identifier: Apache-2.0
/* packet_port.c - see packet_port.h.
 *
 * Success: open the object, size its maps, load -> in the interface's namespace: a link per
 * direction (tcx; BPF_LINK_CREATE) or a clsact filter per direction, or one XDP link -> keep the
 * descriptors, and free the object, which needs more memory. Failures: no permission, a kernel
 * without the helpers, an interface that was removed or whose XDP is in use. */
#include "packet_port.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fcntl.h>
#include <linux/if_link.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>

#include "bpf_log.h"
#include "cleanup.h"
#include "netns.h"
#include "own_programs.h"
#include "packet_clsact.h"
#include "roce_flows.h"
#include "roce_packets.skel.h"

/* linux/bpf.h since v6.6; headers may be older than the kernel. */
#define TCX_INGRESS 46
#define TCX_EGRESS  47
#define TCX_BEFORE                                                                                 \
	(1u << 3) /* BPF_F_BEFORE: before all other programs, so that packets that they drop are   \
		   * counted */

#define COPY_TRIES 8

struct packet_port_fd {
	int counts_fd, flows_fd; /* flows_fd: -1 = none */
	uint32_t n_sets;	 /* of its flow table */
	int link_fd[N_ROCE_DIRECTIONS];
	uint32_t program[N_ROCE_DIRECTIONS]; /* program ids, see own_programs.h */
	struct packet_clsact *clsact;
	uint64_t memory;
};

struct attaching {
	const struct packet_port_spec *spec;
	struct bpf_object *object;
	struct packet_port_fd *port;
	enum packet_hook hook;
	struct err *err;
};

/* --- attach, inside the namespace ----------------------------------------------------------- */

/* Checks that the interface is Ethernet, because the decoder expects MAC addresses first. */
static int check_interface(int ifindex, struct err *e)
{
	AUTO_FD fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq ifr = {.ifr_ifindex = ifindex};

	if (fd < 0 || ioctl(fd, SIOCGIFNAME, &ifr) < 0 || ioctl(fd, SIOCGIFHWADDR, &ifr) < 0)
		return err_set(e, -errno, "interface %d: %s", ifindex, strerror(errno));
	if (ifr.ifr_hwaddr.sa_family != ARPHRD_ETHER && ifr.ifr_hwaddr.sa_family != ARPHRD_LOOPBACK)
		return err_set(e, -EOPNOTSUPP, "%s: not an Ethernet interface", ifr.ifr_name);
	return 0;
}

static struct bpf_program *packet_port_program_of(const struct bpf_object *object, const char *name)
{
	return bpf_object__find_program_by_name(object, name);
}

/* Returns the program in one of its two variants, because the code for flows costs time even if
 * they are not counted. */
static const struct bpf_program *variant_of(const struct attaching *a, const char *name)
{
	char with_flows[32];

	snprintf(with_flows, sizeof(with_flows), "%s_flows", name);
	return packet_port_program_of(a->object, a->spec->flows ? with_flows : name);
}

static int link_create(const struct bpf_program *program, int ifindex, int type, unsigned flags)
{
	struct bpf_link_create_opts opts = {.sz = sizeof(opts), .flags = flags};
	int fd = bpf_link_create(bpf_program__fd(program), ifindex, (enum bpf_attach_type)type,
				 &opts);

	return fd < 0 ? -errno : fd;
}

static int attach_xdp(struct attaching *a)
{
	const struct bpf_program *program = variant_of(a, "roce_xdp");
	int fd = link_create(program, a->spec->ifindex, BPF_XDP, XDP_FLAGS_DRV_MODE);

	if (fd == -EEXIST || fd == -EBUSY)
		return err_set(a->err, -EBUSY, "XDP: another program is attached");
	if (fd < 0)
		fd = link_create(program, a->spec->ifindex, BPF_XDP, XDP_FLAGS_SKB_MODE);
	if (fd < 0)
		return err_set(a->err, fd, "XDP: %s", strerror(-fd));
	a->port->link_fd[ROCE_RECEIVED] = fd;
	a->hook = PACKET_HOOK_XDP;
	return 0;
}

static int attach_tcx(struct attaching *a)
{
	int *fd = a->port->link_fd;

	a->port->program[ROCE_RECEIVED] = own_program_add(
		bpf_program__fd(variant_of(a, "roce_received")));
	a->port->program[ROCE_SENT] = own_program_add(bpf_program__fd(variant_of(a, "roce_sent")));
	fd[ROCE_RECEIVED] = link_create(variant_of(a, "roce_received"), a->spec->ifindex,
					TCX_INGRESS, TCX_BEFORE);
	if (fd[ROCE_RECEIVED] < 0)
		return fd[ROCE_RECEIVED];
	fd[ROCE_SENT] = link_create(variant_of(a, "roce_sent"), a->spec->ifindex, TCX_EGRESS,
				    TCX_BEFORE);
	if (fd[ROCE_SENT] < 0)
		return fd[ROCE_SENT];
	a->hook = PACKET_HOOK_TCX;
	return 0;
}

/* Attaches with tcx. Kernels before 6.6 reject that attach type with -EINVAL; then uses clsact. */
static int attach_tc(struct attaching *a)
{
	int r = a->spec->clsact ? -EINVAL : attach_tcx(a);

	if (r != -EINVAL)
		return r < 0 ? err_set(a->err, r, "tcx: %s", strerror(-r)) : 0;
	r = packet_clsact_attach(&a->port->clsact, a->spec->netns_fd, a->spec->ifindex,
				 bpf_program__fd(variant_of(a, "roce_received")),
				 bpf_program__fd(variant_of(a, "roce_sent")), a->err);
	if (r == 0)
		a->hook = PACKET_HOOK_CLSACT;
	return r;
}

static int attach_in_netns(void *arg)
{
	struct attaching *a = arg;
	int r = check_interface(a->spec->ifindex, a->err);

	if (r < 0)
		return r;
	return a->spec->xdp ? attach_xdp(a) : attach_tc(a);
}

/* --- load ----------------------------------------------------------------------------------- */

static struct bpf_map *map_of(const struct bpf_object *object, const char *name)
{
	return bpf_object__find_map_by_name(object, name);
}

static struct roce_packets_bpf__rodata *constants_of(const struct bpf_object *object)
{
	struct bpf_map *map;
	size_t size;
	void *constants;

	bpf_object__for_each_map(map, object)
	{
		if (!strstr(bpf_map__name(map), ".rodata"))
			continue;
		/* Older versions of libbpf return const, although the memory is meant to be
		 * written. */
		constants = (void *)(uintptr_t)bpf_map__initial_value(map, &size);
		return size < sizeof(struct roce_packets_bpf__rodata) ? NULL : constants;
	}
	return NULL;
}

static int size_map(const struct bpf_object *object, const char *name, uint32_t n)
{
	struct bpf_map *map = map_of(object, name);

	return n ? bpf_map__set_max_entries(map, n) : bpf_map__set_autocreate(map, false);
}

static int size_maps(const struct bpf_object *object, uint32_t flows)
{
	struct roce_packets_bpf__rodata *constants = constants_of(object);
	uint64_t keys[ROCE_HASH_KEYS];
	uint32_t n_sets = roce_flow_sets(flows);
	int r;

	if (!constants)
		return -EBADMSG;
	if (getrandom(keys, sizeof(keys), 0) != sizeof(keys))
		return -EIO;
	for (int i = 0; i < ROCE_HASH_KEYS; i++)
		constants->hash_keys[i] = keys[i] | 1;
	constants->n_flow_sets = n_sets;
	constants->n_pending = flows;
	r = size_map(object, "flows", n_sets);
	return r < 0 ? r : size_map(object, "pending", flows);
}

/* Selects only the programs that will be attached, because the verifier needs most of the time of a
 * load. */
static void choose_programs(const struct bpf_object *object, const struct packet_port_spec *spec)
{
	struct bpf_program *program;

	bpf_object__for_each_program(program, object)
	{
		const char *name = bpf_program__name(program);

		bpf_program__set_autoload(program, (strstr(name, "_xdp") != NULL) == spec->xdp &&
							   (strstr(name, "_flows") != NULL) ==
								   (spec->flows > 0));
	}
}

static int load(struct bpf_object **ret, const struct packet_port_spec *spec, struct err *e)
{
	size_t size;
	const void *elf = roce_packets_bpf__elf_bytes(&size);
	struct bpf_object *object = bpf_object__open_mem(elf, size, NULL);
	int r;

	if (!object)
		return err_set(e, -ENOMEM, "packet program: %s", strerror(errno));
	choose_programs(object, spec);
	r = size_maps(object, spec->flows);
	if (r == 0)
		r = bpf_object__load(object);
	if (r < 0) {
		const char *words = bpf_log_take_words();

		bpf_object__close(object);
		return err_set(e, r, "cannot load the packet program: %s%s%s", strerror(-r),
			       words[0] ? ": " : "", words);
	}
	*ret = object;
	return 0;
}

/* Returns the number of bytes that the kernel accounts to the map (fdinfo), 0 = not reported. */
static uint64_t map_memory(const struct bpf_map *map)
{
	unsigned long long bytes = 0;
	char path[64], line[128];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/thread-self/fdinfo/%d", bpf_map__fd(map));
	f = bpf_map__fd(map) < 0 ? NULL : fopen(path, "re");
	if (!f)
		return 0;
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "memlock: %llu", &bytes) == 1)
			break;
	fclose(f);
	return bytes;
}

static uint64_t maps_memory(const struct bpf_object *object)
{
	const struct bpf_map *map;
	uint64_t sum = 0;

	bpf_object__for_each_map(map, object) sum += map_memory(map);
	return sum;
}

static int keep_maps(struct packet_port_fd *p, const struct bpf_object *object, uint32_t flows)
{
	p->memory = maps_memory(object);
	p->counts_fd = fcntl(bpf_map__fd(map_of(object, "counts")), F_DUPFD_CLOEXEC, 3);
	if (p->counts_fd < 0)
		return -errno;
	if (!flows)
		return 0;
	p->n_sets = roce_flow_sets(flows);
	p->flows_fd = fcntl(bpf_map__fd(map_of(object, "flows")), F_DUPFD_CLOEXEC, 3);
	return p->flows_fd < 0 ? -errno : 0;
}

/* --- interface ------------------------------------------------------------------------------ */

static struct packet_port_fd *port_new(void)
{
	struct packet_port_fd *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->counts_fd = p->flows_fd = -1;
	p->link_fd[ROCE_RECEIVED] = p->link_fd[ROCE_SENT] = -1;
	return p;
}

static int packet_port_open_port(struct attaching *a)
{
	int r = keep_maps(a->port, a->object, a->spec->flows);

	if (r < 0)
		return err_set(a->err, r, "packet program: %s", strerror(-r));
	if (a->spec->netns_fd < 0)
		return attach_in_netns(a);
	r = netns_run(a->spec->netns_fd, attach_in_netns, a);
	/* If the namespace could not be entered, no message has been set yet. */
	if (r < 0 && a->err && a->err->code != r)
		err_set(a->err, r, "cannot enter its network namespace: %s", strerror(-r));
	return r;
}

int packet_port_open(struct packet_port_fd **ret, const struct packet_port_spec *spec,
		     enum packet_hook *ret_hook, struct err *e)
{
	struct attaching a = {.spec = spec, .port = port_new(), .err = e};
	int r;

	if (!a.port)
		return err_set(e, -ENOMEM, "out of memory");
	r = load(&a.object, spec, e);
	if (a.object) {
		r = packet_port_open_port(&a);
		bpf_object__close(a.object);
	}
	if (r < 0) {
		packet_port_close(a.port);
		return r;
	}
	*ret = a.port;
	*ret_hook = a.hook;
	return 0;
}

int packet_port_close(struct packet_port_fd *p)
{
	int r;

	if (!p)
		return 0;
	r = packet_clsact_detach(p->clsact);
	for (int i = 0; i < N_ROCE_DIRECTIONS; i++) {
		cleanup_fd(&p->link_fd[i]);
		own_program_remove(p->program[i]);
	}
	cleanup_fd(&p->counts_fd);
	cleanup_fd(&p->flows_fd);
	free(p);
	return r;
}

uint64_t packet_port_memory(const struct packet_port_fd *p)
{
	return p->memory;
}

/* --- read ----------------------------------------------------------------------------------- */

static void add_counts(struct roce_counts *sum, const struct roce_counts *one)
{
	uint64_t *to = (uint64_t *)sum;
	const uint64_t *from = (const uint64_t *)one;

	_Static_assert(sizeof(*sum) % sizeof(*to) == 0, "it is all counters");
	for (size_t i = 0; i < sizeof(*sum) / sizeof(*to); i++)
		to[i] += from[i];
}

/* Reads one key at a time, because batch lookups of per-CPU arrays need Linux 5.13. */
int packet_port_read(const struct packet_port_fd *p, struct roce_counts ret[N_ROCE_DIRECTIONS])
{
	struct roce_counts sums[N_ROCE_DIRECTIONS] = {0};
	int n_cpus = libbpf_num_possible_cpus();
	AUTO_FREE struct roce_cpu_counts *values = NULL;

	if (n_cpus < 0)
		return n_cpus;
	values = calloc((size_t)n_cpus, sizeof(*values));
	if (!values)
		return -ENOMEM;
	for (uint32_t key = 0; key < N_ROCE_DIRECTIONS; key++) {
		if (bpf_map_lookup_elem(p->counts_fd, &key, values) < 0)
			return -errno;
		for (int i = 0; i < n_cpus; i++)
			add_counts(&sums[key], &values[i].counts);
	}
	memcpy(ret, sums, sizeof(sums));
	return 0;
}

/* Reads the words in order (acquire), so that the version check works. */
static void copy_words(uint64_t *to, const uint64_t *from)
{
	_Static_assert(sizeof(struct roce_flow_set) % sizeof(*to) == 0, "it is all words");
	for (size_t i = 0; i < sizeof(struct roce_flow_set) / sizeof(*to); i++)
		to[i] = __atomic_load_n(&from[i], __ATOMIC_ACQUIRE);
}

/* Copies a set, and repeats that if a flow was added in the meantime. False: the set changed each
 * time; it is skipped until the next reading. */
static bool copy_set(const struct roce_flow_set *from, struct roce_flow_set *to)
{
	for (int i = 0; i < COPY_TRIES; i++) {
		uint32_t version = __atomic_load_n(&from->version, __ATOMIC_ACQUIRE);

		copy_words((uint64_t *)to, (const uint64_t *)from);
		if (version % 2 == 0 &&
		    __atomic_load_n(&from->version, __ATOMIC_RELAXED) == version)
			return true;
	}
	return false;
}

static int walk(const struct roce_flow_set *sets, uint32_t n, packet_flow_fn *fn, void *arg)
{
	struct roce_flow_set set;
	int stop;

	for (uint32_t i = 0; i < n; i++) {
		if (!copy_set(&sets[i], &set))
			continue;
		for (int k = 0; k < ROCE_FLOW_WAYS; k++) {
			if (!set.tags[k])
				continue;
			stop = fn(&set.slots[k].key, &set.slots[k].flow, arg);
			if (stop)
				return stop;
		}
	}
	return 0;
}

/* The table is mapped only for this call, so that it is not accounted as our memory. */
int packet_port_flows(const struct packet_port_fd *p, packet_flow_fn *fn, void *arg)
{
	size_t size = p->n_sets * sizeof(struct roce_flow_set);
	struct roce_flow_set *sets;
	int r;

	if (p->flows_fd < 0)
		return 0;
	sets = mmap(NULL, size, PROT_READ, MAP_SHARED, p->flows_fd, 0);
	if (sets == MAP_FAILED)
		return -errno;
	r = walk(sets, p->n_sets, fn, arg);
	munmap(sets, size);
	return r;
}

// SPDX-License-Identifier: Apache-2.0
#include "fake_packet_port.h"

#include <stdlib.h>

struct fake_packet_ports *fake_packet_ports;

/* The memory that the fake reports. */
struct fake_fd {
	uint64_t memory;
	unsigned flows;
};

int __real_packet_port_open(struct packet_port_fd **, const struct packet_port_spec *,
			    enum packet_hook *, struct err *);
int __real_packet_port_close(struct packet_port_fd *);
int __real_packet_port_read(const struct packet_port_fd *, struct roce_counts[N_ROCE_DIRECTIONS]);
int __real_packet_port_flows(const struct packet_port_fd *, packet_flow_fn *, void *);
uint64_t __real_packet_port_memory(const struct packet_port_fd *);
int __wrap_packet_port_open(struct packet_port_fd **, const struct packet_port_spec *,
			    enum packet_hook *, struct err *);
int __wrap_packet_port_close(struct packet_port_fd *);
int __wrap_packet_port_read(const struct packet_port_fd *, struct roce_counts[N_ROCE_DIRECTIONS]);
int __wrap_packet_port_flows(const struct packet_port_fd *, packet_flow_fn *, void *);
uint64_t __wrap_packet_port_memory(const struct packet_port_fd *);

static int fails(const struct fake_packet_ports *f, int ifindex)
{
	return f->failing_ifindex == 0 || f->failing_ifindex == ifindex ? f->failure : 0;
}

int __wrap_packet_port_open(struct packet_port_fd **ret, const struct packet_port_spec *spec,
			    enum packet_hook *ret_hook, struct err *e)
{
	struct fake_packet_ports *f = fake_packet_ports;
	struct fake_fd *fd;

	if (!f)
		return __real_packet_port_open(ret, spec, ret_hook, e);
	f->tried++;
	if (f->held) {
		sem_post(&f->entered);
		sem_wait(&f->go);
	}
	if (fails(f, spec->ifindex))
		return err_set(e, fails(f, spec->ifindex), "the fake one fails");
	fd = calloc(1, sizeof(*fd));
	if (!fd)
		return err_set(e, -ENOMEM, "out of memory");
	fd->memory = f->memory + spec->flows * f->memory_by_flow;
	fd->flows = spec->flows;
	f->opened++;
	f->open++;
	f->last_ifindex = spec->ifindex;
	f->in_namespace = spec->netns_fd >= 0;
	*ret_hook = spec->xdp ? PACKET_HOOK_XDP : PACKET_HOOK_TCX;
	*ret = (struct packet_port_fd *)fd;
	return 0;
}

int __wrap_packet_port_close(struct packet_port_fd *fd)
{
	if (!fake_packet_ports) {
		return __real_packet_port_close(fd);
	} else if (fd) {
		fake_packet_ports->open--;
		free(fd);
	}
	return 0;
}

int __wrap_packet_port_read(const struct packet_port_fd *fd,
			    struct roce_counts ret[N_ROCE_DIRECTIONS])
{
	const struct fake_packet_ports *f = fake_packet_ports;

	if (!f)
		return __real_packet_port_read(fd, ret);
	if (f->read_failure)
		return f->read_failure;
	for (size_t i = 0; i < N_ROCE_DIRECTIONS; i++)
		ret[i] = f->counts[i];
	return 0;
}

int __wrap_packet_port_flows(const struct packet_port_fd *fd, packet_flow_fn *fn, void *arg)
{
	const struct fake_packet_ports *f = fake_packet_ports;
	int r = 0;

	if (!f)
		return __real_packet_port_flows(fd, fn, arg);
	for (unsigned i = 0; i < f->n_flows && r == 0; i++) {
		const struct roce_flow_key key = {.qpn = i};
		const struct roce_flow flow = {.packets = i + 1};

		r = fn(&key, &flow, arg);
	}
	return r;
}

uint64_t __wrap_packet_port_memory(const struct packet_port_fd *fd)
{
	return fake_packet_ports ? ((const struct fake_fd *)fd)->memory
				 : __real_packet_port_memory(fd);
}

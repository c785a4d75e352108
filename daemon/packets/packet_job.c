// SPDX-License-Identifier: Apache-2.0
/* packet_job.c - opens the namespace, finds the interface, attaches the program, and measures its
 * memory.
 *
 * The memory of maps depends on the kernel and the number of CPUs, so it is measured once the maps
 * exist. So one port may exceed the budget for a short time. Loading a program needs time for the
 * verifier, so a port that is known to exceed the budget is not tried. */
#include "packet_job.h"

#include <inttypes.h>

#include "cleanup.h"
#include "netns.h"

/* Opens the port's namespace. The mount point of a removed namespace is an ordinary file for a
 * short time (-EINVAL). */
static int packet_job_open_namespace(const struct packet_job *j, struct err *e)
{
	const struct netns_id *id = &j->want.netns;
	int r;

	if (!id->path[0])
		return err_set(e, -ENOENT,
			       "its network namespace is unreachable: no path is known");
	r = id->ino ? netns_open_id(j->hw, id, e) : netns_open_path(j->hw, id->path, e);
	if (r == -ENOENT || r == -EINVAL)
		return err_set(e, -ESTALE, "its network namespace was removed");
	return r;
}

static int packet_job_index_of(void *name)
{
	unsigned index = if_nametoindex(name);

	return index ? (int)index : -errno;
}

/* Finds the interface, by name if the inventory does not have its index. netns_fd -1: our
 * namespace. */
static int find_interface(struct packet_job *j, int netns_fd, struct err *e)
{
	char *name = j->want.port.netdev;
	int r = j->want.port.ifindex;

	if (r == 0)
		r = netns_fd < 0 ? packet_job_index_of(name)
				 : netns_run(netns_fd, packet_job_index_of, name);
	return r < 0 ? err_set(e, r, "no such interface") : r;
}

static int job_port_attach(struct packet_job *j, const struct packet_port_spec *spec)
{
	int r = packet_port_open(&j->fd, spec, &j->hook, &j->err);

	if (r < 0)
		return r;
	j->flows = spec->flows;
	j->memory = packet_port_memory(j->fd);
	*(spec->flows ? &j->needs_with_flows : &j->needs) = j->memory;
	return 0;
}

static void job_port_detach(struct packet_job *j)
{
	packet_port_close(take_ptr(j->fd));
	j->hook = PACKET_HOOK_NONE;
}

/* Attaches the port if it does not exceed the available room. */
static int attach_within_room(struct packet_job *j, const struct packet_port_spec *spec)
{
	int r = job_port_attach(j, spec);

	if (r < 0 || j->memory <= j->room)
		return r;
	job_port_detach(j);
	return err_set(&j->err, -ENOSPC,
		       "its maps need %" PRIu64 " KiB, and %" PRIu64
		       " KiB of --bpf-memory are left",
		       j->memory / 1024, j->room / 1024);
}

/* Attaches the port, without the flow table if that would exceed the room. */
static int attach_fitting(struct packet_job *j, struct packet_port_spec *spec)
{
	uint32_t flows = spec->flows;
	int r;

	if (j->no_flows)
		spec->flows = 0;
	r = attach_within_room(j, spec);
	if (r == -ENOSPC && spec->flows) {
		spec->flows = 0;
		r = attach_within_room(j, spec);
	}
	if (r == 0 && spec->flows != flows)
		err_set(&j->err, -ENOSPC, "its flow table does not fit into --bpf-memory");
	return r;
}

static int packet_job_run(struct packet_job *j)
{
	struct packet_port_spec spec = {
		.netns_fd = -1, .xdp = j->want.xdp, .flows = j->want.port.flows};
	AUTO_FD ns = -1;
	int r = 0;

	if (j->want.port.nsid != NSID_HOST)
		r = ns = packet_job_open_namespace(j, &j->err);
	if (r >= 0)
		r = spec.ifindex = find_interface(j, ns, &j->err);
	if (r < 0)
		return r;
	spec.netns_fd = ns;
	return attach_fitting(j, &spec);
}

void packet_job_attach(struct packet_job *j)
{
	j->fd = NULL;
	j->hook = PACKET_HOOK_NONE;
	j->flows = 0;
	j->memory = j->needs = j->needs_with_flows = 0;
	j->err = (struct err){0};
	j->result = packet_job_run(j);
	if (j->result < 0)
		j->memory = 0;
}

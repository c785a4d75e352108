/* nldev_stat.h - the statistics side of RDMA netlink: counters, optional counters, resources. Pure.
 *
 * Wire facts: linux/drivers/infiniband/core/nldev.c (stat_get_doit_default_counter,
 * nldev_stat_get_counter_status_doit, nldev_stat_set_counter_dynamic_doit, fill_res_info). Requests
 * are nldev_request() with RDMA_NLDEV_CMD_STAT_GET, STAT_GET_STATUS (device, port) and RES_GET
 * (device). */
#pragma once

#include <netlink/msg.h>
#include <stdbool.h>
#include <stdint.h>

/* One number of an answer; the name is borrowed for the call. */
typedef void named_value_fn(const char *name, uint64_t value, void *arg);

/* All decoders: -EPROTO for a message of another command, -EBADMSG for attributes of the wrong
 * form; what came before the malformed one was delivered. Otherwise the number of entries. */

/* STAT_GET of a port: its hw counters; optional ones that are off are not among them. */
int nldev_decode_stat(const struct nlmsghdr *, named_value_fn *, void *arg);
/* RES_GET: objects in use by kind ("qp", "mr", ...). */
int nldev_decode_resources(const struct nlmsghdr *, named_value_fn *, void *arg);

struct nldev_stat_status {
	const char *name; /* borrowed for the call */
	uint32_t index;	  /* within the port's counters */
	bool optional;
	bool enabled; /* always, unless optional */
};
typedef void nldev_stat_status_fn(const struct nldev_stat_status *, void *arg);

/* STAT_GET_STATUS (Linux 5.16 and later). */
int nldev_decode_stat_status(const struct nlmsghdr *, nldev_stat_status_fn *, void *arg);

/* STAT_SET: makes exactly these optional counters the enabled ones. NULL when out of memory; the
 * caller frees with nlmsg_free(). */
struct nl_msg *nldev_stat_set(uint32_t dev_index, uint32_t port, const uint32_t *indices, size_t n);

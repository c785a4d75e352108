/* device_name.h - which function a person means. Pure. */
#pragma once

#include "attach_status.h"
#include "err.h"

/* By bus name; by the name, in the host, of a netdev (also an alternative one) or an RDMA device on
 * it; by the names that a device had in the host which is in a pod now. Borrowed from the host or
 * the list. NULL: -ENODEV, or -ENOTUNIQ for a name that several have. */
const char *device_by_name(const struct host *, struct attach_list, const char *name, struct err *);
/* The same for questions, which also know a function by what uses it: a netdev on which its RDMA
 * device's port is, a bond or bridge of which it is a member, a VLAN or an IPoIB child on those.
 * -ENOTUNIQ names the functions. Never for a change: that is of one device, by its own name. */
const char *device_behind_name(const struct host *, struct attach_list, const char *name,
			       struct err *);

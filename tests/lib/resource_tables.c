// SPDX-License-Identifier: Apache-2.0
#include "resource_tables.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "health.h"

static void hold(struct pod_list *l, const char *resource, const char *id, const char *pod)
{
	const struct pod_device d = {
		.namespace = pod ? "train" : NULL,
		.pod = pod,
		.container = pod ? "main" : NULL,
		.resource = resource,
		.id = id,
	};

	(void)pod_list_push(l, &d);
}

void resource_table_small(struct resource_table *t)
{
	static const struct resource_info vfs = {
		.name = "rocelet.dev/roce",
		.n_devices = 3,
		.n_members = 3,
		.registration = REGISTRATION_DONE,
		.registrations = 2,
		.failures = 1,
		.lists = 7,
		.watchers = 1,
		.allocations = 5,
		.refusals = 4,
	};
	static const struct resource_info shared = {
		.name = "rdma/hca_shared",
		.shared = true,
		.first_device = 3,
		.n_devices = 3,
		.first_member = 3,
		.n_members = 1,
		.gid_capacity = 63,
		.registration = REGISTRATION_REFUSED,
		.error = "version \"v1\" is not supported",
	};
	static const struct resource_device devices[] = {
		{.id = "0000:03:00.2", .state = RESERVATION_HELD},
		{"0000:03:00.3", HEALTH_BIT(HEALTH_LINK_DOWN) | HEALTH_BIT(HEALTH_NO_CHARDEV),
		 RESERVATION_RESERVED, 1767323045001, true},
		{.id = "0000:03:00.4", .state = RESERVATION_FREE},
		{.id = "0", .state = RESERVATION_HELD},
		{.id = "1", .state = RESERVATION_FREE},
		{.id = "2", .state = RESERVATION_FREE},
	};
	static const char members[][DEV_ID_SIZE] = {"0000:03:00.2", "0000:03:00.3", "0000:03:00.4",
						    "0000:03:00.0"};

	*t = (struct resource_table){.generation = 9, .held.source = POD_SOURCE_API};
	t->resources = calloc(t->n_resources = 2, sizeof(*t->resources));
	t->resources[0] = vfs;
	t->resources[1] = shared;
	t->devices = calloc(t->n_devices = 6, sizeof(*t->devices));
	memcpy(t->devices, devices, sizeof(devices));
	t->members = calloc(t->n_members = 4, sizeof(*t->members));
	memcpy(t->members, members, sizeof(members));
	t->not_offered = calloc(t->n_not_offered = 1, sizeof(*t->not_offered));
	strcpy(t->not_offered[0].function, "0000:05:00.0");
	strcpy(t->not_offered[0].why, "it carries the default route");
	hold(&t->held, "rdma/hca_shared", "0", "reader-0");
	hold(&t->held, "rocelet.dev/roce", "0000:03:00.2", "job-7");
	hold(&t->held, "rocelet.dev/roce", "0000:03:00.3", NULL);
	pod_list_sort(&t->held);
}

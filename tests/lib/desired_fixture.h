/* SPDX-License-Identifier: Apache-2.0 */
/* desired_fixture.h - describes pods, sandboxes and devices as short texts, to test decisions about
 * attachments. All functions assert success. */
#pragma once

#include "desired.h"
#include "pool_fixture.h"

/* pool_fixture's node with these pools, below a.b/:
 *   roce   VFs 1 and 2          native
 *   fast   VF 3                 native, vlan 7
 *   plain  VF 4                 another plugin attaches it
 *   pf     0000:81:00.0         native
 *   slot   8 slots on mlx5_0    native, macvlan */
struct desired_fixture {
	struct pool_fixture *pools;
	struct pod_list held;
	struct sandbox_list sandboxes;
	struct attach_record *records;
	const struct attach_record **others;
	size_t n_records;
	struct desired_list desired;
};

int desired_fixture_setup(void **state);
int desired_fixture_teardown(void **state);
/* Clears pods, sandboxes, records and the desired list. */
void desired_fixture_clear(struct desired_fixture *);

/* Entries of the kubelet's list, separated by blanks. "train:c1:roce:1@100!150": VF 1 is held by
 * container c1 of ns/train, allocated at 100, waiting for its start since 150 (both optional).
 * "#u1:c1:...": a pod known by its uid. "::roce:1": only reserved. "=120": the list was requested
 * at 120. */
void add_held(struct desired_fixture *, const char *text);
/* Entries of the runtime's list. "train/u1/0@150+": attempt 0 of ns/train with uid u1 and id u1.0,
 * created and first seen at 150, ready ('-': not ready). Suffixes: 'h' host network, 'd' without
 * details, 'n' no netns. "@150~90+": seen at 150, created at 90 by the wall clock; a time after 150
 * is in the future. "=160": the list was requested at 160. */
void add_sandboxes(struct desired_fixture *, const char *text);
/* Sets the annotation of every sandbox with that uid. */
void set_networks(struct desired_fixture *, const char *uid, const char *annotation);
/* Adds a record in state in_pod: device "roce:1", sandbox "u1.0", pod "train". Valid until the next
 * call. */
struct attach_record *add_record(struct desired_fixture *, const char *device, const char *pod,
				 const char *sandbox);

/* Resource and ID of a device such as "roce:1". */
void device_of(const char *device, char resource[RESOURCE_NAME_SIZE], char id[PLUGIN_ID_SIZE]);
/* Calls desired_build() and returns the desired attachments in order: "roce:1>u1.0=net1", with '!'
 * if one is impossible. Valid until the next call. */
const char *joined(struct desired_fixture *);
/* NULL = not desired. */
const struct desired *desired_of(const struct desired_fixture *, const char *device);

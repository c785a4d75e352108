/* desired_fixture.h - pods, sandboxes and devices as short texts, for the tests of what is decided
 * about attachments. Everything asserts that it works. */
#pragma once

#include "desired.h"
#include "pool_fixture.h"

/* pool_fixture's node with these pools, below a.b/:
 *   roce   VFs 1 and 2          native
 *   fast   VF 3                 native, vlan 7
 *   plain  VF 4                 somebody else attaches it
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
/* Forgets pods, sandboxes, records and what is wanted. */
void desired_fixture_clear(struct desired_fixture *);

/* What the kubelet's list says, parted by blanks: "train:c1:roce:1@100!150" is VF 1 held by
 * container c1 of ns/train, given away at 100, to be started since 150 (both may be left out);
 * "#u1:c1:..." a pod known by its uid; "::roce:1" only reserved; "=120": the list was asked for at
 * 120. */
void add_held(struct desired_fixture *, const char *text);
/* The runtime's: "train/u1/0@150+" is attempt 0 of ns/train with uid u1, made and seen at 150 and
 * ready ('-': not), of id u1.0; behind that 'h' of the host's network, 'd' not known in detail, 'n'
 * no netns. "@150~90+": seen at 150, made at 90 as the clock says, which is in times to come if it
 * is more than 150. "=160": it was asked at 160. */
void add_sandboxes(struct desired_fixture *, const char *text);
/* Of every sandbox of that uid. */
void set_networks(struct desired_fixture *, const char *uid, const char *annotation);
/* In a pod: device "roce:1" of the sandbox u1.0 of ns/train. Valid until the next. */
struct attach_record *add_record(struct desired_fixture *, const char *device, const char *pod,
				 const char *sandbox);

/* The ID of "roce:1", and its resource. */
void device_of(const char *device, char resource[RESOURCE_NAME_SIZE], char id[PLUGIN_ID_SIZE]);
/* desired_build(); returns what is wanted, in its order: "roce:1>u1.0=net1", with '!' where it
 * cannot be. Valid until the next call. */
const char *joined(struct desired_fixture *);
/* NULL = it is not wanted. */
const struct desired *wanted_of(const struct desired_fixture *, const char *device);

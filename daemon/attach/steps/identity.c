// SPDX-License-Identifier: Apache-2.0
/* identity.c - compares a record with the current device. */
#include "identity.h"

#include "function_files.h"
#include "host_view.h"
#include "vf_admin.h"

/* Boot ID for records of another, unknown boot. */
static const char before[] = "before";

void identity_note(struct step_run *run)
{
	struct function_identity *id = &run->record->origin.identity;

	boot_id_read(run->hw, run->record->boot);
	if (!run_is_vf(run))
		return;
	function_ids(run->hw, run->record->function, &id->vendor, &id->device);
	id->folder = function_folder(run->hw, run->record->function);
	memcpy(id->pf_mac, run->pf_mac, run->pf_mac_len);
	id->pf_mac_len = run->pf_mac_len;
}

/* --- the boot --------------------------------------------------------------------------------- */

static bool is_marked_or_away(struct step_run *run)
{
	char ignored[IFNAMSIZ];
	int r = run_open_host(run);

	if (!run_is_vf(run))
		return true;
	if (r == 0)
		r = run_find_in(run, &run->host);
	return r < 0 || attach_alias_origin(run->seen.alias, ignored);
}

bool identity_is_of_another_boot(char was[BOOT_ID_SIZE], const char *now, bool marked_or_away)
{
	if (!was[0])
		snprintf(was, BOOT_ID_SIZE, "%s", marked_or_away ? now : before);
	return strcmp(was, now) != 0;
}

static int compare_boot(struct step_run *run)
{
	char now[BOOT_ID_SIZE], *was = run->record->boot;

	boot_id_read(run->hw, now);
	if (!now[0])
		return was[0] ? err_set(run->err, -ENODATA,
					"%s: cannot determine the boot in which it was attached: "
					"proc/sys/kernel/random/boot_id cannot be read",
					run->record->function)
			      : 0;
	return identity_is_of_another_boot(was, now, was[0] || is_marked_or_away(run));
}

/* --- the function ----------------------------------------------------------------------------- */

static int compare_ids(struct step_run *run)
{
	const struct function_identity *was = &run->record->origin.identity;
	const char *function = run->record->function;
	uint16_t vendor, device;

	if (!was->vendor || function_ids(run->hw, function, &vendor, &device) < 0 ||
	    (vendor == was->vendor && device == was->device))
		return 0;
	return err_set(
		run->err, -ESTALE,
		"%s is not the device that was attached, so it is not changed: its ID is %04x:%04x, expected %04x:%04x",
		function, vendor, device, was->vendor, was->device);
}

static int other_vf(struct step_run *run)
{
	const struct link_origin *o = &run->record->origin;
	const char *function = run->record->function;
	char pf[DEV_ID_SIZE];
	int vf;

	if (function_pf(run->hw, function, pf, &vf) < 0 ||
	    (strcmp(pf, o->pf) == 0 && vf == o->vf_index))
		return 0;
	return err_set(
		run->err, -ESTALE,
		"%s is not the device that was attached, so it is not changed: it is VF %d of %s, expected VF %d of %s",
		function, vf, pf[0] ? pf : "nothing", o->vf_index, o->pf);
}

static int compare_pf(struct step_run *run)
{
	const struct link_origin *o = &run->record->origin;

	if (!o->pf[0])
		return 0;
	if (!function_is_vf_of(run->hw, run->record->function, o->pf, o->vf_index) &&
	    other_vf(run) < 0)
		return -ESTALE;
	return vf_admin_find_pf(run) == -ESTALE ? -ESTALE : 0;
}

/* True if the function was removed and created again: then no change to the old function remains.
 */
static bool was_recreated(const struct step_run *run)
{
	uint64_t was = run->record->origin.identity.folder;
	uint64_t is = function_folder(run->hw, run->record->function);

	return was && is && is != was;
}

int identity_check(struct step_run *run)
{
	int r = compare_boot(run);

	if (r != 0 || !run_is_vf(run))
		return r;
	r = compare_ids(run);
	if (r == 0)
		r = compare_pf(run);
	return r < 0 ? r : was_recreated(run);
}

/* --- the pod ---------------------------------------------------------------------------------- */

static bool is_records_netns(const struct step_run *run)
{
	const struct netns_id *its = &run->record->owner.netns;
	struct netns_id there;

	return run->at != &run->elsewhere ||
	       netns_identify(run->elsewhere.netns_fd, "", &there) < 0 ||
	       (there.dev == its->dev && there.ino == its->ino);
}

bool identity_is_superseded(struct step_run *run)
{
	const struct retries once = {0};
	char own[ATTACH_ALIAS_SIZE], ignored[IFNAMSIZ];

	if (!run_is_vf(run) || run->record->plan.no_netdev || !run->record->owner.netns.ino ||
	    run_is_in_its_pod(run) || run_find_anywhere(run, &once) < 0 || is_records_netns(run))
		return false;
	run_alias(run, own);
	return attach_alias_origin(run->seen.alias, ignored) && strcmp(run->seen.alias, own) != 0;
}

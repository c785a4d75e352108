/* identity.c - a record is compared with what is there. */
#include "identity.h"

#include "function_files.h"
#include "host_view.h"
#include "vf_admin.h"

/* In records whose boot is not this one, whichever it was. */
static const char before[] = "before";

void identity_note(struct work *w)
{
	struct function_identity *id = &w->record->origin.identity;

	boot_id_read(w->hw, w->record->boot);
	if (!work_is_vf(w))
		return;
	function_ids(w->hw, w->record->function, &id->vendor, &id->device);
	id->folder = function_folder(w->hw, w->record->function);
	memcpy(id->pf_mac, w->pf_mac, w->pf_mac_len);
	id->pf_mac_len = w->pf_mac_len;
}

/* --- the boot --------------------------------------------------------------------------------- */

static bool is_marked_or_away(struct work *w)
{
	char ignored[IFNAMSIZ];
	int r = work_open_host(w);

	if (!work_is_vf(w))
		return true;
	if (r == 0)
		r = work_look(w, &w->host);
	return r < 0 || attach_alias_origin(w->seen.alias, ignored);
}

bool identity_is_of_another_boot(char was[BOOT_ID_SIZE], const char *now, bool marked_or_away)
{
	if (!was[0])
		snprintf(was, BOOT_ID_SIZE, "%s", marked_or_away ? now : before);
	return strcmp(was, now) != 0;
}

static int compare_boot(struct work *w)
{
	char now[BOOT_ID_SIZE], *was = w->record->boot;

	boot_id_read(w->hw, now);
	if (!now[0])
		return was[0] ? err_set(w->err, -ENODATA,
					"%s: in which boot it was attached cannot be compared: "
					"proc/sys/kernel/random/boot_id cannot be read",
					w->record->function)
			      : 0;
	return identity_is_of_another_boot(was, now, was[0] || is_marked_or_away(w));
}

/* --- the function ----------------------------------------------------------------------------- */

static int compare_ids(struct work *w)
{
	const struct function_identity *was = &w->record->origin.identity;
	const char *function = w->record->function;
	uint16_t vendor, device;

	if (!was->vendor || function_ids(w->hw, function, &vendor, &device) < 0 ||
	    (vendor == was->vendor && device == was->device))
		return 0;
	return err_set(w->err, -ESTALE,
		       "%s is another device than the one that was attached, nothing is written to "
		       "it: it is a %04x:%04x, that was a %04x:%04x",
		       function, vendor, device, was->vendor, was->device);
}

static int other_vf(struct work *w)
{
	const struct link_origin *o = &w->record->origin;
	const char *function = w->record->function;
	char pf[DEV_ID_SIZE];
	int vf;

	if (function_pf(w->hw, function, pf, &vf) < 0 ||
	    (strcmp(pf, o->pf) == 0 && vf == o->vf_index))
		return 0;
	return err_set(w->err, -ESTALE,
		       "%s is another device than the one that was attached, nothing is written to "
		       "it: it is VF %d of %s, that was VF %d of %s",
		       function, vf, pf[0] ? pf : "nothing", o->vf_index, o->pf);
}

static int compare_pf(struct work *w)
{
	const struct link_origin *o = &w->record->origin;

	if (!o->pf[0])
		return 0;
	if (!function_is_vf_of(w->hw, w->record->function, o->pf, o->vf_index) && other_vf(w) < 0)
		return -ESTALE;
	return vf_admin_find_pf(w) == -ESTALE ? -ESTALE : 0;
}

/* With the old one went everything that was done to it. */
static bool is_made_anew(const struct work *w)
{
	uint64_t was = w->record->origin.identity.folder;
	uint64_t is = function_folder(w->hw, w->record->function);

	return was && is && is != was;
}

int identity_check(struct work *w)
{
	int r = compare_boot(w);

	if (r != 0 || !work_is_vf(w))
		return r;
	r = compare_ids(w);
	if (r == 0)
		r = compare_pf(w);
	return r < 0 ? r : is_made_anew(w);
}

/* return_verify.c - is a device that has come back as it was? What differs is told, and the device
 * is not offered. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "attach_steps.h"
#include "function_files.h"
#include "vf_admin.h"

__attribute__((format(printf, 2, 3))) static int unclean(struct work *w, const char *fmt, ...)
{
	char what[160];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	return err_set(w->err, -EUCLEAN, "%s has not come back as it was: %s", w->record->function,
		       what);
}

static bool is_of_origin(const struct link_origin *o, const char *altname)
{
	const size_t n = strlen(altname);

	for (const char *at = o->altnames; (at = strstr(at, altname)); at += n)
		if ((at == o->altnames || at[-1] == ' ') && (at[n] == ' ' || !at[n]))
			return true;
	return false;
}

static int verify_altnames(struct work *w)
{
	const struct link_origin *o = &w->record->origin;
	char has[ALTNAMES_SIZE], *rest = NULL;

	memcpy(has, w->seen.altnames, sizeof(has));
	for (char *alt = strtok_r(has, " ", &rest); alt; alt = strtok_r(NULL, " ", &rest))
		if (o->mtu && !is_of_origin(o, alt))
			return unclean(w, "%s has got another name, %.80s", w->seen.netdev.name,
				       alt);
	return 0;
}

/* What a pod may have left on it. */
static int verify_traces(struct work *w)
{
	const struct netdev *nd = &w->seen.netdev;

	if (nd->flags & PODS_FLAGS)
		return unclean(w, "%s has flags %#x", nd->name, nd->flags & PODS_FLAGS);
	if (w->seen.has_xdp)
		return unclean(w, "%s has an XDP program", nd->name);
	return verify_altnames(w);
}

static int verify_link(struct work *w)
{
	const struct link_origin *o = &w->record->origin;
	const struct netdev *nd = &w->seen.netdev;

	if (!o->name[0])
		return unclean(w, "nobody knows what it was called before it was %s", nd->name);
	if (strcmp(nd->name, o->name) != 0)
		return unclean(w, "it is called %s, because %s is another's name", nd->name,
			       o->name);
	if (strcmp(w->seen.alias, o->alias) != 0)
		return unclean(w, "%s bears the alias \"%.80s\"", nd->name, w->seen.alias);
	if (o->mtu && nd->mtu != o->mtu)
		return unclean(w, "%s has MTU %u, not %u", nd->name, nd->mtu, o->mtu);
	if (!return_has_own_mac(w))
		return unclean(w, "%s has another MAC", nd->name);
	if (!(nd->flags & IFF_UP) == o->up)
		return unclean(w, "%s is %s", nd->name, o->up ? "down" : "up");
	return verify_traces(w);
}

/* A setting that the PF does not tell any more cannot differ. */
static int verify_settings(struct work *w)
{
	const struct link_origin *o = &w->record->origin;
	struct vf_settings is;
	unsigned different;
	char names[128];
	int r = vf_admin_read(w, &is);

	if (r < 0)
		return r;
	different = vf_admin_changed(w->record, &is) & is.fields;
	if (!different)
		return 0;
	vf_fields_text(different, names, sizeof(names));
	return unclean(w, "VF %d of %s differs in %s", o->vf_index, o->pf, names);
}

/* sysfs shows it where it is. */
static int verify_rdma(struct work *w)
{
	const char *was = w->record->origin.rdma;
	char now[RDMA_NAME_SIZE];

	if (!function_has(w->hw, w->record->function, "infiniband") ||
	    function_rdma(w->hw, w->record->function, now) < 0)
		return 0;
	if (!now[0])
		return unclean(w, "its RDMA device %s is in another namespace", was);
	if (was[0] && strcmp(now, was) != 0)
		return unclean(w, "its RDMA device is called %s, not %s", now, was);
	return 0;
}

/* A function without a netdev, wherever, has none to be dirty. */
static int verify_netdev(struct work *w)
{
	int r = return_look_at_home(w);

	if (r != -ENODEV)
		return r < 0 ? r : verify_link(w);
	if (function_has(w->hw, w->record->function, "net"))
		return err_set(w->err, -EAGAIN, "%s: its netdev is not in the host",
			       w->record->function);
	return 0;
}

/* What has left the bus is not dirty. */
int return_step_verify(struct work *w)
{
	int r;

	if (!work_is_vf(w) || !function_is_there(w->hw, w->record->function))
		return 0;
	r = verify_netdev(w);
	if (r == 0)
		r = verify_rdma(w);
	return r == 0 && w->record->origin.pf[0] ? verify_settings(w) : r;
}

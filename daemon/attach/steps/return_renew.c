/* return_renew.c - what a pod has left on a netdev beyond what was put back, and the answer to it:
 * a new netdev, on which nothing of the old one can live.
 *
 * Happy path: look at the whole state -> it is as it was, nothing sits on it. Else: the driver is
 * taken from the function and given back, and what is known by value is put back again. Can fail
 * by: a function that must not be reset, a driver that does not come back (tried again). */
#include "attach_rdma.h"
#include "attach_steps.h"
#include "function_files.h"
#include "kill_point.h"
#include "netdev_look.h"
#include "vf_admin.h"

struct findings {
	uint32_t different, unknown;
	struct netdev_inside inside;
	int inside_told; /* by netdev_look_inside() */
};

static int look(struct work *w, struct findings *f)
{
	const struct netdev_state *was = &w->record->origin.state;
	struct netdev_state is = {.key = {was->key[0], was->key[1]}};
	struct nlsock *s = NULL;
	int r = return_look_at_home(w);

	if (r == 0)
		r = place_rtnl(&w->host, &s, w->err);
	if (r < 0)
		return r;
	netdev_look(&is, w->hw, s, w->seen.netdev.ifindex, w->seen.netdev.name);
	*f = (struct findings){0};
	f->different = netdev_state_differ(was, &is, &f->unknown);
	f->inside_told = netdev_look_inside(w->hw, w->seen.netdev.ifindex, &f->inside);
	if (f->inside.napi_apart)
		f->different |= 1u << STATE_NAPI;
	return 0;
}

static void describe(const struct findings *f, char text[ATTACH_LEFT_SIZE])
{
	const struct netdev_upper *u = &f->inside.first;
	size_t n;

	netdev_sections_text(f->different, text, ATTACH_LEFT_SIZE);
	n = strlen(text);
	if (f->inside.n_uppers > 0)
		snprintf(text + n, ATTACH_LEFT_SIZE - n, "%s%.15s %.15s in namespace net:[%u]",
			 n ? ", " : "", u->kind[0] ? u->kind : "interface", u->name, u->netns);
}

/* A pool that wants no reset is content with what can be found, and with what a driver may have
 * set. */
static bool is_unknown(const struct work *w, const struct findings *f)
{
	const bool content = w->record->plan.clean == CLEAN_RESTORE;

	return f->unknown & ~(content ? 1u << STATE_XPS : 0) || f->inside_told < 0 ||
	       (f->inside_told == NETDEV_SEARCHED && !content);
}

enum renewal return_renewal(uint32_t different, uint32_t unknown, int uppers, enum clean_mode clean)
{
	if (different || uppers > 0)
		return RENEWAL_DIRTY;
	if (unknown || uppers < 0)
		return RENEWAL_UNKNOWN;
	return clean == CLEAN_ALWAYS_RESET ? RENEWAL_ALWAYS : RENEWAL_NONE;
}

/* In words, what cannot be told as well. */
static int left_dirty(struct work *w, const struct findings *f, const char *why)
{
	char unknown[ATTACH_LEFT_SIZE];

	netdev_sections_text(f->unknown, unknown, sizeof(unknown));
	if (!w->job->traces[0])
		return err_set(
			w->err, -EUCLEAN,
			"%s: nobody knows whether its pod has left something behind (%.80s)%s",
			w->record->function, unknown[0] ? unknown : "what sits on it", why);
	return err_set(w->err, -EUCLEAN, "%s: left behind by its pod: %s%s", w->record->function,
		       w->job->traces, why);
}

/* --- a new one -------------------------------------------------------------------------------- */

/* A record that cannot be written keeps nothing from coming back: see return_step_record(). */
static void remember(struct work *w, bool renewing)
{
	struct err ignored = {0};

	w->record->renewing = renewing;
	if (renewing)
		journal_write(w->job->journal, w->record, true, &ignored);
}

static int take_away(struct work *w)
{
	int r = function_unbind(w->hw, w->record->function, w->err);

	w->at = NULL;
	if (r == 0 && function_has(w->hw, w->record->function, "net"))
		r = err_set(w->err, -EAGAIN, "%s: its old netdev does not go", w->record->function);
	return r;
}

/* udev gives it the usual ones; what an administrator gave it, nobody else does. One that has
 * become another's stays that. */
static void give_altnames(struct work *w)
{
	char names[ALTNAMES_SIZE], *rest = NULL;
	struct nlsock *s = NULL;

	if (return_look_at_home(w) < 0 || place_rtnl(&w->host, &s, NULL) < 0)
		return;
	memcpy(names, w->record->origin.altnames, sizeof(names));
	for (char *alt = strtok_r(names, " ", &rest); alt; alt = strtok_r(NULL, " ", &rest))
		netdev_add_altname(s, w->seen.netdev.ifindex, alt, NULL);
}

/* Drivers set more when their netdev is first used. Before the next pod it shall be as after it, or
 * that would look like the pod's. One that cannot be brought up now is none the worse for it. */
static int use_once(struct work *w)
{
	const struct netdev_change up = {.netns_fd = -1, .up = 1}, down = {.netns_fd = -1};
	struct nlsock *s = NULL;
	int r = return_look_at_home(w);

	if (r == -ENODEV || w->record->origin.up)
		return 0;
	if (r == 0)
		r = place_rtnl(&w->host, &s, w->err);
	if (r < 0)
		return r;
	netdev_change(s, w->seen.netdev.ifindex, &up, NULL);
	return netdev_change(s, w->seen.netdev.ifindex, &down, w->err);
}

static int put_back(struct work *w)
{
	int r = return_bring_home(w);

	if (r == 0)
		r = attach_rdma_renewed(w);
	if (r < 0)
		return r;
	give_altnames(w);
	r = use_once(w);
	return r < 0 ? r : return_restore(w);
}

/* Nobody has had it: what it is like is what it was, for whoever has to look again. */
static int know_anew(struct work *w)
{
	int r = return_look_at_home(w);

	if (r == 0)
		attach_look_at_state(w, &w->record->origin.state);
	return r == -ENODEV ? 0 : r;
}

static int renew(struct work *w)
{
	int r;

	remember(w, true);
	kill_point("back-renew-2", "before");
	r = take_away(w);
	kill_point("back-renew-3", "before");
	if (r == 0)
		r = function_bind(w->hw, w->record->function, w->err);
	kill_point("back-renew-4", "before");
	if (r == 0)
		r = vf_admin_wait_for_netdev(w);
	if (r == 0)
		r = put_back(w);
	if (r == 0)
		r = know_anew(w);
	if (r == 0)
		remember(w, false);
	return r;
}

/* A PF's driver takes its VFs along, and one of two ports the other port's netdev. */
static const char *why_not(const struct work *w)
{
	if (function_has(w->hw, w->record->function, "virtfn0"))
		return "; it gets no new netdev, because it has VFs";
	if (function_count(w->hw, w->record->function, "net") > 1)
		return "; it gets no new netdev, because it has others";
	return NULL;
}

int return_replace(struct work *w)
{
	const char *why = w->record->plan.clean == CLEAN_RESTORE
				  ? ", and its pool says \"clean\": \"restore\""
				  : why_not(w);
	int r;

	if (!work_is_vf(w) || !function_is_there(w->hw, w->record->function))
		return -EAGAIN;
	if (why)
		return err_set(w->err, -EAGAIN,
			       "%s: it is in a namespace that nobody can enter, and that something "
			       "keeps%s",
			       w->record->function, why);
	r = renew(w);
	if (r == 0)
		w->job->renewal = RENEWAL_BEYOND;
	return r;
}

/* A function without a netdev has none that could be dirty. */
int return_step_renew(struct work *w)
{
	struct findings f;
	enum renewal why;
	int r;

	w->job->traces[0] = '\0';
	if (w->job->renewal == RENEWAL_BEYOND) /* it is new */
		return 0;
	w->job->renewal = RENEWAL_NONE;
	if (!work_is_vf(w) || !function_is_there(w->hw, w->record->function))
		return 0;
	r = look(w, &f);
	if (r == -ENODEV && !function_has(w->hw, w->record->function, "net"))
		return 0;
	if (r < 0)
		return r;
	describe(&f, w->job->traces);
	why = return_renewal(f.different, is_unknown(w, &f), f.inside.n_uppers > 0,
			     w->record->plan.clean);
	if (why == RENEWAL_NONE)
		return 0;
	if (w->record->plan.clean == CLEAN_RESTORE)
		return left_dirty(w, &f, ", and its pool says \"clean\": \"restore\"");
	if (why_not(w))
		return left_dirty(w, &f, why_not(w));
	r = renew(w);
	if (r == 0)
		w->job->renewal = why;
	return r;
}

// SPDX-License-Identifier: Apache-2.0
/* registration.c - a state machine with one deadline and a doubling pause. */
#include "registration.h"

#include <stdio.h>

#include "back_off.h"
#include "cleanup.h"

#define PAUSE_MIN_MS	20
#define PAUSE_MAX_MS	1000
#define PAUSE_LONG_MS	10000
#define FRESH_MS	2000
#define FAILING_LONG_MS 10000
/* How long to wait for a watch. A kubelet opens it right after Register; in the registry, it checks
 * for new sockets every second, and waits 10 s for a socket that does not answer. */
#define WATCH_MS	10000
#define WATCH_LONG_MS	160000
/* A watch that lasted this long was successful. */
#define STABLE_MS	10000

/* Pauses while a kubelet is about to listen; the last one is repeated. */
static const uint32_t fresh_pauses_ms[] = {1, 2, 5, 10, 20, 50};

void registration_init(struct registration_plan *r, uint64_t now_ms)
{
	*r = (struct registration_plan){
		.watch_wait_ms = WATCH_MS,
		.failing_ms = now_ms,
		.fresh_ms = now_ms,
	};
}

void registration_join_registry(struct registration_plan *r)
{
	r->registry = true;
}

void registration_leave_registry(struct registration_plan *r, uint64_t now_ms)
{
	const struct registration_plan before = *r;

	registration_init(r, now_ms);
	r->wanted = before.wanted;
	r->kubelet = before.kubelet;
	r->attempt = before.attempt;
	r->failures = before.failures;
}

unsigned registration_attempt(const struct registration_plan *r)
{
	return r->attempt;
}

bool registration_works(const struct registration_plan *r)
{
	return r->watchers > 0 && (r->registered || r->registry);
}

static uint64_t later(uint64_t a_ms, uint64_t b_ms)
{
	return a_ms > b_ms ? a_ms : b_ms;
}

/* Resets the pauses, after a success or for a new attempt. */
static void start_over(struct registration_plan *r, uint64_t now_ms)
{
	r->pause_ms = 0;
	r->watch_wait_ms = WATCH_MS;
	r->failing_ms = now_ms;
	r->next_ms = later(now_ms, r->earliest_ms);
}

static void cut_pause(struct registration_plan *r, uint64_t now_ms)
{
	uint64_t soon_ms = later(now_ms, r->earliest_ms);

	if (r->next_ms > soon_ms)
		r->next_ms = soon_ms;
}

static void pause_freshly(struct registration_plan *r, uint64_t now_ms)
{
	r->next_ms = now_ms + fresh_pauses_ms[r->n_unanswered];
	if (r->n_unanswered + 1 < ARRAY_SIZE(fresh_pauses_ms))
		r->n_unanswered++;
}

static void pause_longer(struct registration_plan *r, uint64_t now_ms)
{
	bool lasts = now_ms - r->failing_ms >= FAILING_LONG_MS;

	r->next_ms = now_ms +
		     back_off(&r->pause_ms, PAUSE_MIN_MS, lasts ? PAUSE_LONG_MS : PAUSE_MAX_MS);
}

static void registration_failed(struct registration_plan *r, const char *why)
{
	r->failures++;
	snprintf(r->error, sizeof(r->error), "%s", why ? why : "");
}

/* Waits for the kubelet's watch, at most ms, unless we have no socket. */
static void wait_for_watch(struct registration_plan *r, uint32_t ms, uint64_t now_ms)
{
	if (r->serving)
		r->next_ms = now_ms + ms;
}

static void registration_succeeded(struct registration_plan *r, uint64_t now_ms)
{
	r->registered = true;
	r->refused = false;
	r->error[0] = '\0';
	r->registrations++;
	wait_for_watch(r, WATCH_MS, now_ms);
}

/* Drops the results of earlier calls, and ignores a later answer to a running one. */
static void forget_registration(struct registration_plan *r)
{
	r->registered = r->refused = r->calling = false;
	r->attempt++;
}

void registration_want(struct registration_plan *r, uint64_t now_ms)
{
	if (!r->wanted)
		start_over(r, now_ms);
	r->wanted = true;
}

static void handle_new_kubelet(struct registration_plan *r, uint64_t now_ms)
{
	r->earliest_ms = now_ms; /* earlier attempts were for another kubelet */
	start_over(r, now_ms);
	r->fresh_ms = now_ms;
	r->n_unanswered = 0;
	if (r->registry) {
		wait_for_watch(r, WATCH_MS, now_ms);
		return;
	}
	forget_registration(r);
	r->error[0] = '\0';
	if (r->watchers)
		r->serving = false; /* creating the socket again ends the old watch */
}

void registration_kubelet(struct registration_plan *r, bool there, bool is_new, uint64_t now_ms)
{
	r->kubelet = there;
	if (there && is_new)
		handle_new_kubelet(r, now_ms);
	else if (there && !r->registry && !r->registered && !r->calling)
		cut_pause(r, now_ms);
}

void registration_serving(struct registration_plan *r, bool there, uint64_t now_ms)
{
	r->serving = there;
	if (there && r->registry) {
		wait_for_watch(r, r->watch_wait_ms, now_ms);
		back_off(&r->watch_wait_ms, WATCH_MS, WATCH_LONG_MS);
	}
	if (there)
		return;
	if (!r->registry && !r->calling)
		forget_registration(r);
	cut_pause(r, now_ms);
}

void registration_inherited(struct registration_plan *r, uint64_t now_ms)
{
	r->serving = true;
	r->registered = r->watchers > 0;
	wait_for_watch(r, r->registry || r->watchers ? WATCH_MS : 0, now_ms);
}

void registration_not_serving(struct registration_plan *r, const char *why, uint64_t now_ms)
{
	r->serving = false;
	registration_failed(r, why);
	pause_longer(r, now_ms);
}

void registration_folder(struct registration_plan *r, uint64_t now_ms)
{
	if (!r->serving)
		cut_pause(r, now_ms);
}

static void lost_watch(struct registration_plan *r, uint64_t now_ms)
{
	r->registered = false;
	r->lost = true;
	if (now_ms - r->watched_ms >= STABLE_MS)
		start_over(r, now_ms);
	r->earliest_ms = now_ms + PAUSE_MIN_MS;
	if (r->registry)
		wait_for_watch(r, r->watch_wait_ms, now_ms);
	else
		pause_longer(r, now_ms);
}

void registration_answered(struct registration_plan *r, unsigned attempt,
			   enum registration_answer a, const char *why, uint64_t now_ms)
{
	if (!r->calling || attempt != r->attempt)
		return;
	r->calling = false;
	r->refused = a == REGISTRATION_REFUSED;
	switch (a) {
	case REGISTRATION_OK:
		registration_succeeded(r, now_ms);
		if (r->lost && !r->watchers) /* its watch has ended already */
			lost_watch(r, now_ms);
		break;
	case REGISTRATION_NO_LISTENER:
		if (now_ms - r->fresh_ms < FRESH_MS)
			pause_freshly(r, now_ms);
		else
			pause_longer(r, now_ms);
		break;
	case REGISTRATION_REFUSED:
	case REGISTRATION_NO_REPLY:
		registration_failed(r, why);
		pause_longer(r, now_ms);
		break;
	}
}

void registration_asked(struct registration_plan *r, uint64_t now_ms)
{
	r->asked = true;
	wait_for_watch(r, WATCH_MS, now_ms);
}

void registration_notified(struct registration_plan *r, bool registered, const char *why,
			   uint64_t now_ms)
{
	if (registered) {
		registration_succeeded(r, now_ms);
		return;
	}
	r->registered = false;
	r->refused = true;
	registration_failed(r, why);
}

void registration_watched(struct registration_plan *r, unsigned watchers, uint64_t now_ms)
{
	unsigned before = r->watchers;

	r->watchers = watchers;
	if (watchers && !before)
		r->watched_ms = now_ms;
	else if (!watchers && before)
		lost_watch(r, now_ms);
}

/* Returns the next step, regardless of the time. */
static enum registration_step registration_next_step(const struct registration_plan *r)
{
	if (!r->wanted)
		return REGISTRATION_WAIT;
	if (!r->serving)
		return REGISTRATION_SERVE;
	if (!r->kubelet || r->calling || registration_works(r))
		return REGISTRATION_WAIT;
	if (!r->registry)
		return REGISTRATION_CALL;
	return r->asked ? REGISTRATION_SERVE : REGISTRATION_UNSEEN;
}

enum registration_step registration_next(struct registration_plan *r, uint64_t now_ms,
					 uint64_t *ret_wake_ms)
{
	enum registration_step step = registration_next_step(r);

	*ret_wake_ms = step == REGISTRATION_WAIT ? UINT64_MAX : r->next_ms;
	if (step == REGISTRATION_WAIT || now_ms < r->next_ms)
		return REGISTRATION_WAIT;
	r->earliest_ms = now_ms + PAUSE_MIN_MS;
	if (step == REGISTRATION_CALL) {
		if (r->registered) /* the kubelet has not opened its watch in time */
			registration_failed(
				r, "it has registered the resource, but does not watch its list");
		r->registered = false;
		r->calling = true;
		r->lost = false;
		r->attempt++;
	}
	return step;
}

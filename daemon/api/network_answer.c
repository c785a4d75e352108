// SPDX-License-Identifier: Apache-2.0
#include "network_answer.h"

#include <stdio.h>
#include <string.h>

#include "search.h"
#include "utc_text.h"

const char *network_word_name(enum network_word w)
{
	static const char *const names[N_NETWORK_WORDS] = {
		[NETWORK_UNKNOWN] = "unknown", [NETWORK_NO] = "no", [NETWORK_YES] = "yes"};

	return names[w];
}

/* Keeps the worst trouble; of equal ones, the first. */
static void network_answer_keep(struct network_fault *f, const char *device,
				const struct trouble *t)
{
	if (f->is_set && f->trouble.severity >= t->severity)
		return;
	f->is_set = true;
	f->trouble = *t;
	snprintf(f->device, sizeof(f->device), "%s", device);
}

static void network_answer_sort(struct network_answer *a, const char *device,
				const struct trouble *t)
{
	const bool is_problem = t->severity >= SEVERITY_WARNING;

	switch (t->side) {
	case SIDE_NETWORK:
		if (!is_problem)
			break;
		a->more += a->network.is_set;
		network_answer_keep(&a->network, device, t);
		break;
	case SIDE_UNCLEAR:
		network_answer_keep(&a->doubt, device, t);
		break;
	case SIDE_NODE:
	case SIDE_APPLICATION:
		if (is_problem)
			network_answer_keep(&a->other, device, t);
		break;
	}
}

static void network_answer_blind(struct network_answer *a, const char *device,
				 const struct undecided *u)
{
	struct network_unjudged *n = (struct network_unjudged *)find_first(
		a->blind, a->n_blind, i, memcmp(&a->blind[i].what, u, sizeof(*u)) == 0);

	if (!n && a->n_blind == NETWORK_UNJUDGED_MAX)
		return;
	if (!n) {
		n = &a->blind[a->n_blind++];
		n->what = *u;
		snprintf(n->device, sizeof(n->device), "%s", device);
	}
	n->n_devices++;
}

void network_answer_add(struct network_answer *a, const char *device, const struct condition *c)
{
	a->n_devices++;
	a->n_ports += c->n_ports;
	a->n_judged += c->n_judged;
	a->n_clear += c->n_clear;
	for (size_t i = 0; i < c->n; i++)
		network_answer_sort(a, device, &c->troubles[i]);
	for (size_t i = 0; i < c->n_unjudged; i++)
		network_answer_blind(a, device, &c->unjudged[i]);
	if (a->has_unjudged || (c->n_ports && c->n_judged == c->n_ports))
		return;
	a->has_unjudged = true;
	a->watch = c->watch;
	snprintf(a->unjudged, sizeof(a->unjudged), "%s", device);
}

/* "mlx5_3: the link went down (link_flap of its PF, critical) since 2026-01-02T03:04:05Z" */
static void fault_text(const struct network_fault *f, char *ret, size_t size)
{
	const struct trouble *t = &f->trouble;
	const struct trouble_row *row = trouble_row_find(t->word);
	char since[UTC_TEXT_SIZE];

	utc_text(t->since_unix_ms, since);
	snprintf(ret, size, "%s: %.200s (%s%s, %s)%s%.19s%s%s", f->device,
		 t->kind == TROUBLE_DEVICE && row ? row->sentence : t->what, t->word,
		 t->of_pf ? " of its PF" : "", severity_name(t->severity),
		 since[0] ? " since " : "", since, since[0] ? "Z" : "",
		 since[0] && t->or_earlier ? " or earlier" : "");
}

static const char *unjudged_reason(const char *watch)
{
	static const struct {
		const char *watch, *reason;
	} reasons[] = {
		{"warming", "has been watched for less than a minute"},
		{"down", "is down"},
		{"unseen", "has counters that cannot be read now"},
		{"not applicable", "carries no RoCE"},
	};

	for (size_t i = 0; watch && i < sizeof(reasons) / sizeof(reasons[0]); i++)
		if (strcmp(reasons[i].watch, watch) == 0)
			return reasons[i].reason;
	return watch ? "is not judged" : "has no RDMA port that is watched";
}

/* Writes why it is unknown; "": it is not. */
static void doubt_text(const struct network_answer *a, char *ret, size_t size)
{
	ret[0] = '\0';
	if (a->doubt.is_set)
		fault_text(&a->doubt, ret, size);
	else if (a->n_devices == 0)
		snprintf(ret, size, "the pod has no device");
	else if (a->has_unjudged)
		snprintf(ret, size, "%s %s", a->unjudged, unjudged_reason(a->watch));
}

static bool has_same_reason(const struct network_unjudged *a, const struct network_unjudged *b)
{
	return a->what.why == b->what.why && a->what.missing == b->what.missing &&
	       a->n_devices == b->n_devices && strcmp(a->device, b->device) == 0;
}

/* Writes "bad_link, pre_fec_errors of mlx5_2 (no counter of PHY errors is visible)": the causes
 * with the reason of the first one. Returns how many there are. */
static size_t network_answer_group(const struct network_answer *a, size_t first, char *ret,
				   size_t size)
{
	const struct network_unjudged *u = &a->blind[first];
	char why[UNDECIDED_SIZE];
	size_t n = 0;
	int len = 0;

	for (size_t i = first; i < a->n_blind; i++)
		if (has_same_reason(&a->blind[i], u))
			len += snprintf(ret + len, size - (size_t)len, "%s%s", n++ ? ", " : "",
					cause_row(a->blind[i].what.cause)->name);
	if (u->n_devices < a->n_devices)
		len += snprintf(ret + len, size - (size_t)len, " of %s%s", u->device,
				u->n_devices > 1 ? " and others" : "");
	undecided_text(&u->what, why);
	snprintf(ret + len, size - (size_t)len, " (%s)", why);
	return n;
}

/* Appends what could not be judged, "; not judged: ...". */
static void network_answer_add_unjudged(const struct network_answer *a, char *ret, size_t size)
{
	size_t len = strlen(ret), left = a->n_blind;
	char group[NETWORK_UNJUDGED_MAX * 32 + DEV_ID_SIZE + UNDECIDED_SIZE + 32];

	for (size_t i = 0; i < a->n_blind; i++) {
		if (any_of(i, k, has_same_reason(&a->blind[k], &a->blind[i])))
			continue;
		size_t n = network_answer_group(a, i, group, sizeof(group));

		if (len + strlen(group) + sizeof("; not judged: ; and 16 more") > size)
			break;
		len += (size_t)snprintf(ret + len, size - len, "%s%s",
					left == a->n_blind ? "; not judged: " : "; ", group);
		left -= n;
	}
	if (left && left < a->n_blind)
		snprintf(ret + len, size - len, "; and %zu more", left);
}

enum network_word network_answer_text(const struct network_answer *a, char *ret, size_t size)
{
	char fault[320] = "", doubt[320];

	if (a->network.is_set) {
		fault_text(&a->network, fault, sizeof(fault));
		if (a->more)
			snprintf(ret, size, "Yes: %s; and %zu more", fault, a->more);
		else
			snprintf(ret, size, "Yes: %s", fault);
		return NETWORK_YES;
	}
	doubt_text(a, doubt, sizeof(doubt));
	if (a->other.is_set)
		fault_text(&a->other, fault, sizeof(fault));
	if (doubt[0]) {
		snprintf(ret, size, "Unknown: %s%s%s", doubt, fault[0] ? "; found: " : "", fault);
		return NETWORK_UNKNOWN;
	}
	if (!fault[0] && a->n_clear == a->n_ports) {
		/* Every symptom is visible, and there is none. */
		snprintf(ret, size, "No: the network is certainly not the bottleneck");
		return NETWORK_NO;
	}
	if (fault[0])
		snprintf(ret, size,
			 "No fault of the network is visible from this node. %s is at "
			 "fault: %s",
			 a->other.trouble.side == SIDE_APPLICATION ? "An application" : "This node",
			 fault);
	else
		snprintf(ret, size,
			 "No fault of the network is visible from this node, on %zu "
			 "judged port%s",
			 a->n_judged, a->n_judged == 1 ? "" : "s");
	network_answer_add_unjudged(a, ret, size);
	return NETWORK_NO;
}

// SPDX-License-Identifier: Apache-2.0
#include "qp_series.h"

#include <inttypes.h>
#include <string.h>

#include "host_series.h"
#include "qp_words.h"

/* Counts a queue pair. The table is sorted by device, so the last device of the summary is the one
 * to compare. */
static void count_qp(struct qp_summary *s, const struct qp *qp)
{
	size_t last = s->n_devices;

	if (qp->state >= QP_SERIES_STATES)
		return;
	if (last == 0 || strcmp(s->devices[last - 1].name, qp->device) != 0) {
		if (last == QP_SERIES_DEVICES)
			return;
		memcpy(s->devices[last].name, qp->device, sizeof(qp->device));
		s->n_devices = ++last;
	}
	s->devices[last - 1].n[qp->state]++;
}

void qp_summary_build(struct qp_summary *ret, const struct qp_table *t, bool counted,
		      const struct qp_failures *f)
{
	memset(ret, 0, sizeof(*ret));
	ret->known = true;
	ret->counted = counted;
	for (size_t i = 0; i < t->n && counted; i++)
		count_qp(ret, t->items[i]);
	ret->n_failures = f->n_counts;
	memcpy(ret->failures, f->counts, sizeof(f->counts));
}

static void qp_add_sample(struct page *p, const char *name, const char *device, const char *key,
			  const char *value, uint64_t n)
{
	text_addf(&p->text, "%s{device=", name);
	text_add_label(&p->text, device);
	text_addf(&p->text, ",%s=\"%s\"} %" PRIu64 "\n", key, value, n);
}

static void add_numbers(struct page *p, const struct qp_summary *s)
{
	static const char name[] = "roce_qps";

	page_begin(p, name, "gauge", "Queue pairs by state.");
	for (size_t i = 0; i < s->n_devices; i++)
		for (uint32_t k = 0; k < QP_SERIES_STATES; k++)
			if (s->devices[i].n[k])
				qp_add_sample(p, name, s->devices[i].name, "state",
					      qp_state_name(k), s->devices[i].n[k]);
	page_end(p);
}

/* --- failures --------------------------------------------------------------------------------- */

void qp_summary_watch(struct qp_summary *s, const struct host *host, const bool *watched)
{
	memcpy(s->watched, watched, sizeof(s->watched));
	for (size_t i = 0; i < host->n_rdma && s->n_watched < QP_SERIES_DEVICES; i++) {
		const struct rdma_dev *d = &host->rdma[i];

		memcpy(s->watched_devices[s->n_watched].name, d->name, sizeof(d->name));
		s->watched_devices[s->n_watched++].soft = strcmp(d->driver, "rxe") == 0;
	}
}

/* Returns the name of a reason; NULL: failures with this reason cannot be detected on this device.
 * *ret_end: there is no such reason. */
static const char *expected(const struct qp_summary *s, size_t device, size_t reason, bool *ret_end)
{
	enum qp_failure_source source;
	const char *name = qp_failure_known(reason, &source);

	*ret_end = name == NULL;
	if (!name || !s->watched[source])
		return NULL;
	if (source == QP_FAILS_BY_COMPLETION && !s->watched_devices[device].soft)
		return NULL;
	return name;
}

static uint64_t qp_count_of(const struct qp_summary *s, const char *device, const char *reason)
{
	for (size_t i = 0; i < s->n_failures; i++)
		if (strcmp(s->failures[i].device, device) == 0 &&
		    strcmp(s->failures[i].reason, reason) == 0)
			return s->failures[i].n;
	return 0;
}

static bool is_expected(const struct qp_summary *s, const struct qp_failure_count *f)
{
	bool end = false;

	for (size_t d = 0; d < s->n_watched; d++) {
		if (strcmp(s->watched_devices[d].name, f->device) != 0)
			continue;
		for (size_t i = 0; !end; i++) {
			const char *reason = expected(s, d, i, &end);

			if (reason && strcmp(reason, f->reason) == 0)
				return true;
		}
	}
	return false;
}

static void add_expected(struct page *p, const char *name, const struct qp_summary *s, size_t d)
{
	const char *device = s->watched_devices[d].name;
	bool end = false;

	for (size_t i = 0; !end; i++) {
		const char *reason = expected(s, d, i, &end);

		if (reason)
			qp_add_sample(p, name, device, "reason", reason,
				      qp_count_of(s, device, reason));
	}
}

void qp_series(struct page *p, const struct qp_summary *s)
{
	static const char failures[] = "roce_qp_failures_total";

	if (!s->known)
		return;
	add_numbers(p, s);
	page_begin(p, failures, "counter", "Failed queue pairs, by reason.");
	for (size_t d = 0; d < s->n_watched; d++)
		add_expected(p, failures, s, d);
	for (size_t i = 0; i < s->n_failures; i++)
		if (!is_expected(s, &s->failures[i]))
			qp_add_sample(p, failures, s->failures[i].device, "reason",
				      s->failures[i].reason, s->failures[i].n);
	page_end(p);
}

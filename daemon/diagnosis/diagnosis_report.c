// SPDX-License-Identifier: Apache-2.0
#include "diagnosis_report.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "diagnosis_state.h"

#define ROOM_STEP 64

void diagnosis_report_done(struct diagnosis_report *r)
{
	free(r->verdicts);
	free(r->ended);
	free(r->ports);
	free(r->counters);
	*r = (struct diagnosis_report){0};
}

/* Makes room for at least n elements. Out of memory: frees the array and returns NULL. */
static void *with_room(void *array, size_t *room, size_t n, size_t size)
{
	size_t more = (n / ROOM_STEP + 1) * ROOM_STEP;
	void *p;

	if (n <= *room && array)
		return array;
	p = reallocarray(array, more, size);
	if (!p)
		free(array);
	*room = p ? more : 0;
	return p;
}

/* Replaces the list's elements; errors as for with_room(). */
static void *copy_list(void *list, size_t *room, const void *from, size_t n, size_t size)
{
	void *p = with_room(list, room, n, size);

	return p && n > 0 ? memcpy(p, from, n * size) : p;
}

static void copy_ports(struct diagnosis_report *r, const struct diagnosis *d)
{
	for (size_t i = 0; i < d->n_ports; i++) {
		const struct undecided_list *undecided = d->ports[i]->undecided;

		diagnosis_port(d, i, &r->ports[i]);
		for (size_t k = 0; undecided && k < undecided->n; k++)
			r->undecidable[undecided->items[k].cause]++;
	}
}

int diagnosis_report_make(struct diagnosis_report *r, const struct diagnosis *d)
{
	r->now_ms = d->now_ms;
	r->unix_ms = d->unix_ms;
	r->warming_ms = (uint64_t)(1000 * d->limits.value[LIMIT_warming_seconds]);
	r->timeline = &d->timeline;
	r->newest_row = d->timeline.newest;
	r->n_rows = d->timeline.n;
	r->has_counters = false;
	memcpy(r->onsets, d->onsets, sizeof(r->onsets));
	memset(r->undecidable, 0, sizeof(r->undecidable));
	r->n_verdicts = d->n_verdicts;
	r->verdicts = copy_list(r->verdicts, &r->room_verdicts, d->verdicts, d->n_verdicts,
				sizeof(*r->verdicts));
	r->n_ended = d->ended.n;
	r->ended = copy_list(r->ended, &r->room_ended, d->ended.list, d->ended.n,
			     sizeof(*r->ended));
	r->n_ports = d->n_ports;
	r->ports = with_room(r->ports, &r->room_ports, d->n_ports, sizeof(*r->ports));
	if (!r->verdicts || !r->ended || !r->ports) {
		diagnosis_report_done(r);
		return -ENOMEM;
	}
	copy_ports(r, d);
	return 0;
}

/* Finds the observation of a port. Both lists usually have the same order, so the search starts at
 * *next. */
static const struct port_observation *find_seen(const struct observation *o,
						const struct port_watched *p, size_t *next)
{
	size_t at = observed_port(o->ports, o->n_ports, p->device, p->port, *next);

	if (at == SIZE_MAX || !o->ports[at].visible)
		return NULL;
	*next = at + 1;
	return &o->ports[at];
}

int diagnosis_report_keep_counters(struct diagnosis_report *r, const struct observation *o)
{
	size_t next = 0;

	r->counters = with_room(r->counters, &r->room_counters, r->n_ports, sizeof(*r->counters));
	if (!r->counters)
		return -ENOMEM;
	for (size_t i = 0; i < r->n_ports; i++) {
		const struct port_observation *seen = find_seen(o, &r->ports[i], &next);

		for (int s = 0; s < N_SERIES; s++)
			r->counters[i][s] = seen ? seen->value[s] : (double)NAN;
	}
	r->has_counters = true;
	return 0;
}

const double *diagnosis_report_counters(const struct diagnosis_report *r, size_t port)
{
	bool seen = r->ports[port].watch != WATCH_UNSEEN;

	return r->has_counters && seen ? r->counters[port] : NULL;
}

unsigned diagnosis_report_rows(const struct diagnosis_report *r)
{
	return r->n_rows < WINDOW_ROWS ? r->n_rows : WINDOW_ROWS - 1;
}

static unsigned row_index(const struct diagnosis_report *r, unsigned back)
{
	return (r->newest_row + WINDOW_ROWS - back) % WINDOW_ROWS;
}

uint64_t diagnosis_report_row_ms(const struct diagnosis_report *r, unsigned back)
{
	return r->timeline->at_ms[row_index(r, back)];
}

bool diagnosis_report_is_still(const struct diagnosis_report *r, size_t port)
{
	const struct window *w = &r->ports[port].window;

	return !w->rows && w->n_still >= diagnosis_report_rows(r);
}

double diagnosis_report_signal(const struct diagnosis_report *r, size_t port, enum signal s,
			       unsigned back)
{
	const struct window *w = &r->ports[port].window;
	double value = window_at(w, row_index(r, back), back, s);

	/* The rules count a sample without packets as one without marks. */
	if (s == SIGNAL_CE_SHARE && value == 0 &&
	    window_at(w, row_index(r, back), back, SIGNAL_BYTES_RECEIVED) == 0)
		return (double)NAN;
	return value;
}

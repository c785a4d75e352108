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
	free(r->ports);
	free(r->names);
	free(r->undecided);
	free(r->counters);
	*r = (struct diagnosis_report){0};
}

/* An array with room for n; NULL: out of memory, and the array is as it was. */
static void *with_room(void *array, size_t *room, size_t n, size_t size)
{
	size_t more = (n + ROOM_STEP - 1) / ROOM_STEP * ROOM_STEP;
	void *p = array;

	if (n <= *room && array)
		return array;
	p = reallocarray(array, more ? more : ROOM_STEP, size);
	if (p)
		*room = more ? more : ROOM_STEP;
	return p;
}

static int copy_verdicts(struct diagnosis_report *r, const struct diagnosis *d)
{
	void *p = with_room(r->verdicts, &r->room_verdicts, d->n_verdicts, sizeof(*r->verdicts));

	if (!p)
		return -ENOMEM;
	r->verdicts = p;
	r->n_verdicts = d->n_verdicts;
	if (d->n_verdicts > 0)
		memcpy(r->verdicts, d->verdicts, d->n_verdicts * sizeof(*r->verdicts));
	return 0;
}

static int make_room_for_ports(struct diagnosis_report *r, size_t n)
{
	size_t room = r->room_ports;
	void *names = with_room(r->names, &room, n, sizeof(*r->names)), *ports;

	if (!names)
		return -ENOMEM;
	r->names = names;
	ports = with_room(r->ports, &r->room_ports, n, sizeof(*r->ports));
	if (!ports)
		return -ENOMEM;
	r->ports = ports;
	return 0;
}

static int diagnosis_report_add_undecided(struct diagnosis_report *r, size_t port,
					  const struct watched_port *p)
{
	void *room = with_room(r->undecided, &r->room_undecided, r->n_undecided + N_CAUSES,
			       sizeof(*r->undecided));

	if (!room)
		return -ENOMEM;
	r->undecided = room;
	for (int c = 0; c < N_CAUSES; c++) {
		const struct latch *l = &p->latch[c];

		if (!l->why)
			continue;
		r->undecided[r->n_undecided++] = (struct undecided){port, (enum cause)c, l->why,
								    l->missing};
		r->undecidable[c]++;
	}
	return 0;
}

static int copy_ports(struct diagnosis_report *r, const struct diagnosis *d)
{
	int failed = make_room_for_ports(r, d->n_ports);

	for (size_t i = 0; failed == 0 && i < d->n_ports; i++) {
		diagnosis_port(d, i, &r->ports[i]);
		memcpy(r->names[i], d->ports[i]->device, sizeof(r->names[i]));
		r->ports[i].device = r->names[i];
		failed = diagnosis_report_add_undecided(r, i, d->ports[i]);
	}
	r->n_ports = d->n_ports;
	return failed;
}

int diagnosis_report_make(struct diagnosis_report *r, const struct diagnosis *d)
{
	int failed;

	r->now_ms = d->now_ms;
	r->unix_ms = d->unix_ms;
	r->timeline = &d->timeline;
	r->newest_row = d->timeline.newest;
	r->n_rows = d->timeline.n;
	r->n_undecided = 0;
	r->has_counters = false;
	memcpy(r->onsets, d->onsets, sizeof(r->onsets));
	memset(r->undecidable, 0, sizeof(r->undecidable));
	failed = copy_verdicts(r, d);
	if (failed == 0)
		failed = copy_ports(r, d);
	if (failed < 0)
		diagnosis_report_done(r);
	return failed;
}

/* Ports are in one order here and there, mostly. */
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
	void *room = with_room(r->counters, &r->room_counters, r->n_ports, sizeof(*r->counters));
	size_t next = 0;

	if (!room)
		return -ENOMEM;
	r->counters = room;
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

double diagnosis_report_signal(const struct diagnosis_report *r, size_t port, enum signal s,
			       unsigned back)
{
	return window_at(&r->ports[port].window, row_index(r, back), back, s);
}

void undecided_text(const struct undecided *u, char ret[UNDECIDED_SIZE])
{
	if (u->missing >= 0)
		snprintf(ret, UNDECIDED_SIZE, "%s %s", series_name((enum series)u->missing),
			 u->why);
	else
		snprintf(ret, UNDECIDED_SIZE, "%s", u->why);
}

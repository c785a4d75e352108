#include "node_diagnosis.h"

#include <stdlib.h>

#include "scenario_write.h"

struct node_diagnosis {
	struct port_observer *observer;
	struct diagnosis *engine;
	struct diagnosis_report reports[2]; /* one is being read, the other one made */
	unsigned made;			    /* which was made last */
	struct observation seen;	    /* the observer's, what was judged last */
};

struct node_diagnosis *node_diagnosis_new(const struct thresholds *limits)
{
	struct node_diagnosis *n = calloc(1, sizeof(*n));

	if (!n)
		return NULL;
	n->observer = port_observer_new();
	if (n->observer && diagnosis_new(&n->engine, limits) == 0)
		return n;
	node_diagnosis_free(n);
	return NULL;
}

void node_diagnosis_free(struct node_diagnosis *n)
{
	if (!n)
		return;
	port_observer_free(n->observer);
	diagnosis_free(n->engine);
	for (unsigned i = 0; i < 2; i++)
		diagnosis_report_done(&n->reports[i]);
	free(n);
}

void node_diagnosis_follow(struct node_diagnosis *n, const struct thresholds *limits)
{
	diagnosis_set_thresholds(n->engine, limits);
}

const struct diagnosis_report *node_diagnosis_judge(struct node_diagnosis *n,
						    const struct sample *s,
						    const struct observer_scene *scene)
{
	struct diagnosis_report *report = &n->reports[1 - n->made];

	if (port_observer_look(n->observer, s, scene, &n->seen) < 0)
		return NULL;
	diagnosis_tick(n->engine,
		       &n->seen); /* what there was no memory for is not judged, all else is */
	if (diagnosis_report_make(report, n->engine) < 0)
		return NULL;
	n->made = 1 - n->made;
	return report;
}

char *node_diagnosis_line(const struct node_diagnosis *n)
{
	json_t *line = n->seen.now_ms ? scenario_line(&n->seen) : NULL;
	char *text = line ? json_dumps(line, JSON_COMPACT) : NULL;

	json_decref(line);
	return text;
}

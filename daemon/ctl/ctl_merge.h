/* ctl_merge.h - documents that rocectl makes of several of the daemon's. Pure: JSON in, JSON out.
 * What was not answered is NULL, and unknown in what is made of it. docs/reference/rocectl.md has
 * their keys.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

/* What the daemon answers, borrowed. */
struct ctl_answers {
	const json_t *devices, *pods, *attachments, *diagnosis, *doctor;
	bool ready;
	const char *readiness; /* the text of /readyz */
};

/* Every RDMA port with its link, its holder and the worst that diagnosis says of it. New, NULL when
 * out of memory. */
json_t *ctl_ports(const struct ctl_answers *);
/* Is all well, and if not, what is not. New, NULL when out of memory. */
json_t *ctl_status(const struct ctl_answers *);

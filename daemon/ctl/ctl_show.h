/* ctl_show.h - the daemon's documents as people read them. Pure: JSON in, text out. What is not
 * there, or of another type, is shown as "-". */
#pragma once

#include <jansson.h>
#include <stdio.h>

void ctl_show_pods(const json_t *, FILE *);
void ctl_show_devices(const json_t *, FILE *);
void ctl_show_events(const json_t *, FILE *);
void ctl_show_qps(const json_t *, FILE *);
/* One line. */
void ctl_show_event(const json_t *, FILE *);
void ctl_show_explain(const json_t *, FILE *);
/* How many findings there are. */
size_t ctl_show_doctor(const json_t *, FILE *);
void ctl_show_attached(const json_t *, FILE *);
void ctl_show_detached(const json_t *, FILE *);

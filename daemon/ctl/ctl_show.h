/* ctl_show.h - the daemon's documents that are no lists, as people read them. Pure: JSON in, text
 * out. What is not there, or of another type, is shown as "-". */
#pragma once

#include <jansson.h>
#include <stdio.h>

void ctl_show_explain(const json_t *, FILE *);
void ctl_show_doctor(const json_t *, FILE *);
void ctl_show_attached(const json_t *, FILE *);
void ctl_show_detached(const json_t *, FILE *);

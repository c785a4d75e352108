/* SPDX-License-Identifier: Apache-2.0 */
/* ctl_show.h - prints documents of the daemon that are not lists. Pure: JSON in, text out. A value
 * that is missing or of another type is shown as "-". */
#pragma once

#include <jansson.h>
#include <stdio.h>

void ctl_show_explain(const json_t *, FILE *);
void ctl_show_doctor(const json_t *, FILE *);
void ctl_show_attached(const json_t *, FILE *);
void ctl_show_detached(const json_t *, FILE *);

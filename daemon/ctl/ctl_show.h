/* SPDX-License-Identifier: Apache-2.0 */
/* ctl_show.h - prints documents of the daemon that are not lists. Pure: JSON in, text out. A value
 * that is missing or of another type is shown as "-", a document that is NULL is not known. */
#pragma once

#include <jansson.h>
#include <stdio.h>

/* With the names, the PF and the verdicts of the device, as far as the documents of /api/v1/devices
 * and /api/v1/diagnosis are known. */
void ctl_show_explain(const json_t *, const json_t *devices, const json_t *diagnosis, FILE *);
/* Without findings it tells of verdicts, as far as /api/v1/diagnosis is known. */
void ctl_show_doctor(const json_t *, const json_t *diagnosis, FILE *);
void ctl_show_attached(const json_t *, FILE *);
void ctl_show_detached(const json_t *, FILE *);

/* SPDX-License-Identifier: Apache-2.0 */
/* ctl_show.h - prints documents of the daemon that are not lists. Pure: JSON in, text out. A value
 * that is missing or of another type is shown as "-", a document that is NULL is unknown. */
#pragma once

#include <jansson.h>
#include <stdio.h>

/* Prints the document of /api/v1/explain. Adds the names and the PF of the device if `devices`
 * (/api/v1/devices) is given, its verdicts if `ports` (/api/v1/ports of it) is given, and whether
 * they are clearing if `diagnosis` (/api/v1/diagnosis) is given. */
void ctl_show_explain(const json_t *, const json_t *devices, const json_t *ports,
		      const json_t *diagnosis, FILE *);
/* Prints what to do with the node because of the verdicts of a device's document
 * (explain_document.h), the advice of its worst problem, and the events shortly before that. */
void ctl_show_first_step(const json_t *document, const json_t *events, FILE *);
/* Prints whether the network is at fault, of a pod of /api/v1/pods. */
void ctl_show_network(const json_t *pod, FILE *);
/* Returns the number of findings about rocelet itself. A finding that does not name its group is
 * about rocelet. */
size_t ctl_show_own_findings(const json_t *findings);
/* Prints the findings about rocelet itself, then those about the host. If there are none about
 * rocelet, prints the number of verdicts, if `diagnosis` (/api/v1/diagnosis) is given. */
void ctl_show_doctor(const json_t *, const json_t *diagnosis, FILE *);
void ctl_show_attached(const json_t *, FILE *);
void ctl_show_detached(const json_t *, FILE *);
